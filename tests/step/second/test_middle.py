"""Where the second stage is: normals that turn, shares of the velocities of the end."""

import numpy as np
import pytest
import rollers

from tabi.step.second import middle


@pytest.mark.parametrize("seed", range(4))
def test_the_least_turn_takes_one_normal_to_the_other_and_keeps_lengths(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=3)
    a /= np.linalg.norm(a)
    b = a + 0.3 * rng.normal(size=3)
    b /= np.linalg.norm(b)
    v = rng.normal(size=3)
    assert middle.rotated(tuple(a), tuple(a), tuple(b)) == pytest.approx(b, abs=1e-14)
    w = np.array(middle.rotated(tuple(v), tuple(a), tuple(b)))
    assert w @ w == pytest.approx(v @ v)
    # about a × b: what is along that stays
    axis = np.cross(a, b)
    assert w @ axis == pytest.approx(v @ axis, abs=1e-14)


def test_shares_lie_between_the_middle_and_the_end():
    shares = []
    for kd in (0.0, 1.0, 1e4):
        sim = rollers.arm(kd=kd)
        sim.step()
        shares.append(sim._stepper.workspace.second.share.copy())
    assert shares[0] == pytest.approx(0.5, abs=1e-15)
    assert (shares[1] > 0.5).all()
    assert (shares[1] < 0.6).all()
    assert (shares[2] > 0.95).all()
    assert (shares[2] <= 1.0).all()


def test_points_are_followed_from_the_beginning_of_a_step_to_its_end():
    sim = rollers.rattleback()
    sim.run(0.02)
    work = sim._stepper.workspace
    second, point = work.second, work.points[0]
    assert second.matched[0] == 1
    assert point["position"] == pytest.approx(
        0.5 * (second.start[0]["position"] + second.place[:3]), abs=1e-15
    )
