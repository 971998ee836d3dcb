"""Triangles in pictures: the nearest is seen, none is smeared, and neighbours leave no gap."""

import numpy as np
import pytest

from tabi.rendering.raster import BACKGROUND, FIRST_PLANE, NEAR_PLANE, fill, fill_plane

# a picture of 40 × 40 pixels; at the depth Z a pixel is Z/40 wide
SIZE, LENS = 40, (40.0, 20.0, 20.0)
# right, up and ahead are the axes of the only body
POSE = np.append(np.eye(3).ravel(), np.zeros(3))[None]


def drawn(triangles, lit=BACKGROUND, shaded=BACKGROUND, buffers=None):
    nearest, what = buffers or (np.zeros((SIZE, SIZE)), np.full((SIZE, SIZE), BACKGROUND, np.int32))
    corners = np.array(triangles, np.float32).reshape(-1, 3, 3)
    fill(nearest, what, corners, np.zeros(len(corners), np.int32), POSE, LENS, lit, shaded)
    return nearest, what


def half(depth):
    """The upper left half of the picture; outward faces turn to the left as seen from outside."""
    z = np.broadcast_to(np.asarray(depth, float), 3)
    corners = [(-0.5, 0.5), (-0.5, -0.5), (0.5, 0.5)]
    return [(x * d, y * d, d) for (x, y), d in zip(corners, z, strict=True)]


def rays():
    """X/Z and Y/Z of the pixels' middles."""
    x, y = np.meshgrid(np.arange(SIZE) + 0.5 - 20.0, np.arange(SIZE) + 0.5 - 20.0)
    return x / 40.0, -y / 40.0


@pytest.mark.parametrize("near", [0, 1])
def test_nearer_triangle_hides_the_farther_one_in_either_order(near):
    nearest, what = drawn([half(1.0 if k == near else 2.0) for k in range(2)])
    assert what[5, 5] == near
    assert what[39, 39] == BACKGROUND
    assert nearest[5, 5] == pytest.approx(1.0)
    # half of the square, with the middles on its edge
    assert (what >= 0).sum() == 820


def test_crossing_triangles_hide_each_other_where_each_is_nearer():
    # the first recedes along the picture, the second comes nearer
    _, what = drawn([half((1.0, 1.0, 3.0)), half((3.0, 3.0, 1.0))])
    assert what[2, 2] == 0
    assert what[2, 35] == 1


def test_depth_of_a_tilted_triangle_is_where_rays_meet_its_plane():
    corners = np.array(half((1.0, 2.5, 1.7)))
    nearest, what = drawn([corners])
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    x, y = rays()
    exact = (normal @ corners[0]) / (normal[0] * x + normal[1] * y + normal[2])
    # corners are kept in single precision
    assert np.allclose(1.0 / nearest[what == 0], exact[what == 0], rtol=1e-5)
    assert (what == 0).any()


def test_face_that_is_seen_from_behind_is_left_out():
    a, b, c = half(1.0)
    assert (drawn([(a, c, b)])[1] == BACKGROUND).all()


@pytest.mark.parametrize("turn", [0, 1, 2])
@pytest.mark.parametrize("behind", [1, 2])
def test_triangle_that_reaches_behind_the_camera_is_cut_not_smeared(turn, behind):
    # on the floor half a metre below the camera, with one or two corners behind it
    last = 5.0 if behind == 1 else -2.0
    corners = np.array([(0.7, -0.5, last), (0.2, -0.5, 4.0), (-0.6, -0.5, -1.0)])
    nearest, what = drawn([np.roll(corners, turn, axis=0)])
    x, y = rays()
    with np.errstate(divide="ignore"):
        depth = -0.5 / y
    X, Z = x * depth, depth
    inside = np.ones_like(X, bool)
    margin = np.full_like(X, np.inf)
    for k in range(3):
        (ax, _, az), (bx, _, bz) = corners[k], corners[(k + 1) % 3]
        side = (bx - ax) * (Z - az) - (bz - az) * (X - ax)
        inside &= side >= 0
        margin = np.minimum(margin, abs(side))
    expected = inside & (y < 0) & (Z > NEAR_PLANE)
    # single precision of the corners decides on the edge
    sure = margin > 1e-5
    assert expected.any()
    assert np.array_equal((what == 0)[sure], expected[sure])
    assert np.allclose(1.0 / nearest[(what == 0) & expected], depth[(what == 0) & expected])


def test_what_is_nearer_than_the_near_plane_is_not_seen():
    assert (drawn([half(0.99 * NEAR_PLANE)])[1] == BACKGROUND).all()
    assert (drawn([half(1.01 * NEAR_PLANE)])[1] == 0).any()


def test_triangle_that_is_nowhere_draws_nothing():
    flat = np.tile([0.1, 0.1, 1.0], (3, 1))
    far = np.array([(1e5, 0.0, 1.0), (1e5, 1.0, 1.0), (1e5 + 1, 0.0, 1.0)])
    for corners in (
        np.full((3, 3), np.nan),
        np.full((3, 3), np.inf),
        flat,
        far,
        -np.array(half(1.0)),
    ):
        assert (drawn([corners])[1] == BACKGROUND).all()


def test_two_halves_of_a_square_leave_no_gap_along_their_edge():
    # corners that are exact in single precision, so that the edge runs through middles of pixels
    # but for the rounding of the projection, which is another one for each depth
    for k in range(1, 400):
        z = k / 64.0
        for low, high in ((0.5, 0.5), (0.25, 0.5), (0.5, 0.125)):
            a, b, c, d = (
                (x * z, y * z, z)
                for x, y in ((-low, -low), (high, -low), (high, high), (-low, high))
            )
            _, what = drawn([(a, b, c), (a, c, d)])
            rows, columns = np.nonzero(what >= 0)
            inside = what[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
            assert (inside >= 0).all()
            assert inside.size == round(40 * (low + high)) ** 2


def test_shadow_falls_only_on_what_it_is_meant_for():
    nearest, what = drawn([half(2.0)])
    what[:20] = FIRST_PLANE
    drawn([half(1.0)], lit=FIRST_PLANE, shaded=FIRST_PLANE - 1, buffers=(nearest, what))
    assert what[5, 5] == FIRST_PLANE - 1
    assert what[25, 5] == 0
    assert what[5, 39] == FIRST_PLANE
    assert nearest[5, 5] == pytest.approx(0.5)


def test_plane_is_seen_where_rays_meet_it_and_hides_what_is_below():
    nearest, what = drawn([half(3.0)])
    # 1/Z = row/20 − 1: from the middle row downwards
    fill_plane(nearest, what, (-1.0, 0.0, 0.05), FIRST_PLANE)
    rows = np.arange(SIZE) + 0.5
    below = 0.05 * rows - 1.0 > 0
    assert (what[below][:, -1] == FIRST_PLANE).all()
    assert (what[~below][1:, -1] == BACKGROUND).all()
    assert np.allclose(nearest[below, -1], 0.05 * rows[below] - 1.0)
    # 1/3 of the triangle is more than the plane's at first
    assert what[22, 2] == 0
    assert what[30, 2] == FIRST_PLANE
