"""Transforms and inertias for building worlds."""

import numpy as np
import pytest

from tabi import ModelError
from tabi.spatial import inertia
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import (
    Transform,
    about,
    cross_matrix,
    from_quaternion,
    from_rpy,
    quaternion_from_matrix,
    translation,
    z_to,
)
from tabi.spatial.twist import Twist, Wrench

RNG = np.random.default_rng(1)


def some():
    return from_quaternion(RNG.normal(size=4), RNG.normal(size=3))


def test_transforms_compose_invert_and_move_points():
    A, B, p = some(), some(), RNG.normal(size=3)
    assert np.allclose((A @ B) @ p, A @ (B @ p))
    back = A.inverse() @ A
    assert np.allclose(back.R, np.eye(3))
    assert np.allclose(back.p, 0)
    points = RNG.normal(size=(5, 3))
    assert np.allclose(A @ points, [A @ p for p in points])


def test_inertia_inside_triangles_is_that_of_the_box_they_bound():
    box, X = inertia.solid_box(3.0, (0.2, 0.5, 1.1)), some()
    corners = X @ np.array(
        [[x, y, z] for x in (-0.1, 0.1) for y in (-0.25, 0.25) for z in (-0.55, 0.55)]
    )
    # two triangles a face, seen from outside against the clock
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([corner for a, b, c, d in faces for corner in ((a, b, c), (a, c, d))])
    found, expected = inertia.solid_hull(3.0, corners, triangles), box.transformed(X)
    assert found.mass == 3.0
    assert np.allclose(found.centre, expected.centre, atol=1e-13)
    assert np.allclose(found.tensor, expected.tensor, atol=1e-13)


def test_quaternions_and_matrices_round_trip_even_at_half_turns():
    for axis in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 2, -3]):
        for angle in (0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi):
            R = about(axis, angle).R
            assert np.allclose(from_quaternion(quaternion_from_matrix(R)).R, R, atol=1e-15)


def test_roll_pitch_yaw_turn_about_fixed_axes_in_that_order():
    r, p, y = 0.3, -0.7, 1.1
    expected = about((0, 0, 1), y).R @ about((0, 1, 0), p).R @ about((1, 0, 0), r).R
    assert np.allclose(from_rpy((r, p, y)).R, expected)


@pytest.mark.parametrize(
    "axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -2, 0), (1, 2, -3), (1e-9, 0, -1), (1e-9, 0, 1)]
)
def test_z_is_taken_to_the_axis_by_a_rotation(axis):
    R = z_to(axis)
    assert np.allclose(R @ (0, 0, 1), np.array(axis) / np.linalg.norm(axis), atol=1e-8)
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)


@pytest.mark.parametrize("q", [(0, 0, 0, 0), (1e-20, 0, 0, 0), (np.nan, 0, 0, 1)])
def test_a_quaternion_without_length_is_refused(q):
    with pytest.raises(
        ModelError, match=r"quaternion \[.*\] has length .* expected a unit quaternion"
    ):
        from_quaternion(q)


def check_cloud(total: Inertia, samples, density_mass):
    """Check an inertia against a sum over sampled points."""
    points = samples
    c = points.mean(axis=0)
    d = points - c
    tensor = density_mass / len(points) * sum(p @ p * np.eye(3) - np.outer(p, p) for p in d)
    # Monte Carlo: relative error 1/√n
    assert np.allclose(total.tensor, tensor, atol=0.02 * np.trace(tensor))
    assert np.allclose(total.centre, c, atol=0.02)


@pytest.mark.slow
def test_solid_shapes_weigh_like_their_points():
    cube = RNG.uniform(-1, 1, size=(60000, 3))
    check_cloud(inertia.solid_box(2.0, (0.4, 0.6, 1.0)), cube * [0.2, 0.3, 0.5], 2.0)
    ball = cube[np.linalg.norm(cube, axis=1) < 1]
    check_cloud(inertia.solid_sphere(2.0, 0.5), ball * 0.5, 2.0)
    check_cloud(inertia.solid_ellipsoid(2.0, (0.2, 0.3, 0.5)), ball * [0.2, 0.3, 0.5], 2.0)
    round_ = cube[np.hypot(cube[:, 0], cube[:, 1]) < 1]
    check_cloud(inertia.solid_cylinder(2.0, 0.3, 1.2), round_ * [0.3, 0.3, 0.6], 2.0)
    tall = round_ * [0.3, 0.3, 0.9]
    over = np.maximum(np.abs(tall[:, 2]) - 0.6, 0)
    check_cloud(
        inertia.solid_capsule(2.0, 0.3, 1.2),
        tall[np.hypot(np.hypot(tall[:, 0], tall[:, 1]), over) < 0.3],
        2.0,
    )


def test_adding_inertias_is_adding_points():
    points, masses = RNG.normal(size=(6, 3)), RNG.uniform(0.1, 1, 6)
    parts = [Inertia(m, p, np.zeros((3, 3))) for m, p in zip(masses, points, strict=True)]
    total = sum(parts[1:], parts[0])
    c = masses @ points / masses.sum()
    tensor = sum(
        m * ((p - c) @ (p - c) * np.eye(3) - np.outer(p - c, p - c))
        for m, p in zip(masses, points, strict=True)
    )
    assert total.mass == pytest.approx(masses.sum())
    assert np.allclose(total.centre, c)
    assert np.allclose(total.tensor, tensor)


def test_moving_an_inertia_keeps_its_kinetic_energy():
    X, V = some(), RNG.normal(size=6)
    body = Inertia(2.0, RNG.normal(size=3), np.diag([1.0, 2.0, 2.5]))
    moved = body.transformed(X)

    def energy(i, omega, speed):
        v = speed + np.cross(omega, i.centre)
        return 0.5 * (i.mass * v @ v + omega @ i.tensor @ omega)

    # the same motion seen from B: ω in its axes, velocity of its origin
    omega, speed = X.R.T @ V[:3], X.R.T @ (V[3:] + np.cross(V[:3], X.p))
    assert energy(moved, V[:3], V[3:]) == pytest.approx(energy(body, omega, speed))


def test_massless_bodies_add_to_nothing_but_their_tensors():
    nothing = Inertia() + Inertia(0.0, np.ones(3), np.eye(3))
    assert nothing.mass == 0
    assert np.array_equal(nothing.tensor, np.eye(3))


def test_small_things_of_transforms():
    assert np.array_equal(cross_matrix((1, 2, 3)) @ (4, 5, 6), np.cross((1, 2, 3), (4, 5, 6)))
    assert np.array_equal(translation((1, 2, 3)).p, (1, 2, 3))
    assert "quaternion" in repr(Transform())


def test_twists_and_wrenches_are_read_by_name():
    twist, wrench = Twist(np.ones(3), np.zeros(3)), Wrench(force=np.ones(3), torque=np.zeros(3))
    assert twist.linear.sum() == 3
    assert wrench.torque.sum() == 0


def test_an_inertia_is_transformed_by_the_old_name_too():
    box = inertia.solid_box(3.0, (0.1, 0.2, 0.3))
    X = translation((0.1, 0.0, 0.0))
    with pytest.warns(FutureWarning, match="moved in Inertia is now called transformed"):
        old = box.moved(X)
    assert np.array_equal(old.centre, box.transformed(X).centre)
