"""Feet of files that nobody declared: by names of many spellings, by their place, without toes."""

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.model.feet import names as foot_names
from tabi.robots import files

LIMIT = '<limit lower="-1" upper="1" effort="100" velocity="10"/>'


def box(size, at):
    x, y, z = at
    return (
        f'<collision><origin xyz="{x} {y} {z}"/><geometry><box size="{size}"/></geometry>'
        f"</collision>"
    )


def link(name, shapes=""):
    inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><mass value="1"/>{inertia}</inertial>{shapes}</link>'


def joint(parent, child, at=(0, 0, 0), kind="revolute"):
    return (
        f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at[0]} {at[1]} {at[2]}"/><axis xyz="0 1 0"/>{LIMIT}</joint>'
    )


# 0.2 × 0.1 m, 0.05 m below the ankle; a heel and a toe side by side, as low
SOLE = box("0.2 0.1 0.02", (0.03, 0, -0.04))
HEEL, TOE = box("0.14 0.1 0.02", (0, 0, -0.04)), box("0.06 0.1 0.02", (0.03, 0, 0.01))


def leg(side, foot, y, shapes=SOLE, more=""):
    return (
        link(f"{side}_thigh")
        + joint("trunk", f"{side}_thigh", (0, y, 0))
        + link(foot, shapes)
        + joint(f"{side}_thigh", foot, (0, 0, -0.4))
        + more
    )


def loaded(folder, *parts, **settings):
    file = folder / "biped.urdf"
    file.write_text(f'<robot name="biped">{link("trunk")}{"".join(parts)}</robot>')
    with files.quietly():
        return tabi.load(file, **settings)


def bodies(robot):
    return {side: foot.body.name for side, foot in robot.feet.items()}


def note(robot, words):
    (found,) = [note for note in robot.notes if words in note]
    return found


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("toeLeft", "toeRight"),
        ("LeftToe", "RightToe"),
        ("footL", "footR"),
        ("foot_l_link", "foot_r_link"),
        ("LFoot", "RFoot"),
        ("l-sole", "r-sole"),
        ("leg_left_ankle", "leg_right_ankle"),
        ("ANKLE_R_L", "ANKLE_R_R"),
        ("R_ANKLE_L", "R_ANKLE_R"),
        ("LEFTFOOT", "RIGHTFOOT"),
        ("footleft", "footright"),
        ("soleL2", "soleR2"),
        ("L_FEET", "R_FEET"),
    ],
)
def test_feet_of_many_spellings_are_found_by_name(tmp_path, left, right):
    # the right one first and on the left, so that shapes would say otherwise
    robot = loaded(tmp_path, leg("a", right, 0.1), leg("b", left, -0.1))
    assert bodies(robot) == {"left": left, "right": right}
    assert repr(left) in note(robot, "feet found by name")
    assert "give feet={…}" in note(robot, "feet found by name")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("torso", None),
        ("left_hand", None),
        ("toolLeft", None),
        ("LLEG_ANKLE_R", "ankle"),
        ("l_foot_sole", "sole"),
        ("toeLeft", "toe"),
    ],
)
def test_words_of_a_name_tell_a_part_of_a_foot(name, found):
    assert foot_names.part(name) == found


def test_the_side_is_told_by_the_word_that_has_an_opposite():
    names = {"ANKLE_R_L", "ANKLE_R_R", "L_ANKLE_R", "R_ANKLE_R"}
    assert [foot_names.side(name, names) for name in ("ANKLE_R_L", "ANKLE_R_R")] == [
        "left",
        "right",
    ]
    assert foot_names.side("L_ANKLE_R", {"L_ANKLE_R", "R_ANKLE_R"}) == "left"
    assert foot_names.side("R_ANKLE_R", {"L_ANKLE_R", "R_ANKLE_R"}) == "right"
    # without an opposite the first word counts
    assert foot_names.side("L_ANKLE_R", {"L_ANKLE_R"}) == "left"
    assert foot_names.side("FL_FOOT", {"FR_FOOT"}) is None


def toe(of, name, shapes=TOE):
    return link(name, shapes) + joint(of, name, (0.1, 0, -0.05))


@pytest.mark.parametrize(
    ("ankle", "toes", "how"),
    [
        ("{}_ANKLE_R", "{}_TOE_P", "by name"),
        ("{}_LINK6", "{}_TOE_P", "by name"),
        ("{}_link6", "{}_link7", "by shape"),
    ],
)
def test_a_toe_on_a_foot_is_no_foot(tmp_path, ankle, toes, how):
    legs = [
        leg(side, ankle.format(side), y, HEEL, toe(ankle.format(side), toes.format(side)))
        for side, y in (("L", 0.1), ("R", -0.1))
    ]
    robot = loaded(tmp_path, *legs)
    assert bodies(robot) == {"left": ankle.format("L"), "right": ankle.format("R")}
    # the heel's own sole
    assert np.ptp(robot.feet["left"].polygon, axis=0) == pytest.approx([0.14, 0.1])
    said = note(robot, f"feet found {how}")
    assert f"toes {toes.format('L')!r}, {toes.format('R')!r} hang" in said


def test_a_toe_that_bears_alone_is_the_foot(tmp_path):
    high = box("0.14 0.1 0.02", (0, 0, 0.1))
    legs = [
        leg(side, f"{side}_ankle", y, high, toe(f"{side}_ankle", f"{side}_toe", SOLE))
        for side, y in (("l", 0.1), ("r", -0.1))
    ]
    assert bodies(loaded(tmp_path, *legs)) == {"left": "l_toe", "right": "r_toe"}


def test_a_foot_under_an_ankle_that_reaches_as_low_is_no_toe(tmp_path):
    # a housing of the ankle inside of the foot's outline
    housing, below = box("0.04 0.04 0.05", (0, 0, -0.02)), box("0.2 0.1 0.02", (0.03, 0, -0.04))
    legs = [
        leg(side, f"{side}6", y, housing, link(f"{side}7", below) + joint(f"{side}6", f"{side}7"))
        for side, y in (("l", 0.1), ("r", -0.1))
    ]
    assert bodies(loaded(tmp_path, *legs)) == {"left": "l7", "right": "r7"}


def test_of_several_named_pairs_the_lowest_one_is_the_feet(tmp_path):
    rods = [
        link(f"{side}_ankle_rod", SOLE) + joint(f"{side}_thigh", f"{side}_ankle_rod", (0, 0, -0.2))
        for side in ("left", "right")
    ]
    legs = [leg(side, f"{side}_toe", y) for side, y in (("left", 0.1), ("right", -0.1))]
    robot = loaded(tmp_path, *legs, *rods)
    assert bodies(robot) == {"left": "left_toe", "right": "right_toe"}


def test_names_tell_the_side_of_feet_that_shapes_find(tmp_path):
    robot = loaded(tmp_path, leg("a", "pad_right", 0.1), leg("b", "pad_left", -0.1))
    assert bodies(robot) == {"left": "pad_left", "right": "pad_right"}
    assert "the lowest ends of two equal legs" in note(robot, "feet found by shape")


# ---- feet that are given ------------------------------------------------------------------------


def test_a_given_link_has_the_sole_of_what_is_fixed_to_it(tmp_path):
    plate = link("plate", SOLE) + joint("hoof", "plate", kind="fixed")
    robot = loaded(tmp_path, leg("l", "hoof", 0.1, "", plate), feet={"left": "hoof"})
    assert robot.feet["left"].body.name == "plate"
    assert np.ptp(robot.feet["left"].polygon, axis=0) == pytest.approx([0.2, 0.1])
    assert "whose shapes are those of 'hoof'" in note(robot, "foot 'left' is on 'plate'")


def test_a_given_link_that_is_only_seen_says_how_to_let_it_collide(tmp_path):
    seen = SOLE.replace("collision>", "visual>")
    with pytest.raises(ModelError, match='load it with collision="visual"'):
        loaded(tmp_path, leg("l", "hoof", 0.1, seen), feet={"left": "hoof"})
    robot = loaded(tmp_path, leg("l", "hoof", 0.1, seen), feet={"left": "hoof"}, collision="visual")
    assert robot.feet["left"].area == pytest.approx(0.02)


@pytest.mark.parametrize("lean", [0.01, 0.05])
def test_a_foot_that_leans_in_the_zero_pose_has_its_whole_sole(tmp_path, lean):
    # two cylinders that lie along the foot, 5 cm apart, and lean together
    radius, length, apart = 0.015, 0.22, 0.05
    rods = "".join(
        f'<collision><origin xyz="0.04 {y} -0.05" rpy="0 {np.pi / 2 + lean} 0"/><geometry>'
        f'<cylinder radius="{radius}" length="{length}"/></geometry></collision>'
        for y in (-apart / 2, apart / 2)
    )
    robot = loaded(tmp_path, leg("l", "hoof", 0.1, rods), feet={"left": "hoof"})
    foot = robot.feet["left"]
    assert np.ptp(foot.polygon, axis=0) == pytest.approx([length, apart], abs=1e-9)
    # its normal leans with the cylinders, and their axes are a radius above it
    assert foot.placement.R[:, 2] == pytest.approx([np.sin(lean), 0, np.cos(lean)], abs=1e-9)
    axis = foot.placement.inverse() @ np.array([0.04, 0.0, -0.05])
    assert axis[2] == pytest.approx(radius, abs=1e-9)


def test_a_foot_that_leans_by_more_than_five_degrees_is_an_edge(tmp_path):
    tilted = SOLE.replace("/><geometry>", ' rpy="0 0.2 0"/><geometry>')
    with pytest.raises(ModelError, match="touches the ground in fewer than three points"):
        loaded(tmp_path, leg("l", "hoof", 0.1, tilted), feet={"left": "hoof"})


def test_two_feet_on_one_body_are_refused(tmp_path):
    with pytest.raises(ModelError) as refused:
        loaded(tmp_path, leg("l", "hoof", 0.1), feet={"left": "hoof", "right": "hoof"})
    assert "feet 'left' and 'right' are both on body 'hoof'; expected two bodies" in str(
        refused.value
    )


def test_a_single_cylinder_that_lies_is_a_narrow_sole(tmp_path):
    rod = (
        f'<collision><origin xyz="0 0 -0.05" rpy="0 {np.pi / 2} 0"/><geometry>'
        '<cylinder radius="0.04" length="0.2"/></geometry></collision>'
    )
    foot = loaded(tmp_path, leg("l", "hoof", 0.1, rod), feet={"left": "hoof"}).feet["left"]
    long, wide = np.ptp(foot.polygon, axis=0)
    assert long == pytest.approx(0.2)
    # at most the chord 2 mm above its lowest line
    assert 0 < wide <= 2 * np.sqrt(2 * 0.04 * 2e-3)
