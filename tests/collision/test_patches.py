"""Flat patches of several shapes: their corners stay, and their wrenches."""

from pathlib import Path

import numpy as np
import pytest
from collision.scenes import UNIT, Scene

import tabi
from tabi.formats.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Material, Shape, Sphere
from tabi.spatial.transform import translation

BLOCK = Box((0.04, 0.04, 0.04))


def sole(blocks, more=(), block=None):
    """A body that stands on many blocks of 4 cm, hulls unless given, each with its lower side at
    z = 0.
    """
    block = block or convex_hull(BLOCK.points(), Path("block.stl"))
    world = tabi.World()
    world.add_ground(friction=0.7)
    thing = world.add_object(BLOCK, UNIT, (0, 0, 0), name="sole")
    thing.shapes.clear()
    for x, y in blocks:
        thing.shapes.append(Shape(block, translation((x, y, 0.02))))
    thing.shapes.extend(more)
    return world


def grid(nx, ny, step=0.05):
    return [(step * i, step * j) for i in range(nx) for j in range(ny)]


def test_of_twelve_blocks_the_corners_of_all_together_stay():
    points = Scene(sole(grid(4, 3))).detect()
    expected = {(x, y) for x in (-0.02, 0.17) for y in (-0.02, 0.12)}
    assert {tuple(np.round(p[:2], 9)) for p in points["position"]} == expected
    assert len(points) == 4


@pytest.mark.parametrize("block", [BLOCK, convex_hull(BLOCK.points())])
def test_boxes_and_polytopes_that_are_no_meshes_keep_all_their_corners(block):
    assert len(Scene(sole(grid(4, 3), block=block)).detect()) == 48


def test_soles_keep_all_their_corners():
    scene = Scene(sole(grid(4, 3)))
    scene.tables.shape["keeps"] = 1
    assert len(scene.detect()) == 48


def test_an_outline_that_turns_keeps_all_its_corners():
    # a cross: eight corners of its hull, the four in its armpits inside
    points = Scene(sole([(0, 0), (0.05, 0), (-0.05, 0), (0, 0.05), (0, -0.05)])).detect()
    assert len(points) == 8
    assert np.abs(points["position"][:, :2]).max(axis=0) == pytest.approx([0.07, 0.07])


def test_a_bump_below_the_plane_and_feet_that_tilt_stay():
    bump = Shape(Sphere(0.01), translation((0.07, 0.05, 0.009)))
    points = Scene(sole(grid(4, 3), [bump])).detect(band=5e-3)
    # not flat: nothing is dropped
    assert len(points) == 12 * 4 + 1
    assert points["gap"].min() == pytest.approx(-0.001, abs=1e-12)


def test_a_tilted_patch_is_still_flat():
    scene = Scene(sole(grid(4, 3)))
    q = scene.model.initial()
    angle = 0.004
    q[3:7] = (np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0)
    flat = scene.detect(q, band=2e-3)
    corners = np.array(
        [[x, y, 0.0] for x in (-0.02, 0.17) for y in (-0.02, 0.12)]
    )  # of the body, turned about x
    gaps = np.sin(angle) * corners[:, 1]
    assert sorted(flat["gap"]) == pytest.approx(sorted(gaps), abs=1e-9)


def test_two_materials_are_two_patches():
    world = sole(grid(4, 1))
    world.objects[0].shapes[3].material = Material("rubber", friction=1.2)
    points = Scene(world).detect()
    # 4 of the three blocks, 4 of the other one
    assert len(points) == 8


def test_points_in_a_line_keep_their_ends():
    world = sole([])
    for x in (0.0, 0.1, 0.2, 0.3, 0.05):
        world.objects[0].shapes.append(Shape(Sphere(0.02), translation((x, 0.0, 0.02))))
    scene = Scene(world)
    assert len(scene.detect()) == 5
    scene.tables.shape["keeps"] = 0
    assert sorted(scene.detect()["position"][:, 0]) == pytest.approx([0.0, 0.3])


def test_blocks_that_share_corners_show_each_corner_once():
    points = Scene(sole(grid(2, 2, step=0.04))).detect()
    assert len(points) == 4


@pytest.mark.slow
def test_a_sole_of_blocks_bears_the_wrench_of_one_plate_while_it_sticks():
    """Pushed and pressed off its centre, inside of the outline: the same wrench to 1e-6 of it."""
    wrenches = []
    for world in (sole(grid(5, 4)), sole([])):
        if not world.objects[0].shapes:
            plate = Shape(Box((0.24, 0.19, 0.04)), translation((0.1, 0.075, 0.02)))
            world.objects[0].shapes.append(plate)
        sim = tabi.Simulator(world)
        sim.apply_force("sole", (1.5, -1.0, -4.0), 1.0, point=(0.12, 0.05, 0.04))
        sim.run(0.2)
        force = sum(c.force for c in sim.contacts)
        moment = sum(np.cross(c.point, c.force) for c in sim.contacts)
        wrenches.append(np.concatenate([force, moment]))
        assert np.linalg.norm(sim.state.v) < 1e-7
    np.testing.assert_allclose(wrenches[0], wrenches[1], atol=1e-6 * np.abs(wrenches[1]).max())


def test_capsules_side_by_side_keep_the_outer_ends():
    world = sole([])
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    for y in (0.0, 0.05, 0.1):
        place = translation((0.0, y, 0.02))
        world.objects[0].shapes.append(Shape(Capsule(0.02, 0.2), type(place)(turn, place.p)))
    scene = Scene(world)
    scene.tables.shape["keeps"] = 0
    points = scene.detect()
    assert {tuple(np.round(np.abs(p[:2]), 9)) for p in points["position"]} == {
        (0.1, 0.0),
        (0.1, 0.1),
    }
