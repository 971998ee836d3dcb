"""Feet by name: what stands on the ground carries the weight, and what is no foot is refused."""

import numpy as np
import pytest

import tabi


@pytest.fixture(scope="module")
def sim():
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(0.1)
    return sim


def test_feet_are_a_mapping_of_their_states(sim):
    assert list(sim.feet) == list(sim.model.feet)
    assert len(sim.feet) == 2
    assert {foot.state for foot in sim.feet.values()} == {"face, stick"}
    assert "left" in sim.feet
    assert sim.world.robots[0].feet["left"] in sim.feet
    assert "waist" not in sim.feet
    assert sim.feet.get("waist") is None
    assert sim.feet.get("left").name == sim.feet["left"].name == "left"
    assert tabi.robots.hrp2().feet["left"] not in sim.feet


def test_their_forces_are_the_simulators(sim):
    for name in sim.feet:
        assert np.array_equal(sim.feet.wrench(name).force, sim.foot_wrench(name).force)
        pressed = sim.feet.centre_of_pressure(name)
        assert np.array_equal(pressed, sim.feet[name].centre_of_pressure)
    assert sim.feet.events == sim.foot_events
    assert np.array_equal(sim.feet.support_polygon("hrp2"), sim.support_polygon("hrp2"))


def test_a_body_that_is_no_foot_has_a_wrench_and_no_state(sim):
    assert np.array_equal(sim.feet.wrench("waist").force, np.zeros(3))
    assert sim.feet.centre_of_pressure("waist") is None
    with pytest.raises(tabi.ModelError, match="foot 'waist' not found"):
        sim.feet["waist"]
