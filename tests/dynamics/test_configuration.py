"""Quantities of a configuration: laws on random trees, and on several things in one world."""

import numpy as np
import pytest
from worlds import random_robot, random_state, relative

import tabi
from tabi import dynamics
from tabi.dynamics import Configuration
from tabi.spatial.twist import Twist

SEEDS = range(4)
# float64 rounding through a dozen bodies
ROUNDING = 1e-12
# central differences over 1e-6: truncation 1e-12, rounding 1e-10, times velocities of some ten
DIFFERENCES = 1e-7


@pytest.fixture(params=SEEDS)
def case(request):
    robot = random_robot(request.param, base="fixed" if request.param == 0 else "floating")
    c = Configuration(robot)
    rng = np.random.default_rng(50 + request.param)
    c.update(*random_state(c.model, rng))
    return c, rng


def moved(c, h):
    """The same robot a moment later, with the same velocity."""
    return Configuration(c.model, dynamics.integrate(c.model, c.q, c.v, h), c.v)


def test_a_jacobian_times_v_is_the_velocity_of_the_point(case):
    c, rng = case
    moving = [name for name in list(c.model.links)[1:] if c.model.link(name).body != 0]
    assert len({c.model.link(name).body for name in moving}) == c.model.body_count > 0
    for name in moving:
        point = rng.normal(size=3)
        J, twist = c.jacobian(name, point), c.velocity(name)
        arm = c.pose(name).R @ point
        v = np.concatenate([twist.linear + np.cross(twist.angular, arm), twist.angular])
        assert relative(J @ c.v, v) < ROUNDING


def test_a_jacobian_bias_is_the_acceleration_at_rest_of_the_joints(case):
    c, rng = case
    point, h = rng.normal(size=3), 1e-6
    later, before = (moved(c, s) for s in (h, -h))
    largest = 0.0
    for name in c.model.links:
        rate = (later.jacobian(name, point) @ c.v - before.jacobian(name, point) @ c.v) / (2 * h)
        bias = np.concatenate(c.jacobian_bias(name, point))
        assert np.linalg.norm(bias - rate) < DIFFERENCES * max(1.0, np.linalg.norm(rate))
        largest = max(largest, np.linalg.norm(rate))
    assert largest > 1.0


def test_the_momentum_matrix_times_v_is_the_momentum(case):
    c, _ = case
    momentum = c.momentum()
    assert relative(c.momentum_matrix() @ c.v, np.concatenate(momentum)) < ROUNDING
    theirs = dynamics.momentum(c.model, c.q, c.v)
    assert relative(np.concatenate(momentum), np.concatenate(theirs)) < ROUNDING


def test_the_momentum_bias_is_the_rate_of_the_momentum(case):
    c, _ = case
    h = 1e-6
    later, before = (np.concatenate(moved(c, s).momentum()) for s in (h, -h))
    assert relative(np.concatenate(c.momentum_bias()), (later - before) / (2 * h)) < DIFFERENCES


def test_the_centre_of_mass_moves_as_its_jacobian_says(case):
    c, _ = case
    h = 1e-6
    later, before = (moved(c, s).centre_of_mass() for s in (h, -h))
    assert relative(c.centre_of_mass_velocity(), (later - before) / (2 * h)) < DIFFERENCES
    assert relative(c.centre_of_mass_jacobian() @ c.v, c.centre_of_mass_velocity()) < ROUNDING


def test_joint_forces_are_those_of_inverse_dynamics(case):
    c, rng = case
    a, rest = rng.normal(size=c.model.v_count), np.zeros(c.model.v_count)
    tau = dynamics.inverse_dynamics(c.model, c.q, c.v, a)
    assert relative(c.inverse_dynamics(a), tau) < ROUNDING
    assert relative(c.mass_matrix() @ a + c.bias_forces(), tau) < ROUNDING
    still = dynamics.inverse_dynamics(c.model, c.q, rest, rest)
    assert relative(c.gravity_forces(), still) < ROUNDING


def two_things():
    world = tabi.World()
    first, second = world.add_robot(random_robot(1)), world.add_robot(random_robot(2))
    box = world.add_box(size=(0.1, 0.2, 0.3), mass=2.0)
    return world, first, second, box


def test_what_is_asked_of_one_robot_does_not_see_the_others():
    world, first, second, box = two_things()
    c, rng = Configuration(world), np.random.default_rng(3)
    q, v = random_state(c.model, rng)
    c.update(q, v)
    for thing in (first, second):
        alone = Configuration(thing, q[c.q_slice(thing)], v[c.v_slice(thing)])
        link = f"{thing.name}/body5"
        assert np.array_equal(c.mass_matrix(thing), alone.mass_matrix())
        assert np.array_equal(c.jacobian(link), alone.jacobian("body5"))
        for ask in (
            "centre_of_mass",
            "centre_of_mass_velocity",
            "centre_of_mass_jacobian",
            "momentum_matrix",
            "momentum",
            "momentum_bias",
            "bias_forces",
            "gravity_forces",
        ):
            ours, theirs = getattr(c, ask)(thing), getattr(alone, ask)()
            assert relative(ours, np.array(theirs)) < ROUNDING, ask
        a = rng.normal(size=alone.model.v_count)
        assert relative(c.inverse_dynamics(a, thing), alone.inverse_dynamics(a)) < ROUNDING
    assert np.allclose(c.mass_matrix(box)[:3, :3], 2.0 * np.eye(3))
    # all together: blocks, and the centre of masses
    M, spans = c.mass_matrix(), [c.v_slice(thing) for thing in (first, second, box)]
    assert [s.start for s in spans[1:]] == [s.stop for s in spans[:-1]]
    for thing, span in zip((first, second, box), spans, strict=True):
        assert np.array_equal(M[span, span], c.mass_matrix(thing))
    masses = [first.mass, second.mass, 2.0]
    centres = [c.centre_of_mass(thing) for thing in (first, second, box)]
    assert np.allclose(c.centre_of_mass(), np.average(centres, axis=0, weights=masses))


def test_a_bolted_robot_of_several_trees_has_one_centre_of_mass():
    robot = random_robot(0, base="fixed")
    c = Configuration(robot)
    assert len(c.model.root_names) > 1
    rows = c.model.arrays.body
    points = [c.position(name) for name, link in c.model.links.items() if link.body]
    assert c.centre_of_mass(robot).shape == (3,)
    assert np.allclose(c.centre_of_mass(robot), c.centre_of_mass())
    assert len(points) > len(rows) / 2


def test_arrays_may_be_handed_in():
    c = Configuration(tabi.robots.hrp2())
    for ask, arguments in (
        (c.jacobian, ("left",)),
        (c.mass_matrix, ()),
        (c.momentum_matrix, ()),
        (c.centre_of_mass_jacobian, ()),
    ):
        wanted = ask(*arguments)
        out = np.full(wanted.shape, np.nan)
        assert ask(*arguments, out=out) is out
        assert np.array_equal(out, wanted)
        with pytest.raises(tabi.ModelError, match=r"out has shape .* expected"):
            ask(*arguments, out=np.zeros((2, 2)))


def test_joints_and_base_are_set_as_they_are_measured():
    robot = tabi.robots.hrp2()
    c, rng = Configuration(robot), np.random.default_rng(1)
    q, v = random_state(c.model, rng)
    whole = Configuration(robot, q, v)
    at = [c.model.q_index(name) for name in robot.joint_names]
    rows = [c.model.v_index(name) for name in robot.joint_names]
    c.set_joints(q[at], v[rows], whole.pose(robot.base), whole.velocity(robot.base))
    assert np.allclose(c.q, q, atol=ROUNDING)
    assert np.array_equal(c.v, v)
    c.set_joints({"RLEG_KNEE_P": 0.5})
    assert c.q[c.model.q_index("RLEG_KNEE_P")] == 0.5
    others = np.arange(37) != c.model.q_index("RLEG_KNEE_P")
    assert np.allclose(c.q[others], q[others], atol=ROUNDING)
    assert not c.v[6:].any()


def test_q_and_v_are_copies():
    c = Configuration(tabi.robots.hrp2())
    before = c.q
    before[:3] = 9.0
    c.v[:] = 9.0
    assert not np.array_equal(c.q, before)
    assert not c.v.any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: c.jacobian("no such body"), "body 'no such body' not found"),
        (lambda c: c.jacobian("left", (1, 2)), "point of 'left' is .* expected x, y, z in metres"),
        (lambda c: c.jacobian("left", (1, 2, np.nan)), "expected x, y, z in metres"),
        (lambda c: c.mass_matrix("hrp3"), "robot or object 'hrp3' not found"),
        (lambda c: c.mass_matrix(7), "7 is nothing with a name"),
        (lambda c: c.mass_matrix([7]), r"\[7\] is nothing with a name"),
        (lambda c: c.v_slice("KNEE"), "robot, object or joint 'KNEE' not found"),
        (lambda c: c.update(np.zeros(3)), r"q has shape \(3,\); expected \(37,\)"),
        (lambda c: c.update(np.full(37, np.nan), c.v), r"q\[0\] .* is nan"),
        (lambda c: c.update(c.q, np.full(36, np.inf)), r"v\[0\] .* is inf"),
        (lambda c: c.inverse_dynamics(np.zeros(3)), r"a has shape \(3,\); expected \(36,\)"),
        (lambda c: c.inverse_dynamics(np.full(36, np.nan)), "a is nan somewhere"),
        (lambda c: c.set_joints(np.zeros(3)), r"position has shape \(3,\); expected \(30,\)"),
        (lambda c: c.set_joints({"KNEE": 1.0}), "joint 'KNEE' not found in hrp2"),
        (lambda c: c.set_joints(np.full(30, np.nan)), "is nan; expected a finite number"),
        (lambda c: Configuration(c.model).set_joints(0.0), "make it from the robot"),
        (lambda c: Configuration(7), "model is int; expected a compiled model, a robot or a world"),
    ],
)  # fmt: skip
def test_faults_are_named(call, words):
    c = Configuration(tabi.robots.hrp2())
    before = c.q, c.v
    with pytest.raises(tabi.ModelError, match=words):
        call(c)
    assert np.array_equal(c.q, before[0])
    assert np.array_equal(c.v, before[1])


def test_a_base_that_is_bolted_down_has_no_pose_to_set():
    c = Configuration(random_robot(0, base="fixed"))
    with pytest.raises(tabi.ModelError, match="bolted down"):
        c.set_joints(0.0, base=tabi.Transform())
    with pytest.raises(tabi.ModelError, match="bolted down"):
        c.set_joints(0.0, base_velocity=Twist(np.zeros(3), np.zeros(3)))
    assert "bodies" in repr(c)
