"""What kernels report becomes an error that names the joint."""

import numpy as np
import pytest

from tabi import ModelError
from tabi.dynamics.status import check_finite, check_status
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import solid_box


def pendulum():
    robot = Robot("pendulum")
    robot.add_body("pivot", Joint("pivot", "fixed"))
    robot.add_body("rod", Joint("axle", "revolute"), "pivot", solid_box(2.0, (0.02, 0.02, 1.0)))
    return robot.compile()


def test_a_status_counts_degrees_of_freedom_from_one():
    assert check_status(pendulum(), 0) is None
    with pytest.raises(
        ModelError, match="joint 'axle' moves parts whose inertia about it is not positive"
    ):
        check_status(pendulum(), 1)


def test_numbers_that_overflow_are_refused_and_others_are_handed_on():
    values = np.array([1.0])
    assert check_finite(pendulum(), "velocity", values) is values
    with pytest.raises(
        ModelError, match="the velocity of joint 'axle' became inf: the state has numbers too large"
    ):
        check_finite(pendulum(), "velocity", np.array([np.inf]))
