"""Dense systems with many right sides, against numpy."""

import numpy as np
import pytest

from tabi.contact.linear import solve_columns


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
