"""Joints that move exactly as commanded: perfect tracking, and back to the motors' loops.

A prescribed joint has no compliant servo. By position it reaches its command at the end of every
step, q⁺ = q_d; by velocity it moves at its command, v⁺ = v_d. Both are limited by its travel and
its top speed. Its effort is computed, without the limits of its motor. The compiled world is
unchanged, and a saved state includes which joints are prescribed.

Joints that follow others are moved by their leaders, and passive ones cannot be prescribed.

Reference: Hirukawa (2003), sec. 3.3, where joints of the plain model follow like this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.model.compiled import Model
from tabi.model.joint import Joint
from tabi.model.lookup import qualified, robot_of
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.step.forces.joint_limits import BY_POSITION, BY_VELOCITY, FOLLOWS, MOVES
from tabi.step.forces.motors import LOOP
from tabi.step.tables import StepData

Joints = Robot | Joint | str | Iterable[Joint | str]
MODES = {"position": BY_POSITION, "velocity": BY_VELOCITY}


def joints_to_prescribe(world: World, model: Model, joints: Joints) -> dict[str, Joint]:
    """Return joints by their names in the model; of a robot all but followers and balls."""
    if isinstance(joints, Robot):
        robot_of(world, joints)
        return {
            qualified(joints, name, model.joint_names): joints.joint(name)
            for name in joints.joint_names
            if joints.joint(name).mimic is None and joints.joint(name).kind != "spherical"
        }
    if isinstance(joints, str | Joint):
        joints = [joints]
    known = {
        qualified(robot, body.joint.name, model.joint_names): body.joint
        for robot in world.robots
        for body in robot.bodies
        if body is not robot.base and body.joint.v_count
    }
    try:
        return dict(_named(known, joint) for joint in joints)
    except TypeError:
        raise ModelError(
            f"joints to prescribe are {joints!r}; expected a robot, a joint, a name, or several"
        ) from None


def _named(known: dict[str, Joint], joint: Any) -> tuple[str, Joint]:
    """Return a joint and its name in the model, or raise an error if it cannot be commanded."""
    if isinstance(joint, Joint):
        name = next((name for name, other in known.items() if other is joint), joint.name)
    else:
        name = joint
    if name not in known:
        raise unknown("joint", str(name), "the world", known)
    result = known[name]
    if result.mimic is not None:
        raise ModelError(
            f"joint {name!r} follows {result.mimic.leader!r}; prescribe {result.mimic.leader!r}"
        )
    if result.passive:
        raise ModelError(f"joint {name!r} is passive: nothing commands it; leave it out")
    return name, result


def set_prescribed(
    model: Model, data: StepData, joints: dict[str, Joint], on: bool, by: str
) -> None:
    """Prescribe joints, or return them to their loops, also those that the model prescribes."""
    if by not in MODES:
        raise ModelError(f"joints are prescribed by {by!r}; expected 'position' or 'velocity'")
    for name, joint in joints.items():
        if on and by == "position" and joint.q_count != joint.v_count:
            raise ModelError(
                f"joint {name!r} is {joint.kind} and has no angle to go to; "
                f"prescribe it by='velocity'"
            )
    rows = _rows(model, joints)
    data.command.motor["exact"][rows] = MODES[by] if on else 0
    if not on:
        model.arrays.dof["prescribed"][rows] = 0
    # its last mode is no guess for the new one
    memory = data.memory.joint
    has_modes = rows[memory["mode"][rows] != FOLLOWS]
    memory["mode"][has_modes], memory["direction"][has_modes] = MOVES, 0
    memory["saturation"][rows] = LOOP


def _rows(model: Model, joints: dict[str, Joint]) -> NDArray[np.int64]:
    """Return the degrees of freedom of joints."""
    rows = []
    for name, joint in joints.items():
        k = model.v_index(name)
        rows.extend(range(k, k + joint.v_count))
    return np.array(rows, np.int64)
