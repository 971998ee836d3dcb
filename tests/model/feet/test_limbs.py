"""Capsules that stand in for limbs: from joint to joint, as heavy as water,
and never where shapes are.
"""

from math import pi

import numpy as np
import pytest
from bipeds import biped

from tabi.model.feet.limbs import DENSITY, MAX_RADIUS_M, add_limbs
from tabi.model.shape import Capsule


def test_a_thigh_reaches_from_hip_to_knee():
    robot = biped(thigh=0.4)
    add_limbs(robot)
    (shape,) = robot.body("l_hip_link").shapes
    assert isinstance(shape.geometry, Capsule)
    assert np.allclose(shape.placement.p, (0, 0, -0.2))
    assert shape.support((0, 0, -1)) == pytest.approx(0.4)
    assert shape.support((0, 0, 1)) == pytest.approx(0.0, abs=1e-12)
    # 1 kg of water, 0.4 m long
    assert shape.geometry.radius == pytest.approx((1.0 / (DENSITY * pi * 0.4)) ** 0.5)


def test_a_trunk_reaches_to_both_hips_and_heavy_ones_stay_slim():
    robot = biped()
    add_limbs(robot)
    ends = {tuple(np.round(2 * shape.placement.p, 9)) for shape in robot.base.shapes}
    assert ends == {(0.0, 0.1, 0.0), (0.0, -0.1, 0.0)}
    assert all(shape.geometry.radius <= MAX_RADIUS_M for shape in robot.base.shapes)


def test_feet_and_what_has_shapes_or_no_length_are_left_alone():
    robot = biped()
    before = {body: list(body.shapes) for body in robot.bodies}
    given = add_limbs(robot)
    assert {body.name for body in given} == {
        "trunk",
        "l_hip_link",
        "l_knee_link",
        "r_hip_link",
        "r_knee_link",
    }
    assert all(body.shapes == before[body] for body in robot.bodies if body not in given)
    assert robot.notes[-1] == "stand-in: capsules between joints for the missing shapes of 5 links"
    assert add_limbs(robot) == []
