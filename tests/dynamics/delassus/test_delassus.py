"""The Delassus operator: five ways to one matrix, the matrix itself against Pinocchio and closed
forms, and its door.

1e-12 is asked of the ways among each other, normwise; condition numbers of these mass matrices are
below 1e4.
"""

import numpy as np
import pytest
from dynamics.geared import geared_arms
from worlds import random_robot, random_state, relative

import tabi
from tabi import ModelError, dynamics
from tabi.dynamics import aba, kinematics, workspace
from tabi.dynamics.delassus import branch_inertia, elimination, point_inertia, wrench_inertia
from tabi.dynamics.inverse_inertia import body_inertia, chain_tables
from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import cross_matrix, translation

WAYS = ("direct", "points", "branches", "wrenches", "chains")
BOUND = 1e-12
TOUCHING = (
    "right_foot",
    "left_foot",
    "right_hand",
    "left_hand",
    "right_shank",
    "left_shank",
    "right_forearm",
    "left_forearm",
    "chest",
    "waist",
)


def test_every_way_is_compared_here():
    assert set(point_inertia.WAYS) == set(WAYS)


def random_points(rng, names, count):
    return [(names[rng.integers(len(names))], rng.normal(size=3)) for _ in range(count)]


def check_ways(model, q, points):
    """All ways give one symmetric matrix without a negative eigenvalue; returns it."""
    matrices = {way: dynamics.delassus(model, q, points, way) for way in WAYS}
    for way, L in matrices.items():
        assert relative(L, matrices["direct"]) < BOUND, way
        assert (L == L.T).all(), way
    assert np.linalg.eigvalsh(matrices["chains"])[0] > -BOUND * np.linalg.norm(matrices["chains"])
    return matrices["chains"]


def fixed_arm():
    return random_robot(5, 5, base="fixed", kinds=("revolute",))


# ---- five ways, one matrix ----------------------------------------------------------------------


def test_all_ways_agree_on_hrp2_with_twenty_points_on_ten_bodies():
    model = tabi.robots.hrp2().compile()
    rng = np.random.default_rng(0)
    q, _ = random_state(model, rng)
    hands = [
        ("left_hand", rng.normal(size=3), "right_hand"),
        ("left_hand", rng.normal(size=3), "left_foot"),
    ]
    L = check_ways(model, q, random_points(rng, TOUCHING, 20) + hands)
    assert L.shape == (66, 66)


@pytest.mark.parametrize("seed", range(4))
def test_all_ways_agree_on_random_trees_of_every_joint(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(seed)
    model = robot.compile()
    q, _ = random_state(model, rng)
    names = [body.name for body in robot.bodies]
    points = random_points(rng, names, 6)
    assert check_ways(model, q, [*points, ("body1", rng.normal(size=3), "body2")]).any()


def test_all_ways_agree_on_a_fixed_arm_whose_operator_is_singular():
    model = fixed_arm().compile()
    q, _ = random_state(model, np.random.default_rng(1))
    L = check_ways(model, q, random_points(np.random.default_rng(1), ["body1", "body4"], 4))
    assert np.linalg.matrix_rank(L, tol=1e-10) <= model.v_count < len(L)


def test_all_ways_agree_on_two_robots_and_a_box_that_touch():
    world = tabi.World()
    world.add_robot(random_robot(1), name="one")
    world.add_robot(random_robot(2), name="two")
    world.add_box(size=(0.1, 0.2, 0.3), mass=2.0)
    model = world.compile()
    rng = np.random.default_rng(2)
    q, _ = random_state(model, rng)
    pairs = [("one/body3", "two/body5"), ("one/body4", "box"), ("box", "two/body8")]
    points = [(a, rng.normal(size=3), b) for a, b in pairs] + random_points(
        rng, ["one/body2", "two/body2", "box"], 4
    )
    L = check_ways(model, q, points)
    # nothing carries a push on robot one alone to robot two alone
    apart = dynamics.delassus(model, q, [("one/body2", (0, 0, 0)), ("two/body2", (0, 0, 0))])
    assert (apart[:3, 3:] == 0).all()
    assert L.shape == (21, 21)


def test_all_ways_agree_where_joints_follow_others_or_are_prescribed():
    robot = random_robot(6, 12, kinds=("revolute", "prismatic"))
    for follower, leader, ratio in (
        (5, 2, 2.0),
        (7, 5, -0.5),
        (3, 2, 1.0),
        (9, 8, 0.7),
        (10, 8, 0.4),
    ):
        robot.joint(f"joint{follower}").mimic = Mimic(f"joint{leader}", ratio)
    model = robot.compile()
    rng = np.random.default_rng(3)
    q, _ = random_state(model, rng)
    points = random_points(rng, [body.name for body in robot.bodies], 8)
    free = check_ways(model, q, points)
    for name in ("joint9", "joint10", "joint1"):
        model.set_joint(name, prescribed=1)
    held = check_ways(model, q, points)
    # what is held moves less: free − held has no negative eigenvalue
    assert np.linalg.eigvalsh(free - held)[0] > -BOUND * np.linalg.norm(free)
    assert relative(held, free) > 1e-3


def test_all_ways_agree_where_followers_tie_two_trees_together():
    model = geared_arms().compile()
    rng = np.random.default_rng(8)
    q, _ = random_state(model, rng)
    L = check_ways(
        model,
        q,
        [*random_points(rng, ["left2", "right2"], 3), ("left1", (0, 0, 0)), ("right1", (0, 0, 0))],
    )
    # a push on one arm moves the other
    assert abs(L[9:12, 12:]).max() > 1e-3 * abs(L).max()


def test_the_published_ways_to_omega_are_ours():
    world = tabi.World()
    world.add_robot(random_robot(12))
    world.add_box(size=(0.1, 0.2, 0.3), mass=2.0)
    model = world.compile()
    q, _ = random_state(model, np.random.default_rng(4))
    m, w, c = model.arrays, workspace.allocate(model), chain_tables.allocate(model)
    kinematics.positions(m, q, w)
    aba.factor(m, w)
    bodies = np.array([model.link(name).body for name in ("body7", "box", "body3", "body9")])
    count = 4
    start = np.zeros(5, np.int64)
    column = np.zeros(10, np.int64)
    ours = np.zeros((10, 6, 6))
    theirs = np.zeros((2, 10, 6, 6))
    assert body_inertia.omega(m, w, c, bodies, count, start, column, ours) == 10
    mark = np.zeros(len(m.body), np.int64)
    path = np.zeros(len(m.body), np.int64)
    own = np.zeros((len(m.body), 21))
    branch_inertia.omega(m, w, bodies, count, mark, path, own, start, column, theirs[0])
    wrench_inertia.omega(m, w, bodies, count, mark, start, column, theirs[1])
    assert relative(theirs[0], ours) < BOUND
    assert relative(theirs[1], ours) < BOUND


def test_dense_elimination_passes_over_rows_that_are_zero():
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(5, 5)), rng.normal(size=(5, 3))
    M = A @ A.T
    M[2], M[:, 2], B[2] = 0.0, 0.0, 0.0
    kept = [0, 1, 3, 4]
    expected = B[kept].T @ np.linalg.solve(M[np.ix_(kept, kept)], B[kept])
    out = np.zeros((3, 3))
    elimination.factor(M)
    elimination.forward(M, B)
    elimination.square(B, 1.0, out)
    # five rows of random numbers: their condition number, below 1e4, times the rounding unit
    assert relative(out, expected) < 1e-11


# ---- the matrix itself --------------------------------------------------------------------------


def test_a_free_box_moves_as_newton_and_euler_say():
    world = tabi.World()
    size, mass = np.array((0.4, 0.2, 0.3)), 3.0
    world.add_box(
        size=tuple(size), mass=mass, position=(1.0, 2.0, 3.0), quaternion=(0.5, 0.5, -0.5, 0.5)
    )
    model = world.compile()
    # this quaternion's matrix, column by column: x → −z, y → x, z → −y
    R = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
    J = R @ np.diag(mass / 12 * (size @ size - size**2)) @ R.T
    centre, r = np.array((1.0, 2.0, 3.0)), np.array((0.1, -0.2, 0.05))
    expected = np.eye(3) / mass - cross_matrix(r) @ np.linalg.inv(J) @ cross_matrix(r)
    for way in WAYS:
        assert dynamics.delassus(
            model, model.initial(), [("box", centre + r)], way
        ) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_a_pendulum_moves_about_its_axis_only():
    robot = Robot("pendulum")
    robot.add_body("pivot", Joint("pivot", "fixed"))
    robot.add_body(
        "rod",
        Joint("axle", "revolute", axis=(0.0, 1.0, 0.0)),
        "pivot",
        solid_box(2.0, (0.02, 0.02, 1.0)).transformed(translation((0, 0, -0.5))),
    )
    model = robot.compile()
    inertia = 2.0 * (1.0 + 0.02**2) / 12 + 2.0 * 0.25
    for way in WAYS:
        L = dynamics.delassus(model, [0.0], [("rod", (0.0, 0.0, -1.0))], way)
        assert abs(L - np.diag([1.0 / inertia, 0.0, 0.0])).max() < 1e-14


def pinocchio_operator(robots, models, q, points):
    """J M⁻¹ Jᵀ by Pinocchio, robot by robot; points (robot, body, place, sign) of each contact, in
    the world.
    """
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    from tabi.lab.pinocchio import Referee, build

    operator = np.zeros((3 * len(points), 3 * len(points)))
    for robot, model, here in zip(robots, models, q, strict=True):
        pm = build(robot)
        data, qp = pm.createData(), Referee(model, pm).configuration(here)
        M = pin.crba(pm, data, qp)
        M = np.triu(M) + np.triu(M, 1).T
        pin.computeJointJacobians(pm, data, qp)
        pin.framesForwardKinematics(pm, data, qp)
        J = np.zeros((3 * len(points), pm.nv))
        for k, contact in enumerate(points):
            for owner, name, place, sign in contact:
                if owner is robot:
                    joint = (
                        robot.name
                        if robot.body(name) is robot.base
                        else robot.body(name).joint.name
                    )
                    i = pm.getJointId(joint)
                    V = pin.getJointJacobian(pm, data, i, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
                    J[3 * k : 3 * k + 3] += sign * (
                        V[:3] - cross_matrix(place - data.oMi[i].translation) @ V[3:]
                    )
        operator += J @ np.linalg.solve(M, J.T)
    return operator


ROBOTS = {
    "hrp2": (tabi.robots.hrp2, TOUCHING),
    "a tree of ball, sliding and turning joints": (
        lambda: random_robot(9, kinds=("spherical", "prismatic", "revolute")),
        None,
    ),
    "a fixed arm": (fixed_arm, ("body1", "body4")),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_the_operator_is_pinocchios(name):
    make, names = ROBOTS[name]
    robot, rng = make(), np.random.default_rng(5)
    model = robot.compile()
    names = names or [body.name for body in robot.bodies]
    for _ in range(5):
        q, _ = random_state(model, rng)
        points = random_points(rng, names, 7)
        theirs = pinocchio_operator(
            [robot], [model], [q], [[(robot, body, place, 1.0)] for body, place in points]
        )
        for way in WAYS:
            assert relative(dynamics.delassus(model, q, points, way), theirs) < 1e-11


def test_the_operator_of_two_robots_that_touch_is_pinocchios():
    robots = [
        random_robot(10, kinds=("revolute", "spherical")),
        random_robot(11, kinds=("revolute", "prismatic")),
    ]
    world, rng = tabi.World(), np.random.default_rng(6)
    for robot, name in zip(robots, ("one", "two"), strict=True):
        robot.name = name
        world.add_robot(robot)
    model, models = world.compile(), [robot.compile() for robot in robots]
    states = [random_state(each, rng)[0] for each in models]
    contacts, points = [], []
    for _ in range(6):
        a, b = (robots[k].bodies[rng.integers(1, 12)].name for k in range(2))
        place = rng.normal(size=3)
        contacts.append((f"one/{a}", place, f"two/{b}"))
        points.append([(robots[0], a, place, 1.0), (robots[1], b, place, -1.0)])
    theirs = pinocchio_operator(robots, models, states, points)
    for way in WAYS:
        assert (
            relative(dynamics.delassus(model, np.concatenate(states), contacts, way), theirs)
            < 1e-11
        )


# ---- the door -----------------------------------------------------------------------------------


def test_points_may_be_given_in_the_frame_of_their_body():
    model = tabi.robots.hrp2().compile()
    q, _ = random_state(model, np.random.default_rng(7))
    corner = np.array((0.1, -0.05, 0.0))
    world = dynamics.pose(model, q, "right_foot") @ corner
    assert dynamics.delassus(model, q, [("right_foot", corner)], frame="body") == pytest.approx(
        dynamics.delassus(model, q, [("right_foot", world)]), rel=1e-12
    )


def test_no_points_have_an_empty_operator():
    model = fixed_arm().compile()
    for way in WAYS:
        assert dynamics.delassus(model, model.neutral(), [], way).shape == (0, 0)


def boxed():
    world = tabi.World()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    return world.compile()


@pytest.mark.parametrize(
    ("points", "options", "said"),
    [
        ([("box", (0, 0, 0))], {"method": "chain"}, "method is 'chain'; .*did you mean 'chains'"),
        ([("box", (0, 0, 0))], {"frame": "boxes"}, "frame is 'boxes'; expected 'world' or 'body'"),
        ([("bx", (0, 0, 0))], {}, "body 'bx' not found .* 'box'"),
        ([("box", (0, 0))], {}, r"point 0 is at \(0, 0\); expected three finite numbers"),
        (
            [("box", (0, 0, 0)), ("box", (0, np.nan, 0))],
            {},
            "point 1 is at .*; expected three finite numbers",
        ),
        ([("box", ("left", 0, 0))], {}, "point 0 is at .*left.*; expected three finite numbers"),
        ([("box",)], {}, r"point 0 is \('box',\); expected \(body, point\)"),
        (["box"], {}, "point 0 is 'box'; expected"),
        ([(["box"], (0, 0, 0))], {}, "point 0 is .*; expected .* bodies by name"),
        ([("world", (0, 0, 0), "box")], {}, "point 0 is on 'world', which does not move"),
    ],
)
def test_what_is_no_contact_point_is_refused_with_its_number(points, options, said):
    model = boxed()
    with pytest.raises(ModelError, match=said):
        dynamics.delassus(model, model.initial(), points, **options)


def test_the_function_keeps_its_name_beside_the_package_of_its_ways():
    from tabi.dynamics.delassus import delassus

    assert tabi.dynamics.delassus is delassus
    assert delassus(boxed(), boxed().initial(), []).shape == (0, 0)
