"""Bodies on soft pads: closed forms of sinking, friction, energy, and the rigid limit."""

import numpy as np
import pytest
from simulation.soft import G, block

import tabi
from tabi import ModelError
from tabi.soles import Layer


def test_a_pad_without_poissons_ratio_sinks_by_force_times_thickness_over_stiffness():
    world, box = block(viscosity=0.01)
    sim = tabi.Simulator(world)
    sim.run(1.0)
    sink = 0.025 + 0.01 - sim.position(box)[2]
    expected = box.inertia.mass * G * 0.01 / (1e6 * 0.1 * 0.08)
    assert sink == pytest.approx(expected, rel=1e-6)
    pad = sim.pads["pad of box"]
    assert pad.sink == pytest.approx(expected, rel=1e-6)
    # even pressure, as no side is held back
    assert pad.pressure == pytest.approx(box.inertia.mass * G / 0.008, rel=1e-6)
    assert sim.missed_count == 0


@pytest.mark.slow
def test_layers_sink_one_after_the_other_also_where_they_differ_in_viscosity():
    world, box = block(thickness=0.01)
    del box.shapes[-1]
    soft, firm = Layer(0.006, 5e5, 0.0, viscosity=0.004), Layer(0.004, 2e6, 0.0, viscosity=0.02)
    box.add_pad("-z", [soft, firm], element_size=0.025)
    sim = tabi.Simulator(world)
    sim.run(1.0)
    expected = sim.pads["pad of box"].normal_force / 0.008 * (0.006 / 5e5 + 0.004 / 2e6)
    assert sim.pads["pad of box"].sink == pytest.approx(expected, rel=1e-6)
    assert sim.certificate.sole_residual < 1e-12


def test_the_weight_is_borne_and_friction_ends_at_its_limit():
    world, box = block(viscosity=0.005, friction=0.5, poisson_ratio=0.3)
    sim = tabi.Simulator(world)
    sim.run(0.5)
    weight = box.inertia.mass * G
    for share, slides in ((0.4, False), (0.6, True)):
        sim.apply_force(box, (share * weight, 0, 0), duration=0.4, point=(0, 0, -0.035))
        sim.run(0.3)
        force = sum(contact.force for contact in sim.contacts)
        assert force[2] == pytest.approx(weight, rel=1e-5)
        assert -force[0] == pytest.approx(min(share, 0.5) * weight, rel=1e-5)
        assert (sim.velocity(box).linear[0] > 0.1) == slides
        sim.run(0.1)


def test_energy_never_rises_and_its_loss_is_of_first_order():
    lost = []
    # a bounce takes 7 ms: steps of a fortieth of it and less
    for dt in (2e-4, 1e-4, 5e-5):
        # without Poisson's ratio nothing bulges, and nothing slides
        world, _ = block(young_modulus=5e5, above=0.001)
        sim = tabi.Simulator(world, dt=dt)
        start = sim.energy.total
        before = start
        while sim.time < 0.03:
            sim.step()
            now = sim.energy.total
            # what a step's backward error of 1e-8 m/s lets pass at some hundred newtons
            assert now <= before + 1e-7
            before = now
        lost.append(start - before)
    slopes = np.log2(lost[0] / lost[1]), np.log2(lost[1] / lost[2])
    assert all(0.85 < slope < 1.1 for slope in slopes), (lost, slopes)


def test_the_balance_of_a_step_adds_up_and_pads_take_energy():
    world, _ = block(viscosity=0.002, poisson_ratio=0.4, above=0.02)
    sim = tabi.Simulator(world)
    taken = 0.0
    for _ in range(150):
        before = sim.energy.total
        sim.step()
        found = sim.balance
        parts = (found.motors, found.contacts, found.joints, found.pushes, found.scheme)
        assert found.change == pytest.approx(sum(parts) + found.soles, abs=1e-13)
        assert found.change == pytest.approx(sim.energy.total - before, abs=1e-12)
        assert found.contacts < 1e-8
        taken += found.soles
    # most of what the drop of 20 mm brought
    assert taken < -0.5 * 2.0 * G * 0.02


def test_stiff_pads_are_rigid_and_the_difference_falls_with_stiffness():
    def run(modulus):
        world = tabi.World()
        world.add_ground(friction=0.4)
        position = (0, 0, 0.035 if modulus else 0.025)
        box = world.add_box((0.1, 0.08, 0.05), 2.0, position=position, friction=0.4)
        if modulus:
            layer = Layer(0.01, modulus, 0.3, density=1e-3, viscosity=0.02)
            box.add_pad("-z", layer, element_size=0.025)
        sim = tabi.Simulator(world)
        sim.apply_force(box, (12.0, 0, 0), duration=0.1, point=(0, 0, -0.02))
        sim.run(0.1)
        force = sum(contact.force for contact in sim.contacts)
        return np.concatenate([sim.velocity(box).linear[:1], force / 20.0])

    rigid = run(0.0)
    off = [np.abs(run(E) - rigid).max() for E in (1e7, 1e8, 1e9)]
    assert off[2] < 0.01 * np.abs(rigid).max()
    assert off[0] > 3.0 * off[1] > 9.0 * off[2]


def test_a_run_goes_on_from_a_saved_moment_to_the_last_digit():
    world, _ = block(viscosity=0.002, above=0.01, poisson_ratio=0.3)
    sim = tabi.Simulator(world)
    sim.run(0.06)
    saved = sim.save()
    sim.run(0.05)
    once = sim.state.q.copy(), np.array(sim.data.memory.sole)
    sim.restore(saved)
    sim.run(0.05)
    assert np.array_equal(once[0], sim.state.q)
    assert np.array_equal(once[1], sim.data.memory.sole)


def test_a_soft_mat_under_a_hard_box_and_pads_on_each_other():
    world = tabi.World()
    world.add_ground(friction=0.8)
    low = world.add_box((0.2, 0.2, 0.05), 4.0, position=(0, 0, 0.025), name="low")
    high = world.add_box((0.1, 0.08, 0.05), 2.0, position=(0, 0, 0.0951), name="high")
    mat = Layer(0.01, 1e6, 0.0, viscosity=0.01)
    low.add_pad("+z", mat, element_size=0.05)
    high.add_pad("-z", mat, element_size=0.03)
    sim = tabi.Simulator(world)
    sim.run(0.6)
    weight = high.inertia.mass * G
    pads = sim.pads
    assert pads["pad of low"].normal_force == pytest.approx(weight, rel=1e-4)
    assert pads["pad of high"].normal_force == pytest.approx(weight, rel=1e-4)
    assert sim.missed_count == 0
    assert sim.certificate.converged
    assert np.abs(sim.velocity(high).linear).max() < 1e-5


@pytest.mark.parametrize("contact", ["pyramid", "frictionless", "selection", "penalty"])
def test_other_laws_refuse_pads(contact):
    world, _ = block()
    with pytest.raises(ModelError, match=r"soft|feet"):
        tabi.Simulator(world, contact=contact)


def test_steps_that_are_divided_or_linearised_refuse_pads():
    world, _ = block()
    with pytest.raises(ModelError, match="soft soles"):
        tabi.Simulator(world, scheme="event-driven")
    with pytest.raises(ModelError, match="linearised"):
        tabi.Simulator(world).linearise()


@pytest.mark.slow
def test_what_lies_on_one_mat_sinks_in_together():
    """Two boxes 20 mm apart on one soft mat press it in for each other; on two mats they do not."""
    side, layer = 0.4, Layer(0.03, 5e5, 0.45, viscosity=1e-2)
    level = (0.0, 1.0, 0.0, 0.0)

    def rest(places, centres):
        world = tabi.World()
        for x in centres:
            w, d = 0.5 * side / len(centres), 0.1
            mat = [(-w, -d), (w, -d), (w, d), (-w, d)]
            world.fixed.add_pad(mat, layer, position=(x, 0, 0), quaternion=level, element_size=0.05)
        for k, x in enumerate(places):
            world.add_box((0.08, 0.1, 0.1), 4.0, position=(x, 0, 0.0801), name=f"box{k}")
        sim = tabi.Simulator(world)
        for _ in range(300):
            sim.step()
            # the judge looks at all contacts at once, whatever the groups
            assert sim.certificate.residual <= 1e-7
        assert sim.missed_count <= 1
        return sim

    both, alone = rest((-0.05, 0.05), [0.0]), rest((-0.05,), [0.0])
    assert both.data.outcome.report[0]["groups"] == 1
    # rubber bulges up beside a load: the neighbour is lifted on its near side
    near = [sim.pose("box0").R[2, 0] for sim in (both, alone)]
    assert near[0] != pytest.approx(near[1], abs=1e-4)
    # mirror images of each other, as far as the diagonals of the mesh are
    assert near[0] == pytest.approx(-both.pose("box1").R[2, 0], rel=0.05)
    apart = rest((-0.05, 0.05), [-0.25 * side, 0.25 * side])
    assert apart.data.outcome.report[0]["groups"] == 2
