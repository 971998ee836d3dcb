"""The 21 numbers of an articulated inertia against plain 6×6 matrices."""

import numpy as np

from tabi.dynamics import articulated
from tabi.spatial.transform import cross_matrix

RNG = np.random.default_rng(0)


def matrix(I):
    """The 6×6 matrix of 21 numbers."""
    I = np.array(I)
    A, C = np.zeros((3, 3)), np.zeros((3, 3))
    A[np.triu_indices(3)], C[np.triu_indices(3)] = I[:6], I[15:]
    A, C = A + np.triu(A, 1).T, C + np.triu(C, 1).T
    return np.block([[A, I[6:15].reshape(3, 3)], [I[6:15].reshape(3, 3).T, C]])


def test_a_rigid_body_has_the_inertia_of_the_parallel_axis_theorem():
    mass, c, L = 2.5, RNG.normal(size=3), RNG.normal(size=(3, 3))
    J, K = L @ L.T, cross_matrix(c)
    expected = np.block([[J - mass * K @ K, mass * K], [-mass * K, mass * np.eye(3)]])
    assert np.allclose(
        matrix(articulated.rigid(mass, tuple(c), tuple(J[np.triu_indices(3)]))), expected
    )


def test_products_sums_and_rank_one_downdates_are_those_of_matrices():
    I, K, s = tuple(RNG.normal(size=21)), tuple(RNG.normal(size=21)), tuple(RNG.normal(size=6))
    assert np.allclose(articulated.mul(I, s), matrix(I) @ s)
    assert np.allclose(matrix(articulated.sum(I, K)), matrix(I) + matrix(K))
    assert np.allclose(matrix(articulated.without(I, s, 0.7)), matrix(I) - 0.7 * np.outer(s, s))


def test_storing_and_loading_loses_nothing():
    I, out = tuple(RNG.normal(size=21)), np.zeros(21)
    articulated.store(out, I)
    assert articulated.load(out) == I
