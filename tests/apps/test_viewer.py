"""The page in the browser, without a browser: it answers, holds every body, and poses the robot."""

import asyncio
import socket
import threading
import time
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest
from apps.pages import free_port

from tabi._errors import TabiError
from tabi.apps import viewer
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.scene import DrawnScene, _dragged
from tabi.formats.triangles import joined, mesh_of, visible_shapes
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Cylinder, Ellipsoid, MeshFile, Shape, Sphere
from tabi.model.world import World
from tabi.robots import hrp2
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, about


@pytest.fixture(scope="module")
def page():
    world = World()
    world.add_ground()
    world.add_robot(hrp2())
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.6, 0.0, 0.15))
    page = Page(world, port=free_port())
    yield page
    page.close()


def test_page_answers_over_http(page):
    with urllib.request.urlopen(page.address, timeout=10) as answer:
        assert answer.status == 200
        assert b"<html" in answer.read()[:500].lower()


def test_page_accepts_a_websocket(page):
    with socket.create_connection(("127.0.0.1", page.server.get_port()), timeout=10) as s:
        lines = [
            "GET / HTTP/1.1",
            "Host: localhost",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
        ]
        lines += [
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Protocol: viser-v1.1.1",
            "",
            "",
        ]
        s.sendall("\r\n".join(lines).encode())
        assert s.recv(100).startswith(b"HTTP/1.1 101")


def test_scene_holds_a_node_for_every_body(page):
    assert isinstance(page.scene, DrawnScene)
    copies = [k for members, nodes in page.scene._flocks for k in members if nodes]
    assert sorted([*page.scene._frames, *copies]) == list(range(31 + 1))
    assert page.server.scene.get_handle_by_name("/hrp2/chest") is not None
    assert page.server.scene.get_handle_by_name("/box") is not None
    assert page.server.scene.get_handle_by_name("/world/ground0") is not None


def test_bodies_that_look_alike_are_copies_of_one_mesh():
    world = World()
    for k in range(3):
        world.add_box(size=(0.2, 0.2, 0.2), mass=1.0, position=(k, 0.0, 0.1))
    odd = world.add_box(size=(0.1, 0.2, 0.2), mass=1.0, position=(0.0, 1.0, 0.1))
    page = Page(world, port=free_port())
    try:
        scene = page.scene
        ((members, (node,)),) = scene._flocks
        assert members.tolist() == [0, 1, 2]
        assert list(scene._frames) == [3]
        assert np.allclose(node.sent["batched_positions"], [[0, 0, 0.1], [1, 0, 0.1], [2, 0, 0.1]])
        # one turned by a right angle about z and lifted, the others left
        turned, straight = about((0, 0, 1), 0.5 * np.pi).R, np.eye(3)
        scene.move(
            np.array([[0, 0, 0.1], [1, 0, 0.5], [2, 0, 0.1], [0, 1, 0.7]]),
            np.array([straight, turned, straight, turned]),
        )
        assert np.allclose(node.sent["batched_positions"][1], [1, 0, 0.5])
        assert np.allclose(
            node.sent["batched_wxyzs"],
            [[1, 0, 0, 0], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], [1, 0, 0, 0]],
            atol=1e-7,
        )
        assert np.allclose(scene.position(world.objects[1]), [1, 0, 0.5])
        assert np.allclose(scene.position(odd), [0, 1, 0.7])
    finally:
        page.close()


def test_drag_of_a_copy_is_of_the_body_it_stands_for():
    told = []
    dragged = _dragged(lambda *words: told.append(words), [4, 7, 9], strong=True)
    event = SimpleNamespace(
        client_id=3, phase="start", start_position=(0, 0, 1), end_position=(0, 0, 2)
    )
    for which in (None, 2, 3):
        event.instance_index = which
        asyncio.run(dragged(event))
    # one that is not there pulls nothing
    assert told == [(3, index, "start", (0, 0, 1), (0, 0, 2), True) for index in (4, 9)]


def test_frames_stand_where_the_robot_says(page):
    robot = page.world.robots[0]
    robot.stand_on_ground("zero")
    page.scene.update(robot.placements())
    # 0.705 + 0.3507 + 0.2973 above the ground, 0.032 - 0.007 forward
    assert page.scene.position(robot.body("head")) == pytest.approx([0.025, 0.0, 1.353], abs=1e-9)
    robot.stand_on_ground()
    page.scene.update(robot.placements())
    assert page.scene.position(robot.base)[2] == pytest.approx(0.648702, abs=1e-6)


def test_picking_a_pose_puts_the_robot_on_its_soles_in_it(page):
    robot, picker = page.world.robots[0], page.pickers["hrp2"]
    head = robot.body("head")
    assert picker.value == "half sitting"
    for pose, height in (("zero", 1.353), ("half sitting", 1.353 - 0.705 + 0.648702)):
        picker.value = pose
        # the page poses in its own thread
        for _ in range(100):
            if abs(page.scene.position(head)[2] - height) < 1e-6:
                break
            time.sleep(0.02)
        assert page.scene.position(head)[2] == pytest.approx(height, abs=1e-6)


def test_busy_default_port_is_named_with_the_port_used(monkeypatch, capsys):
    port = free_port()
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", port))
        busy.listen()
        monkeypatch.setattr("tabi.apps.viewer.page.PORT", port)
        other = Page(World())
        try:
            said = capsys.readouterr().out.strip()
            assert said == f"Port {port} is busy, so the page uses port {other.server.get_port()}."
            assert other.server.get_port() != port
        finally:
            other.close()


def test_busy_port_that_was_asked_for_is_refused_in_a_sentence():
    port = free_port()
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", port))
        busy.listen()
        with pytest.raises(TabiError, match=rf"^port {port} of 127.0.0.1 is in use"):
            Page(World(), port=port)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1"])
def test_foreign_host_is_refused_in_a_sentence(host):
    with pytest.raises(TabiError, match=f"host '{host}' is not an address of this machine"):
        Page(World(), host=host, port=free_port())


def test_show_prints_the_address_in_one_line_and_ends_on_ctrl_c(monkeypatch, capsys):
    def ctrl_c(self, timeout=None):
        raise KeyboardInterrupt

    port = free_port()
    page = Page(World(), port=port)
    monkeypatch.setattr(viewer, "Page", lambda *_: page)
    monkeypatch.setattr(threading.Event, "wait", ctrl_c)
    closed = []
    monkeypatch.setattr(page, "close", lambda: closed.append(True))
    viewer.show(page.world, port=port, open_browser=False)
    monkeypatch.undo()
    page.close()
    assert closed == [True]
    assert capsys.readouterr().out == f"The page is at http://127.0.0.1:{port} (Ctrl-C ends it).\n"


@pytest.mark.parametrize(
    ("geometry", "volume"),
    [
        (Box((0.3, 0.2, 0.1)), 0.3 * 0.2 * 0.1),
        (Sphere(0.2), 4 / 3 * np.pi * 0.2**3),
        (Ellipsoid((0.3, 0.2, 0.1)), 4 / 3 * np.pi * 0.3 * 0.2 * 0.1),
        (Cylinder(0.2, 0.5), np.pi * 0.2**2 * 0.5),
        (Capsule(0.1, 0.4), np.pi * 0.1**2 * 0.4 + 4 / 3 * np.pi * 0.1**3),
    ],
)
def test_meshes_enclose_the_volume_of_their_shapes(geometry, volume):
    shape = Shape(geometry, about((1, 2, 3), 0.7, (0.1, -0.2, 0.3)))
    vertices, triangles = joined([mesh_of(shape), mesh_of(shape)])
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    enclosed = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 / 2
    # 32 sides leave out 1.3 % of a ball's section, bevels of 4 mm less than that
    assert enclosed == pytest.approx(volume, rel=0.025)
    assert enclosed < volume


def test_robot_without_shapes_is_drawn_as_bones_from_joint_to_joint():
    robot = Robot("stick")
    base = robot.add_body("base", Joint("root", "floating"), inertia=Inertia(1.0))
    robot.add_body(
        "arm",
        Joint("shoulder", "revolute", placement=Transform(p=np.array([0.0, 0.3, 0.4]))),
        base,
        Inertia(1.0, np.array([0.1, 0.0, 0.0])),
    )
    shown = visible_shapes(robot.bodies)
    # from the base to the shoulder, 0.5 m away, and from there as far again as
    # the centre of mass is
    for body, end in ((base, [0.0, 0.3, 0.4]), (robot.body("arm"), [0.2, 0.0, 0.0])):
        (bone,) = shown[body]
        way = bone.placement.R[:, 2] * bone.geometry.length
        assert np.allclose(way, end)
        assert np.allclose(bone.placement.p - 0.5 * way, 0.0)
        assert not bone.collides
    # a robot that is seen has no bones, also not in links without a shape
    base.shapes.append(Shape(Box((0.1, 0.1, 0.1))))
    assert [len(shapes) for shapes in visible_shapes(robot.bodies).values()] == [1, 0]


def test_what_collides_is_drawn_where_the_file_of_a_mesh_is_missing(tmp_path):
    robot = Robot("blind")
    hull = Shape(Box((0.1, 0.2, 0.3)), visible=False)
    body = robot.add_body(
        "base",
        Joint("root", "floating"),
        inertia=Inertia(1.0),
        shapes=[Shape(MeshFile(tmp_path / "gone.stl"), collides=False), hull],
    )
    (shown,) = visible_shapes(robot.bodies)[body]
    assert shown.geometry == hull.geometry
    assert shown.visible
