"""Shapes of robots drawn by hand: boxes, capsules and cylinders for contact,
armour plates for the eye, mirror images.

A plate is a loft: rectangles with round corners, one above the other, joined by flat sides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabi.model.shape import Box, Capsule, Convex, Cylinder, Material, Shape, Sphere
from tabi.spatial.transform import Transform, translation, z_to

Color = tuple[float, float, float, float]
ALONG = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
FLIP = np.diag([1.0, -1.0, 1.0])

# a quarter of a circle, for one corner of a plate
_QUARTER = np.radians(np.linspace(0.0, 90.0, 7))


def mirrored(shape: Shape) -> Shape:
    """The shape's mirror image in the xz-plane of its body."""
    X = shape.placement
    geometry = shape.geometry
    if isinstance(geometry, Convex):
        geometry = Convex(geometry.vertices @ FLIP, geometry.triangles[:, ::-1].copy())
    # boxes and round shapes are their own mirror images, so only the placement changes
    placement = Transform(FLIP @ X.R @ FLIP, FLIP @ X.p)
    return Shape(
        geometry, placement, shape.material, shape.color, shape.collides, shape.visible, shape.name
    )


def pair(shape: Shape) -> list[Shape]:
    """The shape and its mirror image."""
    return [shape, mirrored(shape)]


def seen(shape: Shape) -> Shape:
    """The shape, only drawn."""
    shape.collides = False
    return shape


def invisible(shape: Shape) -> Shape:
    """Return the shape so that it collides and is not seen."""
    shape.visible = False
    return shape


def box(
    x: tuple[float, float],
    y: tuple[float, float],
    z: tuple[float, float],
    material: Material,
    color: Color,
) -> Shape:
    """A box from its bounds [m]."""
    low, high = np.array([x, y, z]).T
    size = high - low
    return Shape(
        Box((float(size[0]), float(size[1]), float(size[2]))),
        translation((low + high) / 2),
        material,
        color,
    )


def ball(radius: float, centre: Sequence[float], material: Material, color: Color) -> Shape:
    """Return a spherical shape."""
    return Shape(Sphere(radius), translation(centre), material, color)


def cylinder(
    axis: str,
    radius: float,
    length: float,
    centre: Sequence[float],
    material: Material,
    color: Color,
) -> Shape:
    """A cylinder along "x", "y" or "z"."""
    return Shape(
        Cylinder(radius, length),
        Transform(z_to(ALONG[axis]), np.array(centre, float)),
        material,
        color,
    )


def capsule(
    radius: float, a: Sequence[float], b: Sequence[float], material: Material, color: Color
) -> Shape:
    """A capsule whose round ends are centred at ``a`` and ``b`` [m]."""
    p, q = np.array(a, float), np.array(b, float)
    length = float(np.linalg.norm(q - p))
    return Shape(
        Capsule(radius, length), Transform(z_to((p - q) / length), (p + q) / 2), material, color
    )


def plate(sections: Sequence[Sequence[float]], material: Material, color: Color) -> Shape:
    """An armour plate, only drawn, from rows (z, x from, x to, y from, y to, corner radius) [m],
    lowest first.
    """
    rings = np.array([_ring(*row) for row in sections])
    count, n = rings.shape[:2]
    points = rings.reshape(-1, 3)
    k = np.arange(1, n - 1)
    last = n * (count - 1)
    bottom = np.stack([0 * k, k + 1, k], axis=1)
    top = np.stack([last + 0 * k, last + k, last + k + 1], axis=1)
    a = np.arange(last)
    b = a - a % n + (a + 1) % n
    triangles = np.concatenate([bottom, top, _folded(points, a, b, b + n, a + n)]).astype(np.int32)
    return Shape(Convex(points, triangles), material=material, color=color, collides=False)


def _ring(z: float, x0: float, x1: float, y0: float, y1: float, r: float) -> NDArray[np.float64]:
    """A rectangle with round corners at a height, counter-clockwise seen from above."""
    c, s = r * np.cos(_QUARTER), r * np.sin(_QUARTER)
    x = np.concatenate([x1 - r + c, x0 + r - s, x0 + r - c, x1 - r + s])
    y = np.concatenate([y1 - r + s, y1 - r + c, y0 + r - s, y0 + r - c])
    return np.stack([x, y, np.full(len(x), z)], axis=1)


def _folded(points: NDArray, a: NDArray, b: NDArray, c: NDArray, d: NDArray) -> NDArray:
    """Two triangles for each quadrangle a, b, c, d; one that is not flat is folded outwards."""
    normal = np.cross(points[b] - points[a], points[c] - points[a])
    out = (np.einsum("ij,ij->i", normal, points[d] - points[a]) <= 0)[:, None]
    first = np.where(out, np.stack([a, b, c], axis=1), np.stack([a, b, d], axis=1))
    second = np.where(out, np.stack([a, c, d], axis=1), np.stack([b, c, d], axis=1))
    return np.concatenate([first, second])
