"""Motors by their closed forms: implicit loops, limits, and what they give at rest."""

from math import cos

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Material, Shape, Sphere
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

G = 9.81


def arm(mass=2.0, length=0.5, turning=0.01, gravity=True, ball=0.0, **joint):
    """A link along x on a pivot about y; positive angles go down.
    Inertia about the pivot: turning + m l².
    """
    robot = Robot("arm")
    robot.add_body("stand", Joint("stand", "fixed"))
    shapes = (
        [Shape(Sphere(ball), translation((length, 0, 0)), Material("tip", 0.0, 0.0), name="tip")]
        if ball
        else []
    )
    inertia = Inertia(mass, np.array([length, 0, 0]), turning * np.eye(3))
    robot.add_body(
        "link", Joint("pivot", "revolute", axis=(0, 1, 0), **joint), "stand", inertia, shapes
    )
    world = tabi.World(gravity=(0, 0, -G if gravity else 0.0))
    return world, world.add_robot(robot)


def effort(sim, robot):
    """What the robot's motors gave in the last step, as its controller sees it."""
    seen = []

    def watch(time, measurement):
        seen.append(measurement.effort)
        return tabi.Command()

    driver = sim.drivers.get(robot.name)
    sim.set_controller(robot, watch)
    saved = sim.save()
    sim.step()
    sim.restore(saved)
    if driver is not None:
        sim._running.drivers[robot.name] = driver
    return seen[0]


def test_one_step_of_a_loop_is_the_implicit_formula():
    kp, kd, damping, h, q, v, goal, rate, extra = 300.0, 20.0, 3.0, 2e-3, 0.1, -0.7, 0.4, 0.2, 1.5
    inertia = 0.01 + 2.0 * 0.5**2
    world, robot = arm(gravity=False, damping=damping, motor=Motor(kp=kp, kd=kd))
    sim = tabi.Simulator(world, dt=h)
    sim.set_state([q], [v])
    sim.set_controller(robot, lambda t, m: tabi.Command(position=goal, velocity=rate, effort=extra))
    sim.step()
    a = (extra + kp * (goal - q - h * v) + kd * (rate - v) - damping * v) / (
        inertia + h * (kd + damping) + h**2 * kp
    )
    assert sim.state.v[0] == pytest.approx(v + h * a, rel=1e-13)
    assert sim.state.q[0] == pytest.approx(q + h * (v + h * a), rel=1e-13)
    # and the motor's part of it is what a force sensor would show
    q1, v1 = sim.state.q[0], sim.state.v[0]
    assert effort(sim, robot)[0] == pytest.approx(
        extra + kp * (goal - q1) + kd * (rate - v1), rel=1e-12
    )


def test_a_loop_of_ten_thousand_is_stable_at_a_millisecond_and_settles_where_it_balances_gravity():
    # an explicit loop on this link would need steps below 2 sqrt(inertia / kp) = 0.25 ms
    mass, length, turning, kp, kd, goal = 0.01, 0.1, 5e-5, 1e4, 1.0, 0.3
    world, robot = arm(mass, length, turning, motor=Motor(kp=kp, kd=kd))
    sim = tabi.Simulator(world, dt=1e-3)
    sim.set_controller(robot, tabi.control.hold({"pivot": goal}))
    highest = 0.0
    for _ in range(400):
        sim.step()
        highest = max(highest, sim.state.q[0])
    rest = goal
    for _ in range(20):
        rest = goal + mass * G * length * cos(rest) / kp
    assert sim.state.q[0] == pytest.approx(rest, abs=1e-12)
    assert abs(sim.state.v[0]) < 1e-10
    # the loop is not quite critically damped
    assert highest < 1.01 * rest


def test_a_motor_asked_for_more_than_its_limit_gives_its_limit():
    world, robot = arm(gravity=False, motor=Motor(torque_limit=2.0))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, lambda t, m: tabi.Command(effort=-10.0 if t < 0.0995 else 1.5))
    sim.run(0.1)
    inertia = 0.01 + 2.0 * 0.5**2
    assert sim.state.v[0] == pytest.approx(-2.0 * 0.1 / inertia, rel=1e-12)
    # and leaves it when less is asked for
    sim.run(0.1)
    assert sim.state.v[0] == pytest.approx((-2.0 + 1.5) * 0.1 / inertia, rel=1e-12)


def test_a_stiff_loop_with_a_limit_stops_a_light_link_without_banging():
    # the loop would ask for 10 N·m at once, twice its limit; over a step 0.91 N·m stop the link
    inertia, kp, kd, h = 1e-3, 100.0, 10.0, 1e-3
    world, robot = arm(
        1e-9, 1e-3, inertia, gravity=False, motor=Motor(kp=kp, kd=kd, torque_limit=5.0)
    )
    sim = tabi.Simulator(world, dt=h)
    sim.set_controller(robot, tabi.control.hold({}))
    sim.set_state([0.0], [1.0])
    sim.step()
    assert sim.state.v[0] == pytest.approx(
        1.0 / (1 + h * (kd + h * kp) / inertia) * (1 - 0.0), rel=2e-2
    )
    sim.run(0.02)
    assert abs(sim.state.v[0]) < 1e-3


def test_a_motor_held_by_its_limit_presses_as_hard_as_its_limit_allows():
    mass, length, limit, radius = 2.0, 0.5, 6.0, 0.05
    world, robot = arm(mass, length, ball=radius, motor=Motor(kp=1e4, kd=100.0, torque_limit=limit))
    world.add_ground(height=-radius, friction=0.0)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({"pivot": 0.5}))
    sim.run(0.05)
    # moments about the pivot: N l = m g l + limit
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(
        mass * G + limit / length, rel=1e-6
    )
    assert effort(sim, robot)[0] == pytest.approx(limit, rel=1e-12)


def test_a_hard_landing_does_not_ask_a_motor_for_more_than_its_limit():
    world, robot = arm(2.0, 0.5, ball=0.05, motor=Motor(kp=50.0, kd=200.0, torque_limit=6.0))
    world.add_ground(height=-0.05, friction=0.0)
    sim = tabi.Simulator(world)
    largest = []

    def watch(time, measurement):
        largest.append(abs(measurement.effort[0]))
        return tabi.Command(position=-0.3, velocity=0.0)

    sim.set_controller(robot, watch)
    sim.set_state([-0.3], [6.0])
    sim.run(0.2)
    assert max(largest) == pytest.approx(6.0, rel=1e-12)


def test_a_pendulum_under_a_torque_follows_its_equation_at_first_order():
    mass, length, turning, torque, T = 2.0, 0.5, 0.01, 3.0, 0.4

    def rate(y):
        return np.array(
            [y[1], (torque + mass * G * length * cos(y[0])) / (turning + mass * length**2)]
        )

    y, h = np.array([-0.4, 0.0]), 1e-3
    for _ in range(round(T / h)):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    errors = []
    for dt in (2e-3, 1e-3):
        world, robot = arm(mass, length, turning)
        sim = tabi.Simulator(world, dt=dt)
        sim.set_controller(robot, lambda t, m: tabi.Command(effort=torque))
        sim.set_state([-0.4])
        sim.run(T)
        errors.append(abs(sim.state.q[0] - y[0]))
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 5e-3


def test_motors_at_rest_give_what_inverse_dynamics_wants_less_what_the_ground_gives():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(3.0)
    q = sim.state.q
    wanted = tabi.dynamics.inverse_dynamics(
        sim.model, q, np.zeros(sim.model.v_count), np.zeros(sim.model.v_count)
    )
    for name, foot in robot.feet.items():
        wrench, J = sim.foot_wrench(foot), tabi.dynamics.point_jacobian(sim.model, q, foot.name)
        wanted -= J.T @ np.concatenate([wrench.force, wrench.torque])
        assert wrench.force[2] > 100.0, name
    # still moving by a little: a micrometre per second of the trunk is 1e-3 N·m over a step
    assert np.abs(wanted[:6]).max() < 0.05
    given = effort(sim, robot)
    assert np.abs(given - wanted[6:]).max() < 0.05
    assert np.abs(given).max() > 5.0
