"""How bodies touch each other over a recording: loads, and the ways they slide and creep.

For a body in a row, over the points e that press on it, with normal forces f_e and the way d_e that
the two surfaces went along each other during the step (or since the row before, where rows are
further apart),

    load = Σ f_e,   way = Σ f_e |d_e| / Σ f_e                                                (1)
Ways of rows in which a point slips add up to the slip, those of rows in which all points stick to
the creep. Faster than ``BELT`` nothing creeps: what sticks and moves is carried by a surface that
runs, which recordings do not keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording import tracks
from tabi.recording.recorded import Recorded

Array = NDArray[np.float64]
# rows whose motion is computed at a time
BATCH = 4000
BELT = 1e-3
# seconds without a touch that are no lifting off, and the share of its peak from
# which a load counts
BRIEF, SHARE = 5e-3, 0.05
SLIP = 2


@dataclass(frozen=True, eq=False)
class Touches:
    """Moving bodies that touch something, k of them, in n rows.

    Attributes:
        bodies: their places among the moving bodies. load [N], way [m] of (1), friction [N]:
            sum of what points bear along the surface, (k, n).
        slips: whether a point slips, (k, n).
            between: seconds from each row to the one before, (n,).
    """

    bodies: NDArray[np.int64]
    load: Array
    way: Array
    friction: Array
    slips: NDArray[np.bool_]
    between: Array

    def row(self, body: int) -> int | None:
        """Where a body stands among them."""
        found = np.flatnonzero(self.bodies == body)
        return int(found[0]) if len(found) else None


def every(run: Recorded) -> int:
    """Steps from row to row."""
    return max(1, round(float(np.median(np.diff(run.time))) / run.dt)) if len(run.time) > 1 else 1


def touches(run: Recorded) -> Touches:
    """All of them."""
    n, world, c = len(run.time), run.world, run.contacts
    pressing = c["status"] > 0
    sides = [world.link[c[side]] for side in ("body_a", "body_b")]
    bodies = np.unique(np.concatenate([body[pressing] for body in sides]))
    bodies = bodies[bodies > 0]
    place = np.full(len(world.body["parent"]), -1)
    place[bodies] = np.arange(len(bodies))
    normal = (c["normal"] * c["force"]).sum(axis=1)
    along = np.linalg.norm(c["force"] - c["normal"] * normal[:, None], axis=1)
    row, went = np.repeat(np.arange(n), run.contact_count), _ways(run, sides)
    shape = (len(bodies), n)
    load, way, friction = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    slips = np.zeros(shape, bool)
    for body in sides:
        own = np.flatnonzero(pressing & (body > 0))
        at = (place[body[own]], row[own])
        np.add.at(load, at, normal[own])
        np.add.at(way, at, normal[own] * went[own])
        np.add.at(friction, at, along[own])
        np.logical_or.at(slips, at, c["status"][own] == SLIP)
    between = np.diff(run.time, prepend=run.time[:1])
    if every(run) > 1:
        # of what happened between rows that are far apart only the two ends are known
        there, slid = load > 0, slips.copy()
        way[:, 1:] *= there[:, :-1]
        slips[:, 1:] |= slid[:, :-1] & there[:, 1:]
    return Touches(bodies, load, way / np.where(load > 0, load, 1.0), friction, slips, between)


def _ways(run: Recorded, sides: list[NDArray[np.int64]]) -> Array:
    """|d_e| of (1) of all contacts [m]; zero in the first row, which has none before it."""
    ends = np.concatenate([[0], np.cumsum(run.contact_count)])
    found = np.zeros(len(run.contacts["gap"]))
    for start in range(1, len(run.time), BATCH):
        end = min(start + BATCH, len(run.time))
        some = slice(int(ends[start]), int(ends[end]))
        if some.start == some.stop:
            continue
        moved = tracks.motion(run.world, run.q[start - 1 : end])
        now = np.repeat(np.arange(1, end - start + 1), run.contact_count[start:end])
        x, normal = run.contacts["point"][some], run.contacts["normal"][some]
        # points are those of a step's beginning:
        # of the row before if every step has a row, else nearly of the row itself
        ago, then = (now - 1, now) if every(run) == 1 else (now, now - 1)
        d = np.zeros_like(x)
        for body, sign in zip(sides, (1.0, -1.0), strict=True):
            b = body[some]
            inside = np.einsum("eji,ej->ei", moved.rotation[b, ago], x - moved.position[b, ago])
            d += sign * (
                np.einsum("eij,ej->ei", moved.rotation[b, then], inside) + moved.position[b, then]
            )
        found[some] = np.linalg.norm(d - normal * (normal * d).sum(axis=1, keepdims=True), axis=1)
    return found


def summary(found: Touches, k: int) -> dict[str, Any]:
    """Figures of the k-th of them."""
    load, way, slips, between = found.load[k], found.way[k], found.slips[k], found.between
    there = load > 0
    creeps = there & ~slips & (way <= BELT * between)
    heavy = load > SHARE * load.max(initial=0.0)
    return {
        "peak_load_n": float(load.max(initial=0.0)),
        "mean_load_n": float(load[there].mean()) if there.any() else 0.0,
        "touching_s": float(between[there].sum()),
        "slip_m": float(way[slips].sum()),
        "creep_m": float(way[creeps].sum()),
        "carried_m": float(way[there & ~slips & ~creeps].sum()),
        "friction_used": float((found.friction[k][heavy] / load[heavy]).max(initial=0.0)),
    }


def spans(holds: NDArray[np.bool_], time: Array, brief: float = BRIEF) -> list[tuple[int, int]]:
    """First and last rows of the times when something holds;
    interruptions that are brief [s] do not count.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(int)))
    found: list[tuple[int, int]] = []
    for start, end in zip(edges[::2], edges[1::2] - 1, strict=True):
        if found and time[start] - time[found[-1][1]] <= brief:
            found[-1] = (found[-1][0], int(end))
        else:
            found.append((int(start), int(end)))
    return found
