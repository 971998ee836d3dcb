"""A step with all that it works on: the one home of a simulation's numbers.

What acts and what is observed are apart from this: see ``simulator`` and ``observation``.
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
from tabi.step.budget import NORMAL, Budget, Lookout
from tabi.step.commands import pilots
from tabi.step.commands.driver import Driver, holding
from tabi.step.commands.pilot_link import no_link
from tabi.step.forces import joint_limits
from tabi.step.second import work as second_work
from tabi.step.sensors import measurement
from tabi.step.sensors import tables as sensor_tables
from tabi.step.status import DROPPED, FINE, ROOM
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
    """All numbers into other memory of the same size; False where it is not."""
    pairs = list(zip(arrays_of(source), arrays_of(into), strict=True))
    if any(a.shape != b.shape for a, b in pairs):
        return False
    for a, b in pairs:
        b[...] = a
    return True


def larger(a: float, b: float) -> float:
    """The larger of two errors; a NaN wins, and stays."""
    return a if b <= a or a != a else b


class Stepper:
    """Tables, data and workspace of a model, and the step that is done on them.

    Args:
        ready: False where no step will be done, but only the arrays looked at.
        dt: of the step [s], by which sensors are sampled. seed: of their noise, and number of the
            world.

    Attributes:
        model, step: what is stepped, and how.
        tables: structure and parameters. data: what lasts. workspace: what does not.
        last_bond: number of the last bond that was made, −1 before the first.
        steps: done so far.
        worst: of the run: residual [m/s], joint_residual [rad/s or m/s], penetration [m].
        missed_count: steps of the run that did not reach the tolerance.
        unresolved_count: of the event-driven scheme, steps with impacts that were left together.
        kept: a moment that is kept while a step is tried, or None.
        said: of the last rollout: what its last step missed, and the worst of its errors.
        watch: who is asked within a hard step.
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
        self.watch = Lookout(budget)
        senses, remembered = sensor_tables.build(model, dt, seed)
        self.pilots = pilots.Pilots()
        plain = tables.tables(model, senses, self.pilots.table, no_link())
        self.tables: Tables = plain._replace(limits=self.watch.limits())
        feet = [shape.body in {foot.body for foot in model.feet.values()} for shape in model.shapes]
        self.tables.shapes.shape["wider"][feet] = getattr(step.law, "FOOT_BAND", 0.0)
        self._points, self._blocks = POINTS, BLOCKS
        self.data: StepData = tables.data(
            model, POINTS, remembered, parts.memory(step.parts, model)
        )
        self.workspace: StepWorkspace = self._allocate()
        self.data.command.motor[:] = holding(model, self.data.q)
        self.steps, self.missed_count, self.unresolved_count = 0, 0, 0
        self.kept: StepData | None = None
        # machine code of the rollout
        self._rollout: Any = None
        self.said: list[Any] = [0, (0.0, 0.0, 0.0)]
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
        """The memory of a world that was just put where it is;
        what parts remember themselves stays.
        """
        memory = self.data.memory
        memory.count[0] = memory.helped[0] = memory.jammed[:] = memory.joined[:] = 0
        memory.joint[:] = joint_limits.first_modes(self.model)
        memory.foot[:] = 0
        outcome = self.data.outcome
        outcome.q_before[:], outcome.v_before[:] = self.data.q, self.data.v

    def prepare(self) -> None:
        """Kinematics of q and v; whenever these were set from outside."""
        t, s = self.tables, self.workspace
        workspace.prepare(t.model, t.shapes, self.data.q, self.data.v, s.dynamics, s.collision)

    def rollout_one(self, h: float, tolerance: float, begins: bool = True) -> tuple[int, int]:
        """One step of h [s]; begins: not where it is a part of a step that has begun."""
        done, status = 0, FINE
        while done == 0 and status == FINE:
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
        """Up to ``count`` steps of h [s], until one is missed or cannot be done.

        Args:
            program: commands of the steps, as for ``step.rollout``.
            begins: whether the time of a step begins to run.

        Returns:
            steps done, and the status of the last one. None may be done, where there was too little
            memory: there is more of it then.
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
            done, status, *self.said = self._rollout(*args)
        finally:
            self._running = False
        if self.data.outcome.event_count[0]:
            self._fetch_events()
        if status == ROOM:
            report = self.data.outcome.report[0]
            self.grow(int(report["points"]), int(report["blocks"]))
            status = FINE
        if status == DROPPED:
            self.prepare()
        return done, status

    def _fetch_events(self) -> None:
        """Changes of feet, out of the arrays."""
        outcome = self.data.outcome
        new = outcome.event[: outcome.event_count[0]].tolist()
        self.foot_events += new
        self.foot_history += new
        outcome.event_count[0] = 0

    def note(self) -> bool:
        """Remember the worst of the run after a rollout; whether its last step was missed."""
        missed, (residual, joint_residual, penetration) = self.said
        worst = self.worst
        # mostly none is worse; a NaN is
        if not (
            residual <= worst["residual"]
            and joint_residual <= worst["joint_residual"]
            and penetration <= worst["penetration"]
        ):
            for name, error in zip(WORST, self.said[1], strict=True):
                worst[name] = larger(worst[name], error)
        self.missed_count += missed > 0
        return missed > 0

    def bind(self, drivers: Iterable[Driver], senses: Any, scheme: str) -> None:
        """Controllers; those that are kernels are asked in the loop, unless steps are divided."""
        self.pilots.bind(() if scheme == settings.EVENT_DRIVEN else drivers, senses, self.dt)
        self.tables = self.tables._replace(pilot=self.pilots.table)

    def fault(self, status: int, time: float) -> BaseException:
        """Why a step was not done."""
        return self.watch.interrupted() if status == DROPPED else self.pilots.blame(time)

    # ---- sensors ----------------------------------------------------------------------------

    def begin_sensors(self) -> None:
        """First samples of the sensors that are on, of a world that was just put where it is."""
        if self.data.command.heard.any():
            self._sense(True)

    def listen(self, rows: NDArray[np.int64]) -> None:
        """Measure some sensors in every step from now on, and after the last one."""
        heard = self.data.command.heard
        if not heard[rows].all():
            self._sense(False)
            heard[rows] = 1

    def _sense(self, anew: bool) -> None:
        args = (self.tables, self.data, self.workspace, self.dt, anew)
        entry(measurement.catch_up, *args)(*args)

    # ---- memory of parts --------------------------------------------------------------------

    def own(self, name: str) -> NDArray[Any]:
        """What the part of a name remembers itself."""
        return self.data.memory.own[self.step.place(name)]

    def set_own(self, name: str, value: NDArray[Any]) -> None:
        """Replace what a part remembers itself, also by a longer table."""
        memory, at = self.data.memory, self.step.place(name)
        own = (*memory.own[:at], value, *memory.own[at + 1 :])
        self.data = self.data._replace(memory=memory._replace(own=own))
        self._make_room_for_bonds()

    # ---- moments ----------------------------------------------------------------------------

    def save(self, into: StepData | None = None) -> StepData:
        """A copy of all that lasts; ``into`` one that was made before, if there is still room."""
        if into is None or not _copy(self.data, into):
            return each(self.data, np.copy)
        return into

    def rewind(self, saved: StepData) -> None:
        """``restore`` to a moment shortly before, in the same memory if there is room."""
        if not _copy(saved, self.data):
            self.restore(saved)
            return
        self._forget_events()
        self.prepare()

    def restore(self, saved: StepData) -> None:
        """Go back to a saved moment, of this world."""
        count = int(saved.memory.count[0])
        if count > self._points:
            self.grow(count, self._blocks)
        contact = self.data.memory.contact
        contact[:count] = saved.memory.contact[:count]
        copy = each(saved, np.copy)
        fresh = copy._replace(memory=copy.memory._replace(contact=contact))
        # made here and not by the step that asks for it first, which cannot be interrupted
        getattr(fresh, "_address")  # noqa: B009
        self.data = fresh
        self._make_room_for_bonds()
        self._forget_events()
        self.prepare()

    def _forget_events(self) -> None:
        """What came later has not happened."""
        now = float(self.data.memory.clock[0])
        while self.foot_events and self.foot_events[-1][0] > now:
            self.foot_events.pop()

    # ---- room -------------------------------------------------------------------------------

    def make_room(self, points: int) -> None:
        """Memory for so many points at least."""
        if points > self._points:
            self.grow(points, self._blocks)

    def grow(self, points: int, blocks: int) -> None:
        """More memory than expected: half as much again as the step asked for."""
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
        if 6 * len(self.own("bonds")) > len(self.workspace.bonds.scale):
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
        knows = self.step.law.CERTIFIED or getattr(self.step.law, "BONDS", False)
        count = len(self.own("bonds"))
        rows = MANY_ROWS if knows else 6 * count
        degrees = self.model.v_count + len(self.model.arrays.mimic)
        bonds = bond_work.allocate(self._points, bodies, self._blocks, count, rows, degrees)
        sizes = (self._points, self._blocks)
        made = workspace.allocate(self.model, self.tables, *sizes, bonds, law)
        if self.step.order == 1:
            return made
        return made._replace(second=second_work.allocate(self.model, self._points))
