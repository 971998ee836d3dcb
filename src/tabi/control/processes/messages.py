"""What a robot and a controller in another process tell each other.

First lines of text, ended by an empty one, the robot's, then the controller's:

    tabi-controller 1            version                        tabi-controller 1
    robot NAME                                                  joint COUNT NAME (as it expects)
    joint COUNT NAME             degrees of freedom of each     sensor KIND COUNT NAME
    sensor KIND COUNT NAME       numbers of each                measurement BYTES
    measurement BYTES            size of a message              command BYTES
    command BYTES
Of its lines a controller needs the first only; what it repeats is compared, so that a controller
that was written for another robot is refused by the name of the first joint that differs.

Then messages of fixed size, little-endian: a header of 32 bytes,

    0   magic, "TABI"       4   version, u16          6   kind, u16: 1 measurement, 2 command
    8   size, u32           12  given, u32            16  sequence, u64     24  time [s], f64
and numbers, f64. With n degrees of freedom of joints, in the order of the lines above,

    measurement: position n, velocity n, effort n, sensors     given: bit 0 where a run begins
    command: position n, velocity n, effort n, kp n, kd n      given: bit i where field i counts
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
# most bytes of lines
LONGEST = 1 << 20


@dataclass(frozen=True)
class Layout:
    """What messages of a robot hold.

    Attributes:
        robot: its name. joints: name and degrees of freedom of each, in their order.
        sensors: name, kind and numbers of each, in their order.
    """

    robot: str
    joints: tuple[tuple[str, int], ...]
    sensors: tuple[tuple[str, str, int], ...]

    @classmethod
    def of(cls, robot: Robot, measurement: Measurement) -> Layout:
        """Of a robot, with the sensors that its measurements have."""
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
        """Numbers of all sensors."""
        return sum(count for _, _, count in self.sensors)

    @cached_property
    def measurement_size(self) -> int:
        """Bytes of a measurement."""
        return HEADER.size + 8 * (3 * self.count + self.sensor_count)

    @cached_property
    def command_size(self) -> int:
        """Bytes of a command."""
        return HEADER.size + 8 * len(FIELDS) * self.count

    def lines(self) -> list[str]:
        """What the robot says at first."""
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
        """From the robot's lines."""
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
        """Refuse a controller whose lines are for something else; the first difference is told."""
        check_version(lines, f"the controller of {self.robot}")
        own = self.lines()
        for word in ("joint", "sensor", "measurement", "command"):
            told = [line for line in lines[1:] if line.split(" ", 1)[0] == word]
            here = [line for line in own if line.split(" ", 1)[0] == word]
            if not told:
                continue
            for theirs, mine in zip(told, here, strict=False):
                if theirs != mine:
                    raise SimulationError(
                        f"the controller expects {theirs!r} where robot {self.robot} has {mine!r}; "
                        "let it take names and sizes from the robot's lines, or load its robot"
                    )
            if len(told) != len(here):
                more = (told if len(told) > len(here) else here)[min(len(told), len(here))]
                raise SimulationError(
                    f"the controller names {len(told)} {word}s where robot {self.robot} has "
                    f"{len(here)}; the first that the other does not have is {more!r}"
                )


def check_version(lines: list[str], whose: str) -> None:
    """Refuse what does not begin with this version's first line."""
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
    """given, sequence and time of a message; one of another kind or size is refused."""
    magic, version, found, size, given, sequence, time = HEADER.unpack_from(message)
    if magic == MAGIC and version == VERSION and found == kind and size == len(message):
        return given, sequence, time
    if magic != MAGIC:
        wrong = f"begins with {magic!r}; expected {MAGIC!r}"
    elif version != VERSION:
        wrong = f"is of version {version}; expected {VERSION}"
    elif found != kind:
        wrong = f"is of kind {found}; expected {kind}"
    else:
        wrong = f"has a size of {size} bytes; expected {len(message)}"
    raise SimulationError(f"a message of {whose} {wrong}, as docs/external_controllers.md has it")
