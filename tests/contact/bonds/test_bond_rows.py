"""What bonds do in the joints, against Ω of all bodies, which is made for reports afterwards, and
against the mass matrix.
"""

import numpy as np
import pytest
from worlds import random_robot

import tabi
from tabi import dynamics
from tabi.contact.matrix_form import sparse
from tabi.contact.rows import BILATERAL, BILATERAL_TWO
from tabi.dynamics import jacobian, kinematics, workspace
from tabi.model.joint import Mimic

# of the largest entry: both sides lose the condition number of the mass matrix, below 1e4
BOUND = 1e-11


def stepped(seed, base, geared):
    """A random robot with a ball and a hinge between its links and a weld to a box, one step after
    its start, in which the box touches another one.
    """
    robot = random_robot(seed, 9, base, ("revolute", "prismatic"))
    if geared:
        robot.joint("joint6").mimic = Mimic("joint3", -1.0)
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(robot)
    box = world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0.0, 3.0, 0.1))
    world.add_box(size=(0.2, 0.2, 0.2), mass=1.0, position=(0.02, 3.0, 0.3))
    sim = tabi.Simulator(world)
    sim.bond("ball", robot.body("body4"), robot.body("body8"))
    sim.bond("hinge", robot.body("body7"), robot.body("body4"), axis=(0.0, 0.6, 0.8))
    sim.bond("weld", robot.body("body8"), box)
    q = sim.state.q.copy()
    sim.step()
    return sim, q


CASES = pytest.mark.parametrize(
    ("seed", "base", "geared"),
    [(1, "floating", False), (2, "floating", True), (3, "fixed", False), (4, "fixed", True)],
)


@CASES
def test_rows_of_bonds_are_those_of_the_whole_problem(seed, base, geared):
    sim, _ = stepped(seed, base, geared)
    p, w = sim.data.problem, sim.data._stepper.workspace.bonds
    bonds = np.flatnonzero(np.isin(p.kind, (BILATERAL, BILATERAL_TWO)))
    rows = (3 * bonds[:, None] + np.arange(3)).ravel()
    n = len(rows)
    assert n == 15
    scale = w.scale[:n]
    used = scale > 0
    # the hinge's turning has two rows
    assert used.sum() == n - 1
    W = sparse(p).toarray()
    own = (W[np.ix_(rows, rows)] * scale[:, None] * scale)[np.ix_(used, used)]
    assert w.W[:n][used][:, :n][:, used] == pytest.approx(own, abs=BOUND * np.abs(own).max())
    # and T gives contacts the velocities that bonds cause
    contacts = np.setdiff1d(np.arange(len(p.q)), rows)
    assert len(contacts) >= 12
    l = np.zeros(len(p.q))
    l[rows] = np.random.default_rng(seed).normal(size=n) * used
    caused = p.velocities(l) - p.q
    inner = int(w.inner[0])
    twist = (w.T[:n, : 6 * inner].T @ l[rows]).reshape(-1, 6)
    for k in range(len(p.kind)):
        row = p.contact[k]
        if k in bonds or row["a"] >= inner or row["b"] >= inner:
            continue
        moves = twist[row["a"], 3:] + np.cross(twist[row["a"], :3], row["arm_a"])
        if row["b"] >= 0:
            b = twist[row["b"]]
            moves -= b[3:] + np.cross(b[:3], row["arm_b"])
        expected = row["frame"].reshape(3, 3) @ moves
        size = np.abs(caused).max()
        assert caused[3 * k : 3 * k + 3] == pytest.approx(expected, abs=BOUND * size)


@CASES
def test_blocks_that_reports_add_are_those_of_the_mass_matrix(seed, base, geared):
    sim, q = stepped(seed, base, geared)
    model, p, bodies = sim.model, sim.data.problem, sim.data.problem_body
    w, count = workspace.allocate(model), len(p.start) - 1
    kinematics.positions(model.arrays, q, w)
    J = np.zeros((count, 6, model.v_count))
    for i in range(count):
        jacobian.columns(model.arrays, w, int(bodies[i]), (0.0, 0.0, 0.0), J[i])
    J = J.reshape(-1, model.v_count)
    M = dynamics.mass_matrix(model, q)
    N = np.eye(model.v_count)
    for row in model.arrays.mimic:
        N[row["follower"]] = row["ratio"] * N[row["leader"]]
    N = np.delete(N, model.arrays.mimic["follower"], axis=1)
    omega = J @ N @ np.linalg.solve(N.T @ M @ N, N.T @ J.T)
    found = np.zeros_like(omega)
    for i in range(count):
        for e in range(p.start[i], p.start[i + 1]):
            j = p.column[e]
            found[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = p.omega[e]
    assert found == pytest.approx(omega, abs=BOUND * np.abs(omega).max())
