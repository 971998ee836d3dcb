"""Scripted hand, replayed from rows of time and position, and a recorder of such rows.

A file ``*.hand.csv`` begins with the names of its columns, then one row per time, times increasing:

    time_s,x_m,y_m,z_m[,qw,qx,qy,qz][,buttons]
``buttons`` is a word of 0 and 1, one letter per button (``010``). Between rows k and k + 1, with
h = t_{k+1} − t_k and s = (t − t_k)/h, the position is the cubic Hermite polynomial

    x(t) = h₀₀(s) x_k + h h₁₀(s) v_k + h₀₁(s) x_{k+1} + h h₁₁(s) v_{k+1}                        (1)
    h₀₀ = 2s³ − 3s² + 1    h₁₀ = s³ − 2s² + s    h₀₁ = −2s³ + 3s²    h₁₁ = s³ − s²
whose slope v_k is zero at both ends, where the hand is at rest, and at an inner row, between the
velocities d₀ and d₁ of the straight lines before and after it, which take h₀ and h₁,

    v_k = max(0, cos θ) m e,   e: unit, between the two lines,  θ: the angle between them       (2)
    1/m = (w₀/‖d₀‖ + w₁/‖d₁‖)/(w₀ + w₁),   w₀ = h₀ + 2h₁,   w₁ = 2h₀ + h₁
Along a straight line this is the monotone interpolation of Fritsch and Butland: between two rows
the hand never moves beyond either, however unevenly they are spaced. It passes a gentle bend
without a stop, and stops at turns of a right angle or more; the result is independent of the axes.
Velocity is the exact derivative of (1). Orientation rotates at a constant rate from row to row;
buttons are constant until the next row.

Reference: Fritsch and Butland (1984), A method for constructing local monotone piecewise cubic
interpolants.
"""

from __future__ import annotations

import csv
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from tabi._errors import ModelError
from tabi.interaction.devices.protocol import Array, DeviceInfo, HandReading, HapticDevice

POSITION_COLUMNS = ("time_s", "x_m", "y_m", "z_m")
ORIENTATION_COLUMNS = ("qw", "qx", "qy", "qz")
BUTTONS = "buttons"
AFTER = ("stay", "repeat")
MAX_DISTANCE = 1e3


class ScriptedHand:
    """Motion of a hand over time, by (1).

    Args:
        rows: time, position and, with eight columns, orientation (w, x, y, z).
        buttons: which are pressed from each row on.
        name: for errors.
        after: the last row: ``stay`` there, or ``repeat`` from the first.
    """

    def __init__(
        self,
        rows: Array | Sequence[Sequence[float]],
        buttons: Sequence[tuple[bool, ...]] = (),
        name: str = "a scripted hand",
        after: str = "stay",
    ) -> None:
        table = np.array(rows, float)
        if table.ndim != 2 or table.shape[1] not in (4, 8) or not len(table):
            raise ModelError(
                f"{name} has rows of shape {table.shape}; expected (time, x, y, z) or (time, x, y, "
                "z, qw, qx, qy, qz) in each of at least one row"
            )
        if not np.all(
            np.abs(table) <= MAX_DISTANCE * np.array([1e3] + [1.0] * (table.shape[1] - 1))
        ):
            raise ModelError(
                f"{name} has numbers that are not finite or beyond {MAX_DISTANCE:g} m; expected "
                "seconds and meters"
            )
        if np.any(np.diff(table[:, 0]) <= 0.0):
            k = int(np.argmax(np.diff(table[:, 0]) <= 0.0)) + 1
            raise ModelError(
                f"{name} goes from {table[k - 1, 0]:g} s to {table[k, 0]:g} s at row {k + 1}; "
                "expected increasing times"
            )
        if after not in AFTER:
            raise ModelError(f"{name} does {after!r} after its last row; expected one of {AFTER}")
        self.name, self.after = name, after
        self.buttons = list(buttons) or [()] * len(table)
        self._t = table[:, 0].tolist()
        self._x, self._v = table[:, 1:4], _row_velocities(table[:, 0], table[:, 1:4])
        self.turns = table.shape[1] == 8
        self._q = _unit(table[:, 4:8], name) if self.turns else None

    @property
    def duration(self) -> float:
        """Time from the first row to the last [s]."""
        return self._t[-1] - self._t[0]

    def at(self, t: float) -> HandReading:
        """Return the reading of the hand at a time since its first row [s]."""
        reading_time = t
        if self.after == "repeat" and self.duration > 0.0:
            t = math.fmod(t, self.duration) + (self.duration if t < 0.0 else 0.0)
        t += self._t[0]
        k = bisect_right(self._t, t) - 1
        if k < 0 or k >= len(self._t) - 1:
            k = max(k, 0)
            q = np.array([1.0, 0.0, 0.0, 0.0]) if self._q is None else self._q[k].copy()
            return HandReading(
                self._x[k].copy(), quaternion=q, buttons=self.buttons[k], time=reading_time
            )
        h = self._t[k + 1] - self._t[k]
        s = (t - self._t[k]) / h
        x, v = _hermite(s, h, self._x[k], self._v[k], self._x[k + 1], self._v[k + 1])
        q, spin = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
        if self._q is not None:
            q, spin = _interpolated_rotation(self._q[k], self._q[k + 1], s, h)
        return HandReading(x, v, q, spin, self.buttons[k], reading_time)

    @classmethod
    def load(cls, path: str | Path, after: str = "stay") -> ScriptedHand:
        """Load a hand from a file; errors name the line."""
        rows, buttons, seen = [], [], -math.inf
        try:
            with open(path, newline="", encoding="utf-8") as file:
                lines = csv.reader(file)
                names = [name.strip() for name in next(lines, [])]
                _check_header(names, path)
                for cells in lines:
                    if not any(cell.strip() for cell in cells):
                        continue
                    row, pressed = _row(names, cells, path, lines.line_num)
                    if row[0] <= seen:
                        raise ModelError(
                            f"the time is {row[0]:g} s after {seen:g} s; expected increasing times",
                            *(path, lines.line_num),
                        )
                    seen = row[0]
                    rows.append(row)
                    buttons.append(pressed)
        except (OSError, UnicodeDecodeError, csv.Error) as e:
            raise ModelError(f"a hand cannot be read: {e}", path) from None
        if not rows:
            raise ModelError("no row of a hand in it; expected at least one", path)
        return cls(rows, buttons, str(path), after)


class ScriptedDevice:
    """Device whose hand follows a script, whatever the force.

    Args:
        hand: the script. clock: function that returns the time [s]; simulated time, for a replay in
            lock-step.

    Attributes:
        force, torque: last written values.
    """

    def __init__(self, hand: ScriptedHand, clock: Callable[[], float] = time.monotonic) -> None:
        self.info = DeviceInfo(hand.name, motion=6 if hand.turns else 3, wrench=6, torque_limit=1.0)
        self.hand, self.clock, self.closed = hand, clock, False
        self._start = clock()
        self.force, self.torque = np.zeros(3), np.zeros(3)

    def read(self) -> HandReading:
        """Return the reading of the hand now."""
        now = self.clock()
        hand = self.hand.at(now - self._start)
        return HandReading(
            hand.position, hand.velocity, hand.quaternion, hand.spin, hand.buttons, now
        )

    def write(self, force: Array, torque: Array) -> None:
        """Store the wrench; a script does not yield."""
        self.force[:], self.torque[:] = force, torque

    def close(self) -> None:
        """Release the force, and close the device."""
        self.force[:] = self.torque[:] = 0.0
        self.closed = True


class Recorder:
    """Recorder of any device: its readings are written to a file that a script can replay."""

    def __init__(self, device: HapticDevice, path: str | Path) -> None:
        self.device, self.info = device, device.info
        try:
            self._file: TextIO = open(path, "w", newline="", encoding="utf-8")  # noqa: SIM115
        except OSError as e:
            raise ModelError(f"a hand cannot be written there: {e}", path) from None
        self._rows = csv.writer(self._file, lineterminator="\n")
        self._rows.writerow([*POSITION_COLUMNS, *ORIENTATION_COLUMNS, BUTTONS])
        self._start, self._last = math.nan, -math.inf

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    def read(self) -> HandReading:
        """Return the reading of the hand now, and record it if it is new."""
        hand = self.device.read()
        if hand.time > self._last and not self.closed:
            self._last = hand.time
            if math.isnan(self._start):
                self._start = hand.time
            numbers = [hand.time - self._start, *hand.position, *hand.quaternion]
            pressed = "".join("01"[b] for b in hand.buttons)
            self._rows.writerow([*(repr(float(x)) for x in numbers), pressed])
        return hand

    def write(self, force: Array, torque: Array) -> None:
        """Push the hand of the device."""
        self.device.write(force, torque)

    def close(self) -> None:
        """Close the device and the file."""
        self._file.close()
        self.device.close()


def _check_header(names: list[str], path: str | Path) -> None:
    allowed = [
        [*POSITION_COLUMNS],
        [*POSITION_COLUMNS, *ORIENTATION_COLUMNS],
        [*POSITION_COLUMNS, BUTTONS],
        [*POSITION_COLUMNS, *ORIENTATION_COLUMNS, BUTTONS],
    ]
    if names not in allowed:
        raise ModelError(
            f"its columns are {','.join(names) or 'none'}; expected {','.join(POSITION_COLUMNS)}"
            f"[,{','.join(ORIENTATION_COLUMNS)}][,{BUTTONS}]",
            *(path, 1),
        )


def _row(
    names: list[str], cells: list[str], path: str | Path, line: int
) -> tuple[list[float], tuple[bool, ...]]:
    """Return numbers and buttons of one line."""
    if len(cells) != len(names):
        raise ModelError(f"{len(cells)} columns; expected {len(names)}", path, line)
    row, pressed = [], ()
    for name, cell in zip(names, cells, strict=True):
        text = cell.strip()
        if name == BUTTONS:
            if set(text) - {"0", "1"}:
                raise ModelError(f"{name} is {text!r}; expected letters 0 and 1", path, line)
            pressed = tuple(letter == "1" for letter in text)
            continue
        try:
            row.append(float(text))
        except ValueError:
            raise ModelError(f"{name} is {text!r}; expected a number", path, line) from None
        if not abs(row[-1]) <= MAX_DISTANCE * (1e3 if name == POSITION_COLUMNS[0] else 1.0):
            raise ModelError(f"{name} is {text}; expected seconds and meters", path, line)
    if ORIENTATION_COLUMNS[0] in names and not abs(math.hypot(*row[4:8]) - 1.0) < 1e-2:
        raise ModelError(
            f"(qw, qx, qy, qz) has length {math.hypot(*row[4:8]):g}; expected 1", path, line
        )
    return row, pressed


def _row_velocities(t: Array, x: Array) -> Array:
    """Return the velocity at each row, by (2): zero at both ends, at rest and at reversals."""
    v, h = np.zeros_like(x), np.diff(t)
    d = np.diff(x, axis=0) / h[:, None]
    speed = np.linalg.norm(d, axis=1)
    for k in range(1, len(t) - 1):
        before, after = speed[k - 1], speed[k]
        if before == 0.0 or after == 0.0:
            continue
        cosine = float(d[k - 1] @ d[k]) / (before * after)
        if cosine <= 0.0:
            continue
        between = d[k - 1] / before + d[k] / after
        w0, w1 = h[k - 1] + 2.0 * h[k], 2.0 * h[k - 1] + h[k]
        size = cosine * (w0 + w1) / (w0 / before + w1 / after)
        v[k] = size * between / np.linalg.norm(between)
    return v


def _hermite(s: float, h: float, x0: Array, v0: Array, x1: Array, v1: Array) -> tuple[Array, Array]:
    """Return (1) and its derivative."""
    a, b = s * s * (2.0 * s - 3.0), s * (s - 1.0)
    x = x0 + a * (x0 - x1) + h * (b * (s - 1.0) * v0 + b * s * v1)
    v = 6.0 * b / h * (x0 - x1) + ((3 * s - 1) * (s - 1)) * v0 + s * (3 * s - 2) * v1
    return x, v


def _unit(q: Array, name: str) -> Array:
    length = np.linalg.norm(q, axis=1, keepdims=True)
    if not np.all(np.abs(length - 1.0) < 1e-2):
        raise ModelError(
            f"{name} has orientations of other length than 1; expected unit quaternions"
        )
    q = q / length
    for k in range(1, len(q)):
        # q and −q are the same orientation: the shorter rotation
        if q[k] @ q[k - 1] < 0.0:
            q[k] = -q[k]
    return q


def _interpolated_rotation(q0: Array, q1: Array, s: float, h: float) -> tuple[Array, Array]:
    """Return the orientation between two rows at a constant rate, and that rate in the device's
    frame: q(s) = q₀ exp(s log(q₀* q₁)).
    """
    w = float(q0 @ q1)
    d = q0[0] * q1[1:] - q1[0] * q0[1:] - np.cross(q0[1:], q1[1:])
    sine = float(np.linalg.norm(d))
    if sine < 1e-12:
        return q0.copy(), np.zeros(3)
    half = math.atan2(sine, w)
    q = (math.sin((1.0 - s) * half) * q0 + math.sin(s * half) * q1) / sine
    # the axis of q₀* q₁ is the same in the frames of all orientations between; rotated to the
    # device
    axis, u = d / sine, q0[1:]
    rotated_axis = axis + 2.0 * np.cross(u, np.cross(u, axis) + q0[0] * axis)
    return q / np.linalg.norm(q), 2.0 * half / h * rotated_axis
