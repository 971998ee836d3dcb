"""Pilots: controllers in compiled form, called by the compiled loop of steps without Python.

A controller with a method ``pilot`` offers such a form, a ``Pilot``: a kernel that reads the
measurement from the arrays of a ``Channel`` and writes its command to them. The controller can
still be called as a Python function, and should then return the same command.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.jit.structure import Structure
from tabi.model.controllers.signals import FIELDS

# rows of ``Channel.command``
POSITION, VELOCITY, EFFORT, KP, KD = range(len(FIELDS))


class Channel(Structure, renamed={"told": "command", "given": "command_mask"}):
    """Measurement and command of a robot with n degrees of freedom, as arrays for kernels.

    Attributes:
        time: [s], shape (1,). position, velocity, effort: of the joints, as in ``Measurement``.
        reading: values of the sensors that the controller reads, one after the other.
        command: fields of the command, a row of each, shape (5, n). command_mask: which of them are
            set, one bit each, shape (1,).
        over: duration of the command [s], 0 for at once, shape (1,).
    """

    time: NDArray[np.float64]
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    effort: NDArray[np.float64]
    reading: NDArray[np.float64]
    command: NDArray[np.float64]
    command_mask: NDArray[np.int64]
    over: NDArray[np.float64]


class Pilot(NamedTuple):
    """A controller in compiled form.

    Attributes:
        kernel: function of one argument, the structure; it reads and writes the channel.
        structure: the argument, which holds the channel; neither is ever replaced.
        channel: arrays of measurement and command.
        sensors: names of the sensors that it reads, in the order of ``Channel.reading``.
        period: control period [s]; the kernel is called once or a whole number of times in it.
        joints: name of the joint of each degree of freedom that it moves; () for any robot.
    """

    kernel: Any
    structure: Structure
    channel: Channel
    sensors: tuple[str, ...]
    period: float
    joints: tuple[str, ...] = ()


def channel(count: int, readings: int) -> Channel:
    """Return the channel of a robot with so many degrees of freedom and sensor values."""
    return Channel(
        time=np.full(1, -np.inf),
        position=np.zeros(count),
        velocity=np.zeros(count),
        effort=np.zeros(count),
        reading=np.zeros(readings),
        command=np.zeros((len(FIELDS), count)),
        command_mask=np.zeros(1, np.int64),
        over=np.zeros(1),
    )


def check_joints(robot: str, joint_names: Sequence[str], pilot: Pilot) -> None:
    """Reject a controller that was made for a robot with other joints.

    Args:
        joint_names: names of the robot's joints, one for each degree of freedom.
    """
    if len(pilot.channel.position) == len(joint_names) and pilot.joints in ((), tuple(joint_names)):
        return
    different = [
        name
        for name in [*pilot.joints, *joint_names]
        if (name in pilot.joints) != (name in joint_names)
    ]
    which = f", {different[0]!r} is a joint of one of them" if pilot.joints and different else ""
    raise ModelError(
        f"controller of {robot} was made for another robot, with {len(pilot.channel.position)} "
        f"joints in place of {len(joint_names)}{which}; make it, and its pattern, for this one"
    )


def check_period(robot: str, interval: float, period: float) -> None:
    """Reject a controller that is not called once in each of its periods [s], or a whole number of
    times, by the interval of its calls [s].
    """
    times = period / interval
    if times < 1.0 - 1e-6 or abs(times - round(times)) > 1e-6:
        raise ModelError(
            f"controller of {robot} is called every {1e3 * interval:g} ms and works in periods of "
            f"{1e3 * period:g} ms; call it once in each: "
            f"sim.set_controller(robot, controller, rate={1.0 / period:g})"
        )
