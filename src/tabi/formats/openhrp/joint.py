"""Joint nodes of OpenHRP files: axis, limits and motor.

On the joint's side the motor has

    armature = rotorInertia · gearRatio²,   torque limit = climit · torqueConst · gearRatio  (1)
"""

from __future__ import annotations

import numpy as np

from tabi.formats.openhrp.vrml_node import VrmlNode, shown
from tabi.model.joint import INFINITY, Joint, Motor

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def drive(node: VrmlNode, joint: Joint) -> list[str]:
    """Set axis, limits, start and motor of a joint that turns or slides; returns notes about it."""
    notes = []
    joint.axis = _axis(node)
    joint.position = np.array(node.numbers("jointValue", 1, (0.0,)))
    joint.lower = _limit(node, "llimit", -INFINITY)
    joint.upper = _limit(node, "ulimit", INFINITY)
    if joint.lower > joint.upper:
        raise node.error(
            f"has llimit {joint.lower:g} above ulimit {joint.upper:g}; expected llimit ≤ ulimit",
            node.line_of("llimit"),
        )
    slow, fast = _limit(node, "lvlimit", -INFINITY), _limit(node, "uvlimit", INFINITY)
    if slow > 0 or fast < 0:
        raise node.error(
            f"has velocities from lvlimit {slow:g} to uvlimit {fast:g}; "
            f"expected lvlimit ≤ 0 ≤ uvlimit",
            node.line_of("lvlimit"),
        )
    joint.velocity_limit = min(-slow, fast)
    if np.isfinite([slow, fast]).all() and -slow != fast:
        notes.append(
            f"joint {joint.name!r} may go from {slow:g} to {fast:g} per second: "
            f"the smaller holds both ways"
        )
    rotor = node.number("rotorInertia", 0.0)
    gear = node.number("gearRatio", 1.0)
    current = _limit(node, "climit", INFINITY)
    if rotor < 0 or current < 0:
        raise node.error(
            f"has rotorInertia {rotor:g} and climit {current:g}; expected numbers ≥ 0",
            node.line_of("rotorInertia"),
        )
    torque = (
        INFINITY if current == INFINITY else abs(current * node.number("torqueConst", 1.0) * gear)
    )
    if torque == 0:
        notes.append(
            f"joint {joint.name!r} has a torque limit of climit · torqueConst · gearRatio = 0: "
            f"taken as not given"
        )
        torque = INFINITY
    whole = node.number("equivalentInertia", 0.0)
    if whole:
        joint.armature, rotor = whole, 0.0
    if rotor or torque < INFINITY or gear != 1.0:
        joint.motor = Motor(rotor, gear, torque)
    return notes


def _limit(node: VrmlNode, name: str, none: float) -> float:
    values = node.numbers(name, None)
    if len(values) > 1:
        raise node.error(
            f"has {name} {shown(values)}; expected one number, or [] for no limit",
            node.line_of(name),
        )
    return values[0] if values else none


def _axis(node: VrmlNode) -> tuple[float, ...]:
    axis_field = node.get("jointAxis")
    if axis_field and len(axis_field.values) == 1 and isinstance(axis_field.values[0], str):
        if axis_field.values[0] not in AXES:
            raise node.error(
                f'has jointAxis {axis_field.values[0]!r}; expected "X", "Y", "Z" or three numbers',
                axis_field.line,
            )
        return AXES[axis_field.values[0]]
    axis = node.numbers("jointAxis", 3, AXES["Z"])
    if not 1e-9 < np.linalg.norm(axis) < INFINITY:
        raise node.error(
            f"has jointAxis {shown(axis)}; expected a direction, like 0 1 0",
            node.line_of("jointAxis"),
        )
    return tuple(axis)
