"""Commands of controllers, checked on their way to the motors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, SimulationError, real, unknown
from tabi.jit import entry, kernel
from tabi.model.arrays import table
from tabi.model.compiled import Model
from tabi.model.controllers.signals import FIELDS, Command, ControlLaw, Measurement
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot
from tabi.step.commands.target_ranges import TargetRanges
from tabi.step.tables import MOTOR


@dataclass
class Driver:
    """A controller of a robot, called every ``every`` steps.

    Attributes:
        rows: degrees of freedom of the robot's joints. names: their joints.
        truth: whether its measurements include the truth.
        ranges: of its joints, with which commanded positions are compared.
        last: its last command; the same object is not checked again.
        compiled: whether it is a kernel, called in the loop.
    """

    robot: Robot
    controller: ControlLaw
    every: int
    rows: NDArray[np.int64]
    names: tuple[str, ...]
    ranges: TargetRanges
    truth: bool = False
    last: Command | None = None
    compiled: bool = False
    _called: bool = False
    _buffer: NDArray[np.float64] | None = None
    _write: Any = None

    def __post_init__(self) -> None:
        if not callable(self.controller):
            raise ModelError(
                f"controller of {self.robot.name} is {self.controller!r}; "
                "expected a function (time, measurement) → command"
            )

    def ask(self, time: float, measured: Measurement) -> Any:
        """Return the command of the controller; an exception is reported with its time [s]."""
        try:
            return self.controller(time, measured)
        except SimulationError:
            raise
        except Exception as e:
            raise SimulationError(
                f"controller of {self.robot.name} raised {type(e).__name__} at {time:g} s: {e}; "
                "the run stops there"
            ) from e

    def write(self, command: Any, motor: NDArray[np.void], time: float) -> None:
        """Write a command to the table of MOTOR; nothing of an invalid one."""
        if not self._write_arrays(command, motor, time):
            write_command(self.robot, self.rows, command, motor, time, self.names)
            if command.position is not None:
                field = "position" if command.over is None else "target"
                motor[field][self.rows] = self.ranges.apply(motor[field][self.rows], time)
        if not self._called:
            self._called = True
            self._check_gains(command, motor)

    def _check_gains(self, command: Command, motor: NDArray[np.void]) -> None:
        """Reject position commands without gains, with which the robot would fall down."""
        rows = motor[self.rows]
        if (
            command.position is not None
            and len(rows)
            and not (rows["kp"].any() or rows["exact"].any())
        ):
            raise ModelError(
                f"no motor of {self.robot.name} has gains, so it can hold no pose; load its file "
                f"with gains=True, give kp and kd in the command, or command efforts"
            )

    def _write_arrays(self, command: Any, motor: NDArray[np.void], time: float) -> bool:
        """Write a valid command of arrays by the fast path; False if it is none."""
        if type(command) is not Command:
            return False
        if self._buffer is None:
            self._buffer = np.zeros((len(FIELDS), len(self.rows)))
            args = (motor, self.rows, self._buffer, 0, 0.0, self.ranges.bounds, self.ranges.clip)
            self._write = entry(write_within, *args)
        buffer, mask, shape = self._buffer, 0, self.rows.shape
        # in the order of FIELDS
        *fields, over = command.__dict__.values()
        for i, value in enumerate(fields):
            if value is not None:
                if type(value) is not np.ndarray or value.dtype.kind != "f":
                    return False
                if value.shape != shape:
                    return False
                buffer[i] = value
                mask |= 1 << i
        until = 0.0
        if over is not None:
            if not (type(over) is float and 0.0 < over < inf):
                return False
            until = time + over
        ranges = self.ranges
        done = self._write(motor, self.rows, buffer, mask, until, ranges.bounds, ranges.clip)
        if done > 1:
            ranges.apply(buffer[0], time)
        return done > 0

    def check_targets(self, motor: NDArray[np.void], time: float) -> None:
        """Report positions that a kernel commanded beyond the ranges of their joints."""
        if self.compiled:
            self.ranges.apply(motor["target"][self.rows], time)


def steps_without_callback(drivers: Iterable[Driver], now: int, count: int) -> int:
    """Return the number of steps until a controller has to be called from Python."""
    for driver in drivers:
        if not driver.compiled:
            count = min(count, driver.every - now % driver.every)
    return count


@kernel
def write_rows(motor, rows, values, mask, until):
    """Write values of FIELDS of degrees of freedom to the table of MOTOR, if all are finite and no
    gain is negative.

    Args:
        mask: which rows of ``values`` are set, one bit each.
        until: time at which positions are reached [s]; at once where that is past.

    Returns:
        whether they were written.
    """
    for i in range(values.shape[0]):
        if mask >> i & 1:
            for k in range(rows.shape[0]):
                if not abs(values[i, k]) < inf or (i >= 3 and values[i, k] < 0.0):
                    return False
    for k in range(rows.shape[0]):
        row = motor[rows[k]]
        if mask & 1:
            row.target, row.until = values[0, k], until
            row.position = row.position if until > 0.0 else row.target
        row.velocity = values[1, k] if mask & 2 else row.velocity
        row.effort = values[2, k] if mask & 4 else row.effort
        row.kp = values[3, k] if mask & 8 else row.kp
        row.kd = values[4, k] if mask & 16 else row.kd
    return True


@kernel
def write_within(motor, rows, values, mask, until, bounds, clip):
    """Write rows as ``write_rows`` does, with positions compared with bounds, and clipped to them
    if ``clip``.

    Returns:
        0 where nothing was written, 2 where a position is beyond its bounds, else 1.
    """
    beyond = False
    if mask & 1:
        for k in range(rows.shape[0]):
            x = values[0, k]
            if (x < bounds[0, k] or x > bounds[1, k]) and abs(x) < inf:
                beyond = True
                if clip:
                    values[0, k] = min(max(x, bounds[0, k]), bounds[1, k])
    if not write_rows(motor, rows, values, mask, until):
        return 0
    return 2 if beyond else 1


def holding(model: Model, q: NDArray[np.float64]) -> NDArray[np.void]:
    """Return a table of MOTOR that holds every joint in its pose, with the gains of its motor."""
    dof, motor = model.arrays.dof, table(model.v_count, MOTOR)
    motor["position"] = np.where(dof["q"] >= 0, q[dof["q"]], 0.0)
    motor["kp"], motor["kd"] = dof["kp"], dof["kd"]
    return motor


def write_gains(model: Model, motor: NDArray[np.void], kp: ArrayLike, kd: ArrayLike) -> None:
    """Write gains of every degree of freedom to the table of MOTOR."""
    for name, value in (("kp", kp), ("kd", kd)):
        gains = model.check_velocity(name, value)
        if (gains < 0).any():
            raise ModelError(f"{name} is {gains.min():g} somewhere; expected gains ≥ 0")
        motor[name] = gains


def write_command(
    robot: Robot,
    rows: NDArray[np.int64],
    command: Any,
    motor: NDArray[np.void],
    time: float,
    names: tuple[str, ...] = (),
) -> None:
    """Write a command to the table of MOTOR, or report its first fault and write nothing.

    Args:
        rows: degrees of freedom of the robot's joints.
        names: ``lookup.freedoms`` of the robot, where at hand.
    """
    if not isinstance(command, Command):
        what = "nothing" if command is None else f"a {type(command).__name__}"
        raise ModelError(
            f"controller of {robot.name} returned {what} at {time:g} s; expected a tabi.Command, "
            "for example tabi.Command(position={joint: angle})"
        )
    fields = {field: getattr(command, field) for field in FIELDS}
    names = names or freedoms(robot)
    checked = {
        field: _values(robot, field, value, names, time, motor[field][rows])
        for field, value in fields.items()
        if value is not None
    }
    over = command.over
    if over is not None:
        owner = f"over in the command of {robot.name} at {time:g} s"
        if not 0 < real(owner, over) < inf:
            raise ModelError(f"{owner} is {over} s; expected a positive number, or None")
    position = checked.pop("position", None)
    for field, value in checked.items():
        motor[field][rows] = value
    if position is not None:
        # joints that are not named keep their command
        target = command.position
        named = [not isinstance(target, Mapping) or name in target for name in names]
        motor["position" if over is None else "target"][rows[named]] = position[named]
        motor["until"][rows[named]] = 0.0 if over is None else time + over


def _values(
    robot: Robot,
    field: str,
    value: Any,
    names: tuple[str, ...],
    time: float,
    last: NDArray[np.float64],
) -> NDArray[np.float64]:
    owner, count = f"{field} in the command of {robot.name} at {time:g} s", len(names)
    if isinstance(value, Mapping):
        value = _by_name(robot, field, value, names, time, last)
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        raise ModelError(
            f"{owner} is {type(value).__name__}; expected {count} numbers, one per joint"
        ) from None
    if x.ndim and x.shape != (count,):
        raise ModelError(
            f"{owner} has shape {x.shape}; "
            f"expected ({count},), one number per joint in the order of robot.joint_names"
        )
    if not x.ndim:
        x = np.full(count, x)
    if not np.isfinite(x).all():
        bad = np.flatnonzero(~np.isfinite(x))
        raise ModelError(
            f"{owner} is {x[bad[0]]} for joint {names[bad[0]]!r}; expected a finite number"
        )
    if field in ("kp", "kd") and (x < 0).any():
        raise ModelError(
            f"{owner} is {x.min():g} for joint {names[int(x.argmin())]!r}; expected gains ≥ 0"
        )
    return x


def _by_name(
    robot: Robot,
    field: str,
    value: Mapping[str, Any],
    names: tuple[str, ...],
    time: float,
    last: NDArray[np.float64],
) -> list[float]:
    """Return values in the order of the joints; joints that are not named keep their last ones."""
    owner = f"{field} in the command of {robot.name} at {time:g} s"
    if value.keys() - names:
        name = next(name for name in value if name not in names)
        if any(body.joint.name == name and body.joint.passive for body in robot.bodies):
            raise ModelError(
                f"{owner} names joint {name!r}, which is passive: nothing drives it; leave it out"
            )
        raise unknown("joint", name, owner, robot.joint_names)
    values = [value.get(name, before) for name, before in zip(names, last.tolist(), strict=True)]
    if all(isinstance(x, float) for x in values):
        return values
    joint = f"{field} of joint {{!r}} in the command of {robot.name} at {time:g} s"
    return [real(joint.format(name), x) for name, x in zip(names, values, strict=True)]
