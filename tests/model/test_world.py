"""Worlds: what can be built, how it is named, and what is refused."""

import numpy as np
import pytest
from worlds import random_robot

import tabi
from tabi import ModelError
from tabi.model.joint import Joint, Mimic, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Cylinder, Material, Shape, Sphere
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import Transform, from_quaternion, translation


def arm(name="arm", base="fixed"):
    robot = Robot(name)
    robot.add_body("post", Joint("post", base), None, Inertia(1.0, np.zeros(3), np.eye(3)))
    robot.add_body(
        "upper",
        Joint("shoulder", "revolute", translation((0, 0, 1)), (0, 1, 0)),
        "post",
        solid_box(1.0, (0.1, 0.1, 0.4)),
    )
    robot.add_body(
        "lower",
        Joint("elbow", "revolute", translation((0, 0, 0.4)), (0, 1, 0)),
        "upper",
        solid_box(0.5, (0.1, 0.1, 0.4)),
    )
    return robot


def test_the_script_of_the_front_page_builds_a_world():
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2())
    crate = world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, friction=0.4, position=(0.6, 0.0, 0.15))
    robot.stand_on_ground()
    model = world.compile()
    assert model.mass == pytest.approx(58.0 + 3.0)
    assert len(model.joint_names) == 30
    assert model.q_count == 37 + 7
    assert np.allclose(model.initial()[model.q_index(crate.name) :][:3], (0.6, 0.0, 0.15))
    assert set(robot.feet) == {"left", "right"}
    assert robot.body("chest").name == "chest"


def test_a_robot_added_twice_is_two_robots():
    world = tabi.World()
    first, second = world.add_robot(arm()), world.add_robot(arm())
    assert (first.name, second.name) == ("arm", "arm_2")
    first.joint("elbow").position[0] = 0.5
    model = world.compile()
    assert model.joint_names == ["arm/shoulder", "arm/elbow", "arm_2/shoulder", "arm_2/elbow"]
    assert model.initial()[model.q_index("arm/elbow")] == 0.5
    assert model.initial()[model.q_index("arm_2/elbow")] == 0.0


def test_names_that_occur_once_stay_short():
    world = tabi.World()
    world.add_robot(arm())
    world.add_robot(random_robot(3, 5))
    world.add_sphere(0.1, 1.0, name="ball")
    model = world.compile()
    assert {"shoulder", "elbow"} <= set(model.joint_names)
    assert model.q_index("ball") == model.q_count - 7
    assert model.v_index("ball") == model.v_count - 6
    assert "ball" not in model.joint_names


def test_a_world_can_be_edited_and_compiled_again():
    world = tabi.World()
    robot = world.add_robot(arm())
    before = world.compile()
    robot.body("lower").inertia = solid_box(2.0, (0.1, 0.1, 0.4))
    robot.joint("elbow").damping = 3.0
    after = world.compile()
    assert before.arrays.body["mass"][2] == 0.5
    assert after.arrays.body["mass"][2] == 2.0
    assert after.arrays.dof["damping"].tolist() == [0.0, 3.0]


def test_adding_a_robot_copies_it():
    original = arm()
    world = tabi.World()
    world.add_robot(original).body("lower").inertia = Inertia(9.0, np.zeros(3), np.eye(3))
    assert original.body("lower").inertia.mass == 0.5


def test_fixed_bodies_melt_into_what_carries_them_and_keep_their_frames():
    robot = arm()
    X = from_quaternion((1, 2, 3, 4), (0.1, 0.2, 0.3))
    robot.add_body(
        "tool",
        Joint("mount", "fixed", X),
        "lower",
        Inertia(0.2, np.array([0.0, 0, 0.1]), 0.01 * np.eye(3)),
    )
    model = robot.compile()
    assert model.body_count == 2
    assert model.arrays.body["mass"][2] == pytest.approx(0.7)
    q = np.array([0.3, -0.8])
    lower, tool = (tabi.dynamics.pose(model, q, name) for name in ("lower", "tool"))
    assert np.allclose((lower @ X).p, tool.p)
    assert np.allclose((lower @ X).R, tool.R)


def test_compiled_poses_are_those_of_the_robot_in_every_joint():
    for seed in range(5):
        robot = random_robot(seed, 10)
        model, rng = robot.compile(), np.random.default_rng(seed)
        q = tabi.dynamics.integrate(model, model.neutral(), rng.normal(size=model.v_count), 1.0)
        for body in robot.bodies:
            if body.joint.kind != "fixed":
                name = robot.name if body is robot.base else body.joint.name
                body.joint.position = q[model.q_index(name) :][: body.joint.q_count]
        assert len(robot.bodies) == 10
        for body, X in robot.placements().items():
            compiled = tabi.dynamics.pose(model, q, body.name)
            assert np.allclose(compiled.R, X.R, atol=1e-14)
            assert np.allclose(compiled.p, X.p, atol=1e-14)


def test_pairs_of_materials_take_the_smaller_friction_and_the_larger_restitution_unless_told():
    world = tabi.World()
    world.add_ground(friction=0.8, restitution=0.1)
    world.add_box((1, 1, 1), 1.0, friction=0.4, restitution=0.5, name="crate")
    world.add_sphere(0.1, 1.0, friction=0.9, name="ball")
    world.set_pair("ball", "ground", friction=0.05)
    model = world.compile()
    index = {name: model.material_names.index(name) for name in ("ground", "crate", "ball")}
    assert model.friction[index["ground"], index["crate"]] == 0.4
    assert model.restitution[index["ground"], index["crate"]] == 0.5
    assert model.friction[index["ball"], index["ground"]] == 0.05
    assert np.array_equal(model.friction, model.friction.T)
    world.set_pair("ball", "crate", friction=0.3)
    assert world.compile().restitution[index["ball"], index["crate"]] == 0.5
    model.set_pair("crate", "ground", friction=0.2)
    assert model.friction[index["ground"], index["crate"]] == 0.2
    assert model.restitution[index["ground"], index["crate"]] == 0.5


def test_standing_puts_the_soles_level_on_the_ground():
    world = tabi.World()
    world.add_ground(height=0.3)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.place((1.0, 2.0, 5.0), from_quaternion((1, 0.2, -0.1, 0.3)).quaternion)
    robot.stand_on_ground()
    X = robot.placements()
    for foot in robot.feet.values():
        corners = X[foot.body] @ foot.corners()
        assert np.allclose(corners[:, 2], 0.3, atol=1e-12)
    assert np.allclose(robot.base.joint.position[:2], (1.0, 2.0))


def test_a_robot_without_feet_stands_on_its_lowest_point():
    robot = Robot("ball")
    robot.add_body(
        "ball",
        Joint("free", "floating"),
        None,
        Inertia(1.0, np.zeros(3), np.eye(3)),
        [Shape(Sphere(0.25))],
    )
    robot.stand_on_ground()
    assert robot.base.joint.position[2] == pytest.approx(0.25)


def test_a_bolted_robot_cannot_stand():
    with pytest.raises(ModelError, match="'arm' is bolted to the world by its base 'post'"):
        arm().stand_on_ground()


def test_following_joints_pose_with_their_leaders():
    robot = arm()
    robot.joint("elbow").mimic = Mimic("shoulder", -2.0, 0.1)
    robot.set_pose({"shoulder": 0.3})
    assert robot.joint("elbow").position[0] == pytest.approx(-0.5)


def test_a_compiled_world_starts_with_followers_where_their_leaders_are():
    robot = arm()
    robot.add_body(
        "hand",
        Joint("wrist", "revolute", translation((0, 0, 0.4)), (0, 1, 0)),
        "lower",
        solid_box(0.5, (0.1, 0.1, 0.1)),
    )
    robot.joint("shoulder").mimic = Mimic("elbow", 3.0, 0.1)
    robot.joint("elbow").mimic = Mimic("wrist", 2.0, 0.2)
    robot.joint("wrist").position[0] = 0.5
    model = robot.compile()
    assert model.initial() == pytest.approx([3 * (2 * 0.5 + 0.2) + 0.1, 2 * 0.5 + 0.2, 0.5])
    assert model.neutral() == pytest.approx([3 * 0.2 + 0.1, 0.2, 0.0])


def test_a_follower_finds_the_leader_of_its_own_robot():
    world = tabi.World()
    for name in ("a", "b"):
        robot = Robot(name)
        robot.add_body("palm", Joint("palm", "floating"), None, solid_box(1.0, (0.1, 0.1, 0.1)))
        for k in (1, 2):
            robot.add_body(
                f"finger{k}",
                Joint(f"finger/{k}", "revolute", translation((k, 0, 0))),
                "palm",
                solid_box(1.0, (0.1, 0.1, 0.1)),
            )
        # its name occurs once in the world, its leader's twice
        robot.add_body(
            "thumb",
            Joint(f"thumb_{name}", "revolute", mimic=Mimic("finger/1", 0.5)),
            "palm",
            solid_box(1.0, (0.1, 0.1, 0.1)),
        )
        robot.joint("finger/2").mimic = Mimic("finger/1", 2.0)
        world.add_robot(robot)
    model = world.compile()
    pairs = {
        (model.dof_name(row["follower"]), model.dof_name(row["leader"]))
        for row in model.arrays.mimic
    }
    expected = {(f"{robot}/finger/2", f"{robot}/finger/1") for robot in ("a", "b")}
    assert pairs == expected | {(f"thumb_{robot}", f"{robot}/finger/1") for robot in ("a", "b")}


def test_a_leader_in_another_robot_is_no_leader():
    world, other = tabi.World(), Robot("other")
    other.add_body("post", Joint("post", "fixed"))
    other.add_body(
        "wheel",
        Joint("axle", "continuous", mimic=Mimic("elbow")),
        "post",
        solid_box(1.0, (0.1, 0.1, 0.1)),
    )
    world.add_robot(arm())
    world.add_robot(other)
    with pytest.raises(ModelError, match="joint 'axle' follows 'elbow'; expected a moving joint"):
        world.compile()


def test_followers_in_a_circle_are_refused():
    robot = arm()
    robot.joint("elbow").mimic, robot.joint("shoulder").mimic = Mimic("shoulder"), Mimic("elbow")
    with pytest.raises(
        ModelError, match="joint 'shoulder' follows itself: shoulder → elbow → shoulder"
    ):
        robot.compile()


def test_gravity_may_be_given_anew_as_a_list():
    world = tabi.World()
    world.add_sphere(0.1, 1.0, name="ball")
    world.gravity = [0, 0, -2]
    model = world.compile()
    a = tabi.dynamics.forward_dynamics(model, model.neutral(), np.zeros(6), np.zeros(6))
    assert a.tolist() == pytest.approx([0, 0, -2, 0, 0, 0], abs=1e-15)


def test_feet_go_by_the_name_they_are_looked_up_with():
    world = tabi.World()
    for _ in range(2):
        world.add_robot(tabi.robots.hrp2())
    model = world.compile()
    assert model.feet["hrp2_2/left"].name == "hrp2_2/left"
    assert model.link("hrp2_2/left") is model.feet["hrp2_2/left"]


def test_shapes_do_not_share_their_material_unasked():
    one, two = Shape(Sphere(0.1)), Shape(Sphere(0.1))
    one.material.friction = 0.1
    assert two.material.friction == 1.0


# ---- bad input ----------------------------------------------------------------------------------


def with_joint(base="fixed", **changes):
    robot = arm(base=base)
    for name, value in changes.items():
        setattr(robot.joint("elbow"), name, value)
    return robot


def with_base(**changes):
    robot = arm(base="floating")
    for name, value in changes.items():
        setattr(robot.base.joint, name, value)
    return robot


def with_body(inertia):
    robot = arm()
    robot.body("lower").inertia = inertia
    return robot


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: arm().add_body("lower", Joint("new", "revolute"), "upper"),
            ["body 'lower' occurs twice in arm"],
        ),
        (
            lambda: arm().add_body("new", Joint("elbow", "revolute"), "upper"),
            ["joint 'elbow' occurs twice in arm"],
        ),
        (
            lambda: (w := tabi.World(), w.add_robot(arm(), name="a"), w.add_robot(arm(), name="a")),
            ["name 'a' occurs twice"],
        ),
        (
            lambda: arm().add_body("new", Joint("new", "revolute")),
            ["body 'new' of arm has parent None"],
        ),
        (
            lambda: arm().add_body("new", Joint("new", "revolute"), "nobody"),
            ["body 'nobody' not found in arm"],
        ),
        (
            lambda: Joint("odd", "screw"),
            ["joint 'odd'", "'screw'", "expected one of fixed, revolute"],
        ),
        (lambda: Joint("odd", "Revolute"), ["'Revolute'", "expected one of"]),
        (lambda: Joint("odd", ""), ["joint 'odd' has unknown type ''"]),
        (
            lambda: arm().joint("elbo"),
            ["joint 'elbo' not found in arm", "joints near that name: 'elbow'"],
        ),
        (lambda: arm().body("Lower"), ["body 'Lower' not found in arm", "'lower'"]),
        (lambda: arm().half_sitting, ["pose 'half_sitting' not found in arm"]),
        (lambda: arm().set_pose({"elbow": np.nan}), ["joint 'elbow'", "nan", "one finite number"]),
        (lambda: arm().set_pose({"wrist": 1.0}), ["joint 'wrist' not found"]),
        (lambda: with_joint(armature=-1.0).compile(), ["joint 'elbow' of arm has armature -1"]),
        (lambda: with_joint(damping=np.nan).compile(), ["joint 'elbow' of arm has damping nan"]),
        (lambda: with_joint(stiffness=-3.0).compile(), ["joint 'elbow'", "stiffness -3"]),
        (
            lambda: with_joint(axis=(0, 0, 0)).compile(),
            ["joint 'elbow'", "axis [0, 0, 0]", "a direction"],
        ),
        (
            lambda: with_joint(lower=1.0, upper=-1.0).compile(),
            ["joint 'elbow'", "limits from 1 to -1"],
        ),
        (
            lambda: with_joint(axis=(0, 1)).compile(),
            ["joint 'elbow'", "axis [0, 1]", "a direction"],
        ),
        (lambda: with_joint(rest=np.nan).compile(), ["joint 'elbow' of arm has rest nan"]),
        (
            lambda: with_joint(velocity_limit=-1.0).compile(),
            ["joint 'elbow' of arm has velocity_limit -1"],
        ),
        (
            lambda: with_joint(effort_limit=np.nan).compile(),
            ["joint 'elbow' of arm has effort_limit nan"],
        ),
        (
            lambda: with_joint(motor=Motor(torque_limit=-3.0)).compile(),
            ["joint 'elbow' of arm has motor's torque_limit -3"],
        ),
        (
            lambda: with_joint(motor=Motor(rotor_inertia=-1e-5)).compile(),
            ["joint 'elbow' of arm has motor's rotor_inertia -1e-05"],
        ),
        (
            lambda: with_joint(motor=Motor(1e-5, np.inf)).compile(),
            ["joint 'elbow' of arm has motor's gear_ratio inf"],
        ),
        (
            lambda: with_joint(motor=Motor(kp=np.nan)).compile(),
            ["joint 'elbow' of arm has motor's kp nan"],
        ),
        (
            lambda: with_joint(position=np.array([1.0, 2.0])).compile(),
            ["joint 'elbow' of arm has position [1.0, 2.0]", "1 finite numbers"],
        ),
        (
            lambda: with_joint(position=np.array([np.nan])).compile(),
            ["joint 'elbow' of arm has position [nan]"],
        ),
        (
            lambda: with_joint(placement=Transform(2 * np.eye(3))).compile(),
            ["body 'lower' of arm", "no rotation"],
        ),
        (
            lambda: with_joint(placement=Transform(np.diag([1.0, 1.0, -1.0]))).compile(),
            ["body 'lower' of arm", "no rotation"],
        ),
        (
            lambda: with_base(position=np.zeros(7)).compile(),
            ["joint 'post' of arm has position", "a quaternion (w, x, y, z) of length 1"],
        ),
        (
            lambda: with_base(position=np.array([0, 0, 0, 2.0, 0, 0, 0])).compile(),
            ["joint 'post'", "length 1"],
        ),
        # the step would add h² K to its inertia and never pull
        (
            lambda: with_base(stiffness=10.0).compile(),
            ["joint 'post' of arm has stiffness 10 but is floating"],
        ),
        (
            lambda: with_body(Inertia(1.0, np.zeros(3), np.ones(3))).compile(),
            ["body 'lower' of arm has a tensor of shape (3,)"],
        ),
        (
            lambda: with_body(Inertia(1.0, np.zeros(3), np.eye(3, k=1) + np.eye(3))).compile(),
            ["body 'lower' of arm", "not symmetric"],
        ),
        (
            lambda: with_body(Inertia(1.0, np.zeros(2), np.eye(3))).compile(),
            ["body 'lower' of arm has a centre of mass of shape (2,)"],
        ),
        (lambda: with_joint(mimic=Mimic("wrist")).compile(), ["joint 'elbow' follows 'wrist'"]),
        (
            lambda: with_joint(mimic=Mimic("elbow", 2.0)).compile(),
            ["joint 'elbow' follows itself: elbow → elbow"],
        ),
        (
            lambda: with_joint(mimic=Mimic("post"), base="floating").compile(),
            ["joint 'elbow' follows 'post'"],
        ),
        (
            lambda: with_joint(mimic=Mimic("shoulder", np.nan)).compile(),
            ["joint 'elbow' of arm has mimic's ratio nan"],
        ),
        (
            lambda: with_joint(mimic=Mimic("shoulder", 1.0, np.inf)).compile(),
            ["joint 'elbow' of arm has mimic's offset inf"],
        ),
        (
            lambda: arm().add_body("", Joint("new", "revolute"), "lower"),
            ["body '' of arm hangs on the joint 'new'"],
        ),
        (
            lambda: arm().add_body("new", Joint("", "revolute"), "lower"),
            ["body 'new' of arm hangs on the joint ''"],
        ),
        (
            lambda: (r := arm(), r.bodies.pop(1), r.compile()),
            ["body 'lower' of arm hangs on 'upper', which is not among the bodies before it"],
        ),
        (
            lambda: (r := arm(), setattr(r.body("lower"), "name", "upper"), r.compile()),
            ["body 'arm/upper' occurs twice in the world"],
        ),
        (lambda: tabi.World().add_robot(arm("")), ["empty name"]),
        (lambda: tabi.World().add_sphere(0.1, 1.0, name=""), ["empty name"]),
        (lambda: tabi.World().add_robot(3), ["a robot was given as 3"]),
        (lambda: tabi.World().compile(), ["nothing that moves"]),
        (lambda: tabi.World().add_robot(Robot("empty")), ["robot 'empty' has no body"]),
        (lambda: tabi.World(gravity=(0, np.nan, 0)), ["gravity", "three finite numbers"]),
        (
            lambda: (
                w := tabi.World(),
                w.add_robot(arm()),
                setattr(w, "gravity", (0, np.nan, 0)),
                w.compile(),
            ),
            ["gravity", "three finite numbers"],
        ),
        (lambda: tabi.World().add_ground(height=np.inf), ["ground has height inf"]),
        (
            lambda: tabi.World().add_fixed(Box((1, 1, 1)), (0, np.nan, 0), name="wall"),
            ["fixed thing 'wall' is at [0.0, nan, 0.0]"],
        ),
        (lambda: tabi.World().add_box((1, 1, 1), mass=-2.0), ["object 'box' has mass -2 kg"]),
        (lambda: tabi.World().add_box((1, 1, 1), mass=np.nan), ["object 'box' has mass nan"]),
        (
            lambda: tabi.World().add_box((1, 1, 1), mass="heavy"),
            ["mass of an object is 'heavy'; expected a number"],
        ),
        (lambda: tabi.World().add_sphere("wide", 1.0), ["radius of a sphere is 'wide'"]),
        (
            lambda: tabi.World().add_ground(friction="rough"),
            ["friction of material 'ground' is 'rough'"],
        ),
        (lambda: tabi.World(gravity="down"), ["gravity is 'down'"]),
        (lambda: arm().set_pose({"elbow": "bent"}), ["position of joint 'elbow' is 'bent'"]),
        (lambda: tabi.load(None), ["path is None"]),
        (lambda: tabi.World().add_sphere(0.1, 0.0, name="dust"), ["object 'dust' has mass 0 kg"]),
        (lambda: tabi.World().add_box((1, 0, 1), mass=1.0), ["box has size y 0"]),
        (lambda: Box((1, 1, -1)), ["box has size z -1"]),
        (lambda: Box((1, 1)), ["box has size (1, 1); expected three edges"]),
        (lambda: Sphere(np.nan), ["sphere has radius nan"]),
        (lambda: Cylinder(0.1, -1), ["cylinder has length -1"]),
        (lambda: Capsule(0, 1), ["capsule has radius 0"]),
        (lambda: Material("ice", friction=-0.1), ["material 'ice' has friction -0.1"]),
        (lambda: Material("ice", friction=np.nan), ["material 'ice' has friction nan"]),
        (lambda: Material("gum", restitution=1.5), ["material 'gum' has restitution 1.5"]),
        (
            lambda: tabi.World().add_box((1, 1, 1), 1.0, position=(0, 0, np.nan)),
            ["object 'box' is at [0.0, 0.0, nan]"],
        ),
        (
            lambda: tabi.World().add_box((1, 1, 1), 1.0, position=(0, 0)),
            ["position of 'box' is (0, 0)", "x, y, z in metres"],
        ),
        (
            lambda: tabi.World().add_box((1, 1, 1), 1.0, quaternion=(0, 0, 0, 0)),
            ["quaternion of 'box' is (0, 0, 0, 0)", "w, x, y, z"],
        ),
        (
            lambda: tabi.World().add_box((1, 1, 1), 1.0, quaternion=(0, 0, 1)),
            ["quaternion of 'box' is (0, 0, 1)", "w, x, y, z"],
        ),
        (
            lambda: tabi.World().add_box((1, 1, 1), 1.0, quaternion=(np.inf, 0, 0, 1)),
            ["quaternion of 'box' is (inf, 0, 0, 1)"],
        ),
        (
            lambda: arm(base="floating").place((0, np.inf, 0)),
            ["robot 'arm' was placed at [0.0, inf, 0.0]"],
        ),
        (
            lambda: arm().add_foot("left", "lower"),
            ["body 'lower' is declared the foot 'left'", "no collision shape"],
        ),
        (
            lambda: arm().add_foot("left", "lower", [(0, 0), (1, 0), (2, 0)]),
            ["foot 'left' has a sole of area 0"],
        ),
        (
            lambda: arm().add_foot("left", "lower", [(0, 0), (1, 0)]),
            ["foot 'left'", "at least three finite points"],
        ),
        (
            lambda: arm().add_foot("left", "lower", [(0, 0), (1, 0), (np.nan, 1)]),
            ["foot 'left'", "finite"],
        ),
        (
            lambda: arm().add_foot("left", "lower", [(0, 0), (1, 0), (0, 1)], (0, 0, np.nan)),
            ["foot 'left' is at [0.0, 0.0, nan]"],
        ),
        (
            lambda: arm().add_foot(
                "left", "lower", [(0, 0), (1, 0), (0, 1)], quaternion=(0, 1, 0, 0)
            ),
            ["foot 'left' on body 'lower'", "downwards"],
        ),
    ],
)
def test_bad_worlds_are_refused_by_name(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_two_materials_of_one_name_and_different_friction_are_refused():
    world = tabi.World()
    for friction in (0.5, 0.6):
        robot = Robot("r")
        shape = Shape(Sphere(0.1), material=Material("rubber", friction))
        robot.add_body(
            "b", Joint("free", "floating"), None, Inertia(1.0, np.zeros(3), np.eye(3)), [shape]
        )
        world.add_robot(robot)
    with pytest.raises(ModelError, match="material 'rubber' occurs twice"):
        world.compile()


def test_a_pair_of_unknown_material_is_refused_with_the_known_ones():
    world = tabi.World()
    world.add_ground()
    world.add_sphere(0.1, 1.0, name="ball")
    world.set_pair("ball", "grund", friction=0.5)
    with pytest.raises(
        ModelError,
        match="material 'grund' not found in the world; materials near that name: 'ground'",
    ):
        world.compile()
