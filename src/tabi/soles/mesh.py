"""Tetrahedra of a sole: an outline, filled with triangles, drawn out downwards into prisms.

The frame is that of the foot: the xy-plane is the plate that the sole is glued to, z points up into
the leg, and the ground face is at z = −t, t the thickness of all layers. A prism over the triangle
a < b < c, lower corners 0 and upper corners 1, is cut into

    (a₀ b₀ c₀ c₁),  (a₀ b₀ b₁ c₁),  (a₀ a₁ b₁ c₁)                                               (1)
so that neighbours, which have the same corner numbers, cut their common face alike.

Ground edges may be rounded by r: at a distance d < r from the outline the ground face is at

    z = −t + r − √(r² − (r − d)²)                                                               (2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real
from tabi.soles import materials, outline
from tabi.soles.materials import Layer

Array = NDArray[Any]
Indices = NDArray[np.int64]
MOST_ELEMENTS = 200_000
# every node of the ground face is coupled to every other: time and memory of these take half a
# minute and a gigabyte
MAX_GROUND_NODES = 1200
# elements through a layer, at least: rubber held on both faces bulges between them as a parabola,
# which n linear elements make stiffer by 1/n²
THROUGH = 4
# how far above its lowest point a ground face is still flat, in thicknesses
FLAT = 1e-9


@dataclass(frozen=True)
class Tread:
    """Grooves across x in the ground face: width, depth and distance of their middles [m].

    Examples:
        >>> tread = tabi.soles.Tread(width=0.004, depth=0.004, pitch=0.02)
    """

    width: float
    depth: float
    pitch: float

    def __post_init__(self) -> None:
        for name in ("width", "depth", "pitch"):
            value = real(f"{name} of a tread", getattr(self, name))
            if not 0.0 < value < np.inf:
                raise ModelError(f"{name} of a tread is {value:g} m; expected more than zero")
        if self.width >= self.pitch:
            raise ModelError(
                f"grooves {self.width:g} m wide stand {self.pitch:g} m apart; expected a pitch "
                "above the width, lest nothing is left between them"
            )

    def edges(self, low: float, high: float) -> list[float]:
        """x of both edges of every groove between two ends of a sole [m], a rib in its middle."""
        middle = 0.5 * (low + high)
        count = ceil((high - low) / self.pitch) + 1
        at = middle + (np.arange(-count, count) + 0.5) * self.pitch
        both = np.sort(np.concatenate([at - 0.5 * self.width, at + 0.5 * self.width]))
        return [float(x) for x in both if low + 1e-9 < x < high - 1e-9]

    def cuts_away(self, x: Array, low: float, high: float) -> NDArray[np.bool_]:
        """Whether places x lie in a groove."""
        phase = (x - 0.5 * (low + high)) / self.pitch - 0.5
        return np.abs(phase - np.round(phase)) * self.pitch < 0.5 * self.width


@dataclass(frozen=True, eq=False)
class SoleMesh:
    """Tetrahedra of a sole in its foot's frame.

    Attributes:
        points: corners [m], shape (n, 3).
        tetrahedra: by corners, of positive volume, shape (m, 4).
        layer: of each tetrahedron, 0 next to the foot, shape (m,).
        glued: corners that the foot holds, shape (g,).
        ground: triangles that may touch, outwards counter-clockwise, shape (t, 3).

    Examples:
        >>> outline = [(0.0, 0.0), (0.2, 0.0), (0.2, 0.1), (0.0, 0.1)]
        >>> mesh = tabi.soles.sole_mesh(outline, tabi.soles.Layer(0.02, 2e6, 0.45), 0.05)
        >>> mesh.points.shape[1]
        3
    """

    points: Array
    tetrahedra: Indices
    layer: Indices
    glued: Indices
    ground: Indices

    @cached_property
    def ground_nodes(self) -> Indices:
        """Corners of ground triangles that are not glued, in rising order, shape (k,)."""
        return np.setdiff1d(self.ground, self.glued)

    @cached_property
    def volumes(self) -> Array:
        """Volume of each tetrahedron [m³], shape (m,)."""
        return volumes(self.points, self.tetrahedra)

    @cached_property
    def ground_areas(self) -> Array:
        """Area vector of each ground triangle, pointing outwards [m²], shape (t, 3)."""
        a, b, c = np.moveaxis(self.points[self.ground], 1, 0)
        return 0.5 * np.cross(b - a, c - a)


def volumes(points: Array, tetrahedra: Indices) -> Array:
    """Signed volumes of tetrahedra [m³], shape (m,)."""
    a, b, c, d = np.moveaxis(points[tetrahedra], 1, 0)
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0


def sole_mesh(
    polygon: ArrayLike,
    layers: Layer | Sequence[Layer],
    element_size: float,
    holes: Sequence[ArrayLike] = (),
    tread: Tread | None = None,
    rounded: float = 0.0,
    through: int = THROUGH,
) -> SoleMesh:
    """Make the mesh of a sole from an outline and layers.

    Args:
        polygon: corners of the outline [m], shape (n, 2), convex or not. holes: such outlines.
        layers: from the foot down. element_size: length of an element's side along the ground [m].
        tread: grooves in the ground face. rounded: radius of the outer ground edges [m].
        through: elements through each layer, at least.

    Raises:
        ModelError: for an outline that crosses itself or has no area, holes outside, sizes that
            cannot be, grooves or roundings larger than what they are cut into.

    Examples:
        >>> mesh = sole_mesh([(0, 0), (0.2, 0), (0, 0.1)], tabi.soles.Layer(0.02, 2e6, 0.45), 0.05)
    """
    made = materials.checked(layers)
    shape = outline.checked(polygon, holes)
    low, high = shape.polygon[:, 0].min(), shape.polygon[:, 0].max()
    size = _checked_size(element_size, shape, made, through)
    radius = _checked_radius(rounded, tread, shape, made)
    cuts = tread.edges(low, high) if tread else []
    insets = [radius, radius * (1.0 - np.sqrt(0.5))] if radius else []
    flat, triangles = outline.triangulated(shape, size, cuts, insets)
    levels, of_layer = _levels(made, size, tread, through)
    if 3 * len(triangles) * len(of_layer) > MOST_ELEMENTS:
        raise _too_many(size, 3 * len(triangles) * len(of_layer))
    points = _points(flat, levels, made, shape, radius)
    tetrahedra = _prisms(triangles, len(flat), len(of_layer))
    layer = np.repeat(of_layer, 3 * len(triangles))
    below, above = triangles[:, ::-1], np.arange(len(flat)) + len(flat) * len(of_layer)
    if tread:
        z = 0.5 * (levels[1:] + levels[:-1]) < levels[0] + tread.depth
        groove = tread.cuts_away(flat[triangles][:, :, 0].mean(axis=1), low, high)
        is_solid = ~np.repeat(z[:, None] & groove, 3, axis=1).ravel()
        tetrahedra, layer, below = tetrahedra[is_solid], layer[is_solid], below[~groove]
    negative = volumes(points, tetrahedra) < 0
    tetrahedra[negative] = tetrahedra[negative][:, [1, 0, 2, 3]]
    used = np.unique(tetrahedra)
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    return SoleMesh(points[used], number[tetrahedra], layer, number[above], number[below])


# ---- parts --------------------------------------------------------------------------------------


def _levels(
    layers: tuple[Layer, ...], size: float, tread: Tread | None, through: int
) -> tuple[Array, Indices]:
    """Heights of the levels of corners [m], from the ground up, and the layer between each two."""
    total = sum(layer.thickness for layer in layers)
    ends = -np.cumsum([0.0, *(layer.thickness for layer in layers)])
    marks = [*ends, *([-total + tread.depth] if tread else [])]
    marks = [z for i, z in enumerate(sorted(marks)) if i == 0 or z - sorted(marks)[i - 1] > 1e-12]
    levels, of_layer = [marks[0]], []
    for low, high in pairwise(marks):
        at = int(np.searchsorted(-ends, -0.5 * (low + high))) - 1
        part = (high - low) / layers[at].thickness
        count = max(1, round(through * part), ceil((high - low) / size - 1e-9))
        levels += list(np.linspace(low, high, count + 1)[1:])
        of_layer += [at] * count
    levels[-1] = 0.0
    return np.array(levels), np.array(of_layer, np.int64)


def _points(
    flat: Array, levels: Array, layers: tuple[Layer, ...], shape: outline.Outline, radius: float
) -> Array:
    """Corners level by level, those of the ground's layer lifted by (2)."""
    z = np.repeat(levels[:, None], len(flat), axis=1)
    if radius:
        last = layers[-1].thickness
        inside = np.maximum(radius - shape.distance(flat), 0.0)
        lift = radius - np.sqrt(radius**2 - inside**2)
        share = np.clip((levels[0] + last - levels) / last, 0.0, 1.0)
        z = z + share[:, None] * lift
    xy = np.tile(flat, (len(levels), 1))
    return np.column_stack([xy, z.ravel()])


def _prisms(triangles: Indices, count: int, floors: int) -> Indices:
    """Equation (1) on every floor."""
    a, b, c = np.sort(triangles, axis=1).T
    n = count
    cut = np.stack(
        [
            np.stack([a, b, c, c + n], axis=1),
            np.stack([a, b, b + n, c + n], axis=1),
            np.stack([a, a + n, b + n, c + n], axis=1),
        ],
        axis=1,
    )
    floor = n * np.arange(floors)[:, None, None, None]
    return (floor + cut).reshape(-1, 4).astype(np.int64)


def _checked_size(
    element_size: float, shape: outline.Outline, layers: tuple[Layer, ...], through: int
) -> float:
    size = real("element size of a sole", element_size)
    extent = float(np.ptp(shape.polygon, axis=0).max())
    if not isfinite(size) or size <= 0.0:
        raise ModelError(f"element size of a sole is {size:g} m; expected more than zero")
    if size > extent:
        raise ModelError(
            f"element size {size:g} m is larger than the sole, {extent:g} m; "
            "expected metres, and a tenth of its length or so"
        )
    if isinstance(through, bool) or not isinstance(through, int) or through < 1:
        raise ModelError(
            f"elements through a layer are {through!r}; expected a whole number, one or more"
        )
    floors = sum(max(through, layer.thickness / size) for layer in layers)
    count = 6.0 * shape.area / size**2 * floors
    if count > 2 * MOST_ELEMENTS:
        raise _too_many(size, count)
    nodes = shape.area / size**2
    if nodes > MAX_GROUND_NODES:
        raise ModelError(
            f"element size {size:g} m gives about {nodes:.3g} nodes on the ground, whose stiffness "
            f"would take minutes and gigabytes; expected at most {MAX_GROUND_NODES}: choose "
            f"{ceil(1e3 * sqrt(shape.area / MAX_GROUND_NODES)) / 1e3:g} m or more"
        )
    return size


def _too_many(size: float, count: float) -> ModelError:
    return ModelError(
        f"element size {size:g} m gives {count:.3g} tetrahedra; expected at most "
        f"{MOST_ELEMENTS}: choose a larger one"
    )


def _checked_radius(
    rounded: float, tread: Tread | None, shape: outline.Outline, layers: tuple[Layer, ...]
) -> float:
    radius, last = real("rounding of a sole", rounded), layers[-1].thickness
    total = sum(layer.thickness for layer in layers)
    if not 0.0 <= radius < last:
        raise ModelError(
            f"rounding of a sole is {radius:g} m; expected zero or more, and less than the "
            f"thickness of the layer at the ground, {last:g} m"
        )
    if tread and tread.depth >= total:
        raise ModelError(
            f"grooves {tread.depth:g} m deep cut a sole of {total:g} m through; "
            "expected a depth below its thickness"
        )
    if 4.0 * radius > np.sqrt(shape.area):
        raise ModelError(
            f"rounding of {radius:g} m leaves nothing flat of a sole of {shape.area:g} m²; "
            "choose a smaller one"
        )
    return radius
