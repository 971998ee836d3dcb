"""Joints that move exactly as commanded: perfect tracking, and back to the motors' loops.

A joint that is switched on here has no servo that gives way. By position it is, at the end of every
step, where it was told, q⁺ = q_d; by velocity it moves as fast, v⁺ = v_d. Both as far as its travel
and its top speed let it. Its effort is what that takes, its motor's limits do not count. The world
is the same compiled one, and saving a moment keeps which joints are switched.

Joints that follow others are moved by their leaders, and passive ones by nobody.

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
WAYS = {"position": BY_POSITION, "velocity": BY_VELOCITY}


def chosen(world: World, model: Model, joints: Joints) -> dict[str, Joint]:
    """Joints by their names in the model; of a robot all that move by themselves."""
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
        return dict(_named(known, one) for one in joints)
    except TypeError:
        raise ModelError(
            f"joints to prescribe are {joints!r}; expected a robot, a joint, a name, or several"
        ) from None


def _named(known: dict[str, Joint], joint: Any) -> tuple[str, Joint]:
    """A joint and its name in the model, or an error why it cannot be commanded."""
    if isinstance(joint, Joint):
        name = next((name for name, one in known.items() if one is joint), joint.name)
    else:
        name = joint
    if name not in known:
        raise unknown("joint", str(name), "the world", known)
    found = known[name]
    if found.mimic is not None:
        raise ModelError(
            f"joint {name!r} follows {found.mimic.leader!r}; prescribe {found.mimic.leader!r}"
        )
    if found.passive:
        raise ModelError(f"joint {name!r} is passive: nothing commands it; leave it out")
    return name, found


def switch(model: Model, data: StepData, joints: dict[str, Joint], on: bool, by: str) -> None:
    """Let joints move as told, or give them back to their loops; then those that were prescribed
    in the model are no longer so.
    """
    if by not in WAYS:
        raise ModelError(f"joints are prescribed by {by!r}; expected 'position' or 'velocity'")
    for name, joint in joints.items():
        if on and by == "position" and joint.q_count != joint.v_count:
            raise ModelError(
                f"joint {name!r} is {joint.kind} and has no angle to go to; "
                f"prescribe it by='velocity'"
            )
    rows = _rows(model, joints)
    data.command.motor["exact"][rows] = WAYS[by] if on else 0
    if not on:
        model.arrays.dof["prescribed"][rows] = 0
    # what it did before is no guess for what it does now
    memory = data.memory.joint
    own = rows[memory["mode"][rows] != FOLLOWS]
    memory["mode"][own], memory["direction"][own] = MOVES, 0
    memory["saturation"][rows] = LOOP


def _rows(model: Model, joints: dict[str, Joint]) -> NDArray[np.int64]:
    """Degrees of freedom of joints."""
    found = []
    for name, joint in joints.items():
        k = model.v_index(name)
        found.extend(range(k, k + joint.v_count))
    return np.array(found, np.int64)
