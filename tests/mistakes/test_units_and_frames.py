"""Mistakes of units and frames in robots' files and in what is told of feet."""

from mistakes.making import ARM, arm, biped_text, cases, faults, link, quiet_load, written

import tabi

SQUARE = [[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]]


def text(*changes):
    return lambda folder: tabi.load(written(folder, arm(*changes)))


def in_millimetres():
    """The biped with all its lengths a thousand times too long."""
    parts = link("trunk", (150, 300, 300), 5.0, (0, 0, 150)).replace("<inertia ", "<inertia ")
    return biped_text().replace(link("trunk", (0.15, 0.3, 0.3), 5.0, (0, 0, 0.15)), parts)


def foot(**told):
    """The biped with a left foot as told."""
    return lambda folder: quiet_load(folder, biped_text(), feet={"left": told})


MISTAKES = {
    "limits in degrees": (
        text(('lower="-1.5" upper="1.5"', 'lower="-90" upper="90"')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: limits of 'elbow' go up to 90 rad, 14 turns",
        "expected radians, were degrees meant?",
    ),
    "an origin turned by degrees": (
        text(('<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 0.3" rpy="0 90 0"/>')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: joint 'elbow' (line 20) is turned by rpy='0 90 0'",
        "expected radians, were degrees meant?",
    ),
    "masses in grams": (
        text(
            ('<mass value="3"/>', '<mass value="3000"/>'),
            ('<mass value="1"/>', '<mass value="1000"/>'),
            ('<mass value="0.5"/>', '<mass value="500"/>'),
        ),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: it has 4,500 kg within 0.2 × 0.2 × 0.7 m, more than iron",
        "expected kilograms, were grams meant?",
    ),
    "a joint in millimetres": (
        text(('<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 300"/>')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: it is 300 m large",
        "expected metres, were millimetres meant?",
    ),
    "a box in millimetres": (
        text(('<box size="0.05 0.05 0.2"/>', '<box size="50 50 200"/>')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: it is 200 m large",
        "expected metres, were millimetres meant?",
    ),
    "an inertia in g·mm²": (
        text(('ixx="0.005" iyy="0.005" izz="0.0005"', 'ixx="5e6" iyy="5e6" izz="5e5"')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: inertia of 'lower' is that of something 3,162 m large",
        "expected kg·m², were g·mm² meant?",
    ),
    "an inertia about the wrong point, negative": (
        text(('ixx="0.01" iyy="0.01" izz="0.001"', 'ixx="0.01" iyy="-0.01" izz="0.001"')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: inertia of 'upper' is not positive",
        "expected positive moments in kg·m²",
    ),
    "a foot whose z axis points down": (
        foot(body="left_foot", polygon=SQUARE, position=[0, 0, -0.06], quaternion=[0, 1, 0, 0]),
        "robot.urdf, line 5: foot 'left' on body 'left_foot' has its z axis downwards when",
        "expected z up into the leg: give it a quaternion",
    ),
    "a foot far from its body": (
        foot(body="left_foot", polygon=SQUARE, position=[5.0, 0, -0.06]),
        "robot.urdf, line 5: foot 'left' lies 4.8 m from the shapes of body 'left_foot'",
        "expected its position and polygon in metres in the frame of that body",
    ),
    "a sole in millimetres": (
        foot(
            body="left_foot",
            polygon=[[1000 * x for x in p] for p in SQUARE],
            position=[0, 0, -0.06],
        ),
        "robot.urdf, line 5: foot 'left' has a sole 200 m long",
        "expected metres, and less than 5",
    ),
    "a sole of two points": (
        foot(body="left_foot", polygon=SQUARE[:2]),
        "robot.urdf, line 5: foot 'left' has a sole of shape (2, 2)",
        "expected at least three finite points (x, y) in metres",
    ),
    "a sole whose corners are out of order": (
        foot(body="left_foot", polygon=[[0, 0], [0.1, 0.1], [0.1, 0], [0, 0.1]]),
        "foot 'left' has an outline that crosses itself, between corners 0 and 1 and between 2",
        "expected its corners in the order round the sole",
    ),
    "a sole on a line": (
        foot(body="left_foot", polygon=[[0, 0], [0.1, 0], [0.2, 0]]),
        "robot.urdf, line 5: foot 'left' has a sole of area 0 m²",
        "expected a polygon that one can stand on",
    ),
    "a sole with NaN": (
        foot(body="left_foot", polygon=[[0, 0], [0.1, 0], [0.1, float("nan")]]),
        "robot.urdf, line 5: foot 'left' has polygon [[0, 0], [0.1, 0], [0.1, nan]]",
        "expected [[x, y], …] in metres",
    ),
    "a foot without a body": (
        foot(polygon=SQUARE),
        "robot.urdf: foot 'left' has no body",
        'expected {"left": "L_ANKLE", "right": {"body": "R_ANKLE", "polygon": [[x, y], …],',
    ),
    "a foot with an unknown key": (
        foot(body="left_foot", poligon=SQUARE),
        "robot.urdf: foot 'left' has the key 'poligon'",
        "expected keys among body, polygon, position, quaternion",
    ),
    "a foot's position without a polygon": (
        foot(body="left_foot", position=[0, 0, 0]),
        "robot.urdf: foot 'left' has a position without a polygon",
        "give both, or neither to find the sole from the body's shapes",
    ),
    "a quaternion of zero": (
        foot(body="left_foot", polygon=SQUARE, quaternion=[0, 0, 0, 0]),
        "robot.urdf, line 5: quaternion [0.0, 0.0, 0.0, 0.0] has length 0",
        "expected a unit quaternion (w, x, y, z)",
    ),
    "feet as a list": (
        lambda folder: quiet_load(folder, biped_text(), feet=["left_foot"]),
        "robot.urdf: feet are ['left_foot']",
        'expected {"left": "L_ANKLE", "right": {"body": "R_ANKLE", "polygon": [[x, y], …],',
    ),
    "gains as words": (
        lambda folder: tabi.load(written(folder, ARM), gains="high"),
        "gains are 'high'",
        "expected True, False, (kp, kd), or {joint: (kp, kd)} in N·m/rad and N·m·s/rad, none",
    ),
    "negative gains": (
        lambda folder: tabi.load(written(folder, ARM), gains=(-300.0, 10.0)),
        "gains are (-300.0, 10.0)",
        "expected True, False, (kp, kd), or {joint: (kp, kd)} in N·m/rad and N·m·s/rad, none",
    ),
    "gravity in the wrong shape": (
        lambda folder: tabi.World(gravity=-9.81),
        "gravity is -9.81",
        "expected three finite numbers in m/s²",
    ),
    "gravity with NaN": (
        lambda folder: tabi.World(gravity=(0, 0, float("nan"))),
        "gravity is (0, 0, nan)",
        "expected three finite numbers in m/s²",
    ),
}


@cases(MISTAKES)
def test_a_mistake_of_units_or_frames_is_one_sentence(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path) == []
