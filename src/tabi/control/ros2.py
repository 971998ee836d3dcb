"""Bridge to ROS 2: a robot's measurements as topics, and its commands from one.

| topic                  | message                         | what                                 |
|------------------------|---------------------------------|--------------------------------------|
| /clock                 | rosgraph_msgs/Clock             | time of the measurement              |
| /joint_states          | sensor_msgs/JointState          | position, velocity, effort of joints |
| /imu/NAME              | sensor_msgs/Imu                 | of each sensor of kind "imu"         |
| /wrench/NAME           | geometry_msgs/WrenchStamped     | of each sensor of kind "force"       |
| /joint_command (input) | trajectory_msgs/JointTrajectory | positions, velocities and effort of  |
|                        |                                 | its first point, of named joints     |

A bridge is a controller (time, measurement) → command. It never waits: it uses the latest command,
so that reruns differ. Time is that of the measurements: nodes that listen should set
``use_sim_time``.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tabi._errors import ModelError, unknown
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.robot import Robot

# queue lengths of published messages, and of received commands
PUBLISHER_QUEUE, COMMAND_QUEUE = 10, 1
COMMAND_FIELDS = {"positions": "position", "velocities": "velocity", "effort": "effort"}


class Bridge(Controller):
    """A controller that exchanges messages with ROS 2: see ``bridge``.

    Attributes:
        node: of rclpy. reproducible: False.
    """

    reproducible = False

    def __init__(self, robot: Robot, name: str) -> None:
        rclpy = _imported("rclpy")
        self._rclpy, self._robot = rclpy, robot
        self._owns_context = not rclpy.ok()
        if self._owns_context:
            rclpy.init()
        self.node = rclpy.create_node(name)
        self._state = _message("sensor_msgs", "JointState")
        self._clock = _message("rosgraph_msgs", "Clock")
        self._imu, self._wrench = (
            _message("sensor_msgs", "Imu"),
            _message("geometry_msgs", "WrenchStamped"),
        )
        publish = self.node.create_publisher
        self._states = publish(self._state, "/joint_states", PUBLISHER_QUEUE)
        self._clocks = publish(self._clock, "/clock", PUBLISHER_QUEUE)
        self._sensors = {
            key: publish(*_topic(sensor.kind, key, self._imu, self._wrench), PUBLISHER_QUEUE)
            for key, sensor in robot.sensors.items()
            if sensor.kind in ("imu", "force") and not sensor.part
        }
        self._command, self._problem = Command(), None
        self._subscription = self.node.create_subscription(
            _message("trajectory_msgs", "JointTrajectory"),
            "/joint_command",
            self._receive,
            COMMAND_QUEUE,
        )

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Publish a measurement and return the latest received command."""
        self._publish(time, measurement)
        self._rclpy.spin_once(self.node, timeout_sec=0.0)
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
        return self._command

    def __enter__(self) -> Bridge:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Destroy the node, and shut rclpy down if this bridge started it."""
        self.node.destroy_node()
        if self._owns_context and self._rclpy.ok():
            self._rclpy.shutdown()

    def reset(self) -> None:
        """Discard commands from before the run."""
        self._command = Command()

    def _publish(self, time: float, measurement: Measurement) -> None:
        clock, state = self._clock(), self._state()
        _stamp(clock.clock, time)
        self._clocks.publish(clock)
        _stamp(state.header.stamp, time)
        state.name = list(self._robot.joint_names)
        for name in ("position", "velocity", "effort"):
            setattr(state, name, getattr(measurement, name).tolist())
        self._states.publish(state)
        for name, publisher in self._sensors.items():
            if name not in measurement.sensors:
                continue
            sensor, x = self._robot.sensors[name], measurement.sensors[name].tolist()
            message = self._imu() if sensor.kind == "imu" else self._wrench()
            _stamp(message.header.stamp, time)
            message.header.frame_id = name
            if sensor.kind == "imu":
                # −1 in ROS: orientation is not measured
                message.orientation_covariance[0] = -1.0
                places = message.angular_velocity, message.linear_acceleration
            else:
                places = message.wrench.force, message.wrench.torque
            for place, (px, py, pz) in zip(places, (x[:3], x[3:]), strict=True):
                place.x, place.y, place.z = px, py, pz
            publisher.publish(message)

    def _receive(self, message: Any) -> None:
        """Store a received trajectory: the first of its points is the command."""
        if not message.points:
            return
        names, fields = list(message.joint_names), {}
        for name in names:
            if name not in self._robot.joint_names:
                self._problem = unknown("joint", name, self._robot.name, self._robot.joint_names)
                return
        for theirs, ours in COMMAND_FIELDS.items():
            values = np.asarray(getattr(message.points[0], theirs), float).tolist()
            if values and len(values) != len(names):
                self._problem = ModelError(
                    f"{theirs} on /joint_command has {len(values)} numbers for {len(names)} joint "
                    "names; expected one for each"
                )
                return
            if values:
                fields[ours] = dict(zip(names, values, strict=True))
        self._command = Command(**fields)


def bridge(robot: Robot, name: str = "tabi") -> Bridge:
    """Connect a robot to ROS 2: publish its measurements and receive its commands. Its joints have
    one degree of freedom each.

    Args:
        name: of the node.
    """
    for joint in robot.joint_names:
        if robot.joint(joint).v_count != 1:
            raise ModelError(
                f"joint {joint!r} of {robot.name} has {robot.joint(joint).v_count} degrees of "
                "freedom; a JointState has one number for each joint"
            )
    return Bridge(robot, name)


def _topic(kind: str, name: str, imu: Any, wrench: Any) -> tuple[Any, str]:
    """Return type and name of a sensor's topic; a name has letters, digits and underscores only."""
    clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return (imu, f"/imu/{clean}") if kind == "imu" else (wrench, f"/wrench/{clean}")


def _stamp(stamp: Any, time: float) -> None:
    nanoseconds = round(time * 1e9)
    stamp.sec, stamp.nanosec = nanoseconds // 10**9, nanoseconds % 10**9


def _message(package: str, name: str) -> Any:
    return getattr(_imported(f"{package}.msg"), name)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ModelError(
            f"the bridge to ROS 2 needs the Python package {name.partition('.')[0]!r}, which is "
            "not installed; install ROS 2 with its common messages, source its setup.bash, and "
            "use the Python that it was built for"
        ) from None
