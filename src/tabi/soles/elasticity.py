"""Stiffness of a sole's tetrahedra, by scikit-fem.

Find the displacement u, zero where the sole is glued, and with it the pressure p, so that for all
others v and q

    ∫ 2μ dev ε(u) : dev ε(v) + ∫ p div v = load(v)                                              (1)
    ∫ q div u − ∫ p q / κ = 0                                                                   (2)

ε the strain, dev its part without change of volume, μ and κ the layer's moduli. p is the mean
stress, κ div u. Eliminated, it gives the usual ∫ κ div u div v + ∫ 2μ dev ε : dev ε.

"linear" and "quadratic" are P1 and P2 displacements without p. Near ν = 0.5 linear ones lock: every
tetrahedron has to keep its own volume, which leaves hardly any motion. "mini" is Arnold's, Brezzi's
and Fortin's element: linear u with a bubble b = λ₁λ₂λ₃λ₄ along each axis inside of every
tetrahedron, and linear p, continuous in each layer. Bubbles are not coupled to each other nor, as
∫ ∇b = 0, to linear u; eliminated, they leave a term in p alone, and four unknowns per corner:

    [ A  Bᵀ ] [u]   [f]
    [ B  −S ] [p] = [0],     S = ∫ p q / κ + ∫ ∇p · T ∇q                                        (3)
    T = V/840² (μ tr G 1 + μ G/3)⁻¹,   G = ∫ ∇b ∇bᵀ = V/15120 Σ ∇λ ∇λᵀ,   ∫ b = V/840           (4)
A and S are positive definite: (3) can be eliminated in any order.

Reference: Arnold, Brezzi and Fortin (1984), A stable finite element for the Stokes equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.soles.materials import Layer
from tabi.soles.mesh import SoleMesh

Array = NDArray[Any]
Indices = NDArray[np.int64]
Element = Literal["mini", "linear", "quadratic"]
ELEMENTS: tuple[Element, ...] = ("mini", "linear", "quadratic")


@dataclass(frozen=True, eq=False)
class Stiffness:
    """The matrix of (3), or of displacements alone, with what is glued still in it.

    Attributes:
        parts: of each layer [N/m], sparse (d, d); ``matrix`` is their sum.
        displacement: unknowns of each node's displacement, shape (nodes, 3); the first nodes are
            the mesh's corners.
        nodes: places of the nodes [m], shape (nodes, 3).
        glued: unknowns that the foot holds.
        node: the corner that each unknown belongs to, shape (d,), −1 on an edge of quadratic ones.
    """

    parts: tuple[Any, ...]
    displacement: Indices
    nodes: Array
    glued: Indices
    node: Indices

    @property
    def matrix(self) -> Any:
        """Stiffness matrix of all layers together [N/m]."""
        whole: Any = sum(self.parts[1:], self.parts[0])
        return whole.tocsc()

    @property
    def free(self) -> Indices:
        """Unknowns that are not glued to the foot."""
        return np.setdiff1d(np.arange(self.parts[0].shape[0]), self.glued)


def assemble(mesh: SoleMesh, layers: tuple[Layer, ...], element: Element = "mini") -> Stiffness:
    """Stiffness of a sole.

    Args:
        element: "mini", which does not lock, "linear" or "quadratic".

    Raises:
        ModelError: for another element, or tetrahedra of layers that are not there.
    """
    if element not in ELEMENTS:
        raise ModelError(f"element {element!r} is not known; expected {', '.join(ELEMENTS)}")
    if mesh.layer.max() >= len(layers) or mesh.layer.min() < 0:
        raise ModelError(
            f"the mesh has tetrahedra of layer {mesh.layer.max()}, and {len(layers)} layers are "
            "given; expected one Layer for each"
        )
    return _mini(mesh, layers) if element == "mini" else _plain(mesh, layers, element)


def mass_matrix(mesh: SoleMesh, layers: tuple[Layer, ...], whole: Stiffness) -> Any:
    """∫ density u · v [kg], sparse (d, d), numbered as the stiffness; pressures have no mass."""
    import skfem

    @skfem.BilinearForm
    def inertial(u: Any, v: Any, w: Any) -> Any:
        return w.density * u * v

    quadratic = len(whole.nodes) > len(mesh.points)
    scalar = skfem.ElementTetP2() if quadratic else skfem.ElementTetP1()
    basis: Any = skfem.Basis(_tetrahedra(mesh), scalar)
    mass = inertial.assemble(basis, density=_each(mesh, layers, "density")).tocoo()
    # corners first, then edges, as the nodes are
    rows, columns = (whole.displacement[i] for i in mass.coords)
    entries = np.repeat(mass.data, 3), (rows.ravel(), columns.ravel())
    return sparse.csr_matrix(entries, shape=whole.parts[0].shape)


def _plain(mesh: SoleMesh, layers: tuple[Layer, ...], element: str) -> Stiffness:
    """Displacements alone, linear or quadratic."""
    import skfem  # here and below: it takes long to import, and few worlds have soles

    tetrahedra = _tetrahedra(mesh)
    scalar = skfem.ElementTetP1() if element == "linear" else skfem.ElementTetP2()
    basis: Any = skfem.Basis(tetrahedra, skfem.ElementVector(scalar))
    mu, kappa = (_each(mesh, layers, name) for name in ("shear_modulus", "bulk_modulus"))
    parts = [
        _elastic().assemble(basis, mu=mu * of, kappa=kappa * of) for of in _shares(mesh, layers)
    ]
    corners: Indices = basis.nodal_dofs.T.astype(np.int64)
    node = np.full(basis.N, -1)
    node[corners] = np.arange(len(corners))[:, None]
    displacement, glued = corners, corners[mesh.glued]
    if element == "quadratic":
        is_glued = np.zeros(tetrahedra.nvertices, bool)
        is_glued[mesh.glued] = True
        # an edge between two glued corners is glued where a face of the foot is: at their height
        edges = basis.edge_dofs.T.astype(np.int64)
        both = is_glued[tetrahedra.edges].all(axis=0)
        displacement = np.concatenate([corners, edges])
        glued = np.concatenate([glued, edges[both]])
    nodes = np.stack([basis.doflocs[:, row[0]] for row in displacement])
    return Stiffness(tuple(parts), displacement, nodes, glued.ravel(), node)


def _mini(mesh: SoleMesh, layers: tuple[Layer, ...]) -> Stiffness:
    """Equation (3), pressures numbered apart for each layer, after the displacements."""
    import skfem
    from skfem.helpers import div, dot, grad, mul

    tetrahedra = _tetrahedra(mesh)
    # slopes are constant: one point of a tetrahedron is enough for them, not for squares
    scalar, vector = skfem.ElementTetP1(), skfem.ElementVector(skfem.ElementTetP1())
    basis: Any = skfem.Basis(tetrahedra, vector, intorder=1)
    squares = skfem.Basis(tetrahedra, scalar, intorder=2)
    pressures = basis.with_element(scalar)
    mu, kappa = (_each(mesh, layers, name) for name in ("shear_modulus", "bulk_modulus"))

    @skfem.BilinearForm
    def volume(u: Any, q: Any, w: Any) -> Any:
        return w.of * q * div(u)

    @skfem.BilinearForm
    def squeeze(p: Any, q: Any, w: Any) -> Any:
        slopes: Any = grad(p), grad(q)
        return w.of * (p * q / w.kappa + dot(slopes[0], mul(w.T, slopes[1])))

    T = np.moveaxis(bubble_term(mesh, mu[:, 0]), 0, -1)[..., None]
    corners: Indices = basis.nodal_dofs.T.astype(np.int64)
    u, n, count = corners.ravel(), len(corners), 3 * len(corners)
    of_layer = [np.unique(mesh.tetrahedra[mesh.layer == i]) for i in range(len(layers))]
    starts = count + np.cumsum([0, *map(len, of_layer)])
    parts = []
    for of, nodes, start in zip(_shares(mesh, layers), of_layer, starts[:-1], strict=True):
        A = _elastic().assemble(basis, mu=mu * of, kappa=0.0 * kappa)[u][:, u]
        B = volume.assemble(basis, pressures, of=of)[nodes][:, u]
        S = squeeze.assemble(squares, of=of, kappa=kappa, T=T)[nodes][:, nodes]
        part = sparse.block_array([[A, B.T], [B, -S]]).tocoo()
        number = np.concatenate([np.arange(count), start + np.arange(len(nodes))])
        shape = (starts[-1], starts[-1])
        entries = (part.data, (number[part.coords[0]], number[part.coords[1]]))
        parts.append(sparse.csr_matrix(entries, shape=shape))
    displacement = np.arange(count).reshape(n, 3)
    return Stiffness(
        tuple(parts),
        displacement,
        mesh.points,
        displacement[mesh.glued].ravel(),
        np.concatenate([np.repeat(np.arange(n), 3), *of_layer]),
    )


def bubble_term(mesh: SoleMesh, mu: Array) -> Array:
    """T of (4) for each tetrahedron, shape (m, 3, 3); μ [Pa], shape (m,)."""
    corners = mesh.points[mesh.tetrahedra]
    # rows of the inverse are ∇λ of three corners, and all four add up to nothing
    three = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
    slopes = np.concatenate([-three.sum(axis=1, keepdims=True), three], axis=1)
    V = mesh.volumes[:, None, None]
    G = V / 15120.0 * np.einsum("nai,naj->nij", slopes, slopes)
    spread = np.trace(G, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    return V / 840.0**2 * np.linalg.inv(mu[:, None, None] * (spread + G / 3.0))


# ---- forms and parts ----------------------------------------------------------------------------


def _tetrahedra(mesh: SoleMesh) -> Any:
    import skfem

    arrays = np.ascontiguousarray(mesh.points.T), np.ascontiguousarray(mesh.tetrahedra.T)
    return skfem.MeshTet(*arrays)


def _each(mesh: SoleMesh, layers: tuple[Layer, ...], name: str) -> Array:
    """A constant of each tetrahedron's layer, shape (m, 1)."""
    return np.array([getattr(layer, name) for layer in layers])[mesh.layer][:, None]


def _shares(mesh: SoleMesh, layers: tuple[Layer, ...]) -> list[Array]:
    """1 in the tetrahedra of a layer, 0 elsewhere, shape (m, 1) each."""
    return [(mesh.layer == i).astype(float)[:, None] for i in range(len(layers))]


def _elastic() -> Any:
    """∫ κ div u div v + 2μ dev ε(u) : dev ε(v)."""
    import skfem
    from skfem.helpers import ddot, div, sym_grad

    @skfem.BilinearForm
    def elastic(u: Any, v: Any, w: Any) -> Any:
        squeezed = (w.kappa - 2.0 / 3.0 * w.mu) * div(u) * div(v)
        return squeezed + 2.0 * w.mu * ddot(sym_grad(u), sym_grad(v))

    return elastic
