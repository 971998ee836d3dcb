"""Footsteps: where plans end, that feet take turns and stay apart, and what is refused."""

from math import cos, pi, sin

import numpy as np
import pytest

import tabi
from tabi.spatial.transform import about, translation
from tabi.walking.plan import footsteps
from tabi.walking.plan.footsteps import Footstep

WIDTH = 0.19
SOLE = np.array([(-0.1, -0.06), (0.13, -0.06), (0.13, 0.06), (-0.1, 0.06)])
OUTLINE = {"left": SOLE, "right": SOLE}
ROUNDING = 1e-12


def stance(yaw=0.3, place=(1.0, 2.0, 0.0)):
    C = translation(place) @ about((0, 0, 1), yaw)
    return {s: C @ translation((0, y, 0)) for s, y in (("left", WIDTH / 2), ("right", -WIDTH / 2))}


def ends(steps, start):
    """The place between the feet in the end."""
    feet = dict(start)
    for step in steps:
        feet[step.foot] = step.pose
    return footsteps.centre(feet)


@pytest.mark.parametrize("first", ["left", "right", None])
def test_straight_steps_end_count_minus_one_lengths_ahead_with_feet_together(first):
    start = stance()
    steps = footsteps.walk(start, 20, length=0.2, first=first)
    assert [s.foot for s in steps] == [first or "left", footsteps.other(first or "left")] * 10
    C, goal = ends(steps, start), footsteps.centre(start) @ translation((19 * 0.2, 0, 0))
    assert np.allclose(C.p, goal.p, atol=ROUNDING)
    assert np.allclose(C.R, goal.R, atol=ROUNDING)
    a, b = steps[-2].pose, steps[-1].pose
    assert np.isclose(np.linalg.norm(a.p - b.p), WIDTH)


def test_turning_on_the_spot_ends_where_it_began():
    start = stance()
    steps = footsteps.walk(start, 10, turn=np.radians(10))
    C = ends(steps, start)
    assert np.allclose(C.p, footsteps.centre(start).p, atol=ROUNDING)
    assert np.isclose(steps[-1].yaw, 0.3 + np.radians(90))
    assert footsteps.walk(start, 4, turn=-0.1)[0].foot == "right"
    assert footsteps.walk(start, 4, sideways=-0.1)[0].foot == "right"


def test_an_arc_lies_on_its_circle():
    start = stance(yaw=0.0, place=(0.0, 0.0, 0.0))
    for sign in (1.0, -1.0):
        steps = footsteps.arc(start, radius=2.0, angle=sign * pi / 2, length=0.2)
        C = ends(steps, start)
        assert np.allclose(C.p[:2], (2.0, sign * 2.0), atol=1e-9)
        assert np.isclose(steps[-1].yaw, sign * pi / 2)
        # each centre is 2 m from the middle of the circle, so a foot is that more or less
        for step in steps:
            away = np.linalg.norm(step.pose.p[:2] - (0.0, sign * 2.0))
            assert np.isclose(abs(away - 2.0), WIDTH / 2, atol=1e-9)


def test_stairs_rise_with_each_step():
    steps = footsteps.walk(stance(), 5, length=0.25, rise=0.05)
    assert np.allclose([s.pose.p[2] for s in steps], [0.05, 0.1, 0.15, 0.2, 0.2])


def test_stones_are_taken_as_they_are_given():
    a, b = footsteps.stones([("left", (0.2, 0.1, 0.0)), ("right", (0.4, -0.1, 0.05, 0.3))])
    assert np.allclose(a.pose.p, (0.2, 0.1, 0.0))
    assert np.allclose(b.pose.p, (0.4, -0.1, 0.05))
    assert np.isclose(b.yaw, 0.3)
    assert "right at 0.400, -0.100, 0.050 m, 17.2°" in repr(b)


def test_on_a_ramp_soles_have_its_slope_and_touch_it_everywhere():
    slope, up = np.tan(np.radians(5)), np.radians(5)
    steps = footsteps.on_ground(
        footsteps.walk(stance(), 6, length=0.2), lambda x, y: slope * x, SOLE
    )
    assert len(steps) >= 6
    for step in steps:
        normal = step.pose.R[:, 2]
        assert np.allclose(normal, (-sin(up), 0, cos(up)), atol=1e-9)
        corners = step.pose @ np.column_stack([SOLE, np.zeros(4)])
        # corners are laid out level, and lie on the plane to second order of the slope
        assert np.allclose(corners[:, 2], slope * corners[:, 0], atol=1e-9)


def test_over_a_kerb_no_corner_is_below_the_ground():
    steps = footsteps.on_ground(
        [Footstep("left", translation((0.0, 0.0, 0.0)))], lambda x, y: 0.05 if x > 0 else 0.0, SOLE
    )
    pose = steps[0].pose
    corners = translation((0, 0, 0)) @ np.column_stack([SOLE, np.zeros(4)])
    slope = pose.R[:, 2]
    plane = pose.p[2] - (slope[0] * corners[:, 0] + slope[1] * corners[:, 1]) / slope[2]
    assert (plane >= np.where(corners[:, 0] > 0, 0.05, 0.0) - ROUNDING).all()


def test_overlap_of_polygons_is_their_depth():
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1.0)])
    for shift, depth in (((0.9, 0.3), 0.1), ((1.2, 0.0), -0.2), ((0.0, 0.0), 1.0)):
        assert np.isclose(footsteps.overlap(square, square + shift), depth)


def test_a_plan_that_can_be_walked_is_accepted():
    start = stance()
    for steps in (
        footsteps.walk(start, 20, length=0.2),
        footsteps.walk(start, 10, length=-0.1),
        footsteps.walk(start, 10, sideways=0.05),
        footsteps.walk(start, 10, turn=np.radians(10)),
    ):
        assert footsteps.check(steps, start, OUTLINE, reach=0.5) is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: footsteps.walk(s, 0), "count of steps is 0; expected a whole number ≥ 1"),
        (lambda s: footsteps.walk(s, 2.5), "count of steps is 2.5"),
        (lambda s: footsteps.walk(s, 3, length=np.nan), "length of a step is nan"),
        (lambda s: footsteps.walk(s, 3, first="middle"), "foot 'middle' not found in a walk"),
        (lambda s: footsteps.walk({}, 3), "stance has no feet; expected the feet 'left' and"),
        (lambda s: footsteps.arc(s, 0.0, 1.0), "arc has radius 0.0 m"),
        (lambda s: footsteps.arc(s, 1.0, 1.0, 0.0), "length of a step is 0.0 m"),
        (lambda s: footsteps.stones([("left", (1, 2))]), "stone 1 is .* expected x, y, yaw"),
        (lambda s: footsteps.stones([("up", (1, 2, 0))]), "foot 'up' not found in a footstep"),
        (lambda s: footsteps.stones([("left", (1, np.nan, 0))]), "expected finite numbers"),
    ],
)
def test_a_plan_with_a_fault_is_refused(call, words):
    with pytest.raises(tabi.ModelError, match=words):
        call(stance())


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([("left", (0.8, 0.1, 0))], r"step 1, left foot, is 0.8\d\d m from the other foot, out of"),
        ([("left", (0.2, 0.1, 0.3, 0))], r"step 1, left foot, is \+0.300 m above the other foot"),
        ([("left", (0.1, -0.05, 0))], "step 1, left foot, lands .* mm into the other foot; step"),
        ([("left", (0.2, 0.1, 0)), ("left", (0.3, 0.1, 0))], "step 2, left foot, comes after one"),
        ([("left", (0.2, 0.15, 2.0))], "step 1, left foot, is turned by 115° against the other"),
    ],
)
def test_a_step_that_cannot_be_made_is_named(steps, words):
    start = stance(yaw=0.0, place=(0.0, 0.0, 0.0))
    with pytest.raises(tabi.ModelError, match=words):
        footsteps.check(footsteps.stones(steps), start, OUTLINE, reach=0.5, climb=0.2)


def test_on_stairs_both_feet_stand_on_each_tread():
    own = stance(0.0)
    up = footsteps.stairs(own, 3, 0.05, 0.3)
    assert [step.foot for step in up] == ["left", "right"] * 3
    for number, step in enumerate(up):
        tread = number // 2 + 1
        moved = own[step.foot].p + np.array([0.3, 0.0, 0.05]) * tread
        assert step.pose.p == pytest.approx(moved, abs=1e-12)
    footsteps.check(up, own, OUTLINE, 0.7)
    with pytest.raises(tabi.ModelError, match="count of treads is 0"):
        footsteps.stairs(own, 0, 0.05, 0.3)
    with pytest.raises(tabi.ModelError, match=r"a depth of -0.3 m; expected"):
        footsteps.stairs(own, 1, 0.05, -0.3)
    with pytest.raises(tabi.ModelError, match="foot 'middle' not found in stairs"):
        footsteps.stairs(own, 1, 0.05, 0.3, "middle")
