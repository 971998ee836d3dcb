"""Messages between a robot and a controller in another process.

The greeting is lines of text, ended by an empty one, of the robot, then of the controller:

    tabi-controller 1            version                        tabi-controller 1
    robot NAME                                                  joint COUNT NAME (as it expects)
    joint COUNT NAME             degrees of freedom of each     sensor KIND COUNT NAME
    sensor KIND COUNT NAME       numbers of each                measurement BYTES
    measurement BYTES            size of a message              command BYTES
    command BYTES
A controller has to send its first line only; lines that it repeats are compared, so that a
controller for another robot is rejected with the name of the first joint that differs.

Then messages of fixed size, little-endian: a header of 32 bytes,

    0   magic, "TABI"       4   version, u16          6   kind, u16: 1 measurement, 2 command
    8   size, u32           12  given, u32            16  sequence, u64     24  time [s], f64
and numbers, f64. With n degrees of freedom of joints, in the order of the lines above,

    measurement: position n, velocity n, effort n, sensors     given: bit 0 at the start of a run
    command: position n, velocity n, effort n, kp n, kd n      given: bit i if field i is commanded
A command has the sequence number of the measurement that it answers.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

from tabi._errors import SimulationError
from tabi.model.controllers.signals import FIELDS, Measurement
from tabi.model.robot import Robot

MAGIC, VERSION = b"TABI", 1
HEADER = struct.Struct("<4sHHIIQd")
MEASUREMENT, COMMAND = 1, 2
TITLE = "tabi-controller"
# size of the greeting [bytes]
MAX_LINES_SIZE = 1 << 20


@dataclass(frozen=True)
class Layout:
    """Layout of the messages of a robot.

    Attributes:
        robot: its name. joints: name and degrees of freedom of each, in their order.
        sensors: name, kind and number of values of each, in their order.
    """

    robot: str
    joints: tuple[tuple[str, int], ...]
    sensors: tuple[tuple[str, str, int], ...]

    @classmethod
    def of(cls, robot: Robot, measurement: Measurement) -> Layout:
        """Return the layout for a robot, with the sensors of its measurements."""
        joints = tuple((name, robot.joint(name).v_count) for name in robot.joint_names)
        sensors = tuple(
            (name, robot.sensors[name].kind, len(values))
            for name, values in measurement.sensors.items()
        )
        return cls(robot.name, joints, sensors)

    @cached_property
    def count(self) -> int:
        """Degrees of freedom of all joints."""
        return sum(count for _, count in self.joints)

    @cached_property
    def sensor_count(self) -> int:
        """Number of values of all sensors."""
        return sum(count for _, _, count in self.sensors)

    @cached_property
    def measurement_size(self) -> int:
        """Size of a measurement message [bytes]."""
        return HEADER.size + 8 * (3 * self.count + self.sensor_count)

    @cached_property
    def command_size(self) -> int:
        """Size of a command message [bytes]."""
        return HEADER.size + 8 * len(FIELDS) * self.count

    def lines(self) -> list[str]:
        """Return the greeting of the robot."""
        return [
            f"{TITLE} {VERSION}",
            f"robot {self.robot}",
            *(f"joint {count} {name}" for name, count in self.joints),
            *(f"sensor {kind} {count} {name}" for name, kind, count in self.sensors),
            f"measurement {self.measurement_size}",
            f"command {self.command_size}",
        ]

    @classmethod
    def read(cls, lines: list[str]) -> Layout:
        """Read the layout from the robot's lines."""
        check_version(lines, "the simulator")
        robot, joints, sensors = "", [], []
        for line in lines[1:]:
            word, _, rest = line.partition(" ")
            if word == "robot":
                robot = rest
            elif word == "joint":
                count, _, name = rest.partition(" ")
                joints.append((name, int(count)))
            elif word == "sensor":
                kind, count, name = rest.split(" ", 2)
                sensors.append((name, kind, int(count)))
        return cls(robot, tuple(joints), tuple(sensors))

    def check(self, lines: list[str]) -> None:
        """Reject a controller whose lines are for another robot; the error names the first
        difference.
        """
        check_version(lines, f"the controller of {self.robot}")
        robot_lines = self.lines()
        for word in ("joint", "sensor", "measurement", "command"):
            received = [line for line in lines[1:] if line.split(" ", 1)[0] == word]
            expected = [line for line in robot_lines if line.split(" ", 1)[0] == word]
            if not received:
                continue
            for theirs, mine in zip(received, expected, strict=False):
                if theirs != mine:
                    raise SimulationError(
                        f"the controller expects {theirs!r} where robot {self.robot} has {mine!r}; "
                        "let it take names and sizes from the robot's lines, or load its robot"
                    )
            if len(received) != len(expected):
                extra = (received if len(received) > len(expected) else expected)[
                    min(len(received), len(expected))
                ]
                raise SimulationError(
                    f"the controller names {len(received)} {word}s where robot {self.robot} has "
                    f"{len(expected)}; the first one that the other side does not have is {extra!r}"
                )


def check_version(lines: list[str], whose: str) -> None:
    """Reject a greeting without the first line of this version."""
    first = lines[0] if lines else ""
    word, _, version = first.partition(" ")
    if word == "error":
        raise SimulationError(f"the simulator refused this controller: {version}")
    if word != TITLE:
        raise SimulationError(
            f"{whose} began with {first[:60]!r}; expected the line '{TITLE} {VERSION}'"
        )
    if version != str(VERSION):
        raise SimulationError(
            f"{whose} speaks version {version[:20]} of the messages, this end version {VERSION}; "
            "build both from the same release"
        )


def read_header(message: bytearray, kind: int, whose: str) -> tuple[int, int, float]:
    """Return command mask, sequence and time of a message; reject another kind or size."""
    magic, version, received, size, mask, sequence, time = HEADER.unpack_from(message)
    if magic == MAGIC and version == VERSION and received == kind and size == len(message):
        return mask, sequence, time
    if magic != MAGIC:
        wrong = f"begins with {magic!r}; expected {MAGIC!r}"
    elif version != VERSION:
        wrong = f"is of version {version}; expected {VERSION}"
    elif received != kind:
        wrong = f"is of kind {received}; expected {kind}"
    else:
        wrong = f"has a size of {size} bytes; expected {len(message)}"
    raise SimulationError(f"a message of {whose} {wrong}; see docs/external_controllers.md")
