"""Loops that ask for more than their joints can do: met as far as they can be, and reported."""

import warnings

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.model.body import Closure
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.simulation.faults import BondMismatchWarning
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import Transform, about, translation

CORNERS = np.array([[0.0, 0, 0], [0.0, 0, 0.15], [0.4, 0, 0.25], [0.5, 0, 0]])
ALONG_Y = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])


def linkage(kind="ball", out=0.0, off=(0.0, 0.0, 0.0), yaw=0.0, base="fixed"):
    """A plane four-bar of three rods on a base, closed by a bond.

    Args:
        out: how far the last place is out of the plane [m], of the chain and of the base alike, so
            that the loop fits. off: of the base's place alone, so that it does not. yaw: of all.
    """
    robot, parent = Robot("linkage"), None
    base_joint = Joint("base", base, placement=about((0.0, 0.0, 1.0), yaw))
    parent = robot.add_body("base", base_joint, None, solid_box(2.0, (0.1, 0.1, 0.1)))
    before = np.zeros(3)
    for k in range(3):
        along = CORNERS[k + 1] - CORNERS[k]
        rod = solid_box(0.5, (0.02, 0.02, 0.2)).transformed(translation(0.5 * along))
        joint = Joint(f"joint{k}", "revolute", axis=(0.0, 1.0, 0.0))
        joint.placement = translation(CORNERS[k] - before)
        parent = robot.add_body(f"rod{k}", joint, parent, rod)
        before = CORNERS[k]
    aside = np.array([0.0, out, 0.0])
    robot.bonds.append(
        Closure(
            kind,
            parent,
            robot.base,
            Transform(ALONG_Y, CORNERS[3] - CORNERS[2] + aside),
            Transform(ALONG_Y, CORNERS[3] + aside + np.array(off)),
        )
    )
    return robot


def simulated(robot, **settings):
    world = tabi.World(**settings)
    world.add_robot(robot)
    return tabi.Simulator(world)


def gap(sim):
    robot = sim.world.robots[0]
    return robot.bonds[0].gap({body: sim.pose(body) for body in robot.bodies})


@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 4])
@pytest.mark.parametrize("kind", ["ball", "hinge", "weld"])
@pytest.mark.parametrize("out", [0.0, 1e-9, 1e-6, 1e-3])
def test_a_plane_loop_swings_alike_however_it_is_closed_and_turned(kind, out, yaw):
    # a weld takes the last joint, too: nothing moves then
    sim, plain = simulated(linkage(kind, out, yaw=yaw)), simulated(linkage("hinge"))
    sim.run(0.3)
    plain.run(0.3)
    assert not sim.missed
    assert sim.certificate.converged
    assert not sim.certificate.bond_mismatch
    assert gap(sim) < 1e-7
    if kind == "weld":
        assert np.abs(sim.data.v).max() < 1e-9
        assert sim.state.q == pytest.approx(np.zeros(3), abs=1e-9)
    else:
        assert sim.state.q == pytest.approx(plain.state.q, abs=1e-7)
        assert np.abs(plain.data.v).max() > 1.0


def test_redundant_bonds_share_a_load():
    # a beam on four balls in line: three too many for its weight
    world = tabi.World()
    beam = world.add_box(size=(1.0, 0.1, 0.1), mass=4.0, position=(0, 0, 1.0), name="beam")
    places = (-0.45, -0.15, 0.15, 0.45)
    for k, x in enumerate(places):
        world.add_box(size=(0.1, 0.1, 0.1), mass=1.0, position=(x, 0, 0.8), name=f"post{k}")
    sim = tabi.Simulator(world)
    balls = [sim.bond("ball", beam, f"post{k}", point=(x, 0, 0.9)) for k, x in enumerate(places)]
    for k in range(4):
        sim.bond("weld", f"post{k}", world.fixed)
    sim.run(0.01)
    forces = [ball.force[2] for ball in balls]
    # the least impulses, each weighed by how easily its bodies move alone
    assert sum(forces) == pytest.approx(4 * 9.81, rel=1e-9)
    assert forces == pytest.approx(forces[::-1], rel=1e-9)
    assert forces == pytest.approx(4 * [9.81], rel=0.05)
    assert not sim.missed


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("off", [1e-6, 1e-3])
def test_what_cannot_be_met_is_reported_by_name_and_the_rest_goes_on(off, base):
    sim = simulated(linkage("ball", off=(0.0, off, 0.0), base=base))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sim.run(0.2)
    words = [str(one.message) for one in said if one.category is BondMismatchWarning]
    # the mismatch is said where it is more than a micrometre
    assert len(words) == (off > 1e-6)
    for line in words:
        assert "ball of 'rod2' and 'base' by 1 mm" in line
    assert not sim.missed
    (name, (apart, turned)), *others = sim.certificate.bond_mismatch.items()
    assert (name, others) == ("ball of 'rod2' and 'base'", [])
    assert (apart, turned) == (pytest.approx(off, rel=1e-3), 0.0)
    assert "1 bond that cannot be met; ball of 'rod2' and 'base' is open" in str(sim.certificate)
    # it swings as one that fits
    fits = simulated(linkage("ball", base=base))
    fits.run(0.2)
    assert sim.state.q[-3:] == pytest.approx(fits.state.q[-3:], abs=1e-4)


@pytest.mark.parametrize("off", [1e-6, 1e-3, 1e-2])
def test_an_offset_in_the_plane_is_closed_without_gaining_speed(off):
    sim = simulated(linkage("hinge", off=(off, 0.0, 0.0)), gravity=(0.0, 0.0, 0.0))
    assert gap(sim) == pytest.approx(off)
    steps = 0
    while gap(sim) > 1e-9:
        sim.step()
        steps += 1
        assert sim.energy.kinetic < 1e-20
        assert steps < 200
    # with half a metre a second at most, of the masses of the rods
    assert steps >= off / (0.5 * sim.dt) / 4


def test_a_light_rod_in_a_loop_follows_its_curve():
    """The curve of a bond is that of the velocities before the step, whatever forces would do to a
    light link without its bond."""
    robot = linkage("hinge")
    robot.bodies[2].inertia = robot.bodies[2].inertia.scaled(1e-4)
    robot.joint("joint0").motor = tabi.model.joint.Motor(kp=2000.0, kd=20.0)
    sim = simulated(robot)
    sim.set_controller(
        sim.world.robots[0],
        lambda t, m: tabi.Command(position=np.array([0.3 * np.sin(20 * t), 0.0, 0.0])),
    )
    worst = 0.0
    for _ in range(300):
        sim.step()
        worst = max(worst, gap(sim))
    assert np.abs(sim.data.v).max() > 1.0
    # third order of the step: h³ times the jerk of some hundred m/s³
    assert worst < 1e-6
    assert not sim.missed


def test_a_bond_that_holds_nothing_is_refused():
    world = tabi.World()
    robot = linkage()
    robot.bonds.clear()
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    with pytest.raises(ModelError, match="holds nothing"):
        sim.bond("ball", "rod1", "rod0", point=CORNERS[1])
    # a little beside the axis it holds the joint
    sim.bond("ball", "rod1", "rod0", point=CORNERS[1] + [0.01, 0.0, 0.0])


def test_limits_beyond_which_a_loop_starts_do_not_throw_it():
    robot = linkage("ball")
    for k in range(3):
        robot.joint(f"joint{k}").lower, robot.joint(f"joint{k}").upper = 0.3, 0.5
    sim = simulated(robot)
    fastest = 0.0
    for _ in range(300):
        sim.step()
        fastest = max(fastest, np.abs(sim.data.v).max())
    assert np.isfinite(sim.state.q).all()
    assert fastest < 20.0


@pytest.mark.parametrize("contact", ["coulomb", "pyramid", "frictionless"])
def test_laws_know_bonds(contact):
    world = tabi.World()
    world.add_ground(friction=0.5)
    for k in range(2):
        world.add_box(size=(0.2, 0.2, 0.2), mass=1.0, position=(0.25 * k, 0, 0.1), name=f"b{k}")
    sim = tabi.Simulator(world, contact=contact)
    weld = sim.bond("weld", "b0", "b1")
    sim.apply_force("b1", force=(0.0, 0.0, 15.0), duration=0.1)
    sim.run(0.1)
    assert np.linalg.norm(sim.position("b1") - sim.position("b0")) == pytest.approx(0.25, abs=1e-6)
    assert np.linalg.norm(weld.force) > 1.0


@pytest.mark.parametrize("yaw", [0.0, 0.7])
def test_a_gap_that_cannot_close_turns_with_its_robot_and_is_no_velocity(yaw):
    robot = linkage(off=(0.0, 1e-3, 0.0), yaw=yaw, base="floating")
    sim = simulated(robot, gravity=(0.0, 0.0, 0.0))
    v = sim.state.v.copy()
    v[3:6] = 3.0, -2.0, 5.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BondMismatchWarning)
        sim.set_state(sim.state.q, v)
        sim.run(0.2)
    # the speed of turning times the gap would be 6 mm/s
    assert np.abs(sim.data.bond_unmet).max() < 1e-6
    assert gap(sim) == pytest.approx(1e-3, abs=1e-8)
    assert not sim.missed
