"""Loop of steps: controllers, pushes, callbacks between steps, and reports of faults."""

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
from tabi.simulation.step_lock import StepLock
from tabi.step import events, settings
from tabi.step.commands.driver import Driver, steps_without_callback
from tabi.step.data import Data
from tabi.step.status import ABORTED, INVALID_COMMAND, OK
from tabi.step.stepper import WORST, Stepper, larger
from tabi.step.tables import NO_PROGRAM

Array = NDArray[np.float64]
# steps between two checks of the keyboard
STEPS_PER_CALL = 1000
# number of steps that did not converge that are listed
MAX_LISTED = 1000


class Running:
    """Steps of a simulation, with its controllers, pushes and callbacks.

    Attributes:
        scheme: of the steps, "time-stepping" or "event-driven".
        stepper: with all numbers; data: the same, read-only.
        drivers: controllers by the names of their robots. pushes: present and future ones.
        scheduled: callbacks between steps. step_lock: of its steps.
        missed: the first thousand steps that did not converge: (time [s], backward error [m/s]).

    Examples:
        >>> sim.run(0.005)
        >>> round(sim.time, 3)
        0.005
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
        self.step_lock = StepLock()
        # whether a step that did not converge was reported, the first step was checked, and a push
        # of one step was reported; and whether soft soles are to be checked
        self._warned, self._checked, self._brief_reported = False, False, False
        self._check_soles = len(stepper.data.memory.sole) > 0

    def clear_counts(self) -> None:
        """Clear counts and reports of the run."""
        stepper = self.stepper
        stepper.missed_count = stepper.unresolved_count = 0
        stepper.worst = dict.fromkeys(WORST, 0.0)
        stepper.foot_events.clear()
        self.missed.clear()
        self._warned = self._checked = False

    # ---- time -------------------------------------------------------------------------------

    def step(self, ask: bool = True) -> None:
        """Advance by one step. With ``ask=False`` no controller is called, and the last commands
        stay.
        """
        if ask is not True and ask is not False:
            settings.check_single(ask)
        self._advance(1, ask=ask)

    def run(self, duration: float) -> None:
        """Advance by a duration [s]; an interrupt leaves the state of the last whole step."""
        data = self.data
        end = data.steps + round(settings.checked_duration(duration) / data.dt)
        self._brief_reported = self._brief_reported or faults.warn_brief(self.pushes, data, end)
        while data.steps < end:
            self._advance(min(end - data.steps, STEPS_PER_CALL))

    def rollout(self, steps: int, program: ArrayLike | None = None) -> tuple[int, float]:
        """Advance by so many steps in one compiled loop, without calling controllers.

        Args:
            program: position, velocity and effort of every degree of freedom's motor in each step,
                shape (steps, v_count, 3); default: commands stay.

        Returns:
            the number of steps that did not converge, and the worst backward error [m/s].
        """
        commands = settings.checked_program(steps, program, self.data.model.v_count)
        stepper = self.stepper
        first, missed = stepper.steps, stepper.missed_count
        before, stepper.worst = stepper.worst, dict.fromkeys(stepper.worst, 0.0)
        try:
            while (done := stepper.steps - first) < steps:
                self._advance(steps - done, commands[done:], ask=False)
            return stepper.missed_count - missed, stepper.worst["residual"]
        finally:
            now = stepper.worst
            stepper.worst = {name: larger(x, now[name]) for name, x in before.items()}

    def _advance(self, count: int, program: Array = NO_PROGRAM, ask: bool = True) -> None:
        """Advance up to ``count`` steps, until the next callback, controller or push."""
        stepper, now = self.stepper, self.stepper.steps
        self._names.warn_late()
        self.step_lock.begin()
        try:
            if ask and self.drivers:
                self.ask_controllers(within=True)
                count = steps_without_callback(self.drivers.values(), now, count)
            if stepper.pilots.is_active:
                stepper.pilots.prepare(now, now * self.data.dt, ask)
            if self.pushes or stepper.data.command.pushed[0]:
                self.write_pushes(stepper)
                count = pushes.steps_without_callback(self.pushes, now, count)
            for scheduled in self.scheduled:
                count = min(count, scheduled.steps - now % scheduled.steps)
            self._roll(count, program)
            for scheduled in tuple(self.scheduled):
                if stepper.steps % scheduled.steps == 0:
                    scheduled.callback(self.data)
        except BaseException:
            for scheduled in list(self.scheduled):
                if scheduled.stopped is not None:
                    scheduled.stopped()
            raise
        finally:
            self.step_lock.end()

    def write_pushes(self, stepper: Stepper) -> None:
        """Write the wrenches of pushes in the next step, at the poses of a stepper's bodies."""
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
                # the first step alone, as overlaps at the start are reported
                many = count if self._checked else 1
                done, status = stepper.rollout(dt, tolerance, many, program)
            stepper.steps, count = stepper.steps + done, count - done
            program = program[done:] if count > 0 else program
            if done and not self._checked:
                self._checked = faults.warn_overlap(self.data) and faults.warn_bond_mismatch(
                    self.data
                )
                for driver in self.drivers.values():
                    driver.check_targets(stepper.data.command.motor, self.data.time)
            if self._check_soles:
                self._check_soles = faults.is_sink_small(self.data)
            if done and stepper.update_worst():
                if len(self.missed) < MAX_LISTED:
                    self.missed.append((self.data.time, faults.error_of(self.data)))
                if not self._warned:
                    self._warned = True
                    faults.warn_not_converged(self.data)
            if status in (ABORTED, INVALID_COMMAND):
                raise stepper.step_error(status, self.data.time)
            if status != OK:
                self._stop(status)

    def _stop(self, status: int) -> None:
        """Restore the last good state after a step that failed, and raise its error."""
        data = self.stepper.data
        if not (np.isfinite(data.q).all() and np.isfinite(data.v).all()):
            data.q[:], data.v[:] = data.outcome.q_before, data.outcome.v_before
        self.stepper.prepare()
        faults.raise_diverged(self._seen, self.data.time, status)

    def ask_controllers(
        self,
        step: int | None = None,
        seen: Callable[[Robot, Measurement], Measurement] | None = None,
        within: bool = False,
    ) -> bool:
        """Call the controllers that are due, and write their commands.

        Args:
            step: number of the step; default: the next one.
            seen: function that changes the measurement of a robot before its controller gets it.
            within: only those that are not called in the compiled loop.

        Returns:
            whether there is a new command.
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
