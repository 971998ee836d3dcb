"""What is seen of a simulation, against statics: weights, levers, pressure, work."""

from math import cos, radians, sin

import numpy as np
import pytest

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import translation

G = 9.81


def block(name="block", mass=4.0, off=(0.0, 0.0)):
    """A robot of one body with a sole; its centre of mass lies ``off`` its middle."""
    robot = Robot(name)
    inertia = Inertia(mass, np.array([*off, 0.1]), 0.05 * np.eye(3))
    robot.add_body(
        "trunk",
        Joint("root", "floating"),
        None,
        inertia,
        [Shape(Box((0.3, 0.2, 0.2)), translation((0, 0, 0.1)), name="sole")],
    )
    robot.add_foot("foot", "trunk", [(-0.15, -0.1), (0.15, -0.1), (0.15, 0.1), (-0.15, 0.1)])
    return robot


def slope_of(angle, friction, gravity_tilted):
    """A box on a slope: the world tilted, or a fixed box turned about y; downhill is +x."""
    a, size = radians(angle), (0.2, 0.2, 0.2)
    if gravity_tilted:
        world = tabi.World(gravity=(G * sin(a), 0, -G * cos(a)))
        world.add_ground(friction=friction)
        return world, world.add_box(size, 2.0, friction=friction, position=(0, 0, 0.1))
    world, turn = tabi.World(), (cos(a / 2), 0, sin(a / 2), 0)
    world.add_fixed(
        Box((4.0, 1.0, 1.0)), (-0.5 * sin(a), 0, -0.5 * cos(a)), turn, friction=friction
    )
    return world, world.add_box(
        size, 2.0, friction=friction, position=(0.1 * sin(a), 0, 0.1 * cos(a)), quaternion=turn
    )


@pytest.mark.parametrize("tilted", [True, False])
def test_on_a_slope_the_contacts_carry_the_weight_and_the_box_does_not_creep(tilted):
    world, box = slope_of(10, 0.5, tilted)
    sim = tabi.Simulator(world, tolerance=1e-10)
    sim.run(0.2)
    start = sim.position(box)
    sim.run(1.0)
    assert np.linalg.norm(sim.position(box) - start) < 1e-9
    force = sum(c.force for c in sim.contacts)
    assert np.allclose(force, -2.0 * world.gravity, atol=1e-6)
    assert {c.status for c in sim.contacts if c.pressing} == {"stick"}
    assert sim.certificate.missed == 0


@pytest.mark.parametrize("tilted", [True, False])
def test_on_a_slope_too_smooth_the_box_slides_as_coulomb_says(tilted):
    a, mu = radians(10), 0.1
    world, box = slope_of(10, mu, tilted)
    sim = tabi.Simulator(world)
    sim.run(0.5)
    speed = np.linalg.norm(sim.velocity(box).linear)
    assert speed == pytest.approx(G * (sin(a) - mu * cos(a)) * 0.5, rel=1e-6)
    pressing = [c for c in sim.contacts if c.pressing]
    assert {c.status for c in pressing} == {"slip"}
    for c in pressing:
        normal = c.force @ c.normal
        along = c.force - normal * c.normal
        # friction on the cone, against the slip
        assert np.allclose(along, -mu * normal * c.slip / np.linalg.norm(c.slip), atol=1e-6)


def test_the_centre_of_pressure_is_under_the_centre_of_mass():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(block(off=(0.06, -0.03)))
    sim = tabi.Simulator(world, tolerance=1e-10)
    sim.run(0.1)
    foot = robot.feet["foot"]
    assert np.allclose(sim.centre_of_pressure(foot), (0.06, -0.03), atol=1e-6)
    assert np.allclose(sim.zmp(robot), (0.06, -0.03), atol=1e-6)
    w = sim.foot_wrench(foot)
    assert np.allclose(w.force, (0, 0, 4 * G), atol=1e-5)
    # moments of the weight about the foot's origin: (y F, −x F, 0)
    assert np.allclose(w.torque, (-0.03 * 4 * G, -0.06 * 4 * G, 0), atol=1e-5)


def test_each_of_two_robots_has_its_own_zero_moment_point():
    world = tabi.World()
    world.add_ground()
    one, two = world.add_robot(block(off=(0.05, 0))), world.add_robot(block(mass=9.0))
    two.place((2.0, 0.0, 0.0))
    sim = tabi.Simulator(world)
    sim.run(0.05)
    assert np.allclose(sim.zmp(one), (0.05, 0), atol=1e-5)
    assert np.allclose(sim.zmp(two), (2.0, 0), atol=1e-5)


def test_in_flight_there_is_no_pressure_no_contact_and_a_clean_certificate(tmp_path):
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(block())
    robot.place((0, 0, 3.0))
    sim = tabi.Simulator(world)
    sim.run(0.05)
    assert sim.contacts == []
    assert sim.centre_of_pressure(robot.feet["foot"]) is None
    assert sim.zmp(robot) is None
    c = sim.certificate
    assert (c.contacts, c.residual, c.converged, c.pressure_shift) == (0, 0.0, True, {})
    assert sim.problem() is None
    with pytest.raises(tabi.TabiError, match=r"no contact at 0.05 s; expected at least one"):
        sim.export_problem(tmp_path / "none.npz")


def test_the_work_of_a_push_is_force_times_mean_way_whatever_else_happens():
    world = tabi.World(gravity=(0, 0, 0))
    box = world.add_object(
        Box((0.2, 0.3, 0.4)), solid_box(3.0, (0.2, 0.3, 0.4)), position=(5, 6, 7)
    )
    sim = tabi.Simulator(world)
    sim.apply_force(box, (6.0, -2.0, 1.0), duration=1.0)
    # the last step of a run, and not the whole run
    sim.run(0.5)
    b, h, a = sim.balance, sim.dt, np.array([2.0, -2 / 3, 1 / 3])
    mean_speed = a * (0.5 - h / 2)
    assert b.pushes == pytest.approx(h * mean_speed @ (6.0, -2.0, 1.0), rel=1e-10)
    assert b.change == pytest.approx(b.pushes, rel=1e-9)
    assert abs(b.scheme) < 1e-9 * b.pushes


def test_the_balance_after_a_run_is_that_of_its_last_step():
    balances = []
    for whole in (True, False):
        world = tabi.World()
        world.add_ground(friction=0.3)
        world.add_box((0.2, 0.2, 0.2), 1.0, friction=0.3, position=(0, 0, 0.1))
        sim = tabi.Simulator(world)
        sim.set_state(sim.model.initial(), [1.0, 0, 0, 0, 0, 0])
        if whole:
            sim.run(0.05)
        else:
            for _ in range(50):
                sim.step()
        balances.append(sim.balance)
    assert balances[0] == balances[1]
    assert balances[0].contacts < 0


def test_energy_is_that_of_a_falling_box():
    world = tabi.World()
    world.add_box((0.2, 0.2, 0.2), 2.0, position=(0, 0, 10.0))
    sim = tabi.Simulator(world)
    before = sim.energy
    sim.run(0.5)
    assert sim.energy.kinetic == pytest.approx(0.5 * 2.0 * (G * 0.5) ** 2, rel=1e-12)
    # what flies by itself follows its parabola
    assert sim.energy.total == pytest.approx(before.total, rel=1e-12)


def test_a_controller_that_asks_for_the_truth_reads_forces_and_may_keep_them():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(block())
    sim = tabi.Simulator(world)
    seen, forces = [], []

    def controller(time, measurement):
        seen.append(measurement)
        forces.append(measurement.forces["foot"])
        return tabi.Command()

    sim.set_controller(robot, controller, truth=True)
    sim.run(0.05)
    assert forces[0].tolist() == [0.0] * 6
    assert forces[-1][2] == pytest.approx(4 * G, abs=1e-4)
    assert list(seen[-1].forces) == ["foot"]
    assert seen[-1].position.shape == (0,)
    assert np.allclose(seen[-1].base.p, (0, 0, 0), atol=1e-8)
    assert all((m.forces["foot"] == f).all() for m, f in zip(seen, forces, strict=True))
    assert len({float(f[2]) for f in forces}) > 1
    with pytest.raises(tabi.ModelError, match="foot 'hand' not found in block"):
        seen[-1].forces["hand"]


def test_worlds_and_simulators_say_what_they_are():
    world = tabi.World()
    world.add_ground()
    world.add_robot(block())
    for k in range(4):
        world.add_box((0.1, 0.1, 0.1), 1.0, position=(1 + k, 0, 0.05), name=f"box{k}")
    assert repr(world) == "World(1 robots, 4 objects, 1 fixed)"
    sim = tabi.Simulator(world)
    assert repr(sim) == "Simulator(block, box0, box1, box2 and 1 more: 0 s in steps of 0.001 s)"
