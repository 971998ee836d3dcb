"""ABA, RNEA and CRBA against Pinocchio, 10 random states a robot, on robots nobody here wrote.

The bound is 1e-10, normwise relative. Accelerations of a robot whose mass matrix has a condition
number κ above 4e5 are not defined better than κ times the rounding unit, in any engine (iCub:
κ = 6e10, and Pinocchio's two conventions differ by 1.6e-6); there the bound is that product, and
what is held to rounding everywhere is the backward error.
"""

import numpy as np
import pytest
from worlds import free_of_mimic, random_robot, random_state, relative, without_shapes

import tabi
from tabi import dynamics

pin = pytest.importorskip("pinocchio")
from tabi.lab.pinocchio import Referee, build  # noqa: E402

BOUND = 1e-10
STATES = 10


def worst_errors(robot, pin_model, base=None, states=STATES):
    """Largest relative errors of ABA (beyond what its condition number explains), RNEA and CRBA,
    and ABA's backward error.

    Joint forces and accelerations are matched by joint name.
    """
    model = robot.compile()
    referee, data = Referee(model, pin_model, base), pin_model.createData()
    rng = np.random.default_rng(0)
    assert pin_model.nv == model.v_count
    worst = np.zeros(4)
    for _ in range(states):
        q, v = random_state(model, rng)
        tau, a = 10 * rng.normal(size=model.v_count), rng.normal(size=model.v_count)
        T, qp = referee.rates(q), referee.configuration(q)
        # T is orthogonal: forces map as velocities do
        forward = pin.aba(pin_model, data, qp, T @ v, T @ tau).copy()
        inverse = pin.rnea(pin_model, data, qp, T @ v, referee.acceleration(q, v, a)).copy()
        M = pin.crba(pin_model, data, qp)
        M = np.triu(M) + np.triu(M, 1).T
        ours = dynamics.forward_dynamics(model, q, v, tau)
        left = (
            M @ referee.acceleration(q, v, ours)
            - T @ tau
            + pin.nonLinearEffects(pin_model, data, qp, T @ v)
        )
        blurred = max(1.0, np.linalg.cond(M) * np.finfo(float).eps / BOUND)
        errors = (
            relative(referee.acceleration(q, v, ours), forward) / blurred,
            relative(T @ dynamics.inverse_dynamics(model, q, v, a), inverse),
            relative(dynamics.mass_matrix(model, q), T.T @ M @ T),
            np.linalg.norm(left) / (np.linalg.norm(M) * np.linalg.norm(forward)),
        )
        worst = np.maximum(worst, errors)
    return worst


@pytest.mark.parametrize("name", tabi.robots.__all__)
def test_built_in_robots_agree_with_pinocchio(name):
    robot = getattr(tabi.robots, name)()
    assert worst_errors(robot, build(robot)).max() < BOUND


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_of_every_joint_agree_with_pinocchio(seed):
    robot = random_robot(seed, base="fixed" if seed == 0 else "floating")
    assert worst_errors(robot, build(robot)).max() < BOUND


@pytest.mark.parametrize("file", ["jvrc1/jvrc1.urdf", "hrp4c/HRP4Cmain.urdf", "sr1/SR1.urdf"])
def test_humanoids_read_from_urdf_agree_with_pinocchio_reading_the_same_file(shared, file):
    path = shared / "data" / "robots" / file
    pin_model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    assert worst_errors(free_of_mimic(tabi.load(path)), pin_model, "root_joint").max() < BOUND


def test_openhrp_sample_robot_agrees_with_pinocchio(shared):
    robot = tabi.load(shared / "data" / "robots" / "sr1" / "sample1.wrl")
    assert worst_errors(robot, build(robot)).max() < BOUND


def urdf_files(folder):
    """One URDF of every robot package: the largest, which has most joints."""
    for package in sorted(p for p in folder.iterdir() if p.is_dir()):
        files = sorted(package.rglob("*.urdf"), key=lambda f: (-f.stat().st_size, f.name))
        yield package.name, files


@pytest.mark.slow
def test_robots_of_example_robot_data_agree_with_pinocchio(example_robots, tmp_path):
    """Every package that loads at all is compared; the table of errors and refusals is printed."""
    rows, loaded = [], 0
    for package, files in urdf_files(example_robots):
        reason = "no URDF in it"
        for file in files:
            try:
                bare = without_shapes(file, tmp_path / package)
                robot = free_of_mimic(tabi.load(bare, base="floating", gains=False))
                model = robot.compile()
            except tabi.ModelError as error:
                reason = str(error)
                continue
            pin_model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
            errors = worst_errors(robot, pin_model, "root_joint")
            rows.append((package, file.name, model.v_count, *errors))
            loaded += 1
            break
        else:
            rows.append((package, reason))
    for row in rows:
        print(
            f"{row[0]:32} {row[1]:40} {row[2]:4}  " + "  ".join(f"{e:.1e}" for e in row[3:])
            if len(row) > 2
            else f"{row[0]:32} refused: {row[1]}"
        )
    print(f"{loaded} of {len(rows)} packages load")
    # 42 packages in version 5 of example-robot-data, 39 in version 6, one of them without a URDF
    assert loaded >= 38
    compared = [row for row in rows if len(row) > 2]
    assert max(max(row[3:]) for row in compared) < BOUND
