"""Small vectors, quaternions, sines and symmetric systems against NumPy and the C library."""

import math

import numpy as np
import pytest

from tabi.spatial import quaternion, symmetric, trigonometry, vector
from tabi.spatial.transform import from_quaternion

RNG = np.random.default_rng(0)


def triple():
    return tuple(RNG.normal(size=3))


def nine():
    return tuple(RNG.normal(size=9))


def full(S):
    return np.array([[S[0], S[1], S[2]], [S[1], S[3], S[4]], [S[2], S[4], S[5]]])


def test_vectors_agree_with_numpy():
    a, b, s = triple(), triple(), 1.7
    assert np.allclose(vector.add(a, b), np.add(a, b), rtol=1e-15)
    assert np.allclose(vector.sub(a, b), np.subtract(a, b), rtol=1e-15)
    assert np.allclose(vector.scale(s, a), s * np.array(a), rtol=1e-15)
    assert vector.dot(a, b) == pytest.approx(np.dot(a, b), rel=1e-14)
    assert np.allclose(vector.cross(a, b), np.cross(a, b), rtol=1e-13)


def test_matrices_agree_with_numpy():
    A, B, a = nine(), nine(), triple()
    assert np.allclose(vector.mul(A, a), np.reshape(A, (3, 3)) @ a)
    assert np.allclose(vector.mul_t(A, a), np.reshape(A, (3, 3)).T @ a)
    assert np.allclose(vector.matmul(A, B), (np.reshape(A, (3, 3)) @ np.reshape(B, (3, 3))).ravel())


def test_symmetric_matrices_agree_with_numpy():
    S, R, a = tuple(RNG.normal(size=6)), nine(), triple()
    assert np.allclose(vector.sym_mul(S, a), full(S) @ a)
    rotated = np.reshape(R, (3, 3)) @ full(S) @ np.reshape(R, (3, 3)).T
    assert np.allclose(full(vector.sym_rotate(R, S)), rotated)


def test_six_vectors_agree_with_numpy():
    a, b = tuple(RNG.normal(size=6)), tuple(RNG.normal(size=6))
    assert np.allclose(vector.axpy6(0.3, a, b), 0.3 * np.array(a) + b)
    assert vector.dot6(a, b) == pytest.approx(np.dot(a, b))
    assert vector.pair(vector.angular(a), vector.linear(a)) == a
    out = np.array(b)
    vector.accumulate6(out, a)
    assert np.allclose(out, np.add(a, b))


def test_a_symmetric_system_is_solved():
    for _ in range(20):
        L = RNG.normal(size=(3, 3))
        S, b = L @ L.T + 0.1 * np.eye(3), triple()
        x = symmetric.solve(tuple(S[np.triu_indices(3)]), b)
        assert np.allclose(S @ x, b, atol=1e-12 * np.linalg.cond(S))


def test_quaternion_matrix_and_product_agree_with_rotations():
    p, q = (tuple(x / np.linalg.norm(x)) for x in RNG.normal(size=(2, 4)))
    assert np.allclose(np.reshape(quaternion.matrix(*p), (3, 3)), from_quaternion(p).R, atol=1e-15)
    assert np.allclose(
        from_quaternion(quaternion.product(p, q)).R,
        from_quaternion(p).R @ from_quaternion(q).R,
        atol=1e-15,
    )


@pytest.mark.parametrize("size", [1e-12, 1e-5, 1e-4, 1e-3, 1.0, 3.0])
def test_turning_a_quaternion_is_rotating_by_a_vector(size):
    from tabi.spatial.transform import about

    axis = np.array(triple())
    phi = size * axis / np.linalg.norm(axis)
    q = RNG.normal(size=4)
    q /= np.linalg.norm(q)
    turned = quaternion.rotated(tuple(q), tuple(phi))
    assert np.linalg.norm(turned) == pytest.approx(1.0, abs=1e-15)
    # compared as the turn itself, so that small angles count with all their digits
    small = from_quaternion(turned).R @ from_quaternion(q).R.T - np.eye(3)
    assert np.allclose(small, about(axis, size).R - np.eye(3), atol=1e-15)


def test_sine_and_cosine_are_right_to_the_last_digit_or_two():
    for x in np.concatenate(
        [
            RNG.uniform(-10, 10, 2000),
            RNG.uniform(-9e4, 9e4, 2000),
            np.arange(-40, 41) * math.pi / 4,
            [0.0, -0.0, 1e-300],
        ]
    ):
        s, c = trigonometry.sincos(float(x))
        # one unit in the last place of 1 is 2.2e-16
        assert abs(s - math.sin(x)) <= 2.3e-16
        assert abs(c - math.cos(x)) <= 2.3e-16


@pytest.mark.parametrize("x", [1e5, -3e7, 1e15])
def test_large_angles_go_to_the_library(x):
    assert trigonometry.sincos(x) == (math.sin(x), math.cos(x))


def test_the_sine_of_nan_is_nan():
    assert all(math.isnan(y) for y in trigonometry.sincos(math.nan))
