"""Soles: found in a body's shapes, or given as a polygon in a frame of their own."""

import numpy as np
import pytest

from tabi import ModelError
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Convex, Shape, Sphere
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import Transform, from_quaternion, translation


def footed(shapes, quaternion=(1, 0, 0, 0)):
    robot = Robot("stool")
    position = np.concatenate([(0, 0, 1), from_quaternion(quaternion).quaternion])
    robot.add_body(
        "seat",
        Joint("seat", "floating", position=position),
        None,
        solid_box(1.0, (1, 1, 1)),
        shapes,
    )
    return robot


def test_a_sole_of_balls_is_the_polygon_of_their_lowest_points():
    balls = [
        Shape(Sphere(0.02), translation((x, y, -0.1))) for x in (-0.1, 0.1) for y in (-0.03, 0.03)
    ]
    foot = footed([*balls, Shape(Box((0.1, 0.1, 0.1)))]).add_foot("left", "seat")
    assert {tuple(np.round(c, 12)) for c in foot.corners()} == {
        (x, y, -0.12) for x in (-0.1, 0.1) for y in (-0.03, 0.03)
    }


def test_a_sole_of_two_capsules_lying_is_the_polygon_below_their_ends():
    lying = from_quaternion((1, 0, 1, 0)).R
    capsules = [
        Shape(Capsule(0.01, 0.2), Transform(lying, np.array([0, y, 0]))) for y in (-0.05, 0.05)
    ]
    foot = footed(capsules).add_foot("left", "seat")
    assert {tuple(np.round(c, 12)) for c in foot.corners()} == {
        (x, y, -0.01) for x in (-0.1, 0.1) for y in (-0.05, 0.05)
    }


def test_a_single_ball_is_no_sole():
    with pytest.raises(
        ModelError,
        match="body 'seat' is declared the foot 'left' but touches the ground in fewer than three "
        "points",
    ):
        footed([Shape(Sphere(0.02))]).add_foot("left", "seat")


def test_the_sole_is_below_as_the_robot_stands_when_its_file_turns_the_base():
    # a quarter turn about x: the body's z lies along −y, its y points up
    robot = footed([Shape(Box((0.2, 0.4, 0.6)))], (1, 1, 0, 0))
    foot = robot.add_foot("left", "seat")
    assert foot.corners()[:, 1] == pytest.approx([-0.2] * 4)
    robot.stand_on_ground()
    assert robot.base.joint.position == pytest.approx([0, 0, 0.2, np.sqrt(0.5), np.sqrt(0.5), 0, 0])


def test_a_sole_given_in_a_turned_frame_is_stood_on():
    robot = footed([], (0, 1, 0, 0))
    # the body's z points down when the robot stands
    robot.add_foot(
        "left",
        "seat",
        [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)],
        (0, 0, 0.3),
        (0, 1, 0, 0),
    )
    robot.stand_on_ground()
    assert robot.base.joint.position[2] == pytest.approx(0.3)
    assert robot.placements()[robot.base].R[2, 2] == pytest.approx(-1.0)


def test_a_foot_on_a_body_without_shapes_gets_a_plate_that_touches_where_the_sole_is():
    robot = footed([])
    foot = robot.add_foot(
        "left", "seat", [(0.1, 0.04), (-0.1, 0.04), (-0.1, -0.04), (0.1, -0.04)], (0, 0, -0.3)
    )
    (shape,) = robot.base.shapes
    assert isinstance(shape.geometry, Box)
    assert shape.geometry.size == pytest.approx((0.2, 0.08, 0.02))
    assert shape.support((0, 0, -1)) == pytest.approx(0.3)
    assert "a plate of the foot 'left'" in robot.notes[-1]
    # one that is there stays alone
    robot.add_foot("again", "seat", foot.polygon)
    assert robot.base.shapes == [shape]


def test_the_plate_of_any_other_sole_is_a_prism_over_it():
    robot = footed([])
    foot = robot.add_foot(
        "left",
        "seat",
        [(0.1, 0.0), (0.0, 0.1), (-0.1, 0.02), (-0.05, -0.1), (0.05, -0.08)],
        (0, 0, -0.3),
        (1, 0, 0, 0.2),
    )
    (shape,) = robot.base.shapes
    assert isinstance(shape.geometry, Convex)
    corners = shape.geometry.vertices[shape.geometry.triangles]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert volume == pytest.approx(0.02 * foot.area, rel=1e-12)
    lower = shape.placement @ shape.geometry.vertices[:5]
    assert np.allclose(lower, foot.corners(), atol=1e-15)
