"""Rotations and the memory of the estimator's kernels."""

import numpy as np
import pytest

import tabi
from tabi.control import Estimator
from tabi.estimation.kernels import orthogonal, rotation, store_sample, upright_rotation
from tabi.spatial.transform import about


def matrix(numbers):
    return np.array(numbers).reshape(3, 3)


@pytest.mark.parametrize("size", [1.0, 1e-5, 1e-9, 0.0])
def test_a_rotation_is_that_of_rodrigues(size):
    phi = size * np.array([0.3, -0.5, 0.8])
    wanted = about(phi, float(np.linalg.norm(phi))).R if size else np.eye(3)
    assert matrix(rotation(tuple(phi))) == pytest.approx(wanted, abs=1e-15)


def test_what_points_somewhere_is_turned_upright_by_the_shortest_way():
    for a in np.random.default_rng(1).normal(size=(5, 3)):
        a = a / np.linalg.norm(a)
        R = matrix(upright_rotation(tuple(a)))
        assert R @ a == pytest.approx([0, 0, 1], abs=1e-12)
        # about a level axis, by the angle between them
        assert 0.5 * (np.trace(R) - 1) == pytest.approx(a[2], abs=1e-12)
    assert matrix(upright_rotation((0.0, 0.0, -1.0))) @ (0, 0, -1) == pytest.approx([0, 0, 1])


def test_what_is_almost_a_rotation_becomes_one():
    R = about((1, 2, 3), 0.7).R + 1e-5 * np.random.default_rng(2).normal(size=(3, 3))
    mended = matrix(orthogonal(tuple(R.ravel())))
    # what is left is of the order of the error of some 3e-5, squared
    assert mended.T @ mended == pytest.approx(np.eye(3), abs=3 * (3e-5) ** 2)


def test_limbs_are_remembered_for_as_long_as_the_imu_is_late():
    estimator = Estimator(tabi.robots.hrp2(), delay=0.012)
    state = estimator.state
    for k in range(200):
        state.body_state.frame[:] = float(k)
        store_sample(state, 0.005 * k)
        # the newest that is at least 12 ms old, or the oldest
        assert state.past[0, 0, 0] == max(0, k - 3)
        assert state.past_count[0] <= 5
    # more than there is room for
    late = Estimator(tabi.robots.hrp2(), delay=10.0).state
    for k in range(200):
        late.body_state.frame[:] = float(k)
        store_sample(late, 0.005 * k)
    assert late.past[0, 0, 0] == 200 - len(late.past)
