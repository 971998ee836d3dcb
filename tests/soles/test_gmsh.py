"""Soles from files of Gmsh: read back as written, and each fault in one sentence."""

import builtins

import meshio
import numpy as np
import pytest
from soles.shapes import BOOT

from tabi import ModelError
from tabi.soles.gmsh import read_msh
from tabi.soles.materials import Layer
from tabi.soles.mesh import sole_mesh
from tabi.soles.sole import make_sole, sole_of_mesh

LAYERS = (Layer(0.01, 1e6, 0.3), Layer(0.006, 4e6, 0.45))
MESH = sole_mesh(BOOT, LAYERS, 0.03, through=1)
FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]


def top_triangles():
    faces = MESH.tetrahedra[:, FACES].reshape(-1, 3)
    return faces[(MESH.points[faces][:, :, 2] == 0.0).all(axis=1)]


@pytest.fixture
def write(tmp_path):
    def written(tetrahedra=MESH.tetrahedra, glued=None, ground=MESH.ground, names=None):
        names = names or {"glued": (1, 2), "ground": (2, 2), "layer0": (3, 3), "layer1": (4, 3)}
        tags = list(names.values())
        top = top_triangles() if glued is None else glued
        cells, physical = [], []
        for kind, rows, tag in (
            ("triangle", top, np.full(len(top), tags[0][0])),
            ("triangle", ground, np.full(len(ground), tags[1][0])),
            ("tetra", tetrahedra, 3 + MESH.layer[: len(tetrahedra)]),
        ):
            if len(rows):
                cells.append((kind, rows))
                physical.append(tag)
        mesh = meshio.Mesh(
            MESH.points,
            cells,
            cell_data={"gmsh:physical": physical, "gmsh:geometrical": physical},
            field_data={name: np.array(value) for name, value in names.items()},
        )
        path = tmp_path / "sole.msh"
        meshio.write(path, mesh, file_format="gmsh22", binary=False)
        return path

    return written


def test_a_file_of_gmsh_is_the_sole_it_was_written_from(write):
    read = read_msh(write())
    # sixteen digits in the file
    np.testing.assert_allclose(read.points, MESH.points, atol=1e-15)
    np.testing.assert_array_equal(read.tetrahedra, MESH.tetrahedra)
    np.testing.assert_array_equal(read.layer, MESH.layer)
    np.testing.assert_array_equal(read.glued, np.sort(MESH.glued))
    np.testing.assert_array_equal(read.ground_nodes, MESH.ground_nodes)
    assert read.ground_areas.sum(axis=0) == pytest.approx(MESH.ground_areas.sum(axis=0), abs=1e-12)
    mine = make_sole(BOOT, LAYERS, 0.03, through=1, cache=False)
    theirs = sole_of_mesh(read, LAYERS, cache=False)
    # points round off at 1e-15 m, elements are 1e-2 m
    np.testing.assert_allclose(
        theirs.compliance, mine.compliance, atol=1e-10 * np.abs(mine.compliance).max()
    )


def test_without_a_ground_surface_all_that_looks_down_is_ground(write):
    path = write(ground=MESH.ground[:0])
    lines = path.read_text().replace('2 2 "ground"\n', "").replace("$PhysicalNames\n4", "X")
    path.write_text(lines.replace("X", "$PhysicalNames\n3"))
    read = read_msh(path)
    np.testing.assert_array_equal(read.ground_nodes, MESH.ground_nodes)


def test_faults_of_a_file_are_named(write, tmp_path):
    inverted = MESH.tetrahedra.copy()
    inverted[7] = inverted[7][[1, 0, 2, 3]]
    names = {"glued": (1, 2), "ground": (2, 2), "layer0": (3, 3)}
    for options, words in (
        ({"tetrahedra": inverted}, "tetrahedron 7 is inverted or flat"),
        ({"tetrahedra": MESH.tetrahedra[:0]}, "it has no tetrahedra"),
        ({"glued": MESH.ground[:0]}, "no triangles in a physical surface 'glued'"),
        ({"glued": MESH.tetrahedra[:40, 1:]}, "expected one closed surface"),
        ({"tetrahedra": MESH.tetrahedra[:-9]}, "without holes"),
        ({"glued": MESH.ground}, "have corners in common"),
        ({"names": {"top": (1, 2), "ground": (2, 2)}}, "physical surface 'top' is not known"),
        ({"names": names | {"rubber": (4, 3)}}, "physical volume 'rubber' is not known"),
        ({"names": names | {"layer5": (4, 3)}}, "of the layers 0, 5"),
    ):
        with pytest.raises(ModelError, match=words):
            read_msh(write(**options))
    with pytest.raises(ModelError, match="there is no such file"):
        read_msh(tmp_path / "none.msh")
    broken = tmp_path / "broken.msh"
    broken.write_text("$MeshFormat\nnonsense")
    with pytest.raises(ModelError, match="not a mesh that meshio reads"):
        read_msh(broken)


def test_without_meshio_it_says_what_to_install(write, monkeypatch):
    path, ordinary = write(), builtins.__import__

    def refusing(name, *rest, **more):
        if name == "meshio":
            raise ImportError(name)
        return ordinary(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ModelError, match=r"install tabi\[meshes\]"):
        read_msh(path)
