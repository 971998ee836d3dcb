"""HRP-2's grippers (``tabi.robots.hrp2_gripper``): estimated, but a robot's."""

import numpy as np
import pytest

import tabi
from tabi.robots import hrp2
from tabi.robots.hrp2_gripper import HINGE, TORQUE

FLIP = np.diag([1.0, -1.0, 1.0])
CAN = 0.033


def test_the_robot_keeps_its_mass_and_all_its_other_joints():
    plain, robot = hrp2(), hrp2(grippers=True)
    assert robot.mass == pytest.approx(plain.mass, rel=1e-12)
    assert set(robot.joint_names) - set(plain.joint_names) == {"RARM_GRIPPER", "LARM_GRIPPER"}
    for body in robot.bodies:
        # what a real body can have
        moments = np.linalg.eigvalsh(body.inertia.tensor)
        assert moments[0] > 0
        assert moments[2] <= moments[0] + moments[1] + 1e-12


def test_left_is_the_mirror_image_of_right():
    robot = hrp2(grippers=True)
    for name in ("hand", "jaw"):
        left, right = robot.body(f"left_{name}"), robot.body(f"right_{name}")
        np.testing.assert_allclose(left.inertia.centre, FLIP @ right.inertia.centre, atol=1e-15)
        for a, b in zip(left.shapes, right.shapes, strict=True):
            np.testing.assert_allclose(a.placement.p, FLIP @ b.placement.p, atol=1e-15)
    for letter in "LR":
        joint = robot.joint(f"{letter}ARM_GRIPPER")
        assert (joint.lower, joint.upper) == (-0.6, 0.7)
        assert joint.motor.torque_limit == TORQUE


def test_pads_press_with_torque_over_lever_on_what_they_hold():
    # moments about the hinge: N · (way to the can's middle along the finger) = torque
    world = tabi.World(gravity=(0, 0, 0))
    robot = world.add_robot(hrp2(grippers=True), "hrp2")
    robot.set_pose("zero")
    hand = robot.placements()[robot.body("left_hand")]
    middle = hand.p + hand.R @ np.array([0.0, 0.0, -0.155])
    # across the pads, along x
    turned = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    can = world.add_cylinder(CAN, 0.12, 0.35, position=middle, quaternion=turned)
    sim = tabi.Simulator(world)
    jaws = {"LARM_GRIPPER": 3.0}
    sim.set_controller(robot, tabi.control.grip(robot, jaws, motion=tabi.control.hold({})))
    sim.run(0.5)
    on_jaw = sum(
        abs(c.force[1]) for c in sim.contacts if "left_jaw" in (c.body_a.name, c.body_b.name)
    )
    place = sim.pose(robot.body("left_hand")).inverse() @ sim.position(can)
    assert on_jaw == pytest.approx(3.0 / (HINGE[2] - place[2]), rel=0.01)


def test_shut_jaws_meet():
    world = tabi.World(gravity=(0, 0, 0))
    robot = world.add_robot(hrp2(grippers=True))
    sim = tabi.Simulator(world)
    jaws = {"LARM_GRIPPER": 2.0, "RARM_GRIPPER": 2.0}
    closing = tabi.control.grip(robot, jaws, 1.0, tabi.control.hold(robot.half_sitting))
    sim.set_controller(robot, closing)
    sim.run(2.0)
    assert closing.holds(sim.measure(robot))
    assert sim.state.q[sim.model.q_index("RARM_GRIPPER")] == pytest.approx(
        sim.state.q[sim.model.q_index("LARM_GRIPPER")], abs=1e-6
    )
