"""A robot alone: its model is that of a world that holds only it."""

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.model.compiler import Parts, compile_world
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import solid_box


def hopper(name="hopper"):
    robot = Robot(name)
    robot.add_body("trunk", Joint("trunk", "floating"), inertia=solid_box(3.0, (0.2, 0.2, 0.2)))
    robot.add_body("leg", Joint("slide", "prismatic"), "trunk", solid_box(1.0, (0.05, 0.05, 0.4)))
    robot.poses["short"] = {"slide": 0.1}
    return robot


def test_a_robot_compiles_as_in_a_world_of_its_own():
    robot, world = hopper(), tabi.World()
    world.add_robot(robot)
    for model in (robot.compile(), compile_world(Parts([robot]))):
        for ours, theirs in zip(model.arrays, world.compile().arrays, strict=True):
            assert np.array_equal(ours, theirs)
        assert model.joint_names == ["slide"]
        assert model.v_index("hopper") == 0


def test_a_model_does_not_change_with_its_robot():
    robot = hopper()
    robot.add_foot("only", "leg", polygon=[(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)])
    model = robot.compile()
    robot.feet["only"].polygon[:] = 0.0
    assert abs(model.feet["only"].polygon).min() == 0.1


def test_a_robot_named_world_gets_a_number_and_one_without_a_name_or_body_is_refused():
    assert hopper("world").compile().v_index("world_2") == 0
    with pytest.raises(ModelError, match="empty name"):
        hopper("").compile()
    with pytest.raises(ModelError, match="robot 'nothing' has no body; expected at least its base"):
        Robot("nothing").compile()


def test_poses_are_found_by_name():
    robot = hopper()
    robot.set_pose("short")
    assert robot.joint("slide").position == pytest.approx([0.1])
    with pytest.raises(ModelError, match=r"pose 'shrt' not found in hopper.*'short'"):
        robot.set_pose("shrt")
    with pytest.raises(
        ModelError, match="pose 'half_sitting' not found in hopper, and none can be made"
    ):
        robot.set_pose("half_sitting")
