"""Data of a simulation, read-only: ``sim.data``.

The arrays are those of the step itself, so they change with every step, and none of them can be
written here. Rows of contacts and their columns: ``tables.CONTACT``; of motors: ``MOTOR``,
``JOINT`` and ``EFFORT``; of the step's outcome: ``REPORT``.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi._renamed import renamed_arguments
from tabi.contact import trees
from tabi.contact.bodies import BodyProblem, no_parents
from tabi.contact.soft.soft_problem import soften
from tabi.dynamics.inverse_inertia.body_inertia import ROWS, add_blocks
from tabi.jit import entry
from tabi.jit.structure import each
from tabi.model.compiled import Link, Model
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist, Wrench
from tabi.step import readout, soft_check
from tabi.step.rows.bonds import bond_name
from tabi.step.sensors.renamed_columns import RENAMED, RenamedColumns
from tabi.step.stepper import Stepper
from tabi.step.tables import BONDS, CONTACTS, MOMENTS, Memory, Outcome, StepCommand, Tables

Array = NDArray[np.float64]
# bonds that are open by less fit [m or rad]
MISMATCH = 1e-9


class Data:
    """State, command, memory and outcome of a simulation, read-only.

    Attributes:
        model: the compiled world. dt: the step [s]. tolerance: of every contact [m/s].
    """

    def __init__(self, stepper: Stepper, dt: float, tolerance: float) -> None:
        self._stepper = stepper
        self._seen: tuple[Any, ...] = ()
        self._placements: dict[Link, Array] = {}
        self._foot_rows: dict[str, int] = {}
        self._listened: tuple[Any, Any] = (None, None)
        self._entries: dict[Any, Any] = {}
        self.model: Model = stepper.model
        self.dt, self.tolerance = dt, tolerance

    @property
    def steps(self) -> int:
        """Number of steps that were done."""
        return self._stepper.steps

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self._stepper.steps * self.dt

    @property
    def foot_events(self) -> list[tuple[float, int, int, int]]:
        """Changes of feet so far: time [s], number of the foot, its state before and after."""
        return list(self._stepper.foot_events)

    @property
    def foot_history(self) -> list[tuple[float, int, int, int]]:
        """Changes of feet with those that ``restore`` undid, in the order in which they came; do
        not modify the list.
        """
        return self._stepper.foot_history

    @property
    def worst(self) -> dict[str, float]:
        """Worst residual [m/s], joint_residual [rad/s or m/s] and penetration [m] of the run."""
        return dict(self._stepper.worst)

    @property
    def missed_count(self) -> int:
        """Steps of the run that did not converge to the tolerance."""
        return self._stepper.missed_count

    @property
    def law(self) -> Any:
        """The law of contact: see ``parts``."""
        return self._stepper.step.law

    @property
    def law_scratch(self) -> Any:
        """Scratch of the law of contact in the last step, as its ``allocate`` made it."""
        return self._stepper.workspace.law

    @property
    def reproducible(self) -> bool:
        """Whether a rerun gives the same numbers: not with a budget of time."""
        return not self._stepper.watch.timed

    @property
    def q(self) -> Array:
        """Configuration q of the world."""
        return self._frozen()[0].q

    @property
    def v(self) -> Array:
        """Velocity v of the world."""
        return self._frozen()[0].v

    @property
    def command(self) -> StepCommand:
        """Commands of motors, and external wrenches."""
        return self._frozen()[0].command

    @property
    def memory(self) -> Memory:
        """State that the next step reads: contacts, modes of joints, memory of parts."""
        return self._frozen()[0].memory

    @property
    def outcome(self) -> Outcome:
        """Results of the last step: its report, and the efforts of motors and joints."""
        return self._frozen()[0].outcome

    @property
    def tables(self) -> Tables:
        """Structure and parameters of the world."""
        return self._frozen()[1]

    @property
    def body(self) -> NDArray[np.void]:
        """Kinematics of q and v, one row per moving body: see ``dynamics.workspace.BODY``."""
        return self._frozen()[2]

    @property
    def shape_pose(self) -> NDArray[np.void]:
        """Pose of each shape when the last step began: see ``collision.arrays.POSE``."""
        return self._frozen()[3]

    # ---- quantities of the last step --------------------------------------------------------

    def joint_state(self, rows: NDArray[np.int64]) -> Array:
        """Return position, velocity and motor effort of degrees of freedom, shape (3, ·); the
        position is 0 where a joint has no single one, all are NaN for invalid rows.
        """
        return self.joints(np.ascontiguousarray(rows, np.int64))

    def joints(self, rows: NDArray[np.int64]) -> Array:
        """Return ``joint_state`` for rows that are contiguous in memory."""
        out, stepper = np.empty((3, len(rows))), self._stepper
        self._call(readout.joint_state, stepper.tables.model, stepper.data, rows, out)
        return out

    def senses(self, rows: NDArray[np.int64], link: Link) -> tuple[Array, Transform, Twist]:
        """Return ``joint_state`` of degrees of freedom of this world, and ``frame`` of a link."""
        s, empty, placement = self._stepper, np.empty, self._placement(link)
        joints, R, p, moves = empty((3, len(rows))), empty((3, 3)), empty(3), empty((2, 3))
        places = (s.tables.model, s.workspace.dynamics, s.data, rows, link.body, placement)
        self._call(readout.measurement_state, *places, joints, R, p, moves)
        return joints, Transform(R, p), Twist(moves[0], moves[1])

    def frame(self, link: Link) -> tuple[Transform, Twist]:
        """Return X_WF of a link, and the velocity of its origin, linear and angular."""
        s, out, placement = self._stepper, np.empty(18), self._placement(link)
        self._call(readout.frame, s.tables.model, s.workspace.dynamics, link.body, placement, out)
        return Transform(out[:9].reshape(3, 3), out[9:12]), Twist(out[12:15], out[15:])

    def wrench(self, link: Link) -> Wrench:
        """Return the wrench of all contacts on the body of a link, about the link's origin."""
        out, s, placement = np.zeros(6), self._stepper, self._placement(link)
        # links that are fixed to the world bear no wrench
        if link.body > 0:
            places = (s.tables.model, s.workspace.dynamics, s.data)
            self._call(readout.wrench, *places, link.body, placement, self.dt, out)
        return Wrench(out[:3], out[3:])

    def foot_wrench(self, name: str) -> Wrench:
        """Return the wrench of all contacts on a foot about its origin, by ``feet``."""
        row = self._foot_row(name)
        return Wrench(row["force"].copy(), row["torque"].copy())

    def foot_pressure(self, name: str) -> Array | None:
        """Return the centre of pressure of a foot in its frame [m], by ``feet``; None without
        load.
        """
        row = self._foot_row(name)
        return row["pressure"].copy() if row["state"] else None

    def sensor_places(self, names: list[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the indices of the values of some sensors, and the rows of the sensors."""
        every, row = list(self.model.sensors), self._stepper.tables.sensors.row
        rows = np.array([every.index(name) for name in names], np.int64)
        spans = [np.arange(int(row["first"][i]), int(row["end"][i])) for i in rows.tolist()]
        return np.concatenate([np.zeros(0, np.int64), *spans]), rows

    def sensor_values(self, places: NDArray[np.int64], rows: NDArray[np.int64]) -> Array:
        """Return readings of sensors after the last step, by ``sensor_places``; from now on they
        are measured in every step.
        """
        # mostly the same sensors as in the last call, which are still active
        active = self._stepper.data.command.active_sensors
        if self._listened[0] is not rows or self._listened[1] is not active:
            self._stepper.listen(rows)
            self._listened = rows, active
        return self._stepper.data.memory.sensors.value["reading"][places]

    def sensor(self, name: str, truth: bool = False) -> tuple[Array, float]:
        """Return the reading of a sensor, or its true value, and when the sample was taken [s]."""
        places, rows = self.sensor_places([name])
        self._stepper.listen(rows)
        memory, row = self._stepper.data.memory, self._stepper.tables.sensors.row[rows[0]]
        values = memory.sensors.value["truth" if truth else "reading"][places]
        taken = memory.sensors.sample["released"][rows[0]] * row["period"]
        return values, self.time if truth else float(taken)

    def _foot_row(self, name: str) -> Any:
        if name not in self._foot_rows:
            self._foot_rows = {foot: k for k, foot in enumerate(self.model.feet)}
        return self._stepper.data.memory.foot[self._foot_rows[name]]

    @renamed_arguments(own="on_robot")
    def zero_moment_point(self, on_robot: Array) -> Array | None:
        """Return the zero moment point of all contacts on the bodies where ``on_robot`` is 1, not
        0, in the world [m]; None without load. See ``dynamics.loads``.
        """
        on_robot, out = np.ascontiguousarray(on_robot, float), np.empty(3)
        if on_robot.shape != (count := self.model.body_count + 1,):
            raise ModelError(f"on_robot has shape {on_robot.shape}; expected ({count},)")
        self._call(readout.zero_moment_point, self._stepper.data, on_robot, out)
        return None if np.isnan(out[0]) else out

    def _placement(self, link: Link) -> Array:
        """Return X_BF of a link as an array for kernels."""
        placement = self._placements.get(link)
        if placement is None:
            if not 0 <= link.body <= self.model.body_count:
                raise ModelError(f"link {link.name!r} is none of this world")
            X = link.placement
            placement = self._placements[link] = np.concatenate([X.R.ravel(), X.p])
        return placement

    def _call(self, kernel: Any, *args: Any) -> Any:
        """Call a kernel whose arguments are always of the same types."""
        compiled = self._entries.get(kernel)
        if compiled is None:
            compiled = self._entries[kernel] = entry(kernel, *args)
        return compiled(*args)

    # ---- contacts ---------------------------------------------------------------------------

    @property
    def contact(self) -> NDArray[np.void]:
        """Contacts of the last step, rows of ``tables.CONTACT``, without moments and bonds."""
        memory = self.memory
        rows = memory.contact[: memory.count[0]]
        # they come first, and mostly there are no other rows
        if len(rows) == 0 or rows["kind"][-1] == CONTACTS:
            return rows
        return rows[: np.count_nonzero(rows["kind"] == CONTACTS)]

    def of_kind(self, kind: int) -> NDArray[np.void]:
        """Return contacts of the last step of one kind of rows, by the number of the kind."""
        rows = self.memory.contact[: self.memory.count[0]]
        return rows[rows["kind"] == kind]

    @property
    def moment(self) -> Array:
        """Moment of torsional and rolling friction on body a of each contact [N·m], shape (n,
        3).
        """
        moments = np.zeros((len(self.contact), 3))
        if len(moments) and self.tables.surfaces[0]:
            rows = self.of_kind(MOMENTS)
            moments[rows["source"]] = rows["impulse"] / self.dt
        return moments

    @property
    def problem(self) -> BodyProblem | None:
        """Copy of the contact problem of the last step, all groups together; None without
        contacts.
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
        start, column, omega = self._inverse_inertia(column, bodies)
        impulse, bound = s.impulse, p.bound[:count].copy()
        limited = contact["partner"] >= 0
        bound[limited] = np.maximum(0.0, impulse[3 * contact["partner"][limited] + 2])
        problem = BodyProblem(
            contact,
            start,
            column,
            omega,
            p.q[: 3 * count].copy(),
            p.kind[:count].copy(),
            p.mu[:count].copy(),
            bound,
            p.weight[:count].copy(),
            no_parents(bodies),
        )
        if not len(self._stepper.data.memory.sole):
            return problem
        return soften(problem, soft_check.contact_matrix(s, count), self._pads.compliance)

    @functools.cached_property
    def _pads(self) -> soft_check.PadMatrices:
        return soft_check.pad_matrices(self.model, self.dt)

    @property
    def sole_error(self) -> float:
        """Error of node positions of soft soles and pads by the forces of the last step [m]; 0
        without any.
        """
        if not len(self._stepper.data.memory.sole):
            return 0.0
        return soft_check.error(self._pads, self.dt, self._stepper.workspace, self._stepper.data)

    def _inverse_inertia(self, column: NDArray[np.int64], bodies: int) -> tuple[Any, ...]:
        """Return start, column and Ω of ``problem`` in blocks, also where the step had factors."""
        s, p = self._stepper.workspace, self._stepper.workspace.problem
        if (s.chains.has[:bodies] == ROWS).any():
            model = self._stepper.tables.model
            self._call(add_blocks, model, s.chains, s.body, bodies, p.start, p.omega)
        start, omega = p.start[: bodies + 1], p.omega[: p.start[bodies]]
        if (s.chains.above[:bodies] == trees.BLOCKS).all():
            return start.copy(), column, omega.copy()
        return trees.with_blocks(s.chains.above[:bodies], start, column, omega)

    @property
    def impulse(self) -> Array:
        """Impulses of the rows of ``problem``, shape (3n,) [N·s]."""
        points = int(self._stepper.data.outcome.report[0]["points"])
        return self._stepper.workspace.impulse[: 3 * points].copy()

    @property
    def problem_body(self) -> NDArray[np.int64]:
        """Moving body of each body of ``problem``."""
        return self._stepper.workspace.body.copy()

    @property
    def bond_mismatch(self) -> dict[str, tuple[float, float]]:
        """Gaps of bonds in directions in which nothing can close them, by the name of the bond:
        translation [m] where the bodies meet, and rotation [rad]; bonds that fit are left out.
        """
        stepper, s = self._stepper, self._stepper.workspace
        bonds, order, mismatch = stepper.part_memory("bonds"), self.problem_order, {}
        for k in range(len(bonds) if len(s.bonds.offset) else 0):
            apart = np.zeros((2, 3))
            for x in np.flatnonzero((s.kind[order] == BONDS) & (s.source[order] == k)):
                apart[s.points["feature"][order[x]]] = s.bonds.mismatch[3 * x : 3 * x + 3]
            sizes = np.linalg.norm(apart, axis=1)
            if sizes.max() > MISMATCH:
                mismatch[bond_name(self.model, bonds[k])] = (float(sizes[0]), float(sizes[1]))
        return mismatch

    @property
    def bond_unmet(self) -> Array:
        """Velocity of each row of ``problem`` that belongs to a bond and that no impulse stops,
        [m/s or rad/s], shape (3n,); ``problem`` is without it.
        """
        points = int(self._stepper.data.outcome.report[0]["points"])
        unmet = self._stepper.workspace.bonds.unmet
        return unmet[: 3 * points].copy() if len(unmet) else np.zeros(3 * points)

    @property
    def problem_order(self) -> NDArray[np.int64]:
        """Index among the contacts of the memory, for each three rows of ``problem``."""
        points = int(self._stepper.data.outcome.report[0]["points"])
        return self._stepper.workspace.groups.order[:points].copy()

    # ---- read-only --------------------------------------------------------------------------

    def _frozen(self) -> tuple[Any, ...]:
        """Return read-only views of the current arrays; made again when memory has grown."""
        source = (self._stepper.data, self._stepper.workspace)
        if not self._seen or self._seen[0] is not source[0] or self._seen[1] is not source[1]:
            s = source[1]
            views = (source[0], self._stepper.tables, s.dynamics.body, s.collision.pose[:-1])
            self._seen = (*source, each(views, _read_only))
        return self._seen[2]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view(RenamedColumns) if array.dtype in RENAMED else array.view()
    view.flags.writeable = False
    return view
