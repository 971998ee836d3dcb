"""Sums over the parts of a step that is divided at its impacts (``events``).

    λ = Σ λ_part,   τ = Σ (length/dt) τ_part                                                     (1)
λ: impulse of each contact, bond and moment, by its identity; contacts that bore a load and are open
in the last part are included. τ: efforts of motors and joints, and wrenches of feet. So
forces, λ/dt, are means over the whole step, and so are the readings of sensors, as in a step that
was not divided. States, of contacts as of feet, are those at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import loads
from tabi.jit import entry
from tabi.step import feet
from tabi.step.sensors import measurement
from tabi.step.stepper import Stepper, larger
from tabi.step.tables import MOMENTS, OPEN, StepData

IDENTITY = ["kind", "shape_a", "shape_b", "feature"]
# columns of a foot that are added up
WRENCH = ("force", "torque", "local_force", "local_torque", "normal_force", "tangential_force")
# columns of the report: added up; the largest of the parts; the least
TOTAL = ("iterations", "work", "bounced", "lowered", "missed")
WORST, LEAST = ("attempt", "residual", "joint_residual"), ("gap", "overlap")


class DividedStep:
    """A step that is solved in parts.

    Args:
        start: the state in which it begins.
    """

    def __init__(self, stepper: Stepper, start: StepData) -> None:
        self._stepper, self._start = stepper, start
        self._rows: dict[tuple[int, ...], NDArray[np.void]] = {}
        # identity of a moment → that of its contact
        self._contact: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._effort: dict[str, Any] = dict.fromkeys(("motor", "constraint"), 0.0)
        self._foot: dict[str, Any] = dict.fromkeys(WRENCH, 0.0)
        self._report: dict[str, float] = {}
        self._errors: list[Any] = [0, (0.0, 0.0, 0.0)]

    def begin(self) -> None:
        """Begin the parts, which sensors do not sample."""
        self._stepper.data.command.active_sensors[:] = 0

    def add(self, length: float) -> None:
        """Add the last part, of a length [s]."""
        data = self._stepper.data
        rows = data.memory.contact[: data.memory.count[0]]
        names = [tuple(row) for row in rows[IDENTITY].tolist()]
        for row, name in zip(rows, names, strict=True):
            if row["kind"] == MOMENTS:
                self._contact[name] = names[int(row["source"])]
            now, known = row.copy(), self._rows.get(name)
            if known is not None:
                now["impulse"] += known["impulse"]
                if now["status"] == OPEN:
                    now["status"] = known["status"]
            self._rows[name] = now
        for name, value in self._effort.items():
            self._effort[name] = value + length * data.outcome.effort[name]
        for name, value in self._foot.items():
            self._foot[name] = value + length * data.memory.foot[name]
        report, before = data.outcome.report[0], self._report
        for name in TOTAL:
            before[name] = before.get(name, 0) + report[name]
        for name in WORST:
            before[name] = larger(float(report[name]), before.get(name, 0.0))
        for name in LEAST:
            before[name] = min(float(report[name]), before.get(name, np.inf))
        missed, errors = self._stepper.last_errors
        worst = map(larger, errors, self._errors[1])
        self._errors = [self._errors[0] + missed, tuple(worst)]

    def end(self, dt: float) -> None:
        """Make memory and outcome those of the whole step [s], after its last part."""
        stepper = self._stepper
        names = sorted(self._rows)
        stepper.make_room(len(names))
        data, place = stepper.data, {name: k for k, name in enumerate(names)}
        for k, name in enumerate(names):
            data.memory.contact[k] = self._rows[name]
            if name in self._contact:
                data.memory.contact["source"][k] = place[self._contact[name]]
        data.memory.count[0] = len(names)
        for name, total in self._effort.items():
            data.outcome.effort[name] = total / dt
        for name, total in self._foot.items():
            data.memory.foot[name] = total / dt
        _store_pressure_points(stepper)
        for name, value in self._report.items():
            data.outcome.report[name][0] = value
        data.outcome.q_before[:], data.outcome.v_before[:] = self._start.q, self._start.v
        data.command.active_sensors[:] = self._start.command.active_sensors
        stepper.last_errors = self._errors
        if data.command.active_sensors.any():
            args = (stepper.tables, data, stepper.workspace, dt)
            entry(measurement.sample_again, *args)(*args)


def _store_pressure_points(stepper: Stepper) -> None:
    """Store pressure points of loaded feet, from their wrenches."""
    sole, corner = stepper.tables.foot, stepper.tables.corner
    for row, sole_row in zip(stepper.data.memory.foot, sole, strict=True):
        at = loads.pressure_point(row["local_force"], row["local_torque"])
        if row["state"] and at is not None:
            row["pressure"] = at
            row["margin"] = feet.margin(corner, sole_row["first"], sole_row["end"], at[0], at[1])
