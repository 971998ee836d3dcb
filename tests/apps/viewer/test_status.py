"""Three lines say how a simulation is."""

import dataclasses
import re

import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.apps.viewer.status import status
from tabi.apps.viewer.view import Observer


@pytest.fixture(scope="module")
def stood():
    """A robot on its feet, one step later, seen."""
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.step()
    return sim, Observer(sim), list(robot.feet)


def test_a_robot_on_its_feet_is_three_short_lines(stood):
    _, observer, feet = stood
    lines = status(observer.look(), "1.00 × real time", ["hrp2"], feet)
    assert len(lines) == 3
    assert lines[0] == "time **0.00 s** · 1.00 × real time"
    assert re.fullmatch(r"\*\*8\*\* contacts · exact to [\d.]+e.\d+.m/s", lines[1])
    assert lines[2] == "hrp2 **on both feet**"


def test_a_robot_in_the_air_and_one_that_fell_are_said_to_be(stood):
    sim, observer, feet = stood
    before = sim.save()
    q = sim.state.q
    q[2] += 0.5
    sim.set_state(q)
    sim.step()
    said = status(observer.look(), "paused", ["hrp2"], feet)
    assert said[1].startswith("**0** contacts")
    assert said[2] == "hrp2 **without a foot on the ground**"
    sim.restore(before)
    fell = dataclasses.replace(observer.look(), fallen=("hrp2",))
    assert status(fell, "paused", ["hrp2"], feet)[2] == "hrp2 **fell**"


def test_a_world_without_robots_counts_what_moves():
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.0, 0.0, 0.05))
    sim = tabi.Simulator(world)
    sim.step()
    assert status(Observer(sim).look(), "paused", [], [])[2] == "one body"
