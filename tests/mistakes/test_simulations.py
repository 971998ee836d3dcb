"""Mistakes with worlds, time, states and pushes."""

from math import inf, nan

from mistakes.making import cases, faults, standing

import tabi
from tabi.recording.recorded import RecordingError


def world(action):
    def mistake(folder):
        made = tabi.World()
        made.add_ground()
        return action(made)

    return mistake


def box(**told):
    """A world with a box as told."""
    given = {"size": (0.1, 0.1, 0.1), "mass": 1.0, **told}
    return world(lambda w: w.add_box(given.pop("size"), given.pop("mass"), **given))


def boxed(action, **settings):
    """Of a simulator of one box on the ground."""

    def mistake(folder):
        made = tabi.World()
        made.add_ground()
        made.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.05), name="crate")
        return action(tabi.Simulator(made, **settings))

    return mistake


def timed(dt):
    return boxed(lambda sim: sim.step(), dt=dt)


def inside(folder):
    """The biped a hand's breadth in the ground."""
    made, robot = standing(folder)
    x, y, z = robot.base.joint.position[:3]
    robot.place((x, y, z - 0.1))
    tabi.Simulator(made).step()


def one_in_the_other(folder):
    made, robot = standing(folder)
    made.add_robot(robot, name="twin")
    tabi.Simulator(made).step()


MISTAKES = {
    # ---- time ---------------------------------------------------------------------------
    "a step of a second": (
        timed(1.0),
        "dt is 1 s, in which things fall 4.9 m unseen",
        "expected at most 0.1 s, 1e-3 is usual",
    ),
    "a step of 20 ms": (
        timed(0.02),
        tabi.LongStepWarning,
        "dt is 0.02 s, in which what moves with 1 m/s goes 20 mm between two looks at",
        "1e-3 s is usual",
    ),
    "a step in milliseconds": (
        timed(1),
        "dt is 1 s, in which things fall 4.9 m unseen",
        "expected at most 0.1 s, 1e-3 is usual",
    ),
    "a step of zero": (
        timed(0.0),
        "dt is 0.0",
        "expected a positive number of seconds, 1e-3 is usual",
    ),
    "a negative step": (
        timed(-1e-3),
        "dt is -0.001",
        "expected a positive number of seconds, 1e-3 is usual",
    ),
    "a step that is NaN": (
        timed(nan),
        "dt is nan",
        "expected a positive number of seconds, 1e-3 is usual",
    ),
    "a step that is a word": (
        timed("1ms"),
        "dt is '1ms'",
        "expected a positive number of seconds, 1e-3 is usual",
    ),
    "a tolerance of zero": (
        boxed(lambda sim: None, tolerance=0.0),
        "tolerance is 0.0",
        "expected a positive velocity in m/s, 1e-8 is usual",
    ),
    "a tolerance of 1 m/s": (
        boxed(lambda sim: None, tolerance=1.0),
        "tolerance is 1 m/s, at which contacts may as well not be solved",
        "expected at most 0.01 m/s, 1e-8 is usual",
    ),
    "a budget that is a word": (
        boxed(lambda sim: None, budget="large"),
        "budget is 'large'",
        "expected a whole number of looks at contacts ≥ 1, 400000 is usual, or None for no",
    ),
    "a run of NaN": (
        boxed(lambda sim: sim.run(nan)),
        "duration is nan",
        "expected a number of seconds ≥ 0",
    ),
    "a run backwards": (
        boxed(lambda sim: sim.run(-1.0)),
        "duration is -1.0",
        "expected a number of seconds ≥ 0",
    ),
    "a run without end": (
        boxed(lambda sim: sim.run(inf)),
        "duration is inf",
        "expected a number of seconds ≥ 0",
    ),
    "a run of a word": (
        boxed(lambda sim: sim.run("1 s")),
        "duration is '1 s'",
        "expected a number",
    ),
    "a callback every half step": (
        boxed(lambda sim: sim.every(0.5, print)),
        "steps between two calls is 0.5",
        "expected a whole number ≥ 1",
    ),
    "a callback that is none": (
        boxed(lambda sim: sim.every(1, None)),
        "callback is None",
        "expected a function (data)",
    ),
    "a rollout of a negative number of steps": (
        boxed(lambda sim: sim.rollout(-5)),
        "steps of a rollout are -5",
        "expected a whole number ≥ 0",
    ),
    "a rollout of 2.5 steps": (
        boxed(lambda sim: sim.rollout(2.5)),
        "steps of a rollout are 2.5",
        "expected a whole number ≥ 0",
    ),
    "a program of the wrong shape": (
        boxed(lambda sim: sim.rollout(5, [[0.0] * 6])),
        "program has shape (1, 6)",
        "expected finite numbers of shape (5, 6, 3)",
    ),
    # ---- worlds -------------------------------------------------------------------------
    "a world that is a robot": (
        lambda folder: tabi.Simulator(tabi.robots.hrp2()),
        "world is Robot('hrp2', 30 joints, 58.00 kg, feet: right, left)",
        "expected a tabi.World",
    ),
    "a world in which nothing moves": (
        world(lambda w: tabi.Simulator(w)),
        "the world has nothing that moves",
        "add a robot with a floating base or joints, or an object",
    ),
    "negative friction": (
        world(lambda w: w.add_ground(friction=-0.5)),
        "material 'ground_2' has friction -0.5",
        "expected a number ≥ 0",
    ),
    "a friction that is NaN": (
        box(friction=nan),
        "material 'box' has friction nan",
        "expected a number ≥ 0",
    ),
    "a restitution above one": (
        box(restitution=1.5),
        "material 'box' has restitution 1.5",
        "expected a number from 0 to 1",
    ),
    "a box without mass": (
        box(mass=0.0),
        "object 'box' has mass 0 kg",
        "expected a positive number",
    ),
    "a mass that is a word": (box(mass="2 kg"), "mass of an object is '2 kg'", "expected a number"),
    "a box of negative size": (
        box(size=(0.1, -0.1, 0.1)),
        "box has size y -0.1",
        "expected a positive length in metres",
    ),
    "a box of one number": (
        box(size=0.1),
        "box has size 0.1",
        "expected three edges x, y, z in metres",
    ),
    "a place of two numbers": (
        box(position=(0.0, 0.0)),
        "position of 'box' is (0.0, 0.0)",
        "expected x, y, z in metres",
    ),
    "a place that is NaN": (
        box(position=(0.0, 0.0, nan)),
        "object 'box' is at [0.0, 0.0, nan]",
        "expected three finite numbers in metres",
    ),
    "a quaternion of zero": (
        box(quaternion=(0, 0, 0, 0)),
        "quaternion of 'box' is (0, 0, 0, 0)",
        "expected w, x, y, z of a rotation",
    ),
    "a quaternion of three numbers": (
        box(quaternion=(1, 0, 0)),
        "quaternion of 'box' is (1, 0, 0)",
        "expected w, x, y, z of a rotation",
    ),
    "a robot in the ground": (
        inside,
        tabi.OverlapWarning,
        "left_foot and world start 100 mm inside of each other",
        "they leave the overlap at up to 0.5 m/s without gaining speed, where there is room:",
    ),
    "a robot in another": (
        one_in_the_other,
        tabi.OverlapWarning,
        "twin/trunk and biped/trunk start 150 mm inside of each other",
        "they leave the overlap at up to 0.5 m/s without gaining speed, where there is room:",
    ),
    # ---- states and pushes --------------------------------------------------------------
    "a state of the wrong size": (
        boxed(lambda sim: sim.set_state([0.0, 0.0, 1.0])),
        "q has shape (3,)",
        "expected (7,), see model.joint_names and model.q_index(name)",
    ),
    "a state with NaN": (
        boxed(lambda sim: sim.set_state([0, 0, nan, 1, 0, 0, 0])),
        "q[2] (joint 'crate') is nan",
        "expected a finite number",
    ),
    "a state with a quaternion of length 2": (
        boxed(lambda sim: sim.set_state([0, 0, 1, 2, 0, 0, 0])),
        "q[3:7], the quaternion of 'crate', has length 2",
        "expected 1 (w, x, y, z): normalise it",
    ),
    "velocities of the wrong size": (
        boxed(lambda sim: sim.set_state(sim.state.q, [0.0])),
        "v has shape (1,)",
        "expected (6,), see model.joint_names and model.q_index(name)",
    ),
    "a state that is a word": (
        boxed(lambda sim: sim.set_state("zero")),
        "q is str",
        "expected 7 numbers",
    ),
    "a saved state that is none": (
        boxed(lambda sim: sim.restore(sim.state)),
        "saved state is State",
        "expected what Simulator.save returned",
    ),
    "a push on an unknown body": (
        boxed(lambda sim: sim.apply_force("crat", (1, 0, 0))),
        "body 'crat' not found in the model",
        "bodies near that name: 'crate'",
    ),
    "a push that is NaN": (
        boxed(lambda sim: sim.apply_force("crate", (nan, 0, 0))),
        "force on 'crate' is (nan, 0, 0)",
        "expected three finite numbers",
    ),
    "a push of one number": (
        boxed(lambda sim: sim.apply_force("crate", 10.0)),
        "force on 'crate' is 10.0",
        "expected three finite numbers",
    ),
    "a push for a negative time": (
        boxed(lambda sim: sim.apply_force("crate", (1, 0, 0), duration=-1.0)),
        "duration of the push on 'crate' is -1.0",
        "expected a positive number of seconds",
    ),
    "a push on the ground": (
        boxed(lambda sim: sim.apply_force("world", (1, 0, 0))),
        "body 'world' does not move",
        "expected one that a force can push",
    ),
    "a push before the start": (
        boxed(lambda sim: sim.apply_force("crate", (1, 0, 0), at=-1.0)),
        "time of a push is -1.0",
        "expected a number of seconds ≥ 0",
    ),
    "a bond of unknown kind": (
        boxed(lambda sim: sim.bond("glue", "crate", "world")),
        "bond 'glue' not found in tabi",
        "bonds near that name: 'hinge'",
    ),
    "a bond of a body to itself": (
        boxed(lambda sim: sim.bond("weld", "crate", "crate")),
        "weld of 'crate' and 'crate' is between two things of one rigid body",
        "expected two bodies that can move against each other",
    ),
    "a hinge without an axis": (
        boxed(lambda sim: sim.bond("hinge", "crate", "world")),
        "hinge of 'crate' and 'world' has no axis",
        "expected an axis for a hinge, and for nothing else",
    ),
    "a recording to a folder": (
        lambda folder: boxed(lambda sim: sim.record(folder))(folder),
        RecordingError,
        "it is a folder",
        "expected a file name that ends in .h5 or .hdf5",
    ),
    "a recording at an odd rate": (
        lambda folder: boxed(lambda sim: sim.record(folder / "a.h5", rate=300))(folder),
        "rate of the recording ",
        "a.h5 is 300 Hz",
        "expected one that divides 1000 Hz, the rate of the steps",
    ),
    "a height of the ground that is NaN": (
        world(lambda w: w.add_ground(height=nan)),
        "ground has height nan",
        "expected a finite number in metres",
    ),
}


@cases(MISTAKES)
def test_a_mistake_with_a_simulation_is_one_sentence(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path) == []
