"""Dry friction, ends of travel and top speeds of joints:
closed forms, complementarity, and another engine of thought.
"""

from math import pi, sin

import numpy as np
import pytest
from tests.worlds import random_robot, random_state

import tabi
from tabi import dynamics
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import from_quaternion, translation
from tabi.step.forces import joint_limits

G = 9.81


def slider(mass=2.0, **joint):
    """A mass on a horizontal guide."""
    robot = Robot("slider")
    robot.add_body("base", Joint("base", "fixed"), None, Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_body(
        "mass",
        Joint("guide", "prismatic", axis=(1.0, 0.0, 0.0), **joint),
        robot.base,
        Inertia(mass, (0, 0, 0), 0.1 * np.eye(3)),
    )
    return robot


def pendulum(length=0.5, mass=1.0, **joint):
    """A point mass on a rod; its angle is measured from hanging down, about y."""
    robot = Robot("pendulum")
    robot.add_body("base", Joint("base", "fixed"), None, Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_body(
        "bob",
        Joint("pivot", "revolute", axis=(0.0, -1.0, 0.0), **joint),
        robot.base,
        Inertia(mass, (0, 0, -length), 1e-9 * np.eye(3)),
    )
    return robot


def simulator(robot, q=None, v=None, dt=1e-3, tolerance=1e-8):
    world = tabi.World()
    world.add_robot(robot)
    sim = tabi.Simulator(world, dt=dt, tolerance=tolerance)
    if q is not None:
        sim.set_state(np.atleast_1d(q), None if v is None else np.atleast_1d(v))
    return sim


# ---- dry friction -------------------------------------------------------------------------------


def test_mass_on_a_dry_guide_stops_after_m_v2_over_2_mu_and_stays():
    # exact for Moreau's scheme but for the last, partial step: v falls by μh/m each step
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        sim = simulator(slider(friction=3.0), 0.0, 1.5, dt)
        sim.run(2.0)
        errors.append(abs(sim.state.q[0] - 2.0 * 1.5**2 / (2 * 3.0)))
        assert sim.state.v[0] == 0.0
    assert errors[-1] < 1.5 * 1e-3
    # first order in the step
    assert 1.7 < errors[0] / errors[1] < 2.3
    assert 1.7 < errors[1] / errors[2] < 2.3


@pytest.mark.parametrize(("angle", "holds"), [(0.9, True), (1.1, False)])
def test_pendulum_with_dry_friction_stays_where_gravity_is_below_it(angle, holds):
    # μ balances gravity at m g l sin(1 rad)
    sim = simulator(pendulum(friction=G * 0.5 * sin(1.0)), angle)
    sim.run(10.0)
    drift = abs(sim.state.q[0] - angle)
    assert (drift == 0.0) if holds else (drift > 0.1)
    assert sim.missed_count == 0
    if holds:
        # the friction is what gravity asks for
        assert sim.data.outcome.effort["constraint"][0] == pytest.approx(
            G * 0.5 * sin(angle), rel=1e-12
        )


def test_swing_with_dry_friction_loses_two_mu_over_stiffness_each_half_swing():
    # spring and dry friction: amplitudes fall by 2μ/k each half period, and it stops within μ/k
    k, mu = 50.0, 2.0
    sim = simulator(slider(friction=mu, stiffness=k), 1.0, dt=1e-4)
    half = pi * np.sqrt(2.0 / k)
    sim.run(half)
    # implicit springs damp: amplitude falls by a share of ω h π/2 each half period
    assert sim.state.q[0] == pytest.approx(-(1.0 - 2 * mu / k), abs=2e-3)
    sim.run(20 * half)
    assert abs(sim.state.q[0]) <= mu / k
    assert sim.state.v[0] == 0.0


def test_motor_moves_a_dry_joint_only_beyond_its_friction():
    robot = slider(friction=3.0, motor=Motor(kp=0.0, kd=0.0))
    for effort, moves in ((2.999, False), (3.001, True)):
        sim = simulator(robot)
        sim.set_controller(
            sim.world.robots[0], lambda t, m, effort=effort: tabi.Command(effort=np.array([effort]))
        )
        sim.run(1.0)
        assert sim.state.q[0] == pytest.approx(
            0.5 * (effort - 3.0) / 2.0 if moves else 0.0, rel=5e-3, abs=1e-15
        )


# ---- ends of travel, top speeds -----------------------------------------------------------------


def test_pendulum_rests_on_the_end_of_its_travel_with_the_torque_of_gravity():
    sim = simulator(pendulum(lower=0.3), 0.8)
    sim.run(3.0)
    assert abs(sim.state.q[0] - 0.3) < 1e-8
    assert sim.state.v[0] == pytest.approx(0.0, abs=1e-9)
    assert sim.data.outcome.effort["constraint"][0] == pytest.approx(G * 0.5 * sin(0.3), rel=1e-6)
    before = sim.state.q[0]
    sim.run(10.0)
    assert abs(sim.state.q[0] - before) < 1e-8


def test_falling_mass_stops_dead_at_the_end_of_its_guide():
    robot = Robot("lift")
    robot.add_body("base", Joint("base", "fixed"), None, Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_body(
        "mass",
        Joint("guide", "prismatic", lower=-0.5),
        robot.base,
        Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3)),
    )
    sim = simulator(robot)
    sim.run(1.0)
    # after √(2·0.5/g) = 0.32 s
    assert sim.state.q[0] == pytest.approx(-0.5, abs=1e-12)
    assert sim.data.outcome.effort["constraint"][0] == pytest.approx(2.0 * G, rel=1e-9)


def test_joint_leaves_the_end_of_its_travel_freely():
    # thrown up from the end: a free flight, nothing holds it back
    robot = Robot("lift")
    robot.add_body("base", Joint("base", "fixed"), None, Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_body(
        "mass",
        Joint("guide", "prismatic", lower=0.0),
        robot.base,
        Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3)),
    )
    sim = simulator(robot, 0.0, 2.0)
    sim.run(0.1)
    # symplectic Euler: v t − g t (t + h)/2
    assert sim.state.q[0] == pytest.approx(2.0 * 0.1 - 0.5 * G * 0.1 * 0.101, rel=1e-12)


def test_top_speed_is_kept_and_the_force_of_the_motor_borne():
    robot = slider(velocity_limit=0.7, motor=Motor(kp=0.0, kd=0.0))
    sim = simulator(robot)
    sim.set_controller(sim.world.robots[0], lambda t, m: tabi.Command(effort=np.array([5.0])))
    sim.run(1.0)
    assert sim.state.v[0] == pytest.approx(0.7, rel=1e-12)
    assert sim.data.outcome.effort["constraint"][0] == pytest.approx(-5.0, rel=1e-9)


def test_joint_that_starts_outside_comes_back_slowly():
    sim = simulator(slider(lower=0.0, upper=1.0), -0.2)
    sim.step()
    assert sim.state.v[0] == pytest.approx(joint_limits.RETURN_SPEED)
    sim.run(0.3)
    assert sim.state.q[0] >= 0.0


# ---- the laws, on robots nobody tuned -----------------------------------------------------------


def laws_hold(sim, v0, q0):
    """Complementarity of every law, from states and accelerations alone:
    the law's force by inverse dynamics.
    """
    model, dt = sim.model, sim.dt
    dof, v = model.arrays.dof, sim.state.v
    force = dynamics.inverse_dynamics(model, q0, v0, (v - v0) / dt)
    place = np.where(dof["q"] >= 0, q0[dof["q"]], 0.0)
    lower = np.maximum((dof["lower"] - place) / dt, -dof["velocity_limit"])
    upper = np.minimum((dof["upper"] - place) / dt, dof["velocity_limit"])
    mu, size = dof["friction"], 1e-7 * (1 + abs(force).max())
    worst = max(0.0, float((lower - v).max()), float((v - upper).max()))
    # joints that are solved as rows obey their laws within the tolerance
    small = 1e-9 if sim._stepper.workspace.joined[0] == 0 else sim.tolerance
    assert worst <= small
    inside = (v > lower + small) & (v < upper - small)
    moving = inside & (abs(v) > small)
    assert np.allclose(force[moving], -(mu * np.sign(v))[moving], atol=size)
    assert (abs(force) <= mu + size)[inside].all()
    # at an end the force pushes inwards, at most friction less
    assert (force >= -mu - size)[v <= lower + small].all()
    assert (force <= mu + size)[v >= upper - small].all()


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_obey_all_laws_in_every_step(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, bodies=10, base="fixed", kinds=("revolute", "prismatic"))
    for body in robot.bodies[1:]:
        joint = body.joint
        joint.friction = float(rng.choice([0.0, 0.5, 5.0]))
        joint.lower, joint.upper = -float(rng.uniform(0.1, 1.0)), float(rng.uniform(0.1, 1.0))
        joint.velocity_limit = float(rng.choice([0.5, 3.0, np.inf]))
    world = tabi.World()
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    sim.set_state(
        0.05 * rng.normal(size=sim.model.v_count), 0.3 * rng.normal(size=sim.model.v_count)
    )
    for _ in range(300):
        q0, v0 = sim.state.q, sim.state.v
        sim.step()
        laws_hold(sim, v0, q0)
    assert sim.missed_count == 0


def test_laws_take_energy_and_never_bring_it():
    rng = np.random.default_rng(3)
    robot = random_robot(3, bodies=8, base="floating", kinds=("revolute", "prismatic"))
    for body in robot.bodies[1:]:
        body.joint.friction, body.joint.lower, body.joint.upper = 0.3, -0.3, 0.3
    world = tabi.World(gravity=(0.0, 0.0, 0.0))
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    q, v = random_state(sim.model, rng)
    q[7:] *= 0.05
    sim.set_state(q, v)
    last = sim.energy.total
    for _ in range(500):
        sim.step()
        assert sim.balance.joints <= 1e-12
        # first order in the step: centrifugal terms may bring a little
        assert sim.energy.total <= last * (1 + 1e-4)
        last = sim.energy.total


def test_held_joint_feels_what_contacts_do_to_it():
    # a lever on a dry hinge, loaded at its tip by a ball that rests on it:
    # the hinge bears both weights
    robot = Robot("lever")
    robot.add_body(
        "base",
        Joint("base", "fixed", placement=from_quaternion((1, 0, 0, 0), (0, 0, 1.0))),
        None,
        Inertia(1.0, (0, 0, 0), np.eye(3)),
    )
    hinge = Joint("hinge", "revolute", axis=(0.0, -1.0, 0.0), friction=100.0)
    plank = Shape(Box((0.5, 0.2, 0.02)), translation((0.25, 0.0, 0.0)))
    robot.add_body("arm", hinge, robot.base, Inertia(2.0, (0.25, 0, 0), 0.01 * np.eye(3)), [plank])
    world = tabi.World()
    world.add_robot(robot)
    ball = world.add_sphere(radius=0.05, mass=3.0, position=(0.4, 0.0, 1.06))
    sim = tabi.Simulator(world)
    sim.run(0.5)
    assert sim.state.q[sim.model.q_index("hinge")] == 0.0
    law = sim.data.outcome.effort["constraint"][sim.model.v_index("hinge")]
    assert law == pytest.approx(G * (2.0 * 0.25 + 3.0 * sim.position(ball)[0]), rel=1e-6)


def test_the_force_of_a_stop_is_what_mass_and_damper_leave_in_the_step_that_meets_it():
    # the damper belongs to the velocity of the end: f = m (v⁺ − v)/h + D v⁺
    mass, damping, v, gap = 2.0, 30.0, 1.5, 4e-4
    sim = simulator(slider(mass, damping=damping, upper=0.1), 0.1 - gap, v)
    sim.step()
    after = gap / sim.dt
    assert sim.state.v[0] == pytest.approx(after, rel=1e-9)
    expected = mass * (after - v) / sim.dt + damping * after
    assert sim.data.outcome.effort["constraint"][0] == pytest.approx(expected, rel=1e-9)
