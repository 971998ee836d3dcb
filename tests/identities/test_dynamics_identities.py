"""Laws every dynamics algorithm obeys, on random trees of every kind of joint."""

import numpy as np
import pytest
from worlds import random_robot, random_state, relative

from tabi import dynamics
from tabi.dynamics import forward, free, workspace
from tabi.model.joint import Mimic

SEEDS = range(6)
# float64 rounding through some thirty bodies and a condition number of the mass matrix near 1e3
ROUNDING = 1e-11


@pytest.fixture(params=SEEDS)
def case(request):
    robot = random_robot(request.param, base="fixed" if request.param == 0 else "floating")
    model = robot.compile()
    rng = np.random.default_rng(100 + request.param)
    return model, *random_state(model, rng), rng


def test_forward_dynamics_undoes_inverse_dynamics(case):
    model, q, v, rng = case
    a = rng.normal(size=model.v_count)
    assert (
        relative(
            dynamics.forward_dynamics(model, q, v, dynamics.inverse_dynamics(model, q, v, a)), a
        )
        < ROUNDING
    )


def test_mass_matrix_is_the_derivative_of_inverse_dynamics(case):
    model, q, v, _rng = case
    bias = dynamics.inverse_dynamics(model, q, v, np.zeros(model.v_count))
    columns = [dynamics.inverse_dynamics(model, q, v, e) - bias for e in np.eye(model.v_count)]
    assert relative(np.transpose(columns), dynamics.mass_matrix(model, q)) < ROUNDING


def test_mass_matrix_is_symmetric_and_positive(case):
    model, q, _, _ = case
    M = dynamics.mass_matrix(model, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0


def test_kinetic_energy_is_half_v_M_v(case):
    model, q, v, _ = case
    assert dynamics.energy(model, q, v).kinetic == pytest.approx(
        0.5 * v @ dynamics.mass_matrix(model, q) @ v, rel=ROUNDING
    )


def test_power_of_joint_forces_is_the_rate_of_energy(case):
    model, q, v, rng = case
    tau = rng.normal(size=model.v_count)
    a = dynamics.forward_dynamics(model, q, v, tau)
    # central difference along the motion: error of order e², cancellation of order 1e-16/e
    e = 1e-5
    ends = [
        dynamics.energy(model, dynamics.integrate(model, q, v + 0.5 * s * a, s), v + s * a).total
        for s in (-e, e)
    ]
    scale = max(abs(tau @ v), abs(ends[0]))
    assert (ends[1] - ends[0]) / (2 * e) == pytest.approx(tau @ v, abs=1e-7 * scale)


def test_jacobian_times_velocity_is_the_frame_velocity(case):
    model, q, v, _ = case
    assert len(model.links) > model.body_count > 0
    for name in list(model.links)[1:]:
        twist, J = dynamics.velocity(model, q, v, name), dynamics.point_jacobian(model, q, name)
        assert np.allclose(J @ v, np.concatenate(twist), atol=1e-12)


def test_frame_velocity_is_the_rate_of_its_pose(case):
    model, q, v, _ = case
    e, name = 1e-6, list(model.links)[-1]
    before, after = (
        dynamics.pose(model, dynamics.integrate(model, q, v, s), name) for s in (-e, e)
    )
    twist = dynamics.velocity(model, q, v, name)
    assert np.allclose((after.p - before.p) / (2 * e), twist.linear, atol=1e-8)
    spin = (after.R - before.R) @ dynamics.pose(model, q, name).R.T / (2 * e)
    assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], twist.angular, atol=1e-8)


def test_frame_acceleration_is_J_a_plus_bias_and_the_rate_of_velocity(case):
    model, q, v, rng = case
    a, e = rng.normal(size=model.v_count), 1e-6
    name = list(model.links)[-1]
    acceleration = np.concatenate(dynamics.acceleration(model, q, v, a, name))
    bias = np.concatenate(dynamics.jacobian_bias(model, q, v, name))
    assert np.allclose(dynamics.point_jacobian(model, q, name) @ a + bias, acceleration, atol=1e-11)
    ends = [
        np.concatenate(
            dynamics.velocity(model, dynamics.integrate(model, q, v, s), v + s * a, name)
        )
        for s in (-e, e)
    ]
    assert np.allclose((ends[1] - ends[0]) / (2 * e), acceleration, atol=1e-7)


def test_momentum_is_mass_times_velocity_of_the_centre(case):
    model, q, v, _ = case
    e = 1e-6
    ends = [dynamics.centre_of_mass(model, dynamics.integrate(model, q, v, s)) for s in (-e, e)]
    mass = sum(link_mass for link_mass in model.arrays.body["mass"][1:])
    assert np.allclose(
        mass * (ends[1] - ends[0]) / (2 * e), dynamics.momentum(model, q, v).linear, atol=1e-7
    )


def test_a_prescribed_joint_moves_as_told_and_its_force_is_that_of_inverse_dynamics(case):
    model, q, v, rng = case
    model.arrays.dof["prescribed"][:] = rng.random(model.v_count) < 0.4
    told = model.arrays.dof["prescribed"] == 1
    a, tau = np.where(told, rng.normal(size=model.v_count), 0.0), rng.normal(size=model.v_count)
    work, force = workspace.allocate(model), tau.copy()
    wanted = a.copy()
    forward.forward_dynamics(model.arrays, q, v, force, work, a)
    assert np.array_equal(a[told], wanted[told])
    assert np.array_equal(force[~told], tau[~told])
    assert relative(dynamics.inverse_dynamics(model, q, v, a), force) < ROUNDING


def test_following_joints_move_like_the_reduced_system():
    robot = random_robot(11, kinds=("revolute", "prismatic"))
    robot.joint("joint3").mimic = Mimic("joint1", -0.7, 0.1)
    robot.joint("joint5").mimic = Mimic("joint2", 2.0, 0.0)
    robot.joint("joint6").mimic = Mimic("joint1", 0.5, 0.0)
    model = robot.compile()
    rng = np.random.default_rng(5)
    q, v = random_state(model, rng)
    tau = rng.normal(size=model.v_count)
    # v = G y with the followers' rows replaced: Gᵀ M G ÿ = Gᵀ (τ − b)
    G = np.eye(model.v_count)
    for row in model.arrays.mimic:
        G[row["follower"]] = row["ratio"] * G[row["leader"]]
    kept = [k for k in range(model.v_count) if k not in model.arrays.mimic["follower"]]
    G = G[:, kept]
    v = G @ v[kept]
    bias = dynamics.inverse_dynamics(model, q, v, np.zeros(model.v_count))
    reduced = np.linalg.solve(G.T @ dynamics.mass_matrix(model, q) @ G, G.T @ (tau - bias))
    assert relative(dynamics.forward_dynamics(model, q, v, tau), G @ reduced) < ROUNDING


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_followers_stay_with_their_leaders_through_steps(order):
    robot = random_robot(12, kinds=("revolute", "spherical"))
    one, two = [b.joint.name for b in robot.bodies[1:] if b.joint.kind == "revolute"][:2]
    robot.joint(two).mimic = Mimic(one, -1.5, 0.2)
    model = robot.compile()
    q, v = model.neutral(), np.random.default_rng(3).normal(size=model.v_count)
    q[model.q_index(two)] = 0.2
    v[model.v_index(two)] = -1.5 * v[model.v_index(one)]
    for _ in range(50):
        q, v = dynamics.step(model, q, v, np.zeros(model.v_count), 1e-3, order)
    assert q[model.q_index(two)] == pytest.approx(-1.5 * q[model.q_index(one)] + 0.2, abs=1e-15)
    assert v[model.v_index(two)] == pytest.approx(-1.5 * v[model.v_index(one)], abs=1e-13)


def test_the_world_does_not_care_where_it_is():
    robot = random_robot(4)
    model = robot.compile()
    rng = np.random.default_rng(8)
    q, v = random_state(model, rng)
    tau = np.zeros(model.v_count)
    tau[6:] = rng.normal(size=model.v_count - 6)
    far = q.copy()
    far[:3] += (1e4, -2e4, 5e3)
    # all sums are taken about the tree's own origin, so distance costs nothing
    assert (
        relative(
            dynamics.forward_dynamics(model, far, v, tau),
            dynamics.forward_dynamics(model, q, v, tau),
        )
        < 1e-14
    )


def test_robots_in_one_world_move_as_they_do_alone():
    import tabi

    world, rng = tabi.World(), np.random.default_rng(2)
    robots = [random_robot(20, 5), random_robot(21, 7)]
    for robot in robots:
        world.add_robot(robot)
    world.add_box((0.1, 0.2, 0.3), mass=2.0)
    model = world.compile()
    q, v = random_state(model, rng)
    tau = rng.normal(size=model.v_count)
    a = dynamics.forward_dynamics(model, q, v, tau)
    iq = iv = 0
    for robot in robots:
        alone = robot.compile()
        rows, columns = slice(iq, iq + alone.q_count), slice(iv, iv + alone.v_count)
        assert (
            relative(
                dynamics.forward_dynamics(alone, q[rows], v[columns], tau[columns]), a[columns]
            )
            < 1e-14
        )
        iq, iv = iq + alone.q_count, iv + alone.v_count


@pytest.mark.parametrize("told", ["joint1", "joint3"])
def test_a_prescribed_leader_or_follower_drives_the_other(told):
    robot = random_robot(11, kinds=("revolute", "prismatic"))
    robot.joint("joint3").mimic = Mimic("joint1", -0.5, 0.0)
    robot.joint(told).prescribed = True
    model = robot.compile()
    rng = np.random.default_rng(6)
    q, v = random_state(model, rng)
    leader, follower, k = model.v_index("joint1"), model.v_index("joint3"), model.v_index(told)
    v[follower] = -0.5 * v[leader]
    a, tau = np.zeros(model.v_count), rng.normal(size=model.v_count)
    a[k] = 1.3
    given, force = tau.copy(), tau.copy()
    forward.forward_dynamics(model.arrays, q, v, force, workspace.allocate(model), a)
    assert a[k] == 1.3
    assert a[follower] == pytest.approx(-0.5 * a[leader], rel=1e-12)
    # what remains after the joint forces is the force of the coupling, which does no work along it
    left = dynamics.inverse_dynamics(model, q, v, a) - np.where(
        np.arange(model.v_count) == k, force, given
    )
    coupling = np.zeros(model.v_count)
    coupling[follower], coupling[leader] = 1.0, 0.5
    assert np.allclose(
        left, (left @ coupling) / (coupling @ coupling) * coupling, atol=1e-10 * np.abs(tau).max()
    )
