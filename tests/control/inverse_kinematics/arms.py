"""Robots whose inverse kinematics has a closed form, and states of any robot."""

import numpy as np

from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, translation

BALL = Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))


def planar_arm(lengths=(0.5, 0.4), lower=-3.0, upper=3.0, mimic=None) -> Robot:
    """Links along x that turn about z, bolted to the world; the last body is the tip, at its
    end.
    """
    robot = Robot("arm")
    robot.add_body("base", Joint("base_joint", "fixed"), None, BALL)
    parent, offset = robot.bodies[0], 0.0
    for i, length in enumerate(lengths):
        joint = Joint(f"joint{i}", "revolute", translation((offset, 0, 0)), (0, 0, 1))
        joint.lower, joint.upper = lower, upper
        if mimic and i in mimic:
            joint.mimic = Mimic(*mimic[i])
        parent, offset = robot.add_body(f"link{i}", joint, parent, BALL), length
    robot.add_body("tip", Joint("tip_joint", "fixed", translation((offset, 0, 0))), parent, BALL)
    return robot


def within_limits(model, rng):
    """A configuration with joints anywhere within their limits, and what floats anywhere."""
    q = model.neutral()
    dof, body = model.arrays.dof, model.arrays.body
    for k in np.flatnonzero(dof["q"] >= 0):
        low, high = max(float(dof["lower"][k]), -2.0), min(float(dof["upper"][k]), 2.0)
        q[dof["q"][k]] = rng.uniform(low, high)
    for i in range(1, len(body)):
        if body["v_end"][i] - body["v_start"][i] >= 3 and dof["q"][body["v_start"][i]] < 0:
            at = int(body["q_start"][i])
            if body["v_end"][i] - body["v_start"][i] == 6:
                q[at : at + 3] = 0.3 * rng.normal(size=3)
                at += 3
            Q = rng.normal(size=4)
            q[at : at + 4] = Q / np.linalg.norm(Q)
    return model.with_followers(q)


def random_transform(rng) -> Transform:
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Transform(Q * np.sign(np.linalg.det(Q)), rng.normal(size=3))
