"""Bodies, and the frames and feet fixed to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.model import soft
from tabi.model.joint import Joint
from tabi.model.shape import (
    Box,
    Convex,
    HalfSpace,
    Material,
    MeshFile,
    Shape,
)
from tabi.spatial.inertia import Inertia
from tabi.spatial.polygon import polygon_area
from tabi.spatial.transform import Transform, from_quaternion

Array = NDArray[np.float64]
# largest length of a sole, and largest distance from the shapes of its body [m]
MAX_SOLE_LENGTH_M, MAX_SOLE_DISTANCE_M = 5.0, 0.3


@dataclass(eq=False)
class Body:
    """A rigid body and the joint that carries it; without parent it hangs on the world.

    Attributes:
        inertia: in the body's own frame.
        line: line of the file it was read from.

    Example: ``hopper.add_body`` in docs/worlds.md
    """

    name: str
    joint: Joint
    parent: Body | None = None
    inertia: Inertia = field(default_factory=Inertia)
    shapes: list[Shape] = field(default_factory=list)
    line: int | None = None

    def collision_shapes(self) -> list[Shape]:
        """Its bounded shapes that contacts see."""
        return [
            s
            for s in self.shapes
            if s.collides and not isinstance(s.geometry, (MeshFile, HalfSpace))
        ]

    def add_pad(
        self,
        face: str | ArrayLike,
        layers: Any,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        material: Material | None = None,
        **options: Any,
    ) -> Shape:
        """Glue a soft pad to the body: a skin, a fingertip, a mat.

        Args:
            face: a face of the body's box, as "+x" or "-z"; or an outline (x, y) [m] in a frame on
                the body, whose z points into it.
            layers: what it is made of, ``tabi.soles.Layer``, from the body outwards.
            position, quaternion: of that frame, where an outline is given.
            material: of its surface; default: that of the body's first collision shape.
            options: of ``tabi.soles.make_sole``: element_size, holes, tread, rounded, ….
        """
        shapes = self.collision_shapes()
        if isinstance(face, str):
            X_BF, outline = soft.face_of_box(shapes, face, self.name)
        else:
            X_BF, outline = from_quaternion(quaternion, position), np.asarray(face, float)
        sole = soft.made_of(outline, layers, options)
        surface = material or soft.surface_of(shapes)
        shape = soft.pad_shape(sole, X_BF, surface, f"pad of {self.name}")
        self.glue(shape, sole.inertia)
        return shape

    def glue(self, pad: Shape, inertia: Inertia) -> None:
        """A pad becomes part of the body: a shape, and its mass in the pad's frame."""
        self.shapes.append(pad)
        self.inertia = self.inertia + inertia.transformed(pad.placement)

    def __repr__(self) -> str:
        return f"Body({self.name!r}, mass={self.inertia.mass:g} kg, joint={self.joint.name!r})"


@dataclass(eq=False)
class Frame:
    """A named place on a body: X_BF.

    Examples:
        >>> robot.frames["palm"] = tabi.Frame("palm", robot.body("left_hand"))
    """

    name: str
    body: Body
    placement: Transform = field(default_factory=Transform)


@dataclass(eq=False)
class Closure:
    """Two places on bodies that are held together, which closes a loop in a tree of bodies.

    Attributes:
        kind: "ball", "weld", or "hinge" about the z axes of the two places.
        a, b: the bodies; None is the world.
        place_a, place_b: X_AC and X_BC, one and the same when the loop is closed.

    Example: docs/constraints.md
    """

    kind: str
    a: Body
    b: Body | None
    place_a: Transform = field(default_factory=Transform)
    place_b: Transform = field(default_factory=Transform)

    def gap(self, placements: Mapping[Body, Transform]) -> float:
        """Return the distance of the two places [m] with the bodies at ``placements``."""
        p_B = self.place_b.p if self.b is None else (placements[self.b] @ self.place_b).p
        return float(np.linalg.norm((placements[self.a] @ self.place_a).p - p_B))

    def __repr__(self) -> str:
        return f"Closure({self.kind!r}, {self.a.name!r}, {self.b.name if self.b else 'world'!r})"


@dataclass(eq=False)
class Foot(Frame):
    """A sole: a convex polygon [m], shape (n, 2), counter-clockwise in the xy-plane of its own
    frame, z up into the leg.

    Examples:
        >>> robot.feet["left"].polygon.shape
        (4, 2)
    """

    polygon: Array = field(default_factory=lambda: np.zeros((0, 2)))

    def __post_init__(self) -> None:
        self.polygon = convex_outline(self.name, self.polygon)

    @property
    def area(self) -> float:
        """Area of the sole [m²]."""
        return polygon_area(self.polygon)

    def corners(self) -> Array:
        """Corners of the sole in the body's frame [m], shape (n, 3)."""
        return self.placement @ np.column_stack([self.polygon, np.zeros(len(self.polygon))])

    def plate(self, thickness: float = 0.02) -> Shape:
        """A plate [m] that has the sole for its lower face:
        a box where the sole is a rectangle along its frame's axes.
        """
        low, high = self.polygon.min(axis=0), self.polygon.max(axis=0)
        if len(self.polygon) == 4 and np.isclose(self.area, np.prod(high - low), rtol=1e-9):
            middle = Transform(np.eye(3), np.array([*(0.5 * (low + high)), 0.5 * thickness]))
            length, width = (float(x) for x in high - low)
            return Shape(
                Box((length, width, thickness)),
                self.placement @ middle,
                name=f"sole of {self.name}",
            )
        n, fan = len(self.polygon), np.arange(1, len(self.polygon) - 1)
        vertices = np.array([[*p, z] for z in (0.0, thickness) for p in self.polygon])
        below = np.stack([0 * fan, fan + 1, fan], axis=1)
        above = np.stack([0 * fan + n, fan + n, fan + n + 1], axis=1)
        here, there = np.arange(n), (np.arange(n) + 1) % n
        sides = np.concatenate(
            [
                np.stack([here, there, there + n], axis=1),
                np.stack([here, there + n, here + n], axis=1),
            ]
        )
        triangles = np.concatenate([below, above, sides]).astype(np.int32)
        return Shape(Convex(vertices, triangles), self.placement, name=f"sole of {self.name}")


def check_place(foot: Foot) -> None:
    """Refuse a sole that is larger than any, or far from the shapes of its body."""
    length = float(np.ptp(foot.polygon, axis=0).max())
    if length > MAX_SOLE_LENGTH_M:
        raise ModelError(
            f"foot {foot.name!r} has a sole {length:g} m long; "
            f"expected metres, and less than {MAX_SOLE_LENGTH_M:g}"
        )
    shapes = foot.body.collision_shapes()
    if not shapes:
        return
    axes = np.eye(3)
    low = np.array([-max(s.support(-d) for s in shapes) for d in axes])
    high = np.array([max(s.support(d) for s in shapes) for d in axes])
    corners = foot.corners()
    away = float(np.linalg.norm(np.maximum(low - corners, corners - high).clip(0), axis=1).min())
    if away > MAX_SOLE_DISTANCE_M:
        raise ModelError(
            f"foot {foot.name!r} lies {away:.2g} m from the shapes of body {foot.body.name!r}; "
            "expected its position and polygon in metres in the frame of that body"
        )


def convex_outline(name: str, points: Array) -> Array:
    """Convex hull of points in the plane (Andrew's monotone chain), counter-clockwise;
    refuses a zero area.
    """
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.isfinite(points).all():
        raise ModelError(
            f"foot {name!r} has a sole of shape {points.shape}; expected at least three finite "
            f"points (x, y) in metres"
        )
    chains = []
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    for row in (ordered, ordered[::-1]):
        chain: list[Array] = []
        for p in row:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 1e-12:
                chain.pop()
            chain.append(p)
        chains += chain[:-1]
    outline = np.array(chains)
    area = polygon_area(outline) if len(outline) > 2 else 0.0
    if area < 1e-8:
        raise ModelError(
            f"foot {name!r} has a sole of area {area:g} m²; "
            f"expected a polygon that one can stand on"
        )
    return outline


def check_simple(name: str, points: ArrayLike) -> None:
    """Refuse an outline whose sides cross."""
    p = np.asarray(points, float)
    if p.ndim != 2 or p.shape[1] != 2 or not np.isfinite(p).all():
        # reported by ``convex_outline``
        return
    n = len(p)
    for i in range(n):
        for j in range(i + 2, n - (i == 0)):
            a, b, c, d = p[i], p[(i + 1) % n], p[j], p[(j + 1) % n]
            if _turn(a, b, c) * _turn(a, b, d) < 0 and _turn(c, d, a) * _turn(c, d, b) < 0:
                raise ModelError(
                    f"foot {name!r} has an outline that crosses itself, between corners {i} and "
                    f"{(i + 1) % n} and between {j} and {(j + 1) % n}; "
                    "expected its corners in the order round the sole"
                )


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
