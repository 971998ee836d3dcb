"""Bodies of a page: who may drag them, and when they are seen through."""

import pytest

import tabi
from tabi.apps.viewer.scene import DrawnScene


@pytest.fixture
def scene(server):
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    world.add_sphere(0.1, 1.0, position=(1, 0, 0))
    return DrawnScene(server, world)


def modifiers(scene):
    """With what keys each mesh can be dragged."""
    return [
        sorted(str(entry.modifier) for entry in mesh._impl.drag_cb) for mesh, _ in scene._meshes
    ]


def test_fingers_drag_without_keys_only_where_they_are_let(scene):
    keys = ["cmd/ctrl", "cmd/ctrl+shift"]
    # before anybody listens there is nothing to drag
    scene.pull_plainly(True)
    assert modifiers(scene) == [[], []]
    scene.on_pull(lambda *told: None)
    assert modifiers(scene) == [keys, keys]
    scene.pull_plainly(True)
    scene.pull_plainly(True)
    assert modifiers(scene) == [["None", *keys]] * 2
    scene.pull_plainly(False)
    assert modifiers(scene) == [keys, keys]


def test_bodies_are_glass_while_asked(scene):
    before = [mesh.opacity for mesh, _ in scene._meshes]
    scene.see_through(True)
    assert all(mesh.opacity < 1.0 for mesh, _ in scene._meshes)
    scene.see_through(False)
    assert [mesh.opacity for mesh, _ in scene._meshes] == before
