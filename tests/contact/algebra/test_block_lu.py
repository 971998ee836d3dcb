"""Elimination of bodies against NumPy."""

import numpy as np
import pytest

from tabi.contact.algebra import block_lu
from tabi.contact.bodies import no_parents


def filled(pairs, count, rng, diagonal=1.0):
    """A matrix with blocks at the pairs, and its structure."""
    A, s = diagonal * np.eye(6 * count), block_lu.allocate(count, count * count)
    for i, j in [*pairs, *((k, k) for k in range(count))]:
        A[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] += rng.normal(size=(6, 6))
        s.slot[i, j] = 0
    blocks = block_lu.arrange(s, count, no_parents(count))
    s.value[:] = 0.0
    for i, j in np.argwhere(s.slot != block_lu.NO_BLOCK):
        s.value[s.slot[i, j]] = A[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
    return A, s, blocks


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_it_solves_what_numpy_solves(count):
    rng = np.random.default_rng(count)
    pairs = [
        (i, j) for i in range(count) for j in range(count) if i != j and rng.random() < 3 / count
    ]
    A, s, _ = filled(pairs, count, rng)
    b = rng.normal(size=6 * count)
    x = b.copy()
    assert block_lu.solve(s, count, x)
    # pivots stay inside their blocks, so some digits may go
    assert np.allclose(A @ x, b, atol=1e-8)


def test_a_chain_fills_nothing_whatever_its_numbering():
    rng = np.random.default_rng(0)
    place = rng.permutation(40)
    _, _, blocks = filled([(place[k], place[k + 1]) for k in range(39)], 40, rng)
    assert blocks == 40 + 2 * 39


def test_a_star_is_eliminated_from_its_rays():
    _, s, blocks = filled([(0, k) for k in range(1, 20)], 20, np.random.default_rng(1))
    assert blocks == 20 + 2 * 19
    assert list(s.order).index(0) >= 18


def test_singular_and_broken_blocks_are_refused():
    rng = np.random.default_rng(2)
    for value in (0.0, np.nan, np.inf):
        _, s, _ = filled([(0, 1)], 2, rng)
        s.value[:] = value
        assert not block_lu.solve(s, 2, np.ones(12))
