"""Gaits: those of robots of different size are alike, and those that cannot be are refused."""

from dataclasses import replace

import pytest

import tabi
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.gait import Gait, gait_for


def test_hrp2_walks_as_hirukawa_2003_does():
    own = gait_for(tabi.robots.hrp2())
    # the paper's walk, which the parts are taken from
    assert own.length == pytest.approx(0.2, abs=1e-3)
    assert own.step_time == pytest.approx(0.8)
    assert own.double_support == pytest.approx(0.1)
    assert own.swing_time == pytest.approx(0.7)
    # the middle of the sole, from below the ankle [m]
    assert own.zmp == pytest.approx((0.015, 0.010))


def test_a_robot_with_other_legs_has_the_same_froude_number():
    big = Biped(tabi.robots.hrp2())
    small = Biped(tabi.robots.hrp2())
    small.leg_length = 0.5 * big.leg_length
    a, b = gait_for(big), gait_for(small)
    numbers = [g.length / g.step_time**2 for g in (a, b)]
    # times are whole ticks of 5 ms of about 0.6 s, lengths whole millimetres
    assert numbers[1] == pytest.approx(numbers[0], rel=0.02)
    assert b.lift == pytest.approx(0.5 * a.lift, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step_time": -1.0}, "step_time of a gait is -1.0; expected a positive number"),
        ({"lift": float("nan")}, "lift of a gait"),
        ({"centre_height": 0.0}, "centre_height of a gait is 0.0"),
        ({"double_support": 0.9}, "double_support of a gait is 0.9 s of a step of 0.8 s"),
        ({"zmp": (0.0, float("inf"))}, "zmp of a gait"),
        ({"step_time": "fast"}, "step_time of a gait"),
    ],
)
def test_a_gait_that_cannot_be_is_refused(change, message):
    own = Gait(0.2, 0.8, 0.1, 0.05, 0.8, (0.0, 0.0), 0.6)
    with pytest.raises(tabi.ModelError, match=message):
        replace(own, **change)
