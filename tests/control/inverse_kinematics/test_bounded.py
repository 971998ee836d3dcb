"""Bounded least squares with priorities: its optimality conditions, and the null space by SVD."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from worlds import random_robot

from tabi.control.inverse_kinematics import bounded, building
from tabi.control.inverse_kinematics.solver import InverseKinematics


def problem(seed, rows=12, columns=20, hold=0):
    """Tables with random rows in them, of which the first ``hold`` are to hold."""
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, bodies=columns + 1, base="fixed", kinds=("revolute",))
    ik = InverseKinematics(robot)
    for name in [body.name for body in robot.bodies][-(rows // 6) :]:
        ik.pose(name)
    t = building.build(ik.model, ik.tasks, set(), (1e-8, 10, 0, 0))
    # rows of a dense problem: every column moves all
    full = np.ones((ik.model.v_count, len(t.e)), bool)
    touching, touched, pair, shared = building._threes(full)
    t = t._replace(
        touching=touching,
        touched=touched,
        pair=pair,
        shared=shared,
        free=np.arange(ik.model.v_count),
    )
    t.B[:] = rng.normal(size=t.B.shape)
    t.damping[:] = 0.1
    t.damping[:hold] = 1e-12
    t.low[:], t.high[:] = -rng.uniform(0, 0.3, len(t.x)), rng.uniform(0, 0.3, len(t.x))
    # some stand at a limit
    t.low[:4], t.high[4:8] = 0.0, 0.0
    return t, rng


@pytest.mark.slow
def test_step_is_the_one_that_scipy_finds():
    for seed in range(10):
        t, rng = problem(seed)
        asked = rng.normal(size=len(t.r))
        t.r[:] = asked
        bounded.step(t, len(t.r))
        # ½‖x‖² + ½Σ(r − Bx)²/d as one least-squares problem
        A = np.vstack([t.B.T / np.sqrt(t.damping)[:, None], np.eye(len(t.x))])
        b = np.concatenate([asked / np.sqrt(t.damping), np.zeros(len(t.x))])
        found = lsq_linear(A, b, (t.low - 1e-15, t.high + 1e-15), tol=1e-14)
        assert (t.x >= t.low).all()
        assert (t.x <= t.high).all()
        assert (np.abs(t.state) == 1).sum() > 3
        # scipy stays inside of the bounds by its own tolerance
        np.testing.assert_allclose(t.x, found.x, atol=2e-7)


@pytest.mark.slow
def test_every_step_fulfils_the_optimality_conditions_also_where_sets_go_in_circles():
    walked = 0
    for seed in range(40):
        t, rng = problem(seed % 4)
        # little damping and much asked for: the primal-dual method does not settle
        t.damping[:] = 1e-6
        t.r[:] = 5.0 * rng.normal(size=len(t.r))
        asked = t.r.copy()
        t.state[:] = 0
        bounded.step(t, len(t.r))
        walked += (np.abs(t.state) == 1).sum() > 10
        y = (asked - t.B.T @ t.x) / t.damping
        w = t.B @ y
        inside = t.state == 0
        scale = np.abs(w).max()
        np.testing.assert_allclose(w[inside], t.x[inside], atol=1e-7 * scale)
        assert (w[t.state > 0] >= t.high[t.state > 0] - 1e-7 * scale).all()
        assert (w[t.state < 0] <= t.low[t.state < 0] + 1e-7 * scale).all()
    assert walked > 0


def test_rows_that_hold_leave_the_others_their_null_space():
    t, rng = problem(1, hold=6)
    t.low[:], t.high[:] = -np.inf, np.inf
    asked = rng.normal(size=len(t.r))
    t.r[:] = asked
    bounded.step(t, len(t.r))
    A, J = t.B.T[:6], t.B.T[6:]
    particular = np.linalg.pinv(A) @ asked[:6]
    N = np.eye(len(t.x)) - np.linalg.pinv(A) @ A
    left = asked[6:] - J @ particular
    expected = particular + N @ J.T @ np.linalg.solve(J @ N @ J.T + 0.1 * np.eye(6), left)
    # the damping of rows that hold, beside that of the others
    np.testing.assert_allclose(t.x, expected, atol=1e-9)
    np.testing.assert_allclose(A @ t.x, asked[:6], atol=1e-10)
