"""Both forms of the system of interior points against plain matrices."""

import numpy as np
import pytest
from contact.test_bodies import random_bodies
from contact.test_point_newton import memory_for

from tabi.contact import bodies
from tabi.contact.interior import interior_system
from tabi.contact.rows import CONTACT, LIMITED, SOFT


@pytest.mark.parametrize("seed", range(6))
def test_both_forms_are_the_matrix(seed):
    rng = np.random.default_rng(seed)
    p, _ = random_bodies(rng, 4, 9)
    work = memory_for(p, 4)
    bodies.prepare(p, work)
    w, n = work.interior, 27
    p.kind[:] = rng.choice([CONTACT, SOFT], 9)
    w.does[:] = np.where(p.kind == CONTACT, interior_system.CONE, interior_system.POSITIVE)
    w.does[seed] = interior_system.NOTHING
    # moments that the contact before them bounds, between the same two bodies
    k = (seed + 3) % 8 + 1
    p.kind[k - 1 : k + 1], w.does[k] = (CONTACT, LIMITED), interior_system.BALL
    w.does[k - 1] = interior_system.CONE
    p.contact["a"][k], p.contact["b"][k] = p.contact["a"][k - 1], p.contact["b"][k - 1]
    p.contact["angular"][k], p.contact["partner"][k] = 1, k - 1
    # about the normal alone
    if seed % 2:
        p.contact["frame"][k, :6] = 0.0
    bodies.prepare(p, work)
    W = mobility(p)
    work.follow[k] = rng.normal(size=3)
    A, B, F = np.zeros((n, n)), np.zeros((n, n)), rng.normal(size=n)
    used = np.zeros(n, bool)
    for k in range(9):
        rows = slice(3 * k, 3 * k + 3)
        first = 3 * k if interior_system.has_three(w.does[k]) else 3 * k + 2
        used[first : 3 * k + 3] = w.does[k] != interior_system.NOTHING
        single = not interior_system.has_three(w.does[k])
        M, N = (X @ X.T + np.eye(3) for X in rng.normal(size=(2, 3, 3)))
        if single:
            M, N = np.diag((1.0, 1.0, M[2, 2])), np.diag((0.0, 0.0, N[2, 2]))
            F[3 * k : 3 * k + 2] = 0.0
        A[rows, rows], B[rows, rows] = M, N
        work.known[k], work.slope[k] = M.ravel(), N.ravel()
        if w.does[k] == interior_system.BALL:
            A[rows, 3 * k - 1] = work.follow[k]
    keep = np.ix_(used, used)
    expected = np.zeros(n)
    expected[used] = np.linalg.solve((A + B @ W)[keep], F[used])
    m = interior_system.list_rows(p, w)
    assert m == used.sum()
    interior_system.measure_mobility(p, m, work)
    np.testing.assert_allclose(w.mobility[:m, :m], W[keep], atol=1e-12)
    assert interior_system.factor_rows(p, m, work)
    for solve in (lambda: interior_system.solve_rows(m, w), lambda: twists(p, work)):
        w.dl[:], w.F[:] = 0.0, F
        solve()
        np.testing.assert_allclose(w.dl[used], expected[used], atol=1e-9 * np.abs(expected).max())


def mobility(p):
    """W, column by column."""
    still = p._replace(q=np.zeros_like(p.q))
    return np.column_stack([still.velocities(unit) for unit in np.eye(len(p.q))])


def twists(p, work):
    assert interior_system.factor_twists(p, work)
    interior_system.solve_twists(p, work)
