"""URDF files that are wrong: every fault is refused in one sentence with file, line and element,
never otherwise.
"""

import random

import numpy as np
import pytest
from formats.urdf_files import cube_stl, joint, write
from lxml import etree

from tabi._errors import ModelError
from tabi.formats.urdf import reader as urdf

LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="4"/>'
INERTIAL = (
    '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)


# ---- faults: {here} marks the line the error has to name ----------------------------------------

AB = '<link name="a"/><link name="b"/>'
ABC = AB + '<link name="c"/>'
GEOMETRY = '<link name="leg">\n<collision><geometry>\n{here}<{} /></geometry></collision></link>'
MIMIC = (
    ABC
    + "\n"
    + joint("j", "a", "b", LIMIT, "revolute")
    + joint("k", "b", "c", LIMIT + "\n{here}{}", "revolute")
)


def link_with(inside: str) -> str:
    return f'<link name="leg">\n<inertial>\n{inside}\n</inertial></link>'


def box(size: str) -> str:
    return GEOMETRY.replace("{}", f'box size="{size}"')


def joint_with(inside: str, kind: str = "revolute") -> str:
    return (
        f'{AB}\n<joint name="knee" type="{kind}">\n<parent link="a"/><child link="b"/>\n{{here}}'
        f"{inside}</joint>"
    )


FAULTS = {
    "broken XML": [
        ('<link name="a">\n<visual>\n{here}</link>', "visual"),
        ('<link name="a"/>\n{here}<link name=b/>', "AttValue"),
        ('<link name="a"/>\n{here}<joint & />', "attribute name"),
        ('<link name="a"/>\n{here}<x:link/>', "x"),
    ],
    "name": [
        ('<link name="a"/>\n{here}<link/>', "<link>"),
        ('{here}<link name=""/>', "<link>"),
        ('<link name="a"/>\n\n{here}<link name="a"/>', "link 'a' occurs twice, first on line 2"),
        (ABC + joint("j", "a", "b") + "\n{here}" + joint("j", "b", "c"), "joint 'j' occurs twice"),
        (AB + "\n{here}" + joint("", "a", "b"), "<joint>"),
    ],
    "joint type": [
        (AB + "\n{here}" + joint("knee", "a", "b", kind="hinge"), "joint 'knee' has type 'hinge'"),
        (AB + "\n{here}" + joint("knee", "a", "b", kind=""), "joint 'knee' has type ''"),
        (
            AB + "\n{here}" + joint("knee", "a", "b", kind="Revolute"),
            "joint 'knee' has type 'Revolute'",
        ),
    ],
    "ends of a joint": [
        (
            AB + '\n{here}<joint name="knee" type="fixed"><child link="b"/></joint>',
            "joint 'knee' has no <parent>",
        ),
        (
            AB + '\n{here}<joint name="knee" type="fixed"><parent link="b"/></joint>',
            "joint 'knee' has no <child>",
        ),
        (
            AB + '\n<joint name="knee" type="fixed">\n{here}<parent/><child link="b"/></joint>',
            "joint 'knee' has a <parent> without link",
        ),
        (
            AB
            + (
                '\n<joint name="knee" type="fixed"><parent link="a"/>\n{here}<child link="bb"/>'
                "</joint>"
            ),
            "joint 'knee' has a child that is not there: link 'bb'",
        ),
    ],
    "tree": [
        (
            ABC + joint("j", "a", "c") + "\n{here}" + joint("k", "b", "c"),
            "link 'c' has two parents, by joint 'j' (line 2) and joint 'k'",
        ),
        (AB + joint("j", "a", "b") + "\n{here}" + joint("k", "b", "a"), "joint 'k' closes a loop"),
        (ABC + joint("j", "b", "c") + "\n{here}" + joint("k", "c", "b"), "joint 'k' closes a loop"),
        (AB + "\n{here}" + joint("j", "b", "b"), "joint 'j' closes a loop"),
        ('<link name="a"/>\n{here}<link name="b"/>', "links 'a' and 'b' are both without parent"),
    ],
    "numbers": [
        (joint_with('<origin xyz="0 0 x"/>'), "joint 'knee' has xyz='0 0 x' in <origin>"),
        (joint_with('<origin xyz="0 0"/>'), "3 finite numbers"),
        (joint_with('<origin rpy="0 0 0 0"/>'), "joint 'knee' has rpy"),
        (joint_with('<axis xyz="nan 0 1"/>'), "joint 'knee' has xyz='nan 0 1' in <axis>"),
        (
            joint_with('<limit lower="-1" upper="NaN" effort="1" velocity="1"/>'),
            "joint 'knee' has upper='NaN'",
        ),
        (
            joint_with('<limit lower="-1" upper="1_0" effort="1" velocity="1"/>'),
            "joint 'knee' has upper='1_0'",
        ),
        (joint_with('<origin xyz="0 inf 0"/>'), "joint 'knee' has xyz='0 inf 0'"),
        (joint_with('<dynamics damping="much"/>'), "joint 'knee' has damping='much'"),
        (box("1 2"), "link 'leg' has size='1 2' in <box>"),
        (box("1 2 nan"), "link 'leg' has size='1 2 nan' in <box>"),
        (box("1e200 1 1"), "link 'leg' has size='1e200 1 1' in <box>"),
        (GEOMETRY.replace("{}", "sphere"), "link 'leg' has a <sphere> without radius"),
        (GEOMETRY.replace("{}", "mesh"), "link 'leg' has a <mesh> without filename"),
        (
            '{here}<material name="red"><color rgba="1 0 0"/></material>',
            "material 'red' has rgba='1 0 0'",
        ),
    ],
    "mass and inertia": [
        (
            link_with(
                '{here}<mass value="-1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
            ),
            "link 'leg' has value=-1 in <mass>",
        ),
        (
            link_with(
                '{here}<mass value="heavy"/>'
                '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
            ),
            "link 'leg' has value='heavy'",
        ),
        (
            link_with(
                '<mass value="1"/>\n{here}'
                '<inertia ixx="1" ixy="0" ixz="0" iyy="nan" iyz="0" izz="1"/>'
            ),
            "link 'leg' has iyy='nan'",
        ),
        (
            link_with(
                '<mass value="1"/>\n{here}<inertia ixx="1" ixy="0" ixz="0" iyy="1" izz="1"/>'
            ),
            "link 'leg' has a <inertia> without iyz",
        ),
        (
            '<link name="leg">\n{here}<inertial><mass value="1"/></inertial></link>',
            "link 'leg' has an <inertial> without <inertia>",
        ),
        (
            '<link name="leg">\n{here}<inertial></inertial></link>',
            "link 'leg' has an <inertial> without <mass>",
        ),
    ],
    "sizes": [
        (box("1 -2 3"), "link 'leg' has a <box> with a negative size"),
        (
            GEOMETRY.replace("{}", 'sphere radius="-1"'),
            "link 'leg' has a <sphere> with a negative size",
        ),
        (
            GEOMETRY.replace("{}", 'cylinder radius="1" length="-0.1"'),
            "link 'leg' has a <cylinder> with a negative size",
        ),
        (
            GEOMETRY.replace("{}", 'mesh filename="a.stl" scale="1 0 1"'),
            "link 'leg' has a mesh with scale",
        ),
    ],
    "limits": [
        (
            joint_with('<limit lower="1" upper="-1" effort="1" velocity="1"/>'),
            "joint 'knee' has limits lower=1, upper=-1",
        ),
        (
            joint_with('<limit lower="0.1" effort="1" velocity="1"/>', "prismatic"),
            "joint 'knee' has limits lower=0.1, upper=0",
        ),
        (
            joint_with('<limit lower="inf" upper="inf" effort="1" velocity="1"/>'),
            "joint 'knee' has limits lower=inf",
        ),
        (
            joint_with('<limit lower="0" upper="1" effort="-1" velocity="1"/>'),
            "joint 'knee' has effort=-1",
        ),
        (joint_with('<dynamics friction="-1"/>'), "joint 'knee' has friction=-1"),
    ],
    "axis and rotation": [
        (joint_with('<axis xyz="0 0 0"/>'), "joint 'knee' has an axis of length zero"),
        (joint_with('<axis xyz="0 0 0"/>', "prismatic"), "joint 'knee' has an axis of length zero"),
        (
            joint_with('<axis xyz="0 1e-20 0"/>', "planar"),
            "joint 'knee' has an axis of length zero",
        ),
        (
            joint_with('<origin quat_xyzw="0 0 0 0"/>'),
            "joint 'knee' has an <origin> with quat_xyzw of length zero",
        ),
        (
            joint_with('<origin quat_xyzw="0 0 0 1" rpy="0 0 0"/>'),
            "joint 'knee' has an <origin> with quat_xyzw",
        ),
        (joint_with('<origin quat_xyzw="0 0 1"/>'), "joint 'knee' has quat_xyzw='0 0 1'"),
    ],
    "mimic": [
        (
            MIMIC.replace("{}", '<mimic joint="jj"/>'),
            "joint 'k' mimics a joint that is not there: joint 'jj' not found",
        ),
        (MIMIC.replace("{}", '<mimic joint="k"/>'), "joint 'k' mimics itself through k → k"),
        (MIMIC.replace("{}", "<mimic/>"), "joint 'k' has a <mimic> without joint"),
        (
            MIMIC.replace("{}", '<mimic joint="j" multiplier="twice"/>'),
            "joint 'k' has multiplier='twice'",
        ),
        (
            ABC
            + joint("j", "a", "b")
            + joint("k", "b", "c", '\n{here}<mimic joint="j"/>', "revolute"),
            "joint 'k' mimics 'j', but 'j' is fixed",
        ),
        (
            ABC
            + joint("j", "a", "b", '\n{here}<mimic joint="k"/>', "continuous")
            + joint("k", "b", "c", '<mimic joint="j"/>', "continuous"),
            "joint 'j' mimics itself through j → k → j",
        ),
    ],
    "transmission": [
        (
            AB
            + joint("knee", "a", "b", LIMIT, "revolute")
            + '<transmission name="t"><joint name="knee"/>\n'
            + f"{{here}}<mechanicalReduction>{ratio}</mechanicalReduction></transmission>",
            f"joint 'knee' has a mechanicalReduction of '{ratio}'",
        )
        for ratio in ("fast", "nan", "0")
    ],
    "xacro": [
        (
            '<link name="a"/>\n{here}<xacro:leg xmlns:xacro="http://www.ros.org/wiki/xacro"/>',
            "<xacro:leg>",
        ),
        (
            '<link name="leg">\n{here}<xacro:box xmlns:xacro="http://www.ros.org/wiki/xacro"/>'
            "</link>",
            "<xacro:box>",
        ),
        (box("${width} 1 1"), "link 'leg' has size='${width} 1 1'"),
    ],
}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(*case, id=f"{kind}: {case[1]}")
        for kind, cases in FAULTS.items()
        for case in cases
    ],
)
def test_a_fault_is_refused_with_its_element_and_line(tmp_path, body, words):
    # the robot element is line 1
    line = 2 + body[: body.index("{here}")].count("\n")
    file = write(tmp_path, body.replace("{here}", ""))
    with pytest.raises(ModelError) as caught:
        urdf.read(file)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b"\0\1\2", "XML"),
        (b"<mujoco/>", "<mujoco>"),
        (b"<robot/>", "no <link>"),
        (b"<sdf/>", "<sdf>"),
    ],
)
def test_a_file_without_a_robot_is_refused_with_its_name(tmp_path, content, words):
    file = tmp_path / "r.urdf"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=words) as caught:
        urdf.read(file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_and_a_directory_are_refused(tmp_path):
    with pytest.raises(ModelError, match=r"gone\.urdf.*No such file"):
        urdf.read(tmp_path / "gone.urdf")
    with pytest.raises(ModelError, match="it is a directory"):
        urdf.read(tmp_path)


def test_entities_that_would_fill_the_memory_are_refused(tmp_path):
    levels = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12))
    file = tmp_path / "r.urdf"
    file.write_text(
        f'<!DOCTYPE robot [<!ENTITY a0 "1 2 3 4 5 6 7 8 9 0">{levels}]><robot name="r">'
        f'<link name="&a11;"/></robot>'
    )
    with pytest.raises(ModelError, match=r"r\.urdf"):
        urdf.read(file)


# ---- chance -----------------------------------------------------------------------------------

WHOLE = f"""<robot name="r">
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="base">{INERTIAL}
<visual><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><geometry><box size="1 2 3"/></geometry>
<material name="red"/></visual>
<collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision></link>
<link name="thigh">{INERTIAL}<collision><geometry><mesh filename="cube.stl" scale="1 -1 1"/>
</geometry></collision></link>
<link name="foot">{INERTIAL}<collision><geometry><sphere radius="0.1"/></geometry></collision>
</link>
<joint name="hip" type="revolute"><origin xyz="0 0 -0.1" rpy="0 0 1"/><parent link="base"/>
<child link="thigh"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="5"/><dynamics damping="0.1" friction="0.2"/>
</joint>
<joint name="ankle" type="revolute"><parent link="thigh"/><child link="foot"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="10" velocity="5"/>
<mimic joint="hip" multiplier="2" offset="0.1"/></joint>
<transmission name="t"><joint name="hip"/><actuator name="m">
<mechanicalReduction>100</mechanicalReduction></actuator></transmission>
<gazebo reference="foot"><mu1>0.9</mu1></gazebo>
</robot>"""


def mutated(chance: random.Random) -> bytes:
    """The whole robot with one character, attribute or element changed."""
    kind, text = chance.randrange(6), WHOLE
    if kind < 3:
        k = chance.randrange(len(text))
        new = ["", chance.choice("<>/\"'& -.e19x\0é_{}"), text[k] + chance.choice('<"&-9e.')][kind]
        return (text[:k] + new + text[k + 1 :]).encode()
    root = etree.fromstring(text)
    element = chance.choice([e for e in root.iter() if e.getparent() is not None])
    other = chance.choice(list(root.iter()))
    if kind == 3:
        element.getparent().remove(element)
    elif kind == 4 and element not in other.iterancestors() and element is not other:
        other.append(etree.fromstring(etree.tostring(element)))
    elif element.attrib:
        name = chance.choice(list(element.keys()))
        element.set(
            name,
            chance.choice(
                [
                    "",
                    "nan",
                    "1e400",
                    "-1",
                    "0 0 0",
                    "base",
                    "1 2 3 4 5",
                    "fixed",
                    "floating",
                    "∞",
                    "x" * 5000,
                ]
            ),
        )
    return etree.tostring(root)


@pytest.mark.slow
def test_300_mutations_of_a_robot_load_or_are_refused_in_one_sentence(tmp_path):
    (tmp_path / "cube.stl").write_bytes(cube_stl(0.1))
    chance, file, robots, refusals = random.Random(20), tmp_path / "r.urdf", [], []
    for _ in range(300):
        file.write_bytes(mutated(chance))
        try:
            robots.append(urdf.read(file))
        except ModelError as problem:
            refusals.append(str(problem))
    assert all(text.startswith(str(file)) and "\n" not in text for text in refusals)
    assert all(np.isfinite(X.p).all() for robot in robots for X in robot.placements().values())
    # both ends are met: a reader that refused or took everything would prove nothing
    assert min(len(robots), len(refusals)) > 60
