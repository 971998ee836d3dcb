"""Tetrahedra of soles."""

import numpy as np
import pytest
from soles.shapes import BOOT, RECTANGLE, disc

from tabi import ModelError, robots
from tabi.soles.materials import Layer
from tabi.soles.mesh import SoleMesh, Tread, sole_mesh
from tabi.spatial.polygon import polygon_area

LAYER = Layer(0.01, 1e6, 0.3)
FACES = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]


def check_conforming(mesh: SoleMesh):
    """Each face belongs to two tetrahedra or to a closed surface."""
    assert mesh.volumes.min() > 0.0
    faces = np.sort(mesh.tetrahedra[:, FACES].reshape(-1, 3), axis=1)
    found, count = np.unique(faces, axis=0, return_counts=True)
    assert count.max() == 2
    surface = found[count == 1]
    edges = np.sort(surface[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    outer = {tuple(face) for face in surface.tolist()}
    assert all(tuple(face) in outer for face in np.sort(mesh.ground, axis=1).tolist())
    np.testing.assert_array_equal(np.unique(mesh.tetrahedra), np.arange(len(mesh.points)))


@pytest.mark.parametrize("outline", [RECTANGLE, BOOT, disc(0.05, 30)], ids=["foot", "boot", "disc"])
@pytest.mark.parametrize(
    "options",
    [{}, {"rounded": 0.004}, {"tread": Tread(0.006, 0.004, 0.03)}, {"element_size": 0.03}],
    ids=["plain", "rounded", "tread", "coarse"],
)
def test_soles_are_conforming_and_fill_their_outline(outline, options):
    mesh = sole_mesh(outline, LAYER, **({"element_size": 0.012} | options))
    check_conforming(mesh)
    area = abs(polygon_area(np.array(outline)))
    assert mesh.points[mesh.glued, 2].max() == mesh.points[mesh.glued, 2].min() == 0.0
    assert mesh.points[:, 2].min() == pytest.approx(-0.01, rel=1e-12)
    # every ground triangle looks down
    assert mesh.ground_areas[:, 2].max() < 0.0
    if not options.get("rounded") and not options.get("tread"):
        assert mesh.volumes.sum() == pytest.approx(0.01 * area, rel=1e-10)
        assert -mesh.ground_areas[:, 2].sum() == pytest.approx(area, rel=1e-10)


def test_the_soles_of_a_robot_are_meshed_layer_by_layer():
    outline = robots.hrp2().feet["left"].polygon
    layers = [Layer(0.01, 1e6, 0.3), Layer(0.004, 5e6, 0.49)]
    mesh = sole_mesh(outline, layers, 0.02)
    check_conforming(mesh)
    for i, thickness in enumerate((0.01, 0.004)):
        volume = mesh.volumes[mesh.layer == i].sum()
        assert volume == pytest.approx(thickness * polygon_area(outline), rel=1e-10)
    # the first layer is the foot's
    z = mesh.points[mesh.tetrahedra].mean(axis=1)[:, 2]
    assert z[mesh.layer == 0].min() > -0.01 > z[mesh.layer == 1].max()


def test_grooves_take_their_share_of_the_rubber():
    tread = Tread(width=0.006, depth=0.004, pitch=0.03)
    whole, cut = (sole_mesh(RECTANGLE, LAYER, 0.01, tread=t) for t in (None, tread))
    # 0.23 m with a rib in its middle holds eight grooves, at ±15, ±45, ±75 and ±105 mm
    lost = 8 * 0.006 * 0.004 * 0.12
    assert whole.volumes.sum() - cut.volumes.sum() == pytest.approx(lost, rel=1e-9)
    touching = -cut.ground_areas[:, 2].sum()
    assert touching == pytest.approx((0.23 - 8 * 0.006) * 0.12, rel=1e-9)


def test_a_rounded_edge_is_a_quarter_of_a_circle():
    r = 0.004
    mesh = sole_mesh(RECTANGLE, LAYER, 0.01, rounded=r)
    x, y, z = mesh.points[mesh.ground_nodes].T
    inside = np.minimum.reduce([x + 0.1, 0.13 - x, y + 0.06, 0.06 - y])
    edge = inside < r
    # about the axis of the rounding, r inside and r above the ground
    np.testing.assert_allclose(np.hypot(r - inside, z + 0.01 - r)[edge], r, rtol=1e-9)
    np.testing.assert_allclose(z[~edge], -0.01, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"element_size": 0.0}, "expected more than zero"),
        ({"element_size": float("nan")}, "element size"),
        ({"element_size": 0.5}, "larger than the sole"),
        ({"element_size": 1e-4}, "expected at most 200000"),
        ({"element_size": 1e-9}, "choose a larger one"),
        ({"rounded": 0.01}, "rounding of a sole"),
        ({"rounded": -0.01}, "rounding of a sole"),
        ({"tread": Tread(0.001, 0.02, 0.01)}, "cut a sole of 0.01 m through"),
        ({"through": 0}, "elements through a layer"),
        ({"holes": [[(1, 1), (2, 1), (1, 2)]]}, "hole 0"),
    ],
)
def test_a_mesh_that_cannot_be_is_refused(options, words):
    with pytest.raises(ModelError, match=words):
        sole_mesh(RECTANGLE, LAYER, **({"element_size": 0.02} | options))


def test_grooves_need_something_between_them():
    with pytest.raises(ModelError, match="expected a pitch above the width"):
        Tread(0.01, 0.002, 0.01)
    with pytest.raises(ModelError, match="depth of a tread"):
        Tread(0.01, 0.0, 0.02)
