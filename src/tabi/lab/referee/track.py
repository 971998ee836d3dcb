"""A run of any engine as the referee sees it:
what is drawn from states and contacts, by the same formulas for every engine.

An engine gives tabi's q and v after each step, and the contacts that acted during it: body a, body
b (moving bodies, 0 is the world), where, the force on a, and the gap when the step began.
Everything else is computed here, so that no engine is measured by its own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tabi.model.lookup import link_of
from tabi.recording import anatomy, tracks
from tabi.recording.anatomy import Anatomy
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# rows whose motion is computed at a time
BATCH = 500


class Row(NamedTuple):
    """A state, and the contacts of the step that led to it."""

    q: Array
    v: Array
    body_a: NDArray[np.int64]
    body_b: NDArray[np.int64]
    point: Array
    force: Array
    gap: Array


class Engine(Protocol):
    """Interface of an engine to the referee.

    Attributes:
        name: as it is written.
        version: of its package.
        settings: of the run.
        notes: differences from tabi, in sentences.
        seconds: of the clock, of each step, without controllers.
    """

    name: str
    version: str
    settings: dict[str, Any]
    notes: list[str]
    seconds: list[float]

    def step(self) -> None:
        """One step; raises a ``TabiError`` in one sentence where it breaks down."""
        ...

    def row(self) -> Row:
        """Return the state, and the contacts of the last step."""
        ...


@dataclass(eq=False)
class Watched:
    """Quantities recorded in a world, the same for all engines.

    Attributes:
        world: how bodies hang together; its links are the moving bodies themselves.
        names: of bodies whose paths are compared.
        body, place: the moving body of each and where on it [m].
        bases: by robot, place among ``names`` or None, and the height that is a fall [m].
    """

    world: Anatomy
    names: list[str]
    body: NDArray[np.int64]
    place: Array
    bases: dict[str, tuple[int, float]]


def watched(sim: Simulator, bodies: Mapping[str, Any]) -> Watched:
    """Bodies by their names, and behind them the bases of floating robots that are not
    among them.
    """
    bodies, bases = dict(bodies), {}
    for robot in sim.world.robots:
        if robot.base.joint.kind == "floating":
            bodies.setdefault(robot.name, robot.base)
            bases[robot.name] = (
                list(bodies).index(robot.name),
                sim.world.ground_height + 0.5 * robot.base_height,
            )
    links = [link_of(sim.world, sim.model, body) for body in bodies.values()]
    known = anatomy.of(sim.world, sim.model)
    world = replace(known, link=np.arange(len(known.robot)))
    places = np.array([link.placement.p for link in links]).reshape(-1, 3)
    return Watched(
        world, list(bodies), np.array([link.body for link in links], np.int64), places, bases
    )


@dataclass(eq=False)
class Track:
    """Columns of a run, one row a step and the start before them.

    Attributes:
        position: of watched bodies [m], (n, bodies, 3).
        foot: of the feet's origins [m], (n, feet, 3).
        wrench: on the feet, force and torque in the world's axes [N, N·m], (n, feet, 6).
        pressure: where it acts in the foot [m], NaN without load.
        ground: force of all that never moves on all that does [N], (n, 3).
        penetration: deepest overlap [m].
        energy: kinetic and potential [J].
    """

    watched: Watched
    _rows: list[Row] = field(default_factory=list)
    _parts: list[dict[str, Array]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Append the next row."""
        self._rows.append(row)
        if len(self._rows) >= BATCH:
            self._reduce()

    def columns(self) -> dict[str, Array]:
        """All rows so far, by the names of the attributes."""
        if self._rows:
            self._reduce()
        return {
            name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]
        }

    def _reduce(self) -> None:
        rows, self._rows = self._rows, []
        see, world, n = self.watched, self.watched.world, len(rows)
        q, v = np.array([row.q for row in rows]), np.array([row.v for row in rows])
        count = np.array([len(row.gap) for row in rows], np.int64)
        touch = {
            name: np.concatenate([getattr(row, name) for row in rows])
            for name in ("body_a", "body_b", "point", "force", "gap")
        }
        # scenes in which contacts resist turning are refused
        touch["moment"] = np.zeros((len(touch["gap"]), 3))
        motion = tracks.motion(world, q, v)
        kinetic, potential = tracks.energy(world, motion, q, v)
        loads = tracks.of_contacts(world, motion, count, touch)
        arms = np.einsum("bnij,bj->nbi", motion.rotation[see.body], see.place)
        at = np.repeat(np.arange(n), count)
        ground, least = np.zeros((n, 3)), np.zeros(n)
        np.minimum.at(least, at, touch["gap"])
        for body, other, sign in (("body_a", "body_b", 1.0), ("body_b", "body_a", -1.0)):
            bears = (touch[other] == 0) & (touch[body] != 0)
            np.add.at(ground, at[bears], sign * touch["force"][bears])
        self._parts.append(
            {
                "position": motion.position[see.body].swapaxes(0, 1) + arms,
                "foot": tracks.foot_frames(world, motion)[0].swapaxes(0, 1),
                "wrench": loads["wrench"],
                "pressure": loads["pressure"],
                "ground": ground,
                "penetration": np.abs(least),
                "energy": kinetic + potential,
            }
        )
