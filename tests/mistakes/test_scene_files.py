"""Mistakes in scene files: one sentence with the file, the line and the key."""

from mistakes.making import biped_text, cases, changed, faults, written

from tabi import scenes

SCENE = """title: a robot and a crate
duration_s: 1
ground: {friction: 0.8}
robots:
  - {name: walker, robot: robot.urdf}
objects:
  - {shape: box, name: crate, size_m: [0.2, 0.2, 0.2], mass_kg: 2, position_m: [1, 0, 0.1]}
pushes:
  - {body: crate, force_n: [10, 0, 0], at_s: 0.1, duration_s: 0.2}
"""


def text(*changes, simulate=False):
    """Load the scene with parts of it replaced."""

    def mistake(folder):
        written(folder, biped_text())
        scene = scenes.load(written(folder, changed(SCENE, *changes), "my.yaml"))
        return scene.simulator() if simulate else scene

    return mistake


MISTAKES = {
    "an unknown key": (
        text(("duration_s: 1", "duration: 1")),
        "my.yaml, line 2: key 'duration' is not known",
        "did you mean 'duration_s'?",
    ),
    "a word for a number": (
        text(("mass_kg: 2", "mass_kg: heavy")),
        "my.yaml, line 7: objects.crate.mass_kg is 'heavy'",
        "expected a number from 1e-12 to 1e+09",
    ),
    "a negative mass": (
        text(("mass_kg: 2", "mass_kg: -2")),
        "my.yaml, line 7: objects.crate.mass_kg is -2",
        "expected a number from 1e-12 to 1e+09",
    ),
    "a robot that is not there": (
        text(("robot.urdf", "robbot.urdf")),
        "my.yaml, line 5: robots.walker.robot is 'robbot.urdf', which is neither built in",
        "did you mean 'robot.urdf'?",
    ),
    "an unknown shape": (
        text(("shape: box", "shape: cube")),
        "my.yaml, line 7: objects.crate.shape is 'cube'",
        "expected one of box, sphere, ellipsoid, cylinder, capsule, convex, mesh, compound",
    ),
    "two things of one name": (
        text(("name: crate", "name: walker")),
        "my.yaml, line 7: objects.walker.name is 'walker', which is taken",
        "give everything its own name",
    ),
    "a push on an unknown body": (
        text(("body: crate", "body: crat"), simulate=True),
        "my.yaml, line 9: pushes.0.body: body 'crat' not found in the model",
        "bodies near that name: 'crate', 'right'",
    ),
    "a negative time": (
        text(("at_s: 0.1", "at_s: -0.1")),
        "my.yaml, line 9: pushes.0.at_s is -0.1",
        "expected a number from 0 to 1e+06",
    ),
    "no duration": (
        text(("duration_s: 1", "duration_s: 0")),
        "my.yaml, line 2: duration_s is 0",
        "expected a number > 0 and ≤ 1e+06",
    ),
    "broken YAML": (
        text(("ground: {friction: 0.8}", "ground: {friction: 0.8")),
        "my.yaml, line 4: this is not YAML: while parsing a flow mapping, did not find",
    ),
    "a list of two numbers for a place": (
        text(("position_m: [1, 0, 0.1]", "position_m: [1, 0]")),
        "my.yaml, line 7: objects.crate.position_m has 2 values",
        "expected a list of 3 numbers from -1e+06 to 1e+06",
    ),
    "a step of a second": (
        text(("duration_s: 1\n", "duration_s: 10\nsimulation: {step_s: 1}\n")),
        "my.yaml, line 3: simulation.step_s is 1",
        "expected a number from 1e-06 to 0.1",
    ),
    "negative friction": (
        text(("friction: 0.8", "friction: -0.8")),
        "my.yaml, line 3: ground.friction is -0.8",
        "expected a number from 0 to 100",
    ),
    "an unknown foot": (
        text(("robot: robot.urdf", "robot: robot.urdf, feet: {left: left_fot}"), simulate=True),
        "my.yaml, line 5: robots.walker: ",
        "robot.urdf: foot 'left' stands on a body that is not there",
        "bodies near that name: 'left_foot', 'left_thigh', 'right_foot'",
    ),
    "a motion that is not there": (
        text(("robot: robot.urdf", "robot: robot.urdf, motion: {kind: dance}")),
        "my.yaml, line 5: robots.walker.motion.kind is 'dance'",
        "expected one of hold, keyframes, lean, limp, squat",
    ),
    "nothing that moves": (
        lambda folder: scenes.loads("title: empty\nground: {}\n"),
        "scene.yaml, line 1: the scene has neither robots nor objects",
        "expected something that can move",
    ),
    "a scene that is not there": (
        lambda folder: scenes.load("standng"),
        "scene 'standng' is neither built in nor a file",
        "did you mean 'standing'?",
    ),
    "an override of an unknown key": (
        lambda folder: scenes.load("standing", ["ground.fricton=0.2"]),
        "--set ground.fricton=0.2: key 'fricton' in ground is not known",
        "did you mean 'friction'?",
    ),
    "a scene that is a folder": (
        lambda folder: scenes.load(folder),
        "it is a folder",
        "expected a scene file (.yaml)",
    ),
    "a scene that is a number": (
        lambda folder: scenes.load(7),
        "the scene is 7",
        "expected a name or the path of a file",
    ),
    "an empty scene": (
        lambda folder: scenes.load(written(folder, "", "my.yaml")),
        "my.yaml: the file is empty",
        "expected a scene: title, ground, robots, objects",
    ),
    "a binary scene": (
        lambda folder: scenes.load(written(folder, bytes(range(256)), "my.yaml")),
        "my.yaml, line 2: byte 128 is not UTF-8",
        "save the file as UTF-8 text",
    ),
}


@cases(MISTAKES)
def test_a_mistake_in_a_scene_is_one_sentence(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path, scenes.SceneError) == []
