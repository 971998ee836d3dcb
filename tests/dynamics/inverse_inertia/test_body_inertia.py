"""Ω of contacting bodies and the answer of the joints, against the inverse of the mass matrix and
the laws it comes from.

Tolerance 1e-12 of the largest entry: both sides lose the condition number of these mass matrices,
below 1e4, times the rounding unit.
"""

import numpy as np
import pytest
import scipy.linalg
from dynamics.geared import geared_arms
from worlds import random_inertia, random_robot, random_state, relative

import tabi
from tabi import dynamics
from tabi.dynamics import aba, jacobian, kinematics, workspace
from tabi.dynamics.inverse_inertia import body_inertia, body_response, chain_tables
from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.spatial.transform import from_quaternion

BOUND = 1e-12
HINGES = ("revolute", "prismatic", "continuous")


class Case:
    """Ω and the answer to random wrenches, by the kernels and by dense algebra."""

    def __init__(self, model, q, bodies, added=None, seed=0):
        m, w, c = model.arrays, workspace.allocate(model), chain_tables.allocate(model)
        kinematics.positions(m, q, w)
        w.dof["added"] = m.dof["armature"] + (0.0 if added is None else added)
        assert aba.factor(m, w) == 0
        self.bodies, count = np.array(bodies, np.int64), len(bodies)
        self.start = np.zeros(count + 1, np.int64)
        self.column = np.zeros(count**2, np.int64)
        blocks = np.zeros((count**2, 6, 6))
        self.needed = body_inertia.omega(
            m, w, c, self.bodies, count, self.start, self.column, blocks
        )
        self.omega = np.zeros((6 * count, 6 * count))
        for i in range(count):
            for e in range(self.start[i], self.start[i + 1]):
                self.omega[6 * i : 6 * i + 6, 6 * self.column[e] : 6 * self.column[e] + 6] = blocks[
                    e
                ]
        self.wrench = np.random.default_rng(seed).normal(size=6 * count)
        self.dv = np.full(model.v_count, np.nan)
        body_response.respond(m, w, c, self.bodies, count, self.wrench, self.dv)
        J = np.zeros((count, 6, model.v_count))
        for i, body in enumerate(bodies):
            jacobian.columns(m, w, body, (0.0, 0.0, 0.0), J[i])
        self.J = J.reshape(-1, model.v_count)
        self.M = dynamics.mass_matrix(model, q) + np.diag(w.dof["added"] - m.dof["armature"])
        self.inverse = constrained_inverse(model, self.M)


def constrained_inverse(model, M):
    """N (Nᵀ M N)⁻¹ Nᵀ, N the motions that couplings and prescribed joints leave."""
    rows = [np.eye(model.v_count)[k] for k in np.flatnonzero(model.arrays.dof["prescribed"])]
    for row in model.arrays.mimic:
        rows.append(np.zeros(model.v_count))
        rows[-1][row["follower"]], rows[-1][row["leader"]] = 1.0, -row["ratio"]
    N = scipy.linalg.null_space(np.array(rows)) if rows else np.eye(model.v_count)
    return N @ np.linalg.solve(N.T @ M @ N, N.T)


def check_case(case):
    """Both against dense algebra."""
    assert relative(case.omega, case.J @ case.inverse @ case.J.T) < BOUND
    assert relative(case.dv, case.inverse @ case.J.T @ case.wrench) < BOUND
    assert (case.omega == case.omega.T).all()


def standing_hrp2():
    world = tabi.World()
    world.add_robot(tabi.robots.hrp2()).stand_on_ground()
    return world.compile()


def test_feet_of_hrp2():
    model = standing_hrp2()
    case = Case(
        model, model.initial(), [model.link(f"{side}_foot").body for side in ("right", "left")]
    )
    check_case(case)
    assert case.start.tolist() == [0, 2, 4]
    assert case.column.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_of_every_joint_and_bodies_in_any_order(seed):
    rng = np.random.default_rng(seed)
    model = random_robot(seed, base="fixed" if seed == 0 else "floating").compile()
    q, _ = random_state(model, rng)
    check_case(Case(model, q, (1 + rng.permutation(model.body_count)[:5]).tolist()))


def test_a_body_and_the_one_that_carries_it():
    model = random_robot(2, 6, kinds=("revolute",)).compile()
    q, _ = random_state(model, np.random.default_rng(2))
    leaf = model.body_count
    check_case(Case(model, q, [leaf, int(model.arrays.body["parent"][leaf]), 1]))


def test_what_is_added_to_the_mass_matrix_is_in_it():
    model = random_robot(3, 8).compile()
    rng = np.random.default_rng(3)
    q, _ = random_state(model, rng)
    check_case(Case(model, q, [2, 5], added=rng.uniform(0.1, 1.0, model.v_count)))


def test_prescribed_joints_do_not_move():
    model = random_robot(4, 10, kinds=HINGES).compile()
    for name in ("joint1", "joint4", "joint5"):
        model.set_joint(name, prescribed=1)
    q, _ = random_state(model, np.random.default_rng(4))
    case = Case(model, q, [3, 6, 9, 10])
    check_case(case)
    assert (case.dv[[model.v_index(name) for name in ("joint1", "joint4", "joint5")]] == 0).all()


def test_a_fixed_arm_has_an_omega_of_the_rank_of_its_joints():
    model = random_robot(5, 4, base="fixed", kinds=("revolute",)).compile()
    q, _ = random_state(model, np.random.default_rng(5))
    tip = max(
        range(1, model.body_count + 1), key=lambda b: chain_tables.allocate(model).body["depth"][b]
    )
    case = Case(model, q, [tip])
    check_case(case)
    assert (
        np.linalg.matrix_rank(case.omega, tol=1e-10)
        == chain_tables.allocate(model).body["depth"][tip]
        < 6
    )


# ---- joints that follow others ------------------------------------------------------------------


@pytest.mark.parametrize(
    "followers", [{5: (2, 2.0)}, {5: (2, 2.0), 7: (5, -0.5), 3: (2, 1.0)}, {8: (1, 0.0)}]
)
def test_followers_move_with_their_leaders(followers):
    robot = random_robot(6, 10, kinds=HINGES)
    for follower, (leader, ratio) in followers.items():
        robot.joint(f"joint{follower}").mimic = Mimic(f"joint{leader}", ratio)
    model = robot.compile()
    q, _ = random_state(model, np.random.default_rng(6))
    case = Case(model, q, [3, 6, 9, 10])
    check_case(case)
    for follower, (leader, ratio) in followers.items():
        assert case.dv[model.v_index(f"joint{follower}")] == pytest.approx(
            ratio * case.dv[model.v_index(f"joint{leader}")], rel=1e-12
        )


def test_a_prescribed_follower_holds_its_leader_and_two_of_them_do_so_once():
    robot = random_robot(7, 10, kinds=HINGES)
    for follower in (3, 5, 6):
        robot.joint(f"joint{follower}").mimic = Mimic("joint2", 0.5)
    model = robot.compile()
    model.set_joint("joint3", prescribed=1)
    model.set_joint("joint5", prescribed=1)
    q, _ = random_state(model, np.random.default_rng(7))
    case = Case(model, q, [4, 8, 10])
    check_case(case)
    # held by rounding alone, of velocities of order 1
    assert abs(case.dv[[model.v_index(f"joint{k}") for k in (2, 6)]]).max() < BOUND


def test_followers_tie_trees_together():
    model = geared_arms().compile()
    q, _ = random_state(model, np.random.default_rng(8))
    bodies = [model.link(name).body for name in ("left2", "right2")]
    assert len(set(model.arrays.body["root"][bodies])) == 2
    assert len(set(chain_tables.families(model)[bodies])) == 1
    case = Case(model, q, bodies)
    assert case.needed == 4
    check_case(case)


# ---- free objects -------------------------------------------------------------------------------


def crate(base=None):
    robot = Robot("crate")
    robot.add_body(
        "crate", base or Joint("crate", "floating"), None, random_inertia(np.random.default_rng(9))
    )
    return robot


@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_a_free_object_in_a_joint_frame_of_its_own(armature):
    # the joint's axes are not the world's: velocities are in its own
    placement = from_quaternion((0.5, -0.1, 0.7, 0.2), (1.0, 2.0, 3.0))
    model = crate(Joint("crate", "floating", placement, armature=armature)).compile()
    q, _ = random_state(model, np.random.default_rng(9))
    check_case(Case(model, q, [1]))


def test_a_free_object_of_which_one_motion_is_prescribed():
    model = crate().compile()
    model.arrays.dof["prescribed"][2] = 1
    q, _ = random_state(model, np.random.default_rng(9))
    check_case(Case(model, q, [1]))


def test_many_things_have_blocks_of_their_own_only():
    world = tabi.World()
    for i in range(4):
        world.add_box(size=(0.1, 0.2, 0.3), mass=1.0 + i, position=(i, 0, 0), name=f"box{i}")
    world.add_robot(random_robot(1, 5))
    model = world.compile()
    bodies = [model.link(name).body for name in ("box2", "body4", "box0", "body1", "box3")]
    case = Case(model, model.initial(), bodies)
    check_case(case)
    # one block for each box, four for the two bodies of the robot
    assert case.needed == 7
    assert case.column[: case.needed].tolist() == [0, 1, 3, 2, 1, 3, 4]


def test_things_that_nobody_pushes_stay_where_they_are():
    world = tabi.World()
    for i in range(3):
        world.add_box(size=(0.1, 0.2, 0.3), mass=1.0, position=(i, 0, 0), name=f"box{i}")
    model = world.compile()
    case = Case(model, model.initial(), [2])
    check_case(case)
    assert (case.dv[:6] == 0).all()
    assert (case.dv[12:] == 0).all()


# ---- laws ---------------------------------------------------------------------------------------


def test_impulses_become_momentum_and_work_becomes_energy():
    model = standing_hrp2()
    q = model.initial()
    case = Case(model, q, [model.link(name).body for name in ("right_foot", "left_hand", "head")])
    forces = case.wrench.reshape(-1, 6)[:, 3:].sum(axis=0)
    assert dynamics.momentum(model, q, case.dv).linear == pytest.approx(forces, abs=1e-12)
    # from rest, impulses F do the work F·V/2
    assert 0.5 * case.dv @ case.M @ case.dv == pytest.approx(
        0.5 * case.wrench @ case.omega @ case.wrench, rel=1e-12
    )
    assert np.linalg.eigvalsh(case.omega)[0] > 0


def test_too_little_room_is_said_and_nothing_is_written():
    model = standing_hrp2()
    m, w, c = model.arrays, workspace.allocate(model), chain_tables.allocate(model)
    kinematics.positions(m, model.initial(), w)
    aba.factor(m, w)
    out = np.full((3, 6, 6), 7.0)
    assert (
        body_inertia.omega(
            m, w, c, np.array([3, 5]), 2, np.zeros(3, np.int64), np.zeros(3, np.int64), out
        )
        == 4
    )
    assert (out == 7.0).all()
