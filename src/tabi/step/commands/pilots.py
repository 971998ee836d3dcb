"""Compiled controllers (``pilot``), called between the steps of the compiled loop, without Python.

Before a call the loop writes the measurement of the robot to the arrays of the controller; after it
the loop sends the command in these arrays to the motors. Code and arrays are passed as addresses in
a table, PILOT, so that the loop is compiled once for all controllers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tabi._errors import SimulationError
from tabi.jit import address, interpreted, kernel
from tabi.jit.callback import call_with
from tabi.jit.structure import structure_at
from tabi.model.arrays import INDEX, table
from tabi.model.controllers import controller
from tabi.model.controllers.pilot import Pilot, check_joints, check_period
from tabi.model.lookup import freedoms
from tabi.step.commands.driver import Driver, write_rows
from tabi.step.commands.pilot_link import PilotLink

# step at which a controller is never called
NO_STEP = 1 << 62
PILOT = np.dtype(
    [
        # addresses of the code, of its structure (its argument) and of its ``PilotLink``
        ("code", INDEX),
        ("structure", INDEX),
        ("link", INDEX),
        # period of its calls in steps
        ("every", INDEX),
        # numbers of steps: the one that begins, the next one with a call, the last one with a call
        ("step", INDEX),
        ("next", INDEX),
        ("last", INDEX),
    ],
    align=True,
)


@kernel
def call_controllers(t, d, h):
    """Call the controllers whose next call is in this step, once even if the loop is entered again
    at the same step; return False if a command is not finite.
    """
    is_valid = True
    for i in range(t.pilot.shape[0]):
        row = t.pilot[i]
        if row.step == row.next and row.last != row.step:
            row.last, time = row.step, row.step * h
            link = structure_at(row.link, t.link)
            write_measurement(d, link, time)
            call_with(row.code, row.structure)
            channel = link.channel
            until = time + channel.over[0] if channel.over[0] > 0.0 else 0.0
            is_valid = (
                write_rows(
                    d.command.motor, link.rows, channel.command, channel.command_mask[0], until
                )
                and is_valid
            )
    return is_valid


@kernel
def count_step(t):
    """Count the step that was done, and schedule the next call of each controller."""
    for i in range(t.pilot.shape[0]):
        row = t.pilot[i]
        row.next += row.every if row.step == row.next else 0
        row.step += 1


@kernel
def write_measurement(d, link, time):
    """Write the measurement of a robot to the arrays of its controller: encoders and sensors where
    it has them, the true state of joints without encoders.
    """
    out, value = link.channel, d.memory.sensors.value
    out.time[0] = time
    for k in range(link.rows.shape[0]):
        j = link.rows[k]
        out.position[k] = d.q[link.q_at[k]] if link.q_at[k] >= 0 else 0.0
        out.velocity[k], out.effort[k] = d.v[j], d.outcome.effort[j].motor
        if link.encoder[k, 0] >= 0:
            out.position[k] = value[link.encoder[k, 0]].reading
        if link.encoder[k, 1] >= 0:
            out.velocity[k] = value[link.encoder[k, 1]].reading
    for k in range(link.value.shape[0]):
        out.reading[k] = value[link.value[k]].reading


class Pilots:
    """Compiled controllers of a simulator.

    Attributes:
        table: a row of PILOT for each, read by the loop.
    """

    def __init__(self) -> None:
        self.table: NDArray[Any] = table(0, PILOT)
        self._drivers: list[Driver] = []
        self._pilots: list[Pilot] = []
        self._links: list[PilotLink] = []

    @property
    def is_active(self) -> bool:
        """Whether there is a compiled controller."""
        return bool(self._drivers)

    def bind(self, drivers: Iterable[Driver], source_of: Any, dt: float) -> None:
        """Select the compiled controllers and write a row of the table for each.

        Args:
            source_of: function robot → ``MeasurementSource``. dt: duration of a step [s].
        """
        self._drivers, self._pilots, self._links, rows = [], [], [], []
        for driver in drivers:
            pilot = _pilot_of(driver)
            driver.compiled = pilot is not None
            if pilot is None:
                continue
            check_joints(driver.robot.name, freedoms(driver.robot), pilot)
            check_period(driver.robot.name, driver.every * dt, pilot.period)
            link = source_of(driver.robot).linked(pilot)
            code = address(pilot.kernel, pilot.structure)
            rows.append((code, pilot.structure._address, link._address, driver.every, 0, 0, -1))
            self._drivers.append(driver)
            self._pilots.append(pilot)
            self._links.append(link)
        self.table = table(len(rows), PILOT)
        for k, row in enumerate(rows):
            for name, number in zip(PILOT.names or (), row, strict=True):
                self.table[name][k] = number

    def prepare(self, step: int, time: float, with_calls: bool) -> None:
        """Schedule the calls of a run that begins at a step, or none if not ``with_calls``. Reset
        each controller that was last called at a later time: the simulation was set back.
        """
        for k, (driver, pilot) in enumerate(zip(self._drivers, self._pilots, strict=True)):
            self.table["step"][k], self.table["last"][k] = step, -1
            self.table["next"][k] = step + -step % driver.every if with_calls else NO_STEP
            if with_calls and pilot.channel.time[0] > time + 1e-9:
                cast(Any, driver.controller).reset()

    def invalid_command_error(self, time: float) -> SimulationError:
        """Return the error that names the controller whose command is not finite."""
        for driver, pilot in zip(self._drivers, self._pilots, strict=True):
            if not np.isfinite(pilot.channel.command).all():
                return SimulationError(
                    f"controller of {driver.robot.name} commanded a value that is not finite at "
                    f"{time:g} s; the run stops there"
                )
        return SimulationError(f"a controller gave an invalid command at {time:g} s")


def _pilot_of(driver: Driver) -> Pilot | None:
    """Return the compiled form of a controller; None if it has none, reads the true state, has its
    targets clipped to joint ranges, or if kernels run as Python.
    """
    if driver.truth or driver.ranges.clip or interpreted():
        return None
    return controller.pilot(driver.controller)
