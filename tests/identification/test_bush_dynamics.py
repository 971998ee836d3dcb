"""The linear system of a robot on its bushes: against the pendulum that it is when nothing else
gives way, and against its own poles.
"""

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.identification.bush_dynamics import Planted, operators, planted
from tabi.identification.damped_oscillation import IdentificationError
from tabi.model.joint import Motor
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

K, C = 900.0, 12.0


def record(tmp_path, servos: bool, bush: bool = True, **told):
    """A biped on its bushes, and its recording; at rest nearly."""
    robot = biped(ahead=0.0)
    if bush:
        robot.add_bush(**{"stiffness": K, "damping": C, "vertical_damping": 4e3} | told)
    world = tabi.World()
    world.add_ground(friction=0.9)
    robot = world.add_robot(robot)
    for name in robot.joint_names:
        joint = robot.joint(name)
        joint.prescribed, joint.motor = not servos, Motor(kp=2000.0, kd=40.0)
    # something else that moves
    world.add_box(size=(0.1, 0.1, 0.1), mass=2.0, position=(1.0, 0.0, 0.05))
    robot.stand_on_ground({})
    sim = tabi.Simulator(world)
    with sim.record(tmp_path / "run.hdf5"):
        sim.run(0.6)
    return robot, tabi.Recording.load(tmp_path / "run.hdf5")


def poles(system: Planted, step: float) -> np.ndarray:
    """Poles s of a system with bushes of K and C: M̂ x⁺ = … as a matrix of states (x, x⁻)."""
    U = system.pitch
    S, B = system.stiffness + K * U @ U.T, system.damping + C * U @ U.T
    n, M, H = len(S), system.mass, system.gravity
    if step == 0:
        A = np.block(
            [
                [np.zeros((n, n)), np.eye(n)],
                [-np.linalg.solve(M, S + H), -np.linalg.solve(M, B)],
            ]
        )
        return np.linalg.eigvals(A)
    left = M / step**2 + B / step + S
    now, before = 2 * M / step**2 + B / step - H, -M / step**2
    A = np.block(
        [[np.linalg.solve(left, now), np.linalg.solve(left, before)], [np.eye(n), np.zeros((n, n))]]
    )
    return np.log(np.linalg.eigvals(A).astype(complex)) / step


def test_rigid_robot_is_a_pendulum_with_its_inertia_and_m_g_h(tmp_path):
    """Differences of gravity of 1e-5 rad are good to 1e-7 or so; the robot has turned by less than
    1e-4 rad and its height counts from the axis.
    """
    robot, run = record(tmp_path, servos=False)
    system = planted(run, 0, len(run.time) - 1)
    X, below = robot.placements(), {f.sole for f in robot.bush.feet.values()}
    above = sum(
        (b.inertia.transformed(X[b]) for b in robot.bodies if b.name not in below), Inertia()
    )
    axis = X[robot.body("left_sole")].p
    above = above.transformed(translation(-axis))
    arm = above.centre
    assert system.tilting == pytest.approx(above.mass * 9.81 * arm[2], rel=1e-4)
    about = above.tensor[1, 1] + above.mass * (arm[0] ** 2 + arm[2] ** 2)
    assert system.inertia == pytest.approx(about, rel=1e-4)


@pytest.mark.slow
def test_gravity_has_a_potential(tmp_path):
    """H is the second derivative of an energy on what the soles allow, so it is symmetric."""
    for servos in (False, True):
        _, run = record(tmp_path, servos)
        H = planted(run, 0, len(run.time) - 1).gravity
        assert np.abs(H - H.T).max() < 1e-4 * np.abs(H).max()


@pytest.mark.parametrize("servos", [False, True])
@pytest.mark.parametrize("step", [0.0, 1e-3, 1e-2])
def test_bush_of_a_pole_is_the_one_that_makes_it(tmp_path, servos, step):
    _, run = record(tmp_path, servos)
    system = planted(run, 0, len(run.time) - 1)
    assert system.foot_count == 2
    found = []
    for s in poles(system, step):
        if s.imag > 0.1:
            _, rate, end = operators(s, step)
            # the other bushes of its poles are of feet that turn against each other
            found.append(abs(system.bush(s, step) / (K * end + C * rate) - 1))
    assert min(found) < 1e-8


def test_operators_of_small_steps_are_derivatives():
    pole = -2 + 12j
    continuous = operators(pole, 0.0)
    assert len(continuous) > 0
    for exact, stepped in zip(continuous, operators(pole, 1e-6), strict=True):
        # of first order in s h
        assert stepped == pytest.approx(exact, rel=2e-5)


@pytest.mark.slow
def test_robots_without_a_bush_and_older_recordings_say_what_to_do(tmp_path):
    _, run = record(tmp_path, True, bush=False)
    with pytest.raises(IdentificationError) as fault:
        planted(run, 0, 10)
    assert str(fault.value).startswith(
        "the recorded robot 'biped' has no ankle bush: no joint 'left_bush_pitch'; give it one"
    )
    _, run = record(tmp_path, True)
    run.world.dof["kp"] = np.full(run.world.v_count, np.nan)
    with pytest.raises(IdentificationError, match="which did not keep the gains of motors; record"):
        planted(run, 0, 10)
