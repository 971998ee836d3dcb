"""Contacts of bodies over a recording: loads, slip and creep distances.

For a body in a row, over its contact points e with normal forces f_e and the displacement d_e of
the two surfaces along each other during the step (or since the previous row, where rows are further
apart),

    load = Σ f_e,   distance = Σ f_e |d_e| / Σ f_e                                           (1)
Distances of rows in which a point slips add up to the slip, those of rows in which all points stick
to the creep. Faster than ``MAX_CREEP_SPEED`` nothing creeps: a sticking point that moves is carried
by a conveyor, which recordings do not store.
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
MAX_CREEP_SPEED = 1e-3
# interruption of a contact that is not a lift-off [s], and share of its peak from which a load
# counts
MAX_INTERRUPTION_S, MIN_LOAD_SHARE = 5e-3, 0.05
SLIP = 2


@dataclass(frozen=True, eq=False)
class Touches:
    """Moving bodies in contact, k of them, in n rows.

    Attributes:
        bodies: their indices among the moving bodies. load [N], distance [m] of (1), friction
            [N]: sum of the tangential forces, (k, n).
        slips: whether a point slips, (k, n).
            between: seconds from each row to the one before, (n,).
    """

    bodies: NDArray[np.int64]
    load: Array
    distance: Array
    friction: Array
    slips: NDArray[np.bool_]
    between: Array

    def row(self, body: int) -> int | None:
        """Return the index of a body among them, or None."""
        matches = np.flatnonzero(self.bodies == body)
        return int(matches[0]) if len(matches) else None


def steps_per_row(run: Recorded) -> int:
    """Return the number of steps from row to row."""
    return max(1, round(float(np.median(np.diff(run.time))) / run.dt)) if len(run.time) > 1 else 1


def touches(run: Recorded) -> Touches:
    """Return all contacts of a recording by bodies."""
    n, world, c = len(run.time), run.world, run.contacts
    pressing = c["status"] > 0
    sides = [world.link[c[side]] for side in ("body_a", "body_b")]
    bodies = np.unique(np.concatenate([body[pressing] for body in sides]))
    bodies = bodies[bodies > 0]
    place = np.full(len(world.body["parent"]), -1)
    place[bodies] = np.arange(len(bodies))
    normal = (c["normal"] * c["force"]).sum(axis=1)
    along = np.linalg.norm(c["force"] - c["normal"] * normal[:, None], axis=1)
    row, went = np.repeat(np.arange(n), run.contact_count), _slide_distances(run, sides)
    shape = (len(bodies), n)
    load, distance, friction = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    slips = np.zeros(shape, bool)
    for body in sides:
        pressed = np.flatnonzero(pressing & (body > 0))
        at = (place[body[pressed]], row[pressed])
        np.add.at(load, at, normal[pressed])
        np.add.at(distance, at, normal[pressed] * went[pressed])
        np.add.at(friction, at, along[pressed])
        np.logical_or.at(slips, at, c["status"][pressed] == SLIP)
    between = np.diff(run.time, prepend=run.time[:1])
    if steps_per_row(run) > 1:
        # between distant rows only both ends are known
        there, slid = load > 0, slips.copy()
        distance[:, 1:] *= there[:, :-1]
        slips[:, 1:] |= slid[:, :-1] & there[:, 1:]
    return Touches(bodies, load, distance / np.where(load > 0, load, 1.0), friction, slips, between)


def _slide_distances(run: Recorded, sides: list[NDArray[np.int64]]) -> Array:
    """Return |d_e| of (1) of all contacts [m]; zero in the first row, which has no previous one."""
    ends = np.concatenate([[0], np.cumsum(run.contact_count)])
    distances = np.zeros(len(run.contacts["gap"]))
    for start in range(1, len(run.time), BATCH):
        end = min(start + BATCH, len(run.time))
        span = slice(int(ends[start]), int(ends[end]))
        if span.start == span.stop:
            continue
        motion = tracks.motion(run.world, run.q[start - 1 : end])
        now = np.repeat(np.arange(1, end - start + 1), run.contact_count[start:end])
        x, normal = run.contacts["point"][span], run.contacts["normal"][span]
        # points are those of the start of a step:
        # of the previous row if every step has a row, else nearly of the row itself
        ago, then = (now - 1, now) if steps_per_row(run) == 1 else (now, now - 1)
        d = np.zeros_like(x)
        for body, sign in zip(sides, (1.0, -1.0), strict=True):
            b = body[span]
            inside = np.einsum("eji,ej->ei", motion.rotation[b, ago], x - motion.position[b, ago])
            d += sign * (
                np.einsum("eij,ej->ei", motion.rotation[b, then], inside) + motion.position[b, then]
            )
        distances[span] = np.linalg.norm(
            d - normal * (normal * d).sum(axis=1, keepdims=True), axis=1
        )
    return distances


def summary(contacts: Touches, k: int) -> dict[str, Any]:
    """Return the figures of body k."""
    load, distance, slips, between = (
        contacts.load[k],
        contacts.distance[k],
        contacts.slips[k],
        contacts.between,
    )
    there = load > 0
    creeps = there & ~slips & (distance <= MAX_CREEP_SPEED * between)
    heavy = load > MIN_LOAD_SHARE * load.max(initial=0.0)
    return {
        "peak_load_n": float(load.max(initial=0.0)),
        "mean_load_n": float(load[there].mean()) if there.any() else 0.0,
        "touching_s": float(between[there].sum()),
        "slip_m": float(distance[slips].sum()),
        "creep_m": float(distance[creeps].sum()),
        "carried_m": float(distance[there & ~slips & ~creeps].sum()),
        "friction_used": float((contacts.friction[k][heavy] / load[heavy]).max(initial=0.0)),
    }


def spans(
    holds: NDArray[np.bool_], time: Array, brief: float = MAX_INTERRUPTION_S
) -> list[tuple[int, int]]:
    """Return first and last rows of the intervals in which something holds; short interruptions [s]
    are ignored.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(int)))
    intervals: list[tuple[int, int]] = []
    for start, end in zip(edges[::2], edges[1::2] - 1, strict=True):
        if intervals and time[start] - time[intervals[-1][1]] <= brief:
            intervals[-1] = (intervals[-1][0], int(end))
        else:
            intervals.append((int(start), int(end)))
    return intervals
