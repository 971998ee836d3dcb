"""Kernels of kinematics, integration and Jacobians on single joints, by hand."""

import numpy as np
import pytest

from tabi import dynamics
from tabi.dynamics import integration, jacobian, kinematics, workspace
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import about, cross_matrix, from_quaternion, translation


def single(kind, axis=(0, 0, 1)):
    robot = Robot("one")
    robot.add_body("post", Joint("post", "fixed"))
    robot.add_body(
        "body",
        Joint("joint", kind, translation((1, 2, 3)), axis),
        "post",
        solid_box(1.0, (0.1, 0.2, 0.3)),
    )
    return robot.compile()


@pytest.mark.parametrize(
    ("kind", "axis", "q", "R", "p"),
    [
        ("revolute", (0, 2, 0), [0.5], about((0, 1, 0), 0.5).R, (1, 2, 3)),
        ("continuous", (1, 1, 0), [-4.0], about((1, 1, 0), -4.0).R, (1, 2, 3)),
        ("prismatic", (0, 3, 4), [0.5], np.eye(3), (1, 2 + 0.3, 3 + 0.4)),
        ("spherical", (0, 0, 1), [0.5, 0.5, 0.5, 0.5], from_quaternion((1, 1, 1, 1)).R, (1, 2, 3)),
        ("planar", (0, 0, 1), [0.1, -0.2, 0.7], about((0, 0, 1), 0.7).R, (1.1, 1.8, 3)),
        # the smallest turn takes z to x: the plane's first axis is then −z
        ("planar", (1, 0, 0), [0.1, -0.2, 0.7], about((1, 0, 0), 0.7).R, (1, 1.8, 2.9)),
        (
            "floating",
            (0, 0, 1),
            [0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5],
            from_quaternion((1, 1, 1, 1)).R,
            (1.1, 2.2, 3.3),
        ),
    ],
)
def test_a_joint_puts_its_body_where_its_kind_says(kind, axis, q, R, p):
    X = dynamics.pose(single(kind, axis), q, "body")
    assert np.allclose(X.R, R, atol=1e-15)
    assert np.allclose(X.p, p, atol=1e-15)


@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_configurations_stay_on_the_manifold_through_many_turns(kind):
    model = single(kind)
    q, v = model.neutral(), np.full(model.v_count, 0.7)
    for _ in range(1000):
        integration.advance(model.arrays, q, v, 0.1)
    assert np.linalg.norm(q[-4:]) == pytest.approx(1.0, abs=1e-15)
    # a constant angular velocity turns about a constant axis
    assert np.allclose(
        from_quaternion(q[-4:]).R, about((1, 1, 1), 0.7 * np.sqrt(3) * 100).R, atol=1e-11
    )


def test_a_world_that_stands_still_has_no_velocity_products():
    model = single("revolute")
    work = workspace.allocate(model)
    kinematics.positions(model.arrays, model.neutral(), work)
    kinematics.velocities(model.arrays, np.zeros(1), work)
    assert not work.body["product"].any()
    assert not work.body["velocity"].any()


def test_a_point_on_a_turntable_is_pulled_inwards():
    # ẍ = ω²r towards the axis, for a point at rest on the table
    V, r = (0.0, 0.0, 3.0, 0.0, 0.0, 0.0), (0.5, 0.0, 0.0)
    assert jacobian.point_velocity(V, r) == (0.0, 1.5, 0.0)
    assert jacobian.point_acceleration(V, (0.0,) * 6, r) == (-4.5, 0.0, 0.0)


def test_a_jacobian_has_columns_only_for_joints_that_carry_the_body():
    robot = Robot("two")
    robot.add_body("base", Joint("base", "floating"), None, solid_box(1.0, (1, 1, 1)))
    for side in ("left", "right"):
        robot.add_body(
            side,
            Joint(f"{side}_joint", "revolute", translation((0, 1, 0)), (1, 0, 0)),
            "base",
            solid_box(1.0, (1, 1, 1)),
        )
    model = robot.compile()
    J = dynamics.point_jacobian(model, model.neutral(), "left")
    assert not J[:, model.v_index("right_joint")].any()
    assert np.allclose(
        J[:, :6], np.block([[np.eye(3), -cross_matrix((0, 1, 0))], [np.zeros((3, 3)), np.eye(3)]])
    )
