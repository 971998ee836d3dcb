"""Mistakes in robots' files: each ends in one sentence with the file and the element."""

import re
import sys

from mistakes.making import ARM, arm, cases, faults, written

import tabi

ELBOW = '<limit lower="-1.5" upper="1.5" effort="30" velocity="6"/>'
SHOULDER = '<limit lower="-2" upper="2" effort="50" velocity="5"/>'
UPPER_BOX = '<box size="0.05 0.05 0.2"/>'
LOWER_MASS = '<mass value="0.5"/>'
LOWER_TENSOR = 'ixx="0.005" iyy="0.005" izz="0.0005"'


def text(*changes, name="robot.urdf", **told):
    """Load the arm with parts of its file replaced."""
    return lambda folder: tabi.load(written(folder, arm(*changes), name), **told)


def raw(content, name="robot.urdf"):
    return lambda folder: tabi.load(written(folder, content, name))


def with_mimic(inside):
    return text((ELBOW, ELBOW + inside))


def add(more):
    return text(("</robot>", f"{more}\n</robot>"))


def compiled(*changes):
    """Load and compile the arm with parts of its file replaced."""
    return lambda folder: tabi.load(written(folder, arm(*changes))).compile()


def with_srdf(content):
    def mistake(folder):
        written(folder, content, "other.srdf")
        return tabi.load(written(folder, ARM), srdf=folder / "other.srdf")

    return mistake


MJCF = (
    "<mujoco><worldbody><body name='b'><freejoint/><geom size='0.1' mass='1'/></body></worldbody>"
    "</mujoco>"
)

MISTAKES = {
    # ---- opening ------------------------------------------------------------------------
    "no such file": (
        lambda folder: tabi.load(folder / "robbot.urdf"),
        "robbot.urdf: robot file cannot be opened (there is no such file)",
        "expected the path of a .urdf, .xml, .mjcf, .wrl or .body file",
    ),
    "a folder": (
        lambda folder: tabi.load(folder),
        "robot file cannot be opened (it is a directory)",
        "expected the path of a .urdf, .xml, .mjcf, .wrl or .body file",
    ),
    "an empty file": (raw(""), "robot.urdf: file is empty", "expected a <robot> element"),
    "a binary file": (
        raw(bytes(range(256)) * 8),
        "robot.urdf: file is not XML, it begins with b'\\x00\\x01\\x02\\x03\\x04\\x05\\x06\\x07'",
        "expected a <robot> element",
    ),
    "a mesh instead of a robot": (
        raw("solid x\nendsolid x", "robot.stl"),
        "robot.stl: suffix '.stl' is not known",
        "expected .urdf, .xml or .mjcf (URDF, MJCF), .wrl (OpenHRP) or .body (Choreonoid)",
    ),
    "a picture called .urdf": (
        raw(b"\x89PNG\r\n\x1a\n" + bytes(64)),
        "robot.urdf: file is not XML, it begins with b'\\x89PNG\\r\\n\\x1a\\n'",
        "expected a <robot> element",
    ),
    "no path at all": (
        lambda folder: tabi.load(None),
        "the robot's path is None",
        "expected the name of a URDF, MJCF, .wrl or .body file",
    ),
    "a path that is a number": (
        lambda folder: tabi.load(3),
        "the robot's path is 3",
        "expected the name of a URDF, MJCF, .wrl or .body file",
    ),
    "a xacro file": (
        raw(ARM, "robot.xacro"),
        "robot.xacro: a xacro file is a program that writes a URDF",
        "expand it first (xacro robot.xacro > robot.urdf) and load the result",
    ),
    "a URDF with xacro in it": (
        text(
            (
                '<robot name="arm">',
                '<robot name="arm" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:if/>',
            )
        ),
        "robot.urdf, line 1: element <xacro:if> is not expanded",
        "run xacro on the file first",
    ),
    "an SDF file": (
        raw("<sdf version='1.6'><model name='m'/></sdf>", "robot.xml"),
        "robot.xml, line 1: root element is <sdf>",
        "expected <robot>: convert SDF to URDF first",
    ),
    "broken XML": (
        text(("</robot>", "")),
        "robot.urdf, line 23: file is not well-formed XML: Premature end of data in tag",
        "fix it there",
    ),
    "XML without quotes": (
        text(('type="revolute"', "type=revolute")),
        "robot.urdf, line 16: file is not well-formed XML: AttValue: \" or ' expected, line 16,",
        "fix it there",
    ),
    "a wrong base": (
        text(base="flying"),
        "robot.urdf: base is 'flying'",
        "expected 'floating' or 'fixed'",
    ),
    # ---- the tree -----------------------------------------------------------------------
    "no link": (
        raw('<robot name="r"></robot>'),
        "robot.urdf, line 1: <robot> has no <link>",
        "expected at least one",
    ),
    "two roots": (
        add('<link name="tool"/>'),
        "robot.urdf, line 22: links 'base' and 'tool' are both without parent",
        "expected one root, add a joint to 'tool'",
    ),
    "a loop": (
        add('<joint name="back" type="fixed"><parent link="lower"/><child link="base"/></joint>'),
        "robot.urdf, line 22: joint 'back' closes a loop from link 'lower' to link 'base'",
        "expected a tree, leave out one joint",
    ),
    "two parents": (
        add('<joint name="second" type="fixed"><parent link="base"/><child link="lower"/></joint>'),
        "robot.urdf, line 22: link 'lower' has two parents, by joint 'elbow' (line 19) and",
        "expected one",
    ),
    "two links of one name": (
        text(('<link name="lower">', '<link name="upper">')),
        "robot.urdf, line 11: link 'upper' occurs twice, first on line 6",
        "give every link its own name",
    ),
    "two joints of one name": (
        text(('<joint name="elbow"', '<joint name="shoulder"')),
        "robot.urdf, line 19: joint 'shoulder' occurs twice, first on line 16",
        "give every joint its own name",
    ),
    "a joint without a name": (
        text(('<joint name="elbow"', "<joint")),
        "robot.urdf, line 19: <joint> without a name",
        'expected name="…"',
    ),
    "a parent that is not there": (
        text(('<parent link="upper"/>', '<parent link="uper"/>')),
        "robot.urdf, line 19: joint 'elbow' has a parent that is not there: link 'uper' not",
        "links near that name: 'upper', 'lower'",
    ),
    "a child that is not there": (
        text(('<child link="lower"/>', '<child link="forearm"/>')),
        "robot.urdf, line 19: joint 'elbow' has a child that is not there: link 'forearm'",
        "links near that name: 'lower'",
    ),
    "a joint of unknown type": (
        text(('name="elbow" type="revolute"', 'name="elbow" type="hinge"')),
        "robot.urdf, line 19: joint 'elbow' has type 'hinge'",
        "expected one of fixed, revolute, continuous, prismatic, spherical, planar, floating",
    ),
    # ---- joints -------------------------------------------------------------------------
    "an axis of zero": (
        text(('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>')),
        "robot.urdf, line 17: joint 'shoulder' has an axis of length zero",
        "expected a direction",
    ),
    "an axis of two numbers": (
        text(('<axis xyz="0 1 0"/>', '<axis xyz="0 1"/>')),
        "robot.urdf, line 17: joint 'shoulder' has xyz='0 1' in <axis>",
        "expected 3 finite numbers",
    ),
    "limits the wrong way round": (
        text(('lower="-1.5" upper="1.5"', 'lower="1.5" upper="-1.5"')),
        "robot.urdf, line 21: joint 'elbow' has limits lower=1.5, upper=-1.5",
        "expected lower ≤ upper",
    ),
    "no limits": (
        text((ELBOW, "")),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: joints 'elbow' have no position limits and move without end",
        'expected <limit lower="…" upper="…"/>, or the type continuous',
    ),
    "a continuous joint with limits": (
        text(('name="elbow" type="revolute"', 'name="elbow" type="continuous"')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: joint 'elbow' is continuous, so its limits from -1.5 to 1.5",
        "a joint with limits is revolute",
    ),
    "a negative effort": (
        text(('effort="30"', 'effort="-30"')),
        "robot.urdf, line 21: joint 'elbow' has effort=-30 in <limit>",
        "expected a number ≥ 0",
    ),
    "an effort of zero": (
        text(('effort="30"', 'effort="0"')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: joints with a limit of effort or velocity of 0, taken as not given",
    ),
    "a joint that mimics itself": (
        with_mimic('<mimic joint="elbow"/>'),
        "robot.urdf, line 21: joint 'elbow' mimics itself through elbow → elbow",
        "expected a leader that moves freely",
    ),
    "a joint that mimics one that is not there": (
        with_mimic('<mimic joint="sholder"/>'),
        "robot.urdf, line 21: joint 'elbow' mimics a joint that is not there: joint",
        "joints near that name: 'shoulder'",
    ),
    "negative damping": (
        text((ELBOW, ELBOW + '<dynamics damping="-1"/>')),
        "robot.urdf, line 21: joint 'elbow' has damping=-1 in <dynamics>",
        "expected a number ≥ 0",
    ),
    # ---- numbers ------------------------------------------------------------------------
    "a number that is a word": (
        text(('<mass value="1"/>', '<mass value="heavy"/>')),
        "robot.urdf, line 7: link 'upper' has value='heavy' in <mass>",
        "expected a finite number",
    ),
    "a number with a unit": (
        text(('<mass value="1"/>', '<mass value="1 kg"/>')),
        "robot.urdf, line 7: link 'upper' has value='1 kg' in <mass>",
        "expected a finite number",
    ),
    "a decimal comma": (
        text(('<mass value="0.5"/>', '<mass value="0,5"/>')),
        "robot.urdf, line 12: link 'lower' has value='0,5' in <mass>",
        "expected a finite number",
    ),
    "NaN": (
        text(('<origin xyz="0 0 0.3"/>', '<origin xyz="0 0 nan"/>')),
        "robot.urdf, line 20: joint 'elbow' has xyz='0 0 nan' in <origin>",
        "expected 3 finite numbers",
    ),
    "a negative mass": (
        text((LOWER_MASS, '<mass value="-0.5"/>')),
        "robot.urdf, line 12: link 'lower' has value=-0.5 in <mass>",
        "expected a number ≥ 0",
    ),
    "an inertia that is not positive": (
        text((LOWER_TENSOR, 'ixx="-0.005" iyy="0.005" izz="0.0005"')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: inertia of 'lower' is not positive",
        "expected positive moments in kg·m²",
    ),
    "an inertia that no body has": (
        text((LOWER_TENSOR, 'ixx="0.005" iyy="0.005" izz="0.05"')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: inertia of 'lower' is one that no body has: expected no",
    ),
    "a last link without mass": (
        compiled((LOWER_MASS, '<mass value="0"/>'), (LOWER_TENSOR, 'ixx="0" iyy="0" izz="0"')),
        "robot.urdf, line 19: joint 'elbow' of arm moves body 'lower' and what hangs on it,",
        "expected a positive one: give the body mass and inertia, fix the joint, or give it",
    ),
    "a file without any mass": (
        lambda folder: tabi.load(
            written(folder, re.sub("<inertial>.*?</inertial>", "", ARM, flags=re.DOTALL))
        ),
        "robot.urdf: robot 'arm' has no mass: none of its 3 links has any",
        "expected kilograms, and an inertia, of every link that moves: add them to the file",
    ),
    "gains of a joint that is not there": (
        text(gains={"elbo": (100.0, 10.0)}),
        "gains are given for a joint that is not there: joint 'elbo' not found in arm",
        "joints near that name: 'elbow'",
    ),
    "two feet on one link": (
        text(feet={"left": "lower", "right": "lower"}),
        "feet 'left' and 'right' are both on body 'lower'",
        "expected two bodies, one for each foot",
    ),
    "one foot of two": (
        text(feet={"left": "lower"}),
        tabi.RobotFileWarning,
        "only the foot 'left' is given",
        "a robot that stands on two needs the foot 'right' too",
    ),
    "an inertial without mass": (
        text((LOWER_MASS, "")),
        "robot.urdf, line 12: link 'lower' has an <inertial> without <mass>",
        "expected both <mass> and <inertia>",
    ),
    # ---- shapes -------------------------------------------------------------------------
    "a box of negative size": (
        text((UPPER_BOX, '<box size="0.05 -0.05 0.2"/>')),
        "robot.urdf, line 9: link 'upper' has a <box> with a negative size, [0.05, -0.05,",
        "expected positive lengths in metres",
    ),
    "a box of two numbers": (
        text((UPPER_BOX, '<box size="0.05 0.05"/>')),
        "robot.urdf, line 9: link 'upper' has size='0.05 0.05' in <box>",
        "expected 3 finite numbers",
    ),
    "a mesh that is not there": (
        text((UPPER_BOX, '<mesh filename="upper.stl"/>')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: collision meshes of 'upper' cannot be used and are left out",
        "put them where the file says",
    ),
    "a package that is not there": (
        text((UPPER_BOX, '<mesh filename="package://my_robot/upper.stl"/>')),
        tabi.RobotFileWarning,
        "arm, from robot.urdf: collision meshes of 'upper' cannot be used and are left out",
        "put them where the file says",
    ),
    "a mesh with scale 0": (
        text((UPPER_BOX, '<mesh filename="upper.stl" scale="0 1 1"/>')),
        "robot.urdf, line 9: link 'upper' has a mesh with scale [0.0, 1.0, 1.0]",
        "expected factors other than zero",
    ),
    "a mesh that is no mesh": (
        lambda folder: [
            written(folder, "not a mesh", "upper.stl"),
            text((UPPER_BOX, '<mesh filename="upper.stl"/>'))(folder),
        ],
        tabi.RobotFileWarning,
        "arm, from robot.urdf: collision meshes of 'upper' cannot be used and are left out",
        "put them where the file says",
    ),
    # ---- files beside, other formats ----------------------------------------------------
    "an SRDF of another robot": (
        with_srdf('<robot name="other"><disable_collisions link1="head" link2="neck"/></robot>'),
        "other.srdf, line 1: SRDF of 'other' names no link or joint of 'arm', but for",
        "expected the file of this robot, or srdf=False",
    ),
    "an SRDF that is not there": (
        lambda folder: tabi.load(written(folder, ARM), srdf="nothing.srdf"),
        "nothing.srdf: SRDF file cannot be opened (there is no such file)",
        "expected the path of one, or srdf=False",
    ),
    "an SRDF that is a URDF's text cut off": (
        with_srdf("<robot>"),
        "other.srdf, line 1: file is not well-formed XML: Premature end of data in tag robot",
        "fix it there",
    ),
    "an MJCF with an error": (
        raw(MJCF.replace("size='0.1'", "size='-0.1'"), "robot.xml"),
        "robot.xml, line 1: <geom> of body 'b': size 0 must be positive in geom",
        "expected numbers of the kind and count MJCF asks for",
    ),
    "an MJCF with an unknown element": (
        raw(MJCF.replace("<freejoint/>", "<freejont/>"), "robot.xml"),
        "robot.xml, line 1: <freejont> of body 'b': Schema violation: unrecognized element",
        "expected a name of the MJCF schema: correct the spelling or remove it",
    ),
    "an MJCF without a body": (
        raw("<mujoco><worldbody/></mujoco>", "robot.xml"),
        "robot.xml: the file has no body",
        "expected a <body> in <worldbody>",
    ),
}


@cases(MISTAKES)
def test_a_mistake_in_a_file_is_one_sentence(mistake, parts, tmp_path):
    assert faults(mistake, parts, tmp_path) == []


def test_without_mujoco_an_mjcf_file_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    parts = ["needs MuJoCo, which is not installed", 'install it with: pip install "tabi[mjcf]"']
    assert faults(raw(MJCF, "robot.xml"), parts, tmp_path) == []
