"""OpenHRP models: a small robot with every feature, read as its numbers say."""

from pathlib import Path

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.formats.openhrp import reader as openhrp
from tabi.model.robot import Robot
from tabi.model.shape import Box, Convex, Cylinder, Ellipsoid, Sphere

HERE = Path(__file__).parent
ROBOT = (HERE / "mini.wrl").read_text()
HEAD = ROBOT[: ROBOT.index("Background")]


@pytest.fixture
def load(tmp_path):
    def read(text: str, **options) -> Robot:
        path = tmp_path / "robot.wrl"
        path.write_text(text)
        return openhrp.read(path, **options)

    return read


@pytest.fixture
def mini(load) -> Robot:
    return load(ROBOT)


# ---- a robot with every feature ---------------------------------------------------------------


def test_bodies_and_joints_carry_the_names_of_the_joint_nodes(mini):
    assert mini.name == "MINI"
    assert [b.name for b in mini.bodies] == ["WAIST", "HIP", "LEG", "TOE", "BELT"]
    assert [b.joint.name for b in mini.bodies] == ["MINI_base", "HIP", "LEG", "TOE", "BELT"]
    assert [b.joint.kind for b in mini.bodies] == [
        "floating",
        "revolute",
        "prismatic",
        "fixed",
        "fixed",
    ]
    assert [b.joint.number for b in mini.bodies] == [None, 4, 5, None, None]


def test_the_base_starts_where_the_file_puts_the_waist(mini):
    # a rotation's axis need not have length one
    expected = [0.1, 0.2, 0.9, np.cos(0.25), 0.0, 0.0, np.sin(0.25)]
    assert mini.base.joint.position == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("kind", "asked", "found"),
    [("free", "fixed", "fixed"), ("fixed", None, "fixed"), ("fixed", "floating", "floating")],
)
def test_base_can_be_asked_for(load, kind, asked, found):
    robot = load(ROBOT.replace('"free"', f'"{kind}"'), base=asked)
    assert robot.base.joint.kind == found
    assert robot.placements()[robot.base].p == pytest.approx([0.1, 0.2, 0.9])


def test_an_unknown_base_is_refused(load):
    with pytest.raises(ModelError, match="base is 'bolted'; expected 'floating', 'fixed'"):
        load(ROBOT, base="bolted")


def test_masses_of_segments_add_about_their_common_centre(mini):
    # PACK is turned by 90° about x: (x, y, z) → (x, −z, y)
    m, c = np.array([4.0, 2.0]), np.array([[0.0, 0.0, 0.1], [0.1, -0.2, 0.4]])
    centre = m @ c / 6.0
    tensor = np.array([[0.1, 0.01, 0], [0.01, 0.2, 0], [0, 0, 0.3]]) + np.diag([0.01, 0.03, 0.02])
    for mi, ci in zip(m, c - centre, strict=True):
        tensor += mi * (ci @ ci * np.eye(3) - np.outer(ci, ci))
    inertia = mini.body("WAIST").inertia
    assert inertia.mass == 6.0
    assert inertia.centre == pytest.approx(centre, abs=1e-15)
    assert inertia.tensor == pytest.approx(tensor, abs=1e-14)


def test_a_joint_in_a_transform_stands_where_the_transform_puts_it(mini):
    X = mini.joint("TOE").placement
    assert X.p == pytest.approx([0.06, 0.0, 0.0])
    assert pytest.approx([0.0, -np.sin(0.3), np.cos(0.3)]) == X.R[:, 2]


def test_limits_and_motor_of_a_geared_joint(mini):
    hip, leg = mini.joint("HIP"), mini.joint("LEG")
    assert (hip.lower, hip.upper, hip.velocity_limit) == (-1.5, 0.5, 3.0)
    assert np.array(hip.axis) / np.linalg.norm(hip.axis) == pytest.approx([0, 1, 0])
    assert hip.motor is not None
    assert hip.total_armature == pytest.approx(1e-5 * 100**2)
    assert hip.motor.torque_limit == pytest.approx(10 * 0.05 * 100)
    assert (leg.lower, leg.upper, leg.velocity_limit, leg.motor) == (0.0, 0.1, np.inf, None)


@pytest.mark.parametrize(("letter", "axis"), [("X", (1, 0, 0)), ("Y", (0, 1, 0)), ("Z", (0, 0, 1))])
def test_an_axis_may_be_a_letter(load, letter, axis):
    robot = load(
        ROBOT.replace("SFVec3f jointAxis 0 0 1", 'SFString jointAxis "Z"').replace(
            "jointAxis 0 2 0", f'jointAxis "{letter}"'
        )
    )
    assert tuple(robot.joint("HIP").axis) == axis


def test_without_protos_the_defaults_of_openhrp_hold(load):
    robot = load("#VRML V2.0 utf8\n" + ROBOT.removeprefix(HEAD))
    assert tuple(robot.joint("LEG").axis) == (0, 0, 1)
    assert robot.mass == 9.75


def test_solids_stand_along_y_and_scale_as_vrml_has_it(mini):
    (thigh,) = mini.body("HIP").shapes
    assert isinstance(thigh.geometry, Cylinder)
    assert (thigh.geometry.radius, thigh.geometry.length) == pytest.approx((0.05, 0.4))
    # along y, centred 0.2 below the joint
    assert [thigh.support(d) for d in np.eye(3)] == pytest.approx([0.05, 0.2, 0.05 - 0.2])
    assert thigh.color == (1.0, 0.0, 0.0, 0.75)
    box = mini.body("WAIST").shapes[0]
    assert isinstance(box.geometry, Box)
    assert box.geometry.size == (0.2, 0.3, 0.1)
    assert box.name == "HULL"


def test_balls_cones_and_face_sets_keep_their_extent(mini):
    ball, big, egg, cone, hull = mini.body("TOE").shapes
    assert isinstance(ball.geometry, Sphere)
    assert ball.geometry.radius == 0.03
    assert isinstance(big.geometry, Sphere)
    assert big.geometry.radius == pytest.approx(0.02)
    assert isinstance(egg.geometry, Ellipsoid)
    assert [egg.support(d) for d in np.eye(3)] == pytest.approx([0.01, 0.02, 0.03])
    assert [cone.support(d) for d in ((0, 1, 0), (0, -1, 0), (1, 0, 0))] == pytest.approx(
        [0.025, 0.025, 0.02]
    )
    # a point no face uses does not count
    assert isinstance(hull.geometry, Convex)
    assert sorted(map(tuple, hull.geometry.vertices)) == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
        (1, 0, 0),
    ]


def test_sensors_stand_in_the_frame_of_their_joint(mini):
    assert {n: (s.kind, s.body.name) for n, s in mini.sensors.items()} == {
        "GYRO": ("gyro", "WAIST"),
        "FS": ("force", "TOE"),
        "CAMERA": ("camera", "WAIST"),
        "IMU": ("accelerometer", "WAIST"),
    }
    assert mini.sensors["GYRO"].placement.p == pytest.approx([0, 0, 0.3])
    assert pytest.approx([np.sin(0.4), 0, np.cos(0.4)]) == mini.sensors["FS"].placement.R[:, 2]
    # what a camera is drawn as belongs to the body
    assert mini.body("WAIST").shapes[1].placement.p == pytest.approx([0.1, 0, 0.5])


def test_a_sensor_in_a_transform_stands_where_the_transform_puts_it(load):
    nested = (
        "Transform { translation 1 0 0 rotation 0 0 1 1.5707963267948966 children DEF F "
        "ForceSensor { translation 0.1 0 0 } }"
    )
    X = load(ROBOT.replace("Widget { } Widget { }", nested)).sensors["F"].placement
    assert X.p == pytest.approx([1.0, 0.1, 0.0])
    assert pytest.approx([0, 1, 0]) == X.R[:, 0]


def test_fields_of_newer_and_older_openhrp_are_understood(load):
    text = "#VRML V2.0 utf8\n" + ROBOT.removeprefix(HEAD)
    hip = load(text.replace("jointId 4", "jointId 4 equivalentInertia 0.7 jointValue 0.25")).joint(
        "HIP"
    )
    assert hip.total_armature == 0.7
    assert hip.position == pytest.approx([0.25])


@pytest.mark.parametrize(
    ("good", "odd", "note"),
    [
        ("jointId 5", "jointId 4", "jointId 4 is given twice, to 'HIP' and 'LEG'"),
        (
            "uvlimit 3",
            "uvlimit 2",
            "joint 'HIP' may go from -3 to 2 per second: the smaller holds both ways",
        ),
        (
            "torqueConst 0.05",
            "torqueConst 0",
            (
                "joint 'HIP' has a torque limit of climit · torqueConst · gearRatio = 0: "
                "taken as not given"
            ),
        ),
        (
            "[ 0.1 0.01 0",
            "[ 0.1 0.02 0",
            (
                "Segment 'PELVIS' has momentsOfInertia that are not symmetric: "
                "their symmetric part is taken"
            ),
        ),
    ],
)
def test_what_is_odd_but_usable_is_noted(load, good, odd, note):
    assert note in load(ROBOT.replace(good, odd)).notes


def test_everything_ignored_is_noted_by_count(mini):
    assert mini.notes == [
        "joint 'BELT' is a crawler: fixed here, its belt does not move",
        "ignored 1 × ExtraJoint: closed loops stay open",
        "ignored sensors without a counterpart here: 2 × PhotoInterrupter, 1 × PressureSensor",
        "1 × IndexedFaceSet stand as their convex hulls",
        "ignored nodes: 1 × Background, 1 × Shape not chosen, 1 × Text, 2 × Widget",
        "ignored fields: 1 × ForceSensor.maxForce, 1 × Joint.encoderPulse",
    ]


def test_a_surface_tells_what_is_seen_from_what_collides(load):
    surface = (
        "Surface { visual Shape { geometry Sphere { } } collision Shape { geometry Box { } } }"
    )
    robot = load(ROBOT.replace("Widget { } Widget { }", surface))
    seen, felt = robot.body("WAIST").shapes[-2:]
    assert (seen.visible, seen.collides, felt.visible, felt.collides) == (True, False, False, True)


def test_a_transform_turns_about_its_centre(load):
    turned = (
        "Transform { center 1 0 0 rotation 0 0 1 1.5707963267948966 children Shape { geometry "
        "Sphere { } } }"
    )
    robot = load(ROBOT.replace("Widget { } Widget { }", turned))
    # c + R(0 − c) with R a quarter turn about z and c = (1, 0, 0)
    assert robot.body("WAIST").shapes[-1].placement.p == pytest.approx([1, -1, 0])


def test_a_cylinder_pressed_flat_is_a_polytope_and_a_note_says_so(load):
    pressed = "Transform { scale 1 1 3 children Shape { geometry Cylinder { } } }"
    robot = load(ROBOT.replace("Widget { } Widget { }", pressed))
    shape = robot.body("WAIST").shapes[-1]
    assert isinstance(shape.geometry, Convex)
    assert [shape.support(d) for d in np.eye(3)] == pytest.approx([1, 1, 3], rel=1e-2)
    assert "1 shapes stretched unevenly stand as convex polytopes" in robot.notes


def test_a_mirrored_box_stays_a_box(load):
    mirrored = (
        "Transform { scale -1 1 1 translation 1 0 0 children Shape { geometry Box { size 1 2 3 } "
        "} }"
    )
    shape = load(ROBOT.replace("Widget { } Widget { }", mirrored)).body("WAIST").shapes[-1]
    assert isinstance(shape.geometry, Box)
    assert np.linalg.det(shape.placement.R) == pytest.approx(1.0)
    assert [shape.support(d) for d in np.eye(3)] == pytest.approx([1.5, 1, 1.5])


def test_parts_in_other_files_belong_to_the_robot(load, tmp_path):
    (tmp_path / "shank.wrl").write_text("#VRML V2.0 utf8\nDEF SHANK Segment { mass 1.5 }")
    robot = load(ROBOT.replace("Widget { } Widget { }", 'Inline { url "shank.wrl" }'))
    assert robot.body("WAIST").inertia.mass == 7.5


def test_a_chain_of_a_thousand_joints_loads(load):
    count = 1000
    chain = "".join(
        f'DEF J{i} Joint {{ jointType "{"rotate" if i else "free"}" translation 0 0 0.1 children [ '
        for i in range(count)
    )
    robot = load(HEAD + "Humanoid { humanoidBody " + chain + " ] }" * count + " }")
    assert len(robot.joint_names) == count - 1
    assert robot.placements()[robot.bodies[-1]].p[2] == pytest.approx(0.1 * count)
