"""A walk that is led by the hand: its speed is that of the pull beyond the dead zone."""

import numpy as np
import pytest

import tabi
from tabi import ModelError, control, walking


def led(**gains):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    robot = world.add_robot(robot)
    walker = walking.SteeredWalker(robot)
    arm = [name for name in robot.joint_names if name.startswith("RARM")]
    gives = control.compliance(robot, "right_hand", 0.3, 3.0, joints=arm)
    controller = walking.LedWalker(walker, gives, **gains)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, controller, rate=1.0 / walker.gait.tick)
    return sim, controller


@pytest.mark.slow
def test_it_walks_after_a_pull_and_stops_without_it():
    sim, controller = led()
    sim.run(0.5)
    assert controller.walker.steering == (0.0, 0.0, 0.0)
    sim.apply_force("right_hand", (12.0, 0.0, 0.0), duration=4.0)
    sim.run(4.0)
    # what the wrist feels is the pull, but for what the arm's motion takes
    assert controller.pull[0] == pytest.approx(12.0, abs=1.5)
    speed, turn = 0.015 * (controller.pull[0] - 5.0), controller.walker.steering.turn
    assert controller.walker.steering.forward == pytest.approx(speed, rel=0.1)
    assert abs(turn) < 0.05
    gone = sim.position("waist")[0]
    assert gone > 0.1
    sim.run(3.0)
    assert controller.walker.stands
    assert not sim.fallen(sim.world.robots[0])
    assert sim.missed_count == 0


@pytest.mark.slow
def test_a_pull_to_the_side_is_turned_to():
    sim, controller = led()
    sim.run(0.5)
    sim.apply_force("right_hand", (6.0, -10.0, 0.0), duration=3.0)
    sim.run(3.0)
    assert controller.walker.steering.turn < -0.05
    ahead = sim.pose("waist").R[:, 0]
    assert np.arctan2(ahead[1], ahead[0]) < -0.05


@pytest.mark.slow
def test_a_pull_within_the_dead_zone_makes_no_step():
    sim, controller = led(dead=8.0)
    sim.apply_force("right_hand", (6.0, 0.0, 0.0), duration=2.0)
    sim.run(2.0)
    assert controller.walker.stands


def test_bad_input_is_named():
    _, controller = led()
    with pytest.raises(ModelError, match="hrp2 is led by no hand"):
        walking.LedWalker(controller.walker)
    with pytest.raises(ModelError, match="dead of a walk that is led is -1"):
        walking.LedWalker(controller.walker, *controller.arms, dead=-1.0)
