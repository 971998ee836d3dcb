"""Driver of a gamepad under Linux, read from its event file, with rumble as its only force.

The kernel reports each change as an event (time, type, code, value), 24 bytes on a 64-bit machine.
Sticks are a position in a box of half-width a: for an axis with the range l to u,

    x = a (2 (value − l)/(u − l) − 1)                                                           (1)
left stick x and y (pushed away is +y), right stick z (pushed away is up). Within the dead
zone ``DEAD_ZONE`` about the middle a stick is at zero. Velocity is the change of position after a
low-pass with a time constant of 20 ms, as events come in steps.

Rumble is one number, the size of the force, as a share of the limit, for the strong motor. It ends
after 100 ms if it is not renewed.

Reference: Linux kernel, include/uapi/linux/input.h, and Documentation/input/ff.rst.
"""

from __future__ import annotations

import math
import os
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tabi.interaction.devices.protocol import Array, DeviceError, DeviceInfo, HandReading

EVENT = struct.Struct("@llHHi")
# struct ff_effect with its rumble: type, id, direction, trigger (2), replay (2), and motors (2)
EFFECT = struct.Struct("@HhHHHHHxxHH28x")
KEY, ABS, FORCE_FEEDBACK, RUMBLE = 1, 3, 0x15, 0x50
AXES = {0: 0, 1: 1, 4: 2}
FLIPPED = (False, True, True)
FIRST_BUTTON, BUTTONS = 0x130, 16
# half-width of the box [m], dead zone, time constant [s], duration of rumble [ms]
HALF_WIDTH, DEAD_ZONE, FILTER_TIME_S, RUMBLE_TIME_MS = 0.1, 0.06, 0.02, 100
FOLDER = Path("/dev/input/by-id")


class Gamepad:
    """Driver for a gamepad under Linux.

    Args:
        path: its event file; default: of the first connected gamepad.
        clock: function that returns the time [s].
        control: function for requests to the file; default: ``ioctl``.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        control: Callable[..., object] | None = None,
    ) -> None:
        control = _ioctl() if control is None else control
        self.path = _find_gamepad() if path is None else Path(path)
        self._file, writable = _open(self.path)
        self.clock, self._control, self.closed = clock, control, False
        self._ranges = {code: self._range(code) for code in AXES}
        self._effect = self._upload(-1, 0) if writable else None
        self.info = DeviceInfo(
            f"gamepad {self.path.name}",
            wrench=0 if self._effect is None else 1,
            force_limit=5.0,
            lower=(-HALF_WIDTH, -HALF_WIDTH, -HALF_WIDTH),
            upper=(HALF_WIDTH, HALF_WIDTH, HALF_WIDTH),
        )
        self._place, self._velocity = np.zeros(3), np.zeros(3)
        self._before, self._read_time = np.zeros(3), clock()
        self._pressed = [False] * BUTTONS
        self._left, self._level, self._play_time = b"", 0, -math.inf

    def read(self) -> HandReading:
        """Return the reading of the sticks now."""
        if self.closed:
            raise DeviceError(f"{self.info.name} was closed; open it again")
        self._left += self._events()
        whole = len(self._left) - len(self._left) % EVENT.size
        for _, _, kind, code, value in EVENT.iter_unpack(self._left[:whole]):
            self._event(kind, code, value)
        self._left = self._left[whole:]
        now = self.clock()
        dt = now - self._read_time
        if dt > 0.0:
            share = 1.0 - math.exp(-dt / FILTER_TIME_S)
            self._velocity += share * ((self._place - self._before) / dt - self._velocity)
            self._before, self._read_time = self._place.copy(), now
        pressed = tuple(self._pressed)
        return HandReading(self._place.copy(), self._velocity.copy(), buttons=pressed, time=now)

    def write(self, force: Array, torque: Array) -> None:
        """Set the strength of the rumble from the force."""
        if self.closed:
            raise DeviceError(f"{self.info.name} was closed; open it again")
        if self._effect is None:
            return
        size = min(float(np.sqrt(force @ force)) / self.info.force_limit, 1.0)
        level = round(0xFF * size) * 0x101 if math.isfinite(size) else 0
        now = self.clock()
        # each write is sent over the cable: only for a change, and before it ends
        if level == self._level and (not level or now - self._play_time < 0.5e-3 * RUMBLE_TIME_MS):
            return
        self._upload(self._effect, level)
        self._play(level > 0)
        self._level, self._play_time = level, now

    def close(self) -> None:
        """Stop the rumble, and close the file."""
        if self.closed:
            return
        self.closed = True
        try:
            if self._effect is not None:
                self._play(False)
        except DeviceError:
            pass
        os.close(self._file)

    def _event(self, kind: int, code: int, value: int) -> None:
        if kind == ABS and code in AXES:
            low, high = self._ranges[code]
            i = AXES[code]
            s = min(max(2.0 * (value - low) / (high - low) - 1.0, -1.0), 1.0)
            s = 0.0 if abs(s) < DEAD_ZONE else -s if FLIPPED[i] else s
            self._place[i] = HALF_WIDTH * s
        elif kind == KEY and 0 <= code - FIRST_BUTTON < BUTTONS:
            self._pressed[code - FIRST_BUTTON] = value != 0

    def _events(self) -> bytes:
        try:
            return os.read(self._file, 64 * EVENT.size)
        except BlockingIOError:
            return b""
        except OSError as e:
            self.close()
            raise DeviceError(f"{self.info.name} is gone: {e}; connect it again") from None

    def _range(self, code: int) -> tuple[int, int]:
        """Return the range of an axis, EVIOCGABS: value, minimum, maximum, three more."""
        answer = bytearray(24)
        try:
            self._control(self._file, _request(2, 0x40 + code, 24), answer)
        except OSError:
            return -32768, 32767
        _, low, high, *_ = struct.unpack("6i", answer)
        return (low, high) if high > low else (-32768, 32767)

    def _upload(self, effect: int, level: int) -> int | None:
        """Upload the strength of the rumble, EVIOCSFF; return None without rumble."""
        data = bytearray(EFFECT.pack(RUMBLE, effect, 0, 0, 0, RUMBLE_TIME_MS, 0, level, level // 2))
        try:
            self._control(self._file, _request(1, 0x80, EFFECT.size), data)
        except OSError:
            return None
        return EFFECT.unpack(data)[1]

    def _play(self, on: bool) -> None:
        try:
            os.write(self._file, EVENT.pack(0, 0, FORCE_FEEDBACK, self._effect or 0, int(on)))
        except OSError as e:
            self.closed = True
            raise DeviceError(f"{self.info.name} is gone: {e}; connect it again") from None


def _ioctl() -> Callable[..., object]:
    """Return the function for requests to a driver of Linux; other systems have no event files."""
    if not sys.platform.startswith("linux"):
        raise DeviceError(
            f"a gamepad is read from Linux' event files (/dev/input), which {sys.platform} does "
            "not have; expected Linux, or another device: the mouse in the page, haply or touch"
        )
    import fcntl

    return fcntl.ioctl


def _request(direction: int, number: int, size: int) -> int:
    """Return the number of an ioctl of type 'E' that writes (1) or reads (2) ``size`` bytes."""
    return direction << 30 | size << 16 | ord("E") << 8 | number


def _open(path: Path) -> tuple[int, bool]:
    """Open the file; return it, and whether it is writable."""
    for flags, writable in ((os.O_RDWR, True), (os.O_RDONLY, False)):
        try:
            return os.open(path, flags | os.O_NONBLOCK), writable
        except PermissionError as e:
            why = e
        except OSError as e:
            raise DeviceError(f"gamepad {path} cannot be opened: {e}; is it connected?") from None
    raise DeviceError(f"gamepad {path} may not be read: {why}; become a member of group input")


def _find_gamepad() -> Path:
    paths = sorted(FOLDER.glob("*-event-joystick")) if FOLDER.is_dir() else []
    if not paths:
        raise DeviceError(
            f"no gamepad is connected: nothing in {FOLDER} ends in -event-joystick; connect one, "
            "or name its event file as 'gamepad:/dev/input/event7'"
        )
    return paths[0]
