"""The double pendulum of every textbook: mass matrix and torques in closed form."""

import numpy as np
import pytest

from tabi.dynamics import crba, rnea, workspace
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

L1, L2, M1, M2, G = 0.7, 0.4, 1.3, 2.1, 9.81


def double_pendulum():
    """Two point masses on massless rods, swinging about y; angles are relative."""
    robot = Robot("double pendulum")
    robot.add_body("ceiling", Joint("ceiling", "fixed"))
    robot.add_body(
        "one",
        Joint("q1", "revolute", axis=(0, 1, 0)),
        "ceiling",
        Inertia(M1, np.array([0, 0, -L1]), np.zeros((3, 3))),
    )
    robot.add_body(
        "two",
        Joint("q2", "revolute", translation((0, 0, -L1)), (0, 1, 0)),
        "one",
        Inertia(M2, np.array([0, 0, -L2]), np.zeros((3, 3))),
    )
    return robot.compile()


def matrix(q2):
    c = L1 * L2 * np.cos(q2)
    corner = M2 * (L2**2 + c)
    return np.array([[M1 * L1**2 + M2 * (L1**2 + 2 * c + L2**2), corner], [corner, M2 * L2**2]])


@pytest.mark.parametrize(("q1", "q2"), [(0.0, 0.0), (0.3, -1.2), (-2.0, 3.0)])
def test_mass_matrix_of_a_double_pendulum(q1, q2):
    model, M = double_pendulum(), np.zeros((2, 2))
    crba.mass_matrix(model.arrays, np.array([q1, q2]), workspace.allocate(model), M)
    assert np.allclose(M, matrix(q2), atol=1e-14)


@pytest.mark.parametrize(
    ("q1", "q2", "v1", "v2", "a1", "a2"),
    [(0.3, -1.2, 0.0, 0.0, 0.0, 0.0), (0.3, -1.2, 2.0, -3.0, 0.5, 1.5)],
)
def test_torques_of_a_double_pendulum(q1, q2, v1, v2, a1, a2):
    model, tau = double_pendulum(), np.zeros(2)
    rnea.inverse_dynamics(
        model.arrays,
        np.array([q1, q2]),
        np.array([v1, v2]),
        np.array([a1, a2]),
        workspace.allocate(model),
        tau,
    )
    h = M2 * L1 * L2 * np.sin(q2)
    coriolis = np.array([-h * (2 * v1 * v2 + v2**2), h * v1**2])
    # a positive turn about y lifts a rod that hangs along −z towards −x
    weight = G * np.array(
        [(M1 + M2) * L1 * np.sin(q1) + M2 * L2 * np.sin(q1 + q2), M2 * L2 * np.sin(q1 + q2)]
    )
    assert np.allclose(tau, matrix(q2) @ [a1, a2] + coriolis + weight, atol=1e-13)
