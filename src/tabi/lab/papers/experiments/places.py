"""Places and forces that experiments look at: points of bodies, tilts, what presses on what."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.simulation.simulator import Simulator
from tabi.step.tables import OPEN

Array = NDArray[np.float64]

# of HRP-2's sole in the frame of a foot [m]; the foot lifts its heel about its toe
TOE, HEEL = (0.135, 0.0, 0.0), (-0.105, 0.0, 0.0)
# what of it comes against a table
LEGS = ("right_thigh", "right_shank", "left_thigh", "left_shank")
FEET = ("right", "left")


class Touching(NamedTuple):
    """Between two groups of things after a step.

    Attributes:
        force: sum of what presses along the normals [N].
        gap: of the nearest points [m], infinite where none are within reach of contacts.
        points: that press.
    """

    force: float
    gap: float
    points: int


def point(sim: Simulator, body: str, place: ArrayLike) -> Array:
    """Return the position of a body's point in the world [m]."""
    X = sim.pose(body)
    return X.p + X.R @ np.asarray(place, float)


def tilt(sim: Simulator, body: str) -> float:
    """Angle between a body's z axis and the vertical [°]."""
    return math.degrees(math.acos(min(1.0, max(-1.0, sim.pose(body).R[2, 2]))))


def between(sim: Simulator, first: tuple[str, ...], second: tuple[str, ...]) -> Touching:
    """Return the contacts between bodies or fixed things of these names."""
    rows, shapes = sim.data.contact, sim.model.shapes
    names = np.array([shape.name or shape.link for shape in shapes])
    a, b = names[rows["shape_a"]], names[rows["shape_b"]]
    between_both = (np.isin(a, first) & np.isin(b, second)) | (
        np.isin(b, first) & np.isin(a, second)
    )
    rows = rows[between_both]
    presses = np.einsum("ij,ij->i", rows["impulse"], rows["normal"])[rows["status"] != OPEN]
    gap = float(rows["gap"].min()) if len(rows) else math.inf
    return Touching(float(presses.sum()) / sim.dt, gap, len(presses))


def feet_slip(toes: Array) -> float:
    """Largest way of a toe along the ground [m], from rows of toes of shape (rows, feet, 3)."""
    return float(np.linalg.norm(toes[:, :, :2] - toes[0, :, :2], axis=2).max())
