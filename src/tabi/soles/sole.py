"""A deformable sole, ready to be stood on: its compliance, its mass, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real
from tabi.soles import condensation, elasticity, materials, modes, pressure
from tabi.soles.elasticity import Element
from tabi.soles.materials import Layer
from tabi.soles.mesh import FLAT, THROUGH, SoleMesh, Tread, sole_mesh
from tabi.soles.modes import SoleMode
from tabi.soles.pressure import PressureMap
from tabi.spatial.inertia import Inertia

Array = NDArray[Any]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DeformableSole:
    """A sole glued under a foot, small deformations, in the frame of that foot: z up into the leg,
    glued face at z = 0 if it was made of an outline.

    Forces on its k ground nodes and their displacements are vectors (3k,), node by node, x, y, z:
    U = C f at rest, f = C⁻¹ U + D U̇ in motion.

    Attributes:
        compliance: C [m/N], shape (3k, 3k), symmetric and positive definite.
        uneven_damping: D [N·s/m], shape (3k, 3k), where layers differ in their viscosity.

    Example: ``make_sole`` in docs/soles.md
    """

    mesh: SoleMesh
    layers: tuple[Layer, ...]
    element: Element
    compliance: Array
    uneven_damping: Array | None = None

    # ---- the ground face ------------------------------------------------------------------------

    @property
    def node_count(self) -> int:
        """k, nodes of the ground face."""
        return len(self.mesh.ground_nodes)

    @cached_property
    def ground_points(self) -> Array:
        """Ground nodes of the unloaded sole [m], shape (k, 3)."""
        return self.mesh.points[self.mesh.ground_nodes]

    @cached_property
    def ground_triangles(self) -> Indices:
        """The ground face by numbers of ground nodes, outwards counter-clockwise, shape (t, 3)."""
        return np.searchsorted(self.mesh.ground_nodes, self.mesh.ground)

    @cached_property
    def _area_vectors(self) -> Array:
        shares = np.zeros((self.node_count, 3))
        for corner in self.ground_triangles.T:
            np.add.at(shares, corner, self.mesh.ground_areas / 3.0)
        return shares

    @cached_property
    def areas(self) -> Array:
        """Share of each node in the ground face [m²], shape (k,): a third of its triangles."""
        shares = np.zeros(self.node_count)
        for corner in self.ground_triangles.T:
            np.add.at(shares, corner, np.linalg.norm(self.mesh.ground_areas, axis=1) / 3.0)
        return shares

    @cached_property
    def normals(self) -> Array:
        """Outwards at each node, shape (k, 3), unit vectors."""
        return self._area_vectors / np.linalg.norm(self._area_vectors, axis=1, keepdims=True)

    @cached_property
    def gaps(self) -> Array:
        """Heights of the ground nodes above the lowest [m], shape (k,)."""
        z = self.ground_points[:, 2]
        return z - z.min()

    @cached_property
    def flat(self) -> NDArray[np.bool_]:
        """Ground nodes in the plane of the lowest, shape (k,)."""
        return self.gaps <= FLAT * float(np.ptp(self.mesh.points[:, 2]))

    @cached_property
    def ground_centre(self) -> Array:
        """Middle of the flat part of the ground face [m], shape (3,)."""
        weights = np.where(self.flat, self.areas, 0.0)
        centre = weights @ self.ground_points / weights.sum()
        return np.array([centre[0], centre[1], self.ground_points[:, 2].min()])

    # ---- stiffness ------------------------------------------------------------------------------

    @cached_property
    def node_stiffness(self) -> Array:
        """K_c = C⁻¹ of the ground nodes [N/m], shape (3k, 3k)."""
        return condensation.inverse(self.compliance)

    @cached_property
    def damping(self) -> Array:
        """D [N·s/m], shape (3k, 3k)."""
        if self.uneven_damping is not None:
            return self.uneven_damping
        return self.layers[0].viscosity * self.node_stiffness

    @cached_property
    def stiffness(self) -> Array:
        """Force [N] and torque [N·m] about ``ground_centre`` over translation [m] and rotation
        [rad] of the flat ground face, moved as one piece that sticks to it, shape (6, 6).
        """
        rows = np.flatnonzero(np.repeat(self.flat, 3))
        R = pressure.rigid_motions(self.ground_points, self.ground_centre)[rows]
        K = R.T @ np.linalg.solve(self.compliance[np.ix_(rows, rows)], R)
        return 0.5 * (K + K.T)

    def sink(self, force: float) -> float:
        """Displacement of the foot [m] under a vertical force [N], level and stuck."""
        return _number("force on a sole", force) / float(self.stiffness[2, 2])

    @property
    def viscosity(self) -> float:
        """Damping time of the sole under level pressure [s]."""
        times = {layer.viscosity for layer in self.layers}
        if len(times) == 1:
            return times.pop()
        down = np.tile([0.0, 0.0, 1.0], self.node_count)
        U = self.compliance @ (self.areas.repeat(3) * down)
        return float(U @ (self.damping @ U) / (U @ (self.node_stiffness @ U)))

    # ---- load and mass --------------------------------------------------------------------------

    def pressure(self, wrench: ArrayLike, stuck: bool = False) -> PressureMap:
        """Pressure on flat, rigid ground; nodes only push.

        Args:
            wrench: vertical force [N], and x and y of the centre of pressure in the foot's frame
                [m].
            stuck: whether the flat ground face is held along the ground; it slides without friction
                otherwise.

        Raises:
            ModelError: for a force that pulls, or a centre of pressure outside of the ground face.
        """
        try:
            values = np.asarray(wrench, float)
        except (TypeError, ValueError):
            values = np.zeros(0)
        if values.shape != (3,) or not np.isfinite(values).all() or values[0] <= 0.0:
            raise ModelError(
                f"the wrench on a sole is {wrench}; expected a force above zero [N] and x and y of "
                "its centre of pressure [m]"
            )
        F, (x, y) = values[0], values[1:] - self.ground_centre[:2]
        load = F * np.array([1.0, y, -x])
        motions = pressure.rigid_motions(self.ground_points, self.ground_centre)
        sticking = self.flat if stuck else None
        force, motion = pressure.pushed(self.compliance, self.gaps, motions, load, sticking)
        at = force[:, 2] @ self.ground_points[:, :2] / force[:, 2].sum()
        return PressureMap(self.ground_points, force, force[:, 2] / self.areas, motion, at)

    @cached_property
    def inertia(self) -> Inertia:
        """Mass [kg], centre of mass [m] and tensor about it [kg·m²] in the foot's frame."""
        density = np.array([layer.density for layer in self.layers])
        masses = density[self.mesh.layer] * self.mesh.volumes
        corners = self.mesh.points[self.mesh.tetrahedra]
        sums, mass = corners.sum(axis=1), float(masses.sum())
        centre = masses @ sums / (4.0 * mass)
        corners, sums = corners - centre, sums - 4.0 * centre
        # ∫ x xᵀ over a tetrahedron is V/20 (Σ x xᵀ + Σx Σxᵀ)
        second = np.einsum("n,nai,naj->ij", masses, corners, corners)
        second = (second + np.einsum("n,ni,nj->ij", masses, sums, sums)) / 20.0
        return Inertia(mass, centre, np.trace(second) * np.eye(3) - second)

    @property
    def mass(self) -> float:
        """Mass of the sole [kg]."""
        return self.inertia.mass

    def modes(self, count: int = 6) -> list[SoleMode]:
        """The slowest motions of the sole by itself, its ground face free; slowest first."""
        whole = elasticity.assemble(self.mesh, self.layers, self.element)
        mass = elasticity.mass_matrix(self.mesh, self.layers, whole)
        return modes.modes(whole, mass, self.layers, count)

    def __repr__(self) -> str:
        return (
            f"DeformableSole({len(self.layers)} layers, {len(self.mesh.points)} nodes, "
            f"{self.node_count} on the ground, mass={self.mass:.3g} kg)"
        )


def sole_of_mesh(
    mesh: SoleMesh,
    layers: Layer | Sequence[Layer],
    element: Element = "mini",
    cache: bool = True,
) -> DeformableSole:
    """Make a sole from a mesh, for example one of Gmsh; arguments as in ``make_sole``.

    Example: docs/soles.md
    """
    made = materials.in_units(layers)
    condensed = condensation.condensed(mesh, made, element, cache)
    return DeformableSole(mesh, made, element, condensed.compliance, condensed.damping)


def make_sole(
    outline: ArrayLike,
    layers: Layer | Sequence[Layer],
    element_size: float = 0.015,
    holes: Sequence[ArrayLike] = (),
    tread: Tread | None = None,
    rounded: float = 0.0,
    through: int = THROUGH,
    element: Element = "mini",
    cache: bool = True,
) -> DeformableSole:
    """Make a sole from an outline and its layers of material.

    Args:
        outline: corners [m], shape (n, 2), in the foot's frame, as ``robot.feet[…].polygon``.
        layers: one Layer or more, from the foot down.
        element_size: length of an element's side along the ground [m].
        holes: outlines inside. tread: grooves. rounded: radius of the outer ground edges [m].
        through: elements through each layer, at least.
        element: "mini", or "linear" for ν below 0.45.
        cache: whether its compliance may come from disk, and is kept there.

    Raises:
        ModelError: if one of them cannot be.

    Example: docs/soles.md
    """
    layers = materials.in_units(layers)
    mesh = sole_mesh(outline, layers, element_size, holes, tread, rounded, through)
    return sole_of_mesh(mesh, layers, element, cache)


def _number(owner: str, value: float) -> float:
    number = real(owner, value)
    if not isfinite(number):
        raise ModelError(f"{owner} is {number}; expected a finite number")
    return number
