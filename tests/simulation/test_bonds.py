"""Welds, balls and hinges: closed forms, conservation, closed chains, and what is refused."""

from math import cos, pi, sin, sqrt

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.simulation.state import Saved
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import from_quaternion
from tabi.step.tables import BONDS

G = 9.81


def two_boxes(gravity=(0.0, 0.0, -G)):
    world = tabi.World(gravity=gravity)
    a = world.add_box(size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 1.0), name="a")
    b = world.add_box(size=(0.2, 0.2, 0.2), mass=3.0, position=(0.5, 0, 1.0), name="b")
    return world, a, b


# ---- one bond -----------------------------------------------------------------------------------


def test_box_hung_on_a_ball_swings_with_the_period_of_a_physical_pendulum():
    # a small swing: T = 2π √(I/(m g l)), I = m (l² + s²/6)
    for l in (0.3, 0.6):
        world = tabi.World()
        box = world.add_box(
            size=(0.1, 0.1, 0.1),
            mass=2.0,
            position=(l * sin(0.02), 0, 2.0 - l * cos(0.02)),
            quaternion=(cos(0.01), 0, -sin(0.01), 0),
        )
        sim = tabi.Simulator(world)
        sim.bond("ball", box, world.fixed, point=(0, 0, 2.0))
        period = 2 * pi * sqrt((l * l + 0.1**2 / 6) / (G * l))
        crossed = []
        last = sim.position(box)[0]
        while len(crossed) < 3:
            sim.step()
            x = sim.position(box)[0]
            if last < 0 <= x:
                crossed.append(sim.time)
            last = x
        assert np.diff(crossed) == pytest.approx(period, rel=3e-3)


def test_hinge_turns_about_its_axis_alone_and_carries_the_weight():
    world = tabi.World()
    door = world.add_box(size=(0.8, 0.04, 2.0), mass=20.0, position=(0.4, 0, 1.5), name="door")
    sim = tabi.Simulator(world)
    hinge = sim.bond("hinge", door, world.fixed, point=(0, 0, 1.5), axis=(0, 0, 1))
    sim.apply_force(door, force=(0, 5.0, 0), duration=0.2)
    sim.run(0.2)
    # an impulse of 1 N·s at 0.4 m: ω = 0.4/I, I = m (0.8²+0.04²)/12 + m 0.4²
    assert sim.velocity(door).angular == pytest.approx(
        [0, 0, 0.4 / (20.0 * ((0.64 + 0.0016) / 12 + 0.16))], abs=2e-4
    )
    sim.run(2.0)
    R = sim.pose(door).R
    assert R[2, 2] == pytest.approx(1.0, abs=1e-10)
    assert np.linalg.norm(sim.position(door)[:2]) == pytest.approx(0.4, abs=1e-6)
    assert hinge.force[2] == pytest.approx(20.0 * G, rel=1e-6)
    # the weight at its arm
    assert np.linalg.norm(hinge.torque) == pytest.approx(20.0 * G * 0.4, rel=1e-3)


def test_welded_boxes_fly_as_one_body():
    world, a, b = two_boxes()
    sim = tabi.Simulator(world)
    v = np.zeros(12)
    v[sim.model.v_index("a") + 5] = v[sim.model.v_index("b") + 5] = 2.0
    # about the common centre of mass at x = 0.375
    v[sim.model.v_index("a") + 1], v[sim.model.v_index("b") + 1] = -2.0 * 0.375, 2.0 * 0.125
    sim.set_state(sim.model.initial(), v)
    weld = sim.bond("weld", a, b)
    sim.run(0.4)
    centre = (sim.position(a) + 3 * sim.position(b)) / 4
    # symplectic Euler's parabola; the spin stays
    assert centre == pytest.approx([0.375, 0, 1.0 - 0.5 * G * 0.4 * 0.401], abs=1e-6)
    assert np.linalg.norm(sim.position(b) - sim.position(a)) == pytest.approx(0.5, abs=1e-6)
    assert sim.velocity(a).angular == pytest.approx([0, 0, 2.0], abs=1e-3)
    # the weld pulls with m ω² r
    assert np.linalg.norm(weld.force) == pytest.approx(1.0 * 4.0 * 0.375, rel=2e-2)
    weld.release()
    assert not weld.is_active
    sim.run(0.1)
    assert np.linalg.norm(sim.position(b) - sim.position(a)) > 0.501


def test_a_grasp_lifts_what_it_holds_and_lets_it_fall():
    world = tabi.World()
    world.add_ground()
    box = world.add_box(size=(0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.05), name="load")
    robot = Robot("lift")
    robot.add_body("post", Joint("post", "fixed"), None, Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot.add_body(
        "hand",
        Joint("up", "prismatic", placement=from_quaternion((1, 0, 0, 0), (0, 0, 0.3))),
        robot.base,
        solid_box(1.0, (0.1, 0.1, 0.1)),
    )
    robot.bodies[1].joint.motor = tabi.model.joint.Motor(kp=1e6, kd=1e4)
    robot = world.add_robot(robot)
    sim = tabi.Simulator(world)
    sim.run(0.05)
    grasp = sim.bond("weld", "hand", box)
    sim.set_controller(robot, lambda t, m: tabi.Command(position=np.array([0.2])))
    sim.run(2.0)
    assert sim.position(box)[2] == pytest.approx(0.25, abs=1e-3)
    saved = sim.save()
    assert isinstance(saved, Saved)
    # the box has left the ground: the rows of the weld are all there is
    rows = saved.data.memory.contact[: saved.data.memory.count[0]]
    assert (rows["kind"] == BONDS).all()
    grasp.release()
    sim.run(1.0)
    assert sim.position(box)[2] == pytest.approx(0.05, abs=1e-6)
    # what is saved holds again
    sim.restore(saved)
    sim.run(0.2)
    assert grasp.is_active
    assert sim.position(box)[2] == pytest.approx(0.25, abs=1e-3)


# ---- closed chains ------------------------------------------------------------------------------


A, D = np.array([0.0, 0.0, 0.15]), np.array([0.5, 0.0, 0.0])


def corner():
    """Where coupler (0.45 m, from A) and rocker (0.3 m, from D) meet, above the line of A and D."""
    d = D - A
    l = np.linalg.norm(d)
    along = (l * l + 0.45**2 - 0.3**2) / (2 * l)
    up = np.array([-d[2], 0.0, d[0]]) / l
    return A + along * d / l + sqrt(0.45**2 - along**2) * up


def four_bar(dt=1e-3):
    """Crank, coupler and rocker in the plane y = 0, closed by a hinge;
    all frames are the world's to begin with.
    """
    B, axis = corner(), (0, 1, 0)

    def rod(mass, end):
        return Inertia(
            mass,
            end / 2,
            mass / 12 * ((end @ end) * np.eye(3) - np.outer(end, end)) + 1e-6 * np.eye(3),
        )

    robot = Robot("four_bar")
    robot.add_body("frame", Joint("frame", "fixed"), None, Inertia(1.0, (0, 0, 0), np.eye(3)))
    crank = robot.add_body("crank", Joint("crank", "revolute", axis=axis), robot.base, rod(1.0, A))
    robot.add_body(
        "rocker",
        Joint("rocker", "revolute", placement=from_quaternion((1, 0, 0, 0), D), axis=axis),
        robot.base,
        rod(1.0, B - D),
    )
    robot.add_body(
        "coupler",
        Joint("pin", "revolute", placement=from_quaternion((1, 0, 0, 0), A), axis=axis),
        crank,
        rod(2.0, B - A),
    )
    world = tabi.World()
    world.add_robot(robot)
    world.add_bond("hinge", "coupler", "rocker", point=B, axis=axis)
    return tabi.Simulator(world, dt=dt)


def gap(sim):
    """How far the chain has opened [m]."""
    one, other = sim.pose("coupler"), sim.pose("rocker")
    return np.linalg.norm(one.p + one.R @ (corner() - A) - other.p - other.R @ (corner() - D))


@pytest.mark.slow
def test_a_four_bar_linkage_stays_closed_for_a_minute():
    sim, worst, seen = four_bar(), 0.0, []
    for _ in range(6000):
        sim.run(0.01)
        worst = max(worst, gap(sim))
        seen.append(sim.state.q[sim.model.q_index("crank")])
    assert worst < 1e-6
    assert sim.missed_count == 0
    # it does move, from its first pose to the lowest one
    assert np.ptp(seen) > 1.0


def test_closing_error_is_of_third_order_in_the_step():
    worst = []
    for dt in (2e-3, 1e-3, 5e-4):
        sim, found = four_bar(dt), 0.0
        for _ in range(round(0.5 / dt)):
            sim.step()
            found = max(found, gap(sim))
        worst.append(found)
    assert 6.5 < worst[0] / worst[1] < 9.5
    assert 6.5 < worst[1] / worst[2] < 9.5


def test_a_driven_crank_moves_the_rocker_as_the_geometry_says():
    # Freudenstein: both angles belong to each other; here by the circles of coupler and rocker
    sim = four_bar()
    robot = sim.world.robots[0]
    sim.model.set_joint("crank", kp=1e6, kd=1e4)
    sim.set_gains(sim.model.arrays.dof["kp"], sim.model.arrays.dof["kd"])
    sim.set_controller(
        robot, lambda t, m: tabi.Command(position={"crank": 1.5 * t}, velocity={"crank": 1.5})
    )
    for _ in range(20):
        sim.run(0.1)
        elbow = sim.pose("crank").R @ A
        d = D - elbow
        l = np.linalg.norm(d)
        along = (l * l + 0.45**2 - 0.3**2) / (2 * l)
        up = np.array([-d[2], 0.0, d[0]]) / l
        expected = elbow + along * d / l + sqrt(0.45**2 - along**2) * up
        end = sim.pose("rocker")
        assert end.p + end.R @ (corner() - D) == pytest.approx(expected, abs=2e-6)


# ---- refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda s, a, b: s.bond("glue", a, b), ["bond 'glue' not found"]),
        (lambda s, a, b: s.bond("weld", a, a), ["weld of 'a' and 'a'", "one rigid body"]),
        (lambda s, a, b: (s.bond("weld", a, b), s.bond("ball", b, a)), ["second bond", "release"]),
        (lambda s, a, b: s.bond("hinge", a, b), ["hinge of 'a' and 'b' has no axis"]),
        (lambda s, a, b: s.bond("ball", a, b, axis=(0, 0, 1)), ["has an axis"]),
        (
            lambda s, a, b: s.bond("hinge", a, b, axis=(0, 0, 0)),
            ["axis of the hinge", "expected a direction"],
        ),
        (
            lambda s, a, b: s.bond("ball", a, b, point=(0, np.nan, 0)),
            ["point of the ball", "finite"],
        ),
        (lambda s, a, b: s.bond("ball", a, "c"), ["'c'"]),
    ],
)
def test_bonds_that_cannot_be_are_refused(act, words):
    world, a, b = two_boxes()
    sim = tabi.Simulator(world)
    with pytest.raises(ModelError) as error:
        act(sim, a, b)
    assert all(word in str(error.value) for word in words)


def test_a_problem_with_bonds_is_not_written_into_a_file_that_knows_contacts_only(tmp_path):
    world, a, b = two_boxes()
    sim = tabi.Simulator(world)
    sim.bond("weld", a, b)
    sim.step()
    with pytest.raises(tabi.TabiError, match="bodies are bonded"):
        sim.export_problem(tmp_path / "problem.npz")
    # a bond is no contact, and its rows are certified
    assert sim.contacts == []
    assert sim.certificate.contacts == 0
    assert sim.certificate.residual <= 1e-8


def test_bonds_that_contradict_each_other_stay_finite_and_are_named():
    # a box welded to the ground and, a metre away, hinged to a lift that pulls it up
    world, a, b = two_boxes()
    sim = tabi.Simulator(world)
    sim.bond("weld", a, world.fixed)
    sim.bond("weld", b, world.fixed)
    sim.bond("weld", a, b)
    sim.run(0.2)
    assert np.isfinite(sim.state.q).all()
    assert np.abs(sim.state.v).max() < 1e-6
    # the same thing three times over is no contradiction
    assert sim.missed_count == 0


def test_bonds_are_certified_in_their_own_units():
    world, a, b = two_boxes()
    world.add_ground()
    sim = tabi.Simulator(world)
    sim.bond("weld", a, b)
    sim.run(0.01)
    c = sim.certificate
    assert max(c.bond_residual, c.bond_turn_residual) <= 1e-8
    # a wrong torque: what it does to the rate of turning comes from both inertias about the axis
    rows = sim.problem().contact["angular"]
    (turning,) = np.flatnonzero(rows == 1)
    axis = sim.problem().contact["frame"][turning].reshape(3, 3)[2]
    sim._stepper.workspace.impulse[3 * turning + 2] += 1e-3
    answer = sum(axis @ np.linalg.inv(x.inertia.tensor) @ axis for x in (a, b))
    c = sim.certificate
    assert c.bond_turn_residual == pytest.approx(1e-3 * answer, rel=1e-3)
    assert c.bond_torque_residual > 0.1
    # the places where they are held go with the bodies
    assert c.bond_residual > 1e-5
    assert not c.converged
    assert c.force_residual < 1e-3
