"""Steps, one after the other: controllers are asked, pushes act, callbacks are called, faults are
reported.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.model.controllers.signals import Measurement
from tabi.model.robot import Robot
from tabi.observation.names import Names
from tabi.observation.observation import Observation
from tabi.simulation import faults, pushes
from tabi.simulation.callbacks import Scheduled
from tabi.simulation.pushes import Push
from tabi.simulation.turns import Turns
from tabi.step import events, settings
from tabi.step.commands.driver import Driver, steps_alone
from tabi.step.data import Data
from tabi.step.status import DROPPED, FINE, MISLED
from tabi.step.stepper import WORST, Stepper, larger
from tabi.step.tables import NO_PROGRAM

Array = NDArray[np.float64]
# steps between two looks at the keyboard
CHUNK = 1000
# missed steps that are kept
MISSED = 1000


class Running:
    """A simulation's steps, and what acts on them.

    Attributes:
        scheme: of the steps, "time-stepping" or "event-driven".
        stepper: with the numbers of all; data: the same, for everybody to read.
        drivers: controllers by the names of their robots. pushes: what pushes now, or will.
        scheduled: what is called between steps. turns: who may step, and who may look.
        missed: steps whose contacts did not reach the tolerance: (time [s], backward error [m/s]),
            the first thousand.
    """

    def __init__(
        self, stepper: Stepper, data: Data, names: Names, seen: Observation, scheme: str
    ) -> None:
        self.stepper, self.data, self._names, self._seen = stepper, data, names, seen
        self.scheme = scheme
        self.drivers: dict[str, Driver] = {}
        self.pushes: list[Push] = []
        self.scheduled: list[Scheduled] = []
        self.missed: list[tuple[float, float]] = []
        self.turns = Turns()
        # whether a missed step was reported, the first one was looked at, and a push was reported
        # that lasts one step; and whether soft soles are to be looked at
        self._warned, self._looked, self._briefly = False, False, False
        self._soft = len(stepper.data.memory.sole) > 0

    def begin_anew(self) -> None:
        """Forget what was counted and reported."""
        stepper = self.stepper
        stepper.missed_count = stepper.unresolved_count = 0
        stepper.worst = dict.fromkeys(WORST, 0.0)
        stepper.foot_events.clear()
        self.missed.clear()
        self._warned = self._looked = False

    # ---- time -------------------------------------------------------------------------------

    def step(self, ask: bool = True) -> None:
        """Advance by one step; without asking controllers the commands stay as they are."""
        if ask is not True and ask is not False:
            settings.check_single(ask)
        self._advance(1, ask=ask)

    def run(self, duration: float) -> None:
        """Advance by so many seconds; an interrupt leaves the last whole step."""
        data = self.data
        end = data.steps + round(settings.checked_duration(duration) / data.dt)
        self._briefly = self._briefly or faults.warn_brief(self.pushes, data, end)
        while data.steps < end:
            self._advance(min(end - data.steps, CHUNK))

    def rollout(self, steps: int, program: ArrayLike | None = None) -> tuple[int, float]:
        """Advance by so many steps in one compiled loop, without asking controllers.

        Args:
            program: position, velocity and effort of every degree of freedom's motor in each step,
                shape (steps, v_count, 3); without it commands stay as they are.

        Returns:
            steps that were missed, and the worst backward error [m/s].
        """
        told = settings.checked_program(steps, program, self.data.model.v_count)
        stepper = self.stepper
        first, missed = stepper.steps, stepper.missed_count
        before, stepper.worst = stepper.worst, dict.fromkeys(stepper.worst, 0.0)
        try:
            while (done := stepper.steps - first) < steps:
                self._advance(steps - done, told[done:], ask=False)
            return stepper.missed_count - missed, stepper.worst["residual"]
        finally:
            now = stepper.worst
            stepper.worst = {name: larger(x, now[name]) for name, x in before.items()}

    def _advance(self, count: int, program: Array = NO_PROGRAM, ask: bool = True) -> None:
        """Up to ``count`` steps, as many as need nobody between them."""
        stepper, now = self.stepper, self.stepper.steps
        self._names.warn_late()
        self.turns.begin()
        try:
            if ask and self.drivers:
                self.ask_controllers(within=True)
                count = steps_alone(self.drivers.values(), now, count)
            if stepper.pilots.some:
                stepper.pilots.prepare(now, now * self.data.dt, ask)
            if self.pushes or stepper.data.command.pushed[0]:
                self.write_pushes(stepper)
                count = pushes.steps_alone(self.pushes, now, count)
            for one in self.scheduled:
                count = min(count, one.steps - now % one.steps)
            self._roll(count, program)
            for one in tuple(self.scheduled):
                if stepper.steps % one.steps == 0:
                    one.callback(self.data)
        except BaseException:
            for one in list(self.scheduled):
                if one.stopped is not None:
                    one.stopped()
            raise
        finally:
            self.turns.end()

    def write_pushes(self, stepper: Stepper) -> None:
        """What pushes in the step that begins, to where the bodies of a stepper are."""
        now = self.stepper.steps
        self.pushes = [p for p in self.pushes if p.until > now]
        body = stepper.workspace.dynamics.body
        pushes.write_wrenches(self.data.model, self.pushes, now, body, stepper.data.command)

    def _roll(self, count: int, program: Array) -> None:
        stepper, dt, tolerance = self.stepper, self.data.dt, self.data.tolerance
        while count > 0:
            if self.scheme == settings.EVENT_DRIVEN:
                done, status = events.advance(stepper, dt, tolerance)
            else:
                # the first step alone: what starts inside of something is said
                many = count if self._looked else 1
                done, status = stepper.rollout(dt, tolerance, many, program)
            stepper.steps, count = stepper.steps + done, count - done
            program = program[done:] if count > 0 else program
            if done and not self._looked:
                self._looked = faults.warn_inside(self.data) and faults.warn_apart(self.data)
                for driver in self.drivers.values():
                    driver.check_targets(stepper.data.command.motor, self.data.time)
            if self._soft:
                self._soft = faults.small_sink(self.data)
            if done and stepper.note():
                if len(self.missed) < MISSED:
                    self.missed.append((self.data.time, faults.error_of(self.data)))
                if not self._warned:
                    self._warned = True
                    faults.warn(self.data)
            if status in (DROPPED, MISLED):
                raise stepper.fault(status, self.data.time)
            if status != FINE:
                self._stop(status)

    def _stop(self, status: int) -> None:
        """A step that cannot be: back to the last good state, with its problem on disk."""
        data = self.stepper.data
        if not (np.isfinite(data.q).all() and np.isfinite(data.v).all()):
            data.q[:], data.v[:] = data.outcome.q_before, data.outcome.v_before
        self.stepper.prepare()
        faults.stop(self._seen, self.data.time, status)

    def ask_controllers(
        self,
        step: int | None = None,
        seen: Callable[[Robot, Measurement], Measurement] | None = None,
        within: bool = False,
    ) -> bool:
        """Ask the controllers that are due, and command what they say.

        Args:
            step: the step that begins; the next one unless given.
            seen: what is measured of a robot, as its controller should see it.
            within: only those that are not asked in the compiled loop.

        Returns:
            whether one of them said something new.
        """
        now, new = self.data.steps if step is None else step, False
        for driver in self.drivers.values():
            if now % driver.every == 0 and not (within and driver.compiled):
                time = now * self.data.dt
                measured = self._seen.measure(driver.robot, driver.truth)
                measured = seen(driver.robot, measured) if seen else measured
                command = driver.ask(time, measured)
                # the same object again is the same command
                if command is None or command is not driver.last:
                    driver.write(command, self.stepper.data.command.motor, time)
                    driver.last, new = command, True
        return new
