"""Whether the gains of a robot's motors hold it as it stands on its feet, without simulating it.

Each of n feet bears its share W/n of the weight at the middle of its sole. A joint i of its leg
carries what is above it, the opposite of

    τ_i = a_i · Σ (p_b − p_i) × w_b                                                              (1)
over the weights w_b of the bodies beyond the joint and the force on the sole. Motors cannot hold a
torque above their limit, and give way. Of the joints that pitch, all rotations φ small, the centre
of mass at the height h is an inverted pendulum: with k_i the stiffness and z_i the height of joint
i above the sole,

    (K − G) φ = −τ,   K = diag(k_i),   G_ij = W/n (h − max(z_i, z_j))                            (2)
    x = Σ (h − z_i) φ_i                                                                          (3)
The robot falls over if K − G is not positive definite, or if the shift x of its centre of mass is
large beside what its soles reach ahead or behind of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi.model.body import Body, Foot
from tabi.model.kinematic_tree import KinematicTree
from tabi.model.soundness import GRAVITY

Array = NDArray[np.float64]
UP, LATERAL = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
STIFFER = (
    "give it stiffer ones, sim.set_gains(kp, kd) or kp and kd in its commands, or a controller "
    "that balances"
)
# a joint whose axis has this share along the lateral one pitches
PITCH = 0.7
# of the way to the edge of the soles: springs that are loaded at once go twice as far, and the
# motors above the legs give way too
MAX_SHIFT = 0.33


class StandingLoad(NamedTuple):
    """Stability of a robot that stands on its gains.

    Attributes:
        toppling: largest eigenvalue of G over K of (2); from 1 on the robot falls over.
        shift: (3) over the distance to the edge of the soles.
        overloaded: joint of a leg whose torque is most above its limit, and torque over limit.
    """

    toppling: float
    shift: float
    overloaded: tuple[str, float]


def fault(robot: KinematicTree) -> str:
    """Why a robot that stands does not stay as it is, and what to do; empty where it does, or has
    no feet or no gains at all.
    """
    load = standing_load(robot)
    if load is None:
        return ""
    name, share = load.overloaded
    if share > 1.0:
        return (
            f"joint {name!r} needs {share:.2g} times the torque that its motor has; stand in a "
            "pose that needs less, or give it a larger effort limit"
        )
    if load.toppling >= 1.0:
        return (
            f"the motors of its legs are {load.toppling:.2g} times too soft to keep its centre of "
            f"mass above its feet, so it falls over; {STIFFER}"
        )
    if load.shift >= MAX_SHIFT:
        return (
            f"its legs give way under its weight by {load.shift:.0%} of what moves its centre of "
            f"mass beyond its soles, and swing twice as far as the weight comes at once; {STIFFER}"
        )
    return ""


def required_stiffness(robot: KinematicTree) -> float | None:
    """The least stiffness [N·m/rad] of all motors of the legs that holds a robot as it stands, up
    to a tenth; None where there is none, or it has no feet or gains.
    """
    for step in range(100):
        stiffness = float(f"{10.0 * 1.1**step:.2g}")
        load = standing_load(robot, stiffness)
        if load is None or load.overloaded[1] > 1.0:
            return None
        if load.toppling < 1.0 and load.shift < MAX_SHIFT:
            return stiffness
    return None


def standing_load(robot: KinematicTree, stiffness: float | None = None) -> StandingLoad | None:
    """Loads of the legs with the joints where they are; None without feet or gains.

    Args:
        stiffness: of all motors of the legs [N·m/rad]; by default their own.
    """
    motors = [body.joint.motor for body in robot.bodies[1:]]
    if not robot.feet or not any(motor and motor.kp > 0 for motor in motors):
        return None
    X, above = robot.placements(), {body: set(_up(body)) for body in robot.bodies}
    g = float(np.linalg.norm(GRAVITY))
    at = np.array([X[body] @ body.inertia.centre for body in robot.bodies])
    weight = g * np.array([body.inertia.mass for body in robot.bodies])
    bears = float(weight.sum()) / len(robot.feet)
    centre = weight @ at / weight.sum()
    toppling, shift, overloaded = 0.0, 0.0, ("", 0.0)
    for foot in robot.feet.values():
        sole, rows = X[foot.body] @ foot.corners(), []
        for body in _leg(robot, foot):
            is_above = np.array([body in above[other] for other in robot.bodies])
            forces = np.vstack([np.outer(-weight[is_above], UP), bears * UP])
            arms = np.vstack([at[is_above], sole.mean(axis=0)]) - X[body].p
            axis = X[body].R @ np.asarray(body.joint.axis, float)
            axis = axis / np.linalg.norm(axis)
            torque = float(axis @ np.cross(arms, forces).sum(axis=0))
            limit = _limit(body)
            if abs(torque) > limit * overloaded[1]:
                overloaded = body.joint.name, abs(torque) / limit
            motor, lateral = body.joint.motor, float(axis @ LATERAL)
            if motor is not None and motor.kp > 0 and abs(lateral) > PITCH:
                k = motor.kp if stiffness is None else stiffness
                rows.append((float(X[body].p[2]), k, torque * np.sign(lateral)))
        if rows:
            softness, x = _pendulum(np.array(rows), float(centre[2]), bears)
            edge = (sole[:, 0].max() if x > 0 else sole[:, 0].min()) - centre[0]
            toppling = max(toppling, softness)
            # a centre of mass that is not above the sole is no matter of gains
            shift = max(shift, float(x / edge) if x * edge > 0 else 0.0)
    return StandingLoad(toppling, shift, overloaded)


def _pendulum(rows: Array, height: float, bears: float) -> tuple[float, float]:
    """Softness of (2), and the shift (3) [m], 0 where it has no limit.

    Args:
        rows: of each joint z, k and τ.
    """
    z, k, torque = rows.T
    G = bears * np.maximum(height - np.maximum.outer(z, z), 0.0)
    root = 1.0 / np.sqrt(k)
    softness = float(np.linalg.eigvalsh(root[:, None] * G * root).max())
    if softness >= 1.0:
        return softness, 0.0
    angles = np.linalg.solve(np.diag(k) - G, -torque)
    return softness, float((height - z) @ angles)


def _limit(body: Body) -> float:
    motor = body.joint.motor
    return min(body.joint.effort_limit, motor.torque_limit if motor else np.inf)


def _leg(robot: KinematicTree, foot: Foot) -> list[Body]:
    """Bodies between a foot and where its leg joins others, moved by joints that turn."""
    other_legs = {
        id(up) for other in robot.feet.values() if other is not foot for up in _up(other.body)
    }
    return [
        body
        for body in _up(foot.body)
        if id(body) not in other_legs
        and body.joint.kind in ("revolute", "continuous")
        and not body.joint.passive
        and body.joint.mimic is None
    ]


def _up(body: Body | None) -> list[Body]:
    """A body and all that it hangs on, but the base."""
    ancestors = []
    while body is not None and body.parent is not None:
        ancestors.append(body)
        body = body.parent
    return ancestors
