"""Tables of feet: their soles, their states after a step, and changes of these."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.model.arrays import INDEX, REAL, table
from tabi.model.compiled import Model

# events that are stored until they are fetched
EVENTS = 256

SOLE = np.dtype(
    [
        # moving body, X_BF: rotation row by row and position, corners of the sole: first and end
        ("body", INDEX),
        ("rotation", REAL, 9),
        ("position", REAL, 3),
        ("first", INDEX),
        ("end", INDEX),
        # weight of the robot [N]
        ("weight", REAL),
    ],
    align=True,
)
FOOT = np.dtype(
    [
        # NONE to FACE, plus SLIDES if it slides; switch: 0 or 1, and how long the load has been
        # other
        ("state", INDEX),
        ("signal", INDEX),
        ("since", REAL),
        # wrench of all contacts about the foot's origin, in the world's axes and in the foot's [N,
        # N·m]
        ("force", REAL, 3),
        ("torque", REAL, 3),
        ("local_force", REAL, 3),
        ("local_torque", REAL, 3),
        # normal force and tangential one where it touches [N]; its friction; normal of the support
        ("normal_force", REAL),
        ("tangential_force", REAL),
        ("friction", REAL),
        ("normal", REAL, 3),
        # pressure point in the foot's frame, its distance from the edge of the sole [m]
        ("pressure", REAL, 2),
        ("margin", REAL),
        # speed of the fastest point that touches along the support [m/s]
        ("slip", REAL),
    ],
    align=True,
)
EVENT = np.dtype([("time", REAL), ("foot", INDEX), ("before", INDEX), ("after", INDEX)], align=True)


def soles(model: Model) -> tuple[NDArray[np.void], NDArray[np.float64]]:
    """Return the table of SOLE of all feet in the order of ``model.feet``, and their corners
    [m].
    """
    rows, corners = table(len(model.feet), SOLE), [np.zeros((0, 2))]
    g, body = float(np.linalg.norm(model.arrays.gravity)), model.arrays.body
    for row, foot in zip(rows, model.feet.values(), strict=True):
        of_robot = body["root"] == body["root"][foot.body]
        of_robot[0] = False
        row["body"], row["weight"] = foot.body, g * body["mass"][of_robot].sum()
        row["rotation"], row["position"] = foot.placement.R.ravel(), foot.placement.p
        row["first"] = sum(map(len, corners))
        row["end"] = row["first"] + len(foot.polygon)
        corners.append(foot.polygon)
    return rows, np.concatenate(corners)
