"""Loading by suffix and content, and feet: declared, found by name, or refused with the link."""

import gc

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.formats.load import load
from tabi.model.robot import Robot

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
BOX = (
    '<collision><origin xyz="0.05 0 -0.04"/><geometry><box size="0.2 0.1 0.02"/></geometry>'
    "</collision>"
)
MESH = '<collision><geometry><mesh filename="package://lost/foot.stl"/></geometry></collision>'
HEAD = '<robot name="biped">\n<link name="pelvis"/>\n'


def leg(foot: str, shapes: str = BOX) -> str:
    """A leg of two links; the foot's link has its line for itself."""
    joints = [(f"{foot}_hip", "pelvis", f"{foot}_shin"), (f"{foot}_ankle", f"{foot}_shin", foot)]
    text = f'<link name="{foot}_shin"/>\n<link name="{foot}">{shapes}</link>\n'
    return text + "".join(
        f'<joint name="{j}" type="revolute"><parent link="{p}"/><child link="{c}"/>{LIMIT}'
        f"</joint>\n"
        for j, p, c in joints
    )


def biped(folder, *legs: str, name: str = "biped.urdf"):
    file = folder / name
    file.write_text(HEAD + "".join(legs) + "</robot>\n")
    return file


# ---- who reads the file -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.urdf", "a.URDF", "a.xml", "a.mjcf"])
def test_a_robot_element_is_read_as_urdf_whatever_the_suffix(tmp_path, name):
    robot = load(biped(tmp_path, leg("left_foot"), name=name), base="fixed", name="walker")
    assert robot.name == "walker"
    assert robot.base.joint.kind == "fixed"
    assert robot.file == tmp_path / name


@pytest.mark.parametrize(
    ("name", "content", "module"),
    [
        ("a.xml", "<mujoco/>", "mjcf"),
        ("a.mjcf", "<mujoco/>", "mjcf"),
        ("a.urdf", '<?xml version="1.0"?><!-- x --><mujoco/>', "mjcf"),
        ("a.WRL", "#VRML", "openhrp"),
        ("a.body", "format: ChoreonoidBody", "choreonoid"),
    ],
)
def test_mjcf_vrml_and_body_files_go_to_their_readers(tmp_path, monkeypatch, name, content, module):
    asked = []
    monkeypatch.setattr(
        f"tabi.formats.{module}.reader.read",
        lambda path, base=None: asked.append((path, base)) or Robot("from elsewhere"),
    )
    (tmp_path / name).write_text(content)
    assert load(tmp_path / name, feet={}, base="fixed").name == "from elsewhere"
    assert asked == [(tmp_path / name, "fixed")]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xacro", "<robot/>", "expand it first"),
        ("a.urdf.xacro", "<robot/>", "expand it first"),
        ("a.sdf", "<sdf/>", "suffix '.sdf' is not known; expected .urdf, .xml or .mjcf"),
        ("a", "<robot/>", "suffix '' is not known"),
        ("a.xml", "<sdf/>", "root element is <sdf>; expected <robot>"),
        ("a.xml", "<robot name='r'>\n<link>", "line 2"),
        ("a.urdf", "", "file is empty"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_what_is_known(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(ModelError) as caught:
        load(tmp_path / name)
    assert words in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["gone.urdf", "gone.wrl", "x" * 5000 + ".urdf", "a\0b.urdf"])
def test_a_file_that_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(ModelError, match="no such file"):
        load(f"{tmp_path}/{name}")


@pytest.mark.filterwarnings(
    "error::ResourceWarning", "error::pytest.PytestUnraisableExceptionWarning"
)
def test_no_file_stays_open(tmp_path):
    robot = load(biped(tmp_path, leg("left_foot")))
    gc.collect()
    assert robot.name == "biped"


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(ModelError, match="it is a directory"):
        load(tmp_path)


# ---- feet that are given ------------------------------------------------------------------------


def test_a_foot_given_by_name_stands_on_the_lowest_face_of_its_shapes(tmp_path):
    robot = load(biped(tmp_path, leg("hoof")), feet={"left": "hoof"})
    foot = robot.feet["left"]
    corners = {tuple(np.round(c, 12)) for c in foot.corners()}
    # the box of 0.2 × 0.1 × 0.02 m around (0.05, 0, −0.04)
    assert corners == {(x, y, -0.05) for x in (-0.05, 0.15) for y in (-0.05, 0.05)}
    assert foot.body is robot.body("hoof")


def test_a_foot_given_with_polygon_and_position_needs_no_shape(tmp_path):
    square = [[0.1, 0.05], [-0.1, 0.05], [-0.1, -0.05], [0.1, -0.05]]
    robot = load(
        biped(tmp_path, leg("hoof", MESH)),
        feet={"left": {"body": "hoof", "polygon": square, "position": [0, 0, -0.1]}},
    )
    assert robot.feet["left"].area == pytest.approx(0.02, rel=1e-12)
    assert set(robot.feet["left"].corners()[:, 2]) == {-0.1}


def test_a_polygon_on_a_body_whose_z_points_down_asks_for_a_quaternion(example_robots):
    icub = example_robots / "icub_description" / "robots" / "icub_reduced.urdf"
    square = [[0.1, 0.03], [0, 0.03], [0, -0.03], [0.1, -0.03]]
    with pytest.raises(ModelError, match="foot 'left' on body 'l_foot' has its z axis downwards"):
        load(icub, feet={"left": {"body": "l_foot", "polygon": square}})
    robot = load(
        icub, feet={"left": {"body": "l_foot", "polygon": square, "quaternion": [0, 1, 0, 0]}}
    )
    robot.stand_on_ground()
    assert robot.placements()[robot.base].p[2] > 0.5


@pytest.mark.parametrize(
    ("feet", "words"),
    [
        (
            {"left": "hooof"},
            (
                "foot 'left' stands on a body that is not there: body 'hooof' not found in biped; "
                "bodies near that name: 'hoof'"
            ),
        ),
        (
            {"left": {"body": "hoof", "polygone": []}},
            (
                "foot 'left' has the key 'polygone'; expected keys among body, polygon, position, "
                "quaternion"
            ),
        ),
        ({"left": {"body": "hoof", 3: []}}, "foot 'left' has the key 3"),
        ({"left": {"polygon": [[0, 0]]}}, "foot 'left' has no body"),
        ({"left": 7}, "foot 'left' is 7"),
        (["hoof"], "feet are ['hoof']"),
        ("hoof", "feet are 'hoof'"),
        (
            {"left": {"body": "hoof", "position": [0, 0, 0]}},
            "foot 'left' has a position without a polygon",
        ),
        (
            {"left": {"body": "hoof", "quaternion": [1, 0, 0, 0]}},
            "foot 'left' has a quaternion without a polygon",
        ),
        (
            {"left": {"body": "hoof", "polygon": [[0, 0], [1, 0], [0, 1]], "quaternion": [0, 1]}},
            "foot 'left' has quaternion [0, 1]; expected [w, x",
        ),
        (
            {
                "left": {
                    "body": "hoof",
                    "polygon": [[0, 0], [1, 0], [0, 1]],
                    "quaternion": [0, 1, 0, 0],
                }
            },
            "foot 'left' on body 'hoof' has its z axis",
        ),
        (
            {"left": {"body": "hoof", "polygon": [[0, 0], [1, 0]]}},
            "foot 'left' has a sole of shape (2, 2)",
        ),
        (
            {"left": {"body": "hoof", "polygon": [[0, 0], [1, 0], [2, 0]]}},
            "foot 'left' has a sole of area 0",
        ),
        (
            {"left": {"body": "hoof", "polygon": [[0, 0], [1, 0], [0, float("nan")]]}},
            "foot 'left' has polygon",
        ),
        ({"left": {"body": "hoof", "polygon": "square"}}, "foot 'left' has polygon 'square'"),
        (
            {"left": {"body": "hoof", "polygon": [[0, 0], [1, 0], [0, 1]], "position": [0, 0]}},
            "foot 'left' has position [0, 0]; expected [x, y, z]",
        ),
    ],
)
def test_a_foot_that_cannot_be_is_refused_with_its_name(tmp_path, feet, words):
    file = biped(tmp_path, leg("hoof"))
    with pytest.raises(ModelError) as caught:
        load(file, feet=feet)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (MESH, "collision mesh 'package://lost/foot.stl' is missing"),
        (BOX + MESH, "collision mesh 'package://lost/foot.stl' is missing"),
        (
            MESH.replace("package://lost/foot.stl", "torn.stl"),
            "collision mesh 'torn.stl' is missing or cannot be used",
        ),
        ("", "has no collision shape"),
        (BOX.replace("collision>", "visual>"), "has no collision shape"),
    ],
)
@pytest.mark.parametrize("declared", ["hoof", {"body": "hoof"}])
def test_a_foot_whose_sole_cannot_be_seen_is_refused_with_file_line_link_and_mesh(
    tmp_path, shapes, words, declared
):
    (tmp_path / "torn.stl").write_bytes(b"solid")
    file = biped(tmp_path, leg("hoof", shapes))
    with pytest.raises(ModelError) as caught:
        load(file, feet={"left": declared})
    # the foot's link is the second line after the head of two
    assert str(caught.value).startswith(
        f"{file}, line 4: link 'hoof' is declared the foot 'left' but"
    )
    assert words in str(caught.value)


# ---- feet that are not --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("l_foot", "r_foot"),
        ("LeftFoot", "RightFoot"),
        ("L_ANKLE_R", "R_ANKLE_R"),
        ("LLEG_ANKLE_R", "RLEG_ANKLE_R"),
        ("lsole", "rsole"),
        ("foot_left", "foot_right"),
    ],
)
def test_feet_are_found_by_name_and_the_note_says_so(tmp_path, left, right):
    robot = load(biped(tmp_path, leg(right), leg(left)))
    assert {side: foot.body.name for side, foot in robot.feet.items()} == {
        "left": left,
        "right": right,
    }
    assert any(
        "feet found by name" in n and repr(left) in n and repr(right) in n for n in robot.notes
    )


@pytest.mark.parametrize(
    ("legs", "words"),
    [
        ([leg("l_foot"), leg("r_foot", "")], "among 'l_foot', 'r_foot' (no collision shape)"),
        ([leg("l_foot"), leg("r_foot", MESH)], "'r_foot' (its mesh is missing)"),
        (
            [leg("LF_FOOT"), leg("RF_FOOT"), leg("LH_FOOT"), leg("RH_FOOT")],
            "among 'LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT'",
        ),
        (
            [leg("l_foot1"), leg("r_foot1"), leg("l_foot2"), leg("r_foot2")],
            "among 'l_foot1', 'r_foot1', 'l_foot2', 'r_foot2'",
        ),
        (
            [leg("l_hoof"), leg("r_hoof"), leg("torsoLeft")],
            "no end body is named foot, sole, ankle or toe",
        ),
    ],
)
def test_feet_that_are_not_plain_are_left_to_the_user_with_the_candidates(tmp_path, legs, words):
    robot = load(biped(tmp_path, *legs))
    assert robot.feet == {}
    assert any(n.startswith("no feet declared") and words in n for n in robot.notes)


def test_feet_found_by_name_without_a_sole_are_no_feet(tmp_path):
    tiny = BOX.replace("0.2 0.1 0.02", "1e-5 1e-5 1e-5")
    robot = load(biped(tmp_path, leg("l_foot"), leg("r_foot", tiny)))
    assert robot.feet == {}
    assert any("cannot be used" in n and "'right'" in n for n in robot.notes)


def test_no_feet_are_looked_for_where_none_are_wanted(tmp_path):
    robot = load(biped(tmp_path, leg("l_foot"), leg("r_foot")), feet={})
    assert robot.feet == {}
    assert not any("feet" in n for n in robot.notes)


def test_a_fixed_sole_below_the_foot_does_not_hide_it(tmp_path):
    sole = (
        '<link name="l_sole"/><joint name="s" type="fixed"><parent link="l_foot"/>'
        '<child link="l_sole"/></joint>'
    )
    robot = load(biped(tmp_path, leg("l_foot"), leg("r_foot"), sole))
    assert robot.feet["left"].body.name == "l_foot"


def test_feet_of_robots_nobody_here_wrote(example_robots):
    icub = load(example_robots / "icub_description" / "robots" / "icub_reduced.urdf")
    assert {side: foot.body.name for side, foot in icub.feet.items()} == {
        "left": "l_foot",
        "right": "r_foot",
    }
    talos = load(
        example_robots / "talos_data" / "robots" / "talos_reduced_box.urdf",
        feet={"left": "leg_left_6_link"},
    )
    # there the foot is a box of 0.21 m × 0.13 m × 0.02 m around (0, 0, −0.1)
    assert np.ptp(talos.feet["left"].polygon, axis=0) == pytest.approx([0.21, 0.13], abs=1e-12)
    assert talos.feet["left"].placement.p == pytest.approx([0, 0, -0.11], abs=1e-12)
