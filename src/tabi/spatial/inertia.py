"""Inertia of rigid bodies for building worlds: mass, centre of mass and the tensor about it.

    I_o = I_c + m (c·c 1 − c cᵀ)                                                        (1)
The sum of two bodies has mass m₁ + m₂, centre (m₁c₁ + m₂c₂)/(m₁ + m₂),
and (1) moves both tensors there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabi._renamed import RenamedAttribute
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass [kg], centre of mass [m], shape (3,), and tensor about it [kg·m²], shape (3, 3),
    in the body's axes.

    Examples:
        >>> tabi.Inertia(mass=2.0, tensor=0.01 * np.eye(3)).mass
        2.0
    """

    mass: float = 0.0
    centre: Array = field(default_factory=lambda: np.zeros(3))
    tensor: Array = field(default_factory=lambda: np.zeros((3, 3)))
    moved = RenamedAttribute("transformed")

    def __add__(self, other: Inertia) -> Inertia:
        mass = self.mass + other.mass
        if mass == 0.0:
            return Inertia(0.0, np.zeros(3), self.tensor + other.tensor)
        centre = (self.mass * self.centre + other.mass * other.centre) / mass
        return Inertia(mass, centre, self._about(centre) + other._about(centre))

    def _about(self, point: Array) -> Array:
        c = self.centre - point
        return self.tensor + self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def transformed(self, X_AB: Transform) -> Inertia:
        """Return the inertia in frame A of a body whose inertia is known in frame B."""
        return Inertia(self.mass, X_AB @ self.centre, X_AB.R @ self.tensor @ X_AB.R.T)

    def scaled(self, factor: float) -> Inertia:
        """The same body with its density multiplied."""
        return Inertia(self.mass * factor, self.centre, self.tensor * factor)


def solid_box(mass: float, size: tuple[float, float, float] | Array) -> Inertia:
    """Inertia of a homogeneous box with edges ``size`` [m].

    Examples:
        >>> solid_box(2.0, (0.3, 0.2, 0.1)).mass
        2.0
    """
    x, y, z = np.square(np.asarray(size, float))
    return Inertia(mass, np.zeros(3), np.diag([y + z, x + z, x + y]) * mass / 12)


def solid_sphere(mass: float, radius: float) -> Inertia:
    """Inertia of a homogeneous ball with ``radius`` [m].

    Examples:
        >>> solid_sphere(2.0, radius=0.1).mass
        2.0
    """
    return Inertia(mass, np.zeros(3), np.eye(3) * 0.4 * mass * radius**2)


def solid_ellipsoid(mass: float, radii: tuple[float, float, float] | Array) -> Inertia:
    """Inertia of a homogeneous ellipsoid with half axes ``radii`` along x, y, z [m].

    Examples:
        >>> solid_ellipsoid(2.0, (0.3, 0.2, 0.1)).mass
        2.0
    """
    x, y, z = np.square(np.asarray(radii, float))
    return Inertia(mass, np.zeros(3), np.diag([y + z, x + z, x + y]) * mass / 5)


def solid_cylinder(mass: float, radius: float, length: float) -> Inertia:
    """A homogeneous cylinder along z, ``mass`` [kg], ``radius`` and ``length`` [m].

    Examples:
        >>> solid_cylinder(2.0, radius=0.05, length=0.3).mass
        2.0
    """
    across = mass * (3 * radius**2 + length**2) / 12
    return Inertia(mass, np.zeros(3), np.diag([across, across, 0.5 * mass * radius**2]))


def solid_capsule(mass: float, radius: float, length: float) -> Inertia:
    """Inertia of a homogeneous capsule along z; ``length`` [m] is that of the cylinder, without the
    caps.

    Examples:
        >>> solid_capsule(2.0, radius=0.05, length=0.3).mass
        2.0
    """
    cylinder = np.pi * radius**2 * length
    ball = 4 / 3 * np.pi * radius**3
    part = mass / (cylinder + ball)
    body = solid_cylinder(part * cylinder, radius, length)
    # half balls: centre 3r/8 from the flat face, tensor across 83/320 m r²
    half = Inertia(
        part * ball / 2,
        np.zeros(3),
        np.diag([83 / 320, 83 / 320, 0.4]) * part * ball / 2 * radius**2,
    )
    offset = length / 2 + 3 / 8 * radius
    for z in (offset, -offset):
        body = body + half.transformed(Transform(np.eye(3), np.array([0.0, 0.0, z])))
    return body


def solid_hull(mass: float, vertices: Array, triangles: NDArray[np.integer]) -> Inertia:
    """A homogeneous body inside a closed surface of outward triangles [m]:
    a sum over the tetrahedra between them and the origin.

    A tetrahedron 0, a, b, c has the volume d/6, d = det(a, b, c), its first moment is d/24
    (a + b + c), its second one ∫ x xᵀ = d/120 (aaᵀ + bbᵀ + ccᵀ + (a + b + c)(a + b + c)ᵀ).

    Examples:
        >>> corners = np.vstack([np.zeros(3), np.eye(3)])
        >>> faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        >>> solid_hull(2.0, corners, faces).mass
        2.0
    """
    # near its own middle, lest the sums cancel
    middle = vertices.mean(axis=0)
    corners = (vertices - middle)[triangles]
    total, d = corners.sum(axis=1), np.linalg.det(corners)
    volume, first = d.sum() / 6, d @ total / 24
    second = (
        np.einsum("n,nki,nkj->ij", d, corners, corners) + np.einsum("n,ni,nj->ij", d, total, total)
    ) / 120
    centre = first / volume
    about = mass * (second / volume - np.outer(centre, centre))
    return Inertia(mass, middle + centre, np.trace(about) * np.eye(3) - about)
