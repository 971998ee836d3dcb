"""Compliance against the closed form of a mass with a damper, against walls, and at limits."""

import numpy as np
import pytest

import tabi
from tabi.control import compliance, hold, together
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape, Sphere
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

STIFF = Motor(kp=4e4, kd=2e3)


def slider(hand=3.0, ball=0.0, **joint):
    """A carriage on a rail with a hand of some mass behind a force sensor."""
    robot = Robot("slider")
    robot.add_body("stand", Joint("stand", "fixed"))
    rail = Joint("rail", "prismatic", axis=(1, 0, 0), motor=STIFF, **joint)
    robot.add_body("carriage", rail, "stand", Inertia(2.0, np.zeros(3), 0.01 * np.eye(3)))
    wrist = Joint("wrist", "fixed", translation((0.1, 0.0, 0.05)))
    centre = np.array([0.05, 0.02, -0.03])
    shapes = [Shape(Sphere(ball), name="palm")] if ball else []
    robot.add_body("hand", wrist, "carriage", Inertia(hand, centre, 0.02 * np.eye(3)), shapes)
    robot.add_sensor("load", "force", "hand", (0.01, 0.0, 0.0), (0.8, 0.0, 0.6, 0.0))
    world = tabi.World()
    return world, world.add_robot(robot)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [200.0, None])
@pytest.mark.parametrize(("mass", "damping", "hand"), [(4.0, 20.0, 3.0), (5.0, 40.0, 0.5)])
def test_a_constant_push_moves_it_as_mass_and_damper_say(mass, damping, hand, rate):
    force, late = 8.0, 1e-3 + 1.0 / (rate or 1000.0)
    world, robot = slider(hand=hand)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, compliance(robot, "hand", mass, damping, rate=rate))
    sim.run(0.1)
    start = sim.state.q[0]
    # no weight, of the hand or its moment, moves it; only rounding does
    assert abs(start) < 1e-9
    sim.apply_force("hand", (force, 0.0, 0.0), duration=5.0)
    begin, final = sim.time, force / damping
    for _ in range(50):
        sim.run(0.02)
        t = sim.time - begin
        v = final * (1.0 - np.exp(-damping * t / mass))
        x = final * t - mass / damping * v
        # a hundredth, and what controller and step are late by
        assert sim.state.q[0] - start == pytest.approx(x, abs=0.01 * x + late * v)
        assert sim.state.v[0] == pytest.approx(v, abs=0.01 * v + late * force / mass)
    sim.run(2.0)
    assert sim.state.v[0] == pytest.approx(final, rel=1e-4)


def test_in_its_own_time_the_law_is_exact_for_a_constant_push():
    _, robot = slider(hand=0.0)
    give = compliance(robot, "hand", 2.0, 10.0)
    X = robot.placements()
    R = (X[robot.body("hand")] @ robot.sensors["load"].placement).R
    reading = np.concatenate([R.T @ [8.0, 1.0, -2.0], [0.3, 0.2, 0.1]])
    T, seen = 0.005, None
    for k in range(301):
        seen = tabi.Measurement(np.zeros(1), np.zeros(1), np.zeros(1), {"load": reading})
        told = give(k * T, seen)
        # as it is to be at the next call, which is not known before the second
        t = (k + 1) * T if k else 0.0
        v = 0.8 * (1.0 - np.exp(-5.0 * t))
        assert told.velocity[0] == pytest.approx(v, abs=1e-13)
        assert told.position[0] == pytest.approx(0.8 * t - 0.2 * v, abs=1e-13)
        assert told.over == (pytest.approx(T) if k else None)
    # the same moment again moves nothing
    assert give(300 * T, seen).position[0] == told.position[0]


def test_without_damping_a_push_accelerates_it_for_ever():
    _, robot = slider(hand=0.0)
    give = compliance(robot, "hand", 2.0, 0.0)
    R = (robot.placements()[robot.body("hand")] @ robot.sensors["load"].placement).R
    seen = tabi.Measurement(*np.zeros((3, 1)), {"load": np.r_[R.T @ [8.0, 0.0, 0.0], np.zeros(3)]})
    for k in range(101):
        told = give(0.01 * k, seen)
    # v = f t/m and x = f t²/2m at the next call
    assert told.velocity[0] == pytest.approx(4.0 * 1.01, rel=1e-12)
    assert told.position[0] == pytest.approx(2.0 * 1.01**2, rel=1e-12)


def test_travel_and_speed_of_the_joint_are_kept():
    world, robot = slider(lower=-1.0, upper=0.3, velocity_limit=0.5)
    sim = tabi.Simulator(world)
    give = compliance(robot, "hand", 2.0, 10.0)
    sim.set_controller(robot, give, rate=200.0)
    sim.apply_force("hand", (100.0, 0.0, 0.0), duration=2.0)
    for _ in range(200):
        sim.run(0.01)
        told = give(sim.time, sim.measure(robot))
        assert told.position[0] <= 0.3
        assert abs(told.velocity[0]) <= 0.5
    assert told.position[0] == 0.3
    assert told.velocity[0] == 0.0


@pytest.mark.parametrize("smooth", [True, False])
def test_against_a_wall_at_200_hz_it_comes_to_rest(smooth):
    world, robot = slider(ball=0.05)
    T = 0.005
    world.add_fixed(Box((0.1, 0.5, 0.5)), position=(0.3, 0.0, 0.05))
    give = compliance(robot, "hand", 20.0, 320.0, rate=1.0 / T if smooth else None)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, give, rate=None if smooth else 1.0 / T)
    sim.apply_force("hand", (100.0, 0.0, 0.0), duration=60.0)
    # 0.1 m to go with 100 N over a damper of 320 N s/m
    sim.run(0.1)
    assert not [c for c in sim.contacts if c.pressing]
    # steps of position shake the sensor where they are not smooth
    assert give.wrench[0] == pytest.approx(100.0, rel=0.02 if smooth else 0.2)
    sim.run(2.0)
    pushed, moved = [], []
    for _ in range(200):
        sim.run(T)
        pushed.append(give.wrench[0])
        moved.append(sim.state.q[0])
    # the wall pushes back as much
    assert np.abs(pushed).max() < 0.1
    assert moved == pytest.approx([0.1] * 200, abs=1e-5)


def waving():
    """Three hinges about different axes, and a hand with a tensor of its own."""
    robot = Robot("waving")
    robot.add_body("stand", Joint("stand", "fixed"))
    parent = "stand"
    for name, axis in (("yaw", (0, 0, 1)), ("pitch", (0, 1, 0)), ("roll", (1, 0, 0))):
        joint = Joint(name, "revolute", translation((0.3, 0.0, 0.1)), axis, motor=STIFF)
        body = Inertia(1.0, np.array([0.1, 0.0, 0.0]), np.diag([0.01, 0.02, 0.03]))
        parent = robot.add_body(f"{name}_link", joint, parent, body).name
    tensor = np.array([[0.05, 0.01, 0.0], [0.01, 0.2, 0.02], [0.0, 0.02, 0.1]])
    wrist = Joint("wrist", "fixed", translation((0.1, 0.02, 0.0)))
    robot.add_body("hand", wrist, parent, Inertia(2.0, np.array([0.1, 0.05, -0.02]), tensor))
    robot.add_sensor("load", "force", "hand", (0.02, 0.0, 0.01), (0.8, 0.0, 0.6, 0.0))
    world = tabi.World()
    return world, world.add_robot(robot)


@pytest.mark.slow
def test_a_hand_that_nothing_touches_feels_nothing_however_it_moves():
    world, robot = waving()
    sim, felt = tabi.Simulator(world, dt=1e-4), []
    give = compliance(robot, "hand", 1.0, 1.0)
    w = np.array([9.0, 11.0, 13.0])

    def wave(time, measurement):
        give(time, measurement)
        felt.append((give.wrench.copy(), measurement.sensors["load"]))
        return tabi.Command(0.4 * (1 - np.cos(w * time)), 0.4 * w * np.sin(w * time))

    sim.set_controller(robot, wave)
    sim.run(0.6)
    left, read = (np.array(x)[1000:] for x in zip(*felt, strict=True))
    # readings are of the configuration that a step began with, a step before
    for part in (slice(0, 3), slice(3, 6)):
        assert np.abs(left[:, part]).max() < 5e-3 * np.abs(read[:, part]).max()
    assert np.abs(read[:, :3]).max() > 1.5 * 2.0 * 9.81
    # the last two terms of (2) are a good part of what is read
    assert np.abs(read[:, 3:]).max() > 3.0


@pytest.mark.parametrize(("share", "stable"), [(2.0, True), (0.4, False)])
def test_the_least_mass_against_a_wall_is_about_that_of_the_formula(share, stable):
    world, robot = slider(ball=0.05)
    T = 0.005
    world.add_fixed(Box((0.1, 0.5, 0.5)), position=(0.25, 0.0, 0.05))
    give = compliance(robot, "hand", share * STIFF.kd * T, 100.0, rate=1.0 / T)
    sim, pushed = tabi.Simulator(world), []
    sim.set_controller(robot, give)
    sim.apply_force("hand", (100.0, 0.0, 0.0), duration=60.0)
    sim.run(2.0)
    for _ in range(200):
        sim.run(T)
        pushed.append(give.wrench[0])
    assert bool(np.abs(pushed).max() < 1.0) == stable


def standing():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    return world, robot


@pytest.mark.slow
def test_an_arm_of_hrp2_gives_way_to_a_push_and_stays_when_it_ends():
    world, robot = standing()
    give = compliance(robot, "right_hand", 2.0, 20.0, rate=200.0)
    assert give.sensor.name == "right_wrist_force"
    assert [name[:5] for name in give.joints] == ["RARM_"] * 7
    sim = tabi.Simulator(world)
    both = together(robot, hold(robot.half_sitting), give)
    sim.set_controller(robot, both)
    sim.run(0.5)
    start = sim.pose(robot.body("right_hand")).p.copy()
    sim.apply_force("right_hand", (10.0, 0.0, 0.0), duration=0.5)
    sim.run(0.4)
    # what pushes is felt, less the hand's weight and inertia
    assert give.wrench[:3] == pytest.approx([10.0, 0.0, 0.0], abs=0.5)
    sim.run(1.6)
    moved = sim.pose(robot.body("right_hand")).p - start
    assert moved[0] > 0.05
    now = sim.pose(robot.body("right_hand")).p.copy()
    sim.run(0.5)
    assert np.linalg.norm(sim.pose(robot.body("right_hand")).p - now) < 2e-3


def test_a_reset_begins_where_the_arm_is():
    _, robot = slider()
    give = compliance(robot, "hand", 1.0, 1.0)
    told = [
        give(t, tabi.Measurement(np.array([q]), *np.zeros((2, 1)), {"load": np.zeros(6)}))
        for t, q in ((0.0, 0.1), (0.1, 0.2))
    ]
    assert told[0].position[0] == 0.1
    give.reset()
    seen = tabi.Measurement(np.array([0.4]), *np.zeros((2, 1)), {"load": np.zeros(6)})
    assert give(0.2, seen).position[0] == 0.4
    # and so does a time that is past
    seen = tabi.Measurement(np.array([0.7]), *np.zeros((2, 1)), {"load": np.zeros(6)})
    assert give(0.1, seen).position[0] == 0.7


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"mass": 0.0}, "mass of slider is 0 for joint 'rail'; expected a positive number"),
        ({"mass": -1.0}, "mass of slider is -1 for joint 'rail'; expected a finite number ≥ 0"),
        ({"damping": -1.0}, "damping of slider is -1 for joint 'rail'"),
        ({"damping": np.nan}, "damping of slider is nan for joint 'rail'"),
        ({"mass": [1.0, 2.0]}, r"mass of slider has shape \(2,\); expected one number, or \(1,\)"),
        ({"body": "foot"}, "body 'foot' not found in slider"),
        ({"sensor": "lode"}, "sensor 'lode' not found in slider; sensors near that name: 'load'"),
        ({"sensor": "tilt"}, "sensor 'tilt' of slider is of kind 'imu'; expected a 'force' sensor"),
        ({"joints": ["elbow"]}, "joint 'elbow' not found in slider"),
        ({"body": "carriage"}, "slider has no force sensor between its base and 'carriage'; add"),
        ({"rate": 0.0}, "rate of the compliance is 0 Hz; expected a positive number"),
        ({"base": 3}, "base is 3; expected a Transform, an Estimator, or a function"),
    ],
)
def test_what_cannot_give_way_is_refused(told, words):
    _, robot = slider()
    robot.add_sensor("tilt", "imu", "hand")
    with pytest.raises(tabi.ModelError, match=words):
        compliance(robot, **{"body": "hand", "mass": 1.0, "damping": 1.0, **told})


@pytest.mark.slow
def test_an_arm_asked_five_times_slower_than_it_is_simulated_feels_the_same_push():
    """Jumps of what joints are told would shake the sensor."""
    for rate in (1000.0, 200.0):
        world = tabi.World()
        world.add_ground(friction=0.8)
        robot = tabi.robots.hrp2()
        robot.stand_on_ground()
        robot = world.add_robot(robot)
        sim = tabi.Simulator(world)
        give = compliance(robot, "right_hand", 0.3, 3.0)
        holds = tabi.control.hold(robot.half_sitting)
        sim.set_controller(robot, tabi.control.together(robot, holds, give), rate=rate)
        sim.run(0.2)
        sim.apply_force("right_hand", (8.0, 0.0, 0.0), duration=0.5)
        sim.run(0.45)
        # the arm moves with a radian a second; the body gives way by a little
        assert np.abs(give.wrench[:3] - (8.0, 0.0, 0.0)).max() < 0.5
