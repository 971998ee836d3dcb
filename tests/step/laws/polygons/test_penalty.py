"""OpenHRP's law on a free plate: springs, dampers, friction and what keeps it from pulling."""

import numpy as np
import pytest

from tabi.model.arrays import table
from tabi.step.laws.polygons import penalty, polygons
from tabi.step.laws.polygons.deeper_twists import deeper
from tabi.step.laws.polygons.penalty import SPRING

MASS, LENGTH, WIDTH, H = 2.0, 0.2, 0.1, 1e-3
K, ROLL, PITCH, ALPHA, C, YAW = 1e5, 80.0, 300.0, 0.4, 500.0, 3.0


def plate(gap, twist=(0, 0, 0, 0, 0, 0), mu=0.5, axis=(1.0, 0.0), asked=(0.0, 0.0, 0.0, 0.0)):
    """What the law says of a free plate over a plane, with gaps of its corners, a twist, and what
    was added to it at the corners.
    """
    P = polygons.allocate(4, 2)
    P.count[0], P.start[1], P.row[:] = 1, 4, np.arange(4)
    P.x[:], P.y[:] = (-0.1, 0.1, 0.1, -0.1), (-0.05, -0.05, 0.05, 0.05)
    inertia = MASS * np.array([WIDTH**2, LENGTH**2, WIDTH**2 + LENGTH**2]) / 12
    P.A[:6, :6] = np.diag([*(1 / inertia), *3 * [1 / MASS]])
    P.gap[:], P.mu[0], P.b[:6] = gap, mu, twist
    rows = table(1, SPRING)
    rows["stiffness"], rows["alpha"], rows["damping"] = (K, ROLL, PITCH), ALPHA, C
    rows["yaw_damping"], rows["half_diagonal"] = YAW, 0.5 * np.hypot(LENGTH, WIDTH)
    k = penalty.allocate(P, 4)
    which, axes = np.zeros(1, np.int64), np.array([axis], float)
    settled = penalty.solve(P, rows, which, axes, np.array(asked), k, H)
    assert settled
    return k


def test_a_plate_that_sinks_evenly_has_the_force_of_its_spring_at_the_end_of_the_step():
    depth = 1e-3
    k = plate(4 * [-depth])
    # v⁺ = λ/m, λ = h (K (d − h v⁺) − Λ v⁺), and Λ = 0 where it rises
    impulse = H * K * depth / (1 + H * H * K / MASS)
    np.testing.assert_allclose(k.w[:6], (0, 0, 0, 0, 0, impulse), atol=1e-12)
    assert k.depth[0] == pytest.approx(depth)


def test_the_damper_acts_where_it_goes_deeper_alone():
    depth, v = 1e-3, -2.0
    k = plate(4 * [-depth], (0, 0, 0, 0, 0, v))
    damper = 1.5 * ALPHA * K * depth
    impulse = H * (K * (depth - H * v) - damper * v) / (1 + H * (H * K + damper) / MASS)
    assert k.w[5] == pytest.approx(impulse)
    # the same speed upwards: the spring alone
    k = plate(4 * [-depth], (0, 0, 0, 0, 0, 0.2))
    assert k.w[5] == pytest.approx(H * K * (depth - H * 0.2) / (1 + H * H * K / MASS))


def test_a_plate_above_the_plane_or_that_would_be_pulled_bears_nothing():
    assert not plate(4 * [1e-3]).w.any()
    assert not plate(4 * [-1e-3], (0, 0, 0, 0, 0, 3.0)).w.any()


def test_a_tilt_has_the_moment_of_its_spring_in_the_axes_of_the_foot():
    tilt = 1e-3
    gap = -1e-3 + tilt * np.array([-0.05, -0.05, 0.05, 0.05])
    for axis, stiffness in (((1.0, 0.0), ROLL), ((0.0, 1.0), PITCH)):
        k = plate(gap, axis=axis)
        assert k.tilt[0] == pytest.approx((tilt, 0.0))
        inertia = MASS * WIDTH**2 / 12
        expected = -H * stiffness * tilt / (1 + H * H * stiffness / inertia)
        # the damper of a tilt that falls is none
        assert k.w[0] == pytest.approx(expected, rel=1e-6)


def test_a_foot_across_its_axes_has_both_moments():
    tilt, c = 1e-3, np.sqrt(0.5)
    k = plate(-1e-3 + tilt * np.array([-0.05, -0.05, 0.05, 0.05]), axis=(c, c))
    stiffness = 0.5 * np.array([[ROLL + PITCH, ROLL - PITCH], [ROLL - PITCH, ROLL + PITCH]])
    inertia = np.diag(MASS * np.array([WIDTH**2, LENGTH**2]) / 12)
    system = np.eye(2) + H * H * stiffness @ np.linalg.inv(inertia)
    np.testing.assert_allclose(
        k.w[:2], np.linalg.solve(system, -H * stiffness @ (tilt, 0.0)), rtol=1e-6
    )


def test_a_tilt_that_grows_as_the_plate_goes_deeper_is_damped():
    tilt, turn, inertia = 1e-3, 0.5, MASS * WIDTH**2 / 12
    gap = -1e-3 + tilt * np.array([-0.05, -0.05, 0.05, 0.05])
    k = plate(gap, (turn, 0, 0, 0, 0, -2.0))
    assert k.damped[0] == 1
    # w = −h (K (Ω + h ω⁺) + 3/2 α K |Ω| ω⁺), ω⁺ = ω + w/I
    rate = H * ROLL * (H + 1.5 * ALPHA * tilt)
    expected = -(H * ROLL * tilt + rate * turn) / (1 + rate / inertia)
    assert k.w[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("heading", np.radians([0.0, 37.0, 45.0, 90.0, -141.0]))
def test_a_tilt_is_damped_about_the_axes_of_the_foot_wherever_it_heads(heading):
    tilt, turn = 1e-3, np.array([0.5, 0.2])
    gap = -1e-3 + tilt * np.array([-0.05, -0.05, 0.05, 0.05])
    c, s = np.cos(heading), np.sin(heading)
    k = plate(gap, (*turn, 0, 0, 0, -2.0), axis=(c, s))
    assert k.damped[0] == 1
    # in the foot's axes, the columns of R: K_r and λ_r |Ω| are diagonal there
    R = np.array([[c, -s], [s, c]])
    own, omega = np.diag([ROLL, PITCH]), np.array([tilt, 0.0])
    K = R @ own @ R.T
    C = R @ (1.5 * ALPHA * own @ np.diag(np.abs(R.T @ omega))) @ R.T
    # w = −h (K (Ω + h ω⁺) + C ω⁺), ω⁺ = ω + I⁻¹ w
    inverse = np.diag(12 / (MASS * np.array([WIDTH**2, LENGTH**2])))
    rate = H * (H * K + C)
    expected = np.linalg.solve(np.eye(2) + rate @ inverse, -(H * K @ omega + rate @ turn))
    np.testing.assert_allclose(k.w[:2], expected, rtol=1e-9)


def test_what_goes_deeper_in_part_is_damped_by_that_part():
    k = plate(4 * [-1e-3], (0, 4.0, 0, 0, 0, -0.1))
    L = 0.5 * np.hypot(LENGTH, WIDTH)
    u = np.array([k.twist[5], L * k.twist[0], L * k.twist[1]])
    p = nearest(k, u, L)
    assert k.damped[0] == 0
    assert p[0] < -1e-3
    assert k.damper[0, 2] == pytest.approx(-1.5 * ALPHA * K * k.depth[0] * p[0], rel=1e-3)


def test_what_was_added_to_close_gaps_is_taken_off():
    gap, twist = 4 * [-1e-3], np.array([0.1, -0.2, 0.0, 0.0, 0.0, -0.3])
    plain = plate(gap, twist)
    x, y = np.array([-0.1, 0.1, 0.1, -0.1]), np.array([-0.05, -0.05, 0.05, 0.05])
    more = plate(gap, np.add(twist, (3.0, -2.0, 0, 0, 0, 0.5)), asked=0.5 + 2.0 * x + 3.0 * y)
    np.testing.assert_allclose(more.w, plain.w, atol=1e-12)


def test_the_part_below_the_plane_is_what_counts():
    # depths from 1 mm at one end to −1 mm at the other: half of it is below
    gap = np.array([1e-3, -1e-3, -1e-3, 1e-3])
    k = plate(gap)
    assert k.sides[0] == 4
    assert k.middle[0] == pytest.approx((0.05, 0.0))
    assert k.depth[0] == pytest.approx(0.5e-3)
    assert k.tilt[0] == pytest.approx((0.0, 1e-2))


def test_the_pressure_point_stays_in_the_part_that_is_below_the_plane():
    # a tilt of 0.1 rad would ask for 30 N·m from a toe that bears 25 N
    gap = 0.1 * (0.1 - np.array([-0.1, 0.1, 0.1, -0.1])) - 1e-3
    k = plate(gap)
    x = -k.w[1] / k.w[5]
    region = k.region[0, : k.sides[0], 0]
    assert region.min() - 1e-9 <= x <= region.max() + 1e-9
    assert k.held_point[0, 2] == 1.0


def test_friction_is_a_damper_up_to_the_cone():
    depth, speed = 1e-3, 0.01
    k = plate(4 * [-depth], (0, 0, 0, speed, 0, 0))
    assert k.w[3] == pytest.approx(-H * C * speed / (1 + H * C / MASS))
    assert k.scale[0] == 1.0
    # faster: the cone, against the motion, and the yaw moment smaller by the same factor
    k = plate(4 * [-depth], (0, 0, 2.0, 3.0, 4.0, 0))
    assert np.hypot(k.w[3], k.w[4]) == pytest.approx(0.5 * k.w[5], rel=1e-8)
    assert k.w[4] / k.w[3] == pytest.approx(4.0 / 3.0, rel=1e-8)
    inertia = MASS * (WIDTH**2 + LENGTH**2) / 12
    yaw = H * YAW * k.scale[0]
    assert k.w[2] == pytest.approx(-yaw * 2.0 / (1 + yaw / inertia), rel=1e-8)


def test_a_single_point_has_the_spring_alone():
    P = polygons.allocate(1, 2)
    P.count[0], P.start[1], P.gap[0], P.mu[0] = 1, 1, -1e-3, 0.5
    P.A[:6, :6] = np.diag([1.0, 1.0, 1.0, *3 * [1 / MASS]])
    rows = table(1, SPRING)
    rows["stiffness"], rows["half_diagonal"] = (K, ROLL, PITCH), 0.1
    k = penalty.allocate(P, 1)
    axes = np.array([(1.0, 0.0)])
    assert penalty.solve(P, rows, np.zeros(1, np.int64), axes, np.zeros(1), k, H)
    assert k.w[5] == pytest.approx(H * K * 1e-3 / (1 + H * H * K / MASS))
    assert np.isfinite(k.w[:6]).all()


def nearest(k, u, L):
    memory = np.zeros((4, 3))
    return np.array(deeper(k.region[0], 4, k.middle[0], tuple(u), L, memory))


def test_the_nearest_twist_that_goes_deeper_obeys_moreau():
    # projections on a cone: the rest is across what is left, and in the polar cone
    k = plate(4 * [-1e-3])
    L, rng = 0.5 * np.hypot(LENGTH, WIDTH), np.random.default_rng(2)
    corners = k.region[0, :4] - k.middle[0]
    normals = np.column_stack([np.ones(4), corners[:, 1] / L, -corners[:, 0] / L])
    for _ in range(50):
        u = rng.normal(size=3)
        p = nearest(k, u, L)
        assert (normals @ p).max() <= 1e-9
        assert abs((u - p) @ p) < 1e-9
        # u − p is a sum of the normals: nothing in the cone is nearer
        for _ in range(20):
            other = rng.normal(size=3)
            other = nearest(k, other, L)
            assert np.linalg.norm(u - p) <= np.linalg.norm(u - other) + 1e-9
