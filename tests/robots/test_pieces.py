"""Colliding meshes cut into convex pieces, by a package that need not be there."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import tabi
from tabi.formats import mesh
from tabi.robots import files, pieces

# a fork: a bar with two prongs, in boxes from corner to corner [m]
FORK = [
    ((0, 0, 0), (0.3, 0.1, 0.1)),
    ((0, 0, 0.1), (0.1, 0.1, 0.4)),
    ((0.2, 0, 0.1), (0.3, 0.1, 0.4)),
]
OUTLINE = [(0, 0), (0.3, 0), (0.3, 0.4), (0.2, 0.4), (0.2, 0.1), (0.1, 0.1), (0.1, 0.4), (0, 0.4)]


def write_fork(path):
    """The fork as one closed surface: its outline in x and z, between y = 0 and 0.1."""
    n = len(OUTLINE)
    lines = [f"v {x} {y} {z}" for y in (0, 0.1) for x, z in OUTLINE]
    front = [(0, 1, 5), (0, 5, 6), (0, 6, 7), (1, 2, 3), (1, 3, 4), (1, 4, 5)]
    faces = front + [(n + c, n + b, n + a) for a, b, c in front]
    for a in range(n):
        b = (a + 1) % n
        faces += [(b, a, n + a), (b, n + a, n + b)]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    path.write_text("\n".join(lines))


@pytest.fixture
def forked(tmp_path):
    """A body of the fork, twice as large and mirrored, on one that the same mesh is a foot of."""
    write_fork(tmp_path / "fork.obj")
    inertial = (
        '<inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    shape = '<collision><geometry><mesh filename="fork.obj" scale="{}"/></geometry></collision>'
    text = ""
    for name, scale in (("top", "2 2 -2"), ("arm", "2 2 -2"), ("stand", "1 1 1")):
        text += f'<link name="{name}">{inertial}{shape.format(scale)}</link>'
    for name, x in (("arm", 3.0), ("stand", -3.0)):
        text += (
            f'<joint name="{name}_joint" type="revolute"><parent link="top"/><child link="{name}"/>'
            f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>'
            f'<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
        )
    file = tmp_path / "forked.urdf"
    file.write_text(f'<robot name="forked">{text}</robot>')
    return file


def load(file, **settings):
    with files.quietly():
        return tabi.load(file, feet={"only": "stand"}, **settings)


@pytest.fixture
def fake(monkeypatch):
    """A coacd that knows the fork; what it was asked is in its list."""
    asked = []

    def run(one, threshold, **search):
        asked.append((one, threshold, search))
        low, size = one.vertices.min(axis=0), np.ptp(one.vertices, axis=0)
        found = []
        for a, b in FORK:
            ends = np.array([a, b]) / [0.3, 0.1, 0.4]
            ends[:, 2] = 1 - ends[:, 2]
            corners = [
                [ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)
            ]
            found.append((low + np.array(corners) * size, None))
        return found

    package = SimpleNamespace(
        Mesh=lambda v, t: SimpleNamespace(vertices=np.asarray(v), triangles=np.asarray(t)),
        run_coacd=run,
        set_log_level=lambda level: None,
    )
    monkeypatch.setitem(sys.modules, "coacd", package)
    monkeypatch.setenv("TABI_QUIET", "1")
    return asked


def inside(point, shapes):
    """Whether a point of the body's frame is in one of its shapes."""
    return any(
        all(
            ((g.vertices - point) @ f).max() > 0
            for f in np.random.default_rng(1).normal(size=(500, 3))
        )
        for g in (s.geometry for s in shapes)
    )


def test_meshes_are_cut_into_pieces_as_they_are_placed(forked, fake):
    robot = load(forked, collision="decomposed")
    shapes = robot.body("top").collision_shapes()
    assert len(shapes) == len(robot.body("arm").collision_shapes()) == 3
    extents = sorted(tuple(np.ptp(s.geometry.vertices, axis=0).round(9)) for s in shapes)
    assert extents == [(0.2, 0.2, 0.6), (0.2, 0.2, 0.6), (0.6, 0.2, 0.2)]
    # between the prongs it is open, as the hull is not; the prongs hang down, for it is mirrored
    assert not inside((0.3, 0.1, -0.5), shapes)
    assert inside((0.1, 0.1, -0.5), shapes)
    whole = load(forked).body("top").collision_shapes()
    assert inside((0.3, 0.1, -0.5), whole)
    (note,) = [note for note in robot.notes if "convex pieces" in note]
    assert note.startswith(
        "2 collision meshes were cut into 6 convex pieces by coacd, each at most"
    )
    assert f"{pieces.CONCAVITY:g} of its mesh's size" in note


def test_the_package_is_handed_outward_triangles_once_for_each_mesh(forked, fake):
    load(forked, collision="decomposed")
    ((given, threshold, search),) = fake
    assert threshold == pieces.CONCAVITY
    assert search["seed"] == 0
    corners = given.vertices[given.triangles]
    volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    # that of the fork, twice as large: mirrored triangles would count negative
    assert volume == pytest.approx(8 * 0.1 * (0.3 * 0.1 + 2 * 0.1 * 0.3))


def test_feet_keep_their_hulls(forked, fake):
    robot, plain = load(forked, collision="decomposed"), load(forked)
    assert len(robot.body("stand").collision_shapes()) == 1
    assert np.array_equal(robot.feet["only"].polygon, plain.feet["only"].polygon)


def test_hulls_without_faces_are_left_and_told(forked, fake, monkeypatch):
    def unreadable(file):
        raise tabi.ModelError("no")

    monkeypatch.setattr(mesh, "faces", unreadable)
    robot = load(forked, collision="decomposed")
    assert len(robot.body("top").collision_shapes()) == 1
    assert any("1 hulls were not cut" in n and "fork.obj" in n for n in robot.notes)
    assert fake == []


def test_a_long_work_is_announced(forked, fake, monkeypatch, capfd):
    load(forked, collision="decomposed")
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("TABI_QUIET", "0")
    load(forked, collision="decomposed")
    assert "cutting the meshes of forked" in capfd.readouterr().err


def test_without_the_package_the_error_says_how_to_get_it(forked, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(tabi.ModelError, match="pip install coacd"):
        load(forked, collision="decomposed")
    assert len(load(forked, collision="file").body("top").collision_shapes()) == 1


def test_the_package_itself_opens_the_fork(forked, monkeypatch):
    pytest.importorskip("coacd")
    monkeypatch.setenv("TABI_QUIET", "1")
    shapes = load(forked, collision="decomposed").body("top").collision_shapes()
    assert len(shapes) >= 2
    assert not inside((0.3, 0.1, -0.5), shapes)
    assert inside((0.1, 0.1, -0.5), shapes)
    assert inside((0.5, 0.1, -0.5), shapes)


@pytest.mark.parametrize("wrong", ["visuals", "", None, True])
def test_other_words_are_refused_with_those_that_are_known(forked, wrong):
    with pytest.raises(tabi.ModelError, match="expected one of file, visual, decomposed"):
        load(forked, collision=wrong)


def test_scene_files_have_the_same_words(forked, fake):
    start = "title: t\nduration_s: 1\nground: {{}}\n"
    text = start + "robots: [{{robot: {}, base: fixed, collision: {}}}]\n"
    scene = tabi.scenes.loads(text.format(forked, "decomposed"))
    (robot,) = scene.simulator().world.robots
    assert len(robot.body("arm").collision_shapes()) == 3
    with pytest.raises(tabi.ModelError, match="collision"):
        tabi.scenes.loads(text.format(forked, "pieces"))
