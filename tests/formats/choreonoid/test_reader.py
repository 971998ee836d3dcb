"""Choreonoid body files: against the same robot in VRML and in URDF, shapes and masses by formula,
and what is told of the rest.
"""

from math import pi

import numpy as np
import pytest

import tabi
from tabi.formats.choreonoid import reader as choreonoid
from tabi.formats.load import load
from tabi.model.joint import Motor
from tabi.model.shape import Box, Capsule, Convex, Cylinder, Ellipsoid, MeshFile, Sphere

HEAD = "format: ChoreonoidBody\nformatVersion: 1.0\nname: toy\n"
# two spellings, an axis by its letter, all three ways to write elements
BODY = """links:
  - name: WAIST
    jointType: free
    translation: [ 0, 0, 0.5 ]
    mass: 4
    inertia: [ 0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.3 ]
    elements:
      Shape: { geometry: { type: Box, size: [ 0.2, 0.3, 0.1 ] } }
  - name: HIP
    parent: WAIST
    joint_type: revolute
    joint_axis: -Y
    joint_id: 0
    joint_range: [ -90, 45 ]
    max_joint_velocity: 180
    gear_ratio: 100
    rotor_inertia: 1e-5
    translation: [ 0, 0.1, -0.1 ]
    rotation: [ 1, 0, 0, 90 ]
    elements:
      - type: RigidBody
        mass: 1
        center_of_mass: [ 0, 0, -0.2 ]
        inertia: [ 0.01, 0.001, 0, 0.02, 0, 0.03 ]
      - type: Transform
        translation: [ 0, 0, -0.2 ]
        rotation: [ 0, 0, 1, 30 ]
        elements:
          - type: Shape
            geometry: { type: Cylinder, radius: 0.05, height: 0.4 }
          - { type: ForceSensor, name: force, translation: [ 0, 0, 0.1 ] }
  - name: SLIDE
    parent: HIP
    jointType: prismatic
    jointId: 1
    jointRange: 0.2
    jointVelocityRange: [ -0.5, 0.5 ]
    elements: { type: RigidBody, mass: 1, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }
"""
WRL = """#VRML V2.0 utf8
DEF toy Humanoid { humanoidBody [
  DEF WAIST Joint { jointType "free" translation 0 0 0.5 children [
    DEF B Segment { mass 4 momentsOfInertia [ 0.1 0 0 0 0.2 0 0 0 0.3 ]
      children Shape { geometry Box { size 0.2 0.3 0.1 } } }
    DEF HIP Joint { jointType "rotate" jointAxis 0 -1 0 jointId 0 gearRatio 100 rotorInertia 1e-5
      translation 0 0.1 -0.1 rotation 1 0 0 1.5707963267948966
      llimit -1.5707963267948966 ulimit 0.7853981633974483
      lvlimit -3.141592653589793 uvlimit 3.141592653589793 children [
      DEF L Segment { mass 1 centerOfMass 0 0 -0.2
        momentsOfInertia [ 0.01 0.001 0 0.001 0.02 0 0 0 0.03 ] }
      Transform { translation 0 0 -0.2 rotation 0 0 1 0.5235987755982988 children [
        Shape { geometry Cylinder { radius 0.05 height 0.4 } }
        DEF force ForceSensor { translation 0 0 0.1 } ] }
      DEF SLIDE Joint { jointType "slide" jointAxis "Z" jointId 1 llimit -0.2 ulimit 0.2
        lvlimit -0.5 uvlimit 0.5 children
        DEF S Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] } } ] } ] } ] }"""


def read(folder, text=HEAD + BODY, **options):
    file = folder / "toy.body"
    file.write_text(text)
    return load(file, **options)


def alone(folder, elements, more=""):
    """A robot of one link with these elements."""
    return read(folder, f"{HEAD}{more}links:\n- name: a\n  mass: 1\n  elements:\n{elements}")


def same_body(a, b, limits=1e-12):
    """Whether two readers made the same of a body and its joint."""
    np.testing.assert_allclose(a.inertia.mass, b.inertia.mass)
    np.testing.assert_allclose(a.inertia.centre, b.inertia.centre, atol=1e-12)
    np.testing.assert_allclose(a.inertia.tensor, b.inertia.tensor, atol=1e-12)
    np.testing.assert_allclose(a.joint.placement.p, b.joint.placement.p, atol=1e-12)
    np.testing.assert_allclose(a.joint.placement.R, b.joint.placement.R, atol=1e-9)
    if a.joint.q_count == 1:
        np.testing.assert_allclose(a.joint.axis, b.joint.axis, atol=1e-12)
        assert (a.joint.lower, a.joint.upper) == pytest.approx(
            (b.joint.lower, b.joint.upper), abs=limits
        )
    for s, t in zip(a.collision_shapes(), b.collision_shapes(), strict=True):
        assert type(s.geometry) is type(t.geometry)
        for d in np.random.default_rng(0).normal(size=(9, 3)):
            assert s.support(d) == pytest.approx(t.support(d), abs=max(1e-9, 0.1 * limits))


# ---- the same robot elsewhere -------------------------------------------------------------------


def test_a_body_file_is_the_robot_that_the_same_vrml_file_is(tmp_path):
    (tmp_path / "toy.wrl").write_text(WRL)
    robot, twin = read(tmp_path), load(tmp_path / "toy.wrl")
    assert [b.name for b in robot.bodies] == [b.name for b in twin.bodies]
    for body, other in zip(robot.bodies, twin.bodies, strict=True):
        same_body(body, other)
        assert body.joint.kind == other.joint.kind
        assert body.joint.number == other.joint.number
        assert body.joint.motor == other.joint.motor
        assert body.joint.velocity_limit == pytest.approx(other.joint.velocity_limit)
    for sensor, other in zip(robot.sensors.values(), twin.sensors.values(), strict=True):
        assert (sensor.name, sensor.kind) == (other.name, other.kind)
        np.testing.assert_allclose(sensor.placement.p, other.placement.p, atol=1e-12)
    assert robot.joint("HIP").total_armature == pytest.approx(1e-5 * 100**2)
    np.testing.assert_allclose(robot.base.joint.position[:3], (0, 0, 0.5))


def test_sr1_is_the_robot_that_its_urdf_is(shared):
    folder = shared / "data" / "robots" / "sr1"
    robot, twin = load(folder / "SR1.body"), load(folder / "SR1.urdf")
    assert len(robot.bodies) == len(twin.bodies) == 30
    for body in robot.bodies[1:]:
        # angles in the URDF have two digits; it has the cameras' housings elsewhere in the list
        same = twin.body(body.name)
        if body.name != "CHEST":
            same_body(body, same, limits=2e-3)
        assert body.parent
        assert same.parent
        assert body.parent.name == same.parent.name
    assert robot.mass == pytest.approx(twin.mass, rel=1e-14)
    assert {robot.joint(name).number for name in robot.joint_names} == set(range(29))
    # cameras look forward, along −z of their frames, y up
    np.testing.assert_allclose(robot.sensors["LeftCamera"].placement.R[:, 2], (-1, 0, 0), atol=1e-9)
    np.testing.assert_allclose(robot.sensors["LeftCamera"].placement.R[:, 1], (0, 0, 1), atol=1e-9)
    assert robot.half_sitting["RLEG_KNEE"] == pytest.approx(60 * pi / 180)
    assert set(robot.feet) == {"left", "right"}
    # up to three joints apart: nothing touches itself where it stands
    robot.stand_on_ground()
    assert frozenset(("WAIST", "CHEST")) in robot.excluded
    assert frozenset(("WAIST", "LARM_SHOULDER_P")) not in robot.excluded


# ---- links and joints ---------------------------------------------------------------------------


def test_angles_are_degrees_unless_the_file_says_radian(tmp_path):
    text = HEAD + "angleUnit: radian\n" + BODY.replace("[ -90, 45 ]", "[ -1.5, 0.5 ]")
    robot = read(tmp_path, text)
    assert (robot.joint("HIP").lower, robot.joint("HIP").upper) == (-1.5, 0.5)
    assert robot.joint("HIP").velocity_limit == 180
    np.testing.assert_allclose(
        robot.joint("HIP").placement.R[1], (0, np.cos(90), -np.sin(90)), atol=1e-12
    )


@pytest.mark.parametrize(
    ("told", "lower", "upper"),
    [
        ("[ -90, unlimited ]", -pi / 2, np.inf),
        ("[ unlimited, 90 ]", -np.inf, pi / 2),
        ("unlimited", -np.inf, np.inf),
        ("30", -pi / 6, pi / 6),
    ],
)
def test_ranges_of_joints_may_be_one_number_or_none(tmp_path, told, lower, upper):
    joint = read(tmp_path, HEAD + BODY.replace("[ -90, 45 ]", told)).joint("HIP")
    assert (joint.lower, joint.upper) == pytest.approx((lower, upper))


def test_what_a_joint_bears_is_the_smaller_end_of_its_range(tmp_path):
    told = "    joint_effort_range: [ -40, 50 ]\n    joint_angle: 10\n    parent: WAIST"
    robot = read(tmp_path, HEAD + BODY.replace("    parent: WAIST", told))
    assert robot.joint("HIP").effort_limit == 40
    assert robot.joint("HIP").motor == Motor(1e-5, 100.0, 40.0)
    np.testing.assert_allclose(robot.joint("HIP").position, [10 * pi / 180])
    assert any("-40 to 50: the smaller holds both ways" in note for note in robot.notes)


def test_parents_may_come_later_and_the_root_anywhere(tmp_path):
    text = f"""{HEAD}rootLink: base
links:
- {{ name: tip, parent: arm, jointType: revolute, jointAxis: X, mass: 1 }}
- {{ name: arm, parent: base, jointType: revolute, jointAxis: [ 0, 0, 2 ], mass: 1 }}
- {{ name: base, jointType: fixed, mass: 1, joint_name: ignored }}
"""
    robot = read(tmp_path, text)
    assert [body.name for body in robot.bodies] == ["base", "arm", "tip"]
    assert robot.base.joint.kind == "fixed"
    assert robot.joint("arm").axis == (0, 0, 1)
    assert read(tmp_path, text, base="floating").base.joint.kind == "floating"
    assert sum("a mass without an inertia" in note for note in robot.notes) == 3


def test_imported_and_merged_keys_count_where_a_link_has_none_of_its_own(tmp_path):
    motor = "motor: &motor { rotorInertia: 2e-5, gearRatio: 50 }\nfast: &fast { gearRatio: 10 }\n"
    text = HEAD + motor + BODY.replace("    jointId: 1", "    jointId: 1\n    import: *motor")
    text = text.replace("    parent: HIP\n", "    parent: HIP\n    <<: *fast\n")
    assert read(tmp_path, text).joint("SLIDE").motor == Motor(2e-5, 10.0)


def test_the_standard_pose_is_in_the_order_of_joint_ids(tmp_path):
    robot = read(tmp_path, HEAD + "standardPose: [ 30, 0.1, 7 ]\n" + BODY)
    assert robot.poses["standard"] == pytest.approx({"HIP": pi / 6, "SLIDE": 0.1})
    assert robot.half_sitting == robot.poses["standard"]
    assert "standard_pose has values for no joint of id 2" in robot.notes


# ---- elements -----------------------------------------------------------------------------------


def test_masses_add_under_the_transforms_around_them(tmp_path):
    robot = alone(
        tmp_path,
        """  - { type: RigidBody, mass: 2, centerOfMass: [ 0, 0, 1 ], inertia: [1, 0, 0, 2, 0, 3] }
  - type: Transform
    translation: [ 0, 0, 1 ]
    rotation: [ [ 0, 0, 1, 90 ], [ 1, 0, 0, 90 ] ]
    elements: [ { type: RigidBody, mass: 3, inertia: [ 1, 0, 0, 2, 0, 3 ] } ]
""",
    )
    inertia = robot.base.inertia
    assert inertia.mass == 6
    # the link's own kilogram is a point at its origin
    np.testing.assert_allclose(inertia.centre, (0, 0, 5 / 6), atol=1e-12)
    # z by 90°, then the new x by 90°: its axes x, y, z are the link's y, z, x
    turned = np.diag([1.0, 2, 3]) + np.diag([3.0, 1, 2])
    spread = 5 * (1 - 5 / 6) ** 2 + (5 / 6) ** 2
    np.testing.assert_allclose(inertia.tensor, turned + spread * np.diag([1.0, 1, 0]), atol=1e-12)


def test_shapes_keep_their_kind_or_become_polytopes_and_round_ones_stand_along_y(tmp_path):
    robot = alone(
        tmp_path,
        """  - { type: Shape, geometry: { type: Sphere, radius: 0.1 } }
  - { type: Shape, geometry: { type: Capsule, radius: 0.1, height: 0.4 } }
  - { type: Shape, geometry: { type: Cone, radius: 0.1, height: 0.4 } }
  - type: Transform
    scale: 2
    elements: [ { type: Shape, geometry: { type: Capsule, radius: 0.1, height: 0.4 } } ]
  - type: Transform
    scale: [ 1, 1, 3 ]
    elements: [ { type: Shape, geometry: { type: Sphere, radius: 0.1 } } ]
  - type: Transform
    scale: [ 1, 1, 3 ]
    elements: [ { type: Shape, geometry: { type: Capsule, radius: 0.1, height: 0.4 } } ]
  - type: Shape
    geometry: { type: IndexedFaceSet, vertices: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9],
                faces: [ 0, 1, 2, -1, 0, 2, 3, -1 ] }
  - { type: Shape, geometry: { type: Extrusion, spine: [ 0, 0, 0 ] } }
  - { type: SpotLight, on: true }
""",
    )
    shapes = robot.base.collision_shapes()
    kinds = [Sphere, Capsule, Convex, Capsule, Ellipsoid, Convex, Convex]
    assert [type(s.geometry) for s in shapes] == kinds
    reach = [[s.support(d) for d in np.eye(3)] for s in shapes]
    np.testing.assert_allclose(reach[1], (0.1, 0.3, 0.1), atol=1e-12)
    np.testing.assert_allclose(reach[2], (0.1, 0.2, 0.1), atol=1e-2)
    np.testing.assert_allclose(reach[3], (0.2, 0.6, 0.2), atol=1e-12)
    np.testing.assert_allclose(reach[4], (0.1, 0.1, 0.3), atol=1e-12)
    np.testing.assert_allclose(reach[5], (0.1, 0.3, 0.3), atol=1e-2)
    np.testing.assert_allclose(reach[6], (1, 1, 1), atol=1e-12)
    notes = "\n".join(robot.notes)
    assert "1 × IndexedFaceSet stand as their convex hulls" in notes
    assert "1 shapes stretched unevenly stand as convex polytopes" in notes
    assert "1 × SpotLight, 1 × geometry Extrusion" in notes


def test_what_is_seen_and_what_collides_may_be_told_apart(tmp_path):
    robot = alone(
        tmp_path,
        """  - type: Visual
    shape: { geometry: { type: Box, size: [ 1, 1, 1 ] },
             appearance: { material: { diffuse: [ 1, 0, 0 ], transparency: 0.25 } } }
  - type: Collision
    translation: [ 0, 0, 1 ]
    elements: [ { type: Shape, geometry: { type: Cylinder, radius: 0.1, height: 1 } } ]
""",
    )
    seen, solid = robot.base.shapes
    assert (seen.visible, seen.collides, seen.color) == (True, False, (1, 0, 0, 0.75))
    assert (solid.visible, solid.collides) == (False, True)
    assert isinstance(seen.geometry, Box)
    assert isinstance(solid.geometry, Cylinder)
    assert solid.placement.p[2] == 1


def test_meshes_are_hulls_and_drawn_as_their_files_and_vrml_shapes_are_themselves(tmp_path):
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + ["f 1 2 3", "f 1 2 4", "f 1 3 4", "f 2 3 4"]
    (tmp_path / "part.obj").write_text("\n".join(lines))
    (tmp_path / "part.wrl").write_text(
        """#VRML V2.0 utf8
        DEF one Transform { translation 1 0 0 children Shape { geometry Box { size 2 2 2 } } }
        DEF two Shape { geometry Sphere { radius 3 } }"""
    )
    robot = alone(
        tmp_path,
        """  - { type: Resource, uri: part.obj, scale: 2, translation: [ 0, 0, 1 ] }
  - { type: Shape, geometry: { type: Resource, uri: part.wrl, node: one } }
  - { type: Visual, resource: { uri: part.wrl } }
  - { type: Resource, uri: lost.stl }
""",
    )
    hull, drawn, box, *seen = robot.base.shapes
    assert isinstance(hull.geometry, Convex)
    assert (hull.collides, hull.visible) == (True, False)
    np.testing.assert_allclose([hull.support(d) for d in np.eye(3)], (2, 2, 3), atol=1e-12)
    np.testing.assert_allclose(hull.geometry.from_file @ [1, 1, 1, 1], (2, 2, 3), atol=1e-12)
    assert drawn.geometry == MeshFile(tmp_path / "part.obj", (2.0, 2.0, 2.0))
    assert not drawn.collides
    assert isinstance(box.geometry, Box)
    assert box.placement.p[0] == 1
    assert [type(s.geometry) for s in seen] == [Box, Sphere]
    assert not any(s.collides for s in seen)
    assert "link 'a': mesh 'lost.stl' not found; left out" in robot.notes
    assert robot.missing_meshes == {"a": ["lost.stl"]}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("AccelerationSensor", "accelerometer"),
        ("RateGyroSensor", "gyro"),
        ("Imu", "imu"),
        ("ForceSensor", "force"),
        ("Camera", "camera"),
    ],
)
def test_sensors_stand_where_they_are_put(tmp_path, kind, expected):
    robot = alone(
        tmp_path,
        f"  - type: Transform\n    translation: [ 1, 0, 0 ]\n    elements:\n"
        f"      - {{ type: {kind}, id: 3, rotation: [ 0, 0, 1, 90 ], translation: [ 0, 1, 0 ] }}\n",
    )
    sensor = robot.sensors[f"{expected}3"]
    assert sensor.kind == expected
    np.testing.assert_allclose(sensor.placement.p, (1, 1, 0))
    np.testing.assert_allclose(sensor.placement.R[:, 0], (0, 1, 0), atol=1e-12)


# ---- the whole robot ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "pairs"),
    [
        ("collision_detection_rules: [ { disabled_link_chain_level: 1 } ]", "WH HS"),
        ("collision_detection_rules: [ { disabled_link_chain_level: 2 } ]", "WH HS WS"),
        ("collisionDetection: { excludeTreeDepth: 1, excludeLinks: [ WAIST ] }", "WH HS WS"),
        ("collision_detection_rules: [ { disabled_link_group: [ WAIST, SLIDE ] } ]", "WS"),
        (
            "collision_detection_rules: [ { disabled_links: all }, { enabled_links: [ HIP ] } ]",
            "WS",
        ),
        ("collisionDetection: { excludeLinkGroups: [ { links: [ WAIST, HIP ] } ] }", "WH"),
    ],
)
def test_collision_rules_become_pairs_that_never_collide(tmp_path, rules, pairs):
    robot = read(tmp_path, f"{HEAD}{rules}\n{BODY}")
    found = {"".join(sorted((n[0] for n in pair), key="WHS".index)) for pair in robot.excluded}
    assert found == set(pairs.split())


def test_extra_joints_are_bonds(tmp_path):
    extra = """extraJoints:
- { link1Name: WAIST, link2Name: SLIDE, jointType: hinge, axis: [ 1, 0, 0 ],
    link1LocalPos: [ 0, 0.1, -0.1 ], link2LocalPos: [ 0, 0, 0 ] }
- { link1_name: HIP, link2_name: WAIST, joint_type: piston, axis: [ 1, 0, 0 ] }
"""
    robot = read(tmp_path, HEAD + extra + BODY)
    (loop,) = robot.bonds
    X = robot.placements()
    assert repr(loop) == "Closure('hinge', 'WAIST', 'SLIDE')"
    assert loop.b is not None
    assert loop.gap(X) < 1e-12
    np.testing.assert_allclose(
        (X[loop.a] @ loop.place_a).R[:, 2], (X[loop.b] @ loop.place_b).R[:, 2], atol=1e-12
    )
    assert "extra joint 2 is a piston, left out: its loop stays open" in robot.notes


def test_keys_that_are_not_read_are_counted_and_near_misses_named(tmp_path):
    text = BODY.replace(
        "    mass: 4", "    mass: 4\n    centreOfMass: [ 0, 0, 1 ]\n    colour: red"
    )
    robot = read(tmp_path, HEAD + "linkGroup: []\n" + text)
    (note,) = (note for note in robot.notes if note.startswith("ignored: "))
    assert "1 × Link.centre_of_mass (near center_of_mass)" in note
    assert "1 × Link.colour," in note
    assert "1 × link_group" in note


def test_the_reader_takes_a_path_and_refuses_a_base_that_is_none(tmp_path):
    read(tmp_path)
    assert choreonoid.read(str(tmp_path / "toy.body")).name == "toy"
    with pytest.raises(tabi.ModelError, match="base is 'loose'; expected 'floating', 'fixed'"):
        choreonoid.read(tmp_path / "toy.body", base="loose")
