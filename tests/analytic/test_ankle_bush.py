"""A robot on the rubber of its ankles against closed forms: how far it sinks, how it swings, and
when it falls.

All joints but those of the bush are prescribed, so that what is above it is one rigid body: an
inverted pendulum of mass m, inertia I about the bush's axis and centre at the height h. On a spring
K with a damper C, for small angles,

    I φ̈ + C φ̇ + (K − m g h) φ = 0,    ω² = (K − m g h)/I.                                       (1)
Steps of h_t take the spring and the damper at their end and gravity at their beginning,

    I (φ⁺ − 2φ + φ⁻)/h_t² + C (φ⁺ − φ)/h_t + K φ⁺ − m g h φ = 0,                                 (2)
which to first order is (1) with C + h_t K for C: the scheme's own damping.
"""

import numpy as np
import pytest
from bipeds import SOLE, biped

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import translation

G = 9.81


def pendulum(mass: float = 10.0, height: float = 0.7, **bush) -> tuple[Robot, float, float]:
    """A block with one foot, its ankle held; K_z is so large that it only turns. Returns it with
    m g h and I about the bush's axis of what is above it.
    """
    robot = Robot("pendulum")
    body = solid_box(mass, (0.2, 0.2, 0.4))
    robot.add_body("block", Joint("root", "floating"), None, body)
    ankle = Joint("ankle", "revolute", translation((0, 0, -height)), (0, 1, 0), prescribed=True)
    foot = solid_box(1.0, (0.2, 0.08, 0.1))
    robot.add_body("foot", ankle, "block", foot)
    robot.add_foot("only", "foot", SOLE - np.array([0.05, 0.0]), (0, 0, -0.05))
    robot.add_bush(vertical_stiffness=1e8, vertical_damping=1e5, **bush)
    above = body.transformed(translation((0, 0, height))) + robot.body("foot").inertia
    about = above.tensor[1, 1] + above.mass * above.centre[2] ** 2
    return robot, above.mass * G * above.centre[2], about


def swing(robot: Robot, dt: float, time: float, angle: float = 1e-3) -> np.ndarray:
    """Pitch of the bush over time, released at an angle [rad]."""
    world = tabi.World()
    world.add_ground(friction=2.0)
    robot = world.add_robot(robot)
    pitch = robot.bush.feet["only"].pitch
    robot.stand_on_ground({pitch: angle})
    sim = tabi.Simulator(world, dt=dt, tolerance=1e-10)
    k, track = sim.model.q_index(pitch), []
    for _ in range(round(time / dt)):
        track.append(sim.data.q[k])
        sim.step()
    return np.array(track)


def poles(track: np.ndarray, dt: float) -> complex:
    """s of a damped oscillation sampled without noise: samples obey φ⁺ = a φ + b φ⁻."""
    before, now, after = track[:-2], track[1:-1], track[2:]
    a, b = np.linalg.lstsq(np.stack([now, before], axis=1), after, rcond=None)[0]
    z = np.roots([1, -a, -b])
    return complex(np.log(z[np.argmax(z.imag)]) / dt)


def test_pendulum_on_the_bush_swings_with_the_frequency_and_damping_of_the_scheme():
    """Equation (2) has no remainder but that of small angles, (1e-3)² here, and what z and the
    sole's contact, exact to 1e-10 m/s, give way.
    """
    K, C, dt = 800.0, 6.0, 1e-3
    robot, mgh, inertia = pendulum(stiffness=K, damping=C)
    s = poles(swing(robot, dt, 1.0), dt)
    z = np.exp(s * dt)
    terms = [inertia * (z - 2 + 1 / z) / dt**2, C * (z - 1) / dt, K * z, -mgh]
    assert abs(sum(terms)) < 1e-4 * K


@pytest.mark.parametrize("dt", [2e-3, 5e-4])
def test_frequency_and_damping_are_those_of_the_formula_to_first_order_in_the_step(dt):
    """ω² = (K − m g h)/I, ζ = (C + h K)/(2 I ω); what is left out is of the size of ω h."""
    K, C = 800.0, 6.0
    robot, mgh, inertia = pendulum(stiffness=K, damping=C)
    s = poles(swing(robot, dt, 1.0), dt)
    omega = np.sqrt((K - mgh) / inertia)
    assert abs(s) == pytest.approx(omega, rel=omega * dt)
    assert -s.real / abs(s) == pytest.approx((C + dt * K) / (2 * inertia * omega), rel=omega * dt)


def test_pendulum_falls_where_the_bush_is_softer_than_m_g_h():
    """φ grows as e^(√((m g h − K)/I) t) below, and stays below its start above."""
    robot, mgh, inertia = pendulum(stiffness=1.0, damping=0.5)
    world = tabi.World()
    world.add_ground(friction=2.0)
    robot = world.add_robot(robot)
    bush = robot.bush.feet["only"]
    for ratio, falls in ((0.9, True), (1.1, False)):
        robot.stand_on_ground({bush.pitch: 1e-3})
        sim = tabi.Simulator(world, dt=1e-3)
        # roll has no tilt to begin with, but should have no reason to fall
        robot.set_bush(sim.model, stiffness=ratio * mgh)
        sim.model.set_joint(bush.roll, stiffness=1e6)
        sim.run(4.0)
        angle = sim.state.q[sim.model.q_index(bush.pitch)]
        growth = np.exp(0.9 * np.sqrt(abs(1 - ratio) * mgh / inertia) * 4.0)
        assert (abs(angle) > 1e-3 * growth / 2) == falls
        assert falls or abs(angle) < 1e-3


@pytest.mark.parametrize("below", [None, 0.2])
def test_each_bush_carries_half_of_what_is_above_it(below):
    """Both slides give way by (m − m_below) g/(2 K_z): 1e-6 of it is the vibration that is left.
    The trunk's centre is beside the middle, so that each foot has its own share, and their sum
    does not care.
    """
    K = 2e4
    for aside, symmetric in ((0.0, True), (0.03, False)):
        robot = biped(ahead=0.0)
        trunk = robot.body("trunk").inertia
        robot.body("trunk").inertia = Inertia(
            trunk.mass, trunk.centre + np.array([0, aside, 0]), trunk.tensor
        )
        for name in robot.joint_names:
            robot.joint(name).prescribed = True
        # nearly critical, to be at rest soon
        damping = 2 * np.sqrt(K * robot.mass / 2)
        bush = robot.add_bush(5e3, 300.0, K, damping, mass_below=below)
        world = tabi.World()
        world.add_ground(friction=0.9)
        robot = world.add_robot(robot)
        robot.stand_on_ground()
        sim = tabi.Simulator(world)
        sim.run(3.0)
        m_below = 2 * (below or 0.8 * 1.0)
        sink = (robot.mass - m_below) * G / (2 * K)
        shift = [sim.state.q[sim.model.q_index(foot.z)] for foot in bush.feet.values()]
        assert np.mean(shift) == pytest.approx(sink, rel=1e-6)
        assert (shift[0] == pytest.approx(shift[1], rel=1e-6)) == symmetric


def test_held_joints_and_a_bush_amplify_a_load_by_k_over_k_less_m_g_h():
    """A horizontal force F at the centre of mass turns the pendulum by F h/(K − m g h): at K a
    little above m g h a small push is a large lean.
    """
    robot, mgh, _ = pendulum(stiffness=1.0, damping=20.0)
    world = tabi.World()
    world.add_ground(friction=2.0)
    robot = world.add_robot(robot)
    bush, force, height = robot.bush.feet["only"], 0.05, 0.7
    lean = {}
    for ratio in (1.3, 10.0):
        robot.stand_on_ground()
        sim = tabi.Simulator(world)
        robot.set_bush(sim.model, stiffness=ratio * mgh)
        sim.apply_force(robot.body("block"), (force, 0, 0), duration=8.0)
        sim.run(8.0)
        lean[ratio] = abs(sim.state.q[sim.model.q_index(bush.pitch)])
        # the arm is that of the pushed centre
        assert lean[ratio] == pytest.approx(force * height / ((ratio - 1) * mgh), rel=1e-3)
