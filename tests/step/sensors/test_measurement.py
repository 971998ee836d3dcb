"""Sensors (``tabi.step.sensors.measurement``, ``tabi.step.sensors.motion``): what they feel is what
Newton and Euler say, by Pinocchio's accelerations, on robots that swing, fall, are pushed and
stand; closed forms of an imu.
"""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box
from tabi.spatial import inertia
from tabi.spatial.transform import from_quaternion, translation

pytest.importorskip("pinocchio", reason="pip install tabi[referee]")

from cuts import wrench_across
from worlds import random_robot

G = 9.81


def error(sim, robot, names, pushed=None):
    """Of force sensors and imus against Newton and Euler, as a part of the robot's weight and of
    gravity, or of what is measured where that is more.
    """
    worst = 0.0
    for name in names:
        sensor = robot.sensors[name]
        wrench, felt = wrench_across(sim, robot, sensor.body, sensor.placement, pushed)
        reading = sim.sensor(sensor)
        if sensor.kind == "force":
            told, true, size = reading.values, wrench, robot.mass * G
        else:
            told, true, size = reading.accelerometer, felt, G
        worst = max(worst, np.abs(told - true).max() / max(size, np.abs(true).max()))
    return worst


HRP2 = ("left_foot_force", "right_foot_force", "left_wrist_force", "imu")


@pytest.mark.parametrize("height", [0.0, 1.0])
def test_forces_and_accelerations_of_hrp2_that_moves_stands_falls_and_is_pushed(height):
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.place((0.0, 0.0, 0.66 + height), from_quaternion((1.0, 0.02, -0.03, 0.1)).quaternion)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.squat(robot, 0.15))
    for _ in range(4):
        sim.run(0.03)
        assert error(sim, robot, HRP2) < 1e-9
    push = {"left_hand": (30.0, -20.0, 10.0)}
    sim.apply_force("left_hand", push["left_hand"], duration=0.05)
    sim.run(0.02)
    assert error(sim, robot, HRP2, push) < 1e-9
    # it feels the push: without it the wrist would be off by all of it
    wrist = robot.sensors["left_wrist_force"]
    silent, _ = wrench_across(sim, robot, wrist.body, wrist.placement)
    pushed = np.linalg.norm(sim.sensor(wrist).force - silent[:3])
    assert pushed == pytest.approx(np.linalg.norm(push["left_hand"]), rel=1e-9)


@pytest.mark.parametrize("contact", ["selection", "penalty", "pyramid"])
def test_forces_under_other_laws_of_contact(contact):
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world, contact=contact)
    sim.set_controller(robot, tabi.control.sway(robot, 0.01))
    for _ in range(3):
        sim.run(0.05)
        assert error(sim, robot, HRP2) < 1e-9
    assert sim.sensor("left_foot_force").force[2] > 0.3 * robot.mass * G


def test_forces_where_surfaces_resist_turning():
    world = tabi.World()
    world.add_ground(torsional_friction=0.02)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.apply_force(robot.base, torque=(0.0, 0.0, 20.0), duration=1.0)
    sim.run(0.1)
    assert np.abs([c.moment for c in sim.contacts]).max() > 0.01
    assert error(sim, robot, HRP2) < 1e-9


def test_both_sides_of_a_contact_between_robots_are_felt():
    world = tabi.World()
    for name, z, mass in (("table", 0.0, 3.0), ("block", 0.1, 2.0)):
        robot = Robot(name)
        base = Joint(f"{name} root", "floating" if name == "block" else "fixed")
        body = robot.add_body(f"{name} base", base, None, inertia.solid_box(mass, (0.2, 0.2, 0.1)))
        joint = Joint(f"{name} joint", "prismatic" if name == "table" else "fixed")
        joint.motor = tabi.model.joint.Motor(kp=1e5, kd=1e3) if name == "table" else None
        plate = robot.add_body(
            f"{name} plate", joint, body, inertia.solid_box(1.0, (0.2, 0.2, 0.1))
        )
        plate.shapes.append(tabi.model.shape.Shape(Box((0.2, 0.2, 0.1)), name=name))
        robot.add_sensor(name, "force", plate, (0.01, 0.0, 0.02))
        world.add_robot(robot)
        if name == "block":
            world.robots[-1].place((0.03, 0.01, z))
    sim = tabi.Simulator(world)
    sim.run(0.5)
    table, block = (sim.sensor(f"{name}/{name}").force[2] for name in ("table", "block"))
    # the table's plate bears all, the block's plate is pushed up by the weight of the rest
    assert table == pytest.approx(-(1.0 + 3.0) * G, rel=1e-5)
    assert block == pytest.approx(2.0 * G, rel=1e-5)
    assert sim.contacts


def test_a_wrist_feels_what_is_bonded_to_the_hand():
    robot = Robot("arm")
    robot.add_body("base", Joint("root", "fixed"), None, inertia.solid_box(1.0, (0.1, 0.1, 0.1)))
    motor = tabi.model.joint.Motor(kp=1e5, kd=1e3)
    joint = Joint("wrist", "revolute", translation((0, 0, 1.0)), (0, 1, 0), motor=motor)
    robot.add_body("hand", joint, "base", inertia.solid_box(0.5, (0.1, 0.1, 0.1)))
    robot.add_sensor("wrist", "force", "hand")
    world = tabi.World()
    world.add_robot(robot)
    world.add_box((0.1, 0.1, 0.1), 2.0, position=(0.15, 0.02, 1.0), name="box")
    sim = tabi.Simulator(world)
    sim.bond("weld", "hand", "box", point=(0.05, 0.0, 1.0))
    sim.run(1.0)
    reading = sim.sensor("wrist")
    # the hand's weight and the box's, in the axes of a wrist that gives way a little
    down = sim.pose("hand").R.T @ np.array([0.0, 0.0, -G])
    assert reading.force == pytest.approx(2.5 * down, abs=1e-4)
    arm = sim.pose("hand").R.T @ (sim.position("box") - sim.position("hand"))
    assert reading.torque == pytest.approx(np.cross(arm, 2.0 * down), abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_every_kind_of_joint_in_flight_and_with_a_sensor_on_each_body(seed):
    robot = random_robot(seed, 10)
    for body in robot.bodies[1:]:
        robot.add_sensor(
            f"force on {body.name}", "force", body, (0.1, -0.2, 0.3), (0.5, 0.1, -0.7, 0.2)
        )
        robot.add_sensor(f"imu on {body.name}", "imu", body, (0.1, 0.2, -0.1), (1.0, 0.3, 0.2, 0.1))
    world = tabi.World()
    placed = world.add_robot(robot)
    sim = tabi.Simulator(world)
    rng = np.random.default_rng(seed)
    sim.set_state(sim.state.q, rng.normal(size=sim.model.v_count))
    for _ in range(3):
        sim.run(0.01)
        assert error(sim, placed, placed.sensors) < 1e-9


def welded(apart):
    """A pole on a cart that swings, with a tip on a fixed joint; a force sensor at the joint sets
    the tip apart.
    """
    robot = Robot("pole")
    robot.add_body("base", Joint("root", "floating"), None, inertia.solid_box(2.0, (0.2, 0.2, 0.1)))
    pole = Joint("swing", "revolute", translation((0.0, 0.0, 0.1)), (0, 1, 0))
    robot.add_body("pole", pole, "base", inertia.solid_box(1.0, (0.05, 0.05, 0.4)))
    tip = Joint("weld", "fixed", from_quaternion((1, 0.2, 0.1, 0.3), (0.0, 0.05, 0.3)))
    body = robot.add_body("tip", tip, "pole", inertia.solid_box(0.5, (0.1, 0.1, 0.1)))
    hinge = Joint("finger", "revolute", translation((0.0, 0.1, 0.0)), (1, 0, 0))
    robot.add_body("finger", hinge, "tip", inertia.solid_box(0.2, (0.02, 0.1, 0.02)))
    for one, size in (("base", (0.2, 0.2, 0.1)), ("tip", (0.1, 0.1, 0.1))):
        robot.body(one).shapes.append(tabi.model.shape.Shape(Box(size), name=one))
    if apart:
        robot.add_sensor("weld", "force", body, (0.0, 0.01, 0.02))
    world = tabi.World()
    world.add_ground()
    placed = world.add_robot(robot)
    placed.place((0.0, 0.0, 0.2))
    return world, placed


def test_a_sensor_on_a_fixed_joint_changes_no_motion_and_feels_what_is_beyond():
    (plain, _), (world, robot) = welded(False), welded(True)
    a, b = tabi.Simulator(plain), tabi.Simulator(world)
    assert a.model.v_count == b.model.v_count
    assert a.model.joint_names == b.model.joint_names
    for _ in range(40):
        a.run(0.02)
        b.run(0.02)
        assert error(b, robot, ["weld"]) < 1e-9
    # it falls over, the tip hits the ground, and all come to rest
    assert b.contacts
    assert np.abs(a.state.q - b.state.q).max() < 1e-7


def test_an_imu_in_free_fall_feels_nothing():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(0.1)
    assert np.abs(sim.sensor("imu").accelerometer).max() < 1e-9
    assert np.abs(sim.sensor("imu").gyro).max() < 1e-12


def turntable(speed, radius):
    robot = Robot("turntable")
    base = Joint("root", "fixed")
    robot.add_body("base", base, None, inertia.solid_box(1.0, (0.1, 0.1, 0.1)))
    joint = Joint("turn", "continuous", prescribed=True)
    robot.add_body("disc", joint, "base", inertia.solid_box(1.0, (0.2, 0.2, 0.02)))
    robot.add_sensor("imu", "imu", "disc", (radius, 0.0, 0.0))
    world = tabi.World()
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    sim.set_state(sim.state.q, [speed])
    return sim


def test_an_imu_on_a_turntable_feels_the_centripetal_acceleration():
    sim = turntable(7.0, 0.3)
    sim.run(0.5)
    reading = sim.sensor("imu")
    assert reading.accelerometer == pytest.approx([-(7.0**2) * 0.3, 0.0, G], abs=1e-9)
    assert reading.gyro == pytest.approx([0.0, 0.0, 7.0], abs=1e-12)


def test_an_imu_on_a_bolted_body_feels_gravity():
    sim = turntable(0.0, 0.3)
    world = sim.world
    world.robots[0].add_sensor("still", "imu", "base", quaternion=(0.0, 1.0, 0.0, 0.0))
    world.robots[0].add_sensor("force", "force", "base")
    sim = tabi.Simulator(world)
    sim.run(0.1)
    assert sim.sensor("still").accelerometer == pytest.approx([0, 0, -G], abs=1e-9)
    assert sim.sensor("imu").accelerometer == pytest.approx([0, 0, G], abs=1e-9)
    assert sim.sensor("still").gyro.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(tabi.ModelError, match="fixed to the world: make that a force plate"):
        sim.sensor("force")


def test_before_the_first_step_sensors_feel_a_world_that_does_not_accelerate():
    sim = turntable(2.0, 0.5)
    assert sim.sensor("imu").accelerometer == pytest.approx([-2.0, 0.0, G], abs=1e-12)
    sim.set_state(sim.state.q, [4.0])
    assert sim.sensor("imu").accelerometer == pytest.approx([-8.0, 0.0, G], abs=1e-12)


def test_an_imu_on_standing_feet_is_as_good_as_the_contacts_are():
    for tolerance in (1e-6, 1e-8):
        world = tabi.World()
        world.add_ground()
        world.add_box((0.3, 0.3, 0.1), 5.0, position=(0, 0, 0.05))
        robot = Robot("block")
        body = robot.add_body(
            "block", Joint("root", "floating"), None, inertia.solid_box(4.0, (0.2, 0.2, 0.2))
        )
        body.shapes.append(tabi.model.shape.Shape(Box((0.2, 0.2, 0.2)), name="block"))
        robot.add_sensor("imu", "imu", "block")
        world.add_robot(robot).place((0.0, 0.0, 0.2))
        sim = tabi.Simulator(world, tolerance=tolerance)
        worst = 0.0
        sim.run(0.2)
        for _ in range(100):
            sim.step()
            worst = max(worst, np.abs(sim.sensor("imu").accelerometer - [0, 0, G]).max())
        assert worst <= 2 * tolerance / 1e-3


def test_joint_torque_is_what_the_motor_gives_less_friction_and_rotor():
    robot = Robot("arm")
    robot.add_body("base", Joint("root", "fixed"), None, inertia.solid_box(1.0, (0.1, 0.1, 0.1)))
    motor = tabi.model.joint.Motor(1e-4, 100.0, 50.0, 200.0, 5.0)
    joint = Joint("elbow", "revolute", axis=(0, 1, 0), damping=0.3, friction=0.7, motor=motor)
    robot.add_body(
        "arm",
        joint,
        "base",
        inertia.solid_box(1.0, (0.4, 0.05, 0.05)).transformed(translation((0.2, 0.0, 0.0))),
    )
    robot.add_sensor("torque", "torque", "arm")
    robot.add_sensor("effort", "effort", "arm")
    world = tabi.World()
    placed = world.add_robot(robot)
    sim = tabi.Simulator(world)
    sim.set_controller(placed, lambda t, m: tabi.Command(position=0.5 * np.sin(3 * t)))
    for _ in range(200):
        sim.step()
        out = sim.data.outcome
        a = (sim.data.v - out.v_before)[0] / sim.dt
        dry = out.effort["constraint"][0]
        effort = sim.sensor("effort").effort
        assert effort == out.effort["motor"][0]
        expected = effort + dry - 0.3 * sim.data.v[0] - joint.total_armature * a
        assert sim.sensor("torque").torque == pytest.approx(expected, abs=1e-9)


def test_touch_and_switch_tell_the_load():
    world = tabi.World()
    world.add_ground()
    robot = Robot("block")
    body = robot.add_body(
        "block", Joint("root", "floating"), None, inertia.solid_box(4.0, (0.2, 0.2, 0.2))
    )
    body.shapes.append(tabi.model.shape.Shape(Box((0.2, 0.2, 0.2)), name="block"))
    robot.add_sensor("touch", "touch", "block")
    robot.add_sensor("low", "switch", "block", threshold=39.0)
    robot.add_sensor("high", "switch", "block", threshold=40.0)
    robot.add_sensor("turn", "orientation", "block", quaternion=(1.0, 0.0, 0.0, 1.0))
    world.add_robot(robot).place((0.0, 0.0, 0.1 + 1e-6))
    sim = tabi.Simulator(world)
    assert sim.sensor("low").on == 0.0
    sim.run(0.2)
    assert sim.sensor("touch").normal_force == pytest.approx(4 * G, rel=1e-5)
    assert (sim.sensor("low").on, sim.sensor("high").on) == (1.0, 0.0)
    half = np.sqrt(0.5)
    assert sim.sensor("turn").quaternion == pytest.approx([half, 0, 0, half], abs=1e-6)


def test_force_plates_carry_the_weight_and_the_acceleration_of_the_centre_of_mass():
    world = tabi.World()
    left = world.add_force_plate("left", (0.4, 0.3), (0.0, 0.16, 0.0), resolution=0.0)
    world.add_force_plate("right", (0.4, 0.3), (0.0, -0.16, 0.0), resolution=0.0)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.squat(robot, 0.1))
    for _ in range(300):
        sim.step()
        out = sim.data.outcome
        a = (sim.data.v - out.v_before) / sim.dt
        # the force at the base that the motion needs: m (a_com − g)
        needed = tabi.dynamics.inverse_dynamics(sim.model, out.q_before, out.v_before, a)[:3]
        total = sim.sensor("left").force + sim.sensor("right").force
        assert np.abs(total - needed).max() < 1e-9 * robot.mass * G
    # pressure points of plate and foot are one place
    pressure = (*sim.sensor(left).centre_of_pressure, 0.0)
    foot = sim.pose(robot.feet["left"]) @ np.array([*sim.centre_of_pressure("left"), 0.0])
    assert np.abs(left.placement @ np.array(pressure) - foot).max() < 1e-6


def test_a_force_plate_rounds_to_one_newton_and_any_fixed_thing_can_be_one():
    world = tabi.World()
    world.add_force_plate(position=(0.0, 0.0, 0.1))
    world.add_ground()
    ground = world.measure_force("ground")
    world.add_box((0.1, 0.1, 0.1), 2.55, position=(0.1, 0.05, 0.15), name="on plate")
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(1.0, 0.0, 0.05), name="on ground")
    sim = tabi.Simulator(world)
    sim.run(0.3)
    assert sim.sensor("plate", truth=True).force[2] == pytest.approx(2.55 * G, rel=1e-6)
    assert sim.sensor("plate").force.tolist() == [0.0, 0.0, round(2.55 * G)]
    # resolution moves the pressure point by as much as it changes the force
    assert sim.sensor("plate", truth=True).centre_of_pressure == pytest.approx(
        [0.1, 0.05], abs=1e-6
    )
    assert sim.sensor(ground).force[2] == pytest.approx(G, rel=1e-6)
    assert sim.sensor(ground).centre_of_pressure == pytest.approx([1.0, 0.0], abs=1e-6)
    for thing, say in (
        ("grond", "fixed thing 'grond' not found"),
        ("ground", "'ground' is a force plate already"),
    ):
        with pytest.raises(tabi.ModelError, match=say):
            world.measure_force(thing)


def test_bad_sensors_are_named():
    robot = tabi.robots.hrp2()
    for say, told in (
        ("sensor 'a' is of kind 'imus'; expected one of accelerometer", {"kind": "imus"}),
        ("noise of sensor 'a' is", {"kind": "imu", "noise": (1, 2)}),
        ("noise of sensor 'a' is -1", {"kind": "imu", "noise": -1.0}),
        ("matrix of sensor 'a' is singular", {"kind": "force", "matrix": np.ones((6, 6))}),
        ("sensor 'a' was given 'nois'", {"kind": "imu", "nois": 1.0}),
        ("sensor 'a' measures 'gyro'", {"kind": "force", "part": "gyro"}),
    ):
        with pytest.raises(tabi.ModelError, match=say):
            robot.add_sensor("a", told.pop("kind"), "chest", **told)
    with pytest.raises(tabi.ModelError, match="body 'cheast' not found"):
        robot.add_sensor("a", "imu", "cheast")
    with pytest.raises(tabi.ModelError, match="sensor 'a' measures joint 'WAIST'"):
        robot.add_sensor("a", "encoder", robot.base)
    robot.add_sensor("a", "imu", "chest", rate=300.0)
    world = tabi.World()
    world.add_robot(robot)
    with pytest.raises(tabi.ModelError, match=r"rate of sensor 'a' is 300 Hz.*333\.3.*250"):
        tabi.Simulator(world)
