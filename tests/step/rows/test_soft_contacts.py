"""Points of pads among those of rigid shapes, and pebbles under pads."""

import numpy as np
import pytest
from simulation.soft import G, block

import tabi
from tabi.soles import Layer


def test_points_are_in_the_order_of_their_shapes_also_beside_rigid_ones():
    world, box = block()
    # a peg beside the pad that touches the ground as well, behind it and before it
    world.add_sphere(0.02, 0.1, position=(0.3, 0, 0.02))
    other = world.add_box((0.05, 0.05, 0.05), 1.0, position=(0.6, 0, 0.045), name="other")
    other.add_pad("-z", Layer(0.02, 1e6, 0.3), element_size=0.03)
    world.add_box((0.05, 0.05, 0.05), 1.0, position=(0.9, 0, 0.025), name="hard")
    sim = tabi.Simulator(world)
    sim.run(0.02)
    rows = sim.data.contact
    keys = list(zip(rows["shape_a"], rows["shape_b"], strict=True))
    assert keys == sorted(keys)
    assert len(set(keys)) == 4
    # warm starts are found: a step that changes nothing is solved by one step of Newton's method
    sim.run(0.2)
    assert sim.data.outcome.report[0]["iterations"] <= 4
    for body in (box, other):
        force = sum(c.force for c in sim.contacts_of(body))
        assert force[2] == pytest.approx(body.inertia.mass * G, rel=1e-2)


@pytest.mark.parametrize(
    ("x", "y"), [(0.0, 0.0), (0.0123, 0.0051), (0.02, 0.01), (-0.0049, 0.0201)]
)
def test_a_pebble_anywhere_under_a_pad_hardly_enters_it(x, y):
    world = tabi.World()
    world.add_ground(friction=0.6)
    # 5 mm across, under elements of 10 mm
    world.add_fixed(tabi.Sphere(0.0025), (x, y, 0.0025), friction=0.6)
    box = world.add_box((0.08, 0.06, 0.05), 2.0, position=(0, 0, 0.041), friction=0.6)
    box.add_pad("-z", Layer(0.01, 1e6, 0.45, viscosity=0.005), element_size=0.01)
    sim = tabi.Simulator(world)
    deepest = 0.0
    for _ in range(400):
        sim.step()
        deepest = max(deepest, -float(sim.data.contact["gap"].min(initial=0.0)))
    assert deepest < 1e-4
    assert sim.missed_count == 0
    # it is dented: the pebble stands higher than the ground
    assert sim.pads["pad of box"].displacement[:, 2].max() > 1e-4


def test_a_foot_on_the_edge_of_a_step_stays_above_it():
    world = tabi.World()
    world.add_ground(friction=0.7)
    world.add_fixed(tabi.Box((0.1, 0.3, 0.02)), (0.055, 0, 0.01), friction=0.7)
    box = world.add_box((0.2, 0.1, 0.05), 3.0, position=(0, 0, 0.0551), friction=0.7)
    box.add_pad("-z", Layer(0.01, 1e6, 0.45, viscosity=0.005), element_size=0.03)
    sim = tabi.Simulator(world)
    deepest = 0.0
    for _ in range(300):
        sim.step()
        deepest = max(deepest, -float(sim.data.contact["gap"].min(initial=0.0)))
    assert deepest < 3e-4
    assert sim.missed_count == 0
    assert np.isfinite(sim.data.q).all()


@pytest.mark.parametrize("bond", ["weld", "hinge"])
def test_a_bond_that_withholds_points_leaves_the_nodes_of_pads_with_their_points(bond):
    """A box bonded to the ground it lies on has no contacts; the pad beside presses evenly."""
    world, _ = block(poisson_ratio=0.0)
    # before the block among the shapes of a pair, and behind it
    for x in (-0.5, 0.5):
        lies = world.add_box((0.2, 0.2, 0.1), 1.0, position=(x, 0, 0.0495))
        world.add_bond(bond, lies, world.fixed, axis=(0, 0, 1) if bond == "hinge" else None)
    sim = tabi.Simulator(world)
    sim.run(0.3)
    (pad,) = sim.pads.values()
    even = (sim.model.mass - 2.0) * G / (0.1 * 0.08)
    assert np.allclose(pad.pressure, even, rtol=1e-6)
    assert sim.certificate.sole_residual < 1e-9
