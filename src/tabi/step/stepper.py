"""Stepper: a step with its tables, data and workspace, which hold all numbers of a simulation.

Control and observation are separate: see ``simulator`` and ``observation``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError
from tabi.contact.bonds import bond_work
from tabi.jit import complete, entry
from tabi.jit.progress import STEP_KERNELS, first_run
from tabi.jit.structure import arrays_of, each
from tabi.model.arrays import table
from tabi.model.compiled import Model
from tabi.step import parts, settings, tables, workspace
from tabi.step.budget import NORMAL, Budget, BudgetWatch
from tabi.step.commands import pilots
from tabi.step.commands.driver import Driver, holding
from tabi.step.commands.pilot_link import no_link
from tabi.step.forces import joint_limits
from tabi.step.second import work as second_work
from tabi.step.sensors import measurement
from tabi.step.sensors import tables as sensor_tables
from tabi.step.status import ABORTED, OK, OUT_OF_MEMORY
from tabi.step.step import Step
from tabi.step.tables import CONTACT, NO_PROGRAM, StepData, Tables
from tabi.step.workspace import StepWorkspace

# contact points and blocks of inverse inertia that there is room for to begin with
POINTS, BLOCKS = 64, 64
# rows of the bonds of a group beyond which they are solved by the law, where it can, as a sparse
# system costs less than to eliminate them
MANY_ROWS = 96
WORST = ("residual", "joint_residual", "penetration")


def _copy(source: StepData, into: StepData) -> bool:
    """Copy all numbers to memory of the same size; False if sizes differ."""
    pairs = list(zip(arrays_of(source), arrays_of(into), strict=True))
    if any(a.shape != b.shape for a, b in pairs):
        return False
    for a, b in pairs:
        b[...] = a
    return True


def larger(a: float, b: float) -> float:
    """Return the larger of two errors, NaN if one of them is NaN."""
    return a if b <= a or a != a else b


class Stepper:
    """Tables, data and workspace of a model, and the step that works on them.

    Args:
        ready: False if no step will be done, and only the arrays are read.
        dt: of the step [s], by which sensors are sampled. seed: of their noise, and number of the
            world.

    Attributes:
        model, step: the compiled world, and its step.
        tables: structure and parameters. data: state. workspace: scratch.
        last_bond: number of the last bond that was made, −1 before the first.
        steps: done so far.
        worst: of the run: residual [m/s], joint_residual [rad/s or m/s], penetration [m].
        missed_count: steps of the run that did not converge to the tolerance.
        unresolved_count: of the event-driven scheme, steps with impacts that were left together.
        saved_start: state before a step that is tried, or None.
        last_errors: of the last rollout: groups of its last step that did not converge, and the
            worst errors.
        watch: of the clock and the keyboard within a hard step.
        foot_events: changes of feet so far: time [s], number of the foot, state before, after.
        foot_history: the same with those that were undone, in the order in which they came.
    """

    def __init__(
        self,
        model: Model,
        step: Step,
        budget: Budget = NORMAL,
        ready: bool = True,
        dt: float = 1e-3,
        seed: tuple[int, int] = (0, 0),
    ) -> None:
        self.model, self.step, self.last_bond = model, step, -1
        self.watch = BudgetWatch(budget)
        sensors, sensor_memory = sensor_tables.build(model, dt, seed)
        self.pilots = pilots.Pilots()
        plain = tables.tables(model, sensors, self.pilots.table, no_link())
        self.tables: Tables = plain._replace(limits=self.watch.limits())
        feet = [shape.body in {foot.body for foot in model.feet.values()} for shape in model.shapes]
        self.tables.shapes.shape["wider"][feet] = getattr(step.law, "FOOT_BAND", 0.0)
        self._points, self._blocks = POINTS, BLOCKS
        self.data: StepData = tables.data(
            model, POINTS, sensor_memory, parts.memory(step.parts, model)
        )
        self.workspace: StepWorkspace = self._allocate()
        self.data.command.motor[:] = holding(model, self.data.q)
        self.steps, self.missed_count, self.unresolved_count = 0, 0, 0
        self.saved_start: StepData | None = None
        # machine code of the rollout
        self._rollout: Any = None
        self.last_errors: list[Any] = [0, (0.0, 0.0, 0.0)]
        self._running = False
        self.foot_events: list[tuple[float, int, int, int]] = []
        self.foot_history: list[tuple[float, int, int, int]] = []
        self.worst: dict[str, float] = dict.fromkeys(WORST, 0.0)
        self.dt = dt
        self.forget()
        if ready:
            self.prepare()
            self.begin_sensors()

    def forget(self) -> None:
        """Reset the memory after the state was set, except that of parts."""
        memory = self.data.memory
        memory.count[0] = memory.last_rescue[0] = memory.overlap_backoff[:] = memory.joint_backoff[
            :
        ] = 0
        memory.joint[:] = joint_limits.initial_modes(self.model)
        memory.foot[:] = 0
        outcome = self.data.outcome
        outcome.q_before[:], outcome.v_before[:] = self.data.q, self.data.v

    def prepare(self) -> None:
        """Compute kinematics of q and v, after they were set from outside."""
        t, s = self.tables, self.workspace
        workspace.prepare(t.model, t.shapes, self.data.q, self.data.v, s.dynamics, s.collision)

    def rollout_one(self, h: float, tolerance: float, begins: bool = True) -> tuple[int, int]:
        """Advance by one step of h [s].

        Args:
            begins: False for a later part of a divided step.
        """
        done, status = 0, OK
        while done == 0 and status == OK:
            done, status = self.rollout(h, tolerance, 1, begins=begins)
        return done, status

    def rollout(
        self,
        h: float,
        tolerance: float,
        count: int,
        program: NDArray[np.float64] = NO_PROGRAM,
        begins: bool = True,
    ) -> tuple[int, int]:
        """Advance up to ``count`` steps of h [s], until one does not converge or cannot be done.

        Args:
            program: commands of the steps, as for ``step.rollout``.
            begins: whether to start the clock of a step.

        Returns:
            steps done, and the status of the last one. It may be 0 where memory was exceeded, which
            is then enlarged.
        """
        if self.watch.timed:
            count = min(count, 1)
            if begins:
                self.watch.begin()
        args = (self.tables, self.data, self.workspace, program, h, tolerance, count)
        if self._rollout is None:
            with first_run.expecting(STEP_KERNELS):
                self._rollout = entry(self.step.rollout, *args)
            if self.watch.timed:
                # a budget of time is not for compiling
                complete(self.step.rollout, *args)
        if self._running:
            raise TabiError(
                "this simulator is already stepping in another thread; "
                "give each thread a simulator of its own, or let one wait for the other"
            )
        self._running = True
        try:
            done, status, *self.last_errors = self._rollout(*args)
        finally:
            self._running = False
        if self.data.outcome.event_count[0]:
            self._fetch_events()
        if status == OUT_OF_MEMORY:
            report = self.data.outcome.report[0]
            self.grow(int(report["points"]), int(report["blocks"]))
            status = OK
        if status == ABORTED:
            self.prepare()
        return done, status

    def _fetch_events(self) -> None:
        """Fetch changes of feet from the arrays."""
        outcome = self.data.outcome
        new = outcome.event[: outcome.event_count[0]].tolist()
        self.foot_events += new
        self.foot_history += new
        outcome.event_count[0] = 0

    def update_worst(self) -> bool:
        """Update the worst errors of the run; returns whether the last step did not converge."""
        missed, (residual, joint_residual, penetration) = self.last_errors
        worst = self.worst
        # also true where an error is NaN
        if not (
            residual <= worst["residual"]
            and joint_residual <= worst["joint_residual"]
            and penetration <= worst["penetration"]
        ):
            for name, error in zip(WORST, self.last_errors[1], strict=True):
                worst[name] = larger(worst[name], error)
        self.missed_count += missed > 0
        return missed > 0

    def bind(self, drivers: Iterable[Driver], source_of: Any, scheme: str) -> None:
        """Let compiled controllers run in the loop, unless the scheme divides steps at events."""
        self.pilots.bind(() if scheme == settings.EVENT_DRIVEN else drivers, source_of, self.dt)
        self.tables = self.tables._replace(pilot=self.pilots.table)

    def step_error(self, status: int, time: float) -> BaseException:
        """Return the error of a step that was not done."""
        return (
            self.watch.interrupted()
            if status == ABORTED
            else self.pilots.invalid_command_error(time)
        )

    # ---- sensors ----------------------------------------------------------------------------

    def begin_sensors(self) -> None:
        """Take first samples of the active sensors, after the state was set."""
        if self.data.command.active_sensors.any():
            self._sense(True)

    def listen(self, rows: NDArray[np.int64]) -> None:
        """Activate sensors: measure them now, and in every step from now on."""
        active = self.data.command.active_sensors
        if not active[rows].all():
            self._sense(False)
            active[rows] = 1

    def _sense(self, restart: bool) -> None:
        args = (self.tables, self.data, self.workspace, self.dt, restart)
        entry(measurement.catch_up, *args)(*args)

    # ---- memory of parts --------------------------------------------------------------------

    def part_memory(self, name: str) -> NDArray[Any]:
        """Return the memory of a part, by its name."""
        return self.data.memory.parts[self.step.place(name)]

    def set_part_memory(self, name: str, value: NDArray[Any]) -> None:
        """Replace the memory of a part, also by a longer table."""
        memory, at = self.data.memory, self.step.place(name)
        parts = (*memory.parts[:at], value, *memory.parts[at + 1 :])
        self.data = self.data._replace(memory=memory._replace(parts=parts))
        self._make_room_for_bonds()

    # ---- moments ----------------------------------------------------------------------------

    def save(self, into: StepData | None = None) -> StepData:
        """Return a copy of the state, in the memory of an earlier one if that is large enough."""
        if into is None or not _copy(self.data, into):
            return each(self.data, np.copy)
        return into

    def rewind(self, saved: StepData) -> None:
        """Restore a recent state, in the same memory if it is large enough."""
        if not _copy(saved, self.data):
            self.restore(saved)
            return
        self._forget_events()
        self.prepare()

    def restore(self, saved: StepData) -> None:
        """Restore a saved state of this world."""
        count = int(saved.memory.count[0])
        if count > self._points:
            self.grow(count, self._blocks)
        contact = self.data.memory.contact
        contact[:count] = saved.memory.contact[:count]
        copy = each(saved, np.copy)
        fresh = copy._replace(memory=copy.memory._replace(contact=contact))
        # made here, as it cannot be interrupted within a step
        getattr(fresh, "_address")  # noqa: B009
        self.data = fresh
        self._make_room_for_bonds()
        self._forget_events()
        self.prepare()

    def _forget_events(self) -> None:
        """Remove changes of feet that came after the restored state."""
        now = float(self.data.memory.clock[0])
        while self.foot_events and self.foot_events[-1][0] > now:
            self.foot_events.pop()

    # ---- room -------------------------------------------------------------------------------

    def make_room(self, points: int) -> None:
        """Ensure memory for so many contact points."""
        if points > self._points:
            self.grow(points, self._blocks)

    def grow(self, points: int, blocks: int) -> None:
        """Enlarge the memory, to half as much again as the step needs."""
        self._points, self._blocks = (
            max(have, want + want // 2) if want > have else have
            for have, want in ((self._points, points), (self._blocks, blocks))
        )
        memory = self.data.memory
        contact, count = table(self._points, CONTACT), int(memory.count[0])
        contact[:count] = memory.contact[:count]
        self.data = self.data._replace(memory=memory._replace(contact=contact))
        self.workspace = self._allocate()
        self.prepare()

    def _make_room_for_bonds(self) -> None:
        if 6 * len(self.part_memory("bonds")) > len(self.workspace.bonds.scale):
            self.workspace = self._allocate()
            self.prepare()

    def _allocate(self) -> StepWorkspace:
        bodies = self.model.body_count + 1
        touching = min(bodies, 2 * self._points + 1)
        try:
            law = self.step.law.allocate(self._points, touching, self._blocks)
        except MemoryError:
            raise ModelError(
                f"{self._points} contact points need more memory than there is; take simpler shapes"
            ) from None
        eliminates = self.step.law.CERTIFIED or getattr(self.step.law, "BONDS", False)
        count = len(self.part_memory("bonds"))
        rows = MANY_ROWS if eliminates else 6 * count
        degrees = self.model.v_count + len(self.model.arrays.mimic)
        bonds = bond_work.allocate(self._points, bodies, self._blocks, count, rows, degrees)
        sizes = (self._points, self._blocks)
        made = workspace.allocate(self.model, self.tables, *sizes, bonds, law)
        if self.step.order == 1:
            return made
        return made._replace(second=second_work.allocate(self.model, self._points))
