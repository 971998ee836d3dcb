"""Least squares without negative unknowns: those of SciPy, and the conditions of an optimum."""

import numpy as np
import pytest
from scipy.optimize import nnls

from tabi.walking.legs import nonnegative


def solved(A, b, most=200):
    m = A.shape[1]
    x, free, system = np.zeros(m), np.zeros(m, np.int64), np.zeros((m, m + 1))
    return x, nonnegative.solve(A, b, A.shape[0], x, free, system, most)


@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (10, 16), (6, 6), (10, 8)])
def test_it_is_the_solution_of_scipy_and_meets_the_conditions_of_an_optimum(rows, columns):
    rng = np.random.default_rng(rows + 100 * columns)
    for _ in range(50):
        A, b = rng.normal(size=(rows, columns)), rng.normal(size=rows)
        x, turns = solved(A, b)
        assert turns < 200
        slope = A.T @ (A @ x - b)
        # rounding, of numbers of size 10 in problems whose smallest singular values are 0.1
        assert slope.min() > -1e-10
        assert x.min() >= 0.0
        assert abs(x @ slope) < 1e-10
        assert np.linalg.norm(A @ x - b) == pytest.approx(nnls(A, b)[1], abs=1e-10)


def test_what_is_left_is_the_projection_on_the_polar_cone():
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(6, 9)), rng.normal(size=6)
    x, _ = solved(A, b)
    rest = b - A @ x
    assert (A.T @ rest).max() < 1e-10
    # Moreau: both parts are perpendicular
    assert rest @ (A @ x) == pytest.approx(0.0, abs=1e-10)


def test_nothing_is_freed_where_no_unknown_gains_and_turns_are_bounded():
    A = np.eye(4)
    x, turns = solved(A, -np.ones(4))
    assert turns == 0
    assert (x == 0.0).all()
    x, turns = solved(A, np.ones(4), most=2)
    assert turns == 2
    assert x.sum() == pytest.approx(2.0)


def test_columns_that_are_alike_do_no_harm():
    A = np.repeat(np.array([[1.0], [2.0], [0.5]]), 3, axis=1)
    b = np.array([1.0, 2.0, 3.0])
    x, _ = solved(A, b)
    assert x.min() >= 0.0
    # the shortest way to b along the one column
    assert x.sum() == pytest.approx(A[:, 0] @ b / (A[:, 0] @ A[:, 0]))
