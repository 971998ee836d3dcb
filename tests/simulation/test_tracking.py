"""Joints that move exactly as commanded (``tabi.simulation.tracking``): where they are, and what it
takes, by closed forms and inverse dynamics.
"""

from math import cos, sin

import numpy as np
import pytest
from bipeds import hrp2_on_ground
from tests.step.forces.test_motor_lines import twin
from tests.step.forces.test_motors import arm
from tests.worlds import random_robot

import tabi
from tabi._errors import ModelError
from tabi.model.joint import Joint, Mimic, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

G = 9.81
MASS, LENGTH, TURNING = 2.0, 0.5, 0.01
INERTIA = TURNING + MASS * LENGTH**2


def follow(sim, robot, path):
    """Command a path of all joints."""
    sim.set_controller(robot, lambda t, m: tabi.Command(position=path(t)))


def test_an_exact_joint_is_where_it_was_told_and_its_effort_is_that_of_the_motion():
    # a gentle servo with a low limit would never follow; exactly, it takes I a − m g l cos q
    damping, stiffness, friction, armature = 0.7, 3.0, 0.4, 0.02
    world, robot = arm(
        motor=Motor(kp=1.0, torque_limit=0.1),
        damping=damping,
        stiffness=stiffness,
        friction=friction,
        armature=armature,
    )
    sim = tabi.Simulator(world)
    sim.prescribe(robot)
    follow(sim, robot, lambda t: 0.3 * sin(4.0 * t + 0.05))
    for k in range(500):
        q0, v0, told = sim.state.q[0], sim.state.v[0], 0.3 * sin(4.0 * k * sim.dt + 0.05)
        sim.step()
        q, v = sim.state.q[0], sim.state.v[0]
        assert q == pytest.approx(told, abs=1e-15)
        assert v == pytest.approx((told - q0) / sim.dt, rel=1e-12)
        takes = (INERTIA + armature) * (v - v0) / sim.dt - MASS * G * LENGTH * cos(q0)
        takes += damping * v + stiffness * q + friction * np.sign(v)
        assert sim.measure(robot).effort[0] == pytest.approx(takes, rel=1e-9, abs=1e-9)


def test_a_joint_can_be_switched_to_and_fro_and_a_saved_moment_knows_it():
    world, robot = arm(motor=Motor(kp=400.0, kd=40.0))
    sim = tabi.Simulator(world)
    follow(sim, robot, lambda t: 0.2)
    # the servo gives way by m g l cos q / kp, the exact joint does not
    sim.run(3.0)
    sag = MASS * G * LENGTH * cos(sim.state.q[0]) / 400.0
    assert sim.state.q[0] - 0.2 == pytest.approx(sag, rel=1e-6)
    sim.prescribe("pivot")
    saved = sim.save()
    sim.run(0.1)
    assert sim.state.q[0] == pytest.approx(0.2, abs=1e-15)
    assert sim.measure(robot).effort[0] == pytest.approx(-MASS * G * LENGTH * cos(0.2), rel=1e-12)
    sim.prescribe(robot.joint("pivot"), on=False)
    sim.run(3.0)
    assert sim.state.q[0] - 0.2 == pytest.approx(sag, rel=1e-6)
    sim.restore(saved)
    sim.run(0.1)
    assert sim.state.q[0] == pytest.approx(0.2, abs=1e-15)


def test_by_velocity_a_joint_runs_as_fast_as_it_is_told():
    world, robot = arm()
    sim = tabi.Simulator(world)
    sim.prescribe([robot.joint("pivot")], by="velocity")
    sim.set_controller(robot, lambda t, m: tabi.Command(velocity=1.5))
    sim.run(0.4)
    assert sim.state.q[0] == pytest.approx(0.6, rel=1e-12)
    assert sim.state.v[0] == 1.5


def test_it_goes_no_further_than_its_travel_and_no_faster_than_its_top_speed():
    world, robot = arm(upper=0.3, velocity_limit=2.0)
    sim = tabi.Simulator(world)
    sim.prescribe(robot)
    follow(sim, robot, lambda t: 0.5)
    sim.run(0.1)
    assert sim.state.q[0] == pytest.approx(0.2, rel=1e-12)
    sim.run(0.1)
    assert sim.state.q[0] == pytest.approx(0.3, rel=1e-12)
    assert sim.state.v[0] == 0.0


def test_a_stuck_dry_joint_and_one_at_its_stop_obey_once_they_are_prescribed():
    world, robot = arm(friction=100.0, upper=0.0, motor=Motor(kp=1.0))
    sim = tabi.Simulator(world)
    follow(sim, robot, lambda t: -0.2)
    sim.run(0.1)
    assert sim.state.q[0] == 0.0
    sim.prescribe(robot)
    sim.step()
    assert sim.state.q[0] == pytest.approx(-0.2, abs=1e-15)
    sim.step()
    sim.prescribe(robot, on=False)
    sim.run(0.5)
    assert sim.state.q[0] == pytest.approx(-0.2, abs=1e-15)


def test_a_leader_takes_its_follower_along_and_pays_for_both():
    # masses 2 and 4, the second at −0.5 of the first: 3 kg along the first guide
    world, robot = twin()
    sim = tabi.Simulator(world)
    sim.prescribe(robot)
    # what the follower is told does not matter
    sim.set_controller(robot, lambda t, m: tabi.Command(position=[t * t, 7.0]))
    for _ in range(50):
        sim.step()
    assert sim.state.q[1] == pytest.approx(-0.5 * sim.state.q[0], abs=1e-15)
    # q = (n h)² has the acceleration 2
    assert sim.measure(robot).effort[0] == pytest.approx(3.0 * 2.0, rel=1e-9)
    with pytest.raises(ModelError, match="'second_guide' follows 'first_guide'; prescribe 'first"):
        sim.prescribe("second_guide")


def test_an_exact_leader_bears_what_lies_on_its_follower():
    # a scale: power balance E v − m₁ g v + 0.5 (m₂ + M) g v = 0 with the follower at −0.5 v
    robot = Robot("scale")
    robot.add_body("post", Joint("post", "fixed"))
    for name, mass, x in (("first", 2.0, 0.0), ("second", 1.0, 1.0)):
        pan = Shape(Box((0.3, 0.3, 0.02)), name=name)
        joint = Joint(f"{name}_guide", "prismatic", translation((x, 0, 0)), (0, 0, 1))
        robot.add_body(name, joint, "post", Inertia(mass, (0, 0, 0), 0.1 * np.eye(3)), [pan])
    robot.joint("second_guide").mimic = Mimic("first_guide", -0.5)
    world = tabi.World()
    robot = world.add_robot(robot)
    box = world.add_box((0.1, 0.1, 0.1), 3.0, position=(1.0, 0, 0.06))
    sim = tabi.Simulator(world)
    sim.prescribe("first_guide", by="velocity")
    for speed in (0.0, -0.2):
        sim.set_controller(robot, lambda t, m, v=speed: tabi.Command(velocity={"first_guide": v}))
        sim.run(0.3)
        assert sim.velocity(box).linear[2] == pytest.approx(-0.5 * speed, abs=1e-7)
        effort = sim.measure(robot).effort[0]
        assert effort == pytest.approx(2.0 * G - 0.5 * (1.0 + 3.0) * G, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_on_random_trees_efforts_are_those_of_inverse_dynamics(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, bodies=8, base="fixed", kinds=("revolute", "prismatic"))
    world = tabi.World()
    robot = world.add_robot(robot)
    sim = tabi.Simulator(world)
    names = robot.joint_names
    exact = [name for name in names if rng.random() < 0.6] or names[:1]
    assert 0 < len(exact) <= len(names)
    sim.prescribe(exact)
    goal = {name: float(rng.uniform(-0.5, 0.5)) for name in names}
    sim.set_gains(np.full(sim.model.v_count, 5.0), np.zeros(sim.model.v_count))
    sim.set_controller(
        robot,
        lambda t, m: tabi.Command(position={n: x * (1 - cos(5 * t)) for n, x in goal.items()}),
    )
    sim.step()
    for _ in range(100):
        q0, v0 = sim.state.q, sim.state.v
        sim.step()
        takes = tabi.dynamics.inverse_dynamics(sim.model, q0, v0, (sim.state.v - v0) / sim.dt)
        given = sim.data.outcome.effort["motor"]
        scale = 1e-9 * (1 + np.abs(takes).max())
        for name in exact:
            k = sim.model.v_index(name)
            assert given[k] == pytest.approx(takes[k], abs=scale)
            assert sim.state.q[sim.model.q_index(name)] == pytest.approx(
                goal[name] * (1 - cos(5 * (sim.time - sim.dt))), abs=1e-14
            )


def test_hrp2_that_stands_with_exact_joints_bears_what_statics_ask_of_them():
    # effort of all joints: gravity's share less that of the ground, from the feet's wrenches
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.prescribe(robot)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(0.5)
    q = sim.state.q
    wanted = tabi.dynamics.inverse_dynamics(sim.model, q, 0 * sim.state.v, 0 * sim.state.v)
    for foot in robot.feet.values():
        wrench, J = sim.foot_wrench(foot), tabi.dynamics.point_jacobian(sim.model, q, foot.name)
        wanted -= J.T @ np.concatenate([wrench.force, wrench.torque])
    given = sim.measure(robot).effort
    assert np.abs(given).max() > 5.0
    np.testing.assert_allclose(given, wanted[6:], atol=1e-4)


def test_an_exact_jaw_feels_the_weight_it_lifts():
    # a jaw on a guide along z lifts a box that lies on it: effort (m + M) (g + a)
    robot = Robot("lift")
    robot.add_body("shaft", Joint("shaft", "fixed"))
    floor = Shape(Box((0.4, 0.4, 0.02)), name="floor")
    robot.add_body(
        "cabin",
        Joint("lift", "prismatic", axis=(0, 0, 1)),
        "shaft",
        Inertia(10.0, (0, 0, 0), 0.1 * np.eye(3)),
        [floor],
    )
    world = tabi.World()
    robot = world.add_robot(robot)
    world.add_box((0.1, 0.1, 0.1), 5.0, position=(0, 0, 0.06))
    sim = tabi.Simulator(world)
    sim.prescribe(robot)
    follow(sim, robot, lambda t: 0.5 * t * t)
    sim.run(0.3)
    assert sim.measure(robot).effort[0] == pytest.approx(15.0 * (G + 1.0), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.prescribe("knee"), "joint 'knee' not found in the world"),
        (lambda s: s.prescribe(3), "joints to prescribe are 3; expected a robot, a joint"),
        (lambda s: s.prescribe("pivot", by="force"), "by 'force'; expected 'position' or 'vel"),
        (lambda s: s.prescribe(tabi.robots.hrp2()), "hrp2 is no robot of this world"),
        (lambda s: s.prescribe("spring"), "joint 'spring' is passive"),
        (lambda s: s.prescribe("ball"), "'ball' is spherical and has no angle to go to"),
    ],
)
def test_what_cannot_be_prescribed_is_told(call, words):
    world, robot = arm()
    robot.add_body("foot", Joint("spring", "prismatic", passive=True), "link", Inertia(1.0))
    tensor = 0.1 * np.eye(3)
    robot.add_body("eye", Joint("ball", "spherical"), "link", Inertia(1.0, (0, 0, 0), tensor))
    with pytest.raises(ModelError, match=words):
        call(tabi.Simulator(world))
