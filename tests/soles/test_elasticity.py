"""Elements of soles: patch test, rates of convergence, no locking near ν = 0.5."""

import numpy as np
import pytest
import scipy.sparse as sparse
import skfem
from scipy.sparse.linalg import splu
from skfem.helpers import ddot, div, sym_grad
from soles.shapes import disc

from tabi import ModelError
from tabi.soles.elasticity import ELEMENTS, assemble, bubble_term, mass_matrix
from tabi.soles.materials import Layer
from tabi.soles.mesh import SoleMesh, sole_mesh
from tabi.soles.sole import make_sole

SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]


def cube(pieces: int, nu: float, crooked: float = 0.0) -> tuple[SoleMesh, tuple[Layer, ...]]:
    """The unit cube below the foot, inner corners moved by a part of an element."""
    layers = (Layer(1.0, 3.0, nu, density=2.0),)
    mesh = sole_mesh(SQUARE, layers, 1.0 / pieces, through=1)
    inside = inner(mesh.points)
    moved = np.random.default_rng(1).uniform(-crooked, crooked, (int(inside.sum()), 3)) / pieces
    points = mesh.points.copy()
    points[inside] += moved
    return SoleMesh(points, mesh.tetrahedra, mesh.layer, mesh.glued, mesh.ground), layers


def inner(points):
    low, high = points.min(axis=0), points.max(axis=0)
    return ((points > low + 1e-9) & (points < high - 1e-9)).all(axis=1)


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("nu", [0.0, 0.3, 0.4999])
def test_patch_test_a_constant_strain_needs_no_force_inside(element, nu):
    mesh, layers = cube(3, nu, crooked=0.15)
    K = assemble(mesh, layers, element)
    strain = np.random.default_rng(2).uniform(-1, 1, (3, 3))
    x = np.zeros(K.matrix.shape[0])
    x[K.displacement] = K.nodes @ strain.T
    if element == "mini":
        # the pressures come last: κ div u everywhere
        x[K.displacement.size :] = layers[0].bulk_modulus * np.trace(strain)
    force = K.matrix @ x
    # what boundary nodes need is of the size of the stresses times the faces of elements
    scale = np.abs(force).max()
    assert np.abs(force[K.displacement[inner(K.nodes)]]).max() < 1e-12 * scale
    if element == "mini":
        assert np.abs(force[K.displacement.size :]).max() < 1e-12 * scale


@pytest.mark.parametrize("element", ELEMENTS)
def test_stiffness_is_symmetric_and_a_motion_of_the_whole_costs_nothing(element):
    mesh, layers = cube(2, 0.3)
    K = assemble(mesh, layers, element)
    matrix = K.matrix
    scale = abs(matrix).max()
    assert abs(matrix - matrix.T).max() < 1e-13 * scale
    for motion in (np.eye(3)[0] + 0 * K.nodes, np.cross([0.3, -0.2, 0.5], K.nodes)):
        x = np.zeros(matrix.shape[0])
        x[K.displacement] = motion
        assert np.abs(matrix @ x).max() < 1e-12 * scale


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_moved_and_a_turned_cube_have_the_energy_of_a_rigid_one(element):
    mesh, layers = cube(2, 0.3, crooked=0.1)
    K = assemble(mesh, layers, element)
    M = mass_matrix(mesh, layers, K)
    spin, speed = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -1.0])
    v = np.zeros(M.shape[0])
    # about the middle of the cube, whose edges are 1 m and whose mass is 2 kg
    v[K.displacement] = speed + np.cross(spin, K.nodes - [0.5, 0.5, -0.5])
    assert v @ (M @ v) == pytest.approx(2.0 * (speed @ speed + spin @ spin / 6.0), rel=1e-12)


def solved(pieces: int, element: str) -> tuple[float, float]:
    """Errors in L2 and H1 of a solution that is known: u = a sin πx sin πy sin πz, held all
    round.
    """
    mesh, layers = cube(pieces, 0.3)
    mu, lam = layers[0].shear_modulus, layers[0].bulk_modulus - 2 / 3 * layers[0].shear_modulus
    K, a, pi = assemble(mesh, layers, element), np.array([1.0, 2.0, -1.0]), np.pi

    def parts(x):
        s, c = np.sin(pi * x), np.cos(pi * x)
        g = s[0] * s[1] * s[2]
        slope = pi * np.array([c[0] * s[1] * s[2], s[0] * c[1] * s[2], s[0] * s[1] * c[2]])
        xy, xz, yz = c[0] * c[1] * s[2], c[0] * s[1] * c[2], s[0] * c[1] * c[2]
        H = pi**2 * np.array([[-g, xy, xz], [xy, -g, yz], [xz, yz, -g]])
        return g, slope, H

    @skfem.LinearForm
    def load(v, w):
        g, _, H = parts(w.x)
        # −div σ = −μ Δu − (λ + μ) ∇ div u
        f = 3 * pi**2 * mu * a[:, None, None] * g - (lam + mu) * np.einsum("ij...,j->i...", H, a)
        return np.einsum("i...,i...", f, v)

    scalar = skfem.ElementTetP2() if element == "quadratic" else skfem.ElementTetP1()
    tetrahedra = skfem.MeshTet(*map(np.ascontiguousarray, (mesh.points.T, mesh.tetrahedra.T)))
    basis = skfem.Basis(tetrahedra, skfem.ElementVector(scalar), intorder=5)
    numbers = basis.nodal_dofs.T
    if element == "quadratic":
        numbers = np.concatenate([numbers, basis.edge_dofs.T])
    right = np.zeros(K.matrix.shape[0])
    right[K.displacement] = load.assemble(basis)[numbers]
    free = np.setdiff1d(np.arange(len(right)), K.displacement[~inner(K.nodes)])
    x = np.zeros(len(right))
    x[free] = splu(K.matrix[free][:, free].tocsc()).solve(right[free])
    u = np.zeros(basis.N)
    u[numbers] = x[K.displacement]
    found, (g, slope, _) = basis.interpolate(u), parts(np.asarray(basis.global_coordinates()))
    value = np.asarray(found) - a[:, None, None] * g
    tilt = found.grad - a[:, None, None, None] * slope
    return (
        float(np.sqrt(((value**2).sum(axis=0) * basis.dx).sum())),
        float(np.sqrt(((tilt**2).sum(axis=(0, 1)) * basis.dx).sum())),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("element", "pieces", "rates"),
    [("linear", 6, (2, 1)), ("mini", 6, (2, 1)), ("quadratic", 3, (3, 2))],
)
def test_errors_fall_with_the_powers_that_theory_gives(element, pieces, rates):
    coarse, fine = solved(pieces, element), solved(2 * pieces, element)
    # of displacements and of stresses
    assert len(coarse) == 2
    for before, after, rate in zip(coarse, fine, rates, strict=True):
        # halved once from a coarse mesh: not yet in the limit
        assert np.log2(before / after) == pytest.approx(rate, abs=0.3)


def test_eliminated_bubbles_are_those_of_the_mini_element():
    mesh, layers = cube(2, 0.3, crooked=0.1)
    tetrahedra = skfem.MeshTet(*map(np.ascontiguousarray, (mesh.points.T, mesh.tetrahedra.T)))
    basis = skfem.Basis(tetrahedra, skfem.ElementVector(skfem.ElementTetMini()), intorder=8)
    pressures = basis.with_element(skfem.ElementTetP1())
    mu = layers[0].shear_modulus

    @skfem.BilinearForm
    def without_volume(u, v, w):
        return 2 * mu * (ddot(sym_grad(u), sym_grad(v)) - div(u) * div(v) / 3)

    @skfem.BilinearForm
    def volume(u, q, w):
        return q * div(u)

    A, B = without_volume.assemble(basis), volume.assemble(basis, pressures)
    bubbles, corners = basis.interior_dofs.ravel(), basis.nodal_dofs.ravel()
    assert abs(A[bubbles][:, corners]).max() < 1e-12 * abs(A).max()
    B_b = B[:, bubbles].toarray()
    expected = B_b @ np.linalg.solve(A[bubbles][:, bubbles].toarray(), B_b.T)
    T = bubble_term(mesh, np.full(len(mesh.tetrahedra), mu))
    slopes = np.linalg.inv(
        np.concatenate([mesh.points[mesh.tetrahedra], np.ones((len(T), 4, 1))], axis=2)
    )[:, :3]
    each = np.einsum("n,nia,nij,njb->nab", mesh.volumes, slopes, T, slopes)
    t, n = mesh.tetrahedra, len(mesh.points)
    rows, columns = np.repeat(t, 4, axis=1).ravel(), np.tile(t, (1, 4)).ravel()
    found = sparse.coo_array((each.ravel(), (rows, columns)), (n, n)).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.slow
def test_a_bonded_rubber_disc_is_as_stiff_as_gent_says_and_linear_elements_lock():
    # Gent and Lindley (1959): E (1 + 2 S²), S = R / 2t, for rubber that keeps its volume
    t, S, E = 0.02, 2.0, 1e6
    outline = disc(2 * S * t, 32)
    layer = Layer(t, E, 0.499)
    stiffness = {}
    for element in ("mini", "linear"):
        sole = make_sole(outline, layer, 0.015, element=element, cache=False)
        stiffness[element] = sole.stiffness[2, 2] * t / sole.areas.sum() / E
    assert stiffness["mini"] == pytest.approx(1 + 2 * S**2, rel=0.05)
    assert stiffness["linear"] > 2 * (1 + 2 * S**2)


def test_unknown_elements_and_missing_layers_are_refused():
    mesh, layers = cube(2, 0.3)
    with pytest.raises(ModelError, match="'cubic' is not known; expected mini, linear, quadratic"):
        assemble(mesh, layers, "cubic")
    two = SoleMesh(mesh.points, mesh.tetrahedra, mesh.layer + 1, mesh.glued, mesh.ground)
    with pytest.raises(ModelError, match="expected one Layer for each"):
        assemble(two, layers)
