"""Driver of 3D Systems Touch and Touch X (formerly Phantom), through the vendor's OpenHaptics
library ``HD``.

The library calls back 1000 times a second, from a separate thread; only within a frame may the
device be read and written:

    begin frame    position [mm], velocity [mm/s], pose (a matrix by columns), spin, buttons
    end frame      force [N]
The callback stores the latest reading and applies the latest force, which times out after 50 ms.

Reference: 3D Systems, OpenHaptics Toolkit 3.4 and 3.5, API reference, HDAPI.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tabi.interaction.devices.protocol import Array, DeviceError, DeviceInfo, HandReading
from tabi.spatial.transform import quaternion_from_matrix

BUTTONS, POSITION, VELOCITY, POSE, SPIN = 0x2000, 0x2050, 0x2051, 0x2052, 0x2053
FORCE, FORCE_OUTPUT, NO_DEVICE, PRIORITY, CONTINUE = 0x2700, 0x4000, 0xFFFFFFFF, 0xFFFF, 1
TIMEOUT_S = 0.05


class _Error(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint),
        ("internal", ctypes.c_int),
        ("device", ctypes.c_uint),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_void_p)


class TouchDevice:
    """Driver for a 3D Systems Touch.

    Args:
        name: of the device in its set-up program; default: its default device.
        library: with the functions of HD; default: the vendor's.
        clock: function that returns the time [s].
    """

    def __init__(
        self,
        name: str | None = None,
        library: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hd, self.clock, self.closed = library or _library(), clock, False
        self.info = DeviceInfo(
            f"Touch {name or 'Default Device'}",
            motion=6,
            wrench=3,
            force_limit=3.3,
            lower=(-0.2, -0.1, -0.1),
            upper=(0.2, 0.2, 0.1),
        )
        self._id = self._hd.hdInitDevice(None if name is None else name.encode())
        code = self._hd.hdGetError().code
        if self._id == NO_DEVICE or code:
            raise DeviceError(
                f"{self.info.name} could not be opened (error {code:#x}); connect it, and run the "
                "Touch set-up and diagnostic programs of its vendor"
            )
        self._lock, self._code = threading.Lock(), 0
        self._force, self._force_time = [0.0, 0.0, 0.0], -np.inf
        self._numbers: tuple[list[float], int, float] | None = None
        self._buffers = [(ctypes.c_double * n)() for n in (3, 3, 16, 3)]
        self._callback = _Callback(self._frame)
        self._hd.hdEnable(FORCE_OUTPUT)
        self._hd.hdScheduleAsynchronous(self._callback, None, PRIORITY)
        self._hd.hdStartScheduler()

    def read(self) -> HandReading:
        """Return the reading of the hand in the last frame."""
        self._check()
        end = self.clock() + TIMEOUT_S
        while self._numbers is None:
            if self.clock() > end:
                raise DeviceError(f"{self.info.name} sends no readings; is it still connected?")
            time.sleep(0.0005)
        with self._lock:
            numbers, mask, now = self._numbers
        x = np.array(numbers)
        # columns of a matrix, its translation last; lengths in millimeters
        R = x[6:22].reshape(4, 4)[:3, :3].T
        pressed = tuple(bool(mask >> k & 1) for k in range(2))
        q = quaternion_from_matrix(R)
        return HandReading(1e-3 * x[:3], 1e-3 * x[3:6], q, x[22:25].copy(), pressed, now)

    def write(self, force: Array, torque: Array) -> None:
        """Push the hand; the device gives no torque."""
        self._check()
        with self._lock:
            self._force, self._force_time = force.tolist(), self.clock()

    def close(self) -> None:
        """Release the force and the device."""
        if self.closed:
            return
        self.closed = True
        with self._lock:
            self._force = [0.0, 0.0, 0.0]
        self._hd.hdStopScheduler()
        self._hd.hdDisableDevice(self._id)

    def _frame(self, data: object) -> int:
        """Run one frame of the vendor's loop."""
        hd, mask = self._hd, ctypes.c_int()
        now = self.clock()
        hd.hdBeginFrame(self._id)
        for what, buffer in zip((POSITION, VELOCITY, POSE, SPIN), self._buffers, strict=True):
            hd.hdGetDoublev(what, buffer)
        hd.hdGetIntegerv(BUTTONS, ctypes.byref(mask))
        with self._lock:
            self._numbers = [x for buffer in self._buffers for x in buffer], mask.value, now
            fresh = now - self._force_time <= TIMEOUT_S and not self.closed
            force = self._force if fresh else [0.0, 0.0, 0.0]
        hd.hdSetDoublev(FORCE, (ctypes.c_double * 3)(*force))
        hd.hdEndFrame(self._id)
        self._code = self._code or hd.hdGetError().code
        return CONTINUE

    def _check(self) -> None:
        if self.closed:
            raise DeviceError(f"{self.info.name} was closed; open it again")
        if self._code:
            self.close()
            raise DeviceError(
                f"{self.info.name} reports error {self._code:#x}; it may be too warm, pushed too "
                "hard or unplugged: check it with its diagnostic program"
            )


def _library() -> Any:
    """Load the vendor's library, with the types of its functions."""
    name = "HD.dll" if sys.platform == "win32" else "libHD.so"
    try:
        hd = ctypes.CDLL(name)
    except OSError as e:
        raise DeviceError(
            f"3D Systems' library {name} cannot be loaded: {e}; install OpenHaptics and the Touch "
            "device driver from support.3dsystems.com"
        ) from None
    hd.hdInitDevice.argtypes, hd.hdInitDevice.restype = [ctypes.c_char_p], ctypes.c_uint
    hd.hdGetError.argtypes, hd.hdGetError.restype = [], _Error
    hd.hdScheduleAsynchronous.argtypes = [_Callback, ctypes.c_void_p, ctypes.c_ushort]
    hd.hdScheduleAsynchronous.restype = ctypes.c_ulong
    doubles = [ctypes.c_uint, ctypes.POINTER(ctypes.c_double)]
    hd.hdGetDoublev.argtypes = hd.hdSetDoublev.argtypes = doubles
    hd.hdGetIntegerv.argtypes = [ctypes.c_uint, ctypes.POINTER(ctypes.c_int)]
    for function in (hd.hdEnable, hd.hdBeginFrame, hd.hdEndFrame, hd.hdDisableDevice):
        function.argtypes, function.restype = [ctypes.c_uint], None
    return hd
