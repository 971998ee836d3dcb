"""Collision: where the shapes of a world touch, or nearly so.

``contacts`` and ``distance`` are the Python door; compiled loops call ``detect.detect`` on tables
and memory from ``compile_collision`` and ``allocate``.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.collision import broad, detect
from tabi.collision.arrays import Collision, compile_collision
from tabi.collision.workspace import allocate, point_table
from tabi.dynamics import kinematics
from tabi.dynamics import workspace as dynamics_workspace
from tabi.model.compiled import Model

Array = NDArray[np.float64]
MAX_DISTANCE_M = 1e3
# faces of large meshes take a second to find; a model's shapes stay what they are
_tables: WeakKeyDictionary[Model, Collision] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point where two links touch or nearly so.

    Attributes:
        link_a, link_b: names; a moves.
        position: midway between the surfaces, in the world [m]. normal: unit, from b to a.
        gap: distance of the surfaces along the normal [m], negative in overlap.
        feature: identity within the pair of shapes.
    """

    link_a: str
    link_b: str
    position: Array
    normal: Array
    gap: float
    feature: int


def contacts(model: Model, q: ArrayLike, band: float = 1e-3) -> list[ContactPoint]:
    """Every point closer than ``band`` [m] in the configuration q, in a fixed order."""
    if not (np.isfinite(band) and band >= 0):
        raise ModelError(f"the band is {band} m; expected a finite number ≥ 0")
    tables, work = _tables_of(model), _kinematics_at(model, q)
    capacity = 64
    while True:
        points = point_table(capacity)
        count = detect.detect(
            model.arrays, tables, work, float(band), 0.0, allocate(tables, capacity), points
        )
        if count <= capacity:
            break
        capacity = count
    return [
        ContactPoint(
            model.shapes[p["shape_a"]].link,
            model.shapes[p["shape_b"]].link,
            p["position"].copy(),
            p["normal"].copy(),
            float(p["gap"]),
            int(p["feature"]),
        )
        for p in points[:count]
    ]


def distance(model: Model, q: ArrayLike, link_a: str, link_b: str) -> float:
    """Least distance [m] of two links' collision shapes in the configuration q;
    negative in overlap, as the depth of the way out.
    """
    tables, work = _tables_of(model), _kinematics_at(model, q)
    rows = [
        [i for i, s in enumerate(model.shapes) if s.link == model.link(name).name]
        for name in (link_a, link_b)
    ]
    for name, shapes in zip((link_a, link_b), rows, strict=True):
        if not shapes:
            raise ModelError(f"{name!r} has no collision shape; expected two links that have")
    memory = allocate(tables, 64)
    broad.place(model.arrays, tables, work, 0.0, memory)
    points, best = point_table(4096), np.inf
    for i in rows[0]:
        for k in rows[1]:
            # what stands still, ground before all, is shape b
            i, k = (k, i) if tables.shape["body"][i] == 0 else (i, k)
            band = 1e-2
            count = 0
            # the points of a pair always hold the nearest one
            while count == 0 and band < MAX_DISTANCE_M:
                count = detect.pair_points(
                    tables, memory, i, k, min(band, best), (0.0, 0.0, 0.0), points, 0
                )
                band *= 10.0 if band < best else np.inf
            best = min(best, points["gap"][:count].min(initial=np.inf))
    return float(best)


def _tables_of(model: Model) -> Collision:
    if model not in _tables:
        _tables[model] = compile_collision(model)
    return _tables[model]


def _kinematics_at(model: Model, q: ArrayLike) -> dynamics_workspace.Workspace:
    work = dynamics_workspace.allocate(model)
    kinematics.positions(model.arrays, model.check_configuration(q), work)
    return work
