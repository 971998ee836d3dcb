"""What starts inside of something comes out gently: without energy, within the ends of joints."""

import warnings

import numpy as np
import pytest
from simulation.soft import G, block

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Capsule, Shape
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import about, translation
from tabi.step.depenetration import JOINT_SPEED, PARTING_SPEED

LOWER, UPPER = -0.2, 1.6
LENGTH, THICK, DEPTH = 0.06, 0.008, 0.01


def finger(base="fixed", lower=LOWER, prescribed=False, friction=0.0, yaw=0.0):
    """A hand with a finger of two links that points sideways, 1 cm in the ground."""
    robot = Robot("hand")
    root = Joint("wrist", base, placement=about((0.0, 0.0, 1.0), yaw))
    parent = robot.add_body("palm", root, None, solid_box(0.5, (0.08, 0.08, 0.03)))
    for k in range(2):
        joint = Joint(f"joint{k}", "revolute", axis=(0.0, 1.0, 0.0), lower=lower, upper=UPPER)
        joint.placement = translation((0.04 if k == 0 else LENGTH, 0.0, 0.0))
        joint.prescribed, joint.friction = prescribed, friction
        middle = translation((0.5 * LENGTH, 0.0, 0.0))
        along = middle @ about((0.0, 1.0, 0.0), np.pi / 2)
        link = solid_box(0.03, (LENGTH, 0.02, 0.02)).transformed(middle)
        parent = robot.add_body(f"link{k}", joint, parent, link)
        parent.shapes.append(Shape(Capsule(THICK, LENGTH), along))
    turn = about((0.0, 0.0, 1.0), yaw).quaternion
    robot.place((0.3, -0.2, 0.0), turn)
    robot.place((0.3, -0.2, robot.extent((0.0, 0.0, -1.0)) - DEPTH), turn)
    world = tabi.World()
    world.add_ground()
    world.add_robot(robot)
    return world


def stepped(sim, steps):
    """Angles and velocities of the joints after each step, one after the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tabi.OverlapWarning)
        for _ in range(steps):
            sim.step()
            yield sim.data.q[-2:].copy(), sim.data.v[-2:].copy()


@pytest.mark.parametrize("contact", ["coulomb", "pyramid"])
@pytest.mark.parametrize("dt", [5e-4, 1e-3, 5e-3])
def test_joints_stay_within_their_ends_under_every_law(contact, dt):
    # −0.2 is the one way out: it was at −5.2 after 20 ms
    for yaw, friction in ((0.0, 0.0), (0.7, 0.0), (0.7, 0.001)):
        sim = tabi.Simulator(finger(friction=friction, yaw=yaw), contact=contact, dt=dt)
        before = np.zeros(2)
        for q, v in stepped(sim, 60):
            assert (q > LOWER - 1e-6).all()
            assert (q < UPPER + 1e-6).all()
            # besides their own motion
            assert abs(q - before - dt * v).max() <= JOINT_SPEED * dt + 1e-6
            before = q
        assert abs(before).max() > 1e-3


def test_a_finger_at_its_end_lets_the_hand_move_instead():
    # both joints are at the end that lies in the way out
    sim = tabi.Simulator(finger("floating", lower=0.0))
    depth = []
    for q, _ in stepped(sim, 300):
        assert (q > -1e-6).all()
        depth.append(sim.certificate.penetration)
    assert depth[0] > 0.009
    assert depth[-1] < 1e-5
    assert sim.missed_count == 0


def test_prescribed_joints_are_not_moved_by_leaving_an_overlap():
    sim = tabi.Simulator(finger(prescribed=True))
    for q, _ in stepped(sim, 50):
        np.testing.assert_array_equal(q, 0.0)
    # a free hand comes out as a whole
    sim = tabi.Simulator(finger("floating", prescribed=True))
    for q, _ in stepped(sim, 100):
        np.testing.assert_array_equal(q, 0.0)
    assert sim.certificate.penetration < 1e-5


@pytest.mark.parametrize("depth", [1e-3, 5e-3, 0.02])
@pytest.mark.parametrize("viscosity", [0.0, 0.01])
def test_a_soft_pad_leaves_the_ground_without_energy(depth, viscosity):
    world, box = block(thickness=0.02, viscosity=viscosity, above=-depth)
    sim = tabi.Simulator(world)
    weight = G * float(sim.model.arrays.body["mass"][1:].sum())
    start, top = sim.energy, 0.0
    with pytest.warns(tabi.OverlapWarning, match=f"box and world start {1e3 * depth:g} mm inside"):
        sim.step()
    for _ in range(300):
        sim.step()
        assert sim.energy.total - start.total <= weight * depth * 1.001
        assert sim.energy.kinetic <= 0.5 * weight / G * PARTING_SPEED**2
        top = max(top, sim.position(box)[2])
    # where it rests: on the pad that its weight presses in, neither thrown up nor left inside
    assert top < 0.025 + 0.02 + 1e-4
    assert sim.position(box)[2] == pytest.approx(0.025 + 0.02, abs=5e-4)
    assert sim.certificate.penetration < 1e-6
    assert sim.missed_count == 0


def test_springs_that_start_pressed_in_are_reported():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    robot.place(robot.base.joint.position[:3] - (0.0, 0.0, 5e-3))
    sim = tabi.Simulator(world, contact="penalty")
    with pytest.warns(tabi.OverlapWarning, match="springs of contact='penalty' .* gain energy"):
        sim.step()
    # what its weight presses in is none
    robot.stand_on_ground()
    robot.place(robot.base.joint.position[:3] - (0.0, 0.0, 3e-4))
    sim = tabi.Simulator(world, contact="penalty")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step()


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1e-3, 5e-3])
def test_a_humanoid_on_soft_soles_is_not_thrown_up(depth):
    # it gained 254 J and flew 35 cm from 5 mm
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.add_soles(thickness=0.02)
    robot.stand_on_ground()
    robot.place(robot.base.joint.position[:3] - (0.0, 0.0, depth))
    sim = tabi.Simulator(world)
    start = sim.energy.total
    height = sim.position(robot.base)[2]
    weight = G * float(sim.model.arrays.body["mass"][1:].sum())
    with pytest.warns(tabi.OverlapWarning):
        sim.step()
    for _ in range(200):
        sim.step()
        assert sim.energy.total - start <= weight * depth + 0.05
        assert sim.position(robot.base)[2] < height + depth + 1e-3
