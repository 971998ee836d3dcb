"""Things in a scene have the inertia of what they are filled with;
meshes and points are their hulls.
"""

import numpy as np
import pytest

from tabi import scenes
from tabi.formats.triangles import mesh_of
from tabi.scenes import SceneError, solids
from tabi.spatial import inertia
from tabi.spatial.transform import translation

CORNERS = "".join(f"v {x} {y} {z}\n" for x in (0, 2) for y in (0, 2) for z in (0, 2))
CUBE = CORNERS + "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"


def test_a_compound_has_the_mass_and_inertia_of_its_parts():
    body = scenes.load("cart").world().objects[0]
    high = 0.7946948771 - 0.02
    boxes = [
        ((0.3, 0, 0.065), (0.6, 0.7, 0.03), 8.0),
        ((0, 0, high + 0.015), (0.1, 0.8, 0.03), 2.0),
    ]
    boxes += [((0.02, y, 0.5 * (0.08 + high)), (0.04, 0.04, high - 0.08), 1.0) for y in (-0.3, 0.3)]
    total = sum(
        (inertia.solid_box(mass, size).transformed(translation(p)) for p, size, mass in boxes),
        inertia.Inertia(),
    )
    # a prism over a polygon of n corners at R:
    # across the plane m R² (2 + cos 2π/n) / 6 in all, half of it about each axis, and m h² / 12
    flat, mass = 0.04**2 * (2 + np.cos(2 * np.pi / 12)) / 6, 0.5
    foot = inertia.Inertia(
        mass, np.zeros(3), mass * np.diag([flat / 2 + 0.05**2 / 12, flat / 2 + 0.05**2 / 12, flat])
    )
    for x, y in ((0.06, -0.29), (0.06, 0.29), (0.54, -0.29), (0.54, 0.29)):
        total = total + foot.transformed(translation((x, y, 0.025)))
    assert body.inertia.mass == pytest.approx(total.mass)
    assert body.inertia.centre == pytest.approx(total.centre, abs=1e-7)
    # the file has its corners to a micrometre
    assert body.inertia.tensor == pytest.approx(total.tensor, abs=1e-6)


def test_a_mesh_is_its_hull_to_contacts_and_itself_to_people(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "cube.obj").write_text(CUBE)
    told = (
        "title: t\nfixed: [{shape: mesh, file: parts/cube.obj, scale: 0.5, name: plinth}]\n"
        "objects:\n"
    )
    told += (
        "  - {shape: mesh, file: parts/cube.obj, scale: 0.1, mass_kg: 3, name: crate, "
        "position_m: [0, 0, 1], material: wood}\n"
    )
    told += (
        "  - {shape: compound, name: pair, position_m: [3, 0, 0], parts: [{shape: mesh, "
        "file: parts/cube.obj, mass_kg: 1}]}\n"
    )
    told += "materials: {wood: {friction: 0.3}}\n"
    (tmp_path / "my.yaml").write_text(told)
    scene = scenes.load(tmp_path / "my.yaml")
    made = scene.world()
    crate, pair = made.objects
    # the file's cube has its corner at the origin
    expected = inertia.solid_box(3.0, (0.2, 0.2, 0.2)).transformed(translation((0.1, 0.1, 0.1)))
    assert crate.inertia.centre == pytest.approx(expected.centre, abs=1e-12)
    assert crate.inertia.tensor == pytest.approx(expected.tensor, abs=1e-12)
    for shapes, size in ((made.fixed.shapes, 1.0), (crate.shapes, 0.2), (pair.shapes, 2.0)):
        hull, drawn = shapes
        assert (hull.collides, hull.visible, drawn.collides, drawn.visible) == (
            True,
            False,
            False,
            True,
        )
        assert hull.support((1, 0, 0)) == pytest.approx(size)
        assert drawn.geometry.file == tmp_path / "parts" / "cube.obj"
        assert mesh_of(drawn)[0].max(axis=0) == pytest.approx([size] * 3)
    assert crate.shapes[0].material.friction == 0.3
    # what is written back finds the file from anywhere
    assert scenes.loads(scene.to_yaml()) == scene
    # it lies on the plinth; 1e-8 m/s of 3 kg in a step of 1 ms are 3e-5 N
    sim = scene.simulator()
    sim.run(0.01)
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(3.0 * 9.81, abs=1e-4)


def test_points_are_their_hull():
    points = "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]"
    told = f"title: t\nobjects: [{{shape: convex, points_m: {points}, mass_kg: 6}}]\n"
    body = scenes.loads(told).world().objects[0]
    # a corner of a cube: centre at a quarter of each edge,
    # variance 3/80 of each edge and covariance −1/80
    second = 6.0 * (np.eye(3) * 4 - 1) / 80
    assert len(body.shapes[0].geometry.vertices) == 4
    assert body.inertia.centre == pytest.approx([0.25] * 3, abs=1e-12)
    assert body.inertia.tensor == pytest.approx(np.trace(second) * np.eye(3) - second, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "shape: mesh, file: no.stl, mass_kg: 1",
            "objects.0.file is 'no.stl', which is no file beside the scene",
        ),
        (
            "shape: mesh, file: ., mass_kg: 1",
            "objects.0.file is '.', which is no file beside the scene",
        ),
        ("shape: mesh, file: bad.stl, mass_kg: 1", "bad.stl"),
        (
            "shape: mesh, file: cube.obj, scale: 0, mass_kg: 1",
            "objects.0.scale is 0; expected a number > 0",
        ),
        (
            "shape: convex, points_m: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass_kg: 1",
            "objects.0.points_m has 3",
        ),
    ],
)
def test_meshes_that_cannot_be_are_named(tmp_path, text, words):
    (tmp_path / "bad.stl").write_bytes(b"solid nothing\nendsolid")
    (tmp_path / "cube.obj").write_text(CUBE)
    (tmp_path / "my.yaml").write_text(f"title: t\nobjects:\n  - {{{text}}}\n")
    with pytest.raises(SceneError, match=r"my.yaml, line 3") as fault:
        scenes.load(tmp_path / "my.yaml").world()
    assert words in str(fault.value)


def test_a_hull_is_found_once():
    told = "title: t\nobjects: [{shape: convex, mass_kg: 1, points_m: %s}]\n"
    thing = scenes.loads(told % "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]").contents.objects[0]
    made = solids.Solids()
    assert made.geometry(thing) is made.geometry(thing)
    assert made.solid(thing).mass == 1.0
