"""Random worlds are the same by their seed, physical, and start apart."""

import numpy as np
import pytest

from tabi import collision
from tabi.formats.mesh import convex_hull
from tabi.lab.validate import random_worlds
from tabi.lab.validate.random_worlds import MAX_MASS_KG, MIN_MASS_KG, random_velocity, random_world
from tabi.model.shape import Box, Ellipsoid
from tabi.spatial.inertia import solid_box, solid_ellipsoid


def test_the_same_seed_gives_the_same_world():
    first, again, other = (random_world(seed).compile() for seed in (3, 3, 4))
    assert np.array_equal(first.initial(), again.initial())
    assert first.arrays.body.tobytes() == again.arrays.body.tobytes()
    assert first.initial().shape != other.initial().shape or not np.array_equal(
        first.initial(), other.initial()
    )
    assert np.array_equal(random_velocity(random_world(3), 7), random_velocity(random_world(3), 7))


@pytest.mark.parametrize("seed", range(9))
def test_everything_starts_apart_and_within_its_masses(seed):
    world = random_world(seed)
    model = world.compile()
    assert collision.contacts(model, model.initial(), 0.0) == []
    masses = [b.inertia.mass for r in world.robots for b in r.bodies] + [
        o.inertia.mass for o in world.objects
    ]
    assert len(masses) > 1
    assert MIN_MASS_KG <= min(masses) <= max(masses) <= MAX_MASS_KG
    tensors = [b.inertia.tensor for r in world.robots for b in r.bodies] + [
        o.inertia.tensor for o in world.objects
    ]
    for tensor in tensors:
        # a body's moments obey the triangle inequality
        moments = np.linalg.eigvalsh(tensor)
        assert moments[0] > 0
        assert moments[2] <= (moments[0] + moments[1]) * (1 + 1e-9)


@pytest.mark.slow
def test_a_hundred_worlds_have_every_ground_shape_and_joint():
    kinds, grounds, joints, motors = set(), set(), set(), 0
    for seed in range(60):
        world = random_world(seed)
        grounds |= {s.name.rstrip("0123456789") for s in world.fixed.shapes}
        bodies = [b for r in world.robots for b in r.bodies]
        kinds |= {type(b.shapes[0].geometry).__name__ for b in bodies + world.objects}
        joints |= {b.joint.kind for b in bodies}
        motors += sum(b.joint.motor is not None for b in bodies)
    assert grounds == {"ground", "height_field", "stairs"}
    assert kinds == {"Box", "Sphere", "Capsule", "Cylinder", "Convex"}
    assert joints == {"floating", "fixed", "revolute", "spherical", "prismatic"}
    assert motors > 10


def test_an_ellipsoid_weighs_like_one_and_reaches_as_far_as_its_longest_axis():
    g = Ellipsoid((0.1, 0.2, 0.3))
    solid = random_worlds.solid_of(g, 2.0)
    np.testing.assert_allclose(solid.tensor, solid_ellipsoid(2.0, g.radii).tensor, atol=1e-15)
    assert 0.3 <= random_worlds.reach_of(g) < 0.301


def test_a_polytope_that_is_a_box_weighs_like_one():
    size, shift = (0.1, 0.2, 0.3), np.array([0.3, -0.1, 0.2])
    solid = random_worlds.solid_of(convex_hull(Box(size).points() + shift), 2.0)
    np.testing.assert_allclose(solid.centre, shift, atol=1e-12)
    np.testing.assert_allclose(solid.tensor, solid_box(2.0, size).tensor, atol=1e-12)
