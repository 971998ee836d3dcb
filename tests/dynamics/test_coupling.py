"""Joints that follow others: the worked example of two geared wheels."""

import numpy as np
import pytest

from tabi import dynamics
from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation


def test_geared_wheels_accelerate_as_one():
    robot = Robot("gears")
    robot.add_body("frame", Joint("frame", "fixed"))
    wheels = ((1.0, 0.02), (1.0, 0.5))
    for i, (mass, inertia) in enumerate(wheels):
        robot.add_body(
            f"wheel{i}",
            Joint(f"axle{i}", "continuous", translation((i, 0, 0))),
            "frame",
            Inertia(mass, np.zeros(3), inertia * np.eye(3)),
        )
    robot.joint("axle1").mimic = Mimic("axle0", ratio=-0.2)
    model = robot.compile()
    # torque 3 on the small wheel, 1 on the large: (I₀ + r² I₁) a = τ₀ + r τ₁
    a = dynamics.forward_dynamics(model, [0, 0], [0, 0], [3.0, 1.0])
    assert a[0] == pytest.approx((3.0 - 0.2 * 1.0) / (0.02 + 0.04 * 0.5), rel=1e-14)
    assert a[1] == -0.2 * a[0]
