"""Controllers that are kernels, asked between the steps of the compiled loop: see ``model.pilot``.

Code and structures are known by their addresses, numbers like others, so the loop is the same
whoever is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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

# never asked
NEVER = 1 << 62
PILOT = np.dtype(
    [
        # addresses of the code, of its structure and of the link
        ("code", INDEX),
        ("structure", INDEX),
        ("link", INDEX),
        # it is asked every so many steps
        ("every", INDEX),
        # number of the step that begins, of the next one it is asked for, and of the last one
        ("step", INDEX),
        ("next", INDEX),
        ("last", INDEX),
    ],
    align=True,
)


@kernel
def ask(t, d, h):
    """Ask those that are due, once in a step; whether all that they say are numbers."""
    fine = True
    for i in range(t.pilot.shape[0]):
        row = t.pilot[i]
        if row.step == row.next and row.last != row.step:
            row.last, time = row.step, row.step * h
            link = structure_at(row.link, t.link)
            see(d, link, time)
            call_with(row.code, row.structure)
            said = link.channel
            until = time + said.over[0] if said.over[0] > 0.0 else 0.0
            fine = write_rows(d.command.motor, link.rows, said.told, said.given[0], until) and fine
    return fine


@kernel
def count(t):
    """A step is done."""
    for i in range(t.pilot.shape[0]):
        row = t.pilot[i]
        row.next += row.every if row.step == row.next else 0
        row.step += 1


@kernel
def see(d, link, time):
    """What the robot measures, into a channel."""
    out, value = link.channel, d.memory.sensors.value
    out.time[0] = time
    for k in range(link.rows.shape[0]):
        j = link.rows[k]
        out.position[k] = d.q[link.q_at[k]] if link.q_at[k] >= 0 else 0.0
        out.velocity[k], out.effort[k] = d.v[j], d.outcome.effort[j].motor
        if link.encoder[k, 0] >= 0:
            out.position[k] = value[link.encoder[k, 0]].told
        if link.encoder[k, 1] >= 0:
            out.velocity[k] = value[link.encoder[k, 1]].told
    for k in range(link.value.shape[0]):
        out.reading[k] = value[link.value[k]].told


class Pilots:
    """The controllers of a simulator that are kernels.

    Attributes:
        table: of PILOT, for the loop.
    """

    def __init__(self) -> None:
        self.table: NDArray[Any] = table(0, PILOT)
        self._drivers: list[Driver] = []
        self._pilots: list[Pilot] = []
        self._kept: list[PilotLink] = []

    @property
    def some(self) -> bool:
        """Whether there are any."""
        return bool(self._drivers)

    def bind(self, drivers: Iterable[Driver], senses: Any, dt: float) -> None:
        """Those of some controllers that are kernels.

        Args:
            senses: function robot → ``RobotSenses``. dt: of a step [s].
        """
        self._drivers, self._pilots, self._kept, rows = [], [], [], []
        for driver in drivers:
            pilot = _pilot_of(driver)
            driver.compiled = pilot is not None
            if pilot is None:
                continue
            check_joints(driver.robot.name, freedoms(driver.robot), pilot)
            check_period(driver.robot.name, driver.every * dt, pilot.period)
            link = senses(driver.robot).linked(pilot)
            code = address(pilot.kernel, pilot.structure)
            rows.append((code, pilot.structure._address, link._address, driver.every, 0, 0, -1))
            self._drivers.append(driver)
            self._pilots.append(pilot)
            self._kept.append(link)
        self.table = table(len(rows), PILOT)
        for k, row in enumerate(rows):
            for name, number in zip(PILOT.names or (), row, strict=True):
                self.table[name][k] = number

    def prepare(self, step: int, time: float, ask: bool) -> None:
        """Before some steps: who is asked when; those that have seen a later time begin anew."""
        for k, (driver, pilot) in enumerate(zip(self._drivers, self._pilots, strict=True)):
            self.table["step"][k], self.table["last"][k] = step, -1
            self.table["next"][k] = step + -step % driver.every if ask else NEVER
            if ask and pilot.channel.time[0] > time + 1e-9:
                driver.controller.reset()  # type: ignore[attr-defined]

    def blame(self, time: float) -> SimulationError:
        """Who said what is no number."""
        for driver, pilot in zip(self._drivers, self._pilots, strict=True):
            if not np.isfinite(pilot.channel.told).all():
                return SimulationError(
                    f"controller of {driver.robot.name} told its motors what is no number at "
                    f"{time:g} s; the run stops there"
                )
        return SimulationError(f"a controller told what is no command at {time:g} s")


def _pilot_of(driver: Driver) -> Pilot | None:
    """None where a controller is a function only, wants the truth, is to be clipped, or kernels
    run as Python.
    """
    if driver.truth or driver.ranges.clip or interpreted():
        return None
    return controller.pilot(driver.controller)
