"""Errors of tasks against their definitions, and their rows against central differences and
Pinocchio.
"""

import numpy as np
import pytest
from control.inverse_kinematics.arms import random_transform, within_limits
from worlds import random_robot

import tabi
from tabi import dynamics
from tabi.control.inverse_kinematics import errors
from tabi.dynamics import kinematics
from tabi.model.joint import Mimic
from tabi.robots.files import quietly
from tabi.spatial.transform import Transform, about

# central differences with steps of 1e-6: rounding 1e-16/1e-6, truncation 1e-12
DIFFERENCE = 1e-8


def tables_of(ik):
    return ik._ready(), ik.model.arrays, ik._work


def errors_at(ik, q):
    t, m, w = tables_of(ik)
    e = np.zeros(len(t.e))
    kinematics.positions(m, q, w)
    errors.errors(m, w, q, t, e)
    return e


def rows_at(ik, q):
    t, m, w = tables_of(ik)
    errors_at(ik, q)
    errors.rows(m, w, q, t, len(t.levels))
    return t.B[t.free].T.copy()


def differences(ik, q, h=1e-6):
    """−∂e/∂x by the joints that are free; followers go along."""
    t, model = ik._ready(), ik.model
    columns = []
    for k in t.free:
        ends = []
        for sign in (1, -1):
            x = np.zeros(model.v_count)
            x[k] = sign * h
            ends.append(errors_at(ik, dynamics.integrate(model, q, x, 1.0)))
        columns.append((ends[1] - ends[0]) / (2 * h))
    return np.array(columns).T


def with_all_tasks(robot, rng):
    ik = tabi.control.InverseKinematics(robot)
    names = [body.name for body in robot.bodies]
    full = ik.pose(names[-1], weight=2.0, rotation_weight=0.3)
    full.target = random_transform(rng)
    part = ik.pose(names[-2], position="xz", orientation="y", point=(0.1, 0.2, -0.1))
    part.target = random_transform(rng)
    ik.centre_of_mass(axes="xy", weight=3.0).target = rng.normal(size=3)
    ik.gaze(names[-1], axis=rng.normal(size=3)).target = rng.normal(size=3)
    ik.posture(priority=1, weight=0.5).target = within_limits(ik.model, rng)
    return ik


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_rows_are_the_derivatives_of_errors_on_any_tree(seed):
    rng = np.random.default_rng(seed)
    # every kind of joint but one that floats in the middle, of which no posture knows
    kinds = ("revolute", "prismatic", "spherical", "planar", "continuous", "fixed")
    ik = with_all_tasks(random_robot(seed, kinds=kinds), rng)
    q = within_limits(ik.model, rng)
    B = rows_at(ik, q)
    assert np.abs(B).max() > 0.1
    np.testing.assert_allclose(B, differences(ik, q), atol=DIFFERENCE)


def test_rows_of_leaders_hold_those_of_their_followers():
    robot = random_robot(3, kinds=("revolute",))
    robot.joint("joint5").mimic = Mimic("joint2", -1.5, 0.2)
    robot.joint("joint7").mimic = Mimic("joint5", 0.5, 0.1)
    rng = np.random.default_rng(0)
    ik = with_all_tasks(robot, rng)
    q = within_limits(ik.model, rng)
    assert len(ik._ready().free) == ik.model.v_count - 2
    np.testing.assert_allclose(rows_at(ik, q), differences(ik, q), atol=DIFFERENCE)


def test_gaze_is_right_near_its_target_and_far_behind():
    robot = random_robot(1, kinds=("revolute",))
    ik = tabi.control.InverseKinematics(robot)
    gaze = ik.gaze("body11", axis=(1.0, 0.0, 0.0))
    q = within_limits(ik.model, np.random.default_rng(2))
    X = dynamics.pose(ik.model, q, "body11")
    for angle in (1e-9, 1e-5, 1e-3, 0.5, 2.0, 3.1):
        gaze.target = X @ (2.0 * np.array([np.cos(angle), np.sin(angle), 0.0]))
        assert np.linalg.norm(errors_at(ik, q)) == pytest.approx(angle, rel=1e-6)
        # steep towards half a turn: f grows as 1/ρ
        bound = DIFFERENCE / (np.pi - angle) ** 3
        np.testing.assert_allclose(rows_at(ik, q), differences(ik, q), atol=bound)


def test_orientation_is_the_angle_between_two_rotations():
    robot = random_robot(1, kinds=("revolute",))
    ik = tabi.control.InverseKinematics(robot)
    task = ik.pose("body11", position="")
    q = within_limits(ik.model, np.random.default_rng(2))
    X = dynamics.pose(ik.model, q, "body11")
    for angle in (1e-12, 1e-6, 0.3, 3.0, np.pi):
        axis = np.array([1.0, 2.0, -0.5])
        task.target = Transform(about(axis, angle).R @ X.R, X.p)
        e = errors_at(ik, q)
        assert np.linalg.norm(e) == pytest.approx(angle, rel=1e-3, abs=1e-15)
        assert np.linalg.norm(np.cross(e, axis)) < 1e-7


@pytest.mark.slow
def test_rows_agree_with_pinocchio(example_robots):
    pin = pytest.importorskip("pinocchio")
    from tabi.lab.pinocchio import Referee

    file = example_robots / "talos_data/robots/talos_reduced.urdf"
    with quietly():
        robot = tabi.load(file, base="floating")
    ik = tabi.control.InverseKinematics(robot)
    model, rng = ik.model, np.random.default_rng(0)
    task = ik.pose("gripper_left_base_link")
    ik.centre_of_mass(priority=1)
    pin_model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    data, referee = pin_model.createData(), Referee(model, pin_model, "root_joint")
    frame = pin_model.getFrameId("gripper_left_base_link")
    for _ in range(20):
        q = within_limits(model, rng)
        T, qp = referee.rates(q), referee.configuration(q)
        pin.framesForwardKinematics(pin_model, data, qp)
        # at the target, where the rotation vector turns as the body does
        task.target = Transform(data.oMf[frame].rotation, data.oMf[frame].translation)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pin.computeFrameJacobian(pin_model, data, qp, frame, world) @ T
        Jc = pin.jacobianCenterOfMass(pin_model, data, qp) @ T
        B = rows_at(ik, q)
        assert np.abs(errors_at(ik, q)[:6]).max() < 1e-12
        np.testing.assert_allclose(B[:6], J, atol=1e-12)
        np.testing.assert_allclose(B[6:9], Jc, atol=1e-12)
