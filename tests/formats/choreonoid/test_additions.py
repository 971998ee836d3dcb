"""What Choreonoid's files say of feet and poses, in a body file and beside a model file."""

import math

import numpy as np
import pytest

import tabi
from tabi.robots import files

HEAD = "format: ChoreonoidBody\nformatVersion: 1.0\nname: biped\n"


def leg(side, y):
    """Hip, ankle with a heel, and a toe in front of it that stands as low."""
    return f"""  - name: {side}_HIP
    parent: WAIST
    joint_type: revolute
    joint_axis: Y
    joint_id: {0 if side == "R" else 3}
    translation: [ 0, {y}, 0 ]
    mass: 1
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
  - name: {side}_ANKLE
    parent: {side}_HIP
    joint_type: revolute
    joint_axis: Y
    joint_id: {1 if side == "R" else 4}
    translation: [ 0, 0, -0.4 ]
    mass: 1
    inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]
    elements:
      - type: Transform
        translation: [ 0, 0, -0.04 ]
        elements:
          - {{ type: Shape, geometry: {{ type: Box, size: [ 0.14, 0.1, 0.02 ] }} }}
  - name: {side}_TOE
    parent: {side}_ANKLE
    joint_type: revolute
    joint_axis: Y
    joint_id: {2 if side == "R" else 5}
    translation: [ 0.1, 0, -0.04 ]
    mass: 0.1
    inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ]
    elements:
      - {{ type: Shape, geometry: {{ type: Box, size: [ 0.06, 0.1, 0.02 ] }} }}
"""


WAIST = """links:
  - name: WAIST
    joint_type: free
    mass: 4
    inertia: [ 0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.3 ]
"""
LINKS = WAIST + leg("R", -0.1) + leg("L", 0.1)
ANKLES = """footLinks:
  - { link: R_ANKLE, soleCenter: [ 0.0, 0.0, -0.05 ] }
  - { link: L_ANKLE, soleCenter: [ 0.0, 0.0, -0.05 ] }
"""


def loaded(folder, text, name="biped.body", **settings):
    (folder / name).write_text(text, encoding="utf-8")
    with files.quietly():
        return tabi.load(folder / name, **settings)


def bodies(robot):
    return {name: foot.body.name for name, foot in robot.feet.items()}


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (ANKLES, "ANKLE"),
        (ANKLES.replace("ANKLE", "TOE"), "TOE"),
        (ANKLES.replace("footLinks", "foot_links").replace("soleCenter", "sole_center"), "ANKLE"),
        ("foot_links: [ L_TOE, R_TOE ]\n", "TOE"),
    ],
)
def test_the_feet_are_the_links_that_the_file_declares(tmp_path, keys, found):
    robot = loaded(tmp_path, HEAD + keys + LINKS)
    assert bodies(robot) == {"left": f"L_{found}", "right": f"R_{found}"}
    size = [0.14, 0.1] if found == "ANKLE" else [0.06, 0.1]
    assert np.ptp(robot.feet["left"].polygon, axis=0) == pytest.approx(size)
    (note,) = [note for note in robot.notes if "foot_links" in note]
    assert note.startswith("feet of the file's foot_links: ")
    assert "give feet={…}" in note


def test_declared_feet_without_a_side_in_their_names_are_left_where_they_are_left(tmp_path):
    text = LINKS.replace("R_", "A").replace("L_", "B")
    robot = loaded(tmp_path, HEAD + "foot_links: [ AANKLE, BANKLE ]\n" + text)
    assert bodies(robot) == {"left": "BANKLE", "right": "AANKLE"}


def test_the_callers_feet_come_before_those_of_the_file(tmp_path):
    robot = loaded(tmp_path, HEAD + ANKLES + LINKS, feet={"left": "L_TOE", "right": "R_TOE"})
    assert bodies(robot) == {"left": "L_TOE", "right": "R_TOE"}


def test_declared_feet_without_a_shape_are_told_with_the_middles_of_their_soles(tmp_path):
    text = LINKS.replace("type: Box, size: [ 0.14, 0.1, 0.02 ]", "type: Sphere, radius: 0.01")
    robot = loaded(tmp_path, HEAD + ANKLES + text)
    (note,) = [note for note in robot.notes if "foot_links" in note]
    assert "cannot be used" in note
    assert "'R_ANKLE' at [0.0, 0.0, -0.05]" in note


def test_a_declared_foot_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(tabi.ModelError, match="link that is not there: body 'R_ANKEL' not found"):
        loaded(tmp_path, HEAD + ANKLES.replace("R_ANKLE", "R_ANKEL") + LINKS)


# ---- files that only add ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["HRP.yaml", "HRP.body", "HRP.yml"])
def test_a_file_that_adds_to_a_model_gives_it_feet_and_a_pose(tmp_path, name):
    loaded(tmp_path, HEAD + LINKS, "model.body")
    adds = f"modelFile: model.body\nstandardPose: [ 0, 30, 0, 0, -15 ]\nlinkGroup: []\n{ANKLES}"
    robot = loaded(tmp_path, adds, name)
    assert robot.name == "biped"
    assert bodies(robot) == {"left": "L_ANKLE", "right": "R_ANKLE"}
    assert robot.half_sitting["R_ANKLE"] == pytest.approx(math.radians(30))
    assert robot.half_sitting["L_ANKLE"] == pytest.approx(math.radians(-15))
    assert f"{name} adds to model.body" in robot.notes
    assert f"ignored of {name}: link_group" in robot.notes


def test_a_file_adds_to_a_urdf_too(tmp_path):
    (tmp_path / "box.urdf").write_text(
        '<robot name="box"><link name="only"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="1 1 1"/>'
        "</geometry></collision></link></robot>",
        encoding="utf-8",
    )
    robot = loaded(tmp_path, "modelFile: box.urdf\nname: crate\nfootLinks: [ only ]\n", "c.yaml")
    assert robot.name == "crate"
    assert bodies(robot) == {"only": "only"}


@pytest.mark.parametrize(
    ("model", "words"),
    [("lost.wrl", "'lost.wrl', which is not beside it"), ("HRP.yaml", "only adds to another")],
)
def test_a_file_that_adds_to_nothing_is_refused(tmp_path, model, words):
    with pytest.raises(tabi.ModelError) as refused:
        loaded(tmp_path, f"modelFile: {model}\n", "HRP.yaml")
    assert words in str(refused.value)
    assert "line 1" in str(refused.value)


def test_sr1_stands_on_the_links_that_its_file_declares(shared):
    with files.quietly():
        robot = tabi.load(shared / "data/robots/sr1/SR1.body")
    assert bodies(robot) == {"left": "LLEG_ANKLE_R", "right": "RLEG_ANKLE_R"}
    assert any(note.startswith("feet of the file's foot_links") for note in robot.notes)
    # the middle of the sole that it tells lies in the one that was found
    for foot in robot.feet.values():
        p = foot.placement.inverse() @ np.array(robot.foot_links[foot.body.name])
        assert (foot.polygon.min(axis=0) <= p[:2]).all()
        assert (p[:2] <= foot.polygon.max(axis=0)).all()
        assert abs(p[2]) < 5e-3
