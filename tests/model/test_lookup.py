"""Links and degrees of freedom by object or name; what is of another world is refused."""

import numpy as np
import pytest

import tabi
from tabi.model import lookup
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia

ROWS = np.array([6, 7, 8, 9, 10])
SOLID = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))


def limb(name="limb"):
    """A floating base, a ball joint of three degrees of freedom, two hinges."""
    robot = Robot(name)
    robot.add_body("trunk", Joint("root", "floating"), None, SOLID)
    robot.add_body("upper", Joint("ball", "spherical"), "trunk", SOLID)
    robot.add_body(
        "lower", Joint("elbow", "revolute", motor=Motor(kp=100.0, kd=1.0)), "upper", SOLID
    )
    robot.add_body("hand", Joint("wrist", "revolute"), "lower", SOLID)
    return robot


def test_two_robots_of_one_kind_have_joints_and_links_of_their_own():
    world = tabi.World()
    one, two = world.add_robot(limb()), world.add_robot(limb())
    model = world.compile()
    rows = [lookup.joint_rows(model, robot) for robot in (one, two)]
    assert np.array_equal(rows[0], ROWS)
    assert np.array_equal(rows[1], ROWS + 11)
    assert (
        lookup.link_of(world, model, one.body("hand")).body
        != lookup.link_of(world, model, two.body("hand")).body
    )


def test_robots_bodies_and_feet_of_another_world_are_refused():
    world, other = tabi.World(), tabi.World()
    world.add_robot(limb())
    stranger = other.add_robot(limb("stranger"))
    model = world.compile()
    with pytest.raises(
        tabi.ModelError, match=r"stranger is no robot of this world \(robots: limb\)"
    ):
        lookup.robot_of(world, stranger)
    with pytest.raises(tabi.ModelError, match="42 is no robot of this world"):
        lookup.robot_of(world, 42)
    with pytest.raises(tabi.ModelError, match="'hand' is nothing of this world"):
        lookup.link_of(world, model, stranger.body("hand"))


def test_a_joint_of_three_degrees_of_freedom_is_named_three_times():
    assert lookup.freedoms(limb()) == ("ball", "ball", "ball", "elbow", "wrist")
