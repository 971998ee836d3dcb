"""Bonds that are made and released while a simulation runs: grasps and closed chains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi._renamed import RenamedAttribute
from tabi.contact.bonds.bond_rows import LEVER
from tabi.model.arrays import table
from tabi.model.body import Closure
from tabi.model.compiled import Link
from tabi.simulation.pushes import vector
from tabi.spatial.transform import Transform
from tabi.step.data import Data
from tabi.step.rows.bonds import BOND, KINDS
from tabi.step.stepper import Stepper
from tabi.step.tables import BONDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bond:
    """A bond of two bodies.

    Attributes:
        kind: "weld", "ball" or "hinge". a, b: names of the bodies.
    """

    kind: str
    a: str
    b: str
    _stepper: Stepper
    _data: Data
    _name: int

    held = RenamedAttribute("is_active")

    @property
    def is_active(self) -> bool:
        """Whether the bond is not released yet."""
        return bool((self._stepper.part_memory("bonds")["name"] == self._name).any())

    @property
    def force(self) -> Array:
        """Force on body a in the last step, in the world's axes [N]."""
        return self._row(0)

    @property
    def torque(self) -> Array:
        """Torque on body a about the anchor in the last step, in the world's axes [N·m]."""
        return self._row(1)

    def release(self) -> None:
        """Release the bond; a second time does nothing."""
        bonds = self._stepper.part_memory("bonds")
        self._stepper.set_part_memory("bonds", bonds[bonds["name"] != self._name])

    def _row(self, part: int) -> Array:
        rows = self._data.of_kind(BONDS)
        for row in rows[(rows["shape_a"] == self._name) & (rows["feature"] == part)]:
            if self.is_active:
                return row["impulse"] / self._data.dt
        return np.zeros(3)


def make(
    stepper: Stepper,
    data: Data,
    kind: str,
    links: tuple[Link, Link],
    point: ArrayLike | None,
    axis: ArrayLike | None,
) -> Bond:
    """Make a bond between two bodies in their present poses."""
    if kind not in KINDS:
        raise unknown("bond", str(kind), "tabi", KINDS)
    names, bodies = [link.name for link in links], [link.body for link in links]
    owner = f"{kind} of {names[0]!r} and {names[1]!r}"
    _check(owner, kind, bodies, stepper.part_memory("bonds"), axis)
    X, _ = data.frame(links[0])
    place = X.p if point is None else vector(f"point of the {owner}", point)
    frame = (
        np.eye(3) if axis is None else _frame_around(vector(f"axis of the {owner}", axis), owner)
    )
    places = []
    for body in bodies:
        w, root = data.body[body], data.model.arrays.body["root"][body]
        R, p = w["rotation"].reshape(3, 3), w["position"] + data.body["origin"][root]
        places.append(Transform(R.T @ frame, R.T @ (place - p)))
    return _add(stepper, data, kind, links, places)


def close(stepper: Stepper, data: Data, closure: Closure, links: tuple[Link, Link]) -> Bond:
    """Make a bond of a robot's closed loop, between anchors on its bodies."""
    if closure.kind not in KINDS:
        raise unknown("bond", str(closure.kind), "tabi", KINDS)
    owner = f"{closure.kind} of {links[0].name!r} and {links[1].name!r}"
    _check(owner, "weld", [link.body for link in links], stepper.part_memory("bonds"), None)
    places = [
        link.placement @ X
        for link, X in zip(links, (closure.place_a, closure.place_b), strict=True)
    ]
    return _add(stepper, data, closure.kind, links, places)


def _add(
    stepper: Stepper, data: Data, kind: str, links: tuple[Link, Link], places: list[Transform]
) -> Bond:
    """Add the bond of two anchors, each in the frame of the moving body of its link."""
    row, now = table(1, BOND), stepper.part_memory("bonds")
    if not _has_motion(stepper, data, kind, links, places):
        raise ModelError(
            f"{kind} of {links[0].name!r} and {links[1].name!r} holds nothing: no joint moves the "
            "two against each other there; take another place, or leave it out"
        )
    # numbers rise, so that rows stay sorted, and are never used again
    stepper.last_bond += 1
    row["kind"], row["name"] = KINDS.index(kind), stepper.last_bond
    # the moving body first
    ends = sorted(zip(links, places, strict=True), key=lambda end: end[0].body == 0)
    names = list(data.model.links)
    for side, (link, X) in zip("ab", ends, strict=True):
        row[f"link_{side}"] = names.index(link.name) if link.name in names else -1
        row[side], row[f"place_{side}"], row[f"frame_{side}"] = link.body, X.p, X.R.ravel()
    stepper.set_part_memory("bonds", np.concatenate([now, row]).view(type(now)))
    return Bond(kind, links[0].name, links[1].name, stepper, data, stepper.last_bond)


def _has_motion(
    stepper: Stepper, data: Data, kind: str, links: tuple[Link, Link], places: list[Transform]
) -> bool:
    """Whether some joint moves the anchors of two links against each other, or rotates them where
    the bond is not a ball.
    """
    body, dof = data.model.arrays.body, stepper.workspace.dynamics.dof
    paths: list[set[int]] = []
    for link in links:
        i, path = link.body, set[int]()
        while i:
            path |= set(range(body["v_start"][i], body["v_end"][i]))
            i = body["parent"][i]
        paths.append(path)
    for k in paths[0] ^ paths[1]:
        side = 0 if k in paths[0] else 1
        w = data.body[links[side].body]
        turn, slide = dof["motion"][k][:3], dof["motion"][k][3:]
        arm = w["position"] + w["rotation"].reshape(3, 3) @ places[side].p
        moves = np.linalg.norm(slide + np.cross(turn, arm)) > LEVER
        if moves or (kind != "ball" and turn.any()):
            return True
    return False


def _check(
    owner: str, kind: str, bodies: list[int], now: NDArray[np.void], axis: ArrayLike | None
) -> None:
    """Reject an impossible bond."""
    a, b = bodies
    if a == b:
        what = "that do not move" if a == 0 else "of one rigid body"
        raise ModelError(
            f"{owner} is between two things {what}; "
            "expected two bodies that can move against each other"
        )
    if (((now["a"] == a) & (now["b"] == b)) | ((now["a"] == b) & (now["b"] == a))).any():
        raise ModelError(
            f"{owner} is the second bond of these bodies; release the first one before"
        )
    if (axis is None) != (kind != "hinge"):
        has = "has no axis" if axis is None else "has an axis"
        raise ModelError(f"{owner} {has}; expected an axis for a hinge, and for nothing else")


def _frame_around(axis: Array, owner: str) -> Array:
    """Return a frame with a given third axis."""
    length = np.linalg.norm(axis)
    if not length > 0:
        raise ModelError(f"axis of the {owner} is {axis.tolist()}; expected a direction")
    z = axis / length
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z], float).T
