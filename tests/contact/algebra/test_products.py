"""Products with rows of matrices against numpy."""

import numpy as np
import pytest

from tabi.contact.algebra import products


@pytest.mark.parametrize("size", [3, 7, 16, 162])
def test_products_are_those_of_numpy(size):
    rng = np.random.default_rng(size)
    M, at = rng.normal(size=size * size + 5), 5
    M[at:] = (M[at:].reshape(size, size) + M[at:].reshape(size, size).T).ravel()
    S, x = M[at:].reshape(size, size), rng.normal(size=size)
    assert products.dot(x, S[0].copy(), size) == pytest.approx(x @ S[0])
    assert products.row_times(M, at + size, x, size) == pytest.approx(S[1] @ x)
    out = np.zeros(size + 2)
    products.add_rows(M, at, size, 1.0, -2.0, 0.5, out, 2)
    assert out[2:] == pytest.approx(S[0] - 2.0 * S[1] + 0.5 * S[2])
    X, Y = rng.normal(size=(6, size + 3)), np.zeros((6, size))
    products.times_six(M, at, size, 3.0, X, Y)
    assert pytest.approx(3.0 * X[:, :size] @ S) == Y
