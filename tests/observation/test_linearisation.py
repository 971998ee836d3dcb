"""A and B of a step: closed forms, and differences of steps that are solved, feature by feature."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.spatial.transform import translation

G, H = 9.81, 1e-3
# central differences of 1e-8, in which no foot lifts off, of steps solved to 1e-12 m/s: 1e-4, and
# 1e-6 of held steps, beside entries of 1/h
CLOSE = 1e-6


def differences(sim, size=1e-8, tolerance=1e-12):
    """A by central differences of whole steps."""
    model, saved, n = sim.model, sim.save(), sim.model.v_count
    twin = tabi.Simulator(sim.world, dt=sim.dt, tolerance=tolerance, budget=None)

    def end(x):
        twin.restore(saved)
        q = tabi.dynamics.integrate(model, sim.q, x[:n], 1.0)
        # the contacts of the last step are the start of this one's
        data = twin._stepper.data
        data.q[:], data.v[:] = q, sim.v + x[n:]
        twin._stepper.prepare()
        twin.step(ask=False)
        return twin.q, twin.v

    A = np.zeros((2 * n, 2 * n))
    for k in range(2 * n):
        x = np.zeros(2 * n)
        x[k] = size
        (q2, v2), (q1, v1) = end(x), end(-x)
        A[:n, k] = tabi.dynamics.difference(model, q1, q2) / (2 * size)
        A[n:, k] = (v2 - v1) / (2 * size)
    return A


def error(ours, theirs):
    return np.abs(ours - theirs).max() / np.abs(theirs).max()


def pendulum(**joint):
    robot = tabi.Robot("pendulum")
    robot.add_body("post", tabi.Joint("post", "fixed"))
    inertia = tabi.Inertia(2.0, np.array([0.0, 0.0, -0.5]), np.zeros((3, 3)))
    robot.add_body("rod", tabi.Joint("swing", "revolute", axis=(0, 1, 0), **joint), "post", inertia)
    world = tabi.World()
    return world, world.add_robot(robot)


def test_a_pendulum_is_linearised_as_its_formula_says():
    world, _ = pendulum()
    sim = tabi.Simulator(world)
    q, v, m, l = 0.7, 0.3, 2.0, 0.5
    sim.set_state([q], [v])
    found = sim.linearise()
    # v⁺ = v − h g/l sin q, q⁺ = q + h v⁺
    slope = -H * G / l * np.cos(q)
    assert np.allclose(found.A, [[1 + H * slope, H], [slope, 1.0]], atol=1e-9)
    assert np.allclose(found.B, [[H * H / (m * l * l)], [H / (m * l * l)]], atol=1e-9)
    assert found.inputs == ("swing",)
    assert np.allclose(found.v, v - H * G / l * np.sin(q))
    assert not found.changes
    assert not found.joints


def test_a_motor_loop_is_part_of_the_step():
    m, l, kp, kd = 2.0, 0.5, 40.0, 3.0
    world, robot = pendulum(motor=tabi.Motor(kp=kp, kd=kd))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({"swing": 0.4}))
    sim.set_state([0.7], [0.3])
    sim.step()
    found = sim.linearise()
    # (I + h K_d + h² K_p) v⁺ = I v + h (K_p (q_d − q) + K_d v_d − m g l sin q)
    inertia = m * l * l
    heavy = inertia + H * kd + H * H * kp
    slope = -H * (kp + m * G * l * np.cos(sim.q[0])) / heavy
    A = [[1 + H * slope, H * inertia / heavy], [slope, inertia / heavy]]
    assert np.allclose(found.A, A, atol=1e-9)
    for B, gain in ((found.B, 1.0), (found.B_position, kp), (found.B_velocity, kd)):
        assert np.allclose(B, [[H * H * gain / heavy], [H * gain / heavy]], atol=1e-8)


def test_a_saturated_motor_has_no_loop():
    world, robot = pendulum(motor=tabi.Motor(kp=40.0, kd=3.0, torque_limit=0.5))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({"swing": 2.0}))
    sim.set_state([0.7], [0.3])
    sim.step()
    found = sim.linearise()
    slope = -H * G / 0.5 * np.cos(sim.q[0])
    assert np.allclose(found.A, [[1 + H * slope, H], [slope, 1.0]], atol=1e-9)
    assert not found.B.any()
    assert not found.B_position.any()


def block(velocity=(0.0, 0.0, 0.0), **surface):
    world = tabi.World()
    world.add_ground(**{"friction": 0.5, **surface})
    world.add_box(size=(0.4, 0.3, 0.2), mass=2.0, position=(0, 0, 0.1), **surface)
    sim = tabi.Simulator(world)
    sim.run(3 * H)
    sim.set_state(sim.q, [*velocity, 0, 0, 0])
    return sim


def test_a_sliding_block_keeps_its_direction_and_loses_speed():
    v = np.array([0.6, 0.8, 0.0])
    found = block(v).linearise()
    # v⁺ = v (1 − μ g h/‖v‖): along itself the slope is 1, across it ‖v⁺‖/‖v‖
    along = np.outer(v, v)[:2, :2]
    across = np.eye(2) - along
    wanted = along + (1 - 0.5 * G * H) * across
    assert np.allclose(found.A[6:8, 6:8], wanted, atol=1e-8)
    assert np.allclose(found.A[:2, 6:8], H * wanted, atol=1e-11)
    assert np.allclose(found.A[8], 0.0, atol=1e-8) or np.allclose(found.A[8, 6:], 0.0, atol=1e-8)


def test_a_standing_foot_stays_where_it_is_and_comes_back_to_the_floor():
    found = block().linearise()
    A = found.A
    # no speed is left; x, y and yaw stay; height and tilt are undone, about its sole
    assert np.allclose(A[:6, 6:], 0.0, atol=1e-8)
    assert np.allclose(A[6:, 6:], 0.0, atol=1e-7)
    wanted = np.diag([1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    # what is tilted about its centre of mass, 0.1 m up, has moved its sole
    wanted[0, 4], wanted[1, 3] = -0.1, 0.1
    assert np.allclose(A[:6, :6], wanted, atol=1e-8)
    assert np.allclose(A[6:, :6], (A[:6, :6] - np.eye(6)) / H, atol=1e-5)


def tripod(kind="none", **options):
    """A body on three balls, whose forces are unique, with an arm."""
    robot = tabi.Robot("tripod")
    inertia = tabi.Inertia(10.0, np.zeros(3), 0.2 * np.eye(3))
    robot.add_body("body", tabi.Joint("body", "floating"), None, inertia)
    for k, (x, y) in enumerate(((0.4, 0.0), (-0.2, 0.3), (-0.2, -0.32))):
        foot = robot.add_body(
            f"foot{k}", tabi.Joint(f"leg{k}", "fixed", translation((x, y, -0.15))), "body"
        )
        foot.shapes.append(tabi.Shape(tabi.Sphere(0.03), material=tabi.Material("ball", **options)))
    joint = {
        "dry": {"friction": 50.0},
        "stop": {"lower": -0.1, "upper": 0.3},
    }.get(kind, {})
    arm = tabi.Joint("shoulder", "revolute", axis=(0, 1, 0), motor=tabi.Motor(kp=30, kd=2), **joint)
    robot.add_body("arm", arm, "body", tabi.Inertia(0.5, np.array([0.1, 0, 0.1]), 0.01 * np.eye(3)))
    second = tabi.Joint("elbow", "revolute", translation((0.2, 0, 0.1)), axis=(1, 0, 0))
    if kind == "mimic":
        second.mimic = tabi.Mimic("shoulder", 0.5)
    robot.add_body(
        "hand", second, "arm", tabi.Inertia(0.2, np.array([0, 0.1, 0]), 0.01 * np.eye(3))
    )
    return robot


def standing(kind, **options):
    world = tabi.World()
    world.add_ground(**{"friction": 0.6, **options})
    robot = world.add_robot(tripod(kind, **{"friction": 0.6, **options}))
    robot.place((0.0, 0.0, 0.18))
    if kind == "welded":
        world.add_box(size=(0.05, 0.05, 0.05), mass=0.3, position=(3, 0, 0.025))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({"shoulder": 0.4, "elbow": 0.1}))
    sim.run(0.06)
    if kind == "given":
        here = sim.q[sim.q_slice("shoulder")][0]
        sim.set_controller(robot, tabi.control.hold({"shoulder": here, "elbow": 0.1}))
        sim.prescribe("shoulder")
        sim.run(0.01)
    if kind == "welded":
        sim.set_joint("box", [*sim.position("hand"), 1.0, 0.0, 0.0, 0.0])
        sim.bond("weld", "hand", "box")
        sim.run(0.01)
    return sim


@pytest.mark.parametrize(
    ("kind", "surface"),
    [
        ("none", {}),
        ("mimic", {}),
        ("dry", {}),
        ("stop", {}),
        ("given", {}),
        ("welded", {}),
        ("pushed", {}),
        ("none", {"torsional_friction": 0.02}),
    ],
)
def test_a_robot_that_stands_is_linearised_as_differences_say(kind, surface):
    sim = standing(kind, **surface)
    if kind == "pushed":
        sim.apply_force("hand", (1.0, 2.0, 0.0), duration=0.1)
        sim.run(0.02)
    found = sim.linearise()
    assert len(sim.contacts) >= 3
    assert error(found.A, differences(sim)) < CLOSE
    assert not found.changes


@pytest.mark.parametrize(
    "surface",
    [
        {},
        {"viscous_friction": 0.4},
        {"static_friction": 0.9},
        {"torsional_friction": 0.02, "rolling_friction": 0.01},
    ],
)
def test_a_robot_that_slides_is_linearised_as_differences_say(surface):
    sim = standing("none", **surface)
    v = sim.v.copy()
    v[:6] = 0.4, 0.3, 0.0, 0.0, 0.0, 0.5
    sim.set_state(sim.q, v)
    sim.run(5 * H)
    assert {c.status for c in sim.contacts} == {"slip"}
    assert error(sim.linearise().A, differences(sim)) < CLOSE


@pytest.mark.slow
def test_hrp2_that_is_pushed_is_linearised_as_differences_say():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(0.3)
    sim.apply_force("chest", (60.0, 0.0, 0.0), duration=0.05)
    sim.run(0.03)
    # four corners of a rigid sole are solved to 1e-10 m/s: 1e-4 beside 1/h and stiff ankles
    assert error(sim.linearise().A, differences(sim, 1e-6, 1e-10)) < 1e-5


def test_a_flight_is_linearised_as_differences_say():
    sim = standing("none")
    q, v = sim.q.copy(), sim.v.copy()
    q[2], v[3:6] = 2.0, (1.0, 2.0, 0.5)
    sim.set_state(q, v)
    sim.step()
    assert error(sim.linearise().A, differences(sim)) < CLOSE


def test_nothing_moves_and_the_run_goes_on_as_if_it_had_not_been_asked():
    asked, quiet = standing("none"), standing("none")
    for _ in range(5):
        asked.linearise()
        asked.step()
        quiet.step()
    assert np.array_equal(asked.q, quiet.q)
    assert np.array_equal(asked.v, quiet.v)
    assert (asked.missed_count, asked.time) == (quiet.missed_count, quiet.time)
    assert asked.foot_events == quiet.foot_events


def test_commands_act_as_their_columns_say():
    sim = standing("none")
    found, saved, size = sim.linearise(), sim.save(), 1e-4
    assert found.inputs == ("shoulder", "elbow")
    for name, B in (("effort", found.B), ("position", found.B_position)):
        for k, joint in enumerate(found.inputs):
            ends = []
            for sign in (1.0, -1.0):
                sim.restore(saved)
                sim._stepper.data.command.motor[name][sim.v_slice(joint)] += sign * size
                sim.step(ask=False)
                ends.append((sim.q, sim.v))
            (q2, v2), (q1, v1) = ends
            moved = tabi.dynamics.difference(sim.model, q1, q2)
            rate = np.concatenate([moved, v2 - v1]) / (2 * size)
            # steps solved to 1e-8 m/s, over 1e-4
            assert np.allclose(B[:, k], rate, atol=1e-6)


def test_a_contact_about_to_slip_or_to_open_is_told():
    sim = block()
    assert not sim.linearise().changes
    # a force that friction just holds, and a lift that just leaves it standing
    sim.apply_force("box", (0.5 * 2.0 * G * (1 - 1e-9), 0.0, 0.0), duration=1.0, point=(0, 0, -0.1))
    changes = sim.linearise().changes
    assert changes
    assert {change.becomes for change in changes} <= {"slip", "stick"}
    assert "box on world" in repr(sim.linearise())
    lifted = block()
    lifted.apply_force("box", (0.0, 0.0, 2.0 * G * (1 - 1e-9)), duration=1.0)
    assert {change.becomes for change in lifted.linearise().changes} <= {"open", "slip"}
    assert lifted.linearise().changes


def test_feet_that_resist_rolling_cannot_all_stick_where_the_body_tilts():
    sim = standing("none", torsional_friction=0.02, rolling_friction=0.01)
    assert len(sim.linearise().changes) == 3


def test_a_motor_at_its_limit_is_told():
    world, robot = pendulum(motor=tabi.Motor(kp=40.0, kd=3.0, torque_limit=0.5))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, lambda t, m: tabi.Command(kp=0.0, kd=0.0, effort=0.5))
    sim.step()
    assert sim.linearise().joints == ("swing",)


@pytest.mark.parametrize(
    ("options", "margin", "words"),
    [
        ({"scheme": "event-driven"}, 1e-6, "scheme is 'event-driven', whose impacts jump"),
        ({"contact": "pyramid"}, 1e-6, "has no slopes to linearise by; take contact='coulomb'"),
        ({}, -1.0, "margin is -1.0; expected a velocity in m/s ≥ 0"),
        ({}, float("nan"), "margin is nan"),
        ({}, "wide", "margin is 'wide'"),
    ],
)
def test_what_cannot_be_linearised_is_refused(options, margin, words):
    world = tabi.World()
    world.add_ground()
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    sim = tabi.Simulator(world, **options)
    with pytest.raises(tabi.ModelError, match=words):
        sim.linearise(margin)
