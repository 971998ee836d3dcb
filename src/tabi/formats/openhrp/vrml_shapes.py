"""VRML's Transform and its solids as tabi's transforms and shapes.

A Transform with translation T, centre C, rotation R and scale S along the axes U is the affine map

    T C R U S U⁻¹ C⁻¹                                                                   (1)
kept in a ``Transform`` whose R may hold a scale. Boxes, balls and cylinders keep their kind under
it where they can.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.formats.openhrp.vrml_node import VrmlNode, shown
from tabi.model.shape import Box, Capsule, Convex, Cylinder, Ellipsoid, Geometry, Sphere
from tabi.spatial.transform import Transform, about, z_to

Array = NDArray[np.float64]


def _rotation(node: VrmlNode, name: str) -> Array:
    *axis, angle = node.numbers(name, 4, (0.0, 0.0, 1.0, 0.0))
    if angle == 0.0:
        return np.eye(3)
    if not 1e-9 < np.linalg.norm(axis) < np.inf:
        raise node.error(
            f"has {name} about the axis {shown(axis)}; expected a direction and an angle in rad",
            node.line_of(name),
        )
    return about(axis, angle).R


def turn(node: VrmlNode) -> Transform:
    """``translation`` and ``rotation``."""
    return Transform(
        _rotation(node, "rotation"), np.array(node.numbers("translation", 3, (0.0, 0.0, 0.0)))
    )


def placement(node: VrmlNode) -> Transform:
    """All of a VRML Transform, (1)."""
    scale = np.array(node.numbers("scale", 3, (1.0, 1.0, 1.0)))
    if not np.abs(scale).min() > 1e-9:
        raise node.error(
            f"has scale {shown(scale.tolist())}; expected three numbers other than 0",
            node.line_of("scale"),
        )
    U = _rotation(node, "scaleOrientation")
    centre = np.array(node.numbers("center", 3, (0.0, 0.0, 0.0)))
    X = turn(node)
    A = X.R @ U @ np.diag(scale) @ U.T
    return Transform(A, X.p + centre - A @ centre)


def shaped(node: VrmlNode, X: Transform) -> tuple[Geometry, Transform, str] | None:
    """A geometry node under an affine transform: shape, placement, and "kept", "stretched" or
    "hull"; None for what has no volume.
    """
    solid = _solid(node)
    if solid is None:
        return None
    geometry, points, X_node = solid
    result = fitted(geometry, points, X @ X_node)
    if result is None:
        return None
    how = "hull" if node.kind == "IndexedFaceSet" else "kept"
    if geometry is not None and isinstance(result[0], Convex):
        how = "stretched"
    return *result, how


def fitted(
    geometry: Geometry | None, points: Array, X: Transform
) -> tuple[Geometry, Transform] | None:
    """A shape under an affine transform and its placement: of its own kind where that can be, an
    ellipsoid where it was a ball, else the hull of its points; None where these have none.
    """
    scaled = None if geometry is None else _scaled(geometry, X)
    if scaled is not None:
        return scaled
    from tabi.formats.mesh import convex_hull

    try:
        return convex_hull(X @ points), Transform()
    except ModelError:
        return None


def _lengths(node: VrmlNode, name: str, count: int, default: float) -> list[float]:
    values = node.numbers(name, count, (default,) * count)
    if min(values) <= 0:
        raise node.error(
            f"has {name} {shown(values)}; expected positive lengths in metres", node.line_of(name)
        )
    return values


def _solid(node: VrmlNode) -> tuple[Geometry | None, Array, Transform] | None:
    """A shape, points whose hull it is, and how it lies in its node:
    VRML's round shapes stand along y, ours along z.
    """
    along_y = Transform(z_to((0.0, 1.0, 0.0)))
    geometry: Geometry
    if node.kind == "Box":
        x, y, z = _lengths(node, "size", 3, 2.0)
        geometry, X = Box((x, y, z)), Transform()
    elif node.kind == "Sphere":
        geometry, X = Sphere(_lengths(node, "radius", 1, 1.0)[0]), Transform()
    elif node.kind == "Cylinder":
        geometry = Cylinder(
            _lengths(node, "radius", 1, 1.0)[0], _lengths(node, "height", 1, 2.0)[0]
        )
        X = along_y
    elif node.kind == "Cone":
        height = _lengths(node, "height", 1, 2.0)[0]
        rims = Cylinder(_lengths(node, "bottomRadius", 1, 1.0)[0], height).points()
        return None, np.vstack([rims[rims[:, 2] < 0], [0.0, 0.0, height / 2]]), along_y
    elif node.kind == "IndexedFaceSet":
        return None, _vertices(node), Transform()
    else:
        return None
    return geometry, geometry.points(), X


def _vertices(node: VrmlNode) -> Array:
    """The points that faces use."""
    coords = node.nodes("coord")
    values = coords[0].numbers("point", None) if coords else []
    if len(values) % 3:
        raise coords[0].error(
            f"has {len(values)} numbers in point; expected three for each vertex",
            coords[0].line_of("point"),
        )
    points = np.array(values).reshape(-1, 3)
    index = np.unique([i for i in node.numbers("coordIndex", None) if i != -1.0])
    if len(index) and not (
        index[0] >= 0 and index[-1] < len(points) and (index == index.astype(int)).all()
    ):
        raise node.error(
            f"has a coordIndex outside of its {len(points)} points; "
            f"expected 0 to {len(points) - 1}, or -1",
            node.line_of("coordIndex"),
        )
    return points[index.astype(int)]


def _scaled(geometry: Geometry, X: Transform) -> tuple[Geometry, Transform] | None:
    """The shape under an affine transform, where it stays of its kind; of a ball an ellipsoid."""
    lengths = np.linalg.norm(X.R, axis=0)
    R = X.R / lengths
    if np.abs(R.T @ R - np.eye(3)).max() > 1e-9:
        return None
    if np.linalg.det(R) < 0:
        # these shapes are their own mirror image
        R = R * np.array([-1.0, 1.0, 1.0])
    a, b, c = lengths.tolist()
    placement = Transform(R, X.p)
    if isinstance(geometry, Box):
        x, y, z = geometry.size
        return Box((a * x, b * y, c * z)), placement
    if isinstance(geometry, Cylinder) and abs(a - b) <= 1e-9 * a:
        return Cylinder(a * geometry.radius, c * geometry.length), placement
    alike = max(lengths) - min(lengths) <= 1e-9 * a
    if isinstance(geometry, Sphere):
        r = geometry.radius
        return Sphere(a * r) if alike else Ellipsoid((a * r, b * r, c * r)), placement
    if isinstance(geometry, Capsule) and alike:
        return Capsule(a * geometry.radius, a * geometry.length), placement
    return None
