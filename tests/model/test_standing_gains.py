"""Gains that do not hold a robot on its feet are found from its masses and motors alone."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from mistakes.making import biped_text, quiet_load

import tabi
from tabi.model import standing_gains


def biped(folder, kp):
    robot = quiet_load(folder, biped_text(), gains=(kp, 0.1 * kp))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot.stand_on_ground({})
    return robot


def fell(robot):
    """Whether a robot is down after two seconds, held by its own gains."""
    world = tabi.World()
    world.add_ground()
    mine = world.add_robot(robot)
    sim = tabi.Simulator(world)
    # a nudge, as a pendulum may stand on its tip
    sim.apply_force(mine.base, (2.0, 0.0, 0.0), duration=0.1)
    sim.run(2.0)
    return sim.fallen(mine, 0.7 * float(robot.base.joint.position[2]))


@pytest.mark.parametrize(("kp", "soft"), [(8.0, True), (400.0, False)])
def test_a_robot_is_too_soft_where_it_falls_over(tmp_path, kp, soft):
    robot = biped(tmp_path, kp)
    assert ("too soft" in standing_gains.fault(robot)) is soft
    assert fell(robot) is soft


def test_a_single_joint_topples_where_its_stiffness_is_below_weight_times_height(tmp_path):
    robot = biped(tmp_path, 1e9)
    for side in ("left", "right"):
        joint = robot.joint(f"{side}_ankle")
        joint.motor = replace(joint.motor, kp=100.0)
    X = robot.placements()
    centre = sum(b.inertia.mass * (X[b] @ b.inertia.centre) for b in robot.bodies) / robot.mass
    above = centre[2] - X[robot.body("left_foot")].p[2]
    expected = 0.5 * robot.mass * 9.80665 * above / 100.0
    found = standing_gains.standing_load(robot).toppling
    assert found == pytest.approx(expected, rel=2e-3)  # gravity of tabi, and the stiff joints


def test_a_motor_below_the_torque_of_its_weight_is_named(tmp_path):
    robot = biped(tmp_path, 400.0)
    robot.stand_on_ground({"left_hip": -0.4, "left_knee": 0.8, "left_ankle": -0.4})
    robot.joint("left_knee").effort_limit = 0.1
    assert "joint 'left_knee' needs" in standing_gains.fault(robot)


def test_putting_a_soft_robot_on_the_ground_warns_and_built_in_ones_do_not(tmp_path):
    robot = biped(tmp_path, 8.0)
    with pytest.warns(tabi.SoftGainsWarning, match=r"biped does not hold its pose .*set_gains"):
        robot.stand_on_ground({})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in tabi.robots.__all__:
            own = getattr(tabi.robots, name)()
            own.stand_on_ground()
            assert standing_gains.fault(own) == "", name


def test_robots_without_feet_or_gains_are_not_judged(tmp_path):
    robot = biped(tmp_path, 8.0)
    robot.feet.clear()
    assert standing_gains.fault(robot) == ""
    assert standing_gains.fault(quiet_load(tmp_path, biped_text(), gains=False)) == ""
    assert np.isfinite(standing_gains.standing_load(biped(tmp_path, 8.0)).toppling)
