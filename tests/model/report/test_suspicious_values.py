"""What can hardly be meant in a robot's numbers is said, and what can be is not."""

import numpy as np
import pytest

import tabi
from tabi.model.joint import Joint
from tabi.model.report import suspicious_values
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation


def arm(length=0.5, mass=2.0, moments=(0.02, 0.02, 0.002), upper=2.0, effort=50.0):
    """A trunk and a link on a hinge."""
    robot = Robot("arm")
    trunk = Inertia(5.0, np.zeros(3), 0.05 * np.eye(3))
    robot.add_body("trunk", Joint("root", "floating"), None, trunk, [Shape(Box((0.3, 0.3, 0.3)))])
    joint = Joint("hinge", "revolute", axis=(0.0, 1.0, 0.0), effort_limit=effort)
    joint.lower, joint.upper = -1.0, upper
    inertia = Inertia(mass, np.zeros(3), np.diag(moments))
    shape = Shape(Box((0.1, 0.1, length)), translation((0, 0, 0.5 * length)))
    robot.add_body("link", joint, "trunk", inertia, [shape])
    return robot


def test_an_arm_as_arms_are_leaves_no_doubt():
    assert suspicious_values.doubts(arm()) == []
    assert suspicious_values.doubts(tabi.robots.hrp2()) == []


@pytest.mark.parametrize(
    ("upper", "doubtful"),
    [(4 * np.pi, False), (13.0, True), (360.0, True), (1e3, False), (np.inf, False)],
)
def test_limits_are_doubted_beyond_two_turns_but_not_where_they_mean_none(upper, doubtful):
    assert bool(suspicious_values.doubts(arm(upper=upper))) == doubtful


def test_each_doubt_names_the_thing_and_the_unit():
    assert suspicious_values.doubts(arm(upper=90.0)) == [
        "limits of 'hinge' go up to 90 rad, 14 turns; expected radians, were degrees meant?"
    ]
    assert suspicious_values.doubts(arm(length=500.0)) == [
        "it is 500 m large; expected metres, were millimetres meant?"
    ]
    assert suspicious_values.doubts(arm(mass=2000.0, moments=(20.0, 20.0, 2.0))) == [
        "it has 2,005 kg within 0.3 × 0.3 × 0.65 m, more than iron; "
        "expected kilograms, were grams meant?"
    ]


@pytest.mark.parametrize(
    ("moments", "said"),
    [
        ((0.02, 0.02, -1e-4), "inertia of 'link' is not positive"),
        ((0.02, 0.02, 0.05), "inertia of 'link' is one that no body has"),
        ((2e7, 2e7, 2e6), "inertia of 'link' is that of something 3,162 m large"),
        # a rod, and a rounded one
        ((0.02, 0.02, 0.0), None),
        ((0.02, 0.02, 0.0402), None),
    ],
)
def test_inertias_that_no_body_has_are_doubted(moments, said):
    found = suspicious_values.doubts(arm(moments=moments))
    assert [doubt.startswith(said) for doubt in found] == [True] if said else found == []


def test_what_weighs_nearly_nothing_stands_for_nothing():
    assert suspicious_values.doubts(arm(mass=1e-6, moments=(1e-6, 1e-6, 3e-6))) == []


def test_many_names_are_cut_short():
    assert suspicious_values.listed("abcd") == "'a', 'b', 'c', 'd'"
    assert suspicious_values.listed("abcdef") == "'a', 'b', 'c', 'd' and 2 more"


def test_doubts_are_those_of_the_reader_what_is_missing_and_odd_numbers():
    robot = arm(upper=90.0)
    robot.missing_meshes["link"] = ["link.stl", "link.stl"]
    robot.doubts.append("it looks odd")
    odd, missing, limits = suspicious_values.doubts(robot)
    assert odd == "it looks odd"
    assert missing.startswith("collision meshes of 'link' cannot")
    assert missing.endswith("left out ('link.stl'); put them where the file says")
    suspicious_values.note(robot)
    # readers note theirs themselves
    assert robot.notes == [f"doubtful: {limits}"]
    sound = arm()
    suspicious_values.note(sound)
    assert sound.notes == []


def test_all_that_is_said_of_a_file_is_one_warning(tmp_path):
    file = tmp_path / "rod.urdf"
    file.write_text(
        '<robot name="rod"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia '
        'ixx="1" iyy="1" izz="-1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" '
        'type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>'
        '<limit lower="-1" upper="1" effort="0" velocity="1"/></joint></robot>'
    )
    with pytest.warns(tabi.RobotFileWarning) as said:
        tabi.load(file)
    (message,) = [str(one.message) for one in said]
    assert "not positive" in message
    assert "limit of effort or velocity of 0" in message
    assert "some were made up" in message


def test_the_warning_of_a_file_names_the_line_that_loads_it(tmp_path):
    file = tmp_path / "rod.urdf"
    file.write_text(
        '<robot name="rod"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        'izz="-1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    with pytest.warns(tabi.RobotFileWarning, match="not positive") as said:
        tabi.load(file)
    assert said[0].filename == __file__
