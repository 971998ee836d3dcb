"""Joints of a walk against laws of the whole robot: places, momentum, and equilibrium."""

import numpy as np
import pytest

import tabi
from tabi.dynamics import Configuration
from tabi.walking.legs.whole_body import product_t, share_of_left
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES, stairs, walk
from tabi.walking.plan.pattern import body_of, walking_pattern

G = 9.81


@pytest.fixture(scope="module", params=["straight", "turning", "climbing"])
def walked(request):
    step = {"straight": (0.2, 0.0, 0.0), "turning": (0.1, 0.03, 0.15)}
    biped = Biped(tabi.robots.hrp2())
    if request.param == "climbing":
        return walking_pattern(biped, stairs(biped.stance, 2, 0.05, 0.3))
    return walking_pattern(biped, walk(biped.stance, 4, *step[request.param]))


def test_soles_and_centre_of_mass_are_where_they_should_be(walked):
    state = Configuration(walked.biped.model)
    # a second at least
    assert walked.count * walked.gait.tick > 1.0
    for k in range(0, walked.count, 37):
        state.update(walked.q[k])
        # the base is moved until the centre of mass moves by 1e-9 m at most
        assert state.centre_of_mass() == pytest.approx(walked.centre[k], abs=1e-8)
        for i, side in enumerate(SIDES):
            X = state.pose(walked.robot.feet[side])
            assert X.p == pytest.approx(walked.schedule.position[k, i], abs=1e-6)
            assert pytest.approx(walked.schedule.rotation[k, i], abs=1e-6) == X.R
        # upright, and facing along the yaw
        base = state.pose(walked.robot.base).R
        assert base[2] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
        assert np.arctan2(base[1, 0], base[0, 0]) == pytest.approx(walked.yaw[k], abs=1e-9)


def test_the_zero_moment_point_follows_from_the_rate_of_momentum(walked):
    """Ṗ and L̇ about the centre of mass, by differences, tell where the ground pushes."""
    T, state = walked.gait.tick, Configuration(walked.biped.model)
    q, n = walked.q, walked.count
    v = np.array([walked.biped.model.v_count * [0.0]] * n)
    yaw, at = np.gradient(walked.yaw, T), 7
    v[:, :3], v[:, 5] = np.gradient(q[:, :3], T, axis=0), yaw
    v[:, 6:] = np.gradient(q[:, at:], T, axis=0)
    P, L, c = np.zeros((n, 3)), np.zeros((n, 3)), walked.centre
    for k in range(n):
        state.update(q[k], v[k])
        momentum = state.momentum()
        P[k], L[k] = momentum.linear, momentum.angular
    dP, dL = np.gradient(P, T, axis=0), np.gradient(L, T, axis=0)
    F = dP + walked.biped.mass * np.array([0.0, 0.0, G])
    h = walked.schedule.zmp[:, 2] - c[:, 2]
    x = c[:, 0] + (h * F[:, 0] - dL[:, 1]) / F[:, 2]
    y = c[:, 1] + (h * F[:, 1] + dL[:, 0]) / F[:, 2]
    # both take accelerations from differences of the same velocities: their difference is that of
    # the differences themselves, of jerks of some 100 m/s³ over 5 ms
    error = np.column_stack([x, y]) - walked.zmp
    assert np.sqrt((error[5:-5] ** 2).mean(axis=0)).max() < 1e-3
    assert np.abs(error[5:-5]).max() < 0.01


def test_the_zero_moment_point_follows_its_reference(walked):
    error = walked.zmp - walked.schedule.zmp[:, :2]
    # Kajita 2003: millimetres after the second preview; steps of the vertical motion of stairs
    # are not previewed
    assert 1e3 * np.sqrt((error**2).mean(axis=0)).max() < 5.0


def test_efforts_and_the_grounds_wrench_move_the_robot_so(walked):
    """Equilibrium: M a + b = efforts + Σ Jᵀ wrench, with wrenches at the feet that sum to what the
    base needs; without efforts on the base.
    """
    T, model, body = walked.gait.tick, walked.biped.model, body_of(walked.biped)
    v = np.zeros((walked.count, model.v_count))
    v[:, :3], v[:, 5] = np.gradient(walked.q[:, :3], T, axis=0), np.gradient(walked.yaw, T)
    v[:, 6:] = np.gradient(walked.q[:, 7:], T, axis=0)
    a, state = np.gradient(v, T, axis=0), Configuration(model)
    ticks = range(50, walked.count - 50, 61)
    assert len(ticks) > 3
    for k in ticks:
        state.update(walked.q[k], v[k])
        tau = state.inverse_dynamics(a[k])
        given = np.zeros(model.v_count)
        given[body.v_at] = walked.effort[k]
        rest = tau - given
        stack = np.vstack([state.jacobian(walked.robot.feet[side]) for side in SIDES])
        if walked.schedule.support[k] != 0:
            i = walked.schedule.support[k] - 1
            stack = stack[6 * i : 6 * i + 6]
        wrench, *_ = np.linalg.lstsq(stack.T, rest, rcond=None)
        # of numbers of some 600 N and 200 N·m
        assert stack.T @ wrench == pytest.approx(rest, abs=1e-6)
        forces = wrench.reshape(-1, 6)[:, :3].sum(axis=0)
        assert forces[2] == pytest.approx(tau[2], abs=1e-6)


def test_shares_of_two_feet_follow_the_point_between_them():
    left, right = (0.1, 0.2, 0.0), (-0.1, -0.2, 0.0)
    for share in (0.0, 0.3, 1.0):
        point = tuple(share * a + (1 - share) * b for a, b in zip(left, right, strict=True))
        assert share_of_left(point, left, right, 0) == pytest.approx(share)
    assert share_of_left((9.0, 9.0, 0.0), left, right, 0) == 1.0
    assert share_of_left((0.0, 0.0, 0.0), left, right, 1) == 1.0
    assert share_of_left((0.0, 0.0, 0.0), left, right, 2) == 0.0


def test_a_product_with_a_transpose():
    A, B = np.random.default_rng(0).normal(size=(2, 3, 3))
    own = np.array(product_t(tuple(A.ravel()), tuple(B.ravel()))).reshape(3, 3)
    assert own == pytest.approx(A.T @ B, abs=1e-14)
