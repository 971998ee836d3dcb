"""Anatomy of a world, so that its recording can be played by itself:
how bodies hang together, their masses, feet and robots.

Everything is counted by moving bodies, 0 is the world, as in ``tabi.model.arrays``; names of links
are kept beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.arrays import BODY, DOF, FLOATING, PLANAR, SPHERICAL
from tabi.model.compiled import Model
from tabi.model.lookup import link_of
from tabi.model.world import World
from tabi.recording.hdf5 import write_texts

Array = NDArray[np.float64]
# columns of the model's tables that are kept, and how wide they are
BODIES = (
    "parent",
    "root",
    "kind",
    "q_start",
    "v_start",
    "v_end",
    "rotation",
    "offset",
    "mass",
    "centre",
    "inertia",
)
DOFS = ("armature", "stiffness", "rest", "effort_limit", "q")
# columns that older files do not have, and what is read for them there: ends of travel, dampers,
# gains of the motors as built, and whether a joint stays whatever torque that takes
LATER = {
    "lower": -np.inf,
    "upper": np.inf,
    "damping": np.nan,
    "kp": np.nan,
    "kd": np.nan,
    "prescribed": 0,
}
Q_COUNT = {SPHERICAL: 4, PLANAR: 3, FLOATING: 7}


@dataclass(frozen=True, eq=False)
class Feet:
    """Feet of all robots.

    Attributes:
        names: as in the model.
        body: the moving body of each.
        rotation, position: X_BF.
        robot: whose they are, by their place in robot_names.
        outlines: polygons in the plane of each foot [m].
    """

    names: list[str]
    body: NDArray[np.int64]
    rotation: Array
    position: Array
    robot: NDArray[np.int64]
    outlines: list[Array]


@dataclass(frozen=True, eq=False)
class Anatomy:
    """Structure of a world.

    Attributes:
        body, dof: columns of the model's tables by name, see BODIES, DOFS, LATER. gravity [m/s²].
        joint_of: name of the joint that each degree of freedom belongs to.
        robot_names: in their order.
        robot: of each moving body its robot, −1 for objects and the world.
        link: the moving body of each of the recording's body_names. feet: of all robots.
    """

    body: dict[str, NDArray[Any]]
    dof: dict[str, NDArray[Any]]
    gravity: Array
    joint_of: list[str]
    robot_names: list[str]
    robot: NDArray[np.int64]
    link: NDArray[np.int64]
    feet: Feet

    @property
    def q_count(self) -> int:
        """Number of position coordinates."""
        kinds = self.body["kind"][1:]
        return int(sum(Q_COUNT.get(int(kind), 1) for kind in kinds))

    @property
    def v_count(self) -> int:
        """Number of velocity coordinates."""
        return len(self.joint_of)


def of(world: World, model: Model) -> Anatomy:
    """Return the anatomy of a simulation's world, with its parameters as they are now."""
    robot = np.full(model.body_count + 1, -1)
    owners = []
    for k, robot_ in enumerate(world.robots):
        for body in robot_.bodies:
            place = link_of(world, model, body).body
            if place:
                robot[place] = k
        owners += [k] * len(robot_.feet)
    soles = list(model.feet.values())
    feet = Feet(
        names=[sole.name for sole in soles],
        body=np.array([sole.body for sole in soles], np.int64),
        rotation=np.array([sole.placement.R for sole in soles]).reshape(-1, 3, 3),
        position=np.array([sole.placement.p for sole in soles]).reshape(-1, 3),
        robot=np.array(owners, np.int64),
        outlines=[np.array(sole.polygon) for sole in soles],
    )
    return Anatomy(
        body={name: np.ascontiguousarray(model.arrays.body[name]) for name in BODIES},
        dof={name: np.ascontiguousarray(model.arrays.dof[name]) for name in (*DOFS, *LATER)},
        gravity=np.array(model.arrays.gravity),
        joint_of=[model.dof_name(k) for k in range(model.v_count)],
        robot_names=[robot_.name for robot_ in world.robots],
        robot=robot,
        link=np.array([link.body for link in model.links.values()], np.int64),
        feet=feet,
    )


def write(group: Any, a: Anatomy) -> None:
    """Into a group of an HDF5 file."""
    for name, column in a.body.items():
        group[f"body/{name}"] = column
    for name, column in a.dof.items():
        group[f"dof/{name}"] = column
    group["gravity"], group["robot"], group["link"] = a.gravity, a.robot, a.link
    for name, words in (
        ("joint_of", a.joint_of),
        ("robot_names", a.robot_names),
        ("feet/names", a.feet.names),
    ):
        write_texts(group, name, words)
    for name in ("body", "rotation", "position", "robot"):
        group[f"feet/{name}"] = getattr(a.feet, name)
    group["feet/corners"] = np.array([len(outline) for outline in a.feet.outlines], np.int64)
    group["feet/outlines"] = np.concatenate([np.zeros((0, 2)), *a.feet.outlines])


def read(file: Any, at: str) -> Anatomy:
    """From a file opened by ``hdf5.UntrustedFile``; all that others count by is checked."""
    count, v_count = file.length(f"{at}/body/parent"), file.length(f"{at}/joint_of")
    body = {name: _column(file, f"{at}/body/{name}", BODY[name], count) for name in BODIES}
    dof = _read_dofs(file, at, v_count)
    joint_of, robots = file.texts(f"{at}/joint_of"), file.texts(f"{at}/robot_names")
    names, corners = file.texts(f"{at}/feet/names"), file.integers(f"{at}/feet/corners")
    outlines = file.reals(f"{at}/feet/outlines", (None, 2))
    _check_tree(file, body, count)
    anatomy = Anatomy(
        body,
        dof,
        file.reals(f"{at}/gravity", (3,)),
        joint_of,
        robots,
        file.integers(f"{at}/robot", (count,)),
        file.integers(f"{at}/link"),
        Feet(
            names,
            file.integers(f"{at}/feet/body", (len(names),)),
            file.reals(f"{at}/feet/rotation", (len(names), 3, 3)),
            file.reals(f"{at}/feet/position", (len(names), 3)),
            file.integers(f"{at}/feet/robot", (len(names),)),
            [],
        ),
    )
    file.expect(
        len(corners) == len(names) and (corners >= 0).all() and corners.sum() == len(outlines),
        "the outlines of the feet do not fit them",
    )
    anatomy.feet.outlines.extend(
        np.split(outlines, np.cumsum(corners)[:-1]) if len(corners) else []
    )
    _check_widths(file, body, dof, v_count)
    _check_places(file, anatomy, count)
    return anatomy


def _read_dofs(file: Any, at: str, v_count: int) -> dict[str, NDArray[Any]]:
    """Columns of the degrees of freedom; older files have none of LATER."""
    dof = {
        name: _column(file, f"{at}/dof/{name}", DOF[name], v_count, infinite=name == "effort_limit")
        for name in DOFS
    }
    for name, far in LATER.items():
        path = f"{at}/dof/{name}"
        dof[name] = (
            _column(file, path, DOF[name], v_count, infinite=True)
            if file.has(path)
            else np.full(v_count, far)
        )
    return dof


def _check_tree(file: Any, body: dict[str, NDArray[Any]], count: int) -> None:
    """Check the tree of bodies, and that its joints are of known kinds."""
    file.expect(
        count >= 1
        and (body["parent"][1:] < np.arange(1, count)).all()
        and (body["parent"] >= 0).all(),
        "a body hangs on a later one",
    )
    file.expect(
        np.isin(body["kind"], range(5)).all() and _in(body["root"], count),
        "a joint is of no known kind",
    )


def _check_widths(
    file: Any, body: dict[str, NDArray[Any]], dof: dict[str, NDArray[Any]], v_count: int
) -> None:
    """Check where in q and v each joint has its numbers, and how many."""
    widths = {kind: n - 1 if n in (4, 7) else n for kind, n in Q_COUNT.items()}
    v_width = np.array([0, *(widths.get(int(kind), 1) for kind in body["kind"][1:])])
    q_width = np.array([0, *(Q_COUNT.get(int(kind), 1) for kind in body["kind"][1:])])
    v_fits = np.array_equal(body["v_end"], np.cumsum(v_width)) and np.array_equal(
        body["v_start"], np.cumsum(v_width) - v_width
    )
    file.expect(v_fits and v_width.sum() == v_count, "the velocities do not fit the joints")
    file.expect(
        np.array_equal(body["q_start"], np.cumsum(q_width) - q_width),
        "the positions do not fit the joints",
    )
    file.expect(
        ((dof["q"] >= -1) & (dof["q"] < q_width.sum())).all(), "the positions do not fit the joints"
    )


def _check_places(file: Any, anatomy: Anatomy, count: int) -> None:
    """Check rotations, and the robot and body that things belong to."""
    turns = np.concatenate([anatomy.body["rotation"].ravel(), anatomy.feet.rotation.ravel()])
    file.expect((np.abs(turns) < 1.001).all(), "a rotation is none")
    file.expect(_in(anatomy.link, count) and _in(anatomy.feet.body, count), "a link is on no body")
    file.expect(
        ((anatomy.robot >= -1) & (anatomy.robot < len(anatomy.robot_names))).all()
        and _in(anatomy.feet.robot, len(anatomy.robot_names)),
        "a body is of no robot",
    )


def _column(
    file: Any, name: str, kind: np.dtype, count: int, infinite: bool = False
) -> NDArray[Any]:
    shape = (count, *kind.shape)
    return (
        file.integers(name, shape) if kind.base.kind == "i" else file.reals(name, shape, infinite)
    )


def _in(places: NDArray[Any], count: int) -> bool:
    return bool(((places >= 0) & (places < count)).all())


def refreshed(a: Anatomy, model: Model) -> Anatomy:
    """The same with the masses and springs of now; a run may change them."""
    tables = model.arrays
    body = a.body | {
        name: np.ascontiguousarray(tables.body[name]) for name in ("mass", "centre", "inertia")
    }
    return replace(
        a,
        body=body,
        dof=a.dof
        | {
            name: np.ascontiguousarray(tables.dof[name])
            for name in ("armature", "stiffness", "rest", "damping")
        },
    )
