"""What controllers of walks have in common."""

import numpy as np
import pytest

import tabi
from tabi.walking import Biped, Stabiliser, Walker, walking_pattern
from tabi.walking.steered.walker import SteeredWalker


@pytest.fixture(params=["pattern", "steered"])
def controller(request):
    robot = tabi.robots.hrp2()
    if request.param == "steered":
        return SteeredWalker(robot)
    return Walker(walking_pattern(Biped(robot), []), Stabiliser())


def test_commands_stay_within_what_motors_can_do(controller):
    progress = controller._walk.progress
    bounds = progress.bounds
    assert (bounds[:, 0] < bounds[:, 1]).all()
    assert (bounds[:, 2:] > 0).all()
    sim = _simulator(controller)
    sim.run(0.05)
    # a reference that jumps is not told to the motors
    controller._walk.loop.reference.position[...] += 0.5
    before, told = progress.last.copy(), []
    sim.run(0.01)
    told = controller._walk.channel.command
    assert (np.abs(progress.last - before) <= 2 * 0.005 * bounds[:, 2] + 1e-12).all()
    assert (told[0] >= bounds[:, 0] - 1e-12).all()
    assert (told[0] <= bounds[:, 1] + 1e-12).all()
    assert (np.abs(told[2]) <= bounds[:, 3]).all()


def test_state_is_restored_to_the_bit(controller):
    sim = _simulator(controller)
    sim.run(0.3)
    if isinstance(controller, SteeredWalker):
        controller.steer(forward=0.2)
    sim.run(1.2)
    moment = sim.save()
    ends = []
    for _ in range(2):
        sim.run(0.8)
        ends.append(sim.q.copy())
        sim.restore(moment)
    assert (ends[0] == ends[1]).all()


def test_it_begins_anew_when_time_does(controller):
    sim = _simulator(controller)
    start = sim.save()
    sim.run(0.4)
    first = sim.q.copy()
    sim.restore(start)
    controller.reset()
    sim.run(0.4)
    assert (sim.q == first).all()


def _simulator(controller):
    robot = controller.biped.robot if hasattr(controller, "biped") else controller.pattern.robot
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(robot)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, controller, rate=200)
    return sim
