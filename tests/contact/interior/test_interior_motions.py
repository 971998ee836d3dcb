"""The step of interior points in common motions is that of the matrix, or says that it is not."""

import numpy as np
import pytest
from contact.test_common_motions import links
from contact.test_point_newton import memory_for
from contact.test_row_mobility import matrix

from tabi.contact import bodies, ladder
from tabi.contact import common_motions as motions
from tabi.contact.interior import (
    interior_methods,
    interior_motions,
    interior_point,
    interior_system,
)
from tabi.contact.interior.interior_system import BALL, BOUNDED, CONE, EQUAL, NOTHING, POSITIVE
from tabi.contact.rows import CONTACT, LIMITED, SOFT

DOES = (CONE, CONE, CONE, BALL, POSITIVE, CONE, NOTHING, EQUAL, BOUNDED, POSITIVE, BOUNDED, CONE)


def linear_system(seed):
    """A, B and F of rows of every kind, four joints among them; returns the matrix of all rows, the
    right side and which rows there are.
    """
    rng, n = np.random.default_rng(seed), len(DOES)
    p = links(rng, rank=14, contacts=n, joints=(8, 9, 10))
    # moments that the contact before them bounds, between the same two bodies
    p.kind[3], p.contact["angular"][3], p.contact["partner"][3] = LIMITED, 1, 2
    p.contact["a"][3], p.contact["b"][3] = p.contact["a"][2], p.contact["b"][2]
    work = memory_for(p, 8)
    work.interior.does[:] = DOES
    work.follow[3] = rng.normal(size=3)
    A, B, F = np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n)), rng.normal(size=3 * n)
    used = np.zeros(3 * n, bool)
    for k, does in enumerate(DOES):
        rows, three = slice(3 * k, 3 * k + 3), interior_system.has_three(does)
        used[3 * k if three else 3 * k + 2 : 3 * k + 3] = does != NOTHING
        # impulses that are much easier to move than velocities, and the other way round
        M, N = (X @ X.T + np.eye(3) for X in rng.normal(size=(2, 3, 3)))
        M *= 10.0 ** rng.uniform(-4, 2)
        if not three:
            M, N = np.diag((1.0, 1.0, M[2, 2])), np.diag((0.0, 0.0, N[2, 2]))
            F[3 * k : 3 * k + 2] = 0.0
        A[rows, rows], B[rows, rows] = M, N
        work.known[k], work.slope[k] = M.ravel(), N.ravel()
    A[9:12, 8] = work.follow[3]
    work.interior.F[:] = F
    return p, work, A + B @ matrix(p), F, used


@pytest.mark.parametrize("seed", range(10))
def test_the_step_is_that_of_the_matrix(seed):
    p, work, H, F, used = linear_system(seed)
    expected = np.zeros(len(F))
    expected[used] = np.linalg.solve(H[np.ix_(used, used)], F[used])
    way, m, _ = interior_methods.choose(p, work, True)
    assert (way, m) == (interior_methods.MOTIONS, 0)
    assert interior_methods.factor(p, way, m, work)
    assert interior_methods.solve(p, way, m, work)
    w, size = work.interior, np.abs(expected).max()
    np.testing.assert_allclose(w.dl[used], expected[used], atol=1e-10 * size)
    moved = matrix(p) @ expected
    np.testing.assert_allclose(w.du, moved, atol=1e-10 * np.abs(moved).max())
    # and as it is by rows
    way, m, _ = interior_methods.choose(p, work, False)
    assert way == interior_methods.ROWS
    assert interior_methods.factor(p, way, m, work)
    assert interior_methods.solve(p, way, m, work)
    np.testing.assert_allclose(w.dl[used], expected[used], atol=1e-10 * size)


def test_a_step_that_is_not_exact_is_refused():
    p, work, _, _, _ = linear_system(0)
    motions.rank_of(p, work.motions)
    # impulses along one direction hardly move what a contact asks for
    direction = np.array((0.6, 0.0, 0.8))
    work.known[0] = (np.outer(direction, direction) + 1e-17 * np.eye(3)).ravel()
    assert not (interior_motions.factor(p, work) and interior_motions.solve(p, work))


def standing(seed):
    """Links with contacts that all can leave the ground, and joints at their ends."""
    rng = np.random.default_rng(seed)
    p = links(rng, rank=14, contacts=16, joints=(13, 14, 15))
    p.contact["b"] = -1
    p.contact["frame"][:13] = np.eye(3).ravel()
    p.kind[13:], p.mu[13:] = (SOFT, SOFT, LIMITED), 0.0
    p.bound[13:] = (0.0, 0.0, 0.1)
    assert (p.kind[:13] == CONTACT).all()
    return p


@pytest.mark.parametrize("broken", [False, True])
def test_where_motions_fail_the_other_ways_solve_the_problem(broken):
    """With motions that are no numbers every step falls back to rows; else hardly any does before
    the last digits.
    """
    solved, kept = 0, 0
    for seed in range(20):
        p = standing(seed)
        work, impulse = memory_for(p, 8), np.zeros(48)
        bodies.prepare(p, work)
        assert motions.rank_of(p, work.motions) == 14
        if broken:
            work.motions.twist[:] = np.nan
        _, error = interior_point.solve(p, 1e-6, 60, impulse, work)
        kept += not work.rows.made[:16].all()
        solved += error <= 1e-6
    assert solved >= 18
    assert kept == 0 if broken else kept >= 16


def test_problems_of_links_are_solved_to_the_last_digit():
    start = ladder.SETTINGS[:, ladder.START].tolist().index(ladder.MIDDLE)
    table, solved = ladder.SETTINGS[[0, start]], 0
    for seed in range(20):
        p = standing(seed)
        work, impulse = memory_for(p, 8), np.zeros(48)
        bodies.prepare(p, work)
        _, _, error = ladder.solve_bodies(p, 1e-9, impulse, work, table)
        solved += error <= 1e-9
    assert solved >= 18
