"""Gains for motors whose file has none, from what each of them has to move.

A motor that moves the inertia I about its axis, or the mass I along it, and holds it like a spring
with the frequency ω, critically damped, has

    kp = min(I ω², f/δ),   kd = 2 kp/ω                                                          (1)
with f the joint's effort limit, reached at the error δ. I is that of all bodies beyond the joint.
A leg's joint stands on the foot beyond it and moves all others, so there, and in all joints where
no foot is known, it is the larger of the two. Both are taken in the half-sitting pose, or with the
joints where they are.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.joint import Joint, Motor
from tabi.model.loop_closing import in_loops
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform

# ω [rad/s] and δ [rad or m] of (1)
FREQUENCY, ERROR = 40.0, 0.02
FORMULA = (
    f"kp = min(I ω², effort limit/{ERROR:g}), kd = 2 kp/ω, with ω = {FREQUENCY:g} rad/s and I the "
    "inertia that the joint moves"
)


def holdable_joints(robot: Robot) -> list[Joint]:
    """Joints that a motor could hold: with one degree of freedom of their own, and not passive."""
    return [
        body.joint
        for body in robot.bodies[1:]
        if body.joint.v_count == 1 and body.joint.mimic is None and not body.joint.passive
    ]


def driven_joints(robot: Robot) -> list[Joint]:
    """Joints that a motor holds, or would if the file knew motors. Not those without one where the
    file lists actuators, nor, in a loop of a robot that has motors, rods and springs.
    """
    loose: list[Body] = []
    if any(body.joint.motor for body in robot.bodies):
        loose = [body for body in in_loops(robot) if body.joint.motor is None]
    rods = {body.joint.name for body in loose}
    return [
        joint
        for joint in holdable_joints(robot)
        if (joint.driven or joint.motor) and joint.name not in rods
    ]


def idle_joints(robot: Robot) -> list[Joint]:
    """Driven joints whose motors have no gains."""
    return [joint for joint in driven_joints(robot) if not (joint.motor and joint.motor.kp > 0)]


def is_limp(robot: Robot) -> bool:
    """Whether no motor of the robot has gains, so that it can hold no pose."""
    idle = idle_joints(robot)
    return bool(idle) and len(idle) == len(driven_joints(robot))


def give(robot: Robot) -> None:
    """Gains (1) for all joints that have none."""
    for name, (kp, kd) in default_gains(robot).items():
        joint = robot.joint(name)
        joint.motor = replace(joint.motor or Motor(), kp=kp, kd=kd)


def default_gains(robot: Robot) -> dict[str, tuple[float, float]]:
    """kp and kd of (1) for each joint that has none, by its name."""
    stands = robot.copied()
    with suppress(ModelError):
        stands.set_pose("half_sitting")
    X, beyond = stands.placements(), _beyond(stands)
    feet = {foot.body for foot in stands.feet.values()}
    idle, gains = {joint.name for joint in idle_joints(stands)}, {}
    for body in stands.bodies[1:]:
        joint = body.joint
        if joint.name not in idle:
            continue
        distal = beyond[body]
        # lists, as sums in another order are other sums
        rest = [other for other in stands.bodies if other not in distal]
        inertia = _inertia([other for other in stands.bodies if other in distal], body, X)
        if stands.base.joint.kind == "floating" and (feet & distal or not feet):
            inertia = max(inertia, _inertia(rest, body, X))
        limit = min(joint.effort_limit, joint.motor.torque_limit if joint.motor else np.inf)
        kp = min((inertia + joint.total_armature) * FREQUENCY**2, limit / ERROR)
        gains[joint.name] = (kp, 2.0 * kp / FREQUENCY)
    return gains


def _beyond(robot: Robot) -> dict[Body, set[Body]]:
    """Return for each body the set of it and all bodies that hang on it."""
    beyond: dict[Body, set[Body]] = {body: {body} for body in robot.bodies}
    for body in reversed(robot.bodies):
        if body.parent is not None:
            beyond[body.parent] |= beyond[body]
    return beyond


def _inertia(bodies: list[Body], at: Body, X: dict[Body, Transform]) -> float:
    """Return the inertia of bodies about the axis of a joint [kg·m²], or along it [kg]."""
    whole = sum((body.inertia.transformed(X[body]) for body in bodies), Inertia())
    if at.joint.kind == "prismatic":
        return whole.mass
    axis = X[at].R @ np.asarray(at.joint.axis, float)
    axis = axis / np.linalg.norm(axis)
    arm = np.cross(axis, whole.centre - X[at].p)
    return float(axis @ whole.tensor @ axis) + whole.mass * float(arm @ arm)
