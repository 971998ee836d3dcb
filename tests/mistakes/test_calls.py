"""Mistakes in calls of the Python API: types, order, units, and what cannot be assigned."""

import warnings

import numpy as np
import pytest
from mistakes.making import ARM, biped_text, cases, faults, quiet_load, standing, written

import tabi
from tabi.step.commands.target_ranges import TargetRanges


def simulated(action):
    """Of a simulator with a standing biped."""

    def mistake(folder):
        world, robot = standing(folder)
        return action(tabi.Simulator(world), robot)

    return mistake


def assigned(name, value=1.0):
    return simulated(lambda sim, robot: setattr(sim, name, value))


def written_at(name):
    return simulated(lambda sim, robot: getattr(sim, name).__setitem__(0, 1.0))


def late_body(use):
    """A box that comes after the simulator."""

    def mistake(folder):
        world, _ = standing(folder)
        sim = tabi.Simulator(world)
        return use(sim, world.add_box((0.1, 0.1, 0.1), 1.0, position=(5.0, 0.0, 1.0)))

    return mistake


def late_robot(use):
    """A second biped that comes after the simulator."""

    def mistake(folder):
        world, robot = standing(folder)
        sim = tabi.Simulator(world)
        return use(sim, world.add_robot(robot, name="twin"))

    return mistake


def soled(**told):
    return lambda folder: tabi.robots.hrp2().add_soles(**told)


TRUTH = "sim.set_controller(robot, controller, truth=True), sim.measure(robot, truth=True)"
STATE = "sim.set_state(q, v), a joint or robot by sim.set_joint(thing, position)"
LATE = "make the simulator when all is added, sim = tabi.Simulator(world)"

MISTAKES = {
    # ---- what is not measured -------------------------------------------------------------
    "the base without the truth": (
        simulated(lambda sim, robot: sim.measure(robot).truth.base),
        AttributeError,
        "no sensor of the robot measures 'base'",
        TRUTH,
    ),
    "the velocity of the base without the truth": (
        simulated(lambda sim, robot: sim.measure(robot).base_velocity),
        AttributeError,
        "no sensor of the robot measures 'base_velocity'",
        TRUTH,
    ),
    # ---- units of soles -------------------------------------------------------------------
    "a sole in millimetres": (
        soled(thickness=20),
        "thickness of a layer is 20 m; expected at most 1 m",
        "did you mean millimetres, 0.02 m?",
    ),
    "a stiffness in megapascals": (
        soled(young_modulus=2),
        "young modulus of a layer is 2 Pa, softer than any gel",
        "did you mean MPa, 2e+06 Pa?",
    ),
    "a layer in millimetres": (
        lambda folder: tabi.soles.make_sole(
            [(0, 0), (0.2, 0), (0.2, 0.1), (0, 0.1)], tabi.soles.Layer(20, 2e6, 0.4)
        ),
        "did you mean millimetres, 0.02 m?",
    ),
    "elements of a millimetre": (
        soled(element_size=0.003),
        "nodes on the ground, whose stiffness would take minutes and gigabytes",
        "choose 0.006 m or more",
    ),
    # ---- types ----------------------------------------------------------------------------
    "a friction with quotes": (
        lambda folder: tabi.World().add_ground(friction="0.8"),
        "friction of material 'ground' is '0.8'; expected a number, 0.8 without quotes",
    ),
    "a duration with quotes": (
        simulated(lambda sim, robot: sim.run("2")),
        "duration is '2'; expected a number, 2 without quotes",
    ),
    "a number of steps": (
        simulated(lambda sim, robot: sim.step(10)),
        "sim.step advances by one step and was given 10",
        "take sim.run(seconds), or a loop over sim.step()",
    ),
    "a pose by name in a command": (
        lambda folder: tabi.Command(position="zero"),
        "a value of a command is 'zero'; expected numbers",
        "robot.half_sitting or robot.poses[…]",
    ),
    # ---- names ----------------------------------------------------------------------------
    "a keyword of load": (
        lambda folder: tabi.load(written(folder, ARM), feets={}),
        "tabi.load has no keyword 'feets'; did you mean 'feet'?",
    ),
    "a keyword of load like no other": (
        lambda folder: tabi.load(written(folder, ARM), colour="red"),
        "tabi.load has no keyword 'colour'; expected some of path, feet, base",
    ),
    "a part of the names of two joints": (
        lambda folder: tabi.robots.hrp2().joint("knee"),
        "joint 'knee' not found in hrp2; joints near that name: 'RLEG_KNEE_P', 'LLEG_KNEE_P'",
    ),
    "a built-in robot as a file": (
        lambda folder: tabi.World().add_robot("hrp2"),
        "robot 'hrp2' is no file; the robot hrp2 is built in: tabi.robots.hrp2()",
    ),
    "a built-in robot loaded": (
        lambda folder: tabi.load("HRP2"),
        "tabi.robots.hrp2()",
    ),
    "a robot by a wrong name": (
        simulated(lambda sim, robot: sim.fallen("bipde")),
        "robot 'bipde' not found in the world; robots near that name: 'biped'",
    ),
    "a foot of what has none": (
        lambda folder: quiet_load(folder, ARM).feet["left"],
        KeyError,
        "foot 'left' not found in this robot; this robot has no feet",
        'tabi.load(path, feet={"left": "L_FOOT", "right": "R_FOOT"})',
    ),
    "a sensor of what has none": (
        lambda folder: quiet_load(folder, ARM).sensors["imu"],
        KeyError,
        "this robot has no sensors: robot.add_sensor(…) adds one",
    ),
    # ---- what cannot be assigned ----------------------------------------------------------
    "a number of the configuration": (written_at("q"), "sim.q and sim.v are copies", STATE),
    "a number of the velocity": (written_at("v"), "sim.q and sim.v are copies", STATE),
    "the configuration": (assigned("q"), "sim.q cannot be assigned", STATE),
    "the state": (assigned("state"), "sim.state cannot be assigned", STATE),
    "the time": (assigned("time"), "sim.time cannot be assigned; sim.reset() starts again"),
    "the step": (assigned("dt"), "sim.dt cannot be assigned", "tabi.Simulator(world, dt=…)"),
    "a controller": (
        assigned("controller", print),
        "sim.controller cannot be assigned; sim.set_controller(robot, controller)",
    ),
    "the world": (assigned("world"), "sim.world cannot be assigned"),
    "a misspelt attribute": (
        assigned("contcts"),
        "sim.contcts cannot be assigned; did you mean 'contacts'?",
    ),
    # ---- order of calls -------------------------------------------------------------------
    "a body that came later": (
        late_body(lambda sim, box: sim.position(box)),
        "'box' was added to the world after this simulator was made",
        LATE,
    ),
    "the name of a body that came later": (
        late_body(lambda sim, box: sim.position("box")),
        "'box' was added to the world after this simulator was made",
        LATE,
    ),
    "a push on a body that came later": (
        late_body(lambda sim, box: sim.apply_force(box, (1, 0, 0), duration=1.0)),
        "'box' was added to the world after this simulator was made",
        LATE,
    ),
    "a step after a body came": (
        late_body(lambda sim, box: sim.step()),
        tabi.LateChangeWarning,
        "something was added to the world, or taken away, after this simulator was made",
        LATE,
    ),
    "a controller of a robot that came later": (
        late_robot(lambda sim, twin: sim.set_controller(twin, tabi.control.hold({}))),
        "'twin' was added to the world after this simulator was made",
        LATE,
    ),
    "a body of a robot that came later": (
        late_robot(lambda sim, twin: sim.position(twin.body("left_foot"))),
        "'twin' was added to the world after this simulator was made",
        LATE,
    ),
    "a push without a duration": (
        simulated(lambda sim, robot: [sim.apply_force("trunk", (40, 0, 0)), sim.run(0.01)]),
        tabi.BriefPushWarning,
        "the force on 'trunk' was given no duration, so it lasts one step of 0.001 s",
        "sim.apply_force(body, force, duration=0.1)",
    ),
}


@cases(MISTAKES)
def test_a_mistake_in_a_call_is_one_sentence(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path) == []


def test_hasattr_get_and_in_answer_without_an_error(tmp_path):
    world, robot = standing(tmp_path)
    seen = tabi.Simulator(world).measure(robot)
    assert not hasattr(seen, "forces")
    assert not hasattr(seen.truth, "base")
    assert not seen.truth
    assert seen.sensors.get("imu") is None
    assert "imu" not in seen.sensors
    assert robot.feet.get("third") is None
    assert "third" not in robot.feet
    copied = robot.copied()
    with pytest.raises(KeyError, match="foot 'third' not found"):
        copied.feet["third"]


def test_what_is_computed_from_the_state_is_a_plain_array_that_can_be_written(tmp_path):
    sim = tabi.Simulator(standing(tmp_path)[0])
    q = sim.q
    for made in (q + 1.0, np.array(q), q * q, np.concatenate([q, q])):
        assert type(made) is np.ndarray
        made[0] = 5.0
    copy = q.copy()
    copy[0] = 5.0
    sim.set_state(copy)
    assert sim.q[0] == 5.0
    assert repr(q).startswith("array(")
    assert isinstance(q.sum(), float)


def test_robots_are_named_in_place_of_given(tmp_path):
    world, robot = standing(tmp_path)
    sim = tabi.Simulator(world)
    assert sim.fallen("biped", 0.1) is sim.fallen(robot, 0.1) is False
    assert (sim.measure("biped").position == sim.measure(robot).position).all()
    sim.set_controller("biped", tabi.control.hold({}))
    assert list(sim.drivers) == ["biped"]


# ---- targets beyond a range ---------------------------------------------------------------


def commanded(position, folder, steps=1, **told):
    """Warnings of steps with a command, and the simulator."""
    world, robot = standing(folder)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, lambda time, seen: tabi.Command(position=position), **told)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(steps):
            sim.step()
    return [str(w.message) for w in found if w.category is tabi.TargetRangeWarning], sim


@pytest.mark.parametrize("position", [{"left_knee": 2.5}, np.array([0, 2.5, 0, 0, 0, 0.0])])
def test_a_target_beyond_its_range_is_reported_once_for_its_joint(position, tmp_path):
    said, _ = commanded(position, tmp_path, steps=3)
    assert len(said) == 1
    assert "'left_knee' is 2.5 rad (range -2 to 2)" in said[0]
    assert "clip=True" in said[0]
    assert "degrees" not in said[0]


def test_degrees_are_asked_about(tmp_path):
    said, _ = commanded({"left_knee": 90.0, "left_hip": -45.0}, tmp_path)
    assert len(said) == 1
    assert "are they degrees?" in said[0]
    assert "'left_hip' is -45" in said[0]


@pytest.mark.parametrize("over", [None, 0.1])
@pytest.mark.parametrize("position", [{"left_knee": 2.5}, np.array([0, 2.5, 0, 0, 0, 0.0])])
def test_targets_are_clipped_to_the_range_where_asked(position, over, tmp_path):
    world, robot = standing(tmp_path)
    sim = tabi.Simulator(world)
    command = tabi.Command(position=position, over=over)
    sim.set_controller(robot, lambda time, seen: command, clip=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tabi.TargetRangeWarning)
        sim.step()
    row = sim.data.command.motor[sim.model.v_index("left_knee")]
    assert row["position" if over is None else "target"] == 2.0


def test_targets_of_a_kernel_are_looked_at_once(tmp_path):
    world, robot = standing(tmp_path)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({}))
    driver = sim.drivers["biped"]
    motor = sim.data.command.motor.copy()
    motor["target"][sim.model.v_index("left_knee")] = 2.5
    driver.check_targets(motor, 0.0)
    driver.compiled = True
    with pytest.warns(tabi.TargetRangeWarning, match="'left_knee' is 2.5 rad"):
        driver.check_targets(motor, 0.0)


def test_targets_on_the_edge_of_a_range_or_without_one_are_fine(tmp_path):
    robot = quiet_load(tmp_path, biped_text())
    names = ("left_hip", "left_knee")
    ranges = TargetRanges(robot, names, np.array([-1.0, -np.inf]), np.array([1.0, np.inf]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ranges.apply(np.array([1.0 + 1e-6, 100.0]), 0.0)[1] == 100.0
