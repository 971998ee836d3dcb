"""Dense systems with many right sides, against numpy."""

import numpy as np
import pytest

from tabi.contact.algebra.linear import factor, solve_columns, substitute


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 12, 33, 90])
@pytest.mark.parametrize("m", [1, 7])
def test_columns_are_solved_with_pivots(n, m):
    rng = np.random.default_rng(n + m)
    # memory is larger than the system, and what is beyond it stays
    A, B = rng.normal(size=(n + 3, n + 2)), rng.normal(size=(n + 3, m + 1))
    A[0, 0] = 0.0 if n > 1 else 2.0
    expected, beyond = np.linalg.solve(A[:n, :n], B[:n, :m]), B[n:].copy()
    assert solve_columns(A, B, n, m)
    assert np.abs(B[:n, :m] - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.array_equal(B[n:], beyond)


def test_singular_systems_are_told():
    A, B = np.ones((6, 6)), np.ones((6, 2))
    assert not solve_columns(A, B, 6, 2)
    assert not solve_columns(np.full((3, 3), np.nan), np.ones((3, 1)), 3, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 12, 33, 90])
def test_factors_are_used_again(n):
    rng = np.random.default_rng(n)
    A, order, x = rng.normal(size=(n + 3, n + 2)), np.zeros(n, np.int64), np.zeros(n + 1)
    A[0, 0] = 0.0 if n > 1 else 2.0
    M, beyond = A[:n, :n].copy(), A[n:].copy()
    assert factor(A, n, order)
    assert np.array_equal(np.sort(order), np.arange(n))
    for _ in range(2):
        b = rng.normal(size=n + 1)
        substitute(A, order, b, n, x)
        expected = np.linalg.solve(M, b[:n])
        assert np.abs(x[:n] - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.array_equal(A[n:], beyond)
    assert not factor(np.ones((6, 6)), 6, np.zeros(6, np.int64))
    assert not factor(np.full((3, 3), np.nan), 3, np.zeros(3, np.int64))
