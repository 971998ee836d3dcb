"""Shapes of bodies: what collides and what is seen, with materials.

Every geometry answers ``support(d)``, the largest d·x over its points, and ``points()``, points
whose convex hull is the shape (exactly for boxes and polytopes, a 24-gon for round ones).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, near, real
from tabi.model.arrays import PAIR
from tabi.model.pad import Pad
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
_CIRCLE = np.stack(
    [np.cos(np.arange(24) * np.pi / 12), np.sin(np.arange(24) * np.pi / 12), np.zeros(24)], axis=1
)


def _positive(kind: str, **values: float) -> None:
    for name, length in values.items():
        value = real(f"{name} of a {kind}", length)
        if not (np.isfinite(value) and value > 0):
            raise ModelError(f"{kind} has {name} {value:g}; expected a positive length in metres")


@dataclass(frozen=True)
class Sphere:
    """A ball of a radius [m]. Example: ``tabi.Sphere(0.1)``."""

    radius: float

    def __post_init__(self) -> None:
        _positive("sphere", radius=self.radius)

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return self.radius * float(np.linalg.norm(d))

    def points(self) -> Array:
        """Points of its surface."""
        rings = [_CIRCLE, _CIRCLE[:, [0, 2, 1]], _CIRCLE[:, [2, 0, 1]]]
        return self.radius * np.concatenate(rings)


class Smooth:
    """A shape that is curved everywhere, so that one point of it touches. Example:
    ``tabi.Sphere(0.1)``.
    """

    def support_point(self, d: Array) -> Array:
        """The point that reaches farthest along d [m]."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ellipsoid(Smooth):
    """An ellipsoid, half axes along x, y, z [m]. Example: ``tabi.Ellipsoid((0.3, 0.2, 0.1))``."""

    radii: tuple[float, float, float]

    def __post_init__(self) -> None:
        if np.shape(self.radii) != (3,):
            raise ModelError(
                f"ellipsoid has radii {self.radii}; expected three half axes x, y, z in metres"
            )
        _positive("ellipsoid", **{f"radius {a}": r for a, r in zip("xyz", self.radii, strict=True)})

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return float(np.linalg.norm(np.asarray(self.radii) * d))

    def support_point(self, d: Array) -> Array:
        """The point that reaches farthest along d [m]."""
        square = np.square(self.radii)
        return np.asarray(square * d / np.sqrt(square @ np.square(d)))

    def points(self) -> Array:
        """Points of its surface."""
        return Sphere(1.0).points() * np.asarray(self.radii)


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z: radius and full length [m]. Example: ``tabi.Cylinder(0.05, 0.3)``."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _positive("cylinder", radius=self.radius, length=self.length)

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return self.radius * float(np.hypot(d[0], d[1])) + 0.5 * self.length * abs(float(d[2]))

    def points(self) -> Array:
        """Points of both rims."""
        z = np.array([0.0, 0.0, 0.5 * self.length])
        return np.concatenate([self.radius * _CIRCLE + z, self.radius * _CIRCLE - z])


@dataclass(frozen=True)
class Capsule:
    """A capsule along z: radius and length of its cylinder, without the caps [m]. Example:
    ``tabi.Capsule(0.05, 0.3)``.
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        _positive("capsule", radius=self.radius, length=self.length)

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return self.radius * float(np.linalg.norm(d)) + 0.5 * self.length * abs(float(d[2]))

    def points(self) -> Array:
        """Points of its surface."""
        ball, z = Sphere(self.radius).points(), np.array([0.0, 0.0, 0.5 * self.length])
        return np.concatenate([ball + z, ball - z])


@dataclass(frozen=True)
class Box:
    """A box with edges x, y, z [m]. Example: ``tabi.Box((0.3, 0.2, 0.1))``."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        if np.shape(self.size) != (3,):
            raise ModelError(f"box has size {self.size}; expected three edges x, y, z in metres")
        _positive("box", **{f"size {a}": s for a, s in zip("xyz", self.size, strict=True)})

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return 0.5 * float(np.abs(d) @ np.asarray(self.size))

    def points(self) -> Array:
        """Return the eight corners [m]."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return 0.5 * signs * np.asarray(self.size)


@dataclass(frozen=True, eq=False)
class Convex:
    """A convex polytope: its vertices [m], shape (n, 3), and outward triangles, shape (m, 3).
    Example: ``tabi.Convex(vertices, triangles)``.

    Attributes:
        file: of the mesh whose hull it is.
        from_file: what takes points of the file to this frame, R and p of R x + p side by side,
            shape (3, 4).
    """

    vertices: Array
    triangles: NDArray[np.int32]
    file: Path | None = None
    from_file: Array | None = None

    def __post_init__(self) -> None:
        vertices, triangles = np.asarray(self.vertices), np.asarray(self.triangles)
        if (
            vertices.ndim != 2
            or vertices.shape[1:] != (3,)
            or len(vertices) < 4
            or not np.isfinite(vertices).all()
        ):
            raise ModelError(
                f"convex polytope has vertices of shape {vertices.shape}; "
                f"expected at least four finite points (x, y, z) in metres",
                self.file,
            )
        if (
            triangles.ndim != 2
            or triangles.shape[1:] != (3,)
            or len(triangles) < 4
            or triangles.min() < 0
            or triangles.max() >= len(vertices)
        ):
            raise ModelError(
                f"convex polytope has triangles of shape {triangles.shape}; "
                f"expected four or more, each three numbers of vertices",
                self.file,
            )
        corners = vertices[triangles] - vertices.mean(axis=0)
        volume = (
            float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6
        )
        if not volume > 1e-12 * float(np.ptp(vertices, axis=0).max()) ** 3:
            remedy = (
                "its triangles look inwards: turn them"
                if volume < 0
                else "it is flat: give it a thickness"
            )
            raise ModelError(
                f"convex polytope has volume {volume:g} m³; expected a positive one, {remedy}",
                self.file,
            )

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return float((self.vertices @ d).max())

    def points(self) -> Array:
        """Return the vertices [m]."""
        return self.vertices


@dataclass(frozen=True)
class HalfSpace:
    """Everything below the plane z = 0 of its frame. Example: ``tabi.Shape(HalfSpace())``."""

    def support(self, d: Array) -> float:
        """Largest d·x: 0 straight up, else without bound."""
        return 0.0 if d[2] > 0 and d[0] == d[1] == 0 else float("inf")

    def points(self) -> Array:
        """One point of the plane: a half-space has no corners."""
        return np.zeros((1, 3))


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground of varying height: heights [m] on a regular grid, shape (ny, nx), over a rectangle
    ``size`` x, y [m] centred at its frame's origin. Example: ``tabi.HeightField(np.zeros((9, 9)),
    (4.0, 4.0))``.

    Everything below it is solid. A cell is two triangles that share the diagonal from its lowest x
    and y to its highest.
    """

    heights: Array
    size: tuple[float, float]

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "heights", np.ascontiguousarray(self.heights, float))
        except (TypeError, ValueError):
            raise ModelError(
                "height field has heights that are not numbers; expected metres, shape (ny, nx)"
            ) from None
        if self.heights.ndim != 2 or min(self.heights.shape) < 2:
            raise ModelError(
                f"height field has heights of shape {self.heights.shape}; "
                f"expected a grid (ny, nx) of at least 2 × 2"
            )
        if not np.isfinite(self.heights).all():
            row, column = np.argwhere(~np.isfinite(self.heights))[0]
            raise ModelError(
                f"height field has height {self.heights[row, column]} in row {row}, column "
                f"{column}; expected finite numbers in metres"
            )
        if np.shape(self.size) != (2,):
            raise ModelError(
                f"height field has size {self.size}; expected two edges x, y in metres"
            )
        _positive("height field", **{f"size {a}": s for a, s in zip("xy", self.size, strict=True)})

    def support(self, d: Array) -> float:
        """Largest d·x; without bound downwards."""
        return float((self.points() @ d).max()) if d[2] >= 0 else float("inf")

    def points(self) -> Array:
        """The points of the grid."""
        ny, nx = self.heights.shape
        x, y = (0.5 * s * np.linspace(-1, 1, n) for s, n in zip(self.size, (nx, ny), strict=True))
        return np.stack([*np.meshgrid(x, y), self.heights], axis=-1).reshape(-1, 3)

    def triangles(self) -> NDArray[np.int64]:
        """Its triangles, seen from above counter-clockwise, as rows of ``points()``,
        shape (2 (ny−1) (nx−1), 3).
        """
        ny, nx = self.heights.shape
        a = (nx * np.arange(ny - 1)[:, None] + np.arange(nx - 1)).ravel()
        return np.stack([a, a + 1, a + nx + 1, a, a + nx + 1, a + nx], axis=1).reshape(-1, 3)


@dataclass(frozen=True)
class MeshFile:
    """A mesh that is only drawn, with a scale. Example: ``tabi.MeshFile(Path("head.stl"))``."""

    file: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


Geometry = Sphere | Ellipsoid | Cylinder | Capsule | Box | Convex | HalfSpace | HeightField | Pad


@dataclass(eq=False)
class Material:
    """Material of a surface. Example: ``tabi.Material(friction=0.6)``.

    Attributes:
        friction: coefficient while it slides. static_friction: while it sticks, where that is
            larger.
        restitution: in [0, 1].
        torsional_friction, rolling_friction: moment against turning about the normal, and about
            axes across it, per newton that presses [m].
        viscous_friction: growth of the coefficient with the speed of sliding [s/m].
    """

    name: str = "default"
    friction: float = 1.0
    restitution: float = 0.0
    static_friction: float | None = None
    torsional_friction: float = 0.0
    rolling_friction: float = 0.0
    viscous_friction: float = 0.0

    def __post_init__(self) -> None:
        for name in ("friction", "restitution"):
            real(f"{name} of material {self.name!r}", getattr(self, name))
        check_coefficients(f"material {self.name!r}", self.coefficients)

    @property
    def coefficients(self) -> dict[str, float]:
        """By their names in PAIR."""
        static = self.friction if self.static_friction is None else self.static_friction
        return {
            name: static if name == "static_friction" else getattr(self, name)
            for name in PAIR.names or ()
        }


# other keywords of what is added to a world
PLACES = ("position", "quaternion", "name", "surface_velocity")


def coefficient(name: str) -> str:
    """The name of a coefficient of two surfaces, or an error that offers the nearest one."""
    names = PAIR.names or ()
    if name not in names:
        raise ModelError(
            f"surfaces have no {name!r}"
            f"{near(name, [*names, *PLACES]) or '; they have ' + ', '.join(names)}"
        )
    return name


def check_coefficients(owner: str, specified: Mapping[str, float | None]) -> None:
    """Refuse a friction or a restitution that no surface has;
    those that are None are not looked at.
    """
    known = {
        name: real(f"{name} of {owner}", value)
        for name, value in specified.items()
        if value is not None
    }
    for name, value in known.items():
        if name == "restitution" and not 0 <= value <= 1:
            raise ModelError(f"{owner} has restitution {value:g}; expected a number from 0 to 1")
        if not 0 <= value < np.inf:
            raise ModelError(f"{owner} has {name} {value:g}; expected a number ≥ 0")
    friction, static = known.get("friction", 0.0), known.get("static_friction", np.inf)
    if friction > static:
        raise ModelError(
            f"{owner} has static_friction {static:g} and friction {friction:g}; "
            f"expected a static one that is not the smaller"
        )


@dataclass(eq=False)
class Shape:
    """A geometry placed in its body's frame. Example: ``tabi.Shape(tabi.Sphere(0.1))``.

    Attributes:
        placement: X_BS.
        collides, visible: whether contacts see it, whether people do.
        surface_velocity: how fast its surface runs over the body, in the body's axes [m/s]: a
            conveyor.
        color: red, green, blue, opacity in [0, 1].
    """

    geometry: Geometry | MeshFile
    placement: Transform = field(default_factory=Transform)
    material: Material = field(default_factory=Material)
    color: tuple[float, float, float, float] = (0.75, 0.76, 0.78, 1.0)
    collides: bool = True
    visible: bool = True
    name: str = ""
    surface_velocity: ArrayLike = (0.0, 0.0, 0.0)

    def support(self, d: ArrayLike) -> float:
        """Largest d·x over the shape, d and x in the body's frame."""
        d = np.asarray(d, float)
        assert not isinstance(self.geometry, MeshFile)
        return self.geometry.support(self.placement.R.T @ d) + float(d @ self.placement.p)
