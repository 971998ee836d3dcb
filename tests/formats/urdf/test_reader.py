"""URDF: frames and inertia by hand formulas and against Pinocchio, shapes,
and notes that tell what was ignored.
"""

from pathlib import Path

import numpy as np
import pytest
from formats.urdf_files import cube_stl, joint, write

from tabi._errors import ModelError
from tabi.formats.urdf import reader as urdf
from tabi.model.joint import INFINITY
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Convex, Cylinder, MeshFile, Sphere

LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="4"/>'
INERTIAL = (
    '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    "</inertial>"
)


def read(folder: Path, body: str, base: str | None = None) -> Robot:
    return urdf.read(write(folder, body), base)


def rotation(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return {
        "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


# ---- frames and inertia -----------------------------------------------------------------------


def test_frames_compose_fixed_axes_roll_pitch_yaw_then_the_joint(tmp_path):
    first = joint(
        "j1",
        "a",
        "b",
        '<origin xyz="1 2 3" rpy="0.3 -0.5 0.7"/><axis xyz="0 0 2"/>' + LIMIT,
        "revolute",
    )
    second = joint(
        "j2", "b", "c", '<origin xyz="0 0.1 0"/><axis xyz="0 -3 0"/>' + LIMIT, "prismatic"
    )
    robot = read(tmp_path, f'{second}{first}<link name="c"/><link name="b"/><link name="a"/>')
    robot.set_pose({"j1": 0.4, "j2": 0.25})
    X = robot.placements()
    R = rotation("z", 0.7) @ rotation("y", -0.5) @ rotation("x", 0.3) @ rotation("z", 0.4)
    assert np.allclose(X[robot.body("b")].R, R, atol=1e-15)
    assert np.allclose(X[robot.body("b")].p, [1, 2, 3], atol=1e-15)
    assert np.allclose(
        X[robot.body("c")].p, np.array([1, 2, 3]) + R @ [0, 0.1 - 0.25, 0], atol=1e-15
    )
    assert robot.joint("j2").axis == (0.0, -1.0, 0.0)


def test_the_axis_is_x_where_none_is_given(tmp_path):
    robot = read(
        tmp_path, '<link name="a"/><link name="b"/>' + joint("j", "a", "b", LIMIT, "revolute")
    )
    assert tuple(robot.joint("j").axis) == (1.0, 0.0, 0.0)


def test_a_quaternion_in_an_origin_is_x_y_z_w(tmp_path):
    h = np.sqrt(0.5)
    robot = read(
        tmp_path,
        f'<link name="a"/><link name="b"/>'
        f'{joint("j", "a", "b", f"""<origin quat_xyzw="0 0 {h} {h}"/>""")}',
    )
    assert np.allclose(robot.joint("j").placement.R, rotation("z", np.pi / 2), atol=1e-15)


def test_inertia_is_turned_and_moved_by_its_origin(tmp_path):
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0 0 0.6"/>'
    given = '<mass value="2"/><inertia ixx="1" ixy="0.1" ixz="0" iyy="2" iyz="0" izz="2.5"/>'
    robot = read(tmp_path, f'<link name="a"><inertial>{origin}{given}</inertial></link>')
    tensor = np.array([[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]])
    inertia = robot.base.inertia
    assert inertia.mass == 2.0
    assert np.allclose(inertia.centre, [0.1, 0.2, 0.3], atol=1e-16)
    assert np.allclose(
        inertia.tensor, rotation("z", 0.6) @ tensor @ rotation("z", -0.6), atol=1e-15
    )


def test_a_link_without_inertial_is_massless_and_noted(tmp_path):
    robot = read(tmp_path, '<link name="frame"/>')
    assert robot.mass == 0.0
    assert any("massless" in note and "'frame'" in note for note in robot.notes)


# ---- joints -----------------------------------------------------------------------------------


def test_joint_parameters_are_read(tmp_path):
    inside = f'<axis xyz="0 1 0"/>{LIMIT}<dynamics damping="0.5" friction="0.25"/>'
    j = read(
        tmp_path, '<link name="a"/><link name="b"/>' + joint("j", "a", "b", inside, "revolute")
    ).joint("j")
    assert (j.lower, j.upper, j.effort_limit, j.velocity_limit, j.damping, j.friction) == (
        -1.0,
        2.0,
        30.0,
        4.0,
        0.5,
        0.25,
    )
    assert j.line == 2


@pytest.mark.parametrize(
    "kind", ["fixed", "revolute", "continuous", "prismatic", "floating", "planar", "spherical"]
)
def test_every_kind_of_joint_is_known(tmp_path, kind):
    robot = read(tmp_path, '<link name="a"/><link name="b"/>' + joint("j", "a", "b", LIMIT, kind))
    assert robot.joint("j").kind == kind
    assert robot.joint("j").upper == (2.0 if kind in ("revolute", "prismatic") else INFINITY)


def test_equal_limits_are_fine_and_missing_ones_are_noted(tmp_path):
    locked = joint(
        "locked", "a", "b", '<limit lower="1" upper="1" effort="1" velocity="1"/>', "revolute"
    )
    loose = joint("loose", "b", "c", '<limit effort="1" velocity="1"/>', "prismatic") + joint(
        "bare", "c", "d", "", "revolute"
    )
    robot = read(tmp_path, "".join(f'<link name="{n}"/>' for n in "abcd") + locked + loose)
    assert (robot.joint("locked").lower, robot.joint("locked").upper) == (1.0, 1.0)
    assert (robot.joint("loose").lower, robot.joint("bare").upper) == (-INFINITY, INFINITY)
    assert any("position limits" in n and "'loose', 'bare'" in n for n in robot.notes)
    assert any("effort or velocity" in n and "'bare'" in n for n in robot.notes)


def test_bodies_come_depth_first_in_the_order_of_the_joints(tmp_path):
    tree = [
        ("j1", "root", "z"),
        ("j2", "a", "leaf"),
        ("j3", "root", "a"),
        ("j4", "z", "y"),
        ("j5", "z", "b"),
    ]
    links = "".join(f'<link name="{n}"/>' for n in ("leaf", "y", "b", "a", "z", "root"))
    robot = read(tmp_path, links + "".join(joint(*t) for t in tree))
    assert [b.name for b in robot.bodies] == ["root", "z", "y", "b", "a", "leaf"]


def test_a_mimic_of_a_mimic_follows_the_last_leader(tmp_path):
    joints = joint(
        "c", "l2", "l3", LIMIT + '<mimic joint="b" multiplier="-2" offset="0.5"/>', "revolute"
    )
    joints += joint(
        "b", "l1", "l2", LIMIT + '<mimic joint="a" multiplier="3" offset="0.1"/>', "revolute"
    ) + joint("a", "l0", "l1", LIMIT, "revolute")
    robot = read(tmp_path, "".join(f'<link name="l{k}"/>' for k in range(4)) + joints)
    mimic = robot.joint("c").mimic
    assert mimic.leader == "a"
    assert (mimic.ratio, mimic.offset) == pytest.approx((-6.0, -2 * 0.1 + 0.5), abs=1e-15)
    assert robot.joint("c").position == pytest.approx([0.3], abs=1e-15)
    assert robot.joint("b").mimic.ratio == 3.0


def test_a_simple_transmission_gives_the_gear_ratio_and_others_are_counted(tmp_path):
    gears = "".join(
        f'<transmission name="{t}">{joints}<mechanicalReduction>{r}</mechanicalReduction>'
        "</transmission>"
        for t, joints, r in [
            ("t1", '<joint name="j"/>', -160),
            ("t2", '<joint name="j"/><joint name="k"/>', 2),
        ]
    )
    robot = read(
        tmp_path,
        f'<link name="a"/><link name="b"/>{joint("j", "a", "b", LIMIT, "revolute")}{gears}',
    )
    assert robot.joint("j").motor.gear_ratio == -160.0
    assert robot.joint("j").motor.torque_limit == 30.0
    assert robot.notes[-1] == "ignored: 1 × <transmission>"


# ---- the base ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "base", "kind"),
    [
        ("pelvis", None, "floating"),
        ("world", None, "fixed"),
        ("pelvis", "fixed", "fixed"),
        ("world", "floating", "floating"),
    ],
)
def test_the_root_floats_unless_it_is_the_world_or_told_otherwise(tmp_path, root, base, kind):
    robot = read(tmp_path, f'<link name="{root}"/>', base)
    assert (robot.base.joint.name, robot.base.joint.kind) == ("r_base", kind)


def test_a_joint_may_have_the_name_of_the_base(tmp_path):
    robot = read(
        tmp_path, '<link name="a"/><link name="b"/>' + joint("r_base", "a", "b", LIMIT, "revolute")
    )
    assert robot.joint("r_base").kind == "revolute"
    assert robot.base.joint.kind == "floating"


def test_an_unknown_base_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"'welded'.*'floating' or 'fixed'"):
        read(tmp_path, '<link name="a"/>', "welded")


# ---- shapes -----------------------------------------------------------------------------------


def test_collision_shapes_collide_and_are_drawn_only_without_visual(tmp_path):
    shapes = (
        '<collision name="c1"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry>'
        "</collision>"
    )
    shapes += '<collision><geometry><cylinder radius="1" length="2"/></geometry></collision>'
    shapes += '<collision><geometry><capsule radius="1" length="2"/></geometry></collision>'
    visual = '<visual><geometry><sphere radius="0.5"/></geometry><material name="m"/></visual>'
    links = f'<link name="a">{shapes}</link><link name="b">{visual}{shapes}</link>'
    robot = read(
        tmp_path,
        f'{links}{joint("j", "a", "b")}<material name="m"><color rgba="1 0 0 0.5"/></material>',
    )
    a, b = robot.body("a").shapes, robot.body("b").shapes
    assert [s.geometry for s in a] == [Box((1.0, 2.0, 3.0)), Cylinder(1.0, 2.0), Capsule(1.0, 2.0)]
    assert [(s.collides, s.visible) for s in a] == [(True, True)] * 3
    assert [(s.collides, s.visible) for s in b] == [(True, False)] * 3 + [(False, True)]
    assert a[0].placement.p.tolist() == [0, 0, 1]
    assert (b[3].geometry, b[3].color) == (Sphere(0.5), (1.0, 0.0, 0.0, 0.5))


def test_collision_meshes_become_hulls_and_visual_ones_stay_files(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cube.stl").write_bytes(cube_stl(1.0))
    geometry = '<geometry><mesh filename="meshes/cube.stl" scale="0.1 -0.2 0.3"/></geometry>'
    robot = read(
        tmp_path,
        f'<link name="a"><visual>{geometry}</visual><collision>{geometry}</collision></link>',
    )
    hull, visual = (s.geometry for s in robot.base.shapes)
    assert isinstance(hull, Convex)
    assert len(hull.vertices) == 8
    assert np.allclose(np.abs(hull.vertices), [0.05, 0.1, 0.15], atol=1e-15)
    assert visual == MeshFile(tmp_path / "meshes" / "cube.stl", (0.1, -0.2, 0.3))


def test_missing_and_unreadable_meshes_are_one_note_each_naming_link_and_file(tmp_path):
    (tmp_path / "bad.stl").write_bytes(b"solid")
    gone, bad = (
        '<geometry><mesh filename="' + f + '"/></geometry>'
        for f in ("package://nowhere/gone.stl", "bad.stl")
    )
    body = (
        f'<link name="a"><visual>{gone}</visual><collision>{gone}</collision></link>'
        f'<link name="b"><collision>{bad}</collision></link>'
    )
    robot = read(tmp_path, body + joint("j", "a", "b"))
    notes = [n for n in robot.notes if "mesh" in n]
    assert len(notes) == 2
    assert any("'a'" in n and "package://nowhere/gone.stl" in n for n in notes)
    assert any("'b'" in n and "bad.stl" in n for n in notes)
    assert robot.missing_meshes == {"a": ["package://nowhere/gone.stl"], "b": ["bad.stl"]}
    assert not robot.base.shapes


def test_a_flat_mesh_is_noted(tmp_path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    robot = read(
        tmp_path,
        '<link name="a"><collision><geometry><mesh filename="flat.obj"/></geometry>'
        "</collision></link>",
    )
    assert isinstance(robot.base.shapes[0].geometry, Convex)
    assert any("flat.obj is flat" in n for n in robot.notes)


def test_shapes_without_extent_or_form_are_left_out_with_a_note(tmp_path):
    shapes = ['<box size="1 0 1"/>', "<plane/>", ""]
    robot = read(
        tmp_path,
        '<link name="a">'
        + "".join(f"<collision><geometry>{g}</geometry></collision>" for g in shapes)
        + "</link>",
    )
    assert robot.base.shapes == []
    assert sum("'a' (line 2)" in n and "left out" in n for n in robot.notes) == 3


# ---- notes ------------------------------------------------------------------------------------


def test_what_other_programs_wrote_is_counted_not_listed(tmp_path):
    extras = (
        "<gazebo/>" * 3
        + '<sensor name="s"/><g:x xmlns:g="urn:g"/>'
        + joint("j", "a", "b", "<calibration/>")
    )
    robot = read(tmp_path, f'<link name="a" type="t"/><link name="b">{INERTIAL * 2}</link>{extras}')
    assert robot.notes[-1] == (
        "ignored: 1 × <calibration> in <joint>, 3 × <gazebo>, 1 × <sensor>, 1 × <x>, 1 × attribute "
        "type of <link>, 1 × second <inertial> in <link>"
    )


@pytest.mark.parametrize(
    ("moments", "word"),
    [
        ((0, 0, 0), "not positive"),
        ((-1e-9, 1, 1), "not positive"),
        ((1, 1, 2.1), "no body"),
        ((1, 1, 2), None),
        ((1e-9, 1e-9, 1e-9), None),
    ],
)
def test_an_inertia_no_body_can_have_loads_with_a_warning(tmp_path, moments, word):
    x, y, z = moments
    inertia = f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>'
    robot = read(
        tmp_path, f'<link name="odd">\n<inertial><mass value="1"/>{inertia}</inertial></link>'
    )
    assert np.allclose(robot.base.inertia.tensor, np.diag(moments), atol=0)
    warned = [n for n in robot.notes if "'odd' (line 3)" in n]
    assert (word is None and not warned) or (word is not None and word in warned[0])


def test_materials_without_name_or_definition_are_noted_and_keep_their_colour(tmp_path):
    visual = '<visual><geometry><sphere radius="1"/></geometry><material{}</material></visual>'
    body = (
        '<link name="a">'
        + visual.format('><color rgba="0 1 0 1"/>')
        + visual.format(' name="lost">')
        + visual.format(">")
        + "</link>"
    )
    robot = read(tmp_path, body)
    assert robot.base.shapes[0].color == (0.0, 1.0, 0.0, 1.0)
    assert robot.base.shapes[2].color == robot.base.shapes[1].color != (0.0, 1.0, 0.0, 1.0)
    assert any("without a name" in n and "'a'" in n for n in robot.notes)
    assert any("nowhere defined" in n and "'a'" in n for n in robot.notes)


def test_a_robot_without_name_is_called_after_its_file(tmp_path):
    robot = urdf.read(write(tmp_path, '<link name="a"/>', "<robot>"))
    assert robot.name == "r"
    assert any("no name" in n for n in robot.notes)


def test_a_default_namespace_and_comments_change_nothing(tmp_path):
    robot = urdf.read(
        write(
            tmp_path,
            '<!-- a --><link name="a"/><?x y?>',
            '<robot name="n" xmlns="http://www.ros.org">',
        )
    )
    assert [b.name for b in robot.bodies] == ["a"]


# ---- robots nobody here wrote -----------------------------------------------------------------

# a joint to a link that is not there, no link at all (Pinocchio refuses both too), a mimic of a
# joint that is not there (Pinocchio reads no mimic unless asked)
BROKEN = {
    "falcon.urdf": "Z_propeller",
    "ur3.urdf": "no <link>",
    "alex_psyonic_hands.urdf": "index_q1",
}


@pytest.fixture(scope="module")
def loaded(example_robots) -> dict[Path, Robot | ModelError]:
    results: dict[Path, Robot | ModelError] = {}
    for file in sorted(example_robots.rglob("*.urdf")):
        try:
            results[file] = urdf.read(file)
        except ModelError as problem:
            results[file] = problem
    return results


def broken_among(files):
    """Which of the files that cannot be read are there."""
    return BROKEN.keys() & {file.name for file in files}


@pytest.mark.slow
def test_at_least_38_example_packages_load(example_robots, loaded):
    packages = {
        p.name: [f for f in loaded if p in f.parents]
        for p in sorted(example_robots.iterdir())
        if p.is_dir()
    }
    good = 0
    for package, files in packages.items():
        fine = [f for f in files if isinstance(loaded[f], Robot)]
        good += bool(fine)
        print(
            f"{package:32} {len(fine)} of {len(files)} loaded"
            + ("" if files else ": it has no URDF")
        )
        for file in set(files) - set(fine):
            print(f"    refused {file.name}: {str(loaded[file]).rpartition('urdf')[2]}")
    print(
        f"{good} of {len(packages)} packages, {sum(isinstance(r, Robot) for r in loaded.values())} "
        f"of {len(loaded)} files"
    )
    # 42 packages in version 5 of example-robot-data, 39 in version 6, one of them without a URDF
    assert good >= 38
    refused = {f.name: str(r) for f, r in loaded.items() if isinstance(r, ModelError)}
    assert refused.keys() == broken_among(loaded)
    assert all(BROKEN[name] in said for name, said in refused.items())


@pytest.mark.slow
def test_every_mesh_of_the_example_robots_is_found_but_those_of_one_file(loaded):
    lost = {
        f.name
        for f, r in loaded.items()
        if isinstance(r, Robot) and any("not found" in n for n in r.notes)
    }
    # it names files in a folder of its author's machine
    assert lost == {"romeo_laas_small.urdf"}


@pytest.mark.slow
def test_masses_and_link_frames_agree_with_pinocchio(loaded):
    pin = pytest.importorskip("pinocchio")
    chance, compared = np.random.default_rng(3), 0
    for file, robot in loaded.items():
        if isinstance(robot, ModelError):
            continue
        model = pin.buildModelFromUrdf(str(file))
        data = model.createData()
        q = pin.neutral(model)
        positions = {b: b.joint.zero() for b in robot.bodies}
        for body in robot.bodies[1:]:
            if body.joint.q_count == 1:
                positions[body] = chance.uniform(-1, 1, 1)
                other = model.joints[model.getJointId(body.joint.name)]
                angle = positions[body][0]
                q[other.idx_q : other.idx_q + other.nq] = (
                    angle if other.nq == 1 else [np.cos(angle), np.sin(angle)]
                )
        pin.framesForwardKinematics(model, data, q)
        X = robot.placements(positions)
        mass = robot.mass
        centre = sum(
            (b.inertia.mass * (X[b] @ b.inertia.centre) for b in robot.bodies), np.zeros(3)
        )
        # Pinocchio leaves the mass of the root link to a joint that the model of a fixed base has
        # not
        root = model.inertias[0].mass
        assert mass == pytest.approx(pin.computeTotalMass(model) + root, rel=1e-12), file.name
        for body, X_WB in X.items():
            frame = data.oMf[model.getFrameId(body.name, pin.FrameType.BODY)]
            # chains of up to twenty rotations, each rounded
            assert np.allclose(X_WB.p, frame.translation, atol=1e-12), (file.name, body.name)
            assert np.allclose(X_WB.R, frame.rotation, atol=1e-12), (file.name, body.name)
        moving = (
            pin.centerOfMass(model, data, q) * pin.computeTotalMass(model)
            if model.njoints > 1
            else np.zeros(3)
        )
        assert np.allclose(centre, moving + root * model.inertias[0].lever, atol=1e-10), file.name
        compared += 1
    assert compared == len(loaded) - len(broken_among(loaded))


@pytest.mark.parametrize(
    ("file", "joints", "note"),
    [
        ("hrp4c/HRP4Cmain.urdf", 42, "not positive"),
        ("jvrc1/jvrc1.urdf", 44, "not found"),
        ("sr1/SR1.urdf", 29, "material without a name"),
    ],
)
def test_the_reference_robots_load_with_notes(shared, file, joints, note):
    robot = urdf.read(shared / "data" / "robots" / file)
    assert len(robot.joint_names) == joints
    assert any(note in n for n in robot.notes)


def test_hrp4c_warns_of_ten_links_without_positive_inertia(shared):
    robot = urdf.read(shared / "data" / "robots" / "hrp4c" / "HRP4Cmain.urdf")
    assert sum("not positive" in n for n in robot.notes) == 10
