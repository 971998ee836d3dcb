"""HRP-1S's shapes: inside its height, left like right, few, apart from each other where it stands;
and its soles are what it stands on.
"""

from itertools import combinations

import numpy as np
import pytest
from solids import distance

from tabi.model.robot import Robot
from tabi.robots import hrp1s

FLIP = np.diag([1.0, -1.0, 1.0])
# moved by thirty joints, and the one that nothing moves
BODIES = 31


@pytest.fixture
def robot() -> Robot:
    return hrp1s()


def test_nothing_that_is_drawn_sticks_out_above_or_below(robot):
    robot.stand_on_ground("zero")
    assert len(robot.placements()) == BODIES
    for body, X in robot.placements().items():
        for shape in body.shapes:
            assert shape.support(X.R.T @ [0, 0, 1]) + X.p[2] <= 1.600 + 1e-9, body.name
            assert shape.support(X.R.T @ [0, 0, -1]) - X.p[2] <= 1e-9, body.name


def test_left_shapes_are_mirror_images_of_the_right(robot):
    robot.stand_on_ground()
    X, rng = robot.placements(), np.random.default_rng(1)
    assert len(robot.bodies) == BODIES
    for body in robot.bodies:
        pair = ("right", "left") if body.name.startswith("right") else ("left", "right")
        twin = robot.body(body.name.replace(*pair))
        for d in rng.normal(size=(20, 3)):
            here = sorted(s.support(X[body].R.T @ d) + X[body].p @ d for s in body.shapes)
            other = FLIP @ d
            there = sorted(s.support(X[twin].R.T @ other) + X[twin].p @ other for s in twin.shapes)
            assert here == pytest.approx(there, abs=1e-12), body.name


def test_the_sole_is_the_bottom_of_what_the_foot_touches_with(robot):
    assert set(robot.feet) == {"left", "right"}
    for foot in robot.feet.values():
        sole = foot.body.collision_shapes()[0]
        bottom = sole.placement @ sole.geometry.points()
        bottom = bottom[bottom[:, 2] < -0.1]
        assert {tuple(np.round(p, 9)) for p in bottom} == {
            tuple(np.round(p, 9)) for p in foot.corners()
        }


@pytest.mark.parametrize("pose", ["zero", "half_sitting"])
def test_no_two_bodies_that_may_collide_touch_in_a_named_pose(robot, pose):
    coal = pytest.importorskip("coal")
    robot.stand_on_ground(pose)
    X = robot.placements()
    free = [
        (a, b)
        for a, b in combinations(robot.bodies, 2)
        if a.parent is not b
        and b.parent is not a
        and frozenset((a.name, b.name)) not in robot.excluded
    ]
    # all but those that a joint joins and those that are excluded
    assert len(free) == BODIES * (BODIES - 1) / 2 - (BODIES - 1) - len(robot.excluded)
    for a, b in free:
        assert distance(coal, a, X[a], b, X[b]) > 2e-3, (a.name, b.name)


def test_contacts_see_few_shapes_and_every_limb_has_one(robot):
    counts = {b.name: len(b.collision_shapes()) for b in robot.bodies}
    assert sum(counts.values()) < 30
    assert max(counts.values()) == counts["trunk"] == 3
    limbs = ("thigh", "shank", "foot", "upper_arm", "forearm", "hand", "fingers")
    for name in ("head", *(f"left_{limb}" for limb in limbs)):
        assert counts[name] >= 1, name
