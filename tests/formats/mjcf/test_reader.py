"""MJCF: bodies stand where MuJoCo puts them, and everything else is read or noted."""

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.formats.mjcf import reader as mjcf
from tabi.model.joint import Mimic
from tabi.model.shape import Box, Capsule, Convex, Cylinder, Ellipsoid, MeshFile, Sphere
from tabi.spatial.transform import from_quaternion

mujoco = pytest.importorskip("mujoco")

BALL = '<geom size="0.1"/>'
TETRA = "0 0 0  1 0 0  0 2 0  0 0 3"

# every body and joint has a name, so that both sides can be compared by it
TREES = {
    "hinge away from the origin": f"""
        <body name="a" pos="1 2 3" quat="0.9 0.1 0.3 -0.2">{BALL}
        <joint name="j" pos="0.3 -0.2 0.5" axis="1 2 3"/></body>""",
    "two hinges on one body": f"""
        <body name="a" pos="0.1 0 0.2" euler="10 20 30">{BALL}
          <joint name="j" pos="0.3 0 0" axis="0 1 0"/>
          <joint name="k" pos="0 0.4 -0.1" axis="1 0 1"/>
          <body name="b" pos="0 0 0.5">{BALL}<joint name="l" axis="0 0 1"/></body></body>""",
    "slides and hinges mixed": f"""
        <body name="a">{BALL}<joint name="x" type="slide" axis="1 0.2 0" pos="9 9 9"/>
        <joint name="t" axis="0 1 0" pos="0 0 0.3"/>
          <joint name="y" type="slide" axis="0 1 1"/></body>""",
    "ball with an anchor": f"""
        <body name="root">{BALL}<body name="a" pos="0 1 0" quat="0.8 0 0.6 0">{BALL}
        <joint name="j" type="ball" pos="0.1 0.2 0.3"/></body></body>""",
    "slide, then ball": f"""
        <body name="a">{BALL}<joint name="x" type="slide" axis="0 0 1"/>
        <joint name="b" type="ball" pos="0 0.5 0"/></body>""",
    "free base": f"""
        <body name="root" pos="0 0 1"><freejoint name="f"/>{BALL}
          <body name="a" pos="0.2 0 0">{BALL}<joint name="j" axis="0 1 0" pos="0 0 0.1"/></body>
          </body>""",
    "reference angles": f"""
        <body name="a" pos="0.5 0 0">{BALL}<joint name="j" axis="1 1 0" pos="0.1 0 0.2" ref="35"/>
          <body name="b">{BALL}<joint name="s" type="slide" axis="0 1 2" ref="0.7"/></body>
          </body>""",
    "bolted child": f"""
        <body name="root" pos="0 0 1">{BALL}<body name="a" pos="0 0 1">{BALL}<joint name="j"/>
          <body name="tip" pos="0.3 0 0" quat="0.5 0.5 -0.5 0.5">{BALL}</body></body></body>""",
    "two arms in the world": f"""
        <body name="a" pos="1 0 0">{BALL}<joint name="j"/></body>
        <body name="b" pos="-1 0 0">{BALL}<body name="c">{BALL}<joint name="k"/></body></body>""",
}


def write(tmp_path, worldbody, rest="", name="model.xml"):
    path = tmp_path / name
    path.write_text(f"<mujoco>{rest}\n<worldbody>{worldbody}</worldbody>\n</mujoco>")
    return path


def read(tmp_path, worldbody, rest=""):
    return mjcf.read(write(tmp_path, worldbody, rest))


def note(robot, words):
    """The one note that holds these words."""
    (found,) = [n for n in robot.notes if words in n]
    return found


def random_positions(m, seed):
    rng = np.random.default_rng(seed)
    qpos = rng.uniform(-2, 2, m.nq)
    for j in range(m.njnt):
        if m.jnt_type[j] < 2:
            start = m.jnt_qposadr[j] + (3 if m.jnt_type[j] == 0 else 0)
            qpos[start : start + 4] /= np.linalg.norm(qpos[start : start + 4])
    return qpos


def assert_same_places(path, robot, seed=0):
    """Bodies of the robot against mj_forward, by name, at random joint positions:
    a dozen products of rotations round to 1e-12.
    """
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    d.qpos[:] = random_positions(m, seed)
    mujoco.mj_forward(m, d)
    positions = {}
    for body in robot.bodies:
        joint, count = body.joint, body.joint.q_count
        start = m.joint(joint.name).qposadr[0] if count else 0
        positions[body] = d.qpos[start : start + count].copy()
    X = robot.placements(positions)
    names = {m.body(b).name for b in range(1, m.nbody)}
    assert names <= {b.name for b in robot.bodies}
    for name in names:
        body = robot.body(name)
        np.testing.assert_allclose(X[body].p, d.body(name).xpos, atol=1e-12)
        np.testing.assert_allclose(X[body].R.ravel(), d.body(name).xmat, atol=1e-12)


# ---- where bodies are ---------------------------------------------------------------------------


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("seed", range(3))
def test_bodies_stand_where_mujoco_puts_them(tmp_path, tree, seed):
    path = write(tmp_path, TREES[tree])
    assert_same_places(path, mjcf.read(path), seed)


@pytest.mark.slow
def test_talos_stands_where_mujoco_puts_it(shared):
    path = shared / "data/robots/menagerie/pal_talos/talos.xml"
    robot = mjcf.read(path)
    assert_same_places(path, robot)
    assert robot.base.joint.kind == "floating"
    # 44 hinges in the file, 94 kg by its <inertial> elements
    assert len(robot.joint_names) == 44
    assert robot.mass == pytest.approx(
        mujoco.MjModel.from_xml_path(str(path)).body_mass.sum(), rel=1e-12
    )


def test_robot_starts_in_the_configuration_of_the_file(tmp_path):
    path = write(tmp_path, TREES["reference angles"])
    robot, m = mjcf.read(path), mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    X = robot.placements()
    for name in "ab":
        np.testing.assert_allclose(X[robot.body(name)].p, d.body(name).xpos, atol=1e-12)
    assert robot.joint("j").position == pytest.approx([np.radians(35)])


def test_body_with_two_joints_hangs_on_a_massless_body(tmp_path):
    robot = read(tmp_path, TREES["two hinges on one body"])
    massless = robot.body("a").parent
    assert [robot.joint(n).kind for n in ("j", "k")] == ["continuous", "continuous"]
    assert massless.inertia.mass == 0
    assert not massless.shapes
    assert robot.body("a").inertia.mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.1**3)


@pytest.mark.parametrize(("base", "body"), [("fixed", '<freejoint name="f"/>'), ("floating", "")])
def test_base_can_be_bolted_or_freed(tmp_path, base, body):
    path = write(
        tmp_path,
        f'<body name="a" pos="1 2 3">{body}{BALL}<body name="b">{BALL}<joint name="j"/></body>'
        f"</body>",
    )
    assert mjcf.read(path).base.joint.kind != base
    robot = mjcf.read(path, base=base)
    assert robot.base.joint.kind == base
    np.testing.assert_array_equal(robot.placements()[robot.base].p, [1, 2, 3])


def test_lone_objects_and_the_floor_are_left_out_with_a_note(tmp_path):
    world = (
        f'<geom name="floor" type="plane" size="0 0 1" friction="0.7"/><body name="can">'
        f'<freejoint/>{BALL}</body><body name="table">{BALL}</body>'
    )
    robot = read(tmp_path, world + TREES["free base"])
    assert [b.name for b in robot.bodies] == ["root", "a/j", "a"]
    assert "world.add_ground(friction=0.7)" in note(robot, "'floor'")
    assert "free body" in note(robot, "'can'")
    assert "static body" in note(robot, "'table'")


# ---- joints -------------------------------------------------------------------------------------


def test_parameters_of_joints_come_through_defaults(tmp_path):
    defaults = """<default><joint damping="3" armature="0.2"/>
        <default class="stiff"><joint stiffness="50" frictionloss="0.4" damping="5"/></default>
        </default>"""
    robot = read(
        tmp_path,
        f"""<body name="a">{BALL}<joint name="j" range="-30 60" springref="20"/>
            <body name="b" childclass="stiff">{BALL}
            <joint name="k" springref="20" actuatorfrcrange="-7 7"/></body></body>""",
        defaults,
    )
    j, k = robot.joint("j"), robot.joint("k")
    assert (j.kind, j.damping, j.armature, j.stiffness) == ("revolute", 3, 0.2, 0)
    assert (j.lower, j.upper) == pytest.approx((np.radians(-30), np.radians(60)))
    assert (k.kind, k.damping, k.armature, k.stiffness, k.friction, k.effort_limit) == (
        "continuous",
        5,
        0.2,
        50,
        0.4,
        7,
    )
    assert k.rest == pytest.approx(np.radians(20))


def test_inertia_is_the_full_tensor(tmp_path):
    robot = read(
        tmp_path,
        """<body name="a"><joint name="j"/>
        <inertial pos="1 2 3" mass="4" fullinertia="5 6 7 0.1 0.2 0.3"/></body>""",
    )
    inertia = robot.body("a").inertia
    np.testing.assert_allclose(
        inertia.tensor, [[5, 0.1, 0.2], [0.1, 6, 0.3], [0.2, 0.3, 7]], atol=1e-12
    )
    np.testing.assert_array_equal(inertia.centre, [1, 2, 3])
    assert inertia.mass == 4


def test_actuators_become_motors_at_the_joint(tmp_path):
    bodies = "".join(
        f'<body name="b{n}">{BALL}<joint name="{n}"/></body>' for n in ("p", "m", "v", "t")
    )
    actuators = """<actuator><position joint="p" kp="100" kv="3" gear="2" forcerange="-5 5"/>
        <motor joint="m" gear="30" ctrlrange="-2 2" armature="1e-4"/>
        <velocity joint="v" kv="4"/><muscle name="biceps" joint="t" lengthrange="0 1"/>
        </actuator>"""
    robot = read(tmp_path, f'<body name="base">{bodies}</body>', actuators)
    p, m, v = (robot.joint(n).motor for n in "pmv")
    # force at the joint = gear · force of the actuator, length of the actuator = gear · angle
    assert (p.kp, p.kd, p.torque_limit) == (400, 12, 10)
    assert (m.kp, m.kd, m.torque_limit, m.gear_ratio) == (0, 0, 60, 30)
    assert robot.joint("m").total_armature == pytest.approx(1e-4 * 30**2)
    assert (v.kp, v.kd) == (0, 4)
    assert robot.joint("t").motor is None
    assert "its law is another" in note(robot, "'biceps'")


def test_linear_equalities_become_mimics_of_the_joint_with_the_motor(tmp_path):
    bodies = "".join(f'<body name="b{n}">{BALL}<joint name="{n}"/></body>' for n in ("a", "b", "c"))
    rest = """<equality><joint joint1="a" joint2="b" polycoef="0.5 2 0 0 0"/>
    <joint joint1="b" joint2="c" polycoef="0.3 -4 0 0 0"/></equality>
        <actuator><motor joint="b"/></actuator>"""
    robot = read(tmp_path, f'<body name="base">{bodies}</body>', rest)
    assert robot.joint("b").mimic is None
    assert robot.joint("a").mimic == Mimic("b", 2, 0.5)
    # q_b = 0.3 − 4 q_c
    assert robot.joint("c").mimic == Mimic("b", -0.25, 0.075)
    robot.set_pose({"b": 0.1})
    assert robot.joint("a").position == pytest.approx([0.7])


def test_reference_angles_enter_the_offset_of_a_mimic(tmp_path):
    bodies = "".join(
        f'<body name="b{n}">{BALL}<joint name="{n}" type="slide" ref="{ref}"/></body>'
        for n, ref in (("a", 0.3), ("b", 0.1))
    )
    robot = read(
        tmp_path,
        f'<body name="base">{bodies}</body>',
        '<equality><joint joint1="a" joint2="b" polycoef="0.5 2 0 0 0"/></equality>',
    )
    # q_a − 0.3 = 0.5 + 2 (q_b − 0.1)
    assert robot.joint("a").mimic == Mimic("b", 2, pytest.approx(0.6))


# ---- shapes -------------------------------------------------------------------------------------


def test_geoms_become_shapes_with_full_lengths(tmp_path):
    robot = read(
        tmp_path,
        """<body name="a"><joint name="j"/><geom type="box" size="0.1 0.2 0.3" pos="1 0 0"/>
        <geom type="capsule" size="0.1 0.4"/><geom size="0.2"/>
        <geom type="cylinder" fromto="0 0 0 0 0 1" size="0.3" friction="0.6"/>
        <geom type="ellipsoid" size="0.1 0.2 0.3"/>
        <geom type="ellipsoid" size="0.4 0.4 0.4"/></body>""",
    )
    box, capsule, sphere, cylinder, egg, ball = robot.body("a").shapes
    assert [s.geometry for s in (box, capsule, sphere, cylinder, egg, ball)] == [
        Box((0.2, 0.4, 0.6)),
        Capsule(0.1, 0.8),
        Sphere(0.2),
        Cylinder(0.3, 1),
        Ellipsoid((0.1, 0.2, 0.3)),
        Sphere(0.4),
    ]
    assert [s.material.friction for s in (box, cylinder)] == [1, 0.6]
    np.testing.assert_allclose(cylinder.placement.p, [0, 0, 0.5], atol=1e-15)
    assert not any("ellipsoid" in said for said in robot.notes)


def test_condim_says_which_frictions_count(tmp_path):
    geoms = "".join(
        f'<geom size="0.1" condim="{dim}" friction="0.6 0.02 0.003"/>' for dim in (3, 4, 6)
    )
    robot = read(tmp_path, f'<body name="a"><joint name="j"/>{geoms}</body>')
    materials = [shape.material for shape in robot.body("a").shapes]
    assert [(m.friction, m.torsional_friction, m.rolling_friction) for m in materials] == [
        (0.6, 0, 0),
        (0.6, 0.02, 0),
        (0.6, 0.02, 0.003),
    ]
    assert len({m.name for m in materials}) == 3
    assert "limit of their own" in note(robot, "condim")


@pytest.mark.parametrize("scale", ["1 1 1", "2 1 0.5", "1 -1 1"])
def test_mesh_stands_where_the_file_says_although_mujoco_recentres_it(tmp_path, scale):
    asset = f'<asset><mesh name="m" vertex="{TETRA}" scale="{scale}"/></asset>'
    robot = read(
        tmp_path,
        '<body name="a"><joint name="j"/>'
        '<geom type="mesh" mesh="m" pos="0.1 0.2 0.3" quat="0.8 0.6 0 0"/></body>',
        asset,
    )
    (shape,) = robot.body("a").shapes
    found = shape.placement @ shape.geometry.vertices
    corners = np.array(TETRA.split(), float).reshape(4, 3) * np.array(scale.split(), float)
    expected = from_quaternion([0.8, 0.6, 0, 0], [0.1, 0.2, 0.3]) @ corners
    order = [np.lexsort(np.round(points, 5).T) for points in (found, expected)]
    # MuJoCo keeps meshes in single precision
    np.testing.assert_allclose(found[order[0]], expected[order[1]], atol=1e-6)


def test_drawn_mesh_keeps_its_file_and_place(tmp_path):
    lines = [f"v {p}" for p in TETRA.split("  ")] + ["f 1 3 2", "f 1 2 4", "f 2 3 4", "f 1 4 3"]
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "tetra.obj").write_text("\n".join(lines))
    rest = '<compiler meshdir="assets"/><asset><mesh file="tetra.obj" scale="1 2 1"/></asset>'
    geom = '<geom type="mesh" mesh="tetra" pos="0.1 0.2 0.3" quat="0.8 0.6 0 0" rgba="1 0 0 1"'
    robot = read(
        tmp_path,
        f'<body name="a"><joint name="j"/>{geom} contype="0" conaffinity="0"/>'
        f'<geom size="1" group="3"/></body>',
        rest,
    )
    drawn, solid = robot.body("a").shapes
    assert drawn.geometry == MeshFile(tmp_path / "assets" / "tetra.obj", (1, 2, 1))
    assert (drawn.collides, drawn.visible, drawn.color) == (False, True, (1, 0, 0, 1))
    assert (solid.collides, solid.visible) == (True, False)
    np.testing.assert_allclose(drawn.placement.p, [0.1, 0.2, 0.3], atol=1e-12)
    np.testing.assert_allclose(drawn.placement.quaternion, [0.8, 0.6, 0, 0], atol=1e-12)


def test_hull_knows_the_place_of_its_file(tmp_path):
    lines = [f"v {p}" for p in TETRA.split("  ")] + ["f 1 3 2", "f 1 2 4", "f 2 3 4", "f 1 4 3"]
    (tmp_path / "tetra.obj").write_text("\n".join(lines))
    geom = '<geom type="mesh" mesh="tetra" pos="0.1 0.2 0.3" quat="0.8 0.6 0 0"/>'
    for how, known in (("", True), (' refpos="1 0 0"', False)):
        asset = f'<asset><mesh file="tetra.obj" scale="1 -2 3"{how}/></asset>'
        robot = read(tmp_path, f'<body name="a"><joint name="j"/>{geom}</body>', asset)
        hull = next(s.geometry for s in robot.body("a").shapes if isinstance(s.geometry, Convex))
        assert (hull.from_file is not None) == known
        if known:
            corners = np.array(TETRA.split(), float).reshape(4, 3)
            placed = corners @ hull.from_file[:, :3].T + hull.from_file[:, 3]
            order = [np.lexsort(np.round(points, 5).T) for points in (placed, hull.vertices)]
            np.testing.assert_allclose(placed[order[0]], hull.vertices[order[1]], atol=1e-6)


def test_material_colours_hold_unless_the_geom_has_its_own(tmp_path):
    asset = '<asset><material name="red" rgba="1 0 0 1"/></asset>'
    robot = read(
        tmp_path,
        '<body name="a"><geom size="1" material="red"/>'
        '<geom size="1" material="red" rgba="0 1 0 0.5"/></body>',
        asset,
    )
    assert [s.color for s in robot.body("a").shapes] == [(1, 0, 0, 1), (0, 1, 0, 0.5)]


# ---- who collides -------------------------------------------------------------------------------


def chain(*geoms):
    """Bodies a, b, c, … each hanging on the one before."""
    text = "".join(
        f'<body name="{n}"><joint name="j{n}"/>{g}' for n, g in zip("abcde", geoms, strict=False)
    )
    return text + "</body>" * len(geoms)


def test_excluded_pairs_are_kept(tmp_path):
    robot = read(
        tmp_path, chain(BALL, BALL, BALL), '<contact><exclude body1="a" body2="c"/></contact>'
    )
    assert robot.excluded == {frozenset("ac")}


def test_masks_become_excluded_pairs(tmp_path):
    # 1/0 touches the default 1/1, but not another 1/0
    quiet = '<geom size="0.1" contype="1" conaffinity="0"/>'
    robot = read(
        tmp_path, chain(quiet, quiet, BALL, '<geom size="0.1" contype="0" conaffinity="0"/>')
    )
    assert robot.excluded == {frozenset("ab")}
    assert [len(robot.body(n).collision_shapes()) for n in "abcd"] == [1, 1, 1, 0]


def test_geoms_of_explicit_pairs_collide_whatever_their_masks(tmp_path):
    shy = '<geom name="g{}" size="0.1" contype="0" conaffinity="0"/>'
    robot = read(
        tmp_path,
        chain(*(shy.format(n) for n in "abc")),
        '<contact><pair geom1="ga" geom2="gc"/></contact>',
    )
    assert [len(robot.body(n).collision_shapes()) for n in "abc"] == [1, 0, 1]
    assert robot.excluded == set()
    assert "world.set_pair" in note(robot, "1 explicit contact pairs")


def test_body_with_two_joints_does_not_collide_with_its_parent(tmp_path):
    two = '<joint name="k" axis="1 0 0"/>' + BALL
    robot = read(tmp_path, chain(BALL, two, BALL))
    assert robot.excluded == {frozenset("ab")}


# ---- poses, frames, sensors ---------------------------------------------------------------------


def test_keyframes_become_poses_by_joint_name(tmp_path):
    rest = (
        '<keyframe><key name="home" qpos="1 2 3 1 0 0 0 0.5"/><key qpos="0 0 1 1 0 0 0 0.25"/>'
        "</keyframe>"
    )
    robot = read(tmp_path, TREES["free base"], rest)
    poses = {"home": {"j": 0.5}, "keyframe2": {"j": 0.25}}
    assert robot.poses == {**poses, "half_sitting": {"j": 0.5}}
    assert "robot.place([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0])" in note(robot, "'home' also moves")


def test_sites_sensors_and_cameras_keep_their_places(tmp_path):
    body = (
        f'<body name="a"><joint name="j"/>{BALL}<site name="s" pos="1 2 3" quat="0.8 0.6 0 0"/>'
        f'<camera name="eye" pos="0 0 1"/></body>'
    )
    sensors = (
        '<sensor><torque site="s"/><force name="ft" site="s" noise="0.5" cutoff="100"/>'
        '<gyro name="g" site="s"/><jointpos joint="j"/><jointvel name="speed" joint="j"/>'
        '<framequat name="turn" objtype="site" objname="s"/><touch name="sole" site="s"/>'
        '<framepos name="where" objtype="site" objname="s"/><actuatorfrc actuator="m"/></sensor>'
        '<actuator><motor name="m" joint="j"/></actuator>'
    )
    robot = read(tmp_path, body, sensors)
    np.testing.assert_array_equal(robot.frames["s"].placement.p, [1, 2, 3])
    np.testing.assert_allclose(robot.frames["s"].placement.quaternion, [0.8, 0.6, 0, 0])
    assert {n: (s.kind, s.part) for n, s in robot.sensors.items()} == {
        "eye": ("camera", ""),
        "s_torque": ("force", "torque"),
        "ft": ("force", "force"),
        "g": ("gyro", ""),
        "j_jointpos": ("encoder", "position"),
        "speed": ("encoder", "velocity"),
        "turn": ("orientation", ""),
        "sole": ("touch", ""),
        "m_actuatorfrc": ("effort", ""),
    }
    assert (robot.sensors["ft"].noise, robot.sensors["ft"].limit) == (0.5, 100.0)
    # both look along −z of their frame
    np.testing.assert_array_equal(robot.sensors["eye"].placement.R[:, 2], [0, 0, 1])
    assert "1 framepos" in note(robot, "sensors were ignored")


def test_what_tabi_does_not_have_is_noted(tmp_path):
    rest = """<option gravity="0 0 -1.62" timestep="0.004" viscosity="1"><flag contact="disable"/>
    </option>
        <tendon><fixed name="t"><joint joint="ja" coef="1"/></fixed></tendon><actuator>
        <motor name="pull" tendon="t"/></actuator>
        <equality><weld body1="a" body2="c"/><joint joint1="ja" joint2="jb" polycoef="0 0 1 0 0"/>
        </equality>"""
    robot = read(tmp_path, chain(BALL, BALL, BALL), rest)
    for words in (
        "-1.62",
        "0.004 s",
        "tendons",
        "fluid",
        "contact",
        "'pull'",
        "weld of 'a' and 'c'",
        "not linear between two joints",
    ):
        assert note(robot, words)


def test_unnamed_elements_get_names(tmp_path):
    robot = read(tmp_path, f"<body>{BALL}<body><joint/>{BALL}</body></body>")
    assert [b.name for b in robot.bodies] == ["body1", "body2"]
    assert robot.joint_names == ["body2_joint"]
    assert robot.name == "model"


def test_unknown_base_is_refused(tmp_path):
    with pytest.raises(ModelError, match=r"base is 'free'.*'floating', 'fixed'"):
        mjcf.read(write(tmp_path, TREES["free base"]), base="free")
