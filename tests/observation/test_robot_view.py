"""What is seen of one robot among others is what the simulator says of it, at every moment."""

import numpy as np
import pytest

import tabi
from tabi.observation.robot_view import RobotView


@pytest.fixture
def sim():
    """Two robots of one kind, the second one 2 m beside the first and turned by 90°."""
    world = tabi.World()
    world.add_ground(friction=0.8)
    for name, y in (("one", 0.0), ("two", 2.0)):
        robot = world.add_robot(tabi.robots.hrp2(), name=name)
        turn = np.pi / 2 if y else 0.0
        robot.place((0.0, y, 0.0), (np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)))
        robot.stand_on_ground()
    sim = tabi.Simulator(world)
    for robot in world.robots:
        sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    return sim


def test_a_view_that_is_kept_shows_the_last_step(sim):
    two = sim.robot("two")
    assert isinstance(two, RobotView)
    assert two is sim.robot(sim.world.robots[1])
    before = two.pose.p
    sim.run(0.05)
    assert two.pose.p[2] != before[2]
    assert np.array_equal(two.q, sim.q[sim.q_slice("two")])
    assert np.array_equal(two.v, sim.v[sim.v_slice("two")])
    assert np.array_equal(two.pose.p, sim.position(two.robot.base))
    assert np.array_equal(two.velocity.linear, sim.velocity(two.robot.base).linear)


def test_forces_and_points_are_those_of_this_robot(sim):
    sim.run(1.0)
    views = [sim.robot(name) for name in ("one", "two")]
    for view in views:
        load = sum(foot.wrench.force[2] for foot in view.feet.values())
        assert list(view.feet) == list(view.robot.feet)
        assert load == pytest.approx(view.robot.mass * 9.81, rel=1e-3)
        assert sum(c.force_on("world")[2] for c in view.contacts) == pytest.approx(-load)
        assert np.array_equal(view.centre_of_mass, sim.centre_of_mass(view.robot))
        assert np.array_equal(view.joint_torques, sim.joint_torques(view.robot))
        assert np.array_equal(view.zmp, sim.zmp(view.robot))
        assert np.array_equal(view.support_polygon, sim.support_polygon(view.robot))
        assert not view.fallen()
        assert view.fall_margin == sim.fall_margin(view.robot) > 0.4
    # the second is the first, moved
    apart = views[1].zmp - [0.0, 2.0]
    assert np.array([apart[1], -apart[0]]) == pytest.approx(views[0].zmp, abs=1e-6)


def test_another_robot_is_refused(sim):
    with pytest.raises(tabi.ModelError, match="three"):
        sim.robot("three")
    with pytest.raises(tabi.ModelError, match="is no robot of this world"):
        sim.robot(tabi.robots.hrp2())


def test_the_height_above_the_lower_sole_counts():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    q = sim.model.initial()
    view = sim.robot(robot)
    assert view.fall_margin == pytest.approx(0.5, abs=1e-12)
    # the left foot rises; the base keeps its height above the right one
    for joint, change in (("LLEG_HIP_P", -0.5), ("LLEG_KNEE_P", 1.0), ("LLEG_ANKLE_P", -0.5)):
        q[sim.q_slice(joint)] += change
    sim.set_state(q)
    left, right = (sim.position(robot.feet[side])[2] for side in ("left", "right"))
    assert left > right + 0.05
    assert view.fall_margin == pytest.approx(0.5, abs=1e-12)
