"""Things that are added to a world: their places, shapes and surfaces, checked."""

from __future__ import annotations

from math import inf
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, brief
from tabi.model.shape import Geometry, Material, coefficient
from tabi.spatial.transform import Transform, from_quaternion


def three(owner: str, value: ArrayLike, unit: str) -> NDArray[np.float64]:
    """Three finite numbers, or an error that names their owner."""
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        x = np.zeros(0)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(f"{owner} is {brief(value)}; expected three finite numbers in {unit}")
    return x


def check_geometry(name: str, geometry: Any, largest: float = inf) -> None:
    """Refuse what is no shape, and one that is larger than anything that moves [m]."""
    if not isinstance(geometry, get_args(Geometry)):
        raise ModelError(
            f"shape of {name!r} is {brief(geometry)}; expected one with its size in metres, for "
            "example tabi.Box((0.3, 0.2, 0.1))"
        )
    sizes = [getattr(geometry, key, 0.0) for key in ("size", "radius", "radii", "length")]
    longest = max(float(np.max(size)) for size in sizes)
    if longest > largest:
        raise ModelError(
            f"{name!r} is {longest:g} m large; expected at most {largest:g} m of what moves: did "
            f"you mean millimetres, {1e-3 * longest:g} m?"
        )


def checked_pose(name: str, quaternion: ArrayLike, position: ArrayLike) -> Transform:
    """Return the pose of a thing, or raise an error with its name if it is invalid."""
    for what, value, count, expected in (
        ("position", position, 3, "x, y, z in metres"),
        ("quaternion", quaternion, 4, "w, x, y, z of a rotation"),
    ):
        try:
            x = np.array(value, float)
        except (TypeError, ValueError):
            x = np.zeros(0)
        if x.shape != (count,) or (count == 4 and not 1e-12 < np.linalg.norm(x) < np.inf):
            raise ModelError(f"{what} of {name!r} is {brief(value)}; expected {expected}")
    return from_quaternion(quaternion, position)


def material_of(
    name: str, friction: float, restitution: float, coefficients: dict[str, float | None]
) -> Material:
    """A material of a thing's own, from the keywords it was added with."""
    specified: dict[str, Any] = {coefficient(key): value for key, value in coefficients.items()}
    return Material(name, friction, restitution, **specified)
