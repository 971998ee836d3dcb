"""HRP-2's shapes: inside its height, left like right, closed,
and apart from each other where it stands.
"""

from itertools import combinations

import numpy as np
import pytest
from solids import distance

from tabi.model.robot import Robot
from tabi.model.shape import Convex
from tabi.robots import hrp2

FLIP = np.diag([1.0, -1.0, 1.0])
# moved by thirty joints, and the one that nothing moves
BODIES = 31


@pytest.fixture
def robot() -> Robot:
    return hrp2()


def test_nothing_that_is_drawn_sticks_out_above_or_below(robot):
    robot.stand_on_ground("zero")
    assert len(robot.placements()) == BODIES
    for body, X in robot.placements().items():
        for shape in body.shapes:
            assert shape.support(X.R.T @ [0, 0, 1]) + X.p[2] <= 1.540 + 1e-9, body.name
            assert shape.support(X.R.T @ [0, 0, -1]) - X.p[2] <= 1e-9, body.name


def test_left_shapes_are_mirror_images_of_the_right(robot):
    robot.stand_on_ground()
    X = robot.placements()
    rng = np.random.default_rng(1)
    directions = rng.normal(size=(40, 3))
    assert len(robot.bodies) == BODIES
    for body in robot.bodies:
        twin = robot.body(
            body.name.replace(
                *("right", "left") if body.name.startswith("right") else ("left", "right")
            )
        )
        for d in directions:
            here = sorted(s.support(X[body].R.T @ d) + X[body].p @ d for s in body.shapes)
            there = sorted(
                s.support(X[twin].R.T @ FLIP @ d) + X[twin].p @ FLIP @ d for s in twin.shapes
            )
            assert here == pytest.approx(there, abs=1e-12), body.name


def test_armour_plates_are_closed_and_turned_outwards(robot):
    plates = {
        body.name: [s.geometry for s in body.shapes if isinstance(s.geometry, Convex)]
        for body in robot.bodies
    }
    # what everybody sees of it; inner bodies have none
    assert all(plates[name] for name in ("chest", "head", "left_thigh", "right_shank"))
    for name, geometry in ((name, one) for name, own in plates.items() for one in own):
        corners = geometry.vertices[geometry.triangles]
        volume = (
            np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
        )
        edges = [tuple(t[[i, j]]) for t in geometry.triangles for i, j in ((0, 1), (1, 2), (2, 0))]
        assert volume > 0, name
        assert sorted(edges) == sorted((b, a) for a, b in edges), name


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


def test_contacts_see_at_most_two_shapes_per_body_and_every_limb_has_one(robot):
    counts = {b.name: len(b.collision_shapes()) for b in robot.bodies}
    assert max(counts.values()) == 2
    for name in (
        "waist",
        "chest",
        "head",
        "left_thigh",
        "left_shank",
        "left_foot",
        "left_upper_arm",
        "left_forearm",
        "left_hand",
    ):
        assert counts[name] >= 1, name
