"""Poses on the ground, and footsteps of a walk that is steered."""

import numpy as np
import pytest

import tabi
from tabi.spatial.transform import about, translation
from tabi.walking.steered.steps_ahead import (
    are_together,
    compose,
    in_frame,
    next_landing,
    wrap_angle,
)
from tabi.walking.steered.walker import SteeredWalker


def pose(x, y, yaw):
    return translation((x, y, 0)) @ about((0, 0, 1), yaw)


def test_poses_on_the_ground_compose_as_transforms_do():
    a, b = (0.3, -0.2, 0.7), (0.1, 0.5, -2.0)
    X = pose(*a) @ pose(*b)
    x, y, yaw = compose(a, *b)
    assert (x, y) == pytest.approx(tuple(X.p[:2]))
    assert wrap_angle(yaw) == pytest.approx(np.arctan2(X.R[1, 0], X.R[0, 0]))
    assert in_frame(a, x, y) == pytest.approx(b[:2])


@pytest.mark.parametrize("side", [0, 1])
def test_a_step_moves_the_place_between_the_feet(side):
    walker = SteeredWalker(tabi.robots.hrp2())
    plan, T = walker._walk.plan, walker.gait.step_time
    X = (0.2, 0.1, 0.4)
    # on the spot the feet are together
    Y = next_landing(plan, X, side, False)
    assert are_together(plan, X, side, Y)
    assert not are_together(plan, X, side, (Y[0] + 0.02, Y[1], Y[2]))
    assert not are_together(plan, X, side, (Y[0], Y[1], Y[2] + 0.1))
    # with D = (v T, 0, 0) the place between them, and so the foot, is ahead by that
    plan.step_velocity[:] = 0.2, 0.0, 0.0
    ahead = in_frame(Y, *next_landing(plan, X, side, True)[:2])
    assert ahead == pytest.approx((0.2 * T, 0.0), abs=1e-12)
    # a turn is made by the foot on that side alone, and about the place between the feet
    plan.step_velocity[:] = 0.0, 0.0, 0.3
    Z = next_landing(plan, X, side, True)
    lands_left = side == 1
    assert Z[2] - Y[2] == pytest.approx(0.6 * T if lands_left else 0.0)
    C = np.array(Y[:2]) - pose(0, 0, Y[2]).R[:2, :2] @ plan.beside[1 - side, :2]
    assert np.hypot(*(Z[:2] - C)) == pytest.approx(np.hypot(*(Y[:2] - C)))
