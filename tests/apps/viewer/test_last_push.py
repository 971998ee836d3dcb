"""The last push of a robot: its largest force, its direction, its margin."""

import numpy as np
import pytest
from apps.viewer.steered import simulator

from tabi.apps.viewer.last_push import LastPush


def run(sim, push, seconds, walker=None):
    for _ in range(round(seconds / 0.005)):
        sim.run(0.005)
        push.update(sim, walker)


def test_the_largest_force_of_the_last_push_is_kept():
    sim = simulator()
    push, walker = LastPush(sim, sim.world.robots[0]), sim.drivers["hrp2"].controller
    run(sim, push, 0.05, walker)
    assert push.line() == ""
    sim.apply_force("chest", force=(30.0, 0.0, 0.0), duration=0.1)
    sim.apply_force("chest", force=(0.0, 40.0, 0.0), duration=0.05)
    walker.margin = 0.03
    run(sim, push, 0.1, walker)
    # 30 and 40 at right angles
    assert np.linalg.norm(push.force) == pytest.approx(50.0)
    assert push.direction == "forwards left"
    walker.margin = 0.012
    run(sim, push, 0.1, walker)
    walker.margin = 0.05
    run(sim, push, 0.6, walker)
    assert push.line() == "last push: **50 N** forwards left, least margin since **12 mm**"
    # a new one forgets the old one, though it is weaker
    sim.apply_force("chest", force=(0.0, -5.0, 0.0), duration=0.1)
    run(sim, push, 0.2, walker)
    assert push.line() == "last push: **5 N** right, least margin since **50 mm**"


def test_directions_are_those_that_the_robot_sees():
    sim = simulator()
    robot = sim.world.robots[0]
    # it looks along y
    sim.set_joint("hrp2", position=_turned(sim, 0.5 * np.pi))
    for force, words in (
        ((0, 9, 0), "forwards"),
        ((9, 0, 0), "right"),
        ((-9, -9, 0), "backwards left"),
        ((0, 0, 9), "up"),
    ):
        push = LastPush(sim, robot)
        sim.apply_force("chest", force=force, duration=0.005)
        run(sim, push, 0.005)
        assert push.direction == words
        assert push.margin is None
        assert "margin" not in push.line()


def test_what_pushes_others_is_none_of_it():
    sim = simulator()
    push = LastPush(sim, sim.world.robots[0])
    push._bodies = set()
    sim.apply_force("chest", force=(30.0, 0.0, 0.0), duration=0.05)
    run(sim, push, 0.05)
    assert push.force is None


def _turned(sim, yaw):
    q = sim.state.q[sim.q_slice("hrp2")].copy()
    q[:2], q[3:7] = 0.0, (np.cos(0.5 * yaw), 0, 0, np.sin(0.5 * yaw))
    return q
