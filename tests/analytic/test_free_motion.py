"""Closed forms of free motion."""

import itertools

import numpy as np
import pytest
from worlds import random_robot

import tabi
from tabi import dynamics
from tabi.dynamics import centroidal, free, workspace
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation


def simulate(model, q, v, seconds, h, order):
    """The state after a time, and the largest relative change of total energy on the way."""
    work, a, tau = workspace.allocate(model), np.zeros(model.v_count), np.zeros(model.v_count)
    q, v = q.copy(), v.copy()
    free.prepare(model.arrays, q, v, work)

    def total():
        return centroidal.kinetic_energy(model.arrays, v, work) + centroidal.potential_energy(
            model.arrays, q, work
        )

    start, worst = total(), 0.0
    for _ in range(round(seconds / h)):
        assert free.step(model.arrays, q, v, tau, h, order, work, a) == 0
        worst = max(worst, abs(total() - start))
    return q, v, worst


@pytest.fixture(scope="module")
def tumbling():
    """HRP-2 in space, every joint swinging at about 1 rad/s, nothing that brakes."""
    world = tabi.World(gravity=(0, 0, 0))
    world.add_robot(tabi.robots.hrp2())
    model = world.compile()
    model.arrays.dof["damping"] = 0.0
    return model, model.neutral(), np.random.default_rng(1).normal(size=model.v_count)


@pytest.mark.parametrize(("order", "bound"), [(free.FIRST, 2e-2), (free.SECOND, 1e-6)])
def test_tumbling_hrp2_keeps_its_energy_for_ten_seconds(tumbling, order, bound):
    model, q, v = tumbling
    assert (
        simulate(model, q, v, 10.0, 1e-3, order)[2] < bound * dynamics.energy(model, q, v).kinetic
    )


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_the_energy_error_falls_with_the_order_of_the_scheme(tumbling, order):
    model, q, v = tumbling
    # one second: long enough to swing, short enough that no step size leaves the others' trajectory
    errors = [simulate(model, q, v, 1.0, h, order)[2] for h in (4e-3, 2e-3, 1e-3)]
    slopes = np.diff(np.log(errors)) / np.log(0.5)
    assert slopes == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_tumbling_hrp2_keeps_its_momentum_to_rounding(tumbling, order):
    model, q, v = tumbling
    before = dynamics.momentum(model, q, v)
    q1, v1, _ = simulate(model, q, v, 10.0, 1e-3, order)
    after = dynamics.momentum(model, q1, v1)
    assert np.linalg.norm(after.linear - before.linear) < 1e-12 * np.linalg.norm(before.linear)
    assert np.linalg.norm(after.angular - before.angular) < 1e-12 * np.linalg.norm(before.angular)


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_state_converges_with_the_order_of_the_scheme(tumbling, order):
    model, q, v = tumbling
    ends = [simulate(model, q, v, 0.24, h, order)[0] for h in (4e-3, 2e-3, 1e-3, 5e-4)]
    changes = [np.linalg.norm(b - a) for a, b in itertools.pairwise(ends)]
    assert np.log2(changes[0] / changes[1]) == pytest.approx(order, abs=0.2)
    assert np.log2(changes[1] / changes[2]) == pytest.approx(order, abs=0.2)


def test_falling_hrp2_loses_half_m_g_squared_h_t():
    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    model = world.compile()
    g, h, t = 9.81, 1e-3, 1.0
    q, v = model.neutral(), np.zeros(model.v_count)
    before = dynamics.energy(model, q, v).total
    q1, v1, _ = simulate(model, q, v, t, h, free.FIRST)
    loss = dynamics.energy(model, q1, v1).total - before
    assert loss == pytest.approx(-model.mass * g**2 * h * t / 2, rel=1e-9)
    _q2, _v2, worst = simulate(model, q, v, t, h, free.SECOND)
    # the parabola is integrated exactly; rounding of a kinetic energy of 2.8 kJ in 1,000 steps
    assert worst < 1e-9 * 0.5 * model.mass * (g * t) ** 2


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_a_swinging_robot_in_flight_falls_along_the_parabola_of_its_scheme(order):
    model = random_robot(3).compile()
    rng = np.random.default_rng(0)
    q = dynamics.integrate(model, model.neutral(), rng.normal(size=model.v_count), 1.0)
    v = rng.normal(size=model.v_count)
    c, P = dynamics.centre_of_mass(model, q), dynamics.momentum(model, q, v).linear
    h, n = 1e-3, 500
    q1, v1, _ = simulate(model, q, v, n * h, h, order)
    g = np.array([0, 0, -9.81])
    # Σ h v_k: n(n+1)/2 g h² for the first order, n²/2 g h² for the second
    fall = g * h**2 * (n * (n + 1) / 2 if order == free.FIRST else n**2 / 2)
    assert np.allclose(
        dynamics.centre_of_mass(model, q1), c + n * h * P / model.mass + fall, atol=1e-11
    )
    assert np.allclose(
        dynamics.momentum(model, q1, v1).linear, P + model.mass * g * n * h, atol=1e-10
    )


def pendulum(length=0.5, mass=2.0, **joint):
    robot = Robot("pendulum")
    robot.add_body("post", Joint("post", "fixed"))
    inertia = Inertia(mass, np.array([0, 0, -length]), np.zeros((3, 3)))
    robot.add_body(
        "bob",
        Joint("pivot", "revolute", translation((0, 0, 2)), (0, 1, 0), **joint),
        "post",
        inertia,
    )
    return robot.compile()


def test_pendulum_accelerates_with_g_over_l_sin():
    model = pendulum(0.5)
    for angle in (0.1, 1.0, -2.5):
        a = dynamics.forward_dynamics(model, [angle], [0.0], [0.0])
        assert a[0] == pytest.approx(-9.81 / 0.5 * np.sin(angle), rel=1e-14)


def test_small_swings_have_the_period_of_a_mathematical_pendulum():
    model = pendulum(0.5)
    period = 2 * np.pi * np.sqrt(0.5 / 9.81)
    q, _, _ = simulate(
        model, np.array([1e-4]), np.array([0.0]), 100 * period, period / 2000, free.SECOND
    )
    # phase error of a symmetric second-order scheme: (ω h)²/24 per radian
    assert q[0] == pytest.approx(
        1e-4, abs=1e-4 * (200 * np.pi * (2 * np.pi / 2000) ** 2 / 24) ** 2 + 1e-10
    )


def test_a_rotor_adds_its_inertia_times_gear_squared():
    from tabi.model.joint import Motor

    model = pendulum(0.5, 2.0, motor=Motor(rotor_inertia=1e-4, gear_ratio=50.0))
    a = dynamics.forward_dynamics(model, [np.pi / 2], [0.0], [0.0])
    assert a[0] == pytest.approx(-2.0 * 9.81 * 0.5 / (2.0 * 0.25 + 1e-4 * 2500), rel=1e-14)


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_a_damper_stops_a_slide_exponentially(order):
    robot = Robot("slider")
    robot.add_body("rail", Joint("rail", "fixed"))
    robot.add_body(
        "car", Joint("slide", "prismatic", axis=(1, 0, 0), damping=3.0), "rail", Inertia(1.5)
    )
    model = robot.compile()
    errors = []
    for h in (2e-3, 1e-3):
        _, v, _ = simulate(model, np.zeros(1), np.ones(1), 0.5, h, order)
        errors.append(abs(v[0] - np.exp(-3.0 / 1.5 * 0.5)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_a_spring_far_too_stiff_for_the_step_stays_bounded(order):
    robot = Robot("spring")
    robot.add_body("rail", Joint("rail", "fixed"))
    robot.add_body(
        "car",
        Joint("slide", "prismatic", axis=(1, 0, 0), stiffness=1e7, rest=0.3),
        "rail",
        Inertia(1.0),
    )
    model = robot.compile()
    # ω h = 3.2: an explicit scheme explodes
    q, _v, _ = simulate(model, np.array([0.31]), np.zeros(1), 1.0, 1e-3, order)
    assert abs(q[0] - 0.3) <= 0.0101


def test_a_spring_swings_with_root_k_over_m():
    robot = Robot("spring")
    robot.add_body("rail", Joint("rail", "fixed"))
    robot.add_body(
        "car",
        Joint("slide", "prismatic", axis=(1, 0, 0), stiffness=80.0, rest=0.3),
        "rail",
        Inertia(2.0),
    )
    model = robot.compile()
    q, v, worst = simulate(model, np.array([0.4]), np.zeros(1), 0.7, 1e-4, free.SECOND)
    omega = np.sqrt(80.0 / 2.0)
    assert q[0] == pytest.approx(0.3 + 0.1 * np.cos(omega * 0.7), abs=1e-6)
    assert v[0] == pytest.approx(-0.1 * omega * np.sin(omega * 0.7), abs=1e-6)
    assert worst < 1e-6 * 0.5 * 80 * 0.01


def test_a_spinning_book_precesses_as_euler_says():
    world = tabi.World(gravity=(0, 0, 0))
    world.add_box((0.3, 0.2, 0.05), mass=1.0)
    model = world.compile()
    omega = np.array([0.3, 2.0, 0.1])
    a = dynamics.forward_dynamics(
        model, model.neutral(), np.concatenate([np.zeros(3), omega]), np.zeros(6)
    )
    I = np.array([0.2**2 + 0.05**2, 0.3**2 + 0.05**2, 0.3**2 + 0.2**2]) / 12
    assert np.allclose(a[3:], -np.cross(omega, I * omega) / I, rtol=1e-13)


@pytest.mark.parametrize("order", [free.FIRST, free.SECOND])
def test_a_force_on_the_base_changes_momentum_by_its_impulse(order):
    world = tabi.World(gravity=(0, 0, 0))
    world.add_robot(random_robot(9))
    model = world.compile()
    rng = np.random.default_rng(4)
    q, v, tau = model.neutral(), rng.normal(size=model.v_count), np.zeros(model.v_count)
    tau[:6] = (3.0, -1.0, 2.0, 0.4, 0.5, -0.6)
    h = 1e-3
    c, before = dynamics.centre_of_mass(model, q), dynamics.momentum(model, q, v)
    arm = q[:3] - c
    q1, v1 = dynamics.step(model, q, v, tau, h, order)
    after = dynamics.momentum(model, q1, v1)
    assert np.allclose(after.linear - before.linear, h * tau[:3], atol=1e-13)
    assert np.allclose(
        after.angular - before.angular, h * (tau[3:6] + np.cross(arm, tau[:3])), atol=1e-13
    )


def test_a_prescribed_base_carries_its_robot_and_reports_the_force():
    robot = Robot("lift")
    robot.add_body("shaft", Joint("shaft", "fixed"))
    robot.add_body(
        "cabin", Joint("lift", "prismatic", axis=(0, 0, 1), prescribed=True), "shaft", Inertia(10.0)
    )
    model = robot.compile()
    work = workspace.allocate(model)
    q, v, tau, a = np.zeros(1), np.zeros(1), np.zeros(1), np.array([2.0])
    free.prepare(model.arrays, q, v, work)
    for _ in range(100):
        free.step(model.arrays, q, v, tau, 1e-2, free.SECOND, work, a)
    assert v[0] == pytest.approx(2.0, rel=1e-12)
    assert q[0] == pytest.approx(0.5 * 2.0, rel=1e-12)
    assert tau[0] == pytest.approx(10.0 * (9.81 + 2.0), rel=1e-12)


def test_a_prescribed_joint_can_be_stepped_from_python():
    robot = Robot("lift")
    robot.add_body("shaft", Joint("shaft", "fixed"))
    robot.add_body(
        "cabin", Joint("lift", "prismatic", axis=(0, 0, 1), prescribed=True), "shaft", Inertia(10.0)
    )
    model = robot.compile()
    q, v = dynamics.step(model, [0.0], [1.0], [0.0], 0.1, order=2, a=[2.0])
    assert (q[0], v[0]) == pytest.approx((0.1 + 0.5 * 2.0 * 0.01, 1.2))
