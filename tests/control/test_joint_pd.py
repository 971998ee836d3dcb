"""PD by torque against closed forms: its law, what a pendulum sags by, and where it is unstable."""

from math import cos

import numpy as np
import pytest
from bipeds import biped
from tests.step.forces.test_motors import G, arm

import tabi
from tabi.control import pd
from tabi.model.joint import Motor

INERTIA = 0.01 + 2.0 * 0.5**2


def test_the_torque_is_the_law_and_the_motors_loops_are_off():
    robot = biped()
    rng = np.random.default_rng(3)
    kp, kd, goal, q, v = rng.uniform(1, 100, (5, 10))
    command = pd(robot, goal, kp, kd)(0.0, tabi.Measurement(q, v, np.zeros(10)))
    assert command.effort.tolist() == (kp * (goal - q) - kd * v).tolist()
    assert not command.kp.any()
    assert not command.kd.any()
    assert command.position is None


def test_joints_that_a_pose_does_not_name_are_left_alone():
    robot = biped()
    robot.joint("r_knee").motor = Motor(kp=30.0, kd=4.0)
    seen = tabi.Measurement(np.full(10, 0.5), np.full(10, 2.0), np.zeros(10))
    command = pd(robot, {"r_knee": 1.0})(0.0, seen)
    assert dict(command.effort) == {"r_knee": 30.0 * 0.5 - 4.0 * 2.0}
    assert dict(command.kp) == dict(command.kd) == {"r_knee": 0.0}


def test_a_pendulum_sags_until_the_spring_bears_it():
    world, robot = arm(motor=Motor(kp=999.0, kd=99.0))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, pd(robot, {"pivot": 0.3}, kp=100.0, kd=20.0))
    # slowest: kd/kp = 0.2 s
    sim.run(6.0)
    rest = 0.3
    for _ in range(60):
        rest = 0.3 + 2.0 * G * 0.5 * cos(rest) / 100.0
    assert sim.state.q[0] == pytest.approx(rest, abs=1e-10)
    assert sim.state.q[0] - 0.3 == pytest.approx(2.0 * G * 0.5 * cos(rest) / 100.0, abs=1e-10)


@pytest.mark.parametrize(("share", "stable"), [(0.9, True), (1.1, False)])
def test_damping_from_the_past_is_stable_up_to_twice_the_inertia_over_the_period(share, stable):
    world, robot = arm(gravity=False)
    sim = tabi.Simulator(world)
    sim.set_state([0.0], [1.0])
    # the velocity is multiplied by 1 − kd T/I in each period
    kd = share * 2.0 * INERTIA / 0.01
    sim.set_controller(robot, pd(robot, {"pivot": 0.0}, 0.0, kd), rate=100.0)
    sim.run(0.5)
    assert sim.state.v[0] == pytest.approx((1.0 - 2.0 * share) ** 50, rel=1e-9)
    assert bool(abs(sim.state.v[0]) < 1.0) == stable


def test_gains_below_zero_are_refused():
    with pytest.raises(tabi.ModelError, match="kd of biped is -1 for joint 'l_hip'"):
        pd(biped(), {"l_hip": 0.0}, 1.0, -1.0)
