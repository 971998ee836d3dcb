"""Grippers that close until they press with an effort (``tabi.control.gripping``)."""

import numpy as np
import pytest
from tests.step.forces.test_motor_lines import twin
from tests.step.forces.test_motors import arm

import tabi
from tabi._errors import ModelError
from tabi.control import grip, hold
from tabi.model.controllers.signals import Measurement
from tabi.model.joint import Motor
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist


def seen(efforts):
    """A measurement of joints with efforts."""
    n = len(efforts)
    return Measurement(
        np.zeros(n), np.zeros(n), np.array(efforts), Transform(), Twist(np.zeros(3), np.zeros(3))
    )


@pytest.mark.parametrize("effort", [3.0, -3.0])
def test_a_free_jaw_closes_with_the_speed_and_a_stopped_one_presses_with_the_effort(effort):
    ends = {"upper": 0.8} if effort > 0 else {"lower": -0.8}
    world, robot = arm(gravity=False, motor=Motor(kp=500.0, kd=30.0, torque_limit=5.0), **ends)
    sim = tabi.Simulator(world)
    closing = grip(robot, {"pivot": effort}, speed=0.6)
    sim.set_controller(robot, closing)
    # the time constant is inertia · speed/effort = 0.1 s
    sim.run(1.0)
    assert sim.state.v[0] == pytest.approx(np.sign(effort) * 0.6, rel=1e-3)
    assert not closing.holds(sim.measure(robot))
    sim.run(1.5)
    assert abs(sim.state.q[0]) == pytest.approx(0.8, abs=1e-9)
    assert sim.measure(robot).effort[0] == pytest.approx(effort, rel=1e-12)
    assert closing.holds(sim.measure(robot))


def test_the_jaws_part_stands_beside_what_the_motion_says():
    _, robot = twin()
    for told in (
        tabi.Command(position={"first_guide": 1.0}, kp={"first_guide": 9.0}),
        tabi.Command(position=[1.0, 2.0], velocity=0.3, kp=[9.0, 7.0], effort=np.zeros(2)),
    ):
        both = grip(robot, {"second_guide": 4.0}, 2.0, lambda t, m, told=told: told)
        command = both(0.0, seen([0.0, 0.0]))
        by_name = isinstance(command.kp, dict) or hasattr(command.kp, "keys")
        first, second = ("first_guide", "second_guide") if by_name else (0, 1)
        assert command.kp[first] == 9.0
        assert (command.kp[second], command.kd["second_guide"]) == (0.0, 2.0)
        assert command.effort[second] == 4.0
        # the same command again is the same object
        assert both(0.1, seen([0.0, 0.0])) is command


def test_holding_is_told_by_the_measured_effort():
    _, robot = twin()
    both = grip(robot, {"first_guide": -2.0, "second_guide": 3.0}, motion=hold({}))
    assert both.holds(seen([-1.95, 2.9]))
    assert not both.holds(seen([-1.95, 1.0]))
    assert not both.holds(seen([1.95, 2.9]))


@pytest.mark.parametrize(
    ("efforts", "speed", "words"),
    [
        ({"third": 1.0}, 0.5, "joint 'third' not found in twin"),
        ({"first_guide": 0.0}, 0.5, "effort of gripper 'first_guide' is 0.0"),
        ({"first_guide": float("nan")}, 0.5, "effort of gripper 'first_guide' is nan"),
        ({"first_guide": 1.0}, 0.0, "closes with 0.0 rad/s; expected a positive number"),
    ],
)
def test_grips_that_cannot_be_are_refused(efforts, speed, words):
    _, robot = twin()
    with pytest.raises(ModelError, match=words):
        grip(robot, efforts, speed)


def test_a_gripper_opens_and_shuts_as_it_is_told_beside_a_motion():
    _, robot = arm(gravity=False, motor=Motor(kp=500.0, kd=30.0, torque_limit=5.0), upper=0.8)
    wanted = [False]
    for motion in (None, hold({})):
        jaw = grip(robot, {"pivot": 3.0}, 0.6, motion, when=lambda: wanted[0])
        for shut, effort in ((False, -3.0), (True, 3.0), (True, 3.0), (False, -3.0)):
            wanted[0] = shut
            told = jaw(0.0, seen([0.0]))
            assert told.effort["pivot"] == effort
            assert told.kd["pivot"] == 5.0
