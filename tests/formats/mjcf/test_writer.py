"""World → MuJoCo: the same bodies, the same inertia, the same friction,
and states that map exactly.
"""

import numpy as np
import pytest

from tabi import dynamics
from tabi._errors import ModelError
from tabi.formats.mesh import convex_hull
from tabi.formats.mjcf import reader as mjcf
from tabi.formats.mjcf.writer import to_mjcf, to_mujoco
from tabi.model.joint import Joint, Mimic, Motor
from tabi.model.mujoco_state import (
    mujoco_state,
    tabi_state,
    velocity_from_mujoco,
    velocity_to_mujoco,
)
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Ellipsoid, HalfSpace, Material, Shape
from tabi.model.world import World
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, from_quaternion

mujoco = pytest.importorskip("mujoco")

KINDS = ("revolute", "prismatic", "spherical", "planar", "continuous", "floating")


def random_inertia(rng):
    """Of a few point masses, so that a real body has it."""
    points, masses = rng.normal(size=(6, 3)), rng.uniform(0.1, 1, 6)
    centre = masses @ points / masses.sum()
    x = points - centre
    tensor = np.einsum("n,nk,nk->", masses, x, x) * np.eye(3) - np.einsum(
        "n,ni,nj->ij", masses, x, x
    )
    return Inertia(float(masses.sum()), centre, tensor)


def random_placement(rng):
    return from_quaternion(rng.normal(size=4), rng.normal(size=3))


def chain(name="chain", base="floating", seed=0):
    """A robot with one joint of every kind, frames and axes at random."""
    rng, robot = np.random.default_rng(seed), Robot(name)
    parent = robot.add_body("base", Joint("root", base), None, random_inertia(rng))
    for k, kind in enumerate(KINDS):
        motor = Motor(1e-4, 100.0, 40.0, 500.0, 5.0) if kind == "revolute" else None
        joint = Joint(
            f"j{k}",
            kind,
            random_placement(rng),
            rng.normal(size=3),
            armature=0.1 * k,
            damping=0.2,
            friction=0.3,
            motor=motor,
        )
        parent = robot.add_body(f"b{k}", joint, parent, random_inertia(rng))
        parent = robot.add_body(
            f"tip{k}", Joint(f"f{k}", "fixed", random_placement(rng)), parent, random_inertia(rng)
        )
    return robot


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    return dynamics.integrate(
        model, model.neutral(), rng.normal(size=model.v_count), 1.0
    ), rng.normal(size=model.v_count)


def data(m, qpos, qvel=None):
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    if qvel is not None:
        d.qvel[:] = qvel
    mujoco.mj_forward(m, d)
    return d


def full_mass_matrix(m, d):
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    return M


def turning(model, m, q):
    """T of qvel = T v."""
    return np.stack([velocity_to_mujoco(model, m, q, e) for e in np.eye(model.v_count)], axis=1)


def world_of(*robots):
    world = World()
    for robot in robots:
        world.add_robot(robot)
    return world


# ---- the same mechanism -------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_bodies_stand_and_move_as_in_tabi(base):
    world = world_of(chain(base=base))
    model, m = world.compile(), to_mujoco(world)
    q, v = random_state(model, 1)
    d = data(m, *mujoco_state(model, m, q, v))
    for name in [f"b{k}" for k in range(len(KINDS))] + [f"tip{k}" for k in range(len(KINDS))]:
        X, V = dynamics.pose(model, q, name), dynamics.velocity(model, q, v, name)
        np.testing.assert_allclose(X.p, d.body(name).xpos, atol=1e-12)
        np.testing.assert_allclose(X.R.ravel(), d.body(name).xmat, atol=1e-12)
        theirs = np.zeros(6)
        mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, m.body(name).id, theirs, 0)
        np.testing.assert_allclose([*V.angular, *V.linear], theirs, atol=1e-11)


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_mass_matrix_and_forces_agree_with_tabi(base):
    world = world_of(chain(base=base))
    model, m = world.compile(), to_mujoco(world)
    q, v = random_state(model, 2)
    a = np.random.default_rng(3).normal(size=model.v_count)
    d = data(m, *mujoco_state(model, m, q, v))
    M, T = full_mass_matrix(m, d), turning(model, m, q)
    scale = np.abs(M).max()
    np.testing.assert_allclose(T @ dynamics.mass_matrix(model, q) @ T.T, M, atol=1e-11 * scale)
    # τ = M a + b, with both sides' own velocity products and gravity
    tau = dynamics.inverse_dynamics(model, q, v, a)
    theirs = M @ velocity_to_mujoco(model, m, q, a) + d.qfrc_bias
    np.testing.assert_allclose(
        velocity_to_mujoco(model, m, q, tau), theirs, atol=1e-10 * np.abs(theirs).max()
    )


def test_state_comes_back():
    world = world_of(chain())
    world.add_box((0.1, 0.2, 0.3), 1.0, position=(3, 0, 0), name="crate")
    model, m = world.compile(), to_mujoco(world)
    q, v = random_state(model, 4)
    back = tabi_state(model, m, *mujoco_state(world, m, q, v))
    np.testing.assert_array_equal(back[0], q)
    np.testing.assert_allclose(back[1], v, atol=1e-14)


def test_base_velocity_is_in_the_axes_of_the_world():
    world = World()
    world.add_box((0.1, 0.2, 0.3), 1.0, name="crate")
    model, m = world.compile(), to_mujoco(world)
    # a quarter turn about z: the body's x axis is the world's y axis
    q = [0, 0, 0, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    _, qvel = mujoco_state(model, m, q, [1, 2, 3, 0, 5, 0])
    np.testing.assert_allclose(qvel, [1, 2, 3, 5, 0, 0], atol=1e-14)
    np.testing.assert_allclose(
        velocity_from_mujoco(model, m, q, qvel), [1, 2, 3, 0, 5, 0], atol=1e-14
    )


def test_world_starts_where_it_is():
    world = world_of(chain())
    world.robots[0].place((1, 2, 3), (0.6, 0, 0.8, 0))
    world.robots[0].joint("j0").position[:] = 0.7
    model, m = world.compile(), to_mujoco(world)
    np.testing.assert_array_equal(
        m.key("initial").qpos, mujoco_state(model, m, model.initial(), np.zeros(model.v_count))[0]
    )
    assert m.key("initial").qpos[m.joint("j0").qposadr[0]] == 0.7
    np.testing.assert_allclose(m.qpos0[:7], [1, 2, 3, 0.6, 0, 0.8, 0], atol=1e-15)


@pytest.mark.slow
def test_talos_goes_through_tabi_unchanged(shared):
    path = shared / "data/robots/menagerie/pal_talos/talos.xml"
    world = world_of(mjcf.read(path))
    there, back = mujoco.MjModel.from_xml_path(str(path)), to_mujoco(world)
    qpos, qvel = np.zeros(there.nq), np.random.default_rng(5).normal(size=there.nv)
    qpos[:7] = [0.1, 0.2, 1.0, 0.5, 0.5, -0.5, 0.5]
    qpos[7:] = np.random.default_rng(6).normal(size=there.nq - 7)
    # the order of the joints is the file's: one tree, read in its own order
    assert [there.joint(j).name for j in range(1, there.njnt)] == [
        back.joint(j).name for j in range(1, back.njnt)
    ]
    a, b = data(there, qpos, qvel), data(back, qpos, qvel)
    Ma, Mb = full_mass_matrix(there, a), full_mass_matrix(back, b)
    np.testing.assert_allclose(Mb, Ma, atol=1e-12 * np.abs(Ma).max())
    np.testing.assert_allclose(b.qfrc_bias, a.qfrc_bias, atol=1e-11 * np.abs(a.qfrc_bias).max())
    np.testing.assert_allclose(back.dof_damping, there.dof_damping)
    np.testing.assert_allclose(back.jnt_range, there.jnt_range)
    # the file's exclusions, and the two feet: contype 6 and conaffinity 1 never meet
    assert back.nexclude == there.nexclude + 1
    assert frozenset(("leg_left_6_link", "leg_right_6_link")) in world.robots[0].excluded
    # and tabi's own dynamics of it, every spatial quantity of a 94 kg robot rounded a few times
    model = world.compile()
    q, v = tabi_state(model, back, qpos, qvel)
    T = turning(model, back, q)
    np.testing.assert_allclose(
        T @ dynamics.mass_matrix(model, q) @ T.T, Ma, atol=1e-12 * np.abs(Ma).max()
    )
    tau = dynamics.inverse_dynamics(model, q, v, np.zeros(model.v_count))
    np.testing.assert_allclose(T @ tau, a.qfrc_bias, atol=1e-11 * np.abs(a.qfrc_bias).max())


def test_two_joints_with_anchors_keep_their_inertia(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(
        """<mujoco><worldbody><body name="a"><geom size="0.1" pos="0.3 0 0"/>
        <joint name="j" pos="0.3 0 0.1" axis="0 1 0"/>
        <joint name="k" pos="0 0.4 -0.1" axis="1 0 1"/>
        <body name="b" pos="0 0 0.5"><geom size="0.2" pos="0 0.1 0"/>
        <joint name="l" axis="0 0 1" pos="0.2 0 0"/></body></body>
        </worldbody></mujoco>"""
    )
    there, back = mujoco.MjModel.from_xml_path(str(path)), to_mujoco(world_of(mjcf.read(path)))
    a, b = (data(m, [0.3, -0.8, 1.2], [1.0, 2.0, -3.0]) for m in (there, back))
    # massless bodies weigh 1e-14 kg in MuJoCo
    np.testing.assert_allclose(full_mass_matrix(back, b), full_mass_matrix(there, a), atol=1e-12)
    np.testing.assert_allclose(b.qfrc_bias, a.qfrc_bias, atol=1e-11)


# ---- parameters ---------------------------------------------------------------------------------


def test_parameters_of_joints_are_written():
    robot = Robot("arm")
    base = robot.add_body("base", Joint("root", "fixed"))
    spring = Joint(
        "spring",
        "revolute",
        lower=-0.5,
        upper=0.25,
        armature=0.1,
        damping=0.2,
        friction=0.3,
        stiffness=40,
        rest=0.1,
        effort_limit=9,
    )
    spring.motor = Motor(rotor_inertia=1e-3, gear_ratio=10, torque_limit=7)
    one = robot.add_body("one", spring, base, Inertia(1, np.zeros(3), np.eye(3)))
    robot.add_body(
        "two", Joint("slider", "prismatic", lower=0.0), one, Inertia(2, np.zeros(3), np.eye(3))
    )
    m = to_mujoco(world_of(robot))
    dof = m.joint("spring").dofadr[0]
    assert m.dof_armature[dof] == pytest.approx(0.1 + 1e-3 * 10**2)
    assert (m.dof_damping[dof], m.dof_frictionloss[dof]) == (0.2, 0.3)
    assert (m.jnt_stiffness[0], m.qpos_spring[0]) == (40, 0.1)
    np.testing.assert_array_equal(m.joint("spring").range, [-0.5, 0.25])
    np.testing.assert_array_equal(m.jnt_actfrcrange[0], [-9, 9])
    np.testing.assert_array_equal(m.actuator("spring").ctrlrange.ravel(), [-7, 7])
    assert m.joint("slider").range[0] == 0
    assert m.joint("slider").range[1] > 1e6


def test_mimic_becomes_a_joint_equality():
    robot = Robot("hand")
    base = robot.add_body("palm", Joint("root", "fixed"))
    for name in ("a", "b"):
        robot.add_body(
            f"finger_{name}", Joint(name, "revolute"), base, Inertia(1, np.zeros(3), np.eye(3))
        )
    robot.joint("b").mimic = Mimic("a", 1 / 3, 0.1)
    m = to_mujoco(world_of(robot))
    assert (m.neq, m.eq_obj1id[0], m.eq_obj2id[0]) == (1, m.joint("b").id, m.joint("a").id)
    # MuJoCo: q_1 = c0 + c1 q_2
    np.testing.assert_array_equal(m.eq_data[0, :5], [0.1, 1 / 3, 0, 0, 0])


def test_gravity_is_the_worlds():
    world = World(gravity=(0, 1, -1.62))
    world.add_sphere(0.1, 2.0)
    np.testing.assert_array_equal(to_mujoco(world).opt.gravity, [0, 1, -1.62])


def test_names_are_those_of_the_compiled_model():
    world = world_of(chain("left"), chain("right"))
    world.add_box((0.1, 0.1, 0.1), 1.0, name="b1")
    model, m = world.compile(), to_mujoco(world)
    bodies = {m.body(b).name for b in range(m.nbody)}
    assert bodies == set(model.links)
    joints = {m.joint(j).name.partition(":")[0] for j in range(m.njnt)}
    assert joints == {*model.joint_names, "left", "right", "b1"}


# ---- contact ------------------------------------------------------------------------------------


def contacts(world):
    """{(geom, geom): friction} of everything that touches."""
    m = to_mujoco(world)
    d = data(m, m.key("initial").qpos)
    return {
        tuple(sorted(m.geom(int(g)).name for g in c.geom)): float(c.friction[0]) for c in d.contact
    }


def boxes_on_the_ground():
    world = World()
    world.add_ground(friction=0.8)
    for k, friction in enumerate((0.3, 0.5, 0.9)):
        world.add_box(
            (1, 1, 1), 1.0, position=(0.9 * k, 0, 0.499), friction=friction, name=f"box{k}"
        )
    return world


def test_friction_is_the_smaller_of_the_two():
    found = contacts(boxes_on_the_ground())
    a, b, c = (f"box{k}/box{k}" for k in range(3))
    assert found == {
        (a, "ground"): 0.3,
        (b, "ground"): 0.5,
        (c, "ground"): 0.8,
        (a, b): 0.3,
        (b, c): 0.5,
    }


def test_pair_of_materials_keeps_its_own_friction():
    world = boxes_on_the_ground()
    world.set_pair("box0", "ground", friction=0.7)
    world.set_pair("box1", "box2", friction=0.05)
    found = contacts(world)
    assert (
        found["box0/box0", "ground"],
        found["box1/box1", "box2/box2"],
        found["box1/box1", "ground"],
    ) == (0.7, 0.05, 0.5)


def test_excluded_bodies_and_neighbours_do_not_touch():
    robot = Robot("stack")
    solid, mass = [Shape(Box((1, 1, 1)))], Inertia(1, np.zeros(3), np.eye(3))
    parent = robot.add_body("a", Joint("root", "fixed"), None, mass, list(solid))
    for name in "bcd":
        parent = robot.add_body(
            name,
            Joint(f"j{name}", "revolute", Transform(np.eye(3), np.array([0.1, 0, 0]))),
            parent,
            mass,
            list(solid),
        )
    # a is bolted to the world, a–b, b–c and c–d are neighbours
    assert set(contacts(world_of(robot))) == {("a/1", "c/1"), ("a/1", "d/1"), ("b/1", "d/1")}
    robot.excluded.add(frozenset("bd"))
    assert set(contacts(world_of(robot))) == {("a/1", "c/1"), ("a/1", "d/1")}


def test_shapes_keep_their_size_and_place_through_the_text(tmp_path):
    rng, robot = np.random.default_rng(7), Robot("blob")
    points = rng.normal(size=(30, 3))
    places = [random_placement(rng) for _ in range(2)]
    shapes = [
        Shape(Capsule(0.1, 0.4), places[0]),
        Shape(convex_hull(points), places[1]),
        Shape(Box((1, 2, 3)), collides=False),
        Shape(Ellipsoid((0.1, 0.2, 0.3)), places[0]),
    ]
    robot.add_body("base", Joint("root", "floating"), None, random_inertia(rng), shapes)
    (tmp_path / "world.xml").write_text(to_mjcf(world_of(robot)))
    back = mjcf.read(tmp_path / "world.xml")
    capsule, hull, drawn, egg = back.body("base").shapes
    assert egg.geometry == Ellipsoid((0.1, 0.2, 0.3))
    assert (capsule.geometry, drawn.geometry) == (Capsule(0.1, 0.4), Box((1, 2, 3)))
    assert not drawn.collides
    for d in rng.normal(size=(20, 3)):
        assert egg.support(d) == pytest.approx(shapes[3].support(d), abs=1e-12)
        assert capsule.support(d) == pytest.approx(shapes[0].support(d), abs=1e-12)
        # MuJoCo keeps meshes in single precision
        assert hull.support(d) == pytest.approx(shapes[1].support(d), abs=1e-5)


def test_text_is_exact_to_the_last_digit():
    world = world_of(chain())
    world.robots[0].joint("j4").mimic = Mimic("j0", 1 / 3, 0.1)
    world.add_ground(friction=1 / 7)
    m, text = to_mujoco(world), mujoco.MjModel.from_xml_string(to_mjcf(world))
    exact = (
        "body_pos body_ipos body_mass body_inertia jnt_axis jnt_range dof_armature eq_data "
        "geom_friction key_qpos"
    )
    for field in exact.split():
        np.testing.assert_array_equal(getattr(text, field), getattr(m, field), err_msg=field)
    # MuJoCo makes quaternions of length one again
    for field in ("body_quat", "body_iquat"):
        np.testing.assert_allclose(getattr(text, field), getattr(m, field), atol=1e-15)


# ---- what cannot be written ---------------------------------------------------------------------


def test_moving_half_space_is_refused():
    robot = Robot("tray")
    robot.add_body(
        "plate",
        Joint("root", "floating"),
        None,
        Inertia(1, np.zeros(3), np.eye(3)),
        [Shape(HalfSpace())],
    )
    with pytest.raises(ModelError, match="'plate' moves and has a half-space"):
        to_mujoco(world_of(robot))


def test_impossible_inertia_is_raised_with_a_warning():
    robot = Robot("plate")
    robot.add_body(
        "base", Joint("root", "floating"), None, Inertia(1, np.zeros(3), np.diag([1.0, 1.0, 3.0]))
    )
    with pytest.warns(UserWarning, match="'base' has moments of inertia"):
        m = to_mujoco(world_of(robot))
    # the mass along z, −1/2 kg·m², becomes none
    np.testing.assert_allclose(np.sort(m.body("base").inertia), [1.5, 1.5, 3.0], rtol=1e-9)


def test_impossible_part_of_a_real_body_changes_nothing():
    robot, rng = Robot("plate"), np.random.default_rng(8)
    base = robot.add_body("base", Joint("root", "floating"), None, random_inertia(rng))
    robot.add_body(
        "sensor",
        Joint("bolt", "fixed", random_placement(rng)),
        base,
        Inertia(0.1, np.ones(3), np.diag([1e-3, 1e-3, 5e-3])),
    )
    world = world_of(robot)
    model, m = world.compile(), to_mujoco(world)
    q, v = random_state(model, 9)
    d, T = data(m, *mujoco_state(model, m, q, v)), turning(model, m, q)
    np.testing.assert_allclose(
        T @ dynamics.mass_matrix(model, q) @ T.T, full_mass_matrix(m, d), atol=1e-12
    )


def test_range_without_width_is_written():
    robot = Robot("arm")
    base = robot.add_body("base", Joint("root", "fixed"))
    robot.add_body(
        "one",
        Joint("lock", "revolute", lower=0.0, upper=0.0, effort_limit=0.0),
        base,
        Inertia(1, np.zeros(3), np.eye(3)),
    )
    np.testing.assert_allclose(to_mujoco(world_of(robot)).joint("lock").range, [0, 0], atol=1e-8)


def test_prescribed_motion_is_warned_of():
    robot = chain()
    robot.joint("j0").prescribed = True
    with pytest.warns(UserWarning, match="'j0' has a prescribed motion"):
        assert to_mujoco(world_of(robot)).njnt > 0


def test_a_torque_speed_line_is_warned_of():
    robot = chain()
    robot.joint("j0").motor = Motor(torque_limit=3.0, no_load_speed=2.0)
    with pytest.warns(UserWarning, match="motor of joint 'j0' has a line, MuJoCo has limits only"):
        assert to_mujoco(world_of(robot)).actuator_ctrlrange[0].tolist() == [-3.0, 3.0]


def test_state_of_another_world_is_refused():
    world, other = world_of(chain()), World()
    other.add_sphere(0.1, 1.0)
    with pytest.raises(ModelError, match=r"expected \d+: make it from this world"):
        mujoco_state(
            world, to_mujoco(other), world.compile().initial(), np.zeros(world.compile().v_count)
        )


@pytest.mark.parametrize(
    ("qpos", "qvel", "named"),
    [(6, 6, "qpos has shape"), (7, 7, "qvel has shape"), (0, 6, "qpos has shape")],
)
def test_state_of_the_wrong_length_is_refused(qpos, qvel, named):
    world = World()
    world.add_sphere(0.1, 1.0)
    with pytest.raises(ModelError, match=named):
        tabi_state(world, to_mujoco(world), [*[0.0] * (qpos - 1), 1.0][:qpos], np.zeros(qvel))


def test_materials_of_one_robot_may_differ():
    robot, mass = Robot("skate"), Inertia(1, np.zeros(3), np.eye(3))
    beside = Transform(np.eye(3), np.array([2.0, 0, 0]))
    shapes = [
        Shape(Box((1, 1, 1)), material=Material("rubber", 0.9)),
        Shape(Box((1, 1, 1)), beside, Material("ice", 0.02)),
    ]
    robot.add_body(
        "base",
        Joint("root", "floating", position=np.array([0, 0, 0.499, 1, 0, 0, 0])),
        None,
        mass,
        shapes,
    )
    world = world_of(robot)
    world.add_ground(friction=0.8)
    assert contacts(world) == {("base/1", "ground"): 0.8, ("base/2", "ground"): 0.02}
