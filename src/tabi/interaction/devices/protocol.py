"""Protocol of haptic devices: a driver reads the motion of a hand, and applies a wrench to it.

Vectors are in the device's frame, which the coupling places in the world; wrenches are about the
handle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError

Array = NDArray[np.float64]
MOTIONS, WRENCHES = (2, 3, 6), (0, 1, 3, 6)


class DeviceError(TabiError, RuntimeError):
    """A device is missing, does not answer, or sends invalid data."""


@dataclass(frozen=True)
class DeviceInfo:
    """Properties and limits of a device.

    Attributes:
        name: for display.
        motion: measured degrees of freedom: 2 (a mouse), 3 or 6.
        wrench: actuated degrees of freedom: 0, 1 (rumble), 3 or 6.
        force_limit: largest force [N]. torque_limit: largest torque [N·m].
        lower, upper: corners of its workspace [m].
        rate: how often it is read and written [1/s].
    """

    name: str
    motion: int = 3
    wrench: int = 3
    force_limit: float = 5.0
    torque_limit: float = 0.0
    lower: tuple[float, float, float] = (-0.1, -0.1, -0.1)
    upper: tuple[float, float, float] = (0.1, 0.1, 0.1)
    rate: float = 1000.0

    def __post_init__(self) -> None:
        if self.motion not in MOTIONS or self.wrench not in WRENCHES:
            raise ModelError(
                f"device {self.name!r} has {self.motion} degrees of freedom in and {self.wrench} "
                f"out; expected one of {MOTIONS} in and one of {WRENCHES} out"
            )
        if self.wrench and not 0.0 < self.force_limit < np.inf:
            raise ModelError(
                f"device {self.name!r} has a force limit of {self.force_limit:g} N; "
                "expected newtons > 0, or wrench=0 if it only measures motion"
            )
        if not 0.0 <= self.torque_limit < np.inf or not 0.0 < self.rate < np.inf:
            raise ModelError(
                f"device {self.name!r} has a torque limit of {self.torque_limit:g} N·m at "
                f"{self.rate:g} Hz; expected a torque ≥ 0 and a rate > 0"
            )
        if not np.all(np.subtract(self.upper, self.lower) > 0.0):
            raise ModelError(
                f"device {self.name!r} has a workspace from {self.lower} to {self.upper} m; "
                "expected an upper corner above the lower one in x, y and z"
            )


@dataclass(frozen=True, eq=False)
class HandReading:
    """Reading of a hand at one time.

    Attributes:
        position: of the handle [m]. velocity: of the handle [m/s].
        quaternion: of the handle, (w, x, y, z). spin: its angular velocity [rad/s].
        buttons: which are pressed.
        time: of the reading [s], by a monotonic clock.
    """

    position: Array
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    quaternion: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    spin: Array = field(default_factory=lambda: np.zeros(3))
    buttons: tuple[bool, ...] = ()
    time: float = 0.0


class HapticDevice(Protocol):
    """Driver of a haptic device. All methods are called from one thread; each call returns within a
    period, or raises ``DeviceError``.
    """

    info: DeviceInfo

    def read(self) -> HandReading:
        """Return the reading of the hand now."""
        ...

    def write(self, force: Array, torque: Array) -> None:
        """Push the hand [N], [N·m], until the next call."""
        ...

    def close(self) -> None:
        """Release the force and the device; a second call does nothing."""
        ...
