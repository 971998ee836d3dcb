"""Newton's step in common motions is that of the matrix."""

import numpy as np
import pytest
from contact.test_common_motions import links
from contact.test_point_newton import memory_for
from contact.test_row_mobility import matrix

from tabi.contact import (
    bodies,
    budget,
    maps,
    motion_newton,
    motion_work,
    point_newton,
    twist_newton,
)
from tabi.contact.rows import CONTACT, LIMITED, SOFT


def lying(rng):
    """Contacts, joints, and moments that what a contact presses with bounds."""
    p = links(rng, contacts=24, joints=(20, 21, 22, 23))
    p.kind[20:] = (SOFT, SOFT, LIMITED, LIMITED)
    p.bound[22:] = 0.3
    p.kind[18:20] = LIMITED
    p.mu[18:] = 0.0
    for k, partner in ((18, 3), (19, 5)):
        p.contact["a"][k], p.contact["b"][k] = p.contact["a"][partner], p.contact["b"][partner]
        p.contact["angular"][k], p.contact["partner"][k] = 1, partner
    return p


def newtons_matrix(p, form, u, impulse, work):
    """C + B W and −F of (1) of ``newton``, without what follows partners."""
    n = len(p.q)
    C, B, F = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    twist_newton.linearise(p, form, 1.0, 1e-3, u, impulse, work)
    for k in range(len(p.mu)):
        rows = slice(3 * k, 3 * k + 3)
        B[rows, rows], C[rows, rows] = work.slope[k].reshape(3, 3), work.known[k].reshape(3, 3)
        opens = work.does[k] == point_newton.OPENS
        F[rows] = C[rows, rows] @ -work.delta[rows] if opens else work.delta[rows]
    return C, C + B @ matrix(p), -F


@pytest.mark.parametrize("form", [maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL])
def test_the_direction_is_that_of_the_matrix(form):
    rng, seen, followed = np.random.default_rng(form), set(), 0
    for _ in range(20):
        p = lying(rng)
        work = memory_for(p, 8)
        impulse, u = rng.normal(size=72), np.zeros(72)
        impulse[54:60] *= 10.0
        bodies.velocities(p, impulse, u, work.wrench, work.twist)
        C, H, right = newtons_matrix(p, form, u, impulse, work)
        before = work.budget[budget.WORK]
        assert twist_newton.direction(p, form, 1.0, 1e-3, u, impulse, work)
        # this way was taken, and is counted as less work
        assert work.motions.rank[0] == 14
        assert work.budget[budget.WORK] < before
        for k in (18, 19):
            rows, normal = slice(3 * k, 3 * k + 3), 3 * p.contact["partner"][k] + 2
            H[rows, normal] += C[rows, rows] @ work.follow[k]
        expected = np.linalg.solve(H, right)
        np.testing.assert_allclose(work.delta, expected, atol=1e-10 * np.abs(expected).max())
        seen |= set(work.does.tolist())
        followed += np.abs(work.follow[18:20]).any()
    # only one map knows rows that stick
    stick = {point_newton.STICKS} if form == maps.ALART_CURNIER else set()
    assert seen == {point_newton.OPENS, point_newton.SLIDES} | stick
    assert followed > 0


def test_feet_are_seen_from_themselves():
    p = links(np.random.default_rng(5), count=4, rank=3)
    work = memory_for(p, 4)
    assert motion_newton.saves(p, work, 0) == 0
    assert work.motions.rank[0] == motion_work.NOT_COMPUTED
    assert (p.kind == CONTACT).all()
