"""Joints that follow others: the worked example of two geared wheels."""

import numpy as np
import pytest

from tabi import dynamics
from tabi.dynamics import coupling
from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation


def test_geared_wheels_accelerate_as_one():
    robot = Robot("gears")
    robot.add_body("frame", Joint("frame", "fixed"))
    wheels = ((1.0, 0.02), (1.0, 0.5))
    for i, (mass, inertia) in enumerate(wheels):
        robot.add_body(f"wheel{i}", Joint(f"axle{i}", "continuous", translation((i, 0, 0))), "frame", Inertia(mass, np.zeros(3), inertia * np.eye(3)))
    robot.joint("axle1").mimic = Mimic("axle0", ratio=-0.2)
    model = robot.compile()
    # torque 3 on the small wheel, 1 on the large: (I₀ + r² I₁) a = τ₀ + r τ₁
    a = dynamics.forward_dynamics(model, [0, 0], [0, 0], [3.0, 1.0])
    assert a[0] == pytest.approx((3.0 - 0.2 * 1.0) / (0.02 + 0.04 * 0.5), rel=1e-14)
    assert a[1] == -0.2 * a[0]


def test_the_small_solver_leaves_out_rows_without_effect():
    K = np.array([[4.0, 0.0, 8.0], [0.0, 0.0, 5.0]])
    coupling._solve(K, 2)
    assert K[:, 2].tolist() == [2.0, 0.0]


def test_the_small_solver_solves():
    rng = np.random.default_rng(0)
    L = rng.normal(size=(4, 4))
    S, b = L @ L.T + np.eye(4), rng.normal(size=4)
    K = np.column_stack([S, b])
    coupling._solve(K, 4)
    assert np.allclose(S @ K[:, 4], b)
