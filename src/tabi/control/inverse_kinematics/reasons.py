"""Explanation of unreached targets in words: joint limits, a straight limb, other tasks.

At the nearest point no free joint improves the task: its gradient is balanced by constraints,

    B_pᵀ e_p = Σ_h A_hᵀ ν_h + β                                                                 (1)
A_h: rows of tasks of higher priority, and of others of the same; β: of joints at their limits,
pushed outwards. ν is the least-squares solution on the free joints; significant terms name tasks
and joints. If the gradient itself is zero, the error points along a direction in which the limb
cannot move: it is stretched. The joint that bends it is the largest number of the v, in the null
space of the task's rows, that makes

    vᵀ C v,   C_ij = d · (a_i × (a_j × (p − p_j))),  i before j                                (2)
most negative; d: towards the target, a_j, p_j: axis and position of joint j, p: the point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.control.inverse_kinematics.tables import POSITION, TaskTables
from tabi.control.inverse_kinematics.tasks import KinematicTask, PostureTask
from tabi.dynamics.workspace import Workspace
from tabi.model.compiled import Model

Array = NDArray[np.float64]
# significant share of the gradient; tolerance of a joint at its limit [rad or m]
MIN_GRADIENT_SHARE, LIMIT_TOLERANCE = 0.02, 1e-9
# number of listed names
MAX_LISTED = 4
# gradient relative to the error that counts as zero
GRADIENT_TOLERANCE = 1e-4


def explain(
    model: Model, tasks: Sequence[KinematicTask], t: TaskTables, work: Workspace, q: Array
) -> list[str]:
    """Return a sentence for each task that is not at its target; bodies, errors and rows are those
    of q.
    """
    sentences = []
    tolerance = float(t.settings[0])
    for task in tasks:
        if isinstance(task, PostureTask) or max(task.sizes) <= tolerance:
            continue
        limits, against = _constraints(model, tasks, t, task, q)
        reasons = [f"at the limit: {_list(limits)}"] if limits else []
        above = [other.name for other in against if other.priority < task.priority]
        beside = [other.name for other in against if other.priority == task.priority]
        reasons += [f"against it, of higher priority: {_list(above)}"] if above else []
        reasons += [f"against it, of the same priority: {_list(beside)}"] if beside else []
        straight = "" if reasons else _straight_joint(model, t, work, task, q)
        reasons += [f"{straight} straight"] if straight else []
        sentences.append(f"{task.name}: target is {_distance(task)} beyond reach{_colon(reasons)}")
    return sentences


def _list(names: list[str]) -> str:
    """Join the first few names."""
    return ", ".join(names[:MAX_LISTED]) + (
        "" if len(names) <= MAX_LISTED else f" and {len(names) - MAX_LISTED} more"
    )


def _colon(why: list[str]) -> str:
    return f": {'; '.join(why)}" if why else ""


def _distance(task: KinematicTask) -> str:
    units = {"position": "m", "orientation": "rad", "angle": "rad"}
    parts = [f"{size:.3g} {units[kind]}" for kind, size in task.errors().items() if size > 1e-6]
    return " and ".join(parts) or "a little"


def _rows(task: KinematicTask) -> NDArray[np.int64]:
    return np.concatenate([int(b["row"][0]) + np.arange(int(b["count"][0])) for b in task.blocks])


def _constraints(
    model: Model, tasks: Sequence[KinematicTask], t: TaskTables, task: KinematicTask, q: Array
) -> tuple[list[str], list[KinematicTask]]:
    """Return joints at their limits and tasks with a significant part of (1)."""
    task_rows = _rows(task)
    gradient = t.B[:, task_rows] @ t.e[task_rows]
    gradient[np.setdiff1d(np.arange(len(gradient)), t.free)] = 0.0
    whole = float(np.linalg.norm(gradient))
    if whole < GRADIENT_TOLERANCE * float(np.linalg.norm(t.e[task_rows])):
        return [], []
    at = model.arrays.dof["q"]
    stop = np.zeros(len(gradient))
    for k in t.free:
        if at[k] >= 0:
            stop[k] += q[at[k]] >= t.upper[k] - LIMIT_TOLERANCE
            stop[k] -= q[at[k]] <= t.lower[k] + LIMIT_TOLERANCE
    loose = [k for k in t.free if stop[k] == 0]
    other_tasks = [o for o in tasks if o is not task and o.priority <= task.priority]
    parts = [_rows(other) for other in other_tasks]
    left, against = gradient, []
    if parts:
        A = t.B[:, np.concatenate(parts)]
        nu = np.linalg.lstsq(A[loose], gradient[loose], rcond=1e-9)[0]
        left = gradient - A @ nu
        ends = np.cumsum([0, *map(len, parts)])
        for other, rows, a in zip(other_tasks, parts, ends, strict=False):
            share = t.B[np.ix_(loose, rows)] @ nu[a : a + len(rows)]
            if np.linalg.norm(share) > MIN_GRADIENT_SHARE * whole:
                against.append(other)
    limits = [k for k in t.free if stop[k] * left[k] > MIN_GRADIENT_SHARE * whole]
    limits.sort(key=lambda k: -abs(left[k]))
    return [_limit(model, t, int(k), stop[k]) for k in limits], against


def _limit(model: Model, t: TaskTables, k: int, side: Any) -> str:
    bound = t.upper[k] if side > 0 else t.lower[k]
    return f"{model.dof_name(k)} ({'upper' if side > 0 else 'lower'}, {bound:.3g})"


def _straight_joint(
    model: Model, t: TaskTables, work: Workspace, task: KinematicTask, q: Array
) -> str:
    """Return the joint of (2), or "" if there is none."""
    block = next((b[0] for b in task.blocks if b["kind"][0] == POSITION), None)
    if block is None:
        return ""
    task_rows = _rows(task)
    # joints of the limb that turn, from its tip to the root
    columns = [
        k for k in t.free if np.abs(t.B[k][task_rows]).max() > 0 and model.arrays.dof["q"][k] >= 0
    ]
    if not columns:
        return ""
    error = np.linalg.norm(t.e[block["row"] : block["row"] + 3])
    d = t.e[block["row"] : block["row"] + 3] / (error or 1.0)
    body = work.body[block["body"]]
    p = body["position"] + body["rotation"].reshape(3, 3) @ block["place"]
    S = work.dof["motion"][columns]
    C = np.zeros((len(columns), len(columns)))
    for i in range(len(columns)):
        for j in range(i, len(columns)):
            displacement = S[j, 3:] + np.cross(S[j, :3], p)
            C[i, j] = C[j, i] = d @ np.cross(S[i, :3], displacement)
    _, sigma, Vt = np.linalg.svd(t.B[np.ix_(columns, task_rows)].T)
    null = Vt[int((sigma > 1e-3 * sigma[0]).sum()) :].T
    if not null.size:
        return ""
    values, vectors = np.linalg.eigh(null.T @ C @ null)
    if not values[0] < -1e-6:
        return ""
    return model.dof_name(columns[int(np.argmax(np.abs(null @ vectors[:, 0])))])
