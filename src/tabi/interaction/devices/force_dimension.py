"""Driver of Force Dimension devices (delta, omega, sigma, lambda; Novint Falcon), through the
vendor's DHD library and its bindings ``forcedimension_core``.

All calls of the library return at once: position [m], velocity [m/s], orientation as a matrix,
angular velocity [rad/s], force [N] and torque [N·m] in the device's right-handed frame. Each
returns a negative number on failure. The device's controller releases the force by itself if it is
not updated.

Reference: Force Dimension SDK 3.14 and later; ``forcedimension_core.dhd`` 0.1.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tabi.interaction.devices.protocol import Array, DeviceError, DeviceInfo, HandReading
from tabi.spatial.transform import quaternion_from_matrix

LIBRARY, BUTTONS = "forcedimension_core.dhd", 4


class ForceDimensionDevice:
    """Driver for the first connected device, or the one of an index."""

    def __init__(
        self, index: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._dhd, self.clock, self.closed = _library(), clock, False
        dhd = self._dhd
        self._id = dhd.open() if index is None else dhd.openID(index)
        if self._id < 0:
            which = "" if index is None else f" {index}"
            raise DeviceError(
                f"no Force Dimension device{which} could be opened: {dhd.errorGetLastStr()}; "
                "connect one, switch it on, and end other programs that use it"
            )
        self._wrist = bool(dhd.hasWrist(self._id))
        active = bool(dhd.hasActiveWrist(self._id))
        name = dhd.getSystemName(self._id) or "a Force Dimension device"
        self.info = DeviceInfo(
            name if index is None else f"{name} {index}",
            motion=6 if self._wrist else 3,
            wrench=6 if active else 3,
            force_limit=8.0,
            torque_limit=0.1 if active else 0.0,
            lower=(-0.06, -0.08, -0.07),
            upper=(0.06, 0.08, 0.07),
        )
        self._x, self._v, self._w = [0.0] * 3, [0.0] * 3, [0.0] * 3
        self._R = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        self._check(dhd.enableForce(True, self._id), "switch its motors on")

    def read(self) -> HandReading:
        """Return the reading of the hand now."""
        self._check_open()
        dhd, now = self._dhd, self.clock()
        self._check(dhd.getPosition(self._x, self._id), "report its position")
        self._check(dhd.getLinearVelocity(self._v, self._id), "report its velocity")
        q, spin = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
        if self._wrist:
            self._check(dhd.getOrientationFrame(self._R, self._id), "report its orientation")
            self._check(dhd.getAngularVelocityRad(self._w, self._id), "report its angular velocity")
            q, spin = quaternion_from_matrix(np.array(self._R)), np.array(self._w)
        mask = int(dhd.getButtonMask(self._id))
        pressed = tuple(bool(mask >> k & 1) for k in range(BUTTONS))
        return HandReading(np.array(self._x), np.array(self._v), q, spin, pressed, now)

    def write(self, force: Array, torque: Array) -> None:
        """Push the hand; without an active wrist there is no torque."""
        self._check_open()
        f, t = force.tolist(), torque.tolist()
        done = (
            self._dhd.setForceAndTorque(f, t, self._id)
            if self.info.wrench == 6
            else self._dhd.setForce(f, self._id)
        )
        self._check(done, "accept a force")

    def close(self) -> None:
        """Release the force and the device."""
        if self.closed:
            return
        self.closed = True
        zero = [0.0, 0.0, 0.0]
        self._dhd.setForceAndTorque(zero, zero, self._id)
        self._dhd.enableForce(False, self._id)
        self._dhd.close(self._id)

    def _check(self, code: int, what: str) -> None:
        if code < 0:
            why = self._dhd.errorGetLastStr()
            self.close()
            raise DeviceError(f"{self.info.name} did not {what}: {why}; is it still connected?")

    def _check_open(self) -> None:
        if self.closed:
            raise DeviceError(f"{self.info.name} was closed; open it again")


def _library() -> Any:
    """Return the bindings; they load the vendor's library on import."""
    try:
        return importlib.import_module(LIBRARY)
    except ImportError as e:
        raise DeviceError(
            f"Force Dimension's library cannot be loaded: {e}; install the Force Dimension SDK "
            "from forcedimension.com and its bindings, pip install forcedimension_core"
        ) from None
