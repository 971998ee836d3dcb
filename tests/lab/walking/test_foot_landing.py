"""A step on the spot: the foot comes down with its speed, and marks of a curve are its own."""

import numpy as np
import pytest

import tabi
from tabi.lab.walking import foot_landing as landing


def test_a_swinging_sole_starts_at_rest_and_ends_with_its_speed():
    duration, speed, lift = 0.7, 0.3, 0.04
    times = np.linspace(0.0, duration, 2801)
    z = np.array([landing.swing_height(t, speed, duration, lift) for t in times])
    rate = np.gradient(z, times)
    assert z[0] == z[-1] == 0.0
    assert z[1400] == pytest.approx(lift, rel=1e-12)
    assert (z >= 0).all()
    assert rate[1] == pytest.approx(0.0, abs=1e-4)
    # to first order in the step of the difference: the acceleration there is zero
    assert (z[-1] - z[-2]) / (times[-1] - times[-2]) == pytest.approx(-speed, rel=1e-4)
    # without a jump where it turns
    assert np.abs(np.diff(rate)).max() < 0.01


def test_marks_of_a_damped_swing_are_where_its_derivative_vanishes():
    """f = w (1 − e^(−a t) cos b t): its extremes at tan b t = −a/b."""
    a, b, w = 5.0, 60.0, 500.0
    t = np.arange(0.0, 0.5, 1e-5)
    f = w * (1.0 - np.exp(-a * t) * np.cos(b * t))
    first = (np.pi - np.arctan(a / b)) / b
    found = landing.marks(t, f)
    assert len(found) > 1
    for k, (time, force) in enumerate(found):
        expected = first + k * np.pi / b
        assert time == pytest.approx(expected, abs=2e-5)
        assert force == pytest.approx(w * (1 - np.exp(-a * expected) * np.cos(b * expected)))


@pytest.mark.slow
def test_a_planned_step_keeps_soles_centre_of_mass_and_waist_as_told():
    pattern, lands = landing.one_step(0.3)
    robot = tabi.robots.hrp2()
    model = robot.compile()
    start = model.initial()

    def places(k):
        q = start.copy()
        q[7:] = pattern.position[k]
        base = tabi.dynamics.pose(model, q, "right")
        # seen from the right sole, which stands until the left one has landed
        left = base.inverse() @ tabi.dynamics.pose(model, q, "left")
        return left, base.inverse() @ tabi.dynamics.centre_of_mass(model, q)

    first, centre = places(0)
    last = round(lands / landing.TICK)
    for k in range(0, last + 1, 7):
        left, com = places(k)
        time = k * landing.TICK - landing.LEAD - landing.SHIFT
        height = landing.swing_height(time, 0.3)
        assert left.p - first.p == pytest.approx([0, 0, height], abs=1e-7)
        assert pytest.approx(np.eye(3), abs=1e-7) == left.R
        assert com[[0, 2]] == pytest.approx(centre[[0, 2]], abs=1e-6)
    # in the middle of the swing the weight is on the right foot, and comes back
    middle = round((lands - 0.5 * landing.SWING) / landing.TICK)
    assert places(middle)[1][1] < 0.5 * centre[1]
    assert places(last)[1][1] > places(middle)[1][1]


@pytest.mark.slow
def test_a_landing_tells_its_speed_its_weight_and_its_curve():
    found = landing.land(landing.one_step(0.3), 1000.0, 1e-3)
    # near its plan, earlier by what the rubber sank
    assert found.speed == pytest.approx(0.3, rel=0.15)
    assert 0.0 < found.early < 0.1
    # all but one sole, 1.7 kg
    assert found.weight == pytest.approx((58.0 - 1.7) * 9.81, rel=1e-3)
    assert found.missed == 0
    assert found.forces[found.times < -0.01] == pytest.approx(0.0, abs=60.0)
    assert found.dip[1] < 0.6 * found.peak[1]
    assert found.rise[1] > found.weight
    assert found.dip[0] < found.borne < found.rise[0]
    assert found.forces[np.searchsorted(found.times, found.peak[0])] == found.peak[1]


@pytest.mark.slow
def test_a_foot_that_lands_too_late_is_told():
    pattern, lands = landing.one_step(0.3)
    with pytest.raises(tabi.SimulationError, match=r"planned to land at 1\.9 s and touched too"):
        landing.land((pattern, lands - 0.2), 1000.0, 1e-3)
