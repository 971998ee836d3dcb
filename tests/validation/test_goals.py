"""Targets on their way, as tabi's own steps move them."""

import numpy as np
import pytest

import tabi
from tabi.validation.referee.goals import Goals


def told(time, measurement):
    """Three commands: over 4 ms, over 10 ms, at once."""
    if time < 0.0045:
        return tabi.Command({"HEAD_Y": 0.1, "HEAD_P": 0.2}, over=0.004)
    if time < 0.0095:
        return tabi.Command({"HEAD_Y": -0.1}, over=0.01)
    return tabi.Command({"HEAD_P": 0.05})


def test_they_are_where_tabis_own_steps_have_them():
    sims = []
    for _ in range(2):
        world = tabi.World()
        robot = world.add_robot(tabi.robots.hrp2())
        sim = tabi.Simulator(world)
        sim.set_controller(robot, told, rate=200)
        sims.append(sim)
    steps, stands = sims
    goals = Goals(stands)
    for k in range(14):
        if stands.ask_controllers(k):
            goals.renew(k * 1e-3)
        goals.move((k + 1) * 1e-3)
        steps.step()
        assert goals.now["position"] == pytest.approx(steps.data.command.motor["position"])
        assert np.isfinite(goals.now["position"]).all()


def test_without_a_time_nothing_moves():
    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    goals = Goals(tabi.Simulator(world))
    before = goals.now.copy()
    assert not goals.move(1.0)
    assert (goals.now["position"] == before["position"]).all()
