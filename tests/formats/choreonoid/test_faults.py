"""Choreonoid body files that cannot be right: one sentence, with file, line and key."""

import pytest

import tabi

GOOD = """format: ChoreonoidBody
format_version: 2.0
name: toy
links:
  - name: base
    joint_type: free
    mass: 1
    elements:
      - type: Shape
        geometry: { type: Box, size: [ 1, 1, 1 ] }
      - { type: ForceSensor, name: f }
  - name: arm
    parent: base
    joint_type: revolute
    joint_axis: X
    joint_range: [ -9, 9 ]
    rotation: [ 0, 0, 1, 90 ]
    mass: 1
    inertia: [ 1, 0, 0, 1, 0, 1 ]
"""
FAULTS = [
    ("format: ChoreonoidBody", "format: Body", 1, "has format 'Body'; expected format: Choreonoid"),
    ("format_version: 2.0", "format_version: 3", 2, "has format_version 3; expected 1.0 to 2.0"),
    ("format_version: 2.0", "angle_unit: turn", 2, "has angle_unit 'turn'; expected degree or rad"),
    ("name: toy", "root_link: bas", 3, "a root_link that is not there: link 'bas' not found"),
    ("name: toy", "a: [", 5, "not well-formed YAML"),
    ("name: toy", "name: toy\nname: boy", 4, "the file has the key 'name' twice"),
    ("  - name: base", "  - title: base", 5, "link 1 has no name; expected name"),
    ("  - name: base", "  - type: SubBody", 5, "link 1 is a SubBody, which is not read"),
    ("name: arm", "name: base", 12, "link 'base' occurs twice, first in line 5"),
    (
        "parent: base",
        "parent: bass",
        13,
        "a parent that is not there: link 'bass' not found in toy",
    ),
    ("parent: base", "parent: arm", 13, "link 'arm' is carried by itself; expected a tree"),
    ("    parent: base\n", "", 12, "link 'arm' has no parent, nor is it the root 'base'"),
    ("revolute", "hinge", 14, "has joint_type 'hinge'; expected one of free, fixed, revolute"),
    ("revolute", "free", 14, "link 'arm' is free but not the root"),
    ("joint_type: free", "joint_type: revolute", 6, "is the root and its joint is revolute"),
    ("axis: X", "axis: W", 15, "has joint_axis 'W'; expected X, Y, Z, -X, -Y, -Z or three"),
    ("axis: X", "axis: [ 0, 0, 0 ]", 15, r"has joint_axis \[0, 0, 0\]; expected a direction"),
    ("[ -9, 9 ]", "[ 9, -9 ]", 16, r"has joint_range \[9, -9\]; expected \[lower, upper\]"),
    ("[ -9, 9 ]", "[ -9, wide ]", 16, r"has joint_range \[-9, wide\]"),
    ("[ -9, 9 ]", "{ a: 1 }", 16, "has joint_range a mapping"),
    ("[ 0, 0, 1, 90 ]", "[ 0, 0, 1 ]", 17, r"expected \[x, y, z, angle\]"),
    ("[ 0, 0, 1, 90 ]", "[ 0, 0, 0, 90 ]", 17, "about no axis; expected a direction"),
    ("[ 1, 0, 0, 1, 0, 1 ]", "[ 1, 0, 0 ]", 19, r"inertia \[1, 0, 0\]; expected 6 or 9 finite"),
    ("[ 1, 0, 0, 1, 0, 1 ]", "[ .nan, 0, 0, 1, 0, 1 ]", 19, "expected 6 or 9 finite numbers"),
    ("    rotation: [", "    joint_id: 1.5\n    rotation: [", 17, "joint_id 1.5; expected a whole"),
    ("    rotation: [", "    rotor_inertia: -1\n    rotation: [", 17, "rotor_inertia -1; expected"),
    ("    mass: 1\n    el", "    mass: -1\n    el", 7, "has mass -1 kg; expected a number ≥ 0"),
    ("    mass: 1\n    el", "    mass: one\n    el", 7, "has mass 'one'; expected a finite number"),
    ("      - type: Shape", "      - kind: Shape", 9, "an element of link 'base' has no type"),
    ("size: [ 1, 1, 1 ]", "size: [ 1, 1 ]", 10, r"has size \[1, 1\]; expected 3 finite numbers"),
    ("size: [ 1, 1, 1 ]", "size: [ 1, 1, 0 ]", 10, "expected three positive lengths"),
    ("Box, size: [ 1, 1, 1 ]", "Sphere", 10, "Shape of link 'base' has no radius; expected a num"),
    ("Box, size: [ 1, 1, 1 ]", "Sphere, radius: -1", 10, "radius -1; expected a positive length"),
    ("name: f }", "name: f }\n      - { type: Imu, name: f }", 12, "the second sensor 'f' of the"),
    ("links:", "extra_joints: [ { link1_name: x } ]\nlinks:", 4, "link1_name that is not there"),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), FAULTS)
def test_a_fault_is_named_with_its_line_and_key(tmp_path, old, new, line, said):
    file = tmp_path / "toy.body"
    assert GOOD.count(old)
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(tabi.ModelError, match=said) as raised:
        tabi.load(file)
    assert (raised.value.file, raised.value.line) == (file, line)


def test_the_file_without_faults_loads(tmp_path):
    (tmp_path / "toy.body").write_text(GOOD)
    assert len(tabi.load(tmp_path / "toy.body").bodies) == 2


@pytest.mark.parametrize("text", ["", "- a\n", "format: ChoreonoidBody\n", "a: \x00"])
def test_a_file_without_links_is_refused(tmp_path, text):
    (tmp_path / "toy.body").write_text(text)
    with pytest.raises(tabi.ModelError, match=r"toy\.body.*: (the )?file "):
        tabi.load(tmp_path / "toy.body")


@pytest.mark.parametrize(
    "elements",
    ["&a [ { type: Group, elements: *a } ]", "[ " * 3000 + "]" * 3000],
    ids=["a loop", "too deep"],
)
def test_elements_without_end_are_refused(tmp_path, elements):
    (tmp_path / "toy.body").write_text(
        f"format: ChoreonoidBody\nlinks:\n- name: a\n  mass: 1\n  elements: {elements}\n"
    )
    with pytest.raises(tabi.ModelError, match=r"hold each other|not well-formed YAML"):
        tabi.load(tmp_path / "toy.body")


@pytest.mark.slow
def test_elements_that_double_again_and_again_are_refused(tmp_path):
    lines = ["x0: &x0 [ { type: Group } ]"]
    for k in range(1, 24):
        two = f"{{ type: Group, elements: *x{k - 1} }}"
        lines.append(f"x{k}: &x{k} [ {two}, {two} ]")
    (tmp_path / "toy.body").write_text(
        "format: ChoreonoidBody\n" + "\n".join(lines) + "\nlinks: [ { name: a, elements: *x23 } ]\n"
    )
    with pytest.raises(tabi.ModelError, match="more than 100000; look for elements that hold"):
        tabi.load(tmp_path / "toy.body")
