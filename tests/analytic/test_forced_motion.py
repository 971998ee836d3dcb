"""Closed forms of motion under springs, dampers, prescribed joints, gravity from the side,
and turned frames.
"""

import numpy as np
import pytest
from worlds import random_robot

import tabi
from tabi import dynamics
from tabi.dynamics import free, workspace
from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import from_quaternion

BOTH = pytest.mark.parametrize("order", [free.FIRST, free.SECOND])


def car(mass=1.5, **joint):
    robot = Robot("car")
    robot.add_body("rail", Joint("rail", "fixed"))
    robot.add_body(
        "car", Joint("slide", "prismatic", axis=(1, 0, 0), **joint), "rail", Inertia(mass)
    )
    return robot.compile()


@BOTH
def test_one_step_of_a_spring_and_damper_is_that_of_the_scheme(order):
    k, d, m, h, x, v = 900.0, 7.0, 1.5, 1e-2, 0.2, -0.4
    q1, v1 = dynamics.step(
        car(m, stiffness=k, damping=d, rest=0.3), [0.3 + x], [v], [0.0], h, order
    )
    if order == free.FIRST:
        # spring and damper at the end of the step
        a = -(d * v + k * (x + h * v)) / (m + h * d + h**2 * k)
        expected = x + h * (v + h * a)
    else:
        # at its middle
        a = -(d * v + k * (x + h / 2 * v)) / (m + h / 2 * d + h**2 / 4 * k)
        expected = x + h * v + h**2 / 2 * a
    assert v1[0] == pytest.approx(v + h * a, rel=1e-13)
    assert q1[0] - 0.3 == pytest.approx(expected, rel=1e-13)


@BOTH
def test_the_force_of_a_prescribed_joint_carries_its_spring_and_damper(order):
    k, d, m, h = 900.0, 7.0, 1.5, 1e-2
    model = car(m, stiffness=k, damping=d, prescribed=True)
    q, v, tau, a = np.array([0.1]), np.array([0.5]), np.zeros(1), np.array([2.0])
    work = workspace.allocate(model)
    free.prepare(model.arrays, q, v, work)
    free.step(model.arrays, q, v, tau, h, order, work, a)
    # spring and damper at the end of the step, or at its middle
    if order == free.FIRST:
        speed, stretch = 0.5 + h * 2.0, 0.1 + h * 0.5 + h**2 * 2.0
    else:
        speed, stretch = 0.5 + h / 2 * 2.0, 0.1 + h / 2 * 0.5 + h**2 / 4 * 2.0
    assert tau[0] == pytest.approx(m * 2.0 + d * speed + k * stretch, rel=1e-12)


@BOTH
def test_what_holds_a_floating_base_is_not_undone(order):
    robot = Robot("sinker")
    robot.add_body(
        "ball",
        Joint("free", "floating", damping=4.0),
        None,
        Inertia(2.0, np.zeros(3), 0.1 * np.eye(3)),
    )
    world = tabi.World(gravity=(0, 0, 0))
    world.add_robot(robot)
    model = world.compile()
    q, v = model.neutral(), np.array([1.0, 0, 0, 0, 0, 0])
    for _ in range(500):
        q, v = dynamics.step(model, q, v, np.zeros(6), 1e-3, order)
    # v = exp(−d t/m); the first order is off by h d/2m of it
    assert v[0] == pytest.approx(np.exp(-1.0), abs=1e-3)
    # an armature as heavy as the ball halves its fall
    robot.base.joint.damping, robot.base.joint.armature = 0.0, 2.0
    model = robot.compile()
    _, v = dynamics.step(model, model.neutral(), np.zeros(6), np.zeros(6), 1e-3, order)
    assert v[2] == pytest.approx(-9.81e-3 / 2, rel=1e-12)


@BOTH
def test_a_floating_base_in_a_turned_joint_frame_flies_as_any_other(order):
    straight, turned = random_robot(9, 6), random_robot(9, 6)
    X = from_quaternion((0.5, 0.1, -0.7, 0.3), (1.0, 2.0, 3.0))
    turned.base.joint.placement = X
    one, two = straight.compile(), turned.compile()
    rng = np.random.default_rng(0)
    q = dynamics.integrate(one, one.neutral(), rng.normal(size=one.v_count), 1.0)
    v = rng.normal(size=one.v_count)
    tau = rng.normal(size=one.v_count)
    # the same state and forces told in the axes of the turned frame
    q2, v2, tau2, back = q.copy(), v.copy(), tau.copy(), X.inverse()
    q2[:3], q2[3:7] = back @ q[:3], (back @ from_quaternion(q[3:7])).quaternion
    for part in (slice(0, 3), slice(3, 6)):
        v2[part], tau2[part] = X.R.T @ v[part], X.R.T @ tau[part]
    for _ in range(20):
        q, v = dynamics.step(one, q, v, tau, 1e-2, order)
        q2, v2 = dynamics.step(two, q2, v2, tau2, 1e-2, order)
    assert np.allclose(X @ q2[:3], q[:3], atol=1e-11)
    assert np.allclose(X.R @ v2[:3], v[:3], atol=1e-10)
    assert np.allclose(X.R @ v2[3:6], v[3:6], atol=1e-10)
    assert np.allclose(v2[6:], v[6:], atol=1e-10)


def test_a_prescribed_base_is_not_corrected():
    robot = random_robot(5, 5)
    model = robot.compile()
    model.set_joint(robot.name, prescribed=1)
    v, a = np.zeros(model.v_count), np.zeros(model.v_count)
    v[6:], a[:3] = 1.0, (1.0, 2.0, 3.0)
    q1, v1 = dynamics.step(model, model.neutral(), v, np.zeros(model.v_count), 1e-2, a=a)
    assert np.allclose(v1[:6], (0.01, 0.02, 0.03, 0, 0, 0), atol=1e-16)
    assert np.allclose(q1[:3], (1e-4, 2e-4, 3e-4), atol=1e-16)


def test_a_prescribed_follower_goes_its_own_way():
    robot = random_robot(11, kinds=("revolute", "prismatic"))
    robot.joint("joint3").mimic = Mimic("joint1", -0.5, 0.3)
    robot.joint("joint3").prescribed = True
    model = robot.compile()
    q, v, a = model.initial(), np.zeros(model.v_count), np.zeros(model.v_count)
    q[model.q_index("joint3")] = 1.0
    a[model.v_index("joint3")] = 4.0
    q1, _ = dynamics.step(model, q, v, np.zeros(model.v_count), 1e-2, a=a)
    assert q1[model.q_index("joint3")] == pytest.approx(1.0 + 4.0 * 1e-4, abs=1e-15)


def test_a_leader_and_a_follower_both_prescribed_obey_whoever_prescribes_them():
    robot = random_robot(11, kinds=("revolute", "prismatic"))
    robot.joint("joint3").mimic = Mimic("joint1", -0.5, 0.0)
    for name in ("joint1", "joint3"):
        robot.joint(name).prescribed = True
    model = robot.compile()
    a, zero = np.zeros(model.v_count), np.zeros(model.v_count)
    a[model.v_index("joint1")], a[model.v_index("joint3")] = 1.0, 7.0
    _, v = dynamics.step(model, model.initial(), zero, zero, 1e-2, a=a)
    assert v[model.v_index("joint1")] == pytest.approx(0.01)
    assert v[model.v_index("joint3")] == pytest.approx(0.07)


@pytest.mark.parametrize("gravity", [(3.0, 0.0, 0.0), (0.0, -2.0, 0.0), (1.0, 2.0, -9.0)])
def test_everything_falls_along_gravity(gravity):
    world = tabi.World(gravity=gravity)
    robot = world.add_robot(random_robot(2, 6))
    world.add_sphere(0.1, 1.0)
    model = world.compile()
    zero = np.zeros(model.v_count)
    a = dynamics.forward_dynamics(model, model.neutral(), zero, zero)
    for name in (robot.name, "sphere"):
        k = model.v_index(name)
        assert np.allclose(a[k : k + 3], gravity, atol=1e-12)
    # moving along gravity costs potential energy
    q, k = model.neutral(), model.q_index("sphere")
    before = dynamics.energy(model, q, zero).potential
    q[k : k + 3] += gravity
    assert dynamics.energy(model, q, zero).potential - before == pytest.approx(
        -np.dot(gravity, gravity)
    )


def test_two_bodies_passing_each_other_have_spin_about_their_common_centre():
    world = tabi.World(gravity=(0, 0, 0))
    for y, name in ((0.5, "one"), (-0.5, "two")):
        world.add_sphere(0.1, 2.0, position=(0, y, 0), name=name)
    model = world.compile()
    v = np.zeros(12)
    v[model.v_index("one")], v[model.v_index("two")] = 3.0, -3.0
    momentum = dynamics.momentum(model, model.initial(), v)
    assert np.allclose(momentum.linear, 0)
    # Σ r × m v = −2 · 0.5 · 2 · 3 about z
    assert np.allclose(momentum.angular, (0, 0, -6.0))
