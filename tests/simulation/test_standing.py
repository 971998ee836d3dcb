"""A robot that fell stands again: upright, as it faced, where nothing is in its way."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi import ModelError, walking
from tabi.control import hold
from tabi.model.shape import Box
from tabi.simulation.standing import heading
from tabi.spatial.transform import about

LAWS = [
    {"contact": "coulomb"},
    {"contact": "coulomb", "scheme": "event-driven"},
    {"contact": "penalty"},
    {"contact": "selection"},
]


def fallen(push=(0.0, 0.0), yaw=0.0, more=None, **how):
    """HRP-2 that was tipped over and lies."""
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.place((0.4, -0.3, 0.0), about((0, 0, 1), yaw).quaternion)
    robot.stand_on_ground()
    if more:
        more(world)
    sim = tabi.Simulator(world, **how)
    sim.set_controller(robot, hold(robot.half_sitting))
    c, s = np.cos(yaw), np.sin(yaw)
    force = (c * push[0] - s * push[1], s * push[0] + c * push[1], 0.0)
    sim.apply_force(robot.body("chest"), force=force, duration=0.3)
    sim.run(2.5)
    assert sim.fallen(robot)
    return sim, robot


def upright(sim, robot) -> float:
    """Cosine of the tilt of its base, which is upright in half-sitting."""
    return float(sim.pose(robot.base).R[2, 2])


@pytest.mark.parametrize("how", LAWS, ids=lambda how: "-".join(how.values()))
def test_it_stands_again_under_every_law(how):
    sim, robot = fallen(push=(250.0, 0.0), yaw=0.7, **how)
    lay = sim.centre_of_mass(robot)[:2]
    stood = sim.stand_up(robot)
    feet = np.vstack([sim.pose(f) @ np.c_[f.polygon, np.zeros(4)] for f in robot.feet.values()])
    # soles level on the ground, to the rounding of a sum of some metres
    assert feet[:, 2] == pytest.approx(0.0, abs=1e-9)
    assert np.hypot(*(feet[:, :2].mean(axis=0) - lay)) < 0.02
    assert stood.away == pytest.approx(0.0, abs=1e-9)
    # a fall turns a robot by some degrees about the vertical before it is down
    R = sim.pose(robot.base).R
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(0.7, abs=0.5)
    assert np.abs(sim.state.v).max() == 0.0
    sim.run(1.0)
    assert not sim.fallen(robot, 0.6)
    assert upright(sim, robot) > np.cos(np.radians(2.0))
    # all of its weight is on its feet
    load = sum(sim.foot_wrench(foot).force[2] for foot in robot.feet.values())
    assert load == pytest.approx(9.81 * robot.mass, rel=0.05)


@pytest.mark.parametrize("push", [(250.0, 0.0), (-250.0, 0.0)])
def test_it_faces_as_before_however_it_lies(push):
    sim, robot = fallen(push=push, yaw=-2.0)
    before = heading(sim.pose(robot.base).R)
    sim.stand_up(robot)
    R = sim.pose(robot.base).R
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(before, abs=1e-9)
    # it may turn on the ground, by less than a radian
    assert np.cos(before + 2.0) > np.cos(1.0)


def test_heading_of_a_turn_about_a_level_axis_is_none():
    # the smallest turn back to the vertical is the same turn backwards
    rng = np.random.default_rng(1)
    for _ in range(50):
        along, tilt, yaw = rng.uniform(-np.pi, np.pi, 3)
        axis = (np.cos(along), np.sin(along), 0.0)
        R = about(axis, 0.99 * tilt).R @ about((0, 0, 1), yaw).R
        assert np.cos(heading(R) - yaw) == pytest.approx(1.0, abs=1e-9)


def test_it_steps_aside_where_something_is_in_its_way():
    world, robot = hrp2_on_ground()
    world.add_box(size=(0.4, 0.4, 0.4), mass=5.0, position=(0.0, 0.0, 3.0), name="crate")
    wall = Box((0.1, 4.0, 2.0))
    world.add_fixed(wall, (0.6, 0.0, 1.0), (1, 0, 0, 0), name="wall")
    sim = tabi.Simulator(world)
    sim.set_joint("crate", position=(0.0, 0.0, 0.2, 1, 0, 0, 0))
    stood = sim.stand_up(robot)
    assert 0.2 < stood.away < 1.0
    sim.step()
    pairs = {(c.body_a.name, c.body_b.name) for c in sim.contacts}
    assert all("world" in pair for pair in pairs)
    # nothing is in the wall, whose face is at 0.55 m
    reach = max(-robot.extent((-1, 0, 0), {b: sim.pose(b) for b in robot.bodies}), -9.0)
    assert robot.extent((1, 0, 0), {b: sim.pose(b) for b in robot.bodies}) < 0.55 or reach > 0.65
    assert sim.certificate.penetration < 1e-6


def test_it_stands_on_a_step_where_it_lies_on_one():
    world, robot = hrp2_on_ground()
    world.add_fixed(Box((6.0, 6.0, 0.02)), (0, 0, 0.01), (1, 0, 0, 0))
    sim = tabi.Simulator(world)
    sim.stand_up(robot)
    soles = [sim.pose(foot).p[2] for foot in robot.feet.values()]
    assert soles == pytest.approx([0.02, 0.02], abs=1e-9)


def test_without_room_or_ground_it_is_refused():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    with pytest.raises(ModelError, match="nothing to stand on"):
        tabi.Simulator(world).stand_up(robot)
    world, robot = hrp2_on_ground()
    world.add_box(size=(9.0, 9.0, 0.3), mass=100.0, position=(0, 0, 0.8), name="roof")
    sim = tabi.Simulator(world)
    with pytest.raises(ModelError, match="no free and level place to stand within 3 m"):
        sim.stand_up(robot)


def test_of_two_robots_the_other_one_goes_on():
    def other(world):
        two = world.add_robot(tabi.robots.hrp2(), name="other")
        two.place((0.4, 2.5, 0.0))
        two.stand_on_ground()

    sim, robot = fallen(push=(250.0, 0.0), more=other)
    two = sim.world.robot("other")
    before = sim.state
    mine = sim.q_slice("hrp2"), sim.v_slice("hrp2")
    sim.stand_up(robot)
    after = sim.state
    q, v = np.ones(len(before.q), bool), np.ones(len(before.v), bool)
    q[mine[0]], v[mine[1]] = False, False
    assert np.array_equal(before.q[q], after.q[q])
    assert np.array_equal(before.v[v], after.v[v])
    assert after.time == before.time
    sim.run(0.5)
    assert not sim.fallen(robot, 0.6)
    assert not sim.fallen(two, 0.6)


def test_one_that_holds_something_is_refused_or_lets_go():
    def box(world):
        world.add_box(size=(0.1, 0.1, 0.1), mass=1.0, position=(0.8, 0.4, 0.05), name="box")

    sim, robot = fallen(push=(250.0, 0.0), more=box)
    bond = sim.bond("weld", "box", "left_hand" if "left_hand" in sim.model.links else "chest")
    with pytest.raises(ModelError, match=r"'hrp2' is bonded to 'box'; release the bond"):
        sim.stand_up(robot)
    assert bond.is_active
    stood = sim.stand_up(robot, release=True)
    assert stood.released == ("box",)
    assert "let go of box" in str(stood)
    assert not bond.is_active
    sim.run(0.3)
    assert not sim.fallen(robot, 0.6)


@pytest.mark.slow
def test_a_walker_begins_its_walk_anew():
    world, robot = hrp2_on_ground()
    biped = walking.Biped(robot)
    pattern = walking.walking_pattern(biped, walking.walk(biped.stance, 4, 0.15))
    walker = walking.Walker(pattern, walking.Stabiliser())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.Logged(walker), rate=200)
    sim.apply_force(robot.body("chest"), force=(0, 400.0, 0), duration=0.3, at=1.0)
    sim.run(3.5)
    assert sim.fallen(robot)
    stood = sim.stand_up(robot)
    start = sim.time
    sim.run(pattern.duration + 0.5)
    assert sim.time > start
    assert walker.finished
    assert not sim.fallen(robot, 0.6)
    # where the walk ends, from where it began anew
    planned = stood.moved @ pattern.schedule.position[-1].mean(axis=0)
    feet = np.mean([sim.pose(foot).p for foot in robot.feet.values()], axis=0)
    assert np.hypot(*(feet - planned)[:2]) < 0.03
