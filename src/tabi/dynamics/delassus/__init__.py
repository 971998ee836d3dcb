"""The Delassus operator of contact points, by published methods and by tabi's: a comparison.

A step needs no Λ: it takes Ω of ``body_inertia`` and applies it. This package serves
``tabi bench delassus``, the mouse's spring, and users that need the matrix itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, near
from tabi.dynamics import aba
from tabi.dynamics.delassus import point_inertia
from tabi.dynamics.frames import arm, bodies_at
from tabi.dynamics.status import check_status
from tabi.dynamics.workspace import Workspace
from tabi.model.compiled import Model
from tabi.spatial.transform import translation

Array = NDArray[np.float64]


def delassus(
    model: Model, q: ArrayLike, points: Sequence[Any], method: str = "chains", frame: str = "world"
) -> Array:
    """The Delassus operator Λ = J M⁻¹ Jᵀ [1/kg] of contact points, shape (3m, 3m), in the world's
    axes.

    Args:
        points: (body, point) each, or (body, point, other body) where what is touched moves too;
            point [m], shape (3,).
        method: "direct", "points", "branches", "wrenches" or "chains", the fastest; all give the
            same matrix.
        frame: whether points are given in the "world" or in the frame of the "body" named first.
    """
    if method not in point_inertia.WAYS:
        raise ModelError(
            f"method is {method!r}; expected "
            f"{', '.join(map(repr, point_inertia.WAYS))}{near(str(method), point_inertia.WAYS)}"
        )
    if frame not in ("world", "body"):
        raise ModelError(f"frame is {frame!r}; expected 'world' or 'body'")
    work = bodies_at(model, q)
    work.dof["added"] = model.arrays.dof["armature"]
    work.dof["fixed"] = model.arrays.dof["prescribed"]
    check_status(model, aba.factor(model.arrays, work))
    contacts = contacts_of(model, work, points, frame)
    out = np.zeros((3 * len(points), 3 * len(points)))
    point_inertia.WAYS[method](
        model.arrays, work, contacts, point_inertia.allocate(model, contacts), out
    )
    return out


def contacts_of(
    model: Model, work: Workspace, points: Sequence[Any], frame: str = "world"
) -> point_inertia.Contacts:
    """Bodies and arms of contact points as ``delassus`` takes them, checked;
    needs ``kinematics.positions``.
    """
    rows, places = [], []
    for k, item in enumerate(points):
        if (
            not isinstance(item, tuple | list)
            or len(item) not in (2, 3)
            or not all(isinstance(name, str) for name in (item[0], *item[2:]))
        ):
            raise ModelError(
                f"point {k} is {item!r}; expected (body, point) or (body, point, other body), "
                f"bodies by name"
            )
        links = [model.link(name) for name in (item[0], *item[2:])]
        if links[0].body == 0:
            raise ModelError(
                f"point {k} is on {item[0]!r}, which does not move; "
                f"expected a body that does, named first"
            )
        try:
            place = np.array(item[1], float)
        except (TypeError, ValueError):
            place = np.zeros(0)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise ModelError(
                f"point {k} is at {item[1]!r}; expected three finite numbers in metres"
            )
        if frame == "body":
            place = np.array(arm(work, links[0].body, links[0].placement @ translation(place)))
            place += work.body["origin"][model.arrays.body["root"][links[0].body]]
        rows.append((links[0].body, links[-1].body if len(links) == 2 else 0))
        places.append(place)
    pairs = np.array(rows, np.int64).reshape(-1, 2)
    bodies = np.unique(pairs[pairs != 0])
    index = np.where(pairs == 0, -1, np.searchsorted(bodies, pairs))
    arms = (
        np.array(places).reshape(-1, 1, 3) - work.body["origin"][model.arrays.body["root"][pairs]]
    )
    return point_inertia.Contacts(
        bodies, index[:, 0].copy(), index[:, 1].copy(), arms[:, 0].copy(), arms[:, 1].copy()
    )
