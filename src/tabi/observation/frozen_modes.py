"""Steps with frozen impulses and modes, for derivatives of a step without its solver.

A step is solved once, and undone. Steps from states nearby then take its impulses, by the identity
of their points, and the modes of its motors and joints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import SimulationError
from tabi.dynamics import differences
from tabi.jit.structure import each
from tabi.observation.contacts import Contact, contacts
from tabi.step.data import Data
from tabi.step.laws import given
from tabi.step.status import OK
from tabi.step.step import step_on
from tabi.step.stepper import Stepper
from tabi.step.tables import StepData

Array = NDArray[np.float64]
# backward error of the step whose modes are used [m/s]: rigid soles allow no less
SOLVED_TOLERANCE = 1e-10


class OtherPointsError(SimulationError):
    """Error of a state nearby with other contact points than the one that was solved."""


class Rows(NamedTuple):
    """Rows of a step by points: kind, shapes and feature of each, impulse and velocity, shape
    (n, 3).
    """

    identity: list[tuple[int, ...]]
    impulse: Array
    velocity: Array


class Change(NamedTuple):
    """Derivatives of (δq, v) after the step, and of velocities and impulses of the rows."""

    state: Array
    velocity: Array
    impulse: Array


def twin_of(stepper: Stepper, custom_parts: tuple[Any, Any]) -> Stepper:
    """Return a stepper of the same model with given impulses.

    Args:
        custom_parts: custom forces and kinds of rows of the simulation.
    """
    return Stepper(stepper.model, step_on(given, *custom_parts), dt=stepper.dt)


class FrozenModeStep:
    """Steps from states near that of a stepper, with frozen modes.

    Args:
        stepper: of the simulation; its state is restored. twin: stepper of the frozen steps, by
            ``twin_of``.
        tolerance: backward error that the solved step has to reach [m/s].
        push: writes the wrenches of a step that begins.

    Attributes:
        q, v: after the solved step. rows: of it, and ``contacts``, the first of them.
        kind, mu, bound, weight, partner: of each row, as in ``BodyProblem``, by points; frame: its
            axes, shape (n, 3, 3). viscous: friction of the contact's surfaces [s/m].
        flipped: degrees of freedom whose motors change their modes nearby.
    """

    def __init__(
        self,
        stepper: Stepper,
        twin: Stepper,
        tolerance: float,
        push: Callable[[Stepper], None] | None = None,
    ) -> None:
        dt = stepper.dt
        self.dt, self.twin, self.flipped, self._push = dt, twin, set[int](), push
        self._into: StepData | None = None
        self._copies: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._start, self.contacts = _solve_start(stepper, dt, tolerance)
        # bonds may have been made or released
        parts = each(self._start.memory.parts, np.copy)
        twin.data = twin.data._replace(memory=twin.data.memory._replace(parts=parts))
        twin.grow(len(stepper.workspace.points), len(stepper.workspace.problem.omega))
        self.q, self.v, self.rows = self._step(lambda data: None)
        self._describe()

    def _describe(self) -> None:
        """Store the coefficients of the rows, by points."""
        s, count = self.twin.workspace, len(self.rows.identity)
        p, place = s.problem, np.empty(count, np.int64)
        place[s.groups.order[:count]] = np.arange(count)
        self.kind, self.mu, self.bound, self.weight = (
            x[:count][place].copy() for x in (p.kind, p.mu, p.bound, p.weight)
        )
        self.frame = p.contact["frame"][:count][place].reshape(-1, 3, 3).copy()
        # partners count from the first row of their group
        start = s.groups.start[: int(self.twin.data.outcome.report[0]["groups"]) + 1]
        first = np.repeat(start[:-1], np.diff(start))
        partner = p.contact["partner"][:count]
        rows = np.where(partner >= 0, s.groups.order[np.maximum(partner + first, 0)], -1)
        self.partner = rows[place]
        self.viscous = np.zeros(count)
        shapes, pairs = self.twin.model.shapes, self.twin.model.pairs["viscous_friction"]
        number = {name: k for k, name in enumerate(self.twin.model.material_names)}
        for k in range(len(self.contacts)):
            _, a, b, _ = self.rows.identity[k]
            self.viscous[k] = pairs[number[shapes[a].material], number[shapes[b].material]]
            if self.contacts[k].status == "slip":
                # (2) of ``rows.contacts``
                self.mu[k] += self.viscous[k] * hypot(*self.rows.velocity[k, :2])

    def change(self, nudge: Callable[[StepData, float], None], size: float) -> Change:
        """Return derivatives by a central difference; one-sided where a side has other points.

        Args:
            nudge: changes the start of a step by a size.
        """
        ends: list[tuple[float, Change]] = []
        other = OtherPointsError("")
        for sign in (1.0, -1.0):
            try:
                ends.append((sign, self._end(nudge, sign * size)))
            except OtherPointsError as problem:
                other = problem
        if not ends:
            raise other
        if len(ends) == 1:
            ends.append((0.0, self._end(nudge, 0.0)))
        (a, first), (b, second) = ends
        return Change(*((x - y) / ((a - b) * size) for x, y in zip(first, second, strict=True)))

    def _end(self, nudge: Callable[[StepData, float], None], size: float) -> Change:
        q, v, rows = self._step(lambda data: nudge(data, size))
        state = np.concatenate([np.empty_like(v), v])
        differences.between(self.twin.model.arrays, self.q, q, state[: len(v)])
        if rows.identity != self.rows.identity:
            rows = self._matched(rows)
        return Change(state, rows.velocity.ravel(), rows.impulse.ravel())

    def _step(self, change: Callable[[StepData], None]) -> tuple[Array, Array, Rows]:
        """Return q, v and rows after a step from a changed start."""
        twin = self.twin
        done, status = 0, OK
        while done == 0 and status == OK:
            self._begin()
            change(twin.data)
            twin.prepare()
            if self._push is not None:
                self._push(twin)
            before = twin.data.memory.joint["saturation"].copy()
            done, status = twin.rollout(self.dt, np.inf, 1)
        if done == 0:
            raise SimulationError(f"the step cannot be linearised: a state nearby ends as {status}")
        self.flipped.update(np.flatnonzero(twin.data.memory.joint["saturation"] != before).tolist())
        return twin.data.q.copy(), twin.data.v.copy(), self._read()

    def _begin(self) -> None:
        """Copy the start to the twin's arrays."""
        if self._into is not self.twin.data:
            self._into, count = self.twin.data, int(self._start.memory.count[0])
            self._copies = [
                (out[:count], x[:count]) if out.shape != x.shape else (out, x)
                for name in ("q", "v", "command", "memory")
                for out, x in zip(
                    _arrays(getattr(self._into, name)),
                    _arrays(getattr(self._start, name)),
                    strict=True,
                )
                if x.size
            ]
        for out, x in self._copies:
            out[...] = x

    def _read(self) -> Rows:
        """Return rows of the last step by points; they are solved by groups."""
        s, count = self.twin.workspace, int(self.twin.data.outcome.report[0]["points"])
        order, values_of_points = s.groups.order[:count], np.empty((2, count, 3))
        for k, values in enumerate((s.impulse, s.u)):
            values_of_points[k, order] = values[: 3 * count].reshape(-1, 3)
        rows = self.twin.data.memory.contact[:count]
        columns = [rows[name].tolist() for name in ("kind", "shape_a", "shape_b", "feature")]
        return Rows(list(zip(*columns, strict=True)), values_of_points[0], values_of_points[1])

    def _matched(self, rows: Rows) -> Rows:
        """Return rows in the order of the solved step; those without an impulse may be missing."""
        place = {name: k for k, name in enumerate(rows.identity)}
        impulse, velocity = self.rows.impulse.copy(), self.rows.velocity.copy()
        for k, name in enumerate(self.rows.identity):
            if name in place:
                impulse[k], velocity[k] = rows.impulse[place[name]], rows.velocity[place[name]]
            elif impulse[k].any():
                c = self.contacts[k] if k < len(self.contacts) else None
                pair = f"{c.body_a.name} and {c.body_b.name}" if c else "two bodies"
                raise OtherPointsError(
                    f"the step cannot be linearised: {pair} touch in other points as soon as they "
                    "move; move them a little first"
                )
        return Rows(self.rows.identity, impulse, velocity)


def _arrays(value: Any) -> Iterator[NDArray[Any]]:
    """Yield all arrays of a structure, in their order."""
    if isinstance(value, np.ndarray):
        yield value
    else:
        for part in value:
            yield from _arrays(part)


def _solve_start(stepper: Stepper, dt: float, tolerance: float) -> tuple[StepData, list[Contact]]:
    """Return the state of a stepper with contacts and modes of the next step, and its contacts."""
    saved, listed = stepper.save(), len(stepper.foot_history)
    try:
        done, status = 0, OK
        while done == 0 and status == OK:
            done, status = stepper.rollout(dt, min(tolerance, SOLVED_TOLERANCE), 1)
        after, report = stepper.save(), stepper.data.outcome.report[0].copy()
        contact_list = contacts(Data(stepper, dt, tolerance))
    finally:
        stepper.restore(saved)
        del stepper.foot_history[listed:]
    if (
        done == 0
        or not report["residual"] <= tolerance
        or not report["joint_residual"] <= tolerance
    ):
        raise SimulationError("the step cannot be linearised: its contacts did not converge")
    if report["apart"]:
        raise SimulationError(
            "the step cannot be linearised: things overlap so deeply that they are moved apart; "
            "let them part first"
        )
    solved = {name: getattr(after.memory, name) for name in ("contact", "count", "joint")}
    copy = each(saved, np.copy)
    return copy._replace(memory=copy.memory._replace(**solved)), contact_list
