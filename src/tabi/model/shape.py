"""Shapes of bodies: what collides and what is seen, with materials.

Every geometry answers ``support(d)``, the largest d·x over its points, and ``points()``, points whose
convex hull is the shape (exactly for boxes and polytopes, a 24-gon for round ones).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
_CIRCLE = np.stack([np.cos(np.arange(24) * np.pi / 12), np.sin(np.arange(24) * np.pi / 12), np.zeros(24)], axis=1)


def _positive(kind: str, **values: float) -> None:
    for name, given in values.items():
        value = real(f"{name} of a {kind}", given)
        if not (np.isfinite(value) and value > 0):
            raise ModelError(f"{kind} has {name} {value:g}; expected a positive length in metres")


@dataclass(frozen=True)
class Sphere:
    """A ball of a radius [m]."""

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


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z: radius and full length [m]."""

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
    """A capsule along z: radius and length of its cylinder, without the caps [m]."""

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
    """A box with edges x, y, z [m]."""

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        if np.shape(self.size) != (3,):
            raise ModelError(f"box has size {self.size}; expected three edges x, y, z in metres")
        _positive("box", **{f"size {a}": s for a, s in zip("xyz", self.size, strict=True)})

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return 0.5 * float(np.abs(d) @ np.asarray(self.size))

    def points(self) -> Array:
        """The eight corners."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return 0.5 * signs * np.asarray(self.size)


@dataclass(frozen=True, eq=False)
class Convex:
    """A convex polytope: its vertices [m], shape (n, 3), and outward triangles, shape (m, 3)."""

    vertices: Array
    triangles: NDArray[np.int32]
    file: Path | None = None

    def support(self, d: Array) -> float:
        """Largest d·x."""
        return float((self.vertices @ d).max())

    def points(self) -> Array:
        """The vertices."""
        return self.vertices


@dataclass(frozen=True)
class HalfSpace:
    """Everything below the plane z = 0 of its frame."""

    def support(self, d: Array) -> float:
        """Largest d·x: 0 straight up, else without bound."""
        return 0.0 if d[2] > 0 and d[0] == d[1] == 0 else float("inf")

    def points(self) -> Array:
        """One point of the plane: a half-space has no corners."""
        return np.zeros((1, 3))


@dataclass(frozen=True)
class MeshFile:
    """A mesh that is only drawn: its file and scale."""

    file: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


Geometry = Sphere | Cylinder | Capsule | Box | Convex | HalfSpace


@dataclass(eq=False)
class Material:
    """A surface: coefficient of friction, and restitution in [0, 1]."""

    name: str = "default"
    friction: float = 1.0
    restitution: float = 0.0

    def __post_init__(self) -> None:
        check_coefficients(f"material {self.name!r}", self.friction, self.restitution)


def check_coefficients(owner: str, friction: float, restitution: float) -> None:
    """Refuse a friction or a restitution that no surface has."""
    friction, restitution = real(f"friction of {owner}", friction), real(f"restitution of {owner}", restitution)
    if not (np.isfinite(friction) and friction >= 0):
        raise ModelError(f"{owner} has friction {friction:g}; expected a number ≥ 0")
    if not 0 <= restitution <= 1:
        raise ModelError(f"{owner} has restitution {restitution:g}; expected a number from 0 to 1")


@dataclass(eq=False)
class Shape:
    """A geometry placed in its body's frame.

    Attributes:
        placement: X_BS.
        collides, visible: whether contacts see it, whether people do.
        color: red, green, blue, opacity in [0, 1].
    """

    geometry: Geometry | MeshFile
    placement: Transform = field(default_factory=Transform)
    material: Material = field(default_factory=Material)
    color: tuple[float, float, float, float] = (0.75, 0.76, 0.78, 1.0)
    collides: bool = True
    visible: bool = True
    name: str = ""

    def support(self, d: ArrayLike) -> float:
        """Largest d·x over the shape, d and x in the body's frame."""
        d = np.asarray(d, float)
        assert not isinstance(self.geometry, MeshFile)
        return self.geometry.support(self.placement.R.T @ d) + float(d @ self.placement.p)
