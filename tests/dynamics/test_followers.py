"""The directions that joints which follow others take away."""

import numpy as np
from worlds import random_robot, random_state

from tabi.dynamics import aba, followers, kinematics, workspace
from tabi.dynamics.inverse_inertia import chain_tables
from tabi.model.joint import Mimic


def factored(robot):
    model = robot.compile()
    q, _ = random_state(model, np.random.default_rng(1))
    work = workspace.allocate(model)
    kinematics.positions(model.arrays, q, work)
    work.dof["added"] = model.arrays.dof["armature"]
    assert aba.factor(model.arrays, work) == 0
    return model, work


def geared():
    robot = random_robot(1, 9, kinds=("revolute", "prismatic"))
    for follower, leader, ratio in ((3, 1, 2.0), (6, 3, -1.0), (7, 2, 0.3)):
        robot.joint(f"joint{follower}").mimic = Mimic(f"joint{leader}", ratio)
    return robot


def test_directions_are_orthonormal_and_those_of_the_couplings():
    model, work = factored(geared())
    chains = chain_tables.allocate(model)
    followers.directions(model.arrays, work, chains)
    H = chains.follower
    # one in D⁻¹, to the rounding of a few dozen terms
    assert abs(H * work.dof["pivot"] @ H.T - np.eye(3)).max() < 1e-13
    # the residuals of M⁻¹ Gᵀ span the same space:
    # what is left of them after the projection is rounding
    for row in model.arrays.mimic:
        force = np.zeros(model.v_count)
        force[row["follower"]], force[row["leader"]] = 1.0, -row["ratio"]
        answer = np.zeros(model.v_count)
        aba.respond(model.arrays, force, work, answer)
        size = abs(work.dof["residual"]).max()
        followers.remove(work, chains)
        assert abs(work.dof["residual"]).max() < 1e-13 * size


def test_a_coupling_between_prescribed_joints_takes_nothing_away():
    model, work = factored(geared())
    for joint in ("joint2", "joint7"):
        model.set_joint(joint, prescribed=1)
    work.dof["fixed"] = model.arrays.dof["prescribed"]
    aba.factor(model.arrays, work)
    chains = chain_tables.allocate(model)
    followers.directions(model.arrays, work, chains)
    H = chains.follower
    both = [
        k for k, row in enumerate(model.arrays.mimic) if row["follower"] == model.v_index("joint7")
    ]
    assert (H[both] == 0).all()
    assert (abs(H).max(axis=1) > 0).sum() == 2
