"""Tasks of inverse kinematics: poses of frames, centres of mass, gazes, postures.

A task writes its target straight into the tables of the kernels: setting one between two solutions
allocates no lasting memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi.control.inverse_kinematics.tables import (
    BLOCK,
    CENTRE,
    GAZE,
    ORIENTATION,
    POSITION,
    POSTURE,
)
from tabi.model.arrays import FLOATING, SPHERICAL, table
from tabi.model.compiled import Link, Model
from tabi.spatial.transform import Transform, z_to

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = NDArray[np.float64]
# names of errors, by kind
ERROR = {
    POSITION: "position",
    ORIENTATION: "orientation",
    CENTRE: "position",
    GAZE: "angle",
    POSTURE: "joints",
}


class KinematicTask:
    """A task: its name, its priority (0 is the highest), its weight among those of its priority.

    Attributes:
        blocks: its rows in the kernels' table.
    """

    def __init__(self, name: str, priority: int, weight: float) -> None:
        if (
            isinstance(priority, bool)
            or not isinstance(priority, (int, np.integer))
            or priority < 0
        ):
            raise ModelError(
                f"priority of task {name!r} is {priority!r}; expected 0, the highest, 1, 2, …"
            )
        self.name, self.priority = name, int(priority)
        self.weight = checked_weight(name, weight)
        self.blocks: list[NDArray[np.void]] = []

    def _block(self, kind: int, weight: float, axes: Sequence[int] = (1, 1, 1)) -> NDArray[np.void]:
        """Return a new block of rows."""
        row = table(1, BLOCK)
        row["kind"], row["scale"] = kind, np.sqrt(weight) * np.array(axes)
        row["count"], row["level"] = 3, self.priority
        self.blocks.append(row)
        return row

    def move_to(self, tables: NDArray[np.void], rows: Sequence[int]) -> None:
        """Move the blocks to the given rows of a table."""
        for k, row in enumerate(rows):
            tables[row] = self.blocks[k][0]
            self.blocks[k] = tables[row : row + 1]

    @property
    def sizes(self) -> list[float]:
        """Error of each block at the last evaluation [m or rad]."""
        return [float(block["error"][0]) for block in self.blocks]

    def errors(self, sizes: Sequence[float] | None = None) -> dict[str, float]:
        """Return errors by name; default: those of the last evaluation."""
        kinds = [ERROR[int(block["kind"][0])] for block in self.blocks]
        return dict(zip(kinds, self.sizes if sizes is None else sizes, strict=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, priority={self.priority})"


class PoseTask(KinematicTask):
    """Pose task: a frame on a body, or a point of it, at a target position and orientation.

    Attributes:
        link: the frame. target: X_WF, settable; a position alone for a task without orientation.
    """

    def __init__(
        self,
        link: Link,
        position: str,
        orientation: str,
        priority: int,
        weight: float,
        rotation_weight: float,
    ) -> None:
        super().__init__(link.name, priority, weight)
        self.link = link
        kinds = {}
        for kind, axes_used, factor in (
            (POSITION, axes_of(link.name, "position", position), 1.0),
            (
                ORIENTATION,
                axes_of(link.name, "orientation", orientation),
                checked_weight(link.name, rotation_weight),
            ),
        ):
            if any(axes_used):
                block = kinds[kind] = self._block(kind, self.weight * factor, axes_used)
                block["body"], block["place"] = link.body, link.placement.p
                block["rotation"] = link.placement.R.ravel()
                block["target_rotation"] = np.eye(3).ravel()
        if not kinds:
            raise ModelError(
                f"task {link.name!r} has neither a position nor an orientation; expected axes of "
                f'one of them, as position="xyz"'
            )

    @property
    def target(self) -> Transform:
        """Target pose X_WF of the frame."""
        of = {int(block["kind"][0]): block for block in self.blocks}
        R = of[ORIENTATION]["target_rotation"][0].reshape(3, 3) if ORIENTATION in of else np.eye(3)
        p = of[POSITION]["target"][0] if POSITION in of else np.zeros(3)
        return Transform(R.copy(), p.copy())

    @target.setter
    def target(self, value: Transform | ArrayLike) -> None:
        """Set the target of the task."""
        # checked before anything is written: a task never has half of a target
        parts = []
        for block in self.blocks:
            if block["kind"][0] == POSITION:
                p = value.p if isinstance(value, Transform) else value
                parts.append((block, "target", checked_point(self.name, p)))
            elif isinstance(value, Transform):
                parts.append((block, "target_rotation", checked_rotation(self.name, value.R)))
            else:
                raise ModelError(
                    f"target of {self.name!r} is {value!r}; expected a Transform, or three numbers "
                    f'of a task for a position alone: orientation=""'
                )
        for block, column, numbers in parts:
            block[column] = numbers


class CentreTask(KinematicTask):
    """Task of the centre of mass of a robot, or of everything.

    Attributes:
        target: [m], shape (3,), settable.
    """

    def __init__(self, name: str, root: int, axes: str, priority: int, weight: float) -> None:
        super().__init__(name, priority, weight)
        axes_used = axes_of(name, "axes", axes)
        if not any(axes_used):
            raise ModelError(f'task {name!r} has no axes; expected some of them, as axes="xy"')
        self._block(CENTRE, self.weight, axes_used)["body"] = root

    @property
    def target(self) -> Array:
        """Target of the centre of mass [m]."""
        return self.blocks[0]["target"][0].copy()

    @target.setter
    def target(self, value: ArrayLike) -> None:
        """Set the target of the task."""
        self.blocks[0]["target"] = checked_point(self.name, value)


class GazeTask(KinematicTask):
    """Gaze task: an axis of a body that points at a target.

    Attributes:
        link: the frame of the axis. target: [m], shape (3,), settable.
    """

    def __init__(self, link: Link, axis: ArrayLike, priority: int, weight: float) -> None:
        super().__init__(link.name, priority, weight)
        self.link = link
        a = checked_point(link.name, axis, "axis")
        if not np.linalg.norm(a) > 1e-12:
            raise ModelError(f"axis of the gaze of {link.name!r} is zero; expected a direction")
        block = self._block(GAZE, self.weight, (1, 1, 0))
        block["body"], block["place"] = link.body, link.placement.p
        block["rotation"] = z_to(link.placement.R @ a).T.ravel()

    @property
    def target(self) -> Array:
        """Target of the gaze [m]."""
        return self.blocks[0]["target"][0].copy()

    @target.setter
    def target(self, value: ArrayLike) -> None:
        """Set the target of the task."""
        self.blocks[0]["target"] = checked_point(self.name, value)


class PostureTask(KinematicTask):
    """Posture task: joints near a pose.

    Attributes:
        joints: their names. target: {joint: position [rad or m]}, settable, or a configuration of
            the model.
        q: target configuration, a row of the kernels' table; quaternions for spherical joints.
        dofs: degrees of freedom, one per row; after that of a spherical joint, the index of its
            quaternion, as −2 − index.
    """

    def __init__(self, model: Model, joints: list[str], priority: int, weight: float) -> None:
        super().__init__("posture", priority, weight)
        self.model, self.joints = model, joints
        self.q = model.initial()
        self.dofs: list[int] = []
        body = model.arrays.body
        for name in joints:
            k, at = model.v_index(name), model.q_index(name)
            i = int(np.flatnonzero((body["v_start"] == k) & (body["v_end"] > k))[0])
            if body["kind"][i] == FLOATING:
                raise ModelError(
                    f"a posture names {name!r}, which floats; expected joints: "
                    f"give the body a pose task"
                )
            spherical = body["kind"][i] == SPHERICAL
            self.dofs += [k, -2 - at, -2 - at] if spherical else range(k, int(body["v_end"][i]))
        if not self.dofs:
            raise ModelError("a posture has no joints; expected some that may move")
        block = self._block(POSTURE, self.weight)
        block["count"] = len(self.dofs)

    def use(self, row: Array) -> None:
        """Store the target in a row of the kernels' table."""
        row[:] = self.q
        self.q = row

    @property
    def target(self) -> dict[str, float | Array]:
        """Target positions of the joints, by name."""
        positions: dict[str, float | Array] = {}
        for name in self.joints:
            at = self.model.q_index(name)
            count = {"spherical": 4, "planar": 3}.get(self.model.joint_kind(name), 1)
            positions[name] = float(self.q[at]) if count == 1 else self.q[at : at + count].copy()
        return positions

    @target.setter
    def target(self, value: Mapping[str, Any] | ArrayLike) -> None:
        """Set the target; joints that it does not name keep theirs."""
        if not isinstance(value, Mapping):
            self.q[:] = self.model.check_configuration(value)
            return
        new = []
        for name, position in value.items():
            if name not in self.joints:
                raise unknown("joint", name, "the posture", self.joints)
            numbers = np.atleast_1d(np.asarray(position, float))
            kind = self.model.joint_kind(name)
            count = {"spherical": 4, "planar": 3}.get(kind, 1)
            length = float(np.linalg.norm(numbers))
            if numbers.shape != (count,) or not np.isfinite(length):
                raise ModelError(
                    f"a posture puts joint {name!r} ({kind}) at {position!r}; "
                    f"expected {count} finite number{'s' * (count > 1)}"
                )
            if count == 4 and abs(length - 1) > 1e-6:
                raise ModelError(
                    f"a posture puts joint {name!r} at a quaternion of length {length:g}; "
                    f"expected 1 (w, x, y, z)"
                )
            new.append((self.model.q_index(name), numbers))
        for at, numbers in new:
            self.q[at : at + len(numbers)] = numbers


def axes_of(owner: str, what: str, axes: str) -> tuple[int, int, int]:
    """Return 1 for each named axis, else 0."""
    if not isinstance(axes, str) or not set(axes) <= set("xyz"):
        raise ModelError(
            f"{what} of task {owner!r} is {axes!r}; expected axes of the world, "
            f'"xyz" or some of these, "" for none'
        )
    return int("x" in axes), int("y" in axes), int("z" in axes)


def checked_weight(owner: str, weight: float) -> float:
    """Return a valid weight, or raise an error that names its task."""
    if isinstance(weight, (int, float, np.number)) and 0 < weight < np.inf:
        return float(weight)
    raise ModelError(f"weight of task {owner!r} is {weight!r}; expected a finite number > 0")


def checked_point(owner: str, value: ArrayLike, what: str = "target") -> Array:
    """Return three finite numbers, or raise an error that names their task."""
    try:
        p = np.asarray(value, float)
    except (TypeError, ValueError):
        p = np.empty(0)
    if p.shape != (3,) or not np.isfinite(p).all():
        reported = p.tolist() if p.size else repr(value)
        unit = " in metres" if what == "target" else ""
        raise ModelError(f"{what} of {owner!r} is {reported}; expected three finite numbers{unit}")
    return p


def checked_rotation(owner: str, R: Array) -> Array:
    """Return a rotation row by row, or raise an error that names its task."""
    R = np.asarray(R, float)
    if R.shape != (3, 3) or not np.abs(R @ R.T - np.eye(3)).max() < 1e-6 or np.linalg.det(R) < 0:
        raise ModelError(
            f"target of {owner!r} has {R.tolist()} for its rotation; expected a rotation matrix"
        )
    return R.ravel()
