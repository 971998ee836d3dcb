"""Feet that are rigid to each other: constraint selection shares their load."""

import numpy as np
import pytest
from plates import G, standing

import tabi
from tabi.lab.bench.feet import foot_robots

STEPS = 150


def locked(robot):
    """A robot none of whose joints gives way."""
    for body in robot.bodies:
        body.joint.prescribed = body.joint.kind != "floating"
    return robot


def table(contact, feet=4, corners=8, height=0.0, friction=0.8, prepare=locked):
    """A table of locked legs on the ground, or above it by a height [m]."""
    world = tabi.World()
    world.add_ground(friction=friction)
    robot = world.add_robot(prepare(foot_robots.table(feet, corners)))
    robot.place((0.0, 0.0, foot_robots.LEG_LENGTH + height))
    return tabi.Simulator(world, contact=contact), robot


def forces(sim, steps=STEPS):
    """Of each foot after each step, in weights."""
    found = []
    sim.every(1, lambda data: found.append(data.memory.foot["force"].copy()))
    sim.run(steps * sim.dt)
    return np.array(found) / (sim.model.mass * G)


MODES = ["selection", tabi.Selection(mode="one-step")]


@pytest.mark.parametrize("contact", MODES)
@pytest.mark.parametrize(("feet", "corners"), [(2, 4), (4, 64), (6, 8)])
def test_a_rigid_table_stands_on_all_feet_alike(contact, feet, corners):
    sim, _ = table(contact, feet, corners)
    found = forces(sim)
    assert sim.missed_count == 0
    np.testing.assert_allclose(found[..., 2], 1.0 / feet, atol=1e-8)
    np.testing.assert_allclose(found[..., :2], 0.0, atol=1e-8)


@pytest.mark.parametrize("contact", MODES)
def test_a_rigid_table_that_is_pushed_bears_as_by_the_exact_law(contact):
    totals = []
    for law in ("coulomb", contact):
        sim, robot = table(law)
        sim.apply_force(robot.base, (60.0, 30.0, 0.0), 1.0)
        found = forces(sim)
        totals.append(found.sum(axis=1))
        assert sim.missed_count == 0
        assert np.abs(found).max() < 1.0
    np.testing.assert_allclose(totals[1], totals[0], atol=1e-6)
    # constant loads are shared in the same way in each step
    assert np.abs(np.diff(found[1:], axis=0)).max() < 1e-9


def test_a_rigid_table_lands_with_its_momentum():
    ends = []
    for law in ("coulomb", "selection"):
        sim, robot = table(law, 6, 8, height=0.02)
        found = forces(sim, 200)
        assert sim.missed_count == 0
        # all impulses together stop its fall
        assert found[..., 2].sum(axis=1).mean() == pytest.approx(1.0, abs=1e-6)
        ends.append(sim.position(robot.base))
    # no foot bears more than its share of the impact
    assert np.ptp(found[..., 2], axis=1).max() < 1e-6
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def test_a_rigid_table_slides_as_by_the_exact_law():
    ends = []
    for law in ("coulomb", "selection"):
        sim, robot = table(law, friction=0.3)
        q, v = sim.state.q, sim.state.v
        v[:2] = 0.6, 0.8
        sim.set_state(q, v)
        sim.run(0.5)
        ends.append(sim.position(robot.base))
        # v² / 2 μ g
        assert np.hypot(*ends[-1][:2]) == pytest.approx(1.0 / (2 * 0.3 * G), abs=2e-3)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)


@pytest.mark.parametrize("contact", MODES)
def test_a_humanoid_with_prescribed_joints_stands(contact):
    sim, _ = standing(contact, robot=locked(tabi.robots.hrp2()))
    found = forces(sim)
    assert sim.missed_count == 0
    np.testing.assert_allclose(found[1:, :, 2], 0.5, atol=1e-6)
    assert np.abs(np.diff(found[1:], axis=0)).max() < 1e-6


def test_dry_joints_hold_legs_as_by_the_exact_law():
    def rusty(robot):
        for body in robot.bodies:
            if body.joint.kind != "floating":
                body.joint.friction = 50.0
        return robot

    totals = []
    for law in ("coulomb", "selection"):
        sim, _ = table(law, prepare=rusty)
        totals.append(forces(sim).sum(axis=1))
        assert sim.missed_count == 0
    np.testing.assert_allclose(totals[1], totals[0], atol=1e-4)
