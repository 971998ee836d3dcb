"""A robot has fallen when it is low or leans, whichever side is up and wherever it stands."""

import numpy as np
import pytest

import tabi
from tabi.model.shape import Box
from tabi.observation.falling import Upright
from tabi.spatial.transform import Transform, about, translation

STANDS = Upright(0.6, np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    ("lean", "height", "fallen"),
    [(0, 0.6, False), (50, 0.5, False), (70, 0.5, True), (0, 0.29, True), (180, 0.6, True)],
)
def test_low_or_leaning_is_fallen(lean, height, fallen):
    base = translation((1.0, 2.0, 3.0 + height)) @ about((1, 1, 0), np.radians(lean))
    assert (STANDS.margin(base, 3.0) < 0) is fallen


def test_as_it_stands_the_margin_is_a_half():
    assert STANDS.margin(translation((0.0, 0.0, 0.6)), 0.0) == pytest.approx(0.5)


def limp(yaw, spin):
    world = tabi.World()
    world.add_ground(friction=0.5)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    base = Transform(about((0, 0, 1), yaw).R, np.array(robot.base.joint.position[:3]))
    robot.place(base.p, base.quaternion)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, lambda t, m: tabi.Command(kp=0.0, kd=3.0, effort=0.0))
    v = sim.state.v
    v[:6] = (1.0, 1.5, 0.5, *spin)
    sim.set_state(sim.state.q, v)
    return sim, robot


@pytest.mark.parametrize("spin", [(6.0, 0.0, 1.0), (0.0, -6.0, 2.0)])
def test_a_thrown_robot_that_rolls_has_fallen_once(spin):
    sim, robot = limp(0.7, spin)
    fallen = []
    for _ in range(100):
        sim.run(0.02)
        fallen.append(sim.fallen(robot))
    assert np.diff(np.array(fallen, int)).sum() == 1
    assert np.abs(np.diff(np.array(fallen, int))).sum() == 1


def test_on_a_table_and_in_the_air_height_is_above_the_soles():
    world = tabi.World()
    world.add_fixed(Box((2.0, 2.0, 1.0)), (0.0, 0.0, 0.5))
    world.add_ground(height=0.0)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.place((0.0, 0.0, 3.0))
    sim = tabi.Simulator(world)
    sim.run(0.4)
    # it has dropped by more than its own height, upright
    assert not sim.fallen(robot)
