"""Loads, rubber and limbs by kernels against closed forms."""

import numpy as np
import pytest

import tabi
from tabi.estimation.body_sense import BodySense
from tabi.estimation.body_state import (
    FLAT,
    LOAD,
    POINT,
    compute_foot_pressure,
    compute_foot_wrench,
    deflect_rubber,
)


@pytest.fixture
def body_state():
    return BodySense(tabi.robots.hrp2(bush=True)).fresh()


def test_a_wrench_measured_elsewhere_is_moved_to_the_foot(body_state):
    rng = np.random.default_rng(0)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R *= np.sign(np.linalg.det(R))
    p, f, n = rng.normal(size=(3, 3))
    body_state.sensor[0] = np.concatenate([R.ravel(), p])
    body_state.reading[0] = np.concatenate([f, n])
    compute_foot_wrench(body_state, 0)
    assert body_state.wrench[0, :3] == pytest.approx(R @ f)
    assert body_state.wrench[0, 3:] == pytest.approx(R @ n + np.cross(p, R @ f))


def test_a_foot_in_the_air_is_not_flat_and_one_pressed_at_a_point_says_where(body_state):
    body_state.wrench[0] = (1.0, 2.0, -3.0, 0.0, 0.0, 0.0)
    compute_foot_pressure(body_state, 0)
    assert body_state.pressure[0, [LOAD, FLAT]].tolist() == [-3.0, 0.0]
    x, y = 0.05, 0.01
    body_state.wrench[0] = (0.0, 0.0, 400.0, 400.0 * y, -400.0 * x, 0.0)
    compute_foot_pressure(body_state, 0)
    assert body_state.pressure[0, POINT : POINT + 3] == pytest.approx([x, y, 0.0])
    assert body_state.pressure[0, FLAT] == 1.0


def test_rubber_under_a_load_that_stays_approaches_it_with_its_time_constant(body_state):
    body_state.wrench[:] = 0.0
    body_state.wrench[0, 2] = 500.0
    springs = [k for k in range(len(body_state.spring)) if body_state.spring[k, 0] == 0]
    # along the sole's normal: 1e5 N/m, 100 N·s/m, a millisecond
    (z,) = [k for k in springs if body_state.along[k, 2] == pytest.approx(1.0)]
    i, K, D, dt = body_state.spring[z, 1], 1e5, 1e2, 1e-5
    body_state.q[i] = 0.0
    for _ in range(100):
        deflect_rubber(body_state, dt)
    # the first order of backward differences: half of dt over the time constant
    assert body_state.q[i] == pytest.approx(500.0 / K * (1 - np.exp(-100 * dt * K / D)), rel=0.01)
    assert body_state.v[body_state.spring[z, 2]] == pytest.approx(
        500.0 / D * np.exp(-1.0), rel=0.02
    )
    deflect_rubber(body_state, 0.0)
    assert body_state.q[i] == pytest.approx(500.0 / K)
    assert body_state.v[body_state.spring[z, 2]] == 0.0
