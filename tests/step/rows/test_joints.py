"""Joints that are solved together with the contacts: the same laws as guessed ones."""

import numpy as np
import pytest

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import from_quaternion, translation
from tabi.step.forces.joint_limits import JOINED, LOWER, MOVES, STUCK, UPPER
from tabi.step.rows import joints

G = 9.81


def pendulum(friction=0.0, lower=-np.inf, upper=np.inf, kind="revolute"):
    """A mass of 2 kg, 0.5 m out on a hinge, or on a vertical guide."""
    robot = Robot("arm")
    at = from_quaternion((1, 0, 0, 0), (0, 0, 1.0))
    robot.add_body("base", Joint("base", "fixed", placement=at), None, Inertia(1.0))
    axis = (0.0, -1.0, 0.0) if kind == "revolute" else (0.0, 0.0, 1.0)
    joint = Joint("joint", kind, axis=axis, friction=friction, lower=lower, upper=upper)
    robot.add_body("mass", joint, robot.base, Inertia(2.0, (0.5, 0, 0), 1e-3 * np.eye(3)))
    world = tabi.World()
    world.add_robot(robot)
    return tabi.Simulator(world)


def join_at_once(sim):
    """Every step begins with all joints beside the contacts."""
    memory = sim._stepper.data.memory
    memory.joint["mode"] = JOINED
    memory.joint_backoff[:] = (5, 1)


def both(**settings):
    """A step with the joint guessed, and one with it solved."""
    guessed, solved = pendulum(**settings), pendulum(**settings)
    for k in range(60):
        join_at_once(solved)
        guessed.step()
        solved.step()
        yield k, guessed, solved


@pytest.mark.parametrize(
    "settings",
    [
        {"friction": 20.0},
        {"friction": 3.0},
        {"friction": 1.0, "lower": -0.004},
        {"lower": -0.004},
        {"kind": "prismatic", "friction": 30.0},
        {"kind": "prismatic", "friction": 5.0, "lower": -0.003},
    ],
)
def test_a_joint_that_is_solved_moves_as_one_that_is_guessed(settings):
    for _, guessed, solved in both(**settings):
        np.testing.assert_allclose(solved.state.q, guessed.state.q, atol=1e-10)
        np.testing.assert_allclose(solved.state.v, guessed.state.v, atol=1e-8)
        one, other = (s.data.outcome.effort["constraint"] for s in (solved, guessed))
        np.testing.assert_allclose(one, other, atol=1e-4)
    assert solved.missed_count == 0


def test_the_force_of_a_stuck_joint_is_the_weight_and_of_a_moving_one_its_friction():
    stuck, moving = pendulum(friction=20.0), pendulum(friction=3.0)
    for sim in (stuck, moving):
        for _ in range(20):
            join_at_once(sim)
            sim.step()
    lever = 2.0 * G * 0.5
    assert stuck.data.outcome.effort["constraint"][0] == pytest.approx(lever, rel=1e-6)
    assert abs(moving.data.outcome.effort["constraint"][0]) == pytest.approx(3.0, rel=1e-6)


def test_the_mode_that_is_found_is_the_next_guess():
    for settings, mode in (
        ({"friction": 20.0}, STUCK),
        ({"friction": 3.0}, MOVES),
        ({"lower": 0.0}, LOWER),
    ):
        sim = pendulum(**settings)
        memory = sim._stepper.data.memory
        memory.joint["mode"] = JOINED
        memory.joint_backoff[:] = (1, 1)
        sim.step()
        assert memory.joint["mode"].tolist() == [mode]
        # the next step guesses again
        sim.step()
        assert sim._stepper.workspace.joined[0] == 0
    assert UPPER == LOWER + 1


def wedge(friction):
    """A plank on a dry hinge under a stop, with a box of 3 kg on its end: contact and joint hold
    each other.
    """
    robot = Robot("lever")
    at = from_quaternion((1, 0, 0, 0), (0, 0, 1.0))
    robot.add_body("base", Joint("base", "fixed", placement=at), None, Inertia(1.0))
    hinge = Joint("hinge", "revolute", axis=(0.0, -1.0, 0.0), friction=friction)
    plank = Shape(Box((0.5, 0.2, 0.02)), translation((0.25, 0.0, 0.0)))
    inertia = Inertia(2.0, (0.25, 0, 0), 0.01 * np.eye(3))
    robot.add_body("arm", hinge, robot.base, inertia, [plank])
    world = tabi.World()
    world.add_robot(robot)
    world.add_box((0.1, 0.1, 0.1), 3.0, position=(0.4, 0.0, 1.06), name="box")
    return tabi.Simulator(world)


@pytest.mark.parametrize("friction", [100.0, 10.0])
def test_beside_contacts_it_is_the_same_step_and_the_certificate_covers_it(friction):
    guessed, solved = wedge(friction), wedge(friction)
    for _ in range(40):
        join_at_once(solved)
        guessed.step()
        solved.step()
        assert solved.certificate.residual <= solved.tolerance
        np.testing.assert_allclose(solved.state.v, guessed.state.v, atol=2e-7)
    assert solved._stepper.workspace.joined[0] > 0
    # the rows of joints are no contacts
    assert len(solved.contacts) == len(guessed.contacts) == 4
    forces = [sum(c.force for c in sim.contacts) for sim in (guessed, solved)]
    np.testing.assert_allclose(forces[0], forces[1], atol=1e-3)


def test_the_certificate_tells_joints_from_contacts_and_bonds():
    sim = wedge(100.0)
    for _ in range(5):
        join_at_once(sim)
        sim.step()
    c = sim.certificate
    assert c.contacts == 4
    # a joint is no bond, and its torque no force of a contact
    assert c.bond_residual == c.bond_turn_residual == 0.0
    assert c.joint_residual <= c.tolerance
    sim._stepper.workspace.impulse[:] *= 1.01
    worse = sim.certificate
    assert worse.joint_residual > 1e-6
    assert worse.bond_turn_residual == 0.0


def test_rows_of_joints_follow_from_the_saved_state_alone():
    # its end is out of reach for a joint at rest, and within it for one of 5 rad/s
    sim = pendulum(friction=20.0, lower=-8e-4)
    join_at_once(sim)
    saved, points = sim.save(), []
    for speed in (0.0, 5.0):
        sim.restore(saved)
        sim._stepper.workspace.v_next[:] = speed
        sim.step()
        points.append(int(sim.data.outcome.report["points"][0]))
    assert points == [1, 1]


def test_where_contacts_are_unsolved_only_joints_of_their_tree_join_them():
    world = tabi.World()
    for name in ("one", "other"):
        robot = Robot(name)
        robot.add_body("base", Joint("base", "fixed"), None, Inertia(1.0))
        joint = Joint("joint", "revolute", axis=(0.0, -1.0, 0.0), friction=20.0)
        robot.add_body("mass", joint, robot.base, Inertia(2.0, (0.5, 0, 0), 1e-3 * np.eye(3)))
        world.add_robot(robot, name)
    sim = tabi.Simulator(world)
    sim.step()
    stepper = sim._stepper
    t, d, s = stepper.tables, stepper.data, stepper.workspace
    assert d.memory.joint["mode"].tolist() == [STUCK, STUCK]
    # as if a group with the last body in it had been left unsolved
    report = d.outcome.report[0]
    report["missed"], report["groups"] = 1, 1
    s.unsolved[0], s.first[0], s.first[1], s.body[0] = 1, 0, 1, sim.model.body_count
    s.joined[:], s.wrong[:] = 0, 0
    assert joints.join(t, d, s, 0)
    assert d.memory.joint["mode"].tolist() == [STUCK, JOINED]
