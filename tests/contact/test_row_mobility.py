"""W that is made where it is needed is the matrix of the problem."""

import numpy as np
import pytest
from contact.test_bodies import random_bodies
from contact.test_point_newton import memory_for

from tabi.contact import bodies, point_newton, row_mobility


def joint(p, k):
    """Rows of which only the last is any."""
    p.contact["frame"][k, :6], p.contact["angular"][k] = 0.0, 1


def matrix(p):
    """W, column by column, by the judge's velocities."""
    still = p._replace(q=np.zeros_like(p.q))
    return np.column_stack([still.velocities(unit) for unit in np.eye(len(p.q))])


@pytest.mark.parametrize("seed", range(4))
def test_columns_made_in_any_order_are_those_of_the_matrix(seed):
    rng = np.random.default_rng(seed)
    work, m = None, None
    # one memory for two problems: nothing is left of the first
    for _ in range(2):
        p, _ = random_bodies(rng, 4, 8)
        joint(p, 2)
        joint(p, 5)
        work = work or memory_for(p, 4)
        bodies.prepare(p, work)
        m, W = work.rows, matrix(p)
        assert m.first.tolist() == [0, 3, 6, 7, 10, 13, 14, 17, 20]
        rows = [
            r for k in range(8) for r in range(3 * k, 3 * k + 3) if k not in (2, 5) or r % 3 == 2
        ]
        for k in rng.permutation(8)[:6]:
            point_newton.make_columns(p, k, work)
        made = [r for k in range(8) for r in range(m.first[k], m.first[k + 1]) if m.made[k]]
        assert len(made) >= 14
        expected = W[np.ix_(rows, rows)]
        np.testing.assert_allclose(m.W[:20, made], expected[:, made], atol=1e-12)
        np.testing.assert_allclose(m.W[made, :20], expected[made], atol=1e-12)


def test_more_rows_than_there_is_room_for_are_left_to_the_bodies(monkeypatch):
    monkeypatch.setattr(row_mobility, "MAX_ROWS", 12)
    p, _ = random_bodies(np.random.default_rng(4), 3, 12)
    p.contact["b"][4:] = -1
    work = memory_for(p, 3)
    assert not row_mobility.fits(p, work.rows)
    assert point_newton.saves(p, work, 3) == 0
    small, _ = random_bodies(np.random.default_rng(4), 3, 4)
    bodies.prepare(small, work)
    assert row_mobility.fits(small, work.rows)
    assert point_newton.saves(small, work, 3) != 0
