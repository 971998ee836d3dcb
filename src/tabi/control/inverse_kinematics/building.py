"""The tables of inverse kinematics from a model and its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.control.inverse_kinematics.tables import BLOCK, CENTRE, FOLD, POSTURE, TaskTables
from tabi.control.inverse_kinematics.tasks import KinematicTask, PostureTask
from tabi.model.arrays import SPHERICAL, table
from tabi.model.compiled import Model

Array = NDArray[np.float64]
# how far joints without limits are turned or moved to start again [rad or m]
WIDE = np.pi


def locked_dofs(model: Model, names: Iterable[str]) -> set[int]:
    """Return the degrees of freedom of locked joints; with a follower its leader is locked."""
    body, locked = model.arrays.body, set()
    for name in names:
        k = model.v_index(name)
        i = int(np.flatnonzero((body["v_start"] == k) & (body["v_end"] > k))[0])
        locked |= set(range(k, int(body["v_end"][i])))
    for follower, (leader, _, _) in leaders(model).items():
        locked |= {leader} if follower in locked else set()
    return locked


def leaders(model: Model) -> dict[int, tuple[int, float, float]]:
    """Return for each follower the joint at the head of its chain, with ratio and offset towards
    it.
    """
    rows = {int(row["follower"]): row for row in model.arrays.mimic}
    heads = {}
    for follower in rows:
        k, ratio, offset = follower, 1.0, 0.0
        for _ in rows:
            if k not in rows:
                break
            row = rows[k]
            offset += ratio * float(row["offset"])
            ratio *= float(row["ratio"])
            k = int(row["leader"])
        heads[follower] = (k, ratio, offset)
    return heads


def limits(model: Model) -> tuple[Array, Array, Array]:
    """Return limits of positions and velocities; those of leaders include the limits of their
    followers.
    """
    dof = model.arrays.dof
    lower, upper, speed = (dof[c].copy() for c in ("lower", "upper", "velocity_limit"))
    unlimited = dof["q"] < 0
    lower[unlimited], upper[unlimited] = -np.inf, np.inf
    for follower, (leader, ratio, offset) in leaders(model).items():
        if ratio == 0.0:
            continue
        ends = sorted((x - offset) / ratio for x in (lower[follower], upper[follower]))
        low, high = max(lower[leader], ends[0]), min(upper[leader], ends[1])
        if low > high:
            raise ModelError(
                f"joint {model.dof_name(follower)!r} follows {model.dof_name(leader)!r} and has no "
                f"position within the limits of both; expected limits that overlap"
            )
        lower[leader], upper[leader] = low, high
        speed[leader] = min(speed[leader], speed[follower] / abs(ratio))
    return lower, upper, speed


def build(
    model: Model,
    tasks: Sequence[KinematicTask],
    locked: set[int],
    counts: tuple[float, int, int, int],
) -> TaskTables:
    """Tables with the tasks in the order of their priorities; tasks live in them from now on."""
    block, levels, postures, dofs = _blocks(model, tasks)
    n, rows, size = model.v_count, int(levels[-1]), model.q_count
    chains = leaders(model)
    fold = table(len(chains), FOLD)
    for row, (follower, (leader, ratio, _)) in zip(fold, chains.items(), strict=True):
        row["follower"], row["leader"], row["ratio"] = follower, leader, ratio
    moves = _support(model, block, dofs, chains, rows)
    moves[[*chains, *locked]] = False
    free = np.flatnonzero(moves.any(axis=1))
    touching, touched, pair, shared = _threes(moves)
    lower, upper, speed = limits(model)
    tolerance, iterations, restarts, seed = counts
    return TaskTables(
        block=block,
        fold=fold,
        levels=levels,
        posture_dof=dofs,
        postures=postures,
        free=free,
        lower=lower,
        upper=upper,
        speed=speed,
        touching=touching,
        touched=touched,
        pair=pair,
        shared=shared,
        starts=_starts(model, lower, upper, restarts, seed),
        settings=np.array([tolerance, iterations]),
        **{name: np.zeros(rows) for name in ("e", "e_trial", "e_fixed", "r", "y", "damping")},
        B=np.zeros((n, rows)),
        G=np.zeros((rows, rows)),
        L=np.zeros((rows, rows)),
        **{name: np.zeros(n) for name in ("x", "v", "w")},
        low=np.full(n, -np.inf),
        high=np.full(n, np.inf),
        state=np.zeros(n, np.int64),
        **{name: np.zeros(size) for name in ("q", "best", "trial")},
        cost=np.zeros(len(levels)),
        ended=np.zeros(len(levels), np.int64),
        share=np.zeros(model.body_count + 1),
        first=np.zeros((model.body_count + 1, 3)),
        out=np.zeros(3, np.int64),
    )


def _blocks(
    model: Model, tasks: Sequence[KinematicTask]
) -> tuple[NDArray[np.void], NDArray[np.int64], Array, NDArray[np.int64]]:
    """Return blocks by priority, the ends of levels, targets of postures, and the degrees of
    freedom of their rows.
    """
    order = sorted(tasks, key=lambda task: task.priority)
    block = table(sum(len(task.blocks) for task in order), BLOCK)
    postures = np.zeros((sum(isinstance(t, PostureTask) for t in order), model.q_count))
    dofs: list[int] = []
    levels: list[int] = []
    at, posture, last = 0, 0, -1
    for task in order:
        task.move_to(block, range(at, at + len(task.blocks)))
        if task.priority != last:
            levels.append(len(dofs))
        last = task.priority
        for row in block[at : at + len(task.blocks)]:
            row["row"], row["level"] = len(dofs), len(levels) - 1
            if isinstance(task, PostureTask):
                row["posture"] = posture
                task.use(postures[posture])
                posture += 1
                dofs += task.dofs + [-1] * (-len(task.dofs) % 3)
            else:
                dofs += [-1] * 3
            levels[-1] = len(dofs)
        at += len(task.blocks)
    return block, np.array(levels, np.int64), postures, np.array(dofs, np.int64)


def _support(
    model: Model,
    block: NDArray[np.void],
    dofs: NDArray[np.int64],
    chains: dict[int, tuple[int, float, float]],
    rows: int,
) -> NDArray[np.bool_]:
    """Return which rows each column moves, shape (columns, rows); for a leader also those of its
    followers.
    """
    body, moves = model.arrays.body, np.zeros((model.v_count, rows), bool)
    for b in block:
        block_rows = slice(int(b["row"]), int(b["row"] + b["count"]))
        if b["kind"] == CENTRE:
            for i in range(1, len(body)):
                if b["body"] in (0, body["root"][i]):
                    moves[body["v_start"][i] : body["v_end"][i], block_rows] = True
        elif b["kind"] == POSTURE:
            for row in range(block_rows.start, block_rows.stop):
                k = dofs[row]
                if k >= 0 and model.arrays.dof["q"][k] >= 0:
                    moves[k, row] = True
                elif k >= 0:
                    moves[k : k + 3, row : row + 3] = True
        else:
            i = int(b["body"])
            while i:
                moves[body["v_start"][i] : body["v_end"][i], block_rows] = True
                i = int(body["parent"][i])
    for follower, (leader, _, _) in chains.items():
        moves[leader] |= moves[follower]
    return moves


def _threes(moves: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
    """Compute ``touching``, ``touched``, ``pair`` and ``shared`` of the tables."""
    threes: Any = moves.reshape(len(moves), -1, 3).any(axis=2)
    touched = threes.sum(axis=1)
    touching = np.zeros((len(moves), max(1, int(touched.max(initial=0)))), np.int64)
    for k, row in enumerate(threes):
        touching[k, : touched[k]] = 3 * np.flatnonzero(row)
    both = [
        np.flatnonzero(threes[:, a] & threes[:, b])
        for a in range(threes.shape[1])
        for b in range(a + 1)
    ]
    pair = np.cumsum([0, *map(len, both)])
    return touching, touched.astype(np.int64), pair.astype(np.int64), np.concatenate(both)


def _starts(model: Model, lower: Array, upper: Array, count: int, seed: int) -> Array:
    """Return random configurations to restart from: joints anywhere within their limits."""
    rng, dof, body = np.random.default_rng(seed), model.arrays.dof, model.arrays.body
    starts = np.tile(model.neutral(), (count, 1))
    single = np.flatnonzero(dof["q"] >= 0)
    low = np.where(np.isfinite(lower), lower, np.minimum(-WIDE, upper - WIDE))[single]
    high = np.where(np.isfinite(upper), upper, np.maximum(WIDE, lower + WIDE))[single]
    starts[:, dof["q"][single]] = rng.uniform(low, high, (count, len(single)))
    for i in np.flatnonzero(body["kind"] == SPHERICAL):
        if i:
            Q = rng.normal(size=(count, 4))
            at = int(body["q_start"][i])
            starts[:, at : at + 4] = Q / np.linalg.norm(Q, axis=1)[:, None]
    return starts
