"""What turns keeps its energy: bodies by themselves to the last digit,
trees to the order of the step.
"""

import numpy as np
import pytest

import tabi
from tabi import dynamics
from tabi.dynamics import gyroscopic
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Shape, Sphere
from tabi.spatial.inertia import Inertia, solid_box, solid_capsule
from tabi.spatial.transform import about, translation
from tabi.step.forces import joint_limits

# a capsule along x
SIDEWAYS = about((0, 1, 0), np.pi / 2)


def random_case(seed, h):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    J = 0.01 * A @ A.T + 1e-3 * np.eye(3)
    omega, N = 30 * rng.normal(size=3), rng.normal(size=3)
    explicit = omega + h * np.linalg.solve(J, N - np.cross(omega, J @ omega))
    return (
        J,
        omega,
        N,
        explicit,
        np.array(gyroscopic.spin(tuple(J[np.triu_indices(3)]), tuple(omega), tuple(explicit), h)),
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_energy_of_rotation_changes_by_the_work_of_the_torque_alone(seed):
    h = 1e-3
    J, omega, N, explicit, after = random_case(seed, h)
    gained = 0.5 * after @ J @ after - 0.5 * omega @ J @ omega - h * N @ (omega + after) / 2
    assert abs(gained) < 1e-12 * omega @ J @ omega
    assert (
        0.5 * explicit @ J @ explicit - 0.5 * omega @ J @ omega - h * N @ (omega + explicit) / 2 > 0
    )


def test_it_differs_from_the_explicit_value_in_second_order():
    differences = []
    for h in (1e-4, 5e-5):
        *_, explicit, after = random_case(1, h)
        differences.append(np.linalg.norm(after - explicit))
    assert differences[0] / differences[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.slow
def test_a_slender_thing_that_spins_on_smooth_ground_does_not_spin_ever_faster():
    world = tabi.World()
    world.add_ground(friction=0.0)
    world.add_capsule(
        0.03, 0.28, 7.0, position=(0, 0, 0.03), quaternion=(np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    )
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), (0, 0, 0, 100, 1, 20))
    start = most = sim.energy.total
    for _ in range(1000):
        sim.step()
        most = max(most, sim.energy.total)
    # each step may lift it out of the overlap that turning by 0.1 rad leaves
    assert most - start < 1000 * 7.0 * 9.81 * sim.certificate.worst_penetration
    # explicit products would make ten times as much of it in a second
    assert most < 1.2 * start


def test_what_is_near_the_ground_and_does_not_touch_it_keeps_its_spin():
    world = tabi.World(gravity=(0, 0, 0))
    world.add_ground()
    size = (0.1, 0.2, 0.3)
    box = world.add_box(size, 1.0, position=(0, 0, 0.24))
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), (0, 0, -0.5, 60, 40, 80))
    before = tabi.dynamics.momentum(sim.model, sim.state.q, sim.state.v).angular
    near = 0
    while sim.position(box)[2] > 0.5 * np.linalg.norm(size) + 1e-3:
        sim.step()
        near += len(sim.contacts)
    assert near > 5
    after = tabi.dynamics.momentum(sim.model, sim.state.q, sim.state.v).angular
    np.testing.assert_allclose(after, before, atol=1e-9 * np.linalg.norm(before))


def test_a_thing_in_flight_keeps_its_energy_too():
    losses = []
    for dt in (1e-3, 5e-4):
        world = tabi.World(gravity=(0, 0, 0))
        world.add_capsule(0.03, 0.28, 7.0)
        sim = tabi.Simulator(world, dt=dt)
        sim.set_state(sim.model.initial(), (0, 0, 0, 20, 1, 100))
        start = sim.energy.total
        sim.run(1.5)
        losses.append(abs(sim.energy.total / start - 1))
    # turned by the velocity at the end of each step, it would have lost half of it
    assert losses[0] < 0.01
    assert losses[1] < losses[0] / 4


def test_what_is_turned_out_of_an_overlap_takes_its_spin_along_and_its_centre_keeps_its_velocity():
    world = tabi.World()
    off = Inertia(1.0, np.array([0.02, -0.01, 0.03]), np.diag([0.01, 0.02, 0.015]))
    world.add_object(Box((0.1, 0.2, 0.3)), off)
    sim = tabi.Simulator(world)
    rng = np.random.default_rng(0)
    v, change, h = rng.normal(size=6), rng.normal(size=6), 0.3
    free, old, w = v.copy(), change.copy(), sim._stepper.workspace.dynamics
    # something holds it: it does not fly
    w.body["acted_on"][1] = 1
    gyroscopic.turn(sim.model.arrays, np.zeros(6), free, w, h, True, change)
    R = about(old[3:], h * np.linalg.norm(old[3:])).R
    np.testing.assert_allclose(free[3:], R @ v[3:], atol=1e-12)
    np.testing.assert_allclose(
        free[:3] + np.cross(free[3:], R @ off.centre),
        v[:3] + np.cross(v[3:], off.centre),
        atol=1e-12,
    )
    # the centre is brought as far as the change says
    moved = h * change[:3] + R @ off.centre - off.centre
    np.testing.assert_allclose(moved, h * (old[:3] + np.cross(old[3:], off.centre)), atol=1e-12)


def test_an_impact_gives_a_body_its_impulse_and_no_energy_wherever_its_origin_is():
    rng = np.random.default_rng(4)
    for _ in range(20):
        world = tabi.World(gravity=(0, 0, 0))
        world.add_ground(friction=0.6, restitution=0.8)
        shift = rng.uniform(-0.05, 0.05, 3)
        world.add_object(
            Sphere(0.1), Inertia(1.0, shift, np.diag([4e-3, 5e-3, 6e-3])), position=(0, 0, 0.1005)
        )
        sim = tabi.Simulator(world)
        sim.set_state(sim.model.initial(), (*rng.normal(size=2), -3.0, *(60 * rng.normal(size=3))))
        momentum = lambda: dynamics.momentum(sim.model, sim.state.q, sim.state.v).linear  # noqa: B023, E731
        before, energy = momentum(), sim.energy.kinetic
        sim.step()
        impulse = sum(sim.dt * c.force for c in sim.contacts)
        assert np.linalg.norm(impulse) > 0.1
        np.testing.assert_allclose(momentum() - before, impulse, atol=1e-12)
        assert sim.energy.kinetic <= energy * (1 + 1e-10)


def spinning_tree(kind, dt):
    """Two slender links on smooth ground, spinning together at 40 rad/s, for half a second;
    energy over that at the start.
    """
    robot = Robot("two")
    for k, joint in enumerate(
        (
            Joint("base", "floating"),
            Joint("link", kind, translation((0.16, 0.0, 0.0)), (0.0, 0.0, 1.0)),
        )
    ):
        shape = Shape(Capsule(0.03, 0.2), SIDEWAYS)
        inertia = solid_capsule(1.0 + k, 0.03, 0.2).transformed(SIDEWAYS) + solid_box(
            0.2, (0.05, 0.1, 0.02)
        )
        robot.add_body(
            f"body{k}", joint, robot.bodies[-1] if robot.bodies else None, inertia, [shape]
        )
    robot.place((0, 0, 0.031))
    world = tabi.World()
    world.add_ground(friction=0.0)
    world.add_robot(robot)
    sim = tabi.Simulator(world, dt=dt)
    v = np.zeros(sim.model.v_count)
    v[3:6] = (40.0, 2.0, 10.0)
    sim.set_state(sim.model.initial(), v)
    start = sim.energy.total
    most = start
    for _ in range(round(0.5 / dt)):
        sim.step()
        most = max(most, sim.energy.total)
    return most / start - 1


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_a_tree_that_spins_on_smooth_ground_gains_little_and_less_with_a_smaller_step(kind):
    gains = [spinning_tree(kind, dt) for dt in (2e-3, 1e-3)]
    # (h ω)² a step, were its products explicit: 0.0016 · 500 steps
    assert gains[1] < 0.02
    assert gains[1] <= max(0.7 * gains[0], 1e-4)


def test_what_stands_still_or_is_held_is_left_alone():
    world = tabi.World()
    world.add_box((0.1, 0.2, 0.3), 1.0)
    sim = tabi.Simulator(world)
    free = np.arange(6.0)
    gyroscopic.keep_energy(sim.model.arrays, 1e-3, sim._stepper.workspace.dynamics, free)
    assert not gyroscopic.fast(sim.model.arrays, 1e-3, sim._stepper.workspace.dynamics)
    assert free.tolist() == list(range(6))


def test_a_joint_that_a_wrong_guess_throws_to_its_end_brings_no_momentum():
    robot = Robot("arm")
    base = robot.add_body("base", Joint("base", "floating"), None, solid_box(2.0, (0.2, 0.1, 0.3)))
    place = translation((0.2, 0.1, 0.0))
    hinge = Joint("hinge", "revolute", place, (0, 0, 1), lower=-1.5, upper=1.5)
    robot.add_body("link", hinge, base, solid_box(1.0, (0.1, 0.3, 0.1)))
    world = tabi.World()
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    v = np.array([0.3, -0.2, 0.1, 20.0, -10.0, 15.0, 4.0])
    sim.set_state(sim.model.initial(), v)
    M, bias, stepper = sim.mass_matrix(), sim.bias_forces(), sim._stepper
    h, at = sim.dt, sim.v_slice("hinge").start
    # as at the beginning of a step
    stepper.workspace.turning[0] = np.linalg.norm(v[3:6])
    stepper.data.memory.joint["mode"][at] = joint_limits.LOWER
    assert stepper.step.units.free_motion(stepper.tables, stepper.data, stepper.workspace, h, 0)
    free = stepper.workspace.v_free
    assert free[at] == pytest.approx(-1.5 / h)
    # what holds the joint is inside of the robot: nothing acts on its base but inertia
    np.testing.assert_allclose((M @ (free - v) + h * bias)[:6], 0.0, atol=1e-9)
