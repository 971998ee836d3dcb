"""Detection of falls in a recording, by the rule of ``observation.falling``.

The rows are checked in steps first, and then one by one between the last upright row and the next:
poses of all rows of a long recording would not fit into memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.observation.falling import LEVEL_COSINE, MIN_HEIGHT_SHARE, Upright
from tabi.recording import tracks
from tabi.recording.recorded import Recorded
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# number of rows to check first
COARSE_ROWS = 2000


def fall_time(run: Recorded, robot: int, base: int, ground: float, height: float) -> float | None:
    """Return the time at which the robot first had fallen [s]; None if it did not fall.

    Args:
        robot, base: its index in the recording, and that of its base among the bodies.
        ground: height of the ground [m]. height: of the base above its lowest point at the start.
    """
    rows = np.arange(0, len(run.time), max(1, len(run.time) // COARSE_ROWS))
    first = _first(run, robot, base, ground, height, rows)
    if first is None:
        rows = np.arange(rows[-1], len(run.time))
    else:
        rows = np.arange(rows[max(first - 1, 0)], rows[first] + 1)
    first = _first(run, robot, base, ground, height, rows)
    return None if first is None else float(run.time[rows[first]])


def _first(
    run: Recorded, robot: int, base: int, ground: float, height: float, rows: NDArray[np.int64]
) -> int | None:
    """Return the first of some rows in which the robot has fallen."""
    feet = np.flatnonzero(np.asarray(run.world.feet.robot) == robot)
    stands = _upright(run, base, feet, height)
    motion = run.motion(rows)
    position, rotation = motion.position[base], motion.rotation[base]
    below = np.full(len(rows), ground)
    if len(feet):
        places, _ = tracks.foot_frames(run.world, motion)
        below = np.min([places[k][:, 2] for k in feet], axis=0)
    for k in range(len(rows)):
        if stands.margin(Transform(rotation[k], position[k]), float(below[k])) < 0.0:
            return k
    return None


def _upright(run: Recorded, base: int, feet: NDArray[np.int64], height: float) -> Upright:
    """Return the upright pose of the robot in the first row."""
    motion = run.motion(np.array([0]))
    R, z = motion.rotation[base][0], float(motion.position[base][0, 2])
    if len(feet):
        places, turns = tracks.foot_frames(run.world, motion)
        if all(abs(turns[k][0, 2, 2]) > LEVEL_COSINE for k in feet):
            above = z - min(float(places[k][0, 2]) for k in feet)
            has_height = above > MIN_HEIGHT_SHARE * height
            return Upright(above if has_height else None, R[2].copy())
        return Upright(height, np.array([0.0, 0.0, 1.0]))
    return Upright(height, R[2].copy())
