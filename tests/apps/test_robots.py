"""Robots as the command line names them."""

import pytest

from tabi import ModelError
from tabi.apps.robots import named, standing

URDF = """<robot name="pole"><link name="foot">
<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link></robot>"""


def test_a_robot_has_a_name_or_a_file(tmp_path):
    (tmp_path / "pole.urdf").write_text(URDF)
    assert named("hrp2").name == "hrp2"
    assert named("hrp1s").name == "hrp1s"
    assert named(str(tmp_path / "pole.urdf"), ["only=foot"]).feet["only"].body.name == "foot"


@pytest.mark.parametrize(
    ("name", "feet", "base", "words"),
    [
        ("hrp3", None, None, "robot 'hrp3' is neither built in"),
        ("hrp2", ["left=x"], None, "hrp2 is built in"),
        ("hrp2", None, "fixed", "hrp2 is built in"),
        ("pole.urdf", ["left"], None, "--foot 'left' is not NAME=BODY"),
        ("pole.urdf", ["a=foot", "a=foot"], None, "--foot declares 'a' twice"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(tmp_path, monkeypatch, name, feet, base, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pole.urdf").write_text(URDF)
    with pytest.raises(ModelError, match=words):
        named(name, feet, base)


def test_a_robot_stands_on_the_ground(tmp_path):
    (tmp_path / "pole.urdf").write_text(URDF)
    world, robot = standing(str(tmp_path / "pole.urdf"), None, None)
    assert world.robots == [robot]
    # half a box of 0.1 m
    assert robot.base.joint.position[2] == pytest.approx(0.05)
