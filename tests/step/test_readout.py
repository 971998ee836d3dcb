"""Quantities of a step read by kernels, against the same sums over contacts and bodies in NumPy."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.model.lookup import joint_rows


@pytest.fixture(scope="module")
def sim():
    """HRP-2 pushed while it stands, so that nothing is symmetric."""
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.apply_force(robot.body("chest"), force=(60, 30, 0), duration=0.1)
    sim.run(0.15)
    return sim


def test_a_foot_bears_the_forces_of_its_contacts_about_its_origin(sim):
    (robot,) = sim.world.robots
    assert set(robot.feet) == {"left", "right"}
    for foot in robot.feet.values():
        body, origin = sim.model.link(foot.name).body, sim.pose(foot).p
        own = [c for c in sim.contacts if c.body_a.body == body]
        assert len(own) == 4
        wrench = sim.foot_wrench(foot)
        torque = sum(np.cross(c.point - origin, c.force) for c in own)
        assert np.allclose(wrench.force, sum(c.force for c in own), rtol=0, atol=1e-9)
        # about where it was when the step began: less than 1e-10 m away
        assert np.allclose(wrench.torque, torque, rtol=0, atol=1e-7)


def test_a_body_that_others_press_on_has_the_opposite_force():
    world = tabi.World(gravity=(0, 0, -10))
    world.add_ground()
    low = world.add_box((0.4, 0.4, 0.2), 3.0, position=(0, 0, 0.1), name="low")
    high = world.add_box((0.2, 0.2, 0.2), 2.0, position=(0.05, 0, 0.3), name="high")
    sim = tabi.Simulator(world)
    sim.run(0.5)
    # the ground bears 50 N, of which 20 N are the upper box's; about the lower one's centre the
    # resultant of both is through it, as the ground's answer lies under the common centre of mass
    assert np.allclose(sim.foot_wrench(low).force, (0, 0, 30), atol=1e-6)
    assert np.allclose(sim.foot_wrench(high).force, (0, 0, 20), atol=1e-6)
    assert np.allclose(sim.foot_wrench(low).torque, 0, atol=1e-6)
    assert (sim.foot_wrench(world.fixed).force == 0).all()


def test_the_moment_of_a_contact_is_what_slows_a_spinning_ball_down():
    world = tabi.World()
    world.add_ground(friction=0.5, torsional_friction=0.01)
    ball = world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    sim = tabi.Simulator(world)
    v = np.zeros(6)
    v[5] = 20.0
    sim.set_state(sim.model.initial(), v)
    sim.step()
    before = sim.velocity(ball).angular
    sim.step()
    # I ω̇ with I = 2/5 m r²
    slowed = 0.4 * 0.01 * (sim.velocity(ball).angular - before) / sim.dt
    assert slowed[2] < -0.01
    assert np.allclose(sim.foot_wrench(ball).torque, slowed, atol=1e-9)


def test_joints_and_base_are_those_of_the_state(sim):
    (robot,) = sim.world.robots
    rows = joint_rows(sim.model, robot)
    position, velocity, effort = sim.data.joint_state(rows)
    place = sim.model.arrays.dof["q"][rows]
    assert (position == sim.state.q[place]).all()
    assert (velocity == sim.state.v[rows]).all()
    assert (effort == sim.data.outcome.effort["motor"][rows]).all()
    seen = sim.measure(robot, truth=True)
    assert (seen.position == position).all()
    # the base floats: its pose is the first of q, its velocity the first of v
    assert np.allclose(seen.base.p, sim.state.q[:3], atol=1e-12)


def test_a_frame_moves_as_its_velocity_says(sim):
    (robot,) = sim.world.robots
    saved = sim.save()
    for foot in (*robot.feet.values(), robot.body("chest")):
        X, V = sim.pose(foot), sim.velocity(foot)
        sim.step()
        after = sim.pose(foot)
        # the step moves along the velocity it ends with: the next one's beginning
        turned = (after.R @ X.R.T - np.eye(3)) / sim.dt
        mean = 0.5 * (V.angular + sim.velocity(foot).angular)
        assert np.allclose(turned[[2, 0, 1], [1, 2, 0]], mean, atol=0.05)
        speed = 0.5 * (V.linear + sim.velocity(foot).linear)
        assert np.allclose((after.p - X.p) / sim.dt, speed, atol=5e-3)
        assert np.allclose(X.R @ X.R.T, np.eye(3), atol=1e-12)
        sim.restore(saved)


def test_the_zero_moment_point_is_where_the_ground_force_has_no_moment(sim):
    (robot,) = sim.world.robots
    x, y = sim.zmp(robot)
    own = [c for c in sim.contacts if c.pressing]
    point = np.array([x, y, min(c.point[2] for c in own)])
    moment = sum(np.cross(c.point - point, c.force) for c in own)
    assert np.allclose(moment[:2], 0, atol=1e-9)


def test_senses_are_joint_states_and_the_frame_of_the_base():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), 0.1 * np.arange(sim.model.v_count))
    sim.run(0.01)
    rows, base = joint_rows(sim.model, robot), sim.names.link(robot.base)
    joints, X, V = sim.data.senses(rows, base)
    frame, twist = sim.data.frame(base)
    np.testing.assert_array_equal(joints, sim.data.joint_state(rows))
    np.testing.assert_array_equal(X.R, frame.R)
    np.testing.assert_array_equal(X.p, frame.p)
    np.testing.assert_array_equal(V.linear, twist.linear)
    np.testing.assert_array_equal(V.angular, twist.angular)
    seen = sim.measure(robot, truth=True)
    np.testing.assert_array_equal(seen.position, joints[0])
    np.testing.assert_array_equal(seen.effort, joints[2])
    # a measurement stays as it was
    sim.run(0.01)
    assert not np.array_equal(seen.position, sim.measure(robot).position)
