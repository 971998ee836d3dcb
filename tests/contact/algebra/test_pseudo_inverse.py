"""The pseudo-inverse of singular symmetric matrices against NumPy's, and its rank."""

import numpy as np
import pytest

from tabi.contact.algebra import pseudo_inverse
from tabi.contact.algebra.pseudo_inverse import RANK, SymmetricFactors


def factored(W):
    n = len(W)
    L, K, S = np.zeros((3, n, n))
    f = SymmetricFactors(L, K, S, np.ones(n), np.zeros(n, np.int64))
    rank = pseudo_inverse.factor(W, n, L, f.order)
    pseudo_inverse.complement(L, n, rank, K, S)
    return f, rank


def of_rank(rng, n, rank, small=1.0):
    """A random positive semi-definite matrix, the last of its eigenvalues ``small``."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.zeros(n)
    values[:rank] = rng.uniform(0.5, 2.0, rank)
    if rank:
        values[rank - 1] = small
    W = (Q * values) @ Q.T
    return 0.5 * (W + W.T)


@pytest.mark.parametrize("rank", [0, 1, 3, 7, 12])
@pytest.mark.parametrize("small", [1.0, 1e-4])
def test_it_is_that_of_numpy(rank, small):
    rng = np.random.default_rng(rank)
    W = of_rank(rng, 12, rank, small)
    f, found = factored(W)
    assert found == rank
    y, z, a = rng.normal(size=12), np.zeros(12), np.zeros(12)
    pseudo_inverse.subtract_pseudo_inverse(f, rank, 12, y, a, z)
    expected = np.linalg.pinv(W, rcond=1e-10, hermitian=True) @ y
    # rounding, times the condition of what is kept
    assert z == pytest.approx(-expected, abs=1e-14 / small**2)
    # the projection onto its range, L G⁻¹ Lᵀ
    z[:] = 0.0
    pseudo_inverse.down(f, rank, 12, y, a)
    pseudo_inverse.up(f, rank, 12, a, z, 1.0)
    P = W @ np.linalg.pinv(W, rcond=1e-10, hermitian=True)
    assert z == pytest.approx(P @ y, abs=1e-14 / small**2)


@pytest.mark.parametrize("rank", [0, 1, 5, 6, 7, 11, 12])
def test_columns_by_their_factor_give_the_product_with_the_inverse_between(rank):
    rng = np.random.default_rng(rank)
    W, B, A = of_rank(rng, 12, rank), rng.normal(size=(12, 18)), np.zeros((12, 18))
    f, found = factored(W)
    assert found == rank
    f.scale[:] = rng.uniform(0.5, 2.0, 12)
    pseudo_inverse.down_rows(f, rank, 12, B, 18, A)
    scaled = f.scale[:, None] * B
    expected = scaled.T @ np.linalg.pinv(W, rcond=1e-10, hermitian=True) @ scaled
    assert A[:rank].T @ A[:rank] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("small", "counts"), [(0.01 * RANK, False), (1e3 * RANK, True)])
def test_directions_count_from_the_tolerance_on(small, counts):
    W = of_rank(np.random.default_rng(3), 8, 5, small)
    _, rank = factored(W)
    assert rank == (5 if counts else 4)
