"""Bad MJCF is refused in one sentence with file, line and element;
never a traceback, never a silent wrong model.
"""

import sys

import pytest

from tabi._errors import ModelError
from tabi.formats.mjcf import reader as mjcf

pytest.importorskip("mujoco")

BALL = '<geom size="0.1"/>'


def model(body="", rest="", name="leg"):
    """A file with the body on line 3, its content on line 4 and the rest on line 7."""
    return (
        f"<mujoco>\n<worldbody>\n<body "
        f'name="{name}">\n{body}\n</body>\n</worldbody>\n{rest}\n</mujoco>'
    )


def refusal(tmp_path, text, **files):
    """The one sentence a file is refused with."""
    path = tmp_path / "robot.xml"
    path.write_text(text)
    for name, content in files.items():
        (tmp_path / f"{name}.xml").write_text(content)
    with pytest.raises(ModelError) as caught:
        mjcf.read(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(tmp_path) + "/", "")


# kind → (content of the body, rest of the file, what the sentence names)
BAD = {
    "unknown element": [
        ("<jiont/>", "", "line 4: <jiont> of body 'leg'"),
        (BALL, "<actuators/>", "line 7: <actuators>"),
        (BALL, "<sensor><smell/></sensor>", "line 7: <smell>"),
    ],
    "unknown attribute": [
        (
            '<geom siz="1"/>',
            "",
            "line 4: <geom> of body 'leg': Schema violation: unrecognized attribute: 'siz'",
        ),
        ('<joint name="knee" axes="1 0 0"/>', "", "line 4: <joint> 'knee'"),
        (BALL, '<option gravitation="1"/>', "line 7: <option>"),
    ],
    "unknown joint type": [
        (
            '<joint name="knee" type="universal"/>',
            "",
            "line 4: <joint> 'knee': invalid keyword: 'universal'",
        ),
        ('<joint name="hip" type="Hinge"/>', "", "line 4: <joint> 'hip'"),
        ('<joint type=""/>', "", "line 4: <joint> of body 'leg'"),
    ],
    "NaN": [
        ('<geom name="shin" size="nan"/>', "", "line 4: <geom> 'shin' has size='nan'"),
        (
            f'{BALL}<joint name="knee" axis="0 NaN 1"/>',
            "",
            "line 4: <joint> 'knee' has axis='0 NaN 1'",
        ),
        (
            '<inertial pos="0 0 0" mass="-nan" diaginertia="1 1 1"/>',
            "",
            "line 4: <inertial> of body 'leg' has mass='-nan'",
        ),
    ],
    "number": [
        (
            '<geom name="shin" size="big"/>',
            "",
            "line 4: <geom> 'shin': bad format in attribute 'size'",
        ),
        (
            '<geom name="shin" size="0.1" pos="1e999 0 0"/>',
            "",
            "line 4: <geom> 'shin': number is too large",
        ),
        ('<geom name="shin" size="0.1" pos="0 0 0 0"/>', "", "line 4: <geom> 'shin'"),
    ],
    "mass": [
        (
            '<joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>',
            "",
            "line 3: <body> 'leg': mass and inertia",
        ),
        ("<joint/>", "", "line 3: <body> 'leg': mass and inertia"),
        # MuJoCo itself takes these two for massless
        (
            '<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>',
            "",
            "line 3: <body> 'leg' has mass -1 kg",
        ),
        (
            f'{BALL}<joint/><body name="toe"><inertial pos="0 0 0" mass="1" diaginertia="1 -1 1"/>'
            f"</body>",
            "",
            "line 4: <body> 'toe'",
        ),
        (
            '<joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/>',
            "",
            "line 3: <body> 'leg': inertia must satisfy A + B >= C",
        ),
        (
            '<geom name="shin" size="0.1" mass="-2"/>',
            "",
            "line 4: <geom> 'shin': mass, inertia or density are negative",
        ),
    ],
    "negative parameter": [
        (f'{BALL}<joint name="knee" damping="-1"/>', "", "line 4: joint 'knee' has damping -1"),
        (f'{BALL}<joint name="knee" armature="-1"/>', "", "line 4: joint 'knee' has armature -1"),
        ('<geom name="shin" size="0.1" friction="-1"/>', "", "line 4: geom 'shin' has friction -1"),
    ],
    "name twice": [
        (
            f'{BALL}<joint name="knee"/><joint name="knee"/>',
            "",
            "line 4: <joint> 'knee': repeated name 'knee'",
        ),
        (f'{BALL}<body name="leg">{BALL}</body>', "", "line 4: <body> 'leg': repeated name 'leg'"),
        (
            '<geom name="shin" size="1"/><geom name="shin" size="1"/>',
            "",
            "line 4: <geom> 'shin': repeated name",
        ),
    ],
    "quaternion of length zero": [
        (
            '<geom name="shin" size="1" quat="0 0 0 0"/>',
            "",
            "line 4: <geom> 'shin': zero quaternion",
        ),
        (f'{BALL}<body name="toe" quat="0 0 0 0"/>', "", "line 4: <body> 'toe': zero quaternion"),
        (f'{BALL}<joint name="knee" axis="0 0 0"/>', "", "line 4: <joint> 'knee': axis too small"),
    ],
    "missing file": [
        (
            '<geom type="mesh" mesh="m"/>',
            '<asset><mesh name="m" file="none.stl"/></asset>',
            "line 7: <mesh> 'm': Error opening file 'none.stl'",
        ),
        (BALL, '<include file="none.xml"/>', "line 7: <include>: Error opening file 'none.xml'"),
        (BALL, '<asset><hfield name="hill" file="none.png"/></asset>', "line 7: <hfield> 'hill'"),
    ],
    "missing name": [
        (
            '<geom name="shin" type="mesh" mesh="none"/>',
            "",
            "line 4: <geom> 'shin': mesh 'none' not found",
        ),
        (
            BALL,
            '<actuator><motor name="m" joint="none"/></actuator>',
            "line 7: <motor> 'm': unknown transmission target 'none'",
        ),
        (
            BALL,
            '<contact><exclude name="e" body1="none" body2="leg"/></contact>',
            "line 7: <exclude> 'e': body 'none' not found",
        ),
    ],
}


@pytest.mark.parametrize(
    ("body", "rest", "named"), [case for cases in BAD.values() for case in cases]
)
def test_bad_element_is_refused_by_name_and_line(tmp_path, body, rest, named):
    message = refusal(tmp_path, model(body, rest))
    assert message.startswith(f"robot.xml, {named}")
    # what was expected, or what to do
    assert "; " in message


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "<mujoco>\n<worldbody>\n<body>\n</worldbody></mujoco>",
            "line 3: <body>: broken XML (mismatched element)",
        ),
        ("<mujoco>\n<worldbody>\n<body", "line 3: <body>: broken XML (parsing element)"),
        (
            "<mujoco>\n<worldbody>\n<body name=leg/></worldbody></mujoco>",
            "line 3: <body>: broken XML (parsing attribute)",
        ),
        ("hello", "line 1: broken XML"),
    ],
)
def test_broken_xml_is_refused_with_its_line(tmp_path, text, named):
    message = refusal(tmp_path, text)
    assert message.startswith(f"robot.xml, {named}")
    assert "expected" in message


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty file"),
        ("<scene/>", "'scene'"),
        ('<robot name="r"><link name="a"/></robot>', "URDF"),
    ],
)
def test_file_that_is_no_mjcf_is_refused(tmp_path, text, named):
    message = refusal(tmp_path, text)
    assert named in message
    assert "<mujoco>" in message


@pytest.mark.parametrize(
    ("part", "named"),
    [
        ("<mujoco>\n\n<foo/>\n</mujoco>", "part.xml, line 3: <foo>"),
        ("<mujoco>\n\n<foo>\n</mujoco>", "part.xml, line 3: <foo>: broken XML"),
        (
            '<mujoco>\n<worldbody>\n<body name="arm"><joint/></body></worldbody></mujoco>',
            "part.xml, line 3: <body> 'arm': mass and inertia",
        ),
        (
            '<mujoco>\n<worldbody>\n<body name="arm" pos="0 nan 0"/></worldbody></mujoco>',
            "part.xml, line 3: <body> 'arm' has pos='0 nan 0'",
        ),
        # several geoms, here and there: the one that has what MuJoCo quotes
        (
            f'<mujoco>\n<worldbody>\n{BALL}\n<geom class="none"/></worldbody></mujoco>',
            "part.xml, line 4: <geom>: unknown default class name 'none'",
        ),
        # and no line rather than a wrong one
        (
            f'<mujoco>\n<worldbody>\n{BALL}\n<geom size="big"/></worldbody></mujoco>',
            "part.xml: <geom>: bad format in attribute 'size'",
        ),
    ],
)
def test_fault_in_an_included_file_is_found_there(tmp_path, part, named):
    assert refusal(tmp_path, model(BALL, '<include file="part.xml"/>'), part=part).startswith(named)


@pytest.mark.parametrize(
    ("world", "named"),
    [
        ("", "no body"),
        (
            f'<body name="a"><freejoint/>{BALL}</body><body name="b"><freejoint/>{BALL}</body>',
            "'a', 'b'",
        ),
        (
            f'<body name="a"><joint/>{BALL}</body><body name="b"><freejoint/>{BALL}<body><joint/>'
            f"{BALL}</body></body>",
            "'a', 'b'",
        ),
    ],
)
def test_file_without_exactly_one_robot_is_refused(tmp_path, world, named):
    message = refusal(tmp_path, f"<mujoco><worldbody>{world}</worldbody></mujoco>")
    assert named in message
    assert "expected" in message


def test_missing_file_and_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.xml", tmp_path):
        with pytest.raises(ModelError, match="is not a file"):
            mjcf.read(path)


def test_missing_mujoco_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "robot.xml"
    path.write_text(model(BALL))
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r'pip install "tabi\[mjcf\]"'):
        mjcf.read(path)


def test_old_mujoco_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "robot.xml"
    path.write_text(model(BALL))
    monkeypatch.setattr("mujoco.__version__", "3.2.7")
    with pytest.raises(ModelError, match=r"3\.2\.7 is too old, expected 4\.0"):
        mjcf.read(path)


def test_reading_leaves_no_log_file_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refusal(tmp_path, model('<geom size="nan"/>'))
    refusal(tmp_path, model("<joint/>"))
    assert [p.name for p in tmp_path.iterdir()] == ["robot.xml"]


def test_bodies_and_joints_know_their_lines(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(model(f'<joint name="knee"/>{BALL}'))
    robot = mjcf.read(path)
    assert robot.body("leg").line == 3
    assert robot.joint("knee").line == 4
