"""Steps of second order: slopes of errors, energy, momentum, and where they are of the first."""

import numpy as np
import pytest
import rollers

import tabi
from tabi.step.second import stage

G = 9.81


@pytest.mark.parametrize(
    ("scene", "duration", "dt"),
    [
        (rollers.rattleback, 0.25, 5e-4),
        (rollers.tippe, 0.25, 2e-3),
        (rollers.ball_on_ball, 0.2, 2e-3),
        (rollers.arm, 0.5, 2e-3),
    ],
)
def test_errors_go_with_the_square_of_the_step(scene, duration, dt):
    assert rollers.slopes(scene, duration, dt).min() > 1.8


def test_a_step_of_first_order_has_slope_one_where_that_of_second_order_has_two():
    assert rollers.slopes(rollers.tippe, 0.25, 2e-3, order=1).max() < 1.3


def test_a_rattleback_keeps_its_energy():
    # it is unstable and turns round by itself: the first order takes a fifth of what it has
    kept = {}
    for order in (1, 2):
        sim = rollers.rattleback(order)
        least = 0.3 * G * 0.015
        before = sim.energy.total - least
        sim.run(1.0)
        kept[order] = (sim.energy.total - least) / before
        assert sim.certificate.missed == 0
    assert kept[1] < 0.8
    assert kept[2] == pytest.approx(1.0, abs=3e-3)


def test_orders_that_a_simulator_may_have_and_the_default():
    world = tabi.World()
    world.add_ground()
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    for order in (None, 1):
        sim = tabi.Simulator(world, **({} if order is None else {"order": order}))
        sim.run(0.01)
        assert (sim.order, sim.certificate.order) == (1, 1)
        assert len(sim._stepper.workspace.second.mu) == 0
    sim = tabi.Simulator(world, order=2)
    sim.run(0.01)
    assert (sim.order, sim.certificate.order) == (2, 2)
    assert "order" in str(sim.certificate)


def test_the_velocity_of_a_contact_is_that_of_the_state_in_the_end():
    # of a fast body with its centre of mass beside the contact; the first order is off by 2 mm/s
    off = {}
    for order in (1, 2):
        sim = rollers.tippe(order)
        sim.run(0.3)
        v = sim.v
        u = v[:3] + np.cross(v[3:6], (0, 0, -0.03))
        off[order] = np.abs(u - sim.data.contact["velocity"][0]).max()
    assert off[1] > 1e-3
    assert off[2] < sim.tolerance


def test_a_hard_impact_is_a_step_of_first_order_and_goes_no_deeper_than_there():
    deepest = {}
    for order in (1, 2):
        world = tabi.World()
        world.add_ground(friction=0.5)
        world.add_box((0.2, 0.2, 0.1), 1.0, position=(0, 0, 0.1503))
        sim, orders = tabi.Simulator(world, order=order), []
        sim.every(1, lambda data, to=orders: to.append(int(data.outcome.report["order"][0])))
        sim.run(0.3)
        deepest[order] = sim.certificate.worst_penetration
        assert sim.certificate.missed == 0
        assert np.abs(sim.v).max() < 1e-6
    # one step or two around the impact
    assert 0 < orders.count(1) <= 3
    assert deepest[2] < max(deepest[1], 1e-6)


def test_a_bouncing_ball_bounces_as_high_as_in_steps_of_first_order():
    heights = {}
    for order in (1, 2):
        world = tabi.World()
        world.add_ground(restitution=0.8)
        world.add_sphere(0.1, 1.0, position=(0, 0, 0.6), restitution=0.8)
        sim, seen = tabi.Simulator(world, order=order), []
        sim.every(1, lambda data, to=seen: to.append(data.q[2]))
        sim.run(0.8)
        heights[order] = max(seen[400:])
    assert heights[2] == pytest.approx(heights[1], abs=5e-3)
    assert heights[2] > 0.35


def test_a_saved_moment_is_gone_on_from_to_the_last_bit():
    sim = rollers.rattleback(friction=0.6)
    sim.run(0.05)
    saved = sim.save()
    sim.run(0.05)
    end = sim.q, sim.v
    sim.restore(saved)
    for _ in range(50):
        sim.step()
    assert np.array_equal(sim.q, end[0])
    assert np.array_equal(sim.v, end[1])


def test_nothing_depends_on_the_heading_of_a_scene():
    # also where it slides
    turn = rollers.about((0, 0, 1), 1.1).R
    ends = []
    for heading in (0.0, 1.1):
        sim = rollers.rattleback(friction=0.3, heading=heading)
        sim.run(0.1)
        ends.append(sim.v)
    straight = np.concatenate([turn @ ends[0][:3], turn @ ends[0][3:]])
    assert ends[1] == pytest.approx(straight, abs=1e-11)


def test_a_limp_robot_misses_no_more_and_keeps_its_momentum_better():
    off = {}
    for order in (1, 2):
        world = tabi.World()
        world.add_ground()
        robot = world.add_robot(tabi.robots.hrp2())
        robot.stand_on_ground()
        sim = tabi.Simulator(world, order=order)
        none = np.zeros(sim.model.v_count)
        sim.set_gains(none, none)
        weight, errors = np.array([0, 0, -G * robot.mass]), []
        for _ in range(300):
            before = sim.momentum(robot).linear
            sim.step()
            force = sum((c["impulse"] for c in sim.data.contact if c["b"] == 0), np.zeros(3))
            gained = sim.momentum(robot).linear - before
            errors.append(np.abs(gained - force - weight * sim.dt).max() / sim.dt / -weight[2])
        assert sim.certificate.missed == 0
        off[order] = np.median(errors[100:])
    assert off[2] < 0.01 * off[1]


def test_a_controller_and_sensors_work_as_they_do_in_steps_of_first_order():
    forces = {}
    for order in (1, 2):
        world = tabi.World()
        world.add_ground()
        robot = world.add_robot(tabi.robots.hrp2())
        robot.stand_on_ground()
        sim = tabi.Simulator(world, order=order)
        sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
        sim.run(0.3)
        feet = robot.feet.values()
        forces[order] = sum(sim.foot_wrench(foot).force[2] for foot in feet)
        assert sim.certificate.missed == 0
    assert forces[2] == pytest.approx(robot.mass * G, rel=1e-3)
    assert forces[2] == pytest.approx(forces[1], rel=1e-3)


def test_the_kernels_of_a_step_are_made_once():
    from tabi.step.laws import coulomb
    from tabi.step.step import step_on

    assert step_on(coulomb, order=2).rollout is step_on(coulomb, order=2).rollout
    assert step_on(coulomb).rollout is not step_on(coulomb, order=2).rollout
    assert (stage.STANDS, stage.REFINED, stage.DROPPED) == (0, 1, 2)


def test_a_body_that_flies_by_itself_goes_as_in_steps_of_first_order():
    # they are of second order there, keep momentum, and energy better than the rule of the middle
    ends = []
    for order in (1, 2):
        world = tabi.World()
        world.add_box((0.1, 0.2, 0.05), 1.0, position=(0, 0, 5.0))
        sim = tabi.Simulator(world, order=order)
        sim.set_state(sim.q, (0, 0, 0, 30.0, 1.0, 60.0))
        sim.run(0.1)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert ends[1] == pytest.approx(ends[0], abs=1e-10)
