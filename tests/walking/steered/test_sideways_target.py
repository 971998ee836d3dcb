"""Where ξ is led sideways in a step that catches a push."""

import numpy as np
import pytest

import tabi
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.steered.sideways_target import set_sideways_target
from tabi.walking.steered.steps import lift, shift_to
from tabi.walking.steered.steps_ahead import compose, in_frame, plan_motion, plan_steps
from tabi.walking.steered.walker import SteeredWalker


def pushed_aside(stance, far, yaw=0.0, aside=0.2, half=0.03):
    """A foot that swings to a place farther aside, as the other one stands; ξ comes to lie so far
    from the point under that one, towards the landing, by itself.
    """
    walker = SteeredWalker(tabi.robots.hrp2())
    plan, box, s = walker._walk.plan, walker._walk.loop.box, walker._settings[0]
    box[:, 2:] = box[:, 2:].mean(axis=1)[:, None] + (-half, half)
    for foot in plan.foot:
        foot[0], foot[1], foot[3] = compose((0.0, 0.0, yaw), foot[0], foot[1], foot[3])
    shift_to(plan, stance, 0.0)
    lift(plan)
    plan.now["left"] = 0.3
    out, X = 1.0 if stance == RIGHT else -1.0, plan.foot[stance, [0, 1, 3]]
    x, y = in_frame(X, *plan.footstep[1, :2])
    plan.footstep[1, :2] = compose(X, x, y + out * aside, 0.0)[:2]
    plan_steps(plan)
    plan_motion(plan)
    here = in_frame(X, *plan.under[0])
    there = here[0] + 0.02, here[1] + out * far
    shrunk = np.exp(-s["omega"] * 0.3)
    x, y = (p + shrunk * (e - p) for p, e in zip(here, there, strict=True))
    xi = compose(X, x, y, 0.0)[:2]
    planned = in_frame(X, *plan.xi)
    set_sideways_target(plan, box, xi)
    landing = in_frame(X, *plan.footstep[1, :2])
    at = in_frame(X, *plan.at_landing)
    return planned, in_frame(X, *plan.xi), in_frame(X, *xi), at[1], landing[1], here[1]


@pytest.mark.parametrize("yaw", [0.0, 0.8, -2.0])
@pytest.mark.parametrize("stance", [LEFT, RIGHT])
def test_a_step_aside_leads_it_no_farther_than_a_robot_can_stop(stance, yaw):
    # between the feet it is left alone
    planned, led, xi, at, landing, here = pushed_aside(stance, 0.1, yaw)
    assert led[1] == pytest.approx(xi[1], abs=1e-9)
    # along the step it is led as planned
    assert led[0] == pytest.approx(planned[0], abs=1e-9)
    # over the foot that lands, and to the other side, it is not
    for far in (0.5, -0.3):
        *_, at, landing, here = pushed_aside(stance, far, yaw)
        assert -1e-9 < (at - here) / (landing - here) < 0.75


@pytest.mark.parametrize("far", [0.1, 0.5, -0.3])
def test_a_mirrored_push_leads_it_to_the_mirrored_place(far):
    left, right = pushed_aside(LEFT, far), pushed_aside(RIGHT, far)
    assert left[1] == pytest.approx((right[1][0], -right[1][1]), abs=1e-6)


def test_a_step_that_lands_as_planned_is_led_as_planned():
    planned, led, *_ = pushed_aside(LEFT, 0.5, aside=0.0)
    assert led == pytest.approx(planned)


def test_a_wide_sole_stops_it_and_is_led_to_as_planned():
    planned, led, *_ = pushed_aside(LEFT, 0.5, half=0.07)
    assert led == pytest.approx(planned)
