"""What is seen of a soft pad: forces, pressure, sink and tilt."""

import numpy as np
import pytest
from simulation.soft import G, block

import tabi


def test_forces_on_nodes_are_those_of_the_contacts():
    world, box = block(viscosity=0.004, poisson_ratio=0.4, above=0.004)
    sim = tabi.Simulator(world)
    for _ in range(4):
        sim.run(0.02)
        pad = sim.pads["pad of box"]
        force = sum((c.force for c in sim.contacts), np.zeros(3))
        # the pad's frame is upright here, its z as the world's
        R = sim.pose(box).R @ box.shapes[-1].placement.R
        assert R @ pad.force.sum(axis=0) == pytest.approx(force, abs=1e-6 * box.inertia.mass * G)
        assert pad.normal_force == pytest.approx((pad.pressure * pad.areas).sum())
        assert pad.areas.sum() == pytest.approx(0.008)


def test_a_load_beside_the_middle_tilts_the_pad_that_way():
    world, box = block(viscosity=0.01, mass=2.0, element_size=0.0125)
    sim = tabi.Simulator(world)
    # 5 N down at x = 3 cm: a torque of 0.15 N·m about y
    sim.apply_force(box, (0, 0, -5.0), duration=2.0, point=(0.03, 0, 0))
    sim.run(1.0)
    pad = sim.pads["pad of box"]
    x_axis = (box.shapes[-1].placement.R @ np.eye(3))[0]
    at = x_axis[:2] @ pad.centre_of_pressure
    assert at == pytest.approx(0.15 / (box.inertia.mass * G + 5.0), rel=0.02)
    # springs E/t under all of the face: slope = torque/(E/t · I), I = w l³/12
    slope = 0.15 / (1e6 / 0.01 * 0.08 * 0.1**3 / 12)
    # elements of an eighth of the length are stiffer by 3 %
    assert np.linalg.norm(pad.tilt) == pytest.approx(slope, rel=0.04)
    assert pad.energy > 0


def test_names_are_those_of_feet_and_of_bodies():
    robot = tabi.robots.hrp2()
    robot.add_soles(element_size=0.05)
    robot.stand_on_ground()
    world = tabi.World()
    world.add_ground()
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    assert set(sim.pads) == {"left", "right"}
    assert "left" in repr(sim.pads["left"])
