"""What a simulation holds, for everybody to read: ``sim.data``.

The arrays are those that the step itself works on, so they change with every step, and none of them
can be written here. Rows of contacts and their columns: ``tables.CONTACT``; of motors: ``MOTOR``,
``JOINT`` and ``EFFORT``; of the step's outcome: ``REPORT``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._structure import each
from tabi.contact.bodies import BodyProblem
from tabi.model.compiled import Model
from tabi.simulation.stepper import Stepper
from tabi.simulation.tables import Memory, Outcome, StepCommand, Tables

Array = NDArray[np.float64]
# places of these kinds of rows in every step
CONTACTS, MOMENTS, BONDS = 0, 1, 2


class Data:
    """State, command, memory and outcome of a simulation, read-only.

    Attributes:
        model: the compiled world. dt: the step [s]. tolerance: asked of every contact [m/s].
    """

    def __init__(self, stepper: Stepper, dt: float, tolerance: float) -> None:
        self._stepper = stepper
        self._seen: tuple[Any, ...] = ()
        self.model: Model = stepper.model
        self.dt, self.tolerance = dt, tolerance

    @property
    def steps(self) -> int:
        """How many were done."""
        return self._stepper.steps

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self._stepper.steps * self.dt

    @property
    def worst(self) -> dict[str, float]:
        """Of the run: residual [m/s], joint_residual [rad/s or m/s], penetration [m]."""
        return dict(self._stepper.worst)

    @property
    def missed_count(self) -> int:
        """Steps of the run that did not reach the tolerance."""
        return self._stepper.missed_count

    @property
    def reproducible(self) -> bool:
        """Whether a rerun is the same: not with a budget of time."""
        return not self._stepper.watch.timed

    @property
    def before(self) -> tuple[Array, Array]:
        """Copies of q and v before the last step."""
        q, v = self._stepper.before
        return q.copy(), v.copy()

    @property
    def q(self) -> Array:
        """Configuration."""
        return self._frozen()[0].q

    @property
    def v(self) -> Array:
        """Velocity."""
        return self._frozen()[0].v

    @property
    def command(self) -> StepCommand:
        """What motors are told, and external wrenches."""
        return self._frozen()[0].command

    @property
    def memory(self) -> Memory:
        """What the next step reads: contacts, modes of joints, what parts remember."""
        return self._frozen()[0].memory

    @property
    def outcome(self) -> Outcome:
        """What the last step says: its report, and the efforts of motors and joints."""
        return self._frozen()[0].outcome

    @property
    def tables(self) -> Tables:
        """Structure and parameters."""
        return self._frozen()[1]

    @property
    def body(self) -> NDArray[np.void]:
        """Kinematics of q and v, one row per moving body: see ``dynamics.workspace.BODY``."""
        return self._frozen()[2]

    @property
    def shape_pose(self) -> NDArray[np.void]:
        """Where each shape was when the last step began: see ``collision.arrays.POSE``."""
        return self._frozen()[3]

    # ---- contacts ---------------------------------------------------------------------------

    @property
    def contact(self) -> NDArray[np.void]:
        """Contacts of the last step, rows of ``tables.CONTACT``, without moments and bonds."""
        memory = self.memory
        rows = memory.contact[: memory.count[0]]
        # they come first, and mostly there is nothing else
        if len(rows) == 0 or rows["kind"][-1] == CONTACTS:
            return rows
        return rows[: np.count_nonzero(rows["kind"] == CONTACTS)]

    def of_kind(self, kind: int) -> NDArray[np.void]:
        """Rows of the last step of a kind of rows, by its place in the step."""
        rows = self.memory.contact[: self.memory.count[0]]
        return rows[rows["kind"] == kind]

    @property
    def moment(self) -> Array:
        """On body a of each contact, of torsional and rolling friction [N·m], shape (n, 3)."""
        found = np.zeros((len(self.contact), 3))
        if len(found) and self.tables.surfaces[0]:
            rows = self.of_kind(MOMENTS)
            found[rows["source"]] = rows["impulse"] / self.dt
        return found

    @property
    def problem(self) -> BodyProblem | None:
        """The contact problem of the last step, all groups together, a copy;
        None without contacts.
        """
        s, report = self._stepper.workspace, self._stepper.data.outcome.report[0]
        count, groups = int(report["points"]), int(report["groups"])
        if count == 0 or count > len(s.points):
            return None
        p, bodies = s.problem, int(s.first[groups])
        contact, column = p.contact[:count].copy(), p.column[: p.start[bodies]].copy()
        # bodies, columns and partners count from the first of all groups
        for g in range(groups):
            rows, base = slice(s.groups.start[g], s.groups.start[g + 1]), s.first[g]
            contact["a"][rows] += base
            contact["b"][rows] += np.where(contact["b"][rows] >= 0, base, 0)
            bounded = contact["partner"][rows] >= 0
            contact["partner"][rows] += np.where(bounded, s.groups.start[g], 0)
            column[p.start[base] : p.start[s.first[g + 1]]] += base
        impulse, bound = s.impulse, p.bound[:count].copy()
        limited = contact["partner"] >= 0
        bound[limited] = np.maximum(0.0, impulse[3 * contact["partner"][limited] + 2])
        return BodyProblem(
            contact,
            p.start[: bodies + 1].copy(),
            column,
            p.omega[: p.start[bodies]].copy(),
            p.q[: 3 * count].copy(),
            p.kind[:count].copy(),
            p.mu[:count].copy(),
            bound,
            p.weight[:count].copy(),
        )

    @property
    def impulse(self) -> Array:
        """Of the rows of ``problem``, shape (3n,) [N·s]."""
        points = int(self._stepper.data.outcome.report[0]["points"])
        return self._stepper.workspace.impulse[: 3 * points].copy()

    @property
    def problem_body(self) -> NDArray[np.int64]:
        """Moving body of each body of ``problem``."""
        return self._stepper.workspace.body.copy()

    @property
    def problem_order(self) -> NDArray[np.int64]:
        """Of each three rows of ``problem``, their place among the contacts of the memory."""
        points = int(self._stepper.data.outcome.report[0]["points"])
        return self._stepper.workspace.groups.order[:points].copy()

    # ---- read-only --------------------------------------------------------------------------

    def _frozen(self) -> tuple[Any, ...]:
        """Views that cannot be written of what there is now; made anew where memory has grown."""
        source = (self._stepper.data, self._stepper.workspace)
        if not self._seen or self._seen[0] is not source[0] or self._seen[1] is not source[1]:
            s = source[1]
            views = (source[0], self._stepper.tables, s.dynamics.body, s.collision.pose[:-1])
            self._seen = (*source, each(views, _read_only))
        return self._seen[2]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
