"""Pictures of known things: depth and segmentation by formulas, shadows where the sun puts them."""

import numpy as np
import pytest

import tabi
from tabi.model.shape import Box, HalfSpace
from tabi.recording.look import Look
from tabi.rendering.renderer import SUN, TONES, Renderer
from tabi.rendering.triangles import of_look, of_world
from tabi.spatial.transform import from_quaternion


def rendered(world):
    """A renderer of a world and the places of its bodies at the start."""
    model = world.compile()
    free = [np.asarray(body.joint.position) for body in world.objects]
    p = np.array([np.zeros(3), *(q[:3] for q in free)])
    R = np.array([np.eye(3), *(from_quaternion(q[3:]).R for q in free)])
    return Renderer(of_world(world, model)), R, p


def grounded(height=0.0):
    """A floor, and deep below it something that moves, as every world has."""
    world = tabi.World()
    world.add_ground(height=height)
    world.add_sphere(radius=0.1, mass=1.0, position=(0.0, 0.0, -50.0))
    return world


def rays(camera):
    """Directions of the pixels' middles in the world, with a depth of 1, shape (h, w, 3)."""
    width, height = camera.size
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    local = np.stack([x - width / 2, height / 2 - y, np.full_like(x, -camera.focus)], axis=-1)
    return local / camera.focus @ camera.pose.R.T


CAMERA = tabi.Camera((1.5, -0.7, 1.2), (0.0, 0.1, 0.3), field_of_view=60.0, size=(160, 120))


def test_depth_of_the_ground_is_that_of_a_plane_up_to_the_horizon():
    renderer, R, p = rendered(grounded(0.1))
    level = tabi.Camera((0.3, 0.2, 1.0), (3.0, 0.0, 1.3), field_of_view=80.0, size=(160, 120))
    for camera in (CAMERA, level):
        down = rays(camera)[..., 2]
        depth, seen = renderer.depth(R, p, camera), renderer.segmentation(R, p, camera)
        with np.errstate(divide="ignore"):
            exact = np.where(down < 0, (0.1 - camera.pose.p[2]) / down, np.inf)
        # single precision of the result
        assert np.allclose(depth, exact, rtol=2e-7)
        assert np.array_equal(seen, np.where(down < 0, 0, -1))


def test_ground_is_not_seen_from_below():
    renderer, R, p = rendered(grounded())
    depth = renderer.depth(R, p, tabi.Camera((0, 0, -0.5), (1, 0, 1), size=(16, 12)))
    assert np.isinf(depth).all()


def test_depth_of_a_ball_is_that_of_a_sphere_but_for_its_facets():
    world, r = tabi.World(), 0.4
    world.add_sphere(radius=r, mass=1.0, position=(0.2, 0.1, 0.5))
    renderer, R, p = rendered(world)
    d, depth = rays(CAMERA), renderer.depth(R, p, CAMERA)
    to = p[1] - CAMERA.pose.p
    a, b, c = (d * d).sum(axis=-1), d @ to, to @ to - r * r
    hit = b * b - a * c > 0
    exact = (b - np.sqrt(np.maximum(b * b - a * c, 0))) / a
    normal = (CAMERA.pose.p + exact[..., None] * d - p[1]) / r
    slant = -(normal * d).sum(axis=-1) / np.sqrt(a)
    inner = hit & (slant > 0.4)
    # corners of 32 × 16 facets lie on the sphere, and their planes at least r √(1 − ρ²) from its
    # centre, ρ = √2 sin(π/32); along a slanting ray that is more
    inside = r * (1 - np.sqrt(1 - 2 * np.sin(np.pi / 32) ** 2))
    off = (depth - exact)[inner]
    assert inner.sum() > 1000
    assert (off > -1e-6).all()
    assert (off <= 1.5 * inside / slant[inner]).all()
    assert np.isinf(depth[~hit]).all()


def test_depth_of_a_turned_box_is_where_rays_meet_its_faces():
    world, size = tabi.World(), np.array([0.5, 0.4, 0.6])
    world.add_box(size=size, mass=1.0, position=(0, 0, 0.4), quaternion=(0.9, 0.2, -0.3, 0.25))
    renderer, R, p = rendered(world)
    d, depth = rays(CAMERA) @ R[1], renderer.depth(R, p, CAMERA)
    eye = (CAMERA.pose.p - p[1]) @ R[1]
    with np.errstate(divide="ignore"):
        ends = np.stack([(-size / 2 - eye) / d, (size / 2 - eye) / d])
    enters, leaves = ends.min(axis=0).max(axis=-1), ends.max(axis=0).min(axis=-1)
    hit = (enters < leaves) & (leaves > 0)
    at = eye + enters[..., None] * d
    # a face, less the 4 mm that are cut off its edges in a picture
    face = hit & ((np.abs(at) > size / 2 - 0.0041).sum(axis=-1) == 1)
    assert face.sum() > 1000
    # single precision of corners and result
    assert np.allclose(depth[face], enters[face], atol=1e-6)
    assert np.isinf(depth[~hit]).all()


def test_body_behind_another_is_hidden_and_segments_are_theirs():
    world = tabi.World()
    for name, x, y in (("near", 1.0, 0.0), ("behind", 2.0, 0.0), ("left", 2.0, 1.2)):
        world.add_box(size=(0.4, 0.4, 0.4), mass=1.0, position=(x, y, 0.0), name=name)
    world.add_fixed(Box((0.4, 0.4, 0.4)), position=(2.0, -1.2, 0.0))
    renderer, R, p = rendered(world)
    names = list(world.compile().links)
    camera = tabi.Camera((0, 0, 0), (1, 0, 0), field_of_view=90.0, size=(201, 101))
    seen = renderer.segmentation(R, p, camera)
    places, _ = camera.project([p[1], p[3], (2.0, -1.2, 0.0)])
    found = [names[seen[int(row), int(column)]] for column, row in places]
    assert found == ["near", "left", "world"]
    assert names.index("behind") not in seen
    assert seen[0, 0] == -1
    # a face of 0.4 m at 0.8 m is 0.4 f / 0.8 wide, f = 50.5; bevels and rows on its edge aside
    width = 0.5 * camera.focus
    assert abs((seen == names.index("near")).sum() - width**2) < 4 * width


def test_of_two_planes_the_nearer_one_is_seen():
    world = grounded()
    # a wall two metres ahead whose normal points back
    world.add_fixed(HalfSpace(), (2.0, 0.0, 0.0), (np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0))
    renderer, R, p = rendered(world)
    camera = tabi.Camera((0, 0, 1), (1, 0, 0.5), field_of_view=90.0, size=(80, 60))
    d = rays(camera)
    with np.errstate(divide="ignore"):
        floor = np.where(d[..., 2] < 0, -1.0 / d[..., 2], np.inf)
        wall = np.where(d[..., 0] > 0, 2.0 / d[..., 0], np.inf)
    assert np.allclose(renderer.depth(R, p, camera), np.minimum(floor, wall), rtol=2e-7)
    assert (floor < wall).any()
    assert (floor > wall).any()
    assert (renderer.segmentation(R, p, camera) == 0).all()


def test_shadow_of_a_ball_is_where_the_sun_puts_it():
    world = tabi.World()
    world.add_ground()
    world.add_sphere(radius=0.1, mass=1.0, position=(0.0, 0.0, 0.6))
    renderer, R, p = rendered(world)
    middle = p[1] - SUN * (0.6 / SUN[2])
    camera = tabi.Camera(middle + np.array([0.01, 0.0, 2.0]), middle, size=(101, 101))
    pixels = renderer.colour(R, p, camera).astype(int)
    dark = pixels[50, 50]
    lit = pixels[5, 5]
    # pale by the distance of 2 m, the same for both
    assert np.allclose((lit - dark) / (TONES[1] - TONES[2]), 25.0 / 27.0, atol=0.03)
    # without a ball there is none
    p[1, 2] = -5.0
    assert np.allclose(renderer.colour(R, p, camera)[50, 50], lit, atol=3)


def test_picture_twice_is_the_same_to_the_last_bit_whatever_was_drawn_between():
    world = tabi.World()
    world.add_ground()
    world.add_box(size=(0.3, 0.3, 0.3), mass=1.0, position=(0, 0, 0.4))
    renderer, R, p = rendered(world)
    kinds = ("colour", "depth", "segmentation")
    first = [getattr(renderer, kind)(R, p, CAMERA) for kind in kinds]
    renderer.colour(R, p + 0.1, tabi.Camera((2, 2, 2), (0, 0, 0), size=(64, 48)))
    again = [getattr(renderer, kind)(R, p, CAMERA) for kind in kinds]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert [picture.dtype for picture in first] == [np.uint8, np.float32, np.int32]


def test_body_is_not_seen_from_inside():
    world = tabi.World()
    world.add_box(size=(0.3, 0.3, 0.3), mass=1.0, position=(0, 0, 0.4), name="shell")
    world.add_box(size=(0.3, 0.3, 0.3), mass=1.0, position=(1, 0, 0.4), name="ahead")
    renderer, R, p = rendered(world)
    camera = tabi.Camera((0, 0, 0.4), (1, 0, 0.4), size=(40, 30))
    seen = renderer.segmentation(R, p, camera)
    assert list(world.compile().links)[seen[15, 20]] == "ahead"
    assert len(np.unique(seen)) == 2


def test_empty_world_is_all_sky():
    renderer = Renderer(of_look(Look([], np.zeros((0, 2, 3)))))
    R, p = np.eye(3)[None], np.zeros((1, 3))
    assert (renderer.colour(R, p, CAMERA) == TONES[0]).all()
    assert (renderer.segmentation(R, p, CAMERA) == -1).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
def test_body_that_is_nowhere_leaves_the_rest_of_the_picture(bad):
    world = tabi.World()
    world.add_ground()
    world.add_box(size=(0.3, 0.3, 0.3), mass=1.0, position=(0, 0, 0.4))
    renderer, R, p = rendered(world)
    p[1] = bad
    # places that are no numbers become none by a warning, not by an error
    with np.errstate(invalid="ignore"):
        seen = renderer.segmentation(R, p, CAMERA)
        assert renderer.colour(R, p, CAMERA).shape == (120, 160, 3)
    assert (seen <= 0).all()
