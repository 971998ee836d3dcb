"""A run goes on from a saved moment to the last bit, whatever its controller is made of."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.analysis.motion_variation import LateCommands
from tabi.control import (
    Estimator,
    attend,
    compliance,
    gaze,
    grip,
    hold,
    playback,
    sequence,
    together,
    torque,
)


def moving(time, measurement):
    return 2.0, np.sin(9.0 * time), 1.0


def pose(robot):
    return hold(robot.half_sitting)


def gripping(robot):
    # a wrist in place of a jaw
    return grip(robot, {"RARM_WRIST_P": 1.0}, motion=gaze(robot, "head", moving))


def played(robot):
    goal = np.array([robot.half_sitting.get(name, 0.0) for name in robot.joint_names])
    return playback(robot, ([0.0, 0.05, 0.1], [goal, goal + 0.05, goal]), blend=0.03)


CONTROLLERS = {
    "gaze": lambda robot: together(robot, pose(robot), gaze(robot, "head", moving)),
    "compliance": lambda robot: together(
        robot, pose(robot), compliance(robot, "right_hand", 4.0, 20.0, rate=200.0)
    ),
    "attend": lambda robot: together(
        robot, pose(robot), attend(robot, "head", lambda t: moving(t, None))
    ),
    "computed torque": lambda robot: torque(
        robot, robot.half_sitting, 2000.0, 100.0, contacts="measured"
    ),
    "sequence": lambda robot: sequence(
        robot, [(0.04, pose(robot)), (0.05, CONTROLLERS["gaze"](robot)), (None, pose(robot))]
    ),
    "playback": played,
    "late": lambda robot: LateCommands(CONTROLLERS["gaze"](robot), 2, 0.005, 1e-3),
    "grip": lambda robot: together(robot, pose(robot), gripping(robot)),
    "estimator": lambda robot: together(
        robot, pose(robot), gaze(robot, "head", moving, base=Estimator(robot))
    ),
}


@pytest.mark.parametrize("name", CONTROLLERS)
def test_it_goes_on_to_the_last_bit(name):
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, CONTROLLERS[name](robot), rate=500.0)
    sim.apply_force("right_hand", (0.0, 8.0, -20.0), duration=1.0)
    sim.run(0.045)
    saved = sim.save()
    sim.run(0.06)
    first = sim.state
    sim.restore(saved)
    sim.run(0.06)
    assert np.array_equal(sim.state.q, first.q)
    assert np.array_equal(sim.state.v, first.v)
    # the controller moves it, or nothing was compared
    assert np.abs(sim.state.v).max() > 1e-4
