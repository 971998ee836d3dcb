"""Tables of the kernels of inverse kinematics: allocated once per set of tasks.

Rows are ordered by priority and come in threes, unused rows with zeros; the columns are the model's
degrees of freedom. ``B`` is stored by columns, as bounds are added and removed by columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, REAL

POSITION, ORIENTATION, CENTRE, GAZE, POSTURE = 0, 1, 2, 3, 4

BLOCK = np.dtype(
    [
        # kind of task, its first row and number of rows, its priority
        ("kind", INDEX),
        ("row", INDEX),
        ("count", INDEX),
        ("level", INDEX),
        # body of the task, or root of the tree of its centre of mass, 0 for all
        ("body", INDEX),
        # row of ``postures`` with the target of a posture
        ("posture", INDEX),
        # square root of the weight, 0 for an unused axis
        ("scale", REAL, 3),
        # frame on the body: rotation row by row, position [m]; of a gaze the rows are two normals
        # of the axis, and the axis
        ("rotation", REAL, 9),
        ("place", REAL, 3),
        # rotation row by row, position [m]
        ("target_rotation", REAL, 9),
        ("target", REAL, 3),
        # by errors.errors: norm of its error [m or rad]; by errors.rows: rotation vector to the
        # target, or the target in the frame of the gaze
        ("error", REAL),
        ("seen", REAL, 3),
    ],
    align=True,
)
FOLD = np.dtype([("follower", INDEX), ("leader", INDEX), ("ratio", REAL)], align=True)


class TaskTables(Structure):
    """Arguments and workspace of the kernels.

    Attributes:
        block, fold: tables of the columns above. levels: end of the rows of each priority.
        posture_dof: of each row of a posture its degree of freedom. postures: their targets, a
            configuration to a row.
        free: degrees of freedom that are not locked. lower, upper, speed: limits of all.
        touching, touched: for each column the first of each three rows that it moves, and their
            number.
        pair, shared: for each pair of triples of rows, the columns that move both: start index, and
            columns.
        starts: configurations to start again from. settings: tolerance, maximum steps of a level.
        e, e_trial, e_fixed: weighted errors at q, at a trial, and the result of higher
            priorities.
        B: derivatives of the rows, shape (columns, rows). G, L: their products, and its factor.
        r, y, damping: by row. x, low, high, state: step, its bounds and the active bound, by
            column; v: velocities.
        q, best, trial: configurations. cost, ended: of each level.
        share, first: mass and first moment of what a body carries.
        out: outcome, iterations, starts.
    """

    block: NDArray[np.void]
    fold: NDArray[np.void]
    levels: NDArray[np.int64]
    posture_dof: NDArray[np.int64]
    postures: NDArray[np.float64]
    free: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    speed: NDArray[np.float64]
    touching: NDArray[np.int64]
    touched: NDArray[np.int64]
    pair: NDArray[np.int64]
    shared: NDArray[np.int64]
    starts: NDArray[np.float64]
    settings: NDArray[np.float64]
    e: NDArray[np.float64]
    e_trial: NDArray[np.float64]
    e_fixed: NDArray[np.float64]
    B: NDArray[np.float64]
    G: NDArray[np.float64]
    L: NDArray[np.float64]
    r: NDArray[np.float64]
    y: NDArray[np.float64]
    damping: NDArray[np.float64]
    x: NDArray[np.float64]
    v: NDArray[np.float64]
    w: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    state: NDArray[np.int64]
    q: NDArray[np.float64]
    best: NDArray[np.float64]
    trial: NDArray[np.float64]
    cost: NDArray[np.float64]
    ended: NDArray[np.int64]
    share: NDArray[np.float64]
    first: NDArray[np.float64]
    out: NDArray[np.int64]
