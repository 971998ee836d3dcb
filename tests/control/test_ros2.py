"""The bridge to ROS 2, against a stand-in for rclpy with the few classes that it uses."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.control import ros2


class Topic:
    def __init__(self, kind, name):
        self.kind, self.name, self.sent = kind, name, []

    def publish(self, message):
        assert isinstance(message, self.kind)
        self.sent.append(message)


class Node:
    def __init__(self, name):
        self.name, self.topics, self.heard, self.waiting, self.gone = name, {}, {}, [], False

    def create_publisher(self, kind, name, depth):
        self.topics[name] = Topic(kind, name)
        return self.topics[name]

    def create_subscription(self, kind, name, callback, depth):
        # the newest alone
        assert depth == 1
        self.heard[name] = callback
        return callback

    def destroy_node(self):
        self.gone = True


def stamp():
    return SimpleNamespace(sec=0, nanosec=0)


def header():
    return SimpleNamespace(stamp=stamp(), frame_id="")


def vector():
    return SimpleNamespace(x=0.0, y=0.0, z=0.0)


class Clock:
    def __init__(self):
        self.clock = stamp()


class JointState:
    def __init__(self):
        self.header, self.name, self.position = header(), [], []
        self.velocity, self.effort = [], []


class Imu:
    def __init__(self):
        self.header, self.orientation_covariance = header(), np.zeros(9)
        self.angular_velocity, self.linear_acceleration = vector(), vector()


class WrenchStamped:
    def __init__(self):
        self.header, self.wrench = header(), SimpleNamespace(force=vector(), torque=vector())


class JointTrajectory:
    def __init__(self, names, **point):
        empty = {"positions": [], "velocities": [], "effort": []}
        self.joint_names, self.points = names, [SimpleNamespace(**(empty | point))]


@pytest.fixture
def ros(monkeypatch):
    """A stand-in for ROS 2."""
    state = {"ok": False}

    def spin_once(node, timeout_sec=None):
        # never waits
        assert timeout_sec == 0.0
        if node.waiting:
            node.heard["/joint_command"](node.waiting.pop(0))

    rclpy = ModuleType("rclpy")
    rclpy.__dict__.update(
        ok=lambda: state["ok"],
        init=lambda: state.update(ok=True),
        shutdown=lambda: state.update(ok=False),
        create_node=Node,
        spin_once=spin_once,
    )
    monkeypatch.setitem(sys.modules, "rclpy", rclpy)
    for package, kinds in {
        "sensor_msgs": (JointState, Imu),
        "rosgraph_msgs": (Clock,),
        "geometry_msgs": (WrenchStamped,),
        "trajectory_msgs": (JointTrajectory,),
    }.items():
        module = ModuleType(f"{package}.msg")
        module.__dict__.update({kind.__name__: kind for kind in kinds})
        monkeypatch.setitem(sys.modules, package, ModuleType(package))
        monkeypatch.setitem(sys.modules, f"{package}.msg", module)
    return rclpy


@pytest.fixture
def standing():
    world, robot = hrp2_on_ground()
    return robot, tabi.Simulator(world)


def test_measurements_become_topics(ros, standing):
    robot, sim = standing
    sim.run(0.01)
    seen = sim.measure(robot)
    with ros2.bridge(robot) as bridge:
        bridge(12.25, seen)
        topics = bridge.node.topics
    state = topics["/joint_states"].sent[0]
    assert state.name == list(robot.joint_names)
    assert (state.header.stamp.sec, state.header.stamp.nanosec) == (12, 250_000_000)
    for name in ("position", "velocity", "effort"):
        assert getattr(state, name) == getattr(seen, name).tolist()
    clock = topics["/clock"].sent[0].clock
    assert (clock.sec, clock.nanosec) == (12, 250_000_000)
    kinds = {"imu": 0, "force": 0}
    for name, sensor in robot.sensors.items():
        if sensor.kind not in kinds:
            continue
        kinds[sensor.kind] += 1
        topic = {"imu": "/imu/", "force": "/wrench/"}[sensor.kind] + name
        message = topics[topic].sent[0]
        pair = (
            (message.angular_velocity, message.linear_acceleration)
            if sensor.kind == "imu"
            else (message.wrench.force, message.wrench.torque)
        )
        assert [x for v in pair for x in (v.x, v.y, v.z)] == seen.sensors[name].tolist()
        assert message.header.frame_id == name
    assert all(kinds.values())


def test_a_trajectory_becomes_a_command_for_the_joints_that_it_names(ros, standing):
    robot, sim = standing
    a, b = robot.joint_names[3], robot.joint_names[7]
    with ros2.bridge(robot) as bridge:
        sim.set_controller(robot, bridge)
        before = sim.data.command.motor["position"].copy()
        sim.step()
        np.testing.assert_array_equal(sim.data.command.motor["position"], before)
        bridge.node.waiting.append(JointTrajectory([b, a], positions=[0.1, 0.2], effort=[3.0, 4.0]))
        sim.step()
        motor = sim.data.command.motor
        for name, position, effort in ((a, 0.2, 4.0), (b, 0.1, 3.0)):
            row = motor[sim.model.v_index(name)]
            assert (row["position"], row["effort"]) == (position, effort)
        assert np.sum(motor["position"] != before) == 2
        assert not sim.reproducible
        node = bridge.node
    assert node.gone
    assert not ros.ok()


def test_mistakes_on_the_topic_are_told(ros, standing):
    robot, sim = standing
    with ros2.bridge(robot) as bridge:
        for message, said in (
            (JointTrajectory(["knee"], positions=[0.1]), "joint 'knee' not found in hrp2"),
            (
                JointTrajectory(list(robot.joint_names[:2]), positions=[0.1]),
                "positions on /joint_command has 1 numbers for 2 joint names",
            ),
        ):
            bridge.node.waiting.append(message)
            with pytest.raises(tabi.ModelError, match=said):
                bridge(0.0, sim.measure(robot))


def test_without_ros_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    with pytest.raises(tabi.ModelError, match=r"needs the Python package 'rclpy'.*install ROS 2"):
        ros2.bridge(tabi.robots.hrp2())
