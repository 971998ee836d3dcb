"""A point of a surface and a solid: plain distances outside, the side it stands on inside."""

import numpy as np
import pytest
from collision.scenes import UNIT, Scene
from collision.truth import Hull, outside_cylinder, outside_ellipsoid

import tabi
from tabi.collision.smooth_shapes import nearest_on as ellipsoid
from tabi.collision.surfaces.solids import nearest
from tabi.formats.mesh import convex_hull
from tabi.jit import kernel
from tabi.model.shape import Box, Cylinder, Ellipsoid

DOWN = (0.0, 0.0, -1.0)


@kernel
def of_shape(c, p, m):
    return nearest(c.shape[0], p, m, c)


@kernel
def of_ellipsoid(c, p):
    return ellipsoid(c.shape[0], p)


def tables(geometry):
    world = tabi.World()
    world.add_object(geometry, UNIT)
    return Scene(world).tables


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_outside_the_gap_is_the_distance_and_the_normal_its_slope(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(0.01, 0.1, 3)
    hull = convex_hull(0.05 * rng.normal(size=(15, 3)))
    middle = 0.5 * (hull.vertices.min(axis=0) + hull.vertices.max(axis=0))
    for g, truth in (
        (Box((2 * a, 2 * b, 2 * c)), Hull(Box((2 * a, 2 * b, 2 * c)).points()).signed),
        (hull, Hull(hull.vertices - middle).signed),
        (Cylinder(a, 2 * b), lambda q, a=a, b=b: outside_cylinder(a, 2 * b, q)),
        (Ellipsoid((a, b, c)), lambda q, h=(a, b, c): outside_ellipsoid(h, q)),
    ):
        shape = tables(g)
        for _ in range(60):
            p = rng.uniform(-0.15, 0.15, 3)
            d = truth(p)
            n, gap = of_shape(shape, tuple(p), (0.0, 0.0, 0.0))
            assert abs(np.linalg.norm(n) - 1) < 1e-12
            # inside, a surface without a normal takes the nearest side
            assert abs(gap - d) < 1e-9
            if d > 0:
                slope = [(truth(p + e) - truth(p - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
                np.testing.assert_allclose(n, slope, atol=1e-4)


def test_special_points_of_an_ellipsoid():
    h = (0.03, 0.02, 0.01)
    shape = tables(Ellipsoid(h))
    for p in ((0, 0, 0), (0.01, 0, 0), (0, 0.02, 0), (0.03, 0, 0), (0, 0, 0.01), (0, 0, -0.5)):
        n, gap = of_ellipsoid(shape, tuple(map(float, p)))
        assert abs(np.linalg.norm(n) - 1) < 1e-12
        assert abs(gap - outside_ellipsoid(h, np.array(p))) < 1e-12


@pytest.mark.parametrize("polytope", [False, True])
def test_a_sole_in_a_box_leaves_through_the_top_and_slides_over_its_edge(polytope):
    box = Box((0.2, 0.2, 0.2))
    shape = tables(convex_hull(box.points()) if polytope else box)
    # one millimetre from the side, three below the top
    n, gap = of_shape(shape, (0.099, 0.0, 0.097), DOWN)
    np.testing.assert_allclose(n, (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(gap, -3e-3, atol=1e-12)
    # at the side, where it only touches it
    n, gap = of_shape(shape, (0.09999, 0.0, 0.09), DOWN)
    np.testing.assert_allclose(n, (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(gap, -1e-5, atol=1e-12)
    # beside the box a hair below its top: nothing is in the way; lower there is
    assert of_shape(shape, (0.1001, 0.0, 0.09999), DOWN)[1] == np.inf
    n, gap = of_shape(shape, (0.1001, 0.0, 0.099), DOWN)
    np.testing.assert_allclose((*n, gap), (1, 0, 0, 1e-4), atol=1e-12)
    # and inside by a hair, that hair lifts it
    n, gap = of_shape(shape, (0.0999999, 0.0, 0.09999), DOWN)
    np.testing.assert_allclose((*n, gap), (0, 0, 1, -1e-5), atol=1e-12)
