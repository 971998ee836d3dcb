"""Soft soles under the feet of robots."""

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.soles import Layer


def test_a_robot_stands_higher_and_its_feet_are_the_ground_faces():
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    mass, height = robot.mass, robot.base.joint.position[2]
    area = robot.feet["left"].area
    made = robot.add_soles(thickness=0.03, density=1000.0, element_size=0.05)
    assert set(made) == {"left", "right"}
    robot.stand_on_ground()
    assert robot.base.joint.position[2] == pytest.approx(height + 0.03, abs=1e-9)
    assert robot.mass == pytest.approx(mass + 2 * 1000.0 * 0.03 * area, rel=1e-9)
    assert robot.feet["left"].area == pytest.approx(area)


def test_layers_tread_outline_and_one_foot():
    robot = tabi.robots.hrp2()
    layers = [Layer(0.01, 1e6, 0.3), Layer(0.005, 5e6, 0.4)]
    outline = 0.8 * robot.feet["right"].polygon
    made = robot.add_soles(["right"], layers=layers, outline=outline, element_size=0.05)
    assert list(made) == ["right"]
    assert made["right"].geometry.thickness == pytest.approx(0.015)
    assert robot.feet["right"].area == pytest.approx(0.64 * robot.feet["left"].area)


def test_what_cannot_be_is_refused():
    robot = tabi.robots.hrp2()
    with pytest.raises(ModelError, match="over the plate of foot"):
        robot.add_soles(outline=1.1 * robot.feet["right"].polygon)
    with pytest.raises(ModelError, match="foot 'middle'"):
        robot.add_soles(["middle"])
    with pytest.raises(ModelError, match="poisson ratio"):
        robot.add_soles(poisson_ratio=0.5)
    robot.add_soles(element_size=0.08)
    with pytest.raises(ModelError, match="soft sole already"):
        robot.add_soles()
    robot.feet.clear()
    with pytest.raises(ModelError, match="no feet"):
        robot.add_soles()
    assert np.isfinite(robot.mass)
