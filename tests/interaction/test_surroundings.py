"""Points near a ball, against distances that are known."""

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.surroundings import Surroundings
from tabi.model.shape import Box, Capsule, Cylinder, Ellipsoid, Sphere
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.soles import Layer
from tabi.spatial.transform import about

R = 0.004


def with_fixed(*shapes) -> Simulator:
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(9.0, 9.0, 9.0))
    for geometry, place in shapes:
        world.add_fixed(geometry, place)
    return Simulator(world)


@pytest.mark.parametrize(
    ("geometry", "distance"),
    [
        (Sphere(0.1), 0.2),
        (Box((0.2, 0.3, 0.2)), 0.2),
        (Cylinder(0.1, 0.4), 0.2),
        (Capsule(0.1, 0.4), 0.2),
        (Ellipsoid((0.1, 0.2, 0.3)), 0.2),
    ],
)
def test_nearest_point_of_each_kind_of_shape(geometry, distance):
    around = Surroundings(with_fixed((geometry, (0.0, 0.0, 0.0))), R)
    around.update()
    # along x from 0.3: the side is at 0.1 for all of them
    (near,) = around.near(np.array([0.3, 0.0, 0.0]), 0.5)
    assert near.gap == pytest.approx(distance - R, abs=1e-9)
    assert near.normal == pytest.approx([1, 0, 0], abs=1e-6)
    assert near.point == pytest.approx([0.1, 0, 0], abs=1e-6)
    assert near.body == 0
    assert around.near(np.array([0.3, 0.0, 0.0]), 0.1) == []


def test_it_sees_bodies_where_they_are_now():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_box((0.1, 0.1, 0.1), 1.0)
    sim = Simulator(world)
    around, centre = Surroundings(sim, R), np.array([0.2, 0.0, 0.0])
    X = about((0, 0, 1), np.pi / 4)
    for x in (0.0, 0.02, 0.05):
        q = sim.model.initial()
        q[0], q[3:7] = x, X.quaternion
        sim.set_state(q)
        around.update()
        (near,) = around.near(centre, 0.3)
        # a corner of the box looks there
        assert near.gap == pytest.approx(0.2 - x - 0.05 * np.sqrt(2) - R, abs=1e-9)
        assert (near.link, near.body > 0) == ("box", True)


def test_a_pad_is_where_its_deformation_has_it():
    world = World()
    world.add_ground()
    box = world.add_box((0.1, 0.1, 0.1), 20.0, position=(0.0, 0.0, 0.0601))
    box.add_pad("-z", Layer(0.01, 1e6, 0.3), element_size=0.05, cache=False)
    sim = Simulator(world)
    for _ in range(200):
        sim.step()
    lowest = sim.position("box")[2] - 0.06
    assert lowest < -5e-5
    # the box's body is lower than its sole is thick; the sole's face is still on the ground
    around = Surroundings(sim, R)
    around.update()
    found = around.near(np.array([0.01, 0.02, -0.01]), 0.02)
    pad = min(one.gap for one in found if one.body)
    assert pad == pytest.approx(0.01 - R, abs=1e-5)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
def test_balls_that_cannot_be_are_refused(radius):
    with pytest.raises(ModelError, match="radius"):
        Surroundings(with_fixed(), radius)
