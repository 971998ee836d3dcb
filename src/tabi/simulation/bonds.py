"""Bodies held together, made and released while the simulation runs: welds, balls, hinges; grasps and closed chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi.model.arrays import table
from tabi.model.body import Body
from tabi.simulation import motors
from tabi.simulation.arrays import BOND
from tabi.simulation.bond_rows import BALL, BONDS, HINGE, WELD

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
KINDS = {"ball": BALL, "weld": WELD, "hinge": HINGE}


@dataclass(frozen=True, eq=False)
class Bond:
    """Two bodies that are held together.

    Attributes:
        kind: "weld", "ball" or "hinge". a, b: names of the bodies.
    """

    kind: str
    a: str
    b: str
    _sim: Simulator
    _name: int

    @property
    def held(self) -> bool:
        """Whether it still holds."""
        return bool((self._sim._memory.bond["name"] == self._name).any())

    @property
    def force(self) -> Array:
        """On a, in the world's axes, in the last step [N]."""
        return self._row(0)

    @property
    def torque(self) -> Array:
        """On a, about the place where it is held, in the world's axes, in the last step [N·m]."""
        return self._row(1)

    def release(self) -> None:
        """Let go; a second time does nothing."""
        sim = self._sim
        sim._memory = sim._memory._replace(bond=sim._memory.bond[sim._memory.bond["name"] != self._name])

    def _row(self, part: int) -> Array:
        memory = self._sim._memory
        place = np.flatnonzero(memory.bond["name"] == self._name)
        touch = memory.touch[: memory.count[0]]
        for row in touch[(touch["shape_a"] >= BONDS) & (touch["feature"] == part)]:
            if place.size and row["shape_a"] == BONDS + place[0]:
                return row["impulse"] / self._sim.dt
        return np.zeros(3)


def make(sim: Simulator, kind: str, a: Body | str, b: Body | str, point: ArrayLike | None, axis: ArrayLike | None) -> Bond:
    """A new bond between two bodies where they are now."""
    if kind not in KINDS:
        raise unknown("kind of bond", str(kind), "tabi", list(KINDS))
    links = [sim._link(x) for x in (a, b)]
    names, bodies = [link.name for link in links], [link.body for link in links]
    owner = f"{kind} of {names[0]!r} and {names[1]!r}"
    if bodies[0] == bodies[1]:
        what = "that do not move" if bodies[0] == 0 else "of one rigid body"
        raise ModelError(f"{owner} is between two things {what}; expected two bodies that can move against each other")
    now = sim._memory.bond
    if (((now["a"] == bodies[0]) & (now["b"] == bodies[1])) | ((now["a"] == bodies[1]) & (now["b"] == bodies[0]))).any():
        raise ModelError(f"{owner} is the second bond of these bodies; release the first one before")
    if (axis is None) != (kind != "hinge"):
        raise ModelError(f"{owner} {'has no axis' if axis is None else 'has an axis'}; expected an axis for a hinge, and for nothing else")
    place = sim.pose(a).p if point is None else motors.vector(f"point of the {owner}", point)
    frame = np.eye(3) if axis is None else _around(motors.vector(f"axis of the {owner}", axis), owner)
    # the one that moves first
    ends = sorted(zip(bodies, links, strict=True), key=lambda end: end[0] == 0)
    row = table(1, BOND)
    row["kind"], row["name"] = KINDS[kind], sim._bonds_made
    sim._bonds_made += 1
    for side, (body, _) in zip("ab", ends, strict=True):
        w = sim._room.dynamics.body[body]
        R, p = w["rotation"].reshape(3, 3), w["position"] + sim._room.dynamics.body["origin"][sim.model.arrays.body["root"][body]]
        row[side], row[f"place_{side}"], row[f"frame_{side}"] = body, R.T @ (place - p), (R.T @ frame).ravel()
    sim._memory = sim._memory._replace(bond=np.concatenate([now, row]).view(type(now)))
    return Bond(kind, names[0], names[1], sim, int(row["name"][0]))


def _around(axis: Array, owner: str) -> Array:
    """A frame whose third axis is the one given."""
    length = np.linalg.norm(axis)
    if not length > 0:
        raise ModelError(f"axis of the {owner} is {axis.tolist()}; expected a direction")
    z = axis / length
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z], float).T
