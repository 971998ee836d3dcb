"""CB against its published numbers."""

from __future__ import annotations

import pytest

import tabi
from tabi.robots import cb


def test_its_numbers_are_those_published():
    robot = cb()
    assert robot.mass == pytest.approx(92.0)
    assert len(robot.joint_names) == 30
    robot.stand_on_ground("zero")
    assert robot.extent((0, 0, 1)) == pytest.approx(1.575)


def test_it_stands_on_its_shoes():
    world = tabi.World()
    world.add_ground(friction=1.0)
    robot = world.add_robot(cb())
    sim = tabi.Simulator(world)
    sim.run(0.3)
    assert sim.missed_count == 0
    total = sum(sim.foot_wrench(side).force[2] for side in robot.feet)
    assert total == pytest.approx(92.0 * 9.81, rel=1e-3)
    touching = [one for one in robot.body("left_foot").shapes if one.collides]
    assert {one.material.friction for one in touching} == {0.45}
