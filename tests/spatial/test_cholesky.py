"""Small symmetric systems in place."""

import numpy as np

from tabi.spatial import cholesky


def test_the_small_solver_leaves_out_rows_without_effect():
    K = np.array([[4.0, 0.0, 8.0], [0.0, 0.0, 5.0]])
    cholesky.solve(K, 2)
    assert K[:, 2].tolist() == [2.0, 0.0]


def test_the_small_solver_solves():
    rng = np.random.default_rng(0)
    L = rng.normal(size=(4, 4))
    S, b = L @ L.T + np.eye(4), rng.normal(size=4)
    K = np.column_stack([S, b])
    cholesky.solve(K, 4)
    assert np.allclose(S @ K[:, 4], b)
