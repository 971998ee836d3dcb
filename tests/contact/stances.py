"""HRP-2 on its eight sole corners, in random states near half-sitting, as bare contact problems."""

import numpy as np

import tabi
from tabi import dynamics
from tabi.contact import bodies
from tabi.spatial.transform import cross_matrix

FEET = ("right", "left")


def standing_robot():
    """The robot on its soles, and its model."""
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    return robot, world.compile()


def states(model, rng, count):
    """States of every kind: still or rocking, off by a micrometre or a millimetre, some sliding; with a friction each."""
    for k in range(count):
        q = model.initial()
        q[7:] += (1e-6, 1e-5, 1e-4, 1e-3)[k % 4] * rng.normal(size=model.q_count - 7)
        v = (1e-2, 1e-3, 1e-1)[k % 3] * rng.normal(size=model.v_count)
        if k % 5 == 0:
            v[:2] += rng.normal(size=2)
        yield q, v, (0.15, 0.3, 0.8, 1.0)[k // 4 % 4]


def stance(robot, model, q, v, mu, h=1e-3):
    """The problem of one step without joint torques, gaps closed within the step: in the space of bodies, and W."""
    inverse = np.linalg.inv(dynamics.mass_matrix(model, q))
    free = v + h * dynamics.forward_dynamics(model, q, v, np.zeros(model.v_count))
    J = [dynamics.point_jacobian(model, q, f"{side}_foot")[[3, 4, 5, 0, 1, 2]] for side in FEET]
    X = [dynamics.pose(model, q, f"{side}_foot") for side in FEET]
    a, arms, rows, velocity = [], [], [], []
    for i, side in enumerate(FEET):
        for corner in robot.feet[side].corners():
            r = X[i].R @ corner
            row = np.hstack([-cross_matrix(r), np.eye(3)]) @ J[i]
            a.append(i)
            arms.append(r)
            rows.append(row)
            velocity.append(row @ free + (0.0, 0.0, (X[i].p + r)[2] / h))
    n = len(a)
    p = bodies.problem(
        a=np.array(a),
        b=np.full(n, -1),
        frame=np.tile(np.eye(3).ravel(), (n, 1)),
        arm_a=np.array(arms),
        arm_b=np.zeros((n, 3)),
        start=np.array([0, 2, 4]),
        column=np.array([0, 1, 0, 1]),
        omega=np.array([J[i] @ inverse @ J[j].T for i in range(2) for j in range(2)]),
        q=np.concatenate(velocity),
        mu=np.full(n, mu),
    )
    rows = np.vstack(rows)
    return p, rows @ inverse @ rows.T
