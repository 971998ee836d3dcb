"""Whole soles: sink, stiffness, mass."""

import subprocess
import sys

import numpy as np
import pytest
from soles.shapes import BOOT, RECTANGLE

import tabi
from tabi import ModelError
from tabi.soles import DeformableSole, Layer, Tread, make_sole
from tabi.spatial.inertia import solid_box

AREA = 0.23 * 0.12


@pytest.mark.parametrize("element", ["mini", "linear"])
@pytest.mark.parametrize("outline", [RECTANGLE, BOOT], ids=["foot", "boot"])
def test_a_pad_that_does_not_widen_sinks_by_F_t_over_E_A(element, outline):
    sole = make_sole(outline, Layer(0.02, 3e6, 0.0), 0.03, element=element, cache=False)
    area = -sole.mesh.ground_areas[:, 2].sum()
    assert sole.sink(700.0) == pytest.approx(700.0 * 0.02 / (3e6 * area), rel=1e-9)


@pytest.mark.parametrize("nu", [0.2, 0.4, 0.49])
def test_a_glued_pad_is_stiffer_than_a_free_one_and_softer_than_a_confined_one(nu):
    layer = Layer(0.02, 3e6, nu)
    sole = make_sole(RECTANGLE, layer, 0.03, cache=False)
    free = 700.0 * 0.02 / (3e6 * AREA)
    confined = 700.0 * 0.02 / (layer.confined_modulus * AREA)
    assert confined < sole.sink(700.0) < free


def test_layers_that_do_not_widen_are_springs_in_series():
    layers = [Layer(0.01, 1e6, 0.0, viscosity=1e-3), Layer(0.005, 4e6, 0.0, viscosity=5e-3)]
    sole = make_sole(RECTANGLE, layers, 0.05, cache=False)
    soft, hard = 0.01 / 1e6, 0.005 / 4e6
    assert sole.sink(1.0) == pytest.approx((soft + hard) / AREA, rel=1e-9)
    # dissipation under one stress: each layer's time weighted with its share of the sink
    expected = (1e-3 * soft + 5e-3 * hard) / (soft + hard)
    assert sole.viscosity == pytest.approx(expected, rel=1e-9)


def test_a_sheared_wide_pad_has_the_stiffness_mu_A_over_t():
    layer = Layer(0.005, 1e6, 0.3)
    sole = make_sole(RECTANGLE, layer, 0.02, cache=False)
    # its free ends take part in it over a length of t
    expected = layer.shear_modulus * AREA / 0.005
    for i in (0, 1):
        assert sole.stiffness[i, i] == pytest.approx(expected, rel=0.05)


def test_stiffness_is_symmetric_and_positive_and_tilts_as_a_bed_of_springs_does():
    sole = make_sole(RECTANGLE, Layer(0.002, 1e6, 0.0), 0.01, through=2, cache=False)
    K = sole.stiffness
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    assert np.linalg.eigvalsh(K).min() > 0.0
    # a thin pad is E/t to each area: E/t ∫ y² = E a b³ / 12 t; strains are steps of elements, which
    # adds about (size / b)², 0.7 %
    assert K[3, 3] == pytest.approx(1e6 / 0.002 * 0.23 * 0.12**3 / 12, rel=0.02)
    assert K[4, 4] == pytest.approx(1e6 / 0.002 * 0.12 * 0.23**3 / 12, rel=0.02)


def test_mass_and_inertia_are_those_of_a_box():
    sole = make_sole(RECTANGLE, Layer(0.02, 1e6, 0.3, density=1200.0), 0.04, cache=False)
    box = solid_box(1200.0 * AREA * 0.02, (0.23, 0.12, 0.02))
    assert sole.mass == pytest.approx(box.mass, rel=1e-12)
    np.testing.assert_allclose(sole.inertia.centre, (0.015, 0.0, -0.01), atol=1e-14)
    np.testing.assert_allclose(sole.inertia.tensor, box.tensor, atol=1e-12)


def test_the_ground_face_is_told_for_contacts():
    sole = make_sole(RECTANGLE, Layer(0.02, 1e6, 0.3), 0.03, rounded=0.005, cache=False)
    k = sole.node_count
    assert sole.compliance.shape == (3 * k, 3 * k)
    assert sole.ground_points.shape == sole.normals.shape == (k, 3)
    np.testing.assert_allclose(np.linalg.norm(sole.normals, axis=1), 1.0)
    corners = sole.ground_points[sole.ground_triangles]
    size = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    assert sole.areas.sum() == pytest.approx(size.sum(), rel=1e-12)
    inside = np.abs(sole.ground_points[:, 0] - 0.015) < 0.08
    inside &= np.abs(sole.ground_points[:, 1]) < 0.03
    np.testing.assert_allclose(sole.normals[inside], np.tile([0, 0, -1.0], (inside.sum(), 1)))
    assert sole.flat.sum() < k


def test_a_common_damping_time_damps_every_node_alike():
    sole = make_sole(RECTANGLE, Layer(0.02, 1e6, 0.3, viscosity=2e-3), 0.05, cache=False)
    np.testing.assert_allclose(sole.damping, 2e-3 * np.linalg.inv(sole.compliance), rtol=1e-6)
    assert sole.viscosity == 2e-3


def test_grooves_and_softer_rubber_make_a_softer_sole_of_a_robot():
    outline = tabi.robots.hrp2().feet["left"].polygon
    whole, cut = (
        make_sole(outline, Layer(0.02, 1e6, 0.45), 0.03, tread=tread, cache=False)
        for tread in (None, Tread(0.01, 0.01, 0.04))
    )
    assert isinstance(whole, DeformableSole)
    assert "on the ground" in repr(whole)
    assert cut.sink(500.0) > whole.sink(500.0)


def test_forces_that_are_no_numbers_are_refused():
    sole = make_sole(RECTANGLE, Layer(0.02, 1e6, 0.3), 0.06, cache=False)
    with pytest.raises(ModelError, match="force on a sole"):
        sole.sink(float("nan"))


@pytest.mark.process
def test_scikit_fem_is_imported_when_a_sole_is_made_and_not_before():
    code = "import sys, tabi.soles; sys.exit('skfem' in sys.modules or 'meshio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
