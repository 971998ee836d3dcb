"""Torque-speed lines of motors (``tabi.step.forces.motors``), by closed forms and as a law
that every step of a random tree obeys.
"""

from math import cos, exp, log

import numpy as np
import pytest
from tests.step.forces.test_motors import arm
from tests.worlds import random_robot

import tabi
from tabi._errors import ModelError
from tabi.model.joint import Joint, Mimic, Motor
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia

STALL, TOP = 8.0, 5.0
INERTIA = 0.01 + 2.0 * 0.5**2


def most(stall, top, limit, v):
    """The most effort along +, at the velocity v: the law, written once more."""
    return np.clip(np.minimum(limit, stall * (1.0 - v / top)), 0.0, np.minimum(limit, stall))


def fan(command=100.0, dt=1e-3, **joint):
    """A link without gravity whose motor is asked for more than it can give."""
    motor = Motor(torque_limit=STALL, no_load_speed=TOP)
    world, robot = arm(gravity=False, motor=motor, **joint)
    sim = tabi.Simulator(world, dt=dt)
    sim.set_controller(robot, lambda t, m: tabi.Command(effort=command))
    return sim


def test_speed_rises_to_the_no_load_speed_as_one_minus_an_exponential():
    # I v̇ = T (1 − v/v₀); implicit Euler: v_n = v₀ (1 − (1 + h T/(I v₀))⁻ⁿ) exactly
    sim = fan()
    rate = STALL / (INERTIA * TOP)
    for n in range(1, 400):
        sim.step()
        v = sim.state.v[0]
        assert v == pytest.approx(TOP * (1 - (1 + sim.dt * rate) ** -n), rel=1e-12)
        given = sim.data.outcome.effort["motor"][0]
        assert given == pytest.approx(STALL * (1 - v / TOP), abs=1e-9)
    # and that is first order to the exponential
    assert v == pytest.approx(TOP * (1 - exp(-rate * sim.time)), rel=2e-3)


def test_braking_is_not_limited_by_the_line():
    sim = fan(-100.0)
    sim.set_state([0.0], [0.9 * TOP])
    sim.step()
    assert sim.data.outcome.effort["motor"][0] == pytest.approx(-STALL, rel=1e-12)
    assert sim.state.v[0] == pytest.approx(0.9 * TOP - sim.dt * STALL / INERTIA, rel=1e-12)


def test_faster_than_the_no_load_speed_a_motor_gives_nothing_and_may_brake():
    sim = fan()
    sim.set_state([0.0], [1.5 * TOP])
    sim.run(0.1)
    assert sim.state.v[0] == pytest.approx(1.5 * TOP, rel=1e-12)
    assert sim.data.outcome.effort["motor"][0] == 0.0
    sim = fan(-3.0)
    sim.set_state([0.0], [1.5 * TOP])
    sim.step()
    assert sim.data.outcome.effort["motor"][0] == pytest.approx(-3.0, rel=1e-12)


def test_a_joints_effort_limit_cuts_the_line_off_at_its_corner_speed():
    # flat at the limit up to v₀ (1 − limit/stall), then down the line
    limit = 3.0
    sim, corner = fan(effort_limit=limit), TOP * (1 - limit / STALL)
    speeds, given = [], []
    for _ in range(1500):
        sim.step()
        speeds.append(sim.state.v[0])
        given.append(sim.data.outcome.effort["motor"][0])
    assert min(speeds) < 0.5 * corner
    assert max(speeds) > 1.2 * corner
    np.testing.assert_allclose(given, most(STALL, TOP, limit, np.array(speeds)), atol=1e-9)


def test_a_stiff_loop_that_leaves_its_line_arrives_where_it_was_told():
    motor = Motor(torque_limit=STALL, no_load_speed=TOP, kp=2000.0, kd=100.0)
    world, robot = arm(gravity=False, motor=motor)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({"pivot": 2.0}))
    for _ in range(3000):
        v0 = sim.state.v[0]
        sim.step()
        v, given = sim.state.v[0], sim.data.outcome.effort["motor"][0]
        asked = 2000.0 * (2.0 - sim.state.q[0]) - 100.0 * v
        right = np.clip(asked, -most(STALL, TOP, STALL, -v), most(STALL, TOP, STALL, v))
        assert given == pytest.approx(right, abs=1e-9)
        assert INERTIA * (v - v0) / sim.dt == pytest.approx(given, abs=1e-9)
    assert sim.state.q[0] == pytest.approx(2.0, abs=1e-8)


@pytest.mark.slow
def test_time_to_a_speed_of_a_motor_with_dry_friction_and_damping():
    # I v̇ = T − μ − (T/v₀ + D) v: the end speed is (T − μ)/(T/v₀ + D)
    friction, damping = 2.0, 0.4
    sim = fan(friction=friction, damping=damping, dt=1e-4)
    slope = STALL / TOP + damping
    end = (STALL - friction) / slope
    while sim.state.v[0] < 0.5 * end:
        sim.step()
    assert sim.time == pytest.approx(log(2.0) * INERTIA / slope, abs=2e-4)
    sim.run(8.0)
    assert sim.state.v[0] == pytest.approx(end, rel=1e-9)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_dry_gear_holds_99_percent_of_its_breakaway_torque_and_moves_at_101(share):
    sim = fan(share * 2.0, friction=2.0)
    sim.run(10.0)
    drift = abs(sim.state.q[0])
    assert drift < 1e-8 if share < 1 else drift > 1e-3


def test_a_motor_that_drives_into_a_stop_pushes_with_its_stall_torque():
    sim = fan(upper=0.5)
    sim.run(2.0)
    assert sim.state.q[0] == pytest.approx(0.5, abs=1e-12)
    assert sim.data.outcome.effort["motor"][0] == pytest.approx(STALL, rel=1e-12)
    assert sim.data.outcome.effort["constraint"][0] == pytest.approx(-STALL, rel=1e-9)


def test_a_motor_on_its_line_that_meets_the_ground_gives_its_stall_torque_and_lands_by_the_law():
    # moments about the pivot at rest: N l = m g l + stall
    world, robot = arm(ball=0.05, motor=Motor(torque_limit=STALL, no_load_speed=TOP))
    world.add_ground(height=-0.4, friction=0.0)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, lambda t, m: tabi.Command(effort=100.0))
    for _ in range(600):
        sim.step()
        v, given = sim.state.v[0], sim.data.outcome.effort["motor"][0]
        assert given == pytest.approx(most(STALL, TOP, STALL, v), abs=1e-9)
    assert abs(v) < 1e-8
    lever = 0.5 * cos(sim.state.q[0])
    pressing = sum(c.force[2] for c in sim.contacts)
    assert pressing == pytest.approx(2.0 * 9.81 + STALL / lever, rel=1e-6)


def twin(**leader):
    """Two masses on guides along x; the second follows the first at half its way, reversed."""
    robot = Robot("twin")
    robot.add_body("base", Joint("base", "fixed"))
    for name, mass in (("first", 2.0), ("second", 4.0)):
        joint = Joint(f"{name}_guide", "prismatic", axis=(1, 0, 0))
        robot.add_body(name, joint, "base", Inertia(mass, np.zeros(3), 0.1 * np.eye(3)))
    robot.joint("second_guide").mimic = Mimic("first_guide", -0.5)
    for name, value in leader.items():
        setattr(robot.joint("first_guide"), name, value)
    world = tabi.World()
    return world, world.add_robot(robot)


def test_a_motor_on_a_guide_with_a_follower_feels_both_masses_along_its_line():
    # effective mass 2 + 0.5² · 4 = 3
    world, robot = twin(motor=Motor(torque_limit=STALL, no_load_speed=TOP))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, lambda t, m: tabi.Command(effort=[100.0, 0.0]))
    rate = STALL / (3.0 * TOP)
    for n in range(1, 200):
        sim.step()
        assert sim.state.v[0] == pytest.approx(TOP * (1 - (1 + 1e-3 * rate) ** -n), rel=1e-11)
        assert sim.state.v[1] == -0.5 * sim.state.v[0]


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_obey_the_law_in_every_step(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, bodies=10, base="fixed", kinds=("revolute", "prismatic"))
    for body in robot.bodies[1:]:
        joint = body.joint
        joint.friction = float(rng.choice([0.0, 0.5]))
        joint.lower, joint.upper = -float(rng.uniform(0.2, 2.0)), float(rng.uniform(0.2, 2.0))
        joint.effort_limit = float(rng.choice([2.0, np.inf]))
        joint.motor = Motor(
            kp=float(rng.choice([10.0, 3000.0])),
            kd=float(rng.choice([0.1, 50.0])),
            torque_limit=float(rng.uniform(1.0, 20.0)),
            no_load_speed=float(rng.uniform(0.2, 3.0)),
        )
    world = tabi.World()
    robot = world.add_robot(robot)
    sim = tabi.Simulator(world)
    goal = rng.uniform(-1, 1, sim.model.v_count)
    sim.set_controller(robot, lambda t, m: tabi.Command(position=np.sin(3 * t) * goal))
    dof, motor, worst = sim.model.arrays.dof, sim.data.command.motor, 0.0
    for _ in range(400):
        sim.step()
        q, v = sim.state.q, sim.state.v
        asked = motor["kp"] * (motor["position"] - q) - motor["kd"] * v
        high = most(dof["stall_effort"], dof["no_load_speed"], dof["effort_limit"], v)
        low = -most(dof["stall_effort"], dof["no_load_speed"], dof["effort_limit"], -v)
        right = np.clip(asked, low, high)
        worst = max(worst, float(np.abs(sim.data.outcome.effort["motor"] - right).max()))
    assert worst < 1e-9
    assert sim.missed_count == 0


# ---- the gear in the loop -----------------------------------------------------------------------


def test_gains_on_the_motor_side_reach_the_joint_times_the_gear_ratio():
    # Γ = R (K_p (q_d − q) + K_v (q̇_d − q̇)) − μ_v q̇ − μ_d sign(q̇) at the end of a step
    R, kp, kv, mu_v, mu_d, h = 50.0, 4.0, 0.3, 2.0, 1.5, 1e-3
    motor = Motor(rotor_inertia=1e-5, gear_ratio=R, motor_kp=kp, motor_kd=kv)
    world, robot = arm(gravity=False, damping=mu_v, friction=mu_d, motor=motor)
    sim = tabi.Simulator(world, dt=h)
    sim.set_state([0.1], [0.7])
    sim.set_controller(robot, lambda t, m: tabi.Command(position=0.4, velocity=0.2))
    sim.step()
    q, v = sim.state.q[0], sim.state.v[0]
    torque = R * (kp * (0.4 - q) + kv * (0.2 - v)) - mu_v * v - mu_d * np.sign(v)
    inertia = INERTIA + 1e-5 * R**2
    assert inertia * (v - 0.7) / h == pytest.approx(torque, rel=1e-9)


def test_a_gain_is_given_on_one_side_only():
    with pytest.raises(ModelError, match="both kp and motor_kp"):
        Motor(kp=1.0, motor_kp=2.0)


def test_a_line_needs_its_torque_at_rest_and_a_speed():
    world, _ = arm(motor=Motor(no_load_speed=3.0))
    with pytest.raises(ModelError, match="no_load_speed 3 without a torque_limit"):
        world.compile()
    world, _ = arm(motor=Motor(torque_limit=1.0, no_load_speed=0.0))
    with pytest.raises(ModelError, match="no_load_speed 0; expected a speed > 0"):
        world.compile()


def test_a_line_can_be_changed_between_steps():
    sim = fan()
    sim.run(0.05)
    sim.model.set_joint("pivot", no_load_speed=2 * TOP)
    sim.step()
    v = sim.state.v[0]
    given = sim.data.outcome.effort["motor"][0]
    assert given == pytest.approx(STALL * (1 - v / (2 * TOP)), abs=1e-9)
    with pytest.raises(ModelError, match="no_load_speed of joint 'pivot' was set to 0"):
        sim.model.set_joint("pivot", no_load_speed=0.0)
