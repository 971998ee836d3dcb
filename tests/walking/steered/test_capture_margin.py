"""How far a steered walk is from falling."""

import numpy as np
import pytest

import tabi
from tabi.walking.steered.capture_margin import is_caught
from tabi.walking.steered.walker import SteeredWalker


def stand(robot, **how):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(robot)
    walker, sim = SteeredWalker(robot, **how), tabi.Simulator(world)
    sim.set_controller(robot, walker, rate=200)
    sim.run(1.0)
    return sim, robot, walker


@pytest.mark.slow
def test_its_margin_is_what_its_soles_hold_and_falls_with_a_push():
    sim, robot, walker = stand(tabi.robots.hrp2(), adapts=False)
    # without steps: from the point between the feet to the nearest edge, the heels, less a margin
    heel = walker.capture_point[0] - (walker.feet["left"].p[0] - 0.105)
    assert walker.margin == pytest.approx(heel - 0.01, abs=2e-3)
    before = walker.margin
    sim.apply_force(robot.base, (-150, 0, 0), duration=0.1, point=(0, 0, 0.14))
    sim.run(0.1)
    # 150 N for 0.1 s move ξ by F T/(m ω) = 73 mm, of which the heels take some back
    assert walker.margin < before - 0.02
    steps = stand(tabi.robots.hrp2())[2]
    assert steps.margin > before


def test_what_is_within_the_margin_is_held_and_more_is_not():
    *_, walker = stand(tabi.robots.hrp2(), adapts=False)
    plan, box, margin = walker._walk.plan, walker._walk.loop.box, walker.margin
    (x, y), around = walker.capture_point, np.arange(16) * np.pi / 8
    held = [
        [is_caught(plan, box, (x + r * np.cos(a), y + r * np.sin(a))) for a in around]
        for r in (0.95 * margin, 1.05 * margin)
    ]
    assert all(held[0])
    assert not all(held[1])
