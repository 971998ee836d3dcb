"""Inverse kinematics of a robot: tasks with priorities in, joint positions or velocities out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi import dynamics
from tabi._errors import ModelError, unknown
from tabi.control.inverse_kinematics import building, rates, reasons, search
from tabi.control.inverse_kinematics.solution import JointSolution
from tabi.control.inverse_kinematics.tables import TaskTables
from tabi.control.inverse_kinematics.tasks import (
    CentreTask,
    GazeTask,
    KinematicTask,
    PoseTask,
    PostureTask,
    checked_point,
)
from tabi.dynamics.workspace import allocate
from tabi.jit import entry
from tabi.model.body import Body, Frame
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]


class InverseKinematics:
    """Joint positions, or velocities, that bring tasks to their targets.

    Tasks have priorities, 0 the highest: a task never gives way to one of lower priority; those of
    one priority share what they cannot both have by their weights, cost ½ Σ weight · error². The
    limits of the joints are never left. Each task keeps its target, at first where the robot is
    when this is made; set it by ``task.target = …``.

    Args:
        robot: a robot, or the compiled model of one or of a world.
        locked: joints that may not move; a robot's or object's own name stands for its floating
            base. Passive joints of a robot never do.
        tolerance: errors that count as none [m or rad].
        iterations: most steps of a level. restarts: most starts after the first, each from another
            configuration within the limits, where a target is not reached. seed: of these.

    Attributes:
        model: what it works on. tasks: in the order they were added.

    Examples:
        >>> ik = tabi.control.InverseKinematics(robot)
        >>> hand = ik.pose("left_hand", orientation="")
        >>> hand.target = hand.target.p + np.array([0.05, 0.0, 0.05])
        >>> command = tabi.Command(position=ik.solve().positions)
    """

    def __init__(
        self,
        robot: Robot | Model,
        locked: Iterable[str] = (),
        tolerance: float = 1e-8,
        iterations: int = 200,
        restarts: int = 60,
        seed: int = 0,
    ) -> None:
        if not isinstance(robot, (Robot, Model)):
            raise ModelError(
                f"inverse kinematics was given {type(robot).__name__}; expected a robot or a "
                f"compiled model: robot.compile()"
            )
        if not 0 < tolerance < 1:
            raise ModelError(f"tolerance is {tolerance!r}; expected a small number, 1e-8 is usual")
        if iterations < 1 or restarts < 0:
            raise ModelError(
                f"iterations and restarts are {iterations} and {restarts}; expected ≥ 1 and ≥ 0"
            )
        self.model = robot if isinstance(robot, Model) else robot.compile()
        self.tasks: list[KinematicTask] = []
        self._robot = robot if isinstance(robot, Robot) else None
        passive = [] if self._robot is None else _passive(self._robot)
        if isinstance(locked, str):
            raise ModelError(f"locked is {locked!r}; expected a list of joints")
        self._locked = building.locked_dofs(self.model, [*locked, *passive])
        self._counts = (float(tolerance), int(iterations), int(restarts), int(seed))
        self._work = allocate(self.model)
        self._tables: TaskTables | None = None

    # ---- tasks ------------------------------------------------------------------------------

    def pose(
        self,
        body: str | Body | Frame,
        position: str = "xyz",
        orientation: str = "xyz",
        point: ArrayLike = (0.0, 0.0, 0.0),
        priority: int = 0,
        weight: float = 1.0,
        rotation_weight: float = 1.0,
    ) -> PoseTask:
        """A body, foot, frame or sensor at a pose.

        Args:
            body: its name, or the body, foot or frame itself.
            position, orientation: axes of the world in use, "" for none.
            point: of the task, in the frame [m].
            weight: of the squared error. rotation_weight: of 1 rad² beside 1 m².
        """
        link = self._link(body)
        place = link.placement @ checked_point(link.name, point, "point")
        link = Link(link.name, link.body, Transform(link.placement.R, place))
        task = PoseTask(link, position, orientation, priority, weight, rotation_weight)
        here = dynamics.pose(self.model, self.model.initial(), link.name)
        task.target = Transform(here.R, here @ np.asarray(point, float))
        return self._added(task)

    def centre_of_mass(
        self, name: str | None = None, axes: str = "xyz", priority: int = 0, weight: float = 1.0
    ) -> CentreTask:
        """Add a task for the centre of mass of the robot or object ``name``, default: of
        everything; axes="xy" leaves its height free.
        """
        target = dynamics.centre_of_mass(self.model, self.model.initial(), name)
        root = 0 if name is None else self.model.root_of(name)
        task = CentreTask("centre of mass", root, axes, priority, weight)
        task.target = target
        return self._added(task)

    def gaze(
        self,
        body: str | Body | Frame,
        axis: ArrayLike = (1.0, 0.0, 0.0),
        priority: int = 0,
        weight: float = 1.0,
    ) -> GazeTask:
        """Add a task for an axis of a body or frame, from its origin, that points at a target in
        the world.
        """
        link = self._link(body)
        task = GazeTask(link, axis, priority, weight)
        here = dynamics.pose(self.model, self.model.initial(), link.name)
        task.target = here @ np.asarray(axis, float)
        return self._added(task)

    def posture(
        self,
        pose: Mapping[str, Any] | ArrayLike | None = None,
        joints: Iterable[str] | None = None,
        priority: int = 1,
        weight: float = 1.0,
    ) -> PostureTask:
        """Add a task for joints near a pose.

        Args:
            pose: {joint: position}, or a configuration; joints that it does not name, or all
                without a pose, keep the robot's initial positions.
            joints: those of the task; default: all that are not locked.
        """
        moving = [name for name in self.model.joint_names if self._moves(name)]
        names = moving if joints is None else list(joints)
        task = PostureTask(self.model, [self._joint(name) for name in names], priority, weight)
        if isinstance(pose, Mapping):
            pose = {name: x for name, x in pose.items() if self._joint(name) in task.joints}
        if pose is not None:
            task.target = pose
        return self._added(task)

    def remove(self, task: KinematicTask) -> None:
        """Remove a task from now on."""
        if task not in self.tasks:
            raise ModelError(f"{task!r} is no task of this inverse kinematics, or removed already")
        self.tasks.remove(task)
        self._tables = None

    def _added(self, task: Any) -> Any:
        self.tasks.append(task)
        self._tables = None
        return task

    def _link(self, body: str | Body | Frame) -> Link:
        return self.model.link(body if isinstance(body, str) else body.name)

    def _joint(self, name: str) -> str:
        if name in self.model.joint_names:
            return name
        raise unknown("joint", name, "the model", self.model.joint_names)

    def _moves(self, name: str) -> bool:
        return self.model.v_index(name) not in self._locked

    # ---- answers ----------------------------------------------------------------------------

    def solve(self, q: ArrayLike | None = None) -> JointSolution:
        """Return the configuration in which each task is as near to its target as tasks of higher
        priority allow.

        Args:
            q: start, shape (q_count,); default: the model's initial configuration. Joints without a
                task keep their positions.
        """
        tables = self._ready()
        start = self.model.initial() if q is None else self._checked(q)
        outcome = self._solve(self.model.arrays, self._work, tables, start)
        if outcome == search.BROKEN:
            raise ModelError(
                f"inverse kinematics from q = {np.round(start, 3).tolist()} is not finite; "
                f"expected targets and positions of a few metres"
            )
        return JointSolution(
            tables.q.copy(),
            outcome == search.MET,
            outcome != search.STOPPED,
            int(tables.out[1]),
            int(tables.out[2]),
            self.model,
            tables.block["error"].copy(),
            self._errors,
            self._explain,
        )

    def _errors(self, sizes: Array) -> dict[str, dict[str, float]]:
        """Return errors of all tasks by name, from one number of each block."""
        errors, at = {}, 0
        for task in sorted(self.tasks, key=lambda task: task.priority):
            name, count = task.name, len(task.blocks)
            # makes names of tasks unique
            while name in errors:
                name += "'"
            errors[name] = task.errors([float(x) for x in sizes[at : at + count]])
            at += count
        return errors

    def _explain(self, q: Array) -> str:
        """Explain why q is not at all targets."""
        tables = self._ready()
        search.evaluate(self.model.arrays, self._work, tables, q)
        return "; ".join(reasons.explain(self.model, self.tasks, tables, self._work, q))

    def velocity(self, q: ArrayLike, dt: float, gain: float = 0.5) -> Array:
        """Return joint velocities that move tasks towards their targets within a period, for a loop
        of a fixed rate: resolved rates with priorities; the motion in ``dt`` stays within the
        limits of positions and velocities.

        Args:
            q: current configuration, shape (q_count,). dt: the period [s].
            gain: share of each error to correct per period, 0 < gain ≤ 1.

        Returns:
            v, shape (v_count,); the next call overwrites it.
        """
        if not (0 < dt < np.inf and 0 < gain <= 1):
            raise ModelError(
                f"dt is {dt!r} s and gain {gain!r}; expected a positive time, and 0 < gain ≤ 1"
            )
        tables = self._ready()
        start = self._checked(q)
        self._velocity(self.model.arrays, self._work, tables, start, float(dt), float(gain))
        return tables.v

    def _checked(self, q: ArrayLike) -> Array:
        """Return a valid q; the slow check runs only for an invalid one."""
        if (
            isinstance(q, np.ndarray)
            and q.dtype == np.float64
            and q.shape == (self.model.q_count,)
            and q.flags.c_contiguous
            and self._is_valid(self.model.arrays, q)
        ):
            return q
        return self.model.check_configuration(q)

    def _ready(self) -> TaskTables:
        """Return the tables for these tasks."""
        if self._tables is None:
            if not self.tasks:
                raise ModelError(
                    "inverse kinematics has no task; expected at least one: ik.pose(body)"
                )
            tables = building.build(self.model, self.tasks, self._locked, self._counts)
            q, m, w = self.model.initial(), self.model.arrays, self._work
            self._solve = entry(search.solve, m, w, tables, q)
            self._velocity = entry(rates.velocity, m, w, tables, q, 1.0, 1.0)
            self._is_valid = entry(search.is_valid, m, q)
            self._tables = tables
        return self._tables


def _passive(robot: Robot) -> list[str]:
    """Return the names of the unactuated joints."""
    return [b.joint.name for b in robot.bodies[1:] if b.joint.passive]
