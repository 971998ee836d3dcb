"""HOAP-2 against its published numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tabi
from tabi.robots import hoap2


def test_its_numbers_are_those_published():
    robot = hoap2()
    assert robot.mass == pytest.approx(7.0)
    # 25, of which two open its hands
    assert len(robot.joint_names) == 23
    robot.stand_on_ground("zero")
    assert robot.extent((0, 0, 1)) == pytest.approx(0.50, rel=0.03)
    X = robot.placements()
    hip, knee, ankle = (X[robot.body(f"left_{name}")].p for name in ("thigh", "shank", "foot"))
    assert hip[1] == pytest.approx(0.039)
    assert hip[2] - knee[2] == pytest.approx(0.1)
    assert knee[2] - ankle[2] == pytest.approx(0.1)
    assert ankle[1] == pytest.approx(0.039)
    for foot in robot.feet.values():
        assert np.ptp(foot.polygon, axis=0)[:2] == pytest.approx((0.094, 0.062))
    assert {robot.joint(name).effort_limit for name in robot.joint_names} == {9.0}


def test_it_stands_and_its_feet_bear_its_weight():
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(hoap2())
    sim = tabi.Simulator(world)
    start = sim.position(robot.base)
    sim.run(0.5)
    assert np.linalg.norm(sim.position(robot.base) - start) < 2e-3
    assert sim.missed_count == 0
    total = sum(sim.foot_wrench(side).force[2] for side in robot.feet)
    assert total == pytest.approx(7.0 * 9.81, rel=1e-3)
