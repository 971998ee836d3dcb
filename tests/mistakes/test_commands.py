"""Mistakes of controllers and their commands."""

from math import nan

import numpy as np
from mistakes.making import biped_text, cases, faults, quiet_load, standing

import tabi
from tabi._errors import SimulationError


def driven(controller, rate=None):
    """One step of the biped under a controller."""

    def mistake(folder):
        world, robot = standing(folder)
        sim = tabi.Simulator(world)
        sim.set_controller(robot, controller, rate)
        sim.step()

    return mistake


def commanded(**told):
    return driven(lambda time, seen: tabi.Command(**told))


def limp(folder):
    """A pose for motors that have no gains."""
    world = tabi.World()
    robot = world.add_robot(quiet_load(folder, biped_text(), gains=False))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({"left_knee": 0.5}))
    sim.step()


def raises(time, seen):
    return 1 / 0


def steps_inside(folder):
    world, robot = standing(folder)
    sim = tabi.Simulator(world)

    def controller(time, seen):
        sim.step()
        return tabi.Command()

    sim.set_controller(robot, controller)
    sim.step()


def reads_the_truth(folder):
    world, robot = standing(folder)
    sim = tabi.Simulator(world)
    return sim.measure(robot).forces["left"]


MISTAKES = {
    "None": (
        driven(lambda time, seen: None),
        "controller of biped returned nothing at 0 s",
        "expected a tabi.Command, for example tabi.Command(position={joint: angle})",
    ),
    "an array": (
        driven(lambda time, seen: np.zeros(6)),
        "controller of biped returned a ndarray at 0 s",
        "expected a tabi.Command, for example tabi.Command(position={joint: angle})",
    ),
    "a dictionary": (
        driven(lambda time, seen: {"left_knee": 0.1}),
        "controller of biped returned a dict at 0 s",
        "expected a tabi.Command, for example tabi.Command(position={joint: angle})",
    ),
    "too few positions": (
        commanded(position=[0.0, 0.0]),
        "position in the command of biped at 0 s has shape (2,)",
        "expected (6,), one number per joint in the order of robot.joint_names",
    ),
    "a position that is NaN": (
        commanded(position={"left_knee": nan}),
        "position in the command of biped at 0 s is nan for joint 'left_knee'",
        "expected a finite number",
    ),
    "an array with NaN": (
        commanded(position=np.array([0, 0, 0, nan, 0, 0.0])),
        "position in the command of biped at 0 s is nan for joint 'right_hip'",
        "expected a finite number",
    ),
    "an effort that is infinite": (
        commanded(effort=np.inf),
        "effort in the command of biped at 0 s is inf for joint 'left_hip'",
        "expected a finite number",
    ),
    "an unknown joint": (
        commanded(position={"left_nee": 0.1}),
        "joint 'left_nee' not found in position in the command of biped at 0 s",
        "joints near that name: 'left_knee', 'left_ankle', 'left_hip'",
    ),
    "a position that is a word": (
        commanded(position={"left_knee": "bent"}),
        "position of joint 'left_knee' in the command of biped at 0 s is 'bent'",
        "expected a number",
    ),
    "negative gains": (
        commanded(kp=-5.0),
        "kp in the command of biped at 0 s is -5 for joint 'left_hip'",
        "expected gains ≥ 0",
    ),
    "an exception": (
        driven(raises),
        SimulationError,
        "controller of biped raised ZeroDivisionError at 0 s: division by zero",
        "the run stops there",
    ),
    "arguments that are not there": (
        driven(lambda: tabi.Command()),
        SimulationError,
        "controller of biped raised TypeError at 0 s: <lambda>() takes 0 positional",
        "the run stops there",
    ),
    "no function": (
        driven("hold"),
        "controller of biped is 'hold'",
        "expected a function (time, measurement) → command",
    ),
    "an odd rate": (
        driven(lambda time, seen: tabi.Command(), 300.0),
        "rate of the controller of biped is 300 Hz",
        "expected one that divides 1000 Hz, the rate of the steps",
    ),
    "a negative rate": (
        driven(lambda time, seen: tabi.Command(), -100.0),
        "rate of the controller of biped is -100 Hz",
        "expected one that divides 1000 Hz, the rate of the steps",
    ),
    "a pose without gains": (
        limp,
        "no motor of biped has gains, so it can hold no pose",
        "load its file with gains=True, give kp and kd in the command, or command efforts",
    ),
    "a step inside of a controller": (
        steps_inside,
        SimulationError,
        "a step was asked for within a step, by a controller or callback of this simulator",
        "let it return, or simulate ahead in a simulator of its own",
    ),
    "forces that are asked for too late": (
        reads_the_truth,
        "no sensor of the robot measures 'forces', so a measurement has none",
        "sim.measure(robot, truth=True)",
    ),
    "key frames that go back": (
        lambda folder: tabi.control.keyframes([(1.0, {}), (0.5, {})]),
        "key frames are at [1.0, 0.5] s",
        "expected two or more, at growing times",
    ),
    "gains of the wrong number": (
        lambda folder: tabi.Simulator(standing(folder)[0]).set_gains([1.0], [1.0]),
        "kp has shape (1,)",
        "expected (12,), see model.joint_names and model.q_index(name)",
    ),
    "negative gains of the simulator": (
        lambda folder: (sim := tabi.Simulator(standing(folder)[0])).set_gains(
            -np.ones(sim.model.v_count), np.ones(sim.model.v_count)
        ),
        "kp is -1 somewhere",
        "expected gains ≥ 0",
    ),
}


@cases(MISTAKES)
def test_a_mistake_of_a_controller_is_one_sentence(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path) == []
