"""Controllers that are kernels: asked within the compiled loop of the simulation, without Python.

Such a controller sees and says the same as any other, ``Measurement`` and ``Command``, in arrays:
those of a ``Channel``. Who has a method ``pilot`` that returns a ``Pilot`` is one; it can still be
called as a function, and should then say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.jit.structure import Structure
from tabi.model.controllers.signals import FIELDS

# rows of ``Channel.told``
POSITION, VELOCITY, EFFORT, KP, KD = range(len(FIELDS))


class Channel(Structure):
    """What a controller of a robot with n degrees of freedom sees and says.

    Attributes:
        time: [s], shape (1,). position, velocity, effort: of its joints, as in ``Measurement``.
        reading: values of the sensors that it reads, one after the other.
        told: fields of a command, shape (5, n). given: which of them, one bit each, shape (1,).
        over: of the command [s], 0 for at once, shape (1,).
    """

    time: NDArray[np.float64]
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]
    effort: NDArray[np.float64]
    reading: NDArray[np.float64]
    told: NDArray[np.float64]
    given: NDArray[np.int64]
    over: NDArray[np.float64]


class Pilot(NamedTuple):
    """A controller as a kernel.

    Attributes:
        kernel: function of one structure that reads and writes the channel.
        structure: its argument, which holds the channel; neither is ever replaced.
        channel: see there. sensors: names of those that it reads, in the order of ``reading``.
        period: in which it wants to be asked, once or a whole number of times [s].
        joints: names of those that it moves, one for each degree of freedom; () for any.
    """

    kernel: Any
    structure: Structure
    channel: Channel
    sensors: tuple[str, ...]
    period: float
    joints: tuple[str, ...] = ()


def channel(count: int, readings: int) -> Channel:
    """Of a robot with so many degrees of freedom, and so many values of sensors."""
    return Channel(
        time=np.full(1, -np.inf),
        position=np.zeros(count),
        velocity=np.zeros(count),
        effort=np.zeros(count),
        reading=np.zeros(readings),
        told=np.zeros((len(FIELDS), count)),
        given=np.zeros(1, np.int64),
        over=np.zeros(1),
    )


def check_joints(robot: str, own: Sequence[str], pilot: Pilot) -> None:
    """Refuse a controller that was made for a robot with other joints.

    Args:
        own: names of the robot's joints, one for each degree of freedom.
    """
    if len(pilot.channel.position) == len(own) and pilot.joints in ((), tuple(own)):
        return
    others = [name for name in [*pilot.joints, *own] if (name in pilot.joints) != (name in own)]
    which = f", {others[0]!r} is a joint of one of them" if pilot.joints and others else ""
    raise ModelError(
        f"controller of {robot} was made for another robot, with {len(pilot.channel.position)} "
        f"joints in place of {len(own)}{which}; make it, and its pattern, for this one"
    )


def check_period(robot: str, asked: float, period: float) -> None:
    """Refuse a controller that is not asked once in each of its periods [s], or a whole number of
    times.
    """
    times = period / asked
    if times < 1.0 - 1e-6 or abs(times - round(times)) > 1e-6:
        raise ModelError(
            f"controller of {robot} is asked every {1e3 * asked:g} ms and works in periods of "
            f"{1e3 * period:g} ms; ask it once in each: "
            f"sim.set_controller(robot, controller, rate={1.0 / period:g})"
        )
