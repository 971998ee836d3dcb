"""Systems without full rank: the pseudo-inverse, by its four conditions and by numpy's."""

import numpy as np
import pytest

from tabi.contact.algebra import least_norm


def inverse(A):
    """S⁺, column by column."""
    n = len(A)
    k = least_norm.allocate(n + 1)
    least_norm.factor(A, n, k)
    columns = np.eye(n)
    for column in columns:
        least_norm.solve(k, column, n)
    return columns.T, k.rank[0]


def random_matrix(rng, n, rank):
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 5), (7, 3), (12, 9), (36, 30), (6, 0)])
def test_it_is_the_pseudo_inverse(n, rank):
    A = random_matrix(np.random.default_rng(n), n, rank)
    found, own = inverse(A)
    assert own == rank
    np.testing.assert_allclose(A @ found @ A, A, atol=1e-10)
    np.testing.assert_allclose(found @ A @ found, found, atol=1e-8)
    for product in (A @ found, found @ A):
        np.testing.assert_allclose(product, product.T, atol=1e-9)
    np.testing.assert_allclose(found, np.linalg.pinv(A, rcond=1e-11), atol=1e-8)


def test_what_is_asked_twice_and_differs_by_rounding_stays_small():
    # two feet of one body: each bears half, whatever the rounding is
    k = least_norm.allocate(2)
    for noise in (0.0, 1e-16, -3e-14):
        least_norm.factor(np.array([[1.0, 1.0], [1.0, 1.0 + noise]]), 2, k)
        z = np.array([1.0, 1.0 + 1e-12])
        least_norm.solve(k, z, 2)
        np.testing.assert_allclose(z, (0.5, 0.5), atol=1e-11)


def test_it_does_not_depend_on_the_order_of_rows_and_columns():
    rng = np.random.default_rng(3)
    A, order, other = random_matrix(rng, 9, 5), rng.permutation(9), rng.permutation(9)
    turned, _ = inverse(A[np.ix_(order, other)])
    np.testing.assert_allclose(turned, inverse(A)[0][np.ix_(other, order)], atol=1e-10)
