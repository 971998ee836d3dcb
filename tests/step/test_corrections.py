"""Flight beside contacts: what nothing presses on keeps its momentum,
and what is pushed does not.
"""

import numpy as np
import pytest

import tabi
from tabi.model.shape import Box
from tabi.step import corrections, solving
from tabi.step.depenetration import COMPLIANCE, DEEP_OVERLAP_M, PARTING_SPEED

G = 9.81


def box_at(height, velocity=(0.0, 0.0, 0.0), friction=0.5):
    world = tabi.World()
    world.add_ground(friction=friction)
    box = world.add_box((0.2, 0.2, 0.2), 2.0, position=(0, 0, 0.1 + height), friction=friction)
    sim = tabi.Simulator(world)
    sim.set_state(sim.state.q, [*velocity, 0, 0, 0])
    return sim, box


def test_what_is_near_the_ground_and_not_touched_by_it_flies_its_parabola():
    # a thousandth of a metre above the ground, within the band of contacts, and rising
    sim, box = box_at(1e-3, (0.3, 0.0, 0.5))
    for k in range(1, 90):
        sim.step()
        t = k * sim.dt
        expected = (0.3 * t, 0.0, 0.101 + 0.5 * t - 0.5 * G * t * t)
        np.testing.assert_allclose(sim.position(box), expected, atol=1e-13)
    assert sim.data.body["acted_on"].max() == 0


def test_what_is_pressed_or_pushed_is_marked():
    sim, box = box_at(0.0)
    sim.step()
    assert sim.data.body["acted_on"][1] == corrections.DRIVEN
    sim, box = box_at(1.0)
    sim.step()
    assert sim.data.body["acted_on"][1] == 0
    sim.apply_force(box, force=(1.0, 0, 0))
    sim.step()
    assert sim.data.body["acted_on"][1] == corrections.DRIVEN


def test_the_fastest_turn_of_all_bodies_is_known():
    sim, _ = box_at(1.0)
    sim.set_state(sim.state.q, [0, 0, 0, 0.0, 3.0, -4.0])
    sim.step()
    assert sim._stepper.workspace.turning[0] == pytest.approx(5.0)


def test_what_falls_fast_touches_within_the_step_and_not_before():
    # 3 mm above the ground at 3 m/s it arrives in this step; at 5 mm it cannot
    for height, points in ((3e-3, 4), (5e-3, 0)):
        sim, _ = box_at(height, (0.0, 0.0, -3.0))
        sim.step()
        assert len(sim.contacts) == points


# ---- deep overlaps ------------------------------------------------------------------------------


def test_a_deep_overlap_is_left_at_the_speed_of_parting_and_without_velocity():
    sim, box = box_at(-5e-3)
    for k in range(1, 10):
        sim.step()
        moved = k * PARTING_SPEED * sim.dt
        assert sim.position(box)[2] == pytest.approx(0.095 + moved, abs=1e-9 + COMPLIANCE * moved)
        # but for what contacts leave within their tolerance
        assert np.abs(sim.state.v).max() <= sim.tolerance
        # the forces that are told and certified are those of the velocity: the weight
        assert sum(c.force[2] for c in sim.contacts) == pytest.approx(2.0 * G, rel=1e-6)
        assert sim.certificate.converged
    assert sim.certificate.penetration > DEEP_OVERLAP_M


def test_the_problem_of_a_deep_overlap_is_the_one_without_it():
    sim, _ = box_at(-5e-3)
    sim.step()
    p = sim.problem()
    # closing at g h, and no gap in it
    np.testing.assert_allclose(p.q[2::3], -G * sim.dt, rtol=1e-9)
    # what is asked of the configuration, from velocities that are zero by then
    parting = sim._stepper.workspace.parting.q[2 : 3 * len(p.mu) : 3]
    np.testing.assert_allclose(parting, -PARTING_SPEED, rtol=2 * sim.tolerance / PARTING_SPEED)


def slot(width, friction, **settings):
    """A cube of 0.1 m and 1 kg between two walls."""
    world = tabi.World()
    for side in (-1, 1):
        place = (side * (0.5 * width + 0.1), 0, 0)
        world.add_fixed(Box((0.2, 1.0, 2.0)), position=place, friction=friction)
    world.add_box((0.1, 0.1, 0.1), 1.0, friction=friction, position=(0, 0, 0.5), name="plug")
    return tabi.Simulator(world, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("contact", ["coulomb", "pyramid"])
@pytest.mark.parametrize("tilt", [0.0, 0.02])
def test_a_plug_too_wide_for_its_slot_gains_nothing(tilt, contact):
    sim = slot(0.099, 0.5, contact=contact)
    q = sim.model.initial()
    q[3:7] = np.cos(tilt / 2), np.sin(tilt / 2), 0, 0
    sim.set_state(q, np.zeros(6))
    start = sim.energy.total
    for k in range(1, 201):
        sim.step()
        # no force presses it: it falls by its weight, and as much energy as it began with
        assert sim.energy.total <= start + 1e-9
        assert np.isfinite(sim.certificate.residual)
        assert sim.missed_count == 0
        assert sim.state.v[:3] == pytest.approx([0, 0, -G * sim.dt * k], abs=1e-6)
    # half of the overlap on each side, as at the start
    assert sim.certificate.penetration == pytest.approx(5e-4, abs=1e-5)


def test_a_plug_in_a_slot_that_is_wide_enough_comes_free():
    sim = slot(0.11, 0.5)
    q = sim.model.initial()
    q[0] = 6e-3
    sim.set_state(q, np.zeros(6))
    sim.run(0.05)
    assert sim.certificate.penetration == 0.0
    assert sim.position("plug")[0] == pytest.approx(5e-3, abs=1e-6)
    # what is left of an overlap, DEEP_OVERLAP_M at most, is left by velocity
    assert abs(sim.state.v[0]) < 2e-6


# ---- impulses -----------------------------------------------------------------------------------


def test_impulses_change_the_velocities_by_newtons_second_law():
    sim, _ = box_at(0.0, (1.0, 0.3, 0.0))
    sim.step()
    s = sim._stepper.workspace
    change = s.v_next[:3] - s.v_free[:3]
    np.testing.assert_allclose(
        2.0 * change, sim.data.contact["impulse"].sum(axis=0), rtol=1e-10, atol=1e-14
    )
    assert solving.OPEN == 0
