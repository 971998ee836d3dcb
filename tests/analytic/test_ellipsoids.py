"""Ellipsoids on a plane: rocking in closed form, energy, rest on the shortest axis.

    height of the centre = √(c² cos²θ + a² sin²θ) ≈ c + (a² − c²) θ² / 2c                    (1)
    ω² = g (a² − c²)/c / (I/m + c²),   I = m (a² + c²)/5                                      (2)
a, c: half axes along the plane and upright at rest; θ: tilt about the third axis; (2): small
oscillations of a homogeneous one that rolls without slipping.
"""

import numpy as np
import pytest

import tabi
from tabi.spatial.transform import about

G = 9.81


def tilted(radii, angle, dt=1e-3):
    """An ellipsoid on the ground, tilted about y and let go."""
    world = tabi.World()
    world.add_ground(friction=1.0)
    a, _, c = radii
    height = np.hypot(c * np.cos(angle), a * np.sin(angle))
    turn = about((0, 1, 0), angle).quaternion
    world.add_ellipsoid(radii, 2.0, position=(0, 0, height), quaternion=turn)
    return tabi.Simulator(world, dt=dt)


def angles(sim, duration):
    """Tilt about y after each step [rad]."""
    found = []
    for _ in range(round(duration / sim.dt)):
        sim.step()
        found.append(2 * np.arctan2(sim.data.q[5], sim.data.q[3]))
    return np.array(found)


@pytest.mark.parametrize("radii", [(0.1, 0.1, 0.06), (0.1, 0.2, 0.09), (0.15, 0.08, 0.06)])
def test_a_tilted_ellipsoid_rocks_with_the_frequency_of_the_closed_form(radii):
    a, _, c = radii
    omega = np.sqrt(G * (a**2 - c**2) / c / ((a**2 + c**2) / 5 + c**2))
    sim = tilted(radii, 0.02)
    theta = angles(sim, 3.2 * 2 * np.pi / omega)
    down = np.flatnonzero((theta[:-1] > 0) & (theta[1:] <= 0))
    crossings = sim.dt * (down + theta[down] / (theta[down] - theta[down + 1]))
    assert len(crossings) == 3
    assert 2 * np.pi / np.diff(crossings).mean() == pytest.approx(omega, rel=0.01)
    # as far to the other side, and as far back
    assert theta.min() == pytest.approx(-0.02, rel=2e-3)
    assert theta[down[1] : down[2]].max() == pytest.approx(0.02, rel=2e-3)
    assert sim.certificate.missed == 0


def test_rolling_far_to_both_sides_keeps_the_energy():
    # its point of contact moves within a step: what is lost goes with the square of dt
    for dt, lost in ((1e-3, 0.05), (2e-4, 0.05 / 16)):
        sim = tilted((0.12, 0.12, 0.06), 0.8, dt)
        before, least = sim.energy.total, 2.0 * G * 0.06
        assert np.ptp(angles(sim, 1.0)) > 1.5
        assert sim.energy.total == pytest.approx(before, abs=lost * (before - least))
        assert sim.certificate.worst_penetration < 1e-5


@pytest.mark.parametrize("seed", range(3))
def test_a_dropped_ellipsoid_comes_to_rest_on_its_shortest_axis(seed):
    rng, radii, rolling = np.random.default_rng(seed), (0.12, 0.1, 0.06), 5e-3
    world = tabi.World()
    world.add_ground(friction=0.8)
    turn = rng.normal(size=4)
    body = world.add_ellipsoid(
        radii,
        1.0,
        position=(0, 0, 0.3),
        quaternion=turn / np.linalg.norm(turn),
        friction=0.8,
        rolling_friction=rolling,
        torsional_friction=rolling,
    )
    sim = tabi.Simulator(world)
    for _ in range(8000):
        sim.step()
    assert np.abs(sim.data.v).max() < 1e-6
    # rolling friction holds it where the lever of its weight is no longer: by (1)
    # (a² − c²)/c θ ≤ ρ, about the axis that is easiest to hold
    tilt = np.arccos(abs(sim.pose(body).R[2, 2]))
    assert tilt <= 1.1 * rolling * 0.06 / (0.1**2 - 0.06**2)
    assert sim.pose(body).p[2] == pytest.approx(0.06, abs=1e-3)


def test_an_ellipsoid_that_is_a_ball_rolls_like_one():
    ends = []
    for told in ("sphere", "ellipsoid"):
        world = tabi.World()
        world.add_ground(friction=0.5)
        where = {"position": (0, 0, 0.1), "friction": 0.5}
        if told == "sphere":
            world.add_sphere(0.1, 1.0, **where)
        else:
            world.add_ellipsoid((0.1, 0.1, 0.1), 1.0, **where)
        sim = tabi.Simulator(world)
        sim.set_state(sim.data.q, [1.0, 0.2, 0.0, 0.0, 3.0, 1.0])
        for _ in range(500):
            sim.step()
        ends.append(np.concatenate([sim.data.q, sim.data.v]))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
