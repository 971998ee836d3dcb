"""Sixty more mistakes with worlds, robots, simulators, controllers and the command line."""

import sys
from math import inf, nan

import numpy as np
import pytest
from mistakes.making import ARM, biped_text, cases, faults, quiet_load, standing, written

import tabi
from tabi.apps import cli


def world(action):
    return lambda folder: action(tabi.World())


def biped(action):
    return lambda folder: action(quiet_load(folder, biped_text()))


def arm(action):
    return lambda folder: action(quiet_load(folder, ARM))


def simulated(action):
    def mistake(folder):
        made, robot = standing(folder)
        return action(tabi.Simulator(made), robot)

    return mistake


def loaded(**told):
    return lambda folder: tabi.load(written(folder, ARM), **told)


POSE = "expected {joint: position}, for example robot.half_sitting or robot.poses[…]"

MISTAKES = {
    # ---- worlds ---------------------------------------------------------------------------
    "gravity as one number": (
        lambda folder: tabi.World(gravity=9.81),
        "gravity is 9.81; expected three finite numbers in m/s²",
    ),
    "gravity in millimetres": (
        lambda folder: tabi.World(gravity=(0, 0, -9810)),
        "gravity is 9810 m/s²; expected at most 1000, on Earth (0, 0, -9.81)",
    ),
    "gravity set later": (
        world(lambda w: setattr(w, "gravity", "down")),
        "gravity is 'down'; expected three finite numbers",
    ),
    "a misspelt attribute of a world": (
        world(lambda w: setattr(w, "gravty", (0, 0, 0))),
        "world.gravty cannot be assigned; did you mean 'gravity'?",
    ),
    "a method that a world does not have": (
        world(lambda w: w.add_spere(0.1, 1.0)),
        AttributeError,
        "a World has no 'add_spere'; did you mean add_sphere",
    ),
    "a height with quotes": (
        world(lambda w: w.add_ground(height="0")),
        "height of the ground is '0'; expected a number, 0 without quotes",
    ),
    "no friction": (
        world(lambda w: w.add_ground(friction=None)),
        "friction of material 'ground' is None; expected a number",
    ),
    "friction of each axis": (
        world(lambda w: w.add_ground(friction=[0.8, 0.8])),
        "friction of material 'ground' is [0.8, 0.8]; expected a number",
    ),
    "a box in millimetres": (
        world(lambda w: w.add_box((300, 200, 100), 1.0)),
        "'box' is 300 m large; expected at most 100 m",
        "did you mean millimetres, 0.3 m?",
    ),
    "a box of a text": (
        world(lambda w: w.add_box("0.3", 1.0)),
        "expected three edges x, y, z in metres",
    ),
    "a mass that is infinite": (
        world(lambda w: w.add_box((1, 1, 1), inf)),
        "object 'box' has mass inf kg; expected a positive number",
    ),
    "a sphere of negative radius": (
        world(lambda w: w.add_sphere(-1.0, 1.0)),
        "sphere has radius -1; expected a positive length in metres",
    ),
    "an ellipsoid of one radius": (
        world(lambda w: w.add_ellipsoid(1.0, 1.0)),
        "expected three half axes x, y, z in metres",
    ),
    "a matrix for a quaternion": (
        world(lambda w: w.add_box((1, 1, 1), 1.0, quaternion=np.eye(3))),
        "quaternion of 'box' is array([[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]])",
        "expected w, x, y, z of a rotation",
    ),
    "a misspelt position": (
        world(lambda w: w.add_box((1, 1, 1), 1.0, positon=(0, 0, 1))),
        "surfaces have no 'positon'; did you mean 'position'?",
    ),
    "a number for a name": (
        world(lambda w: w.add_box((1, 1, 1), 1.0, name=3)),
        "the name of a robot or object is 3; expected a text",
    ),
    "stairs without end": (
        world(lambda w: w.add_stairs(10**7, 0.1, 0.1, 0.1)),
        "stairs have 10000000 steps; expected a whole number ≥ 1, at most 1000",
    ),
    "heights in a row": (
        world(lambda w: w.add_height_field([1.0, 2.0], (1, 1))),
        "height field has heights of shape (2,); expected a grid (ny, nx)",
    ),
    "a shape by its name": (
        world(lambda w: w.add_fixed("box")),
        "shape of 'fixed1' is 'box'",
        "for example tabi.Box((0.3, 0.2, 0.1))",
    ),
    "a shape that is a class": (
        world(lambda w: w.add_fixed(tabi.Box)),
        "expected one with its size in metres, for example tabi.Box((0.3, 0.2, 0.1))",
    ),
    "a mass for an inertia": (
        world(lambda w: w.add_object(tabi.Box((1, 1, 1)), 1.0)),
        "inertia of 'object' is 1.0; expected a tabi.Inertia",
    ),
    "a belt that is fast": (
        world(lambda w: w.add_fixed(tabi.Box((1, 1, 1)), surface_velocity="fast")),
        "surface_velocity of 'fixed1' is 'fast'; expected three finite numbers in m/s",
    ),
    "a plate of one length": (
        world(lambda w: w.add_force_plate(size=(0.6,))),
        "size of force plate 'plate' is (0.6,); expected its length and width in metres",
    ),
    "a plate in millimetres": (
        world(lambda w: w.add_force_plate(size=(600, 400))),
        "did you mean millimetres, 0.6 m?",
    ),
    "a robot that is not called": (
        world(lambda w: w.add_robot(tabi.robots.hrp2)),
        "a robot was given as hrp2, which is not called: hrp2()",
    ),
    # ---- robots ---------------------------------------------------------------------------
    "a robot of a scene file": (
        lambda folder: tabi.load(written(folder, "title: x", "s.yaml")),
        "s.yaml: is no robot: it has neither the key format nor modelFile of Choreonoid; expected",
    ),
    "a base that is free": (loaded(base="free"), "base is 'free'; expected 'floating' or 'fixed'"),
    "feet in a list": (loaded(feet=["lower"]), "feet are ['lower']; expected {"),
    "a link for a body of a foot": (
        loaded(feet={"left": {"link": "lower"}}),
        "foot 'left' has the key 'link'; expected keys among body, polygon",
    ),
    "gains as one number": (loaded(gains=100), "gains are 100; expected True, False, (kp, kd)"),
    "self-collision in words": (
        loaded(self_collision="yes"),
        "self_collision is 'yes'; expected True, False, or None",
    ),
    "a list of joints": (
        arm(lambda r: r.joint(["elbow"])),
        "joint ['elbow'] not found in arm; joints near that name: 'elbow'",
    ),
    "a pose as an array": (
        arm(lambda r: r.set_pose(np.zeros(2))),
        "pose of arm is array([0., 0.]); expected a name, or {joint: position [rad or m]}",
    ),
    "a pose in degrees": (
        arm(lambda r: r.set_pose({"elbow": 90})),
        "position of joint 'elbow' is 90 rad, beyond its range from -1.5 to 1.5",
        "is it in degrees?",
    ),
    "a place in words": (
        biped(lambda r: r.place("here")),
        "position of 'biped' is 'here'; expected x, y, z in metres",
    ),
    "a sole in millimetres": (
        biped(lambda r: r.add_foot("third", "trunk", [(0, 0), (200, 0), (200, 100)])),
        "foot 'third' has a sole 200 m long; expected metres",
    ),
    "a sensor that tabi has not": (
        biped(lambda r: r.add_sensor("a", "lidar", "trunk")),
        "sensor 'a' is of kind 'lidar'; expected one of accelerometer, camera",
    ),
    "misspelt noise": (
        biped(lambda r: r.add_sensor("a", "imu", "trunk", noize=1)),
        "sensor 'a' was given 'noize'",
        "did you mean 'noise'?",
    ),
    "a misspelt thickness": (
        biped(lambda r: r.add_soles(thicknes=0.02)),
        "soft soles and pads have no 'thicknes'; did you mean 'thickness'?",
    ),
    "the sole of a foot that is not there": (
        biped(lambda r: r.add_soles(feet="lft")),
        "foot 'lft' not found in biped; feet near that name: 'left'",
    ),
    "a misspelt pose": (
        biped(lambda r: r.half_siting),
        AttributeError,
        "a Robot has no 'half_siting'; did you mean half_sitting",
    ),
    # ---- simulators -----------------------------------------------------------------------
    "a scene for a world": (
        lambda folder: tabi.Simulator("scene.yaml"),
        "world is 'scene.yaml'; expected a tabi.World",
    ),
    "a seed that is a word": (
        lambda folder: tabi.Simulator(standing(folder)[0], seed="a"),
        "seed is 'a'; expected a whole number",
    ),
    "one force that is a number": (
        lambda folder: tabi.Simulator(standing(folder)[0], forces=3),
        "forces are 3; expected a list of parts of your own",
    ),
    "a joint in degrees": (
        simulated(lambda sim, robot: sim.set_joint("left_knee", 90)),
        "position of joint 'left_knee' is 90 rad, beyond its range from -2 to 2",
        "is it in degrees?",
    ),
    "a state as a column": (
        simulated(lambda sim, robot: sim.set_state(np.zeros((13, 1)))),
        "q has shape (13, 1); expected (13,)",
    ),
    "a push on a robot": (
        simulated(lambda sim, robot: sim.apply_force(robot, (1, 0, 0), duration=0.1)),
        "'biped' is a robot; expected one of its bodies, as robot.base",
    ),
    "arguments of a push swapped": (
        simulated(lambda sim, robot: sim.apply_force((1, 0, 0), robot.base)),
        "(1, 0, 0) is nothing of this world; expected a body or foot of it, or a name",
    ),
    "a height of a fall with quotes": (
        simulated(lambda sim, robot: sim.fallen(robot, "0.4")),
        "expected a number, 0.4 without quotes",
    ),
    "a measurement of another robot": (
        simulated(lambda sim, robot: sim.measure(tabi.robots.hrp2())),
        "hrp2 is no robot of this world (robots: biped)",
    ),
    "contacts of a list": (
        simulated(lambda sim, robot: sim.contacts_of([1, 2])),
        "contacts are asked of [1, 2]; expected a robot, body, foot or name",
    ),
    "a picture of the wrong kind": (
        simulated(lambda sim, robot: sim.render(kind="rgb")),
        "kind of a picture is 'rgb'; expected one of colour, depth, segmentation",
    ),
    "a picture of ten thousand million pixels": (
        simulated(lambda sim, robot: sim.render(size=(100000, 100000))),
        "expected width and height, whole numbers of pixels from 1 to 8192",
    ),
    # ---- controllers ----------------------------------------------------------------------
    "a pose to hold by its name": (lambda folder: tabi.control.hold("half_sitting"), POSE),
    "an array to hold": (lambda folder: tabi.control.hold(np.zeros(3)), POSE),
    "key frames as a mapping": (
        lambda folder: tabi.control.keyframes({"a": 1}),
        "key frames are {'a': 1}; expected a list of (time [s], {joint: position})",
    ),
    "key frames at no time": (
        lambda folder: tabi.control.keyframes([(nan, {}), (1.0, {})]),
        "key frames are at [nan, 1.0] s; expected two or more, at growing times",
    ),
    "a squat of a name": (
        lambda folder: tabi.control.squat("hrp2"),
        "the robot is 'hrp2'; expected one of tabi.load or tabi.robots",
    ),
    "a biped by its name": (
        lambda folder: tabi.walking.Biped("hrp2"),
        "the robot of a Biped is 'hrp2'; expected one of tabi.load or tabi.robots",
    ),
    "a walker of a robot": (
        biped(lambda r: tabi.walking.Walker(r)),
        "the pattern of a Walker is Robot('biped'",
        "expected a walking_pattern(…)",
    ),
    "controller and robot swapped": (
        simulated(lambda sim, robot: sim.set_controller(tabi.Command(), robot)),
        "is no robot of this world (robots: biped); expected what world.add_robot returned",
    ),
    "a report of a name": (
        lambda folder: tabi.report("hrp2"),
        "the robot of a report is 'hrp2'; expected one of tabi.load or tabi.robots",
    ),
    # ---- scenes ---------------------------------------------------------------------------
    "no text for a scene": (
        lambda folder: tabi.scenes.loads(None),
        "the text of a scene is None; expected a text, or bytes",
    ),
    "a misspelt setting": (
        lambda folder: tabi.scenes.load("push", {"ground.fricton": 1}),
        "key 'fricton' in ground is not known; did you mean 'friction'?",
    ),
}

COMMANDS = {
    "sweep push --over ground.friction=0.1:1": "--over ground.friction=0.1:1:5, or values with",
    "plot x.csv": "x.csv: it is no recording; expected an .hdf5 file of tabi run SCENE --record",
    "run robot.urdf": "it is a robot and no scene; show it by tabi demo robot.urdf",
    "run x.csv": "suffix '.csv' is not known; expected a scene file (.yaml)",
    "run push --time nan": "--time is nan s; expected a number > 0",
    "run push --set friction": "--set friction is not KEY=VALUE",
    "sole hrp2 --thickness 20": "did you mean millimetres, 0.02 m?",
    "sole hrp2 --young-modulus 2": "did you mean MPa, 2e+06 Pa?",
    "info hrp3": "robot 'hrp3' is neither built in",
}


@cases(MISTAKES)
def test_each_of_sixty_more_mistakes_is_one_sentence(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_on_the_command_line_is_one_line(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "a,b\n", "x.csv")
    written(tmp_path, ARM)
    monkeypatch.setattr(sys, "argv", ["tabi", *command.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert COMMANDS[command] in said
    assert said.startswith("tabi: ")
    assert said.count("\n") == 1


def test_settings_of_a_scene_may_be_a_text_or_a_mapping():
    for settings in ("ground.friction=0.3", {"ground.friction": 0.3}, ["ground.friction=0.3"]):
        assert tabi.scenes.load("push", settings).contents.ground.friction == 0.3
