"""Visual shapes that collide where a file has no others."""

import numpy as np
import pytest

import tabi
from tabi.formats import load
from tabi.model.shape import Box, Convex, MeshFile, Sphere
from tabi.robots import files

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
MASS = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
SHAPE = '<{0}><origin xyz="0 0 {2}"/><geometry>{1}</geometry></{0}>'
MESH = '<mesh filename="cube.obj" scale="0.2 0.1 -0.04"/>'
BALL = '<sphere radius="0.05"/>'


@pytest.fixture
def ghost(tmp_path):
    """A trunk that only is seen, with two feet of meshes."""
    lines = [f"v {x} {y} {z}" for x, y, z in CUBE]
    sides = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
    (tmp_path / "cube.obj").write_text("\n".join([*lines, *(f"f {s}" for s in sides)]))
    trunk = SHAPE.format("visual", '<box size="0.2 0.4 0.3"/>', 0.2)
    text = f'<link name="trunk">{MASS}{trunk}{SHAPE.format("visual", BALL, 0.4)}</link>'
    for side, y in (("left", 0.2), ("right", -0.2)):
        text += f'<link name="{side}_foot">{MASS}{SHAPE.format("visual", MESH, 0)}</link>'
        text += (
            f'<joint name="{side}" type="revolute"><parent link="trunk"/>'
            f'<child link="{side}_foot"/><origin xyz="0 {y} -0.3"/><axis xyz="0 1 0"/>'
            f'<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
        )
    file = tmp_path / "ghost.urdf"
    file.write_text(f'<robot name="ghost">{text}</robot>')
    return file


def forms(robot, name):
    return [s.geometry for s in robot.body(name).collision_shapes()]


def test_links_without_colliding_shapes_collide_as_they_look(ghost):
    robot = load.load(ghost, collision="visual")
    assert forms(robot, "trunk") == [Box((0.2, 0.4, 0.3)), Sphere(0.05)]
    heights = [s.placement.p[2] for s in robot.body("trunk").collision_shapes()]
    assert heights == [0.2, 0.4]
    # a mesh by its hull, which the visual stays beside, and scaled as that is
    (hull,) = forms(robot, "left_foot")
    assert isinstance(hull, Convex)
    assert np.ptp(hull.vertices, axis=0) == pytest.approx((0.2, 0.1, 0.04))
    assert hull.vertices[:, 2].max() == 0
    drawn = [s.geometry for s in robot.body("left_foot").shapes if s.visible]
    assert [type(g) for g in drawn] == [MeshFile]
    # so that there are feet
    assert robot.feet["left"].area == pytest.approx(0.02)
    (note,) = [note for note in robot.notes if "collide as they look" in note]
    assert "3 links" in note
    assert "'trunk', 'left_foot', 'right_foot'" in note


def test_it_is_only_done_where_asked_for(ghost):
    for collision in ("file", "decomposed"):
        robot = load.load(ghost, collision=collision)
        assert forms(robot, "trunk") == []
        assert not any("collide as they look" in note for note in robot.notes)


def test_links_that_collide_already_stay_as_they_are(ghost):
    text = ghost.read_text()
    own = SHAPE.format("collision", '<sphere radius="0.07"/>', 0)
    ghost.write_text(text.replace('<link name="trunk">', f'<link name="trunk">{own}'))
    robot = load.load(ghost, collision="visual")
    assert forms(robot, "trunk") == [Sphere(0.07)]
    assert any("2 links without" in note for note in robot.notes)


def test_a_missing_collision_mesh_is_replaced_by_what_is_seen(ghost):
    lost = SHAPE.format("collision", '<mesh filename="lost.obj"/>', 0)
    ghost.write_text(ghost.read_text().replace("</link><joint", f"{lost}</link><joint"))
    assert set(load.load(ghost).missing_meshes) == {"left_foot", "right_foot"}
    robot = load.load(ghost, collision="visual")
    assert robot.missing_meshes == {}
    assert set(robot.feet) == {"left", "right"}


def test_a_visual_mesh_that_cannot_be_read_is_told(ghost):
    ghost.with_name("cube.obj").write_text("v 0 0 0\n")
    robot = load.load(ghost, collision="visual")
    assert forms(robot, "left_foot") == []
    assert any("cube.obj cannot be made to collide" in note for note in robot.notes)


def test_a_robot_that_only_is_seen_is_told_how_to_stand(ghost):
    with files.quietly():
        robot = tabi.load(ghost)
        with pytest.raises(tabi.ModelError, match=r'load it with collision="visual"'):
            robot.stand_on_ground()
        robot = tabi.load(ghost, collision="visual")
        robot.stand_on_ground()
    assert robot.base_height == pytest.approx(0.34)
