"""Edges, corners, rims and balls between the nodes of a surface: what counts, and only once."""

import numpy as np
import pytest
from collision.soft import Soft, sheet

from tabi.collision.surfaces import curved as surface_curved
from tabi.collision.surfaces import features as surface_features
from tabi.collision.surfaces import mesh as surface_mesh
from tabi.collision.surfaces import nodes as surface_nodes
from tabi.model.shape import Box, Capsule, Cylinder, Sphere
from tabi.spatial.transform import about

MODULES = (surface_curved, surface_features, surface_mesh, surface_nodes)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-7, 1e-6, 1e-4])
def test_edges_that_are_nearly_parallel_make_no_strange_normals(angle):
    """A box with an edge on top along a row of nodes or between two rows."""
    for y in (0.0, 0.004):
        for tilt in (0.0, angle):
            scene = Soft(Box((0.2, 0.05, 0.05)), *sheet())
            X = about((0, 0, 1), angle) @ about((0, 1, 0), tilt) @ about((1, 0, 0), np.pi / 4)
            scene.move((0, y, -0.05 * np.sqrt(0.5) + 1e-5), X.quaternion)
            points, _ = scene.touch(1e-3)
            assert len(points) >= 7
            assert (points["normal"][:, 2] > 0.7).all()
            # straight up; nodes are pushed out across a face
            out = points["gap"] / points["normal"][:, 2]
            np.testing.assert_allclose(out.min(), -1e-5, atol=4e-2 * angle + 1e-12)


def test_a_small_box_between_the_nodes_stands_on_its_four_corners():
    scene = Soft(Box((2e-3, 2e-3, 2e-3)), *sheet())
    middle = scene.at[scene.f.triangle[5]].mean(axis=0)
    scene.move(middle - (0, 0, 1e-3 - 1e-5))
    points, where = scene.touch(1e-3)
    assert len(points) == 4, points
    np.testing.assert_allclose(points["gap"], -1e-5, atol=1e-12)
    np.testing.assert_allclose(points["normal"], np.tile((0, 0, 1.0), (4, 1)), atol=1e-12)
    assert (np.sort(where["node_a"]) == np.sort(scene.f.triangle[5])).all()


def test_a_peg_between_the_nodes_stands_on_its_rim():
    scene = Soft(Cylinder(1e-3, 0.02), *sheet())
    middle = scene.at[scene.f.triangle[5]].mean(axis=0)
    scene.move(middle - (0, 0, 0.01 - 1e-5))
    points, _ = scene.touch(1e-3)
    assert len(points) == 8
    np.testing.assert_allclose(points["gap"], -1e-5, atol=1e-12)
    on = points["position"] - middle
    np.testing.assert_allclose(np.hypot(on[:, 0], on[:, 1]), 1e-3, atol=1e-12)


def test_a_capsule_that_lies_under_the_mesh_is_held_where_edges_cross_it():
    scene = Soft(Capsule(3e-3, 0.2), *sheet())
    X = about((0, 1, 0), np.pi / 2)
    scene.move((0, 0.004, -3e-3 + 1e-5), X.quaternion)
    points, _ = scene.touch(1e-4)
    crossed = sum((scene.at[a, 1] < 4e-3) != (scene.at[b, 1] < 4e-3) for a, b in scene.f.edge)
    assert len(points) == crossed
    np.testing.assert_allclose(points["gap"], -1e-5, atol=1e-12)


def test_what_is_behind_a_surface_does_not_touch_it():
    for g in (Sphere(2e-3), Box((4e-3, 4e-3, 4e-3)), Cylinder(2e-3, 4e-3)):
        scene = Soft(g, *sheet())
        for place in ((0.003, 0.002, 0.015), (0.0, 0.0, 0.015), (0.005, 0.0, 0.014)):
            scene.move(place)
            assert len(scene.touch(5e-3)[0]) == 0
    assert all(module.__doc__ for module in MODULES)
