"""Gravity and contact compensation: closed forms, humanoids that stand where soft gains alone fall,
and what they sag by.
"""

from math import cos

import numpy as np
import pytest
from bipeds import biped, hrp2_on_ground
from tests.step.forces.test_motors import G, arm

import tabi
from tabi.control import torque
from tabi.model.joint import Motor


def true_base(time, measurement):
    return measurement.base


def test_a_pendulum_with_its_gravity_told_does_not_sag():
    world, robot = arm()
    sim = tabi.Simulator(world)
    held = torque(robot, {"pivot": 0.3}, kp=5.0, kd=5.0)
    sim.set_state([0.3])
    sim.set_controller(robot, held)
    sim.run(2.0)
    # the same spring alone would sag by 9.81 cos(q)/5, more than a radian
    assert sim.state.q[0] == pytest.approx(0.3, abs=1e-9)
    assert held.carried[0] == pytest.approx(-2.0 * G * 0.5 * cos(0.3), rel=1e-9)


def stand(robot, controller_of, seconds, truth=False, rate=200.0):
    """The simulation, how far the base sank and moved [m], and the largest joint error [rad]."""
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(robot)
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, controller_of(robot), truth=truth, rate=rate)
    start = sim.pose(robot.base).p.copy()
    sim.run(seconds)
    pose = np.array([robot.half_sitting.get(name, 0.0) for name in robot.joint_names])
    error = np.abs(sim.measure(robot).position - pose).max()
    return sim, float(np.linalg.norm(sim.pose(robot.base).p - start)), float(error)


@pytest.mark.parametrize("contacts", ["weight", "measured"])
def test_hrp2_stands_with_soft_gains_and_does_not_sag(contacts):
    def soft(robot):
        return torque(robot, "half_sitting", 300.0, 30.0, contacts)

    sim, moved, error = stand(tabi.robots.hrp2(), soft, 3.0)
    # a fiftieth of its own gains; what is left is the estimate of the base, to 1e-6 rad
    assert moved < 1e-4
    assert error < 1e-4
    assert np.abs(sim.state.v).max() < 1e-3


def test_with_the_same_gains_and_nothing_told_hrp2_falls():
    def soft(robot):
        command = tabi.Command(robot.half_sitting, 0.0, kp=300.0, kd=30.0)
        return lambda time, measurement: command

    _, moved, _ = stand(tabi.robots.hrp2(), soft, 3.0)
    assert moved > 0.3


@pytest.mark.slow
def test_g1_stands_with_soft_gains_and_does_not_sag(example_robots):
    file = example_robots / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf"
    with pytest.warns(tabi.RobotFileWarning):
        robot = tabi.load(file)
    _, moved, error = stand(
        robot, lambda r: torque(r, "half_sitting", 100.0, 5.0, base=true_base), 2.0, truth=True
    )
    assert moved < 1e-4
    assert error < 1e-4


@pytest.mark.slow
def test_a_push_is_withstood_softly():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, torque(robot, "half_sitting", 400.0, 40.0), rate=200.0)
    start = sim.pose(robot.base).p.copy()
    sim.apply_force("chest", (20.0, 0.0, 0.0), duration=0.2, at=0.5)
    sim.run(4.0)
    assert np.linalg.norm(sim.pose(robot.base).p - start) < 0.02


def test_efforts_of_a_robot_at_rest_are_those_that_hold_it():
    """What stiff motors give at rest is what is told, but for forces of the feet on each other."""
    world = tabi.World()
    world.add_ground(friction=0.0)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(3.0)
    seen = sim.measure(robot, truth=True)
    told = torque(robot, "half_sitting", 300.0, 30.0, "measured", base=true_base)
    told(0.0, seen)
    told(100.0, seen)
    # 100 s of a low-pass of 1 Hz leave nothing of its start; drift at rest is slower than 1e-6 m/s
    assert told.carried == pytest.approx(seen.effort, abs=0.05)
    assert np.abs(told.carried).max() > 10.0


def test_a_reset_begins_anew():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    sim = tabi.Simulator(world)
    held = torque(robot, "half_sitting", 300.0, 30.0, "measured")
    sim.set_controller(robot, held, rate=200.0)
    sim.run(0.3)
    first = sim.state.q.copy()
    sim.reset()
    assert not held.carried.any()
    sim.run(0.3)
    assert np.array_equal(sim.state.q, first)


def legs():
    robot = biped()
    for body in robot.bodies[1:]:
        body.joint.motor = Motor(kp=100.0, kd=10.0)
    return robot


def test_a_foot_in_the_air_bears_nothing():
    robot = legs()
    for side in "lr":
        robot.add_sensor(f"{side}_load", "force", f"{side}_ankle_roll_link")
    held = torque(robot, "half_sitting", 100.0, 10.0, base=tabi.Transform())
    q = np.array([robot.half_sitting.get(name, 0.0) for name in robot.joint_names])
    loads = {"l_load": np.array([0, 0, 150.0, 0, 0, 0]), "r_load": np.zeros(6)}
    seen = tabi.Measurement(q, np.zeros(10), np.zeros(10), loads)
    held(0.0, seen)
    held(0.1, seen)
    told = dict(zip(robot.joint_names, held.carried, strict=True))
    # the free foot's roll carries the foot alone, whose centre of mass is on its axis
    assert abs(told["r_ankle_roll"]) < 1e-9
    # the centre of mass is beyond the sole that stands, so its edge bears all 20 kg, 0.04 m beside
    # the hip, whose leg is on its axis
    assert abs(told["l_hip_roll"]) == pytest.approx(20.0 * G * 0.04, rel=1e-9)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"contacts": "guess"}, "contacts is 'guess'; expected 'weight', from the centre of mass"),
        ({"contacts": "measured"}, "foot 'left' of biped has no force sensor, so its wrench is no"),
        ({"kp": -1.0}, "kp of biped is -1 for joint 'l_hip'"),
        ({"kd": [1.0, 2.0]}, r"kd of biped has shape \(2,\)"),
        ({"pose": {"hip": 0.1}}, "joint 'hip' not found in biped"),
        ({"base": None}, "the pose of the base of biped is unknown"),
    ],
)
def test_what_cannot_be_held_is_refused(told, words):
    given = {"pose": {"l_hip": 0.0}, "kp": 1.0, "kd": 1.0, "base": tabi.Transform(), **told}
    with pytest.raises(tabi.ModelError, match=words):
        torque(legs(), **given)


def test_a_robot_without_feet_is_asked_for_them():
    robot = legs()
    robot.feet.clear()
    with pytest.raises(tabi.ModelError, match="biped has no feet, so its contact forces are"):
        torque(robot, {"l_hip": 0.0}, 1.0, 1.0, base=tabi.Transform())
