"""The ground nodes' compliance, and the files it is kept in."""

from dataclasses import replace

import numpy as np
import pytest
from soles.shapes import BOOT, RECTANGLE

from tabi import ModelError
from tabi.soles.condensation import MAX_CACHED_FILES, condensed
from tabi.soles.elasticity import assemble
from tabi.soles.materials import Layer
from tabi.soles.mesh import SoleMesh, sole_mesh

SOFT, HARD = Layer(0.01, 1e6, 0.3, viscosity=1e-3), Layer(0.006, 4e6, 0.49, viscosity=3e-3)


def coarse(layers, outline=RECTANGLE):
    return sole_mesh(outline, layers, 0.04, through=2)


def split(mesh, layers, element):
    K = assemble(mesh, layers, element)
    ground = K.displacement[mesh.ground_nodes].ravel()
    return K, ground, np.setdiff1d(K.free, ground)


@pytest.mark.parametrize("element", ["mini", "linear"])
@pytest.mark.parametrize("outline", [RECTANGLE, BOOT], ids=["foot", "boot"])
def test_compliance_is_the_inverse_of_the_condensed_stiffness(element, outline):
    layers = (SOFT, HARD)
    mesh = coarse(layers, outline)
    C = condensed(mesh, layers, element, cache=False).compliance
    K, c, n = split(mesh, layers, element)
    dense = K.matrix.toarray()
    K_c = dense[np.ix_(c, c)] - dense[np.ix_(c, n)] @ np.linalg.solve(
        dense[np.ix_(n, n)], dense[np.ix_(n, c)]
    )
    assert np.abs(C @ K_c - np.eye(len(c))).max() < 1e-9
    whole = np.linalg.inv(dense[np.ix_(K.free, K.free)])
    at = np.searchsorted(K.free, c)
    np.testing.assert_allclose(C, whole[np.ix_(at, at)], atol=1e-9 * np.abs(C).max())
    np.testing.assert_array_equal(C, C.T)
    assert np.linalg.eigvalsh(C).min() > 0.0


def test_compliance_scales_with_a_common_factor_of_youngs_moduli(tmp_path):
    layers = (SOFT, HARD)
    harder = tuple(replace(x, young_modulus=7.0 * x.young_modulus, density=1.0) for x in layers)
    mesh = coarse(layers)
    first = condensed(mesh, layers, folder=tmp_path)
    second = condensed(mesh, harder, folder=tmp_path)
    np.testing.assert_allclose(7.0 * second.compliance, first.compliance, rtol=1e-12)
    np.testing.assert_allclose(second.damping, 7.0 * first.damping, rtol=1e-12)
    # one condensation served both
    assert len(list(tmp_path.iterdir())) == 1
    fresh = condensed(mesh, harder, cache=False).compliance
    np.testing.assert_allclose(second.compliance, fresh, atol=1e-12 * np.abs(fresh).max())


def test_uneven_damping_is_that_of_nodes_that_follow_the_ground_as_at_rest():
    layers = (SOFT, HARD)
    mesh = coarse(layers)
    K, c, n = split(mesh, layers, "linear")
    D = sum(x.viscosity * part.toarray() for x, part in zip(layers, K.parts, strict=True))
    dense = K.matrix.toarray()
    G = np.zeros((len(dense), len(c)))
    G[c] = np.eye(len(c))
    G[n] = -np.linalg.solve(dense[np.ix_(n, n)], dense[np.ix_(n, c)])
    found = condensed(mesh, layers, "linear", cache=False).damping
    expected = G.T @ D @ G
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    assert condensed(mesh, (SOFT, replace(HARD, viscosity=1e-3)), cache=False).damping is None


def test_what_comes_from_disk_is_what_went_there_and_broken_files_are_made_anew(tmp_path):
    mesh = coarse(SOFT)
    made = condensed(mesh, (SOFT,), folder=tmp_path).compliance
    (file,) = tmp_path.iterdir()
    np.testing.assert_array_equal(condensed(mesh, (SOFT,), folder=tmp_path).compliance, made)
    # the file is read: another content is another answer
    np.savez(file, compliance=2.0 * np.load(file)["compliance"])
    doubled = condensed(mesh, (SOFT,), folder=tmp_path).compliance
    np.testing.assert_allclose(doubled, 2.0 * made, rtol=1e-14)
    whole = file.read_bytes()
    small, void = np.eye(3), np.full(made.shape, np.nan)
    for broken in (b"", b"nonsense", whole[: len(whole) // 2]):
        file.write_bytes(broken)
        np.testing.assert_array_equal(condensed(mesh, (SOFT,), folder=tmp_path).compliance, made)
    for wrong in (small, void):
        np.savez(file, compliance=wrong)
        np.testing.assert_array_equal(condensed(mesh, (SOFT,), folder=tmp_path).compliance, made)


def test_files_differ_by_material_element_and_mesh_and_only_the_last_are_kept(tmp_path):
    mesh = coarse(SOFT)
    for layer in (SOFT, replace(SOFT, poisson_ratio=0.31)):
        for element in ("mini", "linear"):
            condensed(mesh, (layer,), element, folder=tmp_path)
    condensed(coarse(SOFT, BOOT), (SOFT,), folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 5
    for i in range(MAX_CACHED_FILES):
        layer = replace(SOFT, poisson_ratio=0.1 + 0.01 * i)
        condensed(mesh, (layer,), "linear", folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == MAX_CACHED_FILES


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    mesh = coarse(SOFT)
    kept, made = (condensed(mesh, (SOFT,), folder=f) for f in (blocked / "x", tmp_path / "y"))
    np.testing.assert_array_equal(kept.compliance, made.compliance)


def test_a_part_that_hangs_on_nothing_and_quadratic_elements_are_refused():
    mesh = coarse(SOFT)
    n = len(mesh.points)
    two = SoleMesh(
        np.concatenate([mesh.points, mesh.points + np.eye(3)[0]]),
        np.concatenate([mesh.tetrahedra, mesh.tetrahedra + n]),
        np.concatenate([mesh.layer, mesh.layer]),
        mesh.glued,
        np.concatenate([mesh.ground, mesh.ground + n]),
    )
    with pytest.raises(ModelError, match="1 of 2 parts of the sole do not hang"):
        condensed(two, (SOFT,), cache=False)
    with pytest.raises(ModelError, match="condense 'mini' or 'linear'"):
        condensed(mesh, (SOFT,), "quadratic", cache=False)
