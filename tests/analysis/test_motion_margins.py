"""Margins of arms whose torques, speeds and ways are known, and of a robot that stands."""

import numpy as np
import pytest

import tabi
from tabi import World
from tabi.analysis.motion_margins import HOLD_TIME_S, MarginWatch, hold_filtered
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia

LENGTH, MASS = 0.5, 2.0
LIMP = tabi.Command(effort=0.0, kp=0.0, kd=0.0)


def arm(**limits):
    """One joint about y on a fixed base; the mass is a point at the end of a thin rod along x."""
    robot = Robot("arm")
    robot.add_body("base", Joint("root", "fixed"), None, Inertia(1.0, np.zeros(3), np.eye(3)))
    motor = Motor(kp=4000.0, kd=200.0, no_load_speed=limits.pop("no_load_speed", np.inf))
    motor.torque_limit = limits.pop("torque_limit", np.inf)
    joint = Joint("elbow", "revolute", axis=(0.0, 1.0, 0.0), motor=motor, **limits)
    end = Inertia(MASS, np.array([LENGTH, 0.0, 0.0]), 1e-3 * np.eye(3))
    robot.add_body("rod", joint, "base", end)
    return robot


def watched(robot, gravity=-9.81, speed=0.0, seconds=0.3, hold=True, wall=None):
    world = World((0.0, 0.0, gravity))
    robot = world.add_robot(robot)
    if wall is not None:
        world.add_fixed(Box((0.1, 0.1, 0.1)), wall, name="wall")
    sim = tabi.Simulator(world)
    # about y gravity turns the rod down, so the motor turns it up
    told = tabi.Command(0.0, 0.0, -MASS * 9.81 * LENGTH) if hold else LIMP
    sim.set_controller(robot, lambda *_: told)
    sim.set_state(sim.q, [speed])
    watch = MarginWatch(sim, robot)
    sim.run(seconds)
    return {one.name: one for one in watch.margins()}


def test_a_motor_that_holds_a_mass_has_left_what_its_limit_is_above_m_g_l():
    needed = MASS * 9.81 * LENGTH
    found = watched(arm(effort_limit=2 * needed))["torque"]
    assert found.margin == pytest.approx(0.5, abs=1e-6)
    assert (found.where, found.within) == ("elbow", True)
    short = watched(arm(effort_limit=0.5 * needed))["torque"]
    assert short.margin == pytest.approx(0.0, abs=1e-9)
    assert not short.within


def test_speed_and_travel_of_a_free_joint_are_those_of_its_motion():
    found = watched(
        arm(velocity_limit=8.0, lower=-2.0, upper=1.0),
        gravity=0.0,
        speed=2.0,
        seconds=0.2,
        hold=False,
    )
    assert found["speed"].margin == pytest.approx(0.75, abs=1e-9)
    assert found["travel"].margin == pytest.approx(1.0 - 2.0 * 0.2, abs=1e-6)
    assert (found["travel"].unit, found["travel"].at_s) == ("rad", 0.2)
    stopped = watched(arm(lower=-2.0, upper=0.2), gravity=0.0, speed=2.0, seconds=0.2, hold=False)[
        "travel"
    ]
    assert not stopped.within
    # the first time, when the joint gets there
    assert stopped.at_s == pytest.approx(0.1, abs=2e-3)


def test_what_a_motor_gives_falls_with_its_speed():
    # driving at the no-load speed's half, it has half of its torque
    limit, top = 100.0, 4.0
    robot = arm(torque_limit=limit, no_load_speed=top)
    world = World((0.0, 0.0, 0.0))
    robot = world.add_robot(robot)
    sim = tabi.Simulator(world)
    push = tabi.Command(effort=25.0, kp=0.0, kd=0.0)
    sim.set_controller(robot, lambda *_: push)
    sim.set_state(sim.q, [2.0])
    watch = MarginWatch(sim, robot)
    sim.step()
    v = float(sim.v[0])
    torque = watch._joints[0][0][0]
    assert torque == pytest.approx(1.0 - 25.0 / (limit * (1.0 - v / top)), abs=1e-6)


def test_limits_that_nobody_told_have_no_margin():
    found = watched(arm())
    assert found["torque"].margin is found["speed"].margin is found["travel"].margin is None
    assert found["fall"].margin is None
    assert all(one.within for one in found.values())


def test_an_arm_that_swings_into_a_wall_collides_and_names_both():
    robot = arm()
    rod = robot.bodies[1]
    rod.shapes.append(Shape(Box((0.1, 0.02, 0.02)), name="tip"))
    rod.shapes[0].placement = tabi.spatial.transform.translation((LENGTH, 0.0, 0.0))
    wall = (LENGTH, 0.0, -0.3)
    found = watched(robot, hold=False, seconds=0.5, wall=wall)["collision"]
    assert found.margin is not None
    assert not found.within
    assert {"rod", "wall"} == set(found.where.split(" and "))
    # the tip's end, 0.05 m beyond the mass, meets the wall's top, 0.24 m below; an angle grows by
    # at most g t²/2L
    free = np.sqrt(2 * 0.24 * LENGTH / ((LENGTH + 0.05) * 9.81))
    assert free < found.at_s < 2 * free


def test_a_margin_is_held_only_where_it_lasts():
    rows = np.ones((100, 1))
    n = round(HOLD_TIME_S / 1e-3)
    rows[20 : 20 + n - 1] = 0.0
    assert hold_filtered(rows, 1e-3).min() == 1.0
    rows[60 : 60 + n] = 0.25
    assert hold_filtered(rows, 1e-3).min() == 0.25
    assert int(np.argmin(hold_filtered(rows, 1e-3)[:, 0])) == 60 + n - 1
    assert np.isinf(hold_filtered(rows[: n - 1], 1e-3)).all()


def test_of_a_robot_on_both_feet_no_foot_carries_most_of_the_weight_and_none_may_tip():
    world = World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    watch = MarginWatch(sim, robot)
    sim.run(0.05)
    found = {one.name: one for one in watch.margins()}
    assert found["pressure"].margin is None
    assert found["friction"].margin > 0.9
    height = float(sim.position(robot.base)[2])
    assert found["fall"].margin == pytest.approx(0.5 * height, rel=1e-2)
    assert found["collision"].within
    assert watch.fell is None


def test_every_joint_has_its_own_least_margin_and_lightly_loaded_feet_count_where_asked():
    world = World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    watch = MarginWatch(sim, robot, stands=0.1)
    assert watch.of_joints("torque") == {}
    sim.run(0.1)
    told = {one.name: one for one in watch.margins()}
    for kind in ("torque", "speed", "travel"):
        found = watch.of_joints(kind)
        assert set(found) == set(robot.joint_names)
        assert min(found.values()) == told[kind].margin
        assert found[told[kind].where] == told[kind].margin
    # half of the weight on each foot, at the middle of soles of 240 x 138 mm
    assert 0.03 < told["pressure"].margin < 0.069
