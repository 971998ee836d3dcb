"""Joints of Choreonoid body files: kind, axis, limits, start and motor.

Angles are in the file's unit, degrees unless it says radian, as are angles per second; what slides
is in metres. On the joint's side the rotor has rotor_inertia · gear_ratio².
"""

from __future__ import annotations

import math

import yaml

from tabi.formats.choreonoid.node import Item, number, shown
from tabi.model.joint import INFINITY, Joint, Motor

KINDS = {
    "free": "floating",
    "fixed": "fixed",
    "revolute": "revolute",
    "prismatic": "prismatic",
    "slide": "prismatic",
    "pseudo_continuous_track": "fixed",
    "pseudoContinuousTrack": "fixed",
}
AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
# limits of what a joint bears: both ways in one number, or a range
EFFORTS = ("max_joint_effort", "max_joint_torque", "max_joint_force", "max_torque")
EFFORT_RANGES = ("joint_effort_range", "joint_torque_range", "joint_force_range")


def kind_of(item: Item) -> str:
    """Kind of a link's joint in tabi's terms; fixed by default."""
    joint_type = item.text("joint_type", "fixed")
    if joint_type not in KINDS:
        raise item.error(
            f"has joint_type {joint_type!r}; expected one of free, fixed, revolute, prismatic",
            "joint_type",
        )
    return KINDS[joint_type]


def drive(item: Item, joint: Joint, angle: float) -> list[str]:
    """Set all of a joint that turns or slides; returns notes about it.

    Args:
        angle: the file's unit of angles [rad].
    """
    unit, notes = angle if joint.kind == "revolute" else 1.0, list[str]()
    joint.axis = _axis(item)
    start = item.number("joint_displacement", item.number("joint_angle", 0.0))
    joint.position[:] = start * unit
    joint.lower, joint.upper = (bound * unit for bound in _range(item, "joint_range"))
    speeds = [_both_ways(item, "max_joint_velocity"), *_ends(item, "joint_velocity_range", notes)]
    joint.velocity_limit = speeds[-1] * unit
    efforts = [_both_ways(item, key) for key in EFFORTS]
    efforts += [_ends(item, key, notes)[-1] for key in EFFORT_RANGES if key in item.entries]
    joint.effort_limit = min(efforts)
    rotor, gear = item.number("rotor_inertia", 0.0), item.number("gear_ratio", 1.0)
    if rotor < 0:
        raise item.error(f"has rotor_inertia {rotor:g}; expected a number ≥ 0", "rotor_inertia")
    if rotor or gear != 1.0:
        joint.motor = Motor(rotor, gear, joint.effort_limit)
    return notes


def _axis(item: Item) -> tuple[float, ...]:
    node = item.get("joint_axis")
    if node is None:
        return AXES["Z"]
    if isinstance(node, yaml.ScalarNode):
        word = str(node.value).upper()
        if word.removeprefix("-") not in AXES:
            raise item.error(
                f"has joint_axis {shown(node)}; expected X, Y, Z, -X, -Y, -Z or three numbers",
                "joint_axis",
            )
        sign = -1.0 if word.startswith("-") else 1.0
        x, y, z = AXES[word.removeprefix("-")]
        return (sign * x, sign * y, sign * z)
    axis = item.numbers("joint_axis", (3,))
    length = math.hypot(*axis)
    if not length > 1e-9:
        raise item.error(
            f"has joint_axis {shown(node)}; expected a direction, like [0, 1, 0]", "joint_axis"
        )
    return tuple(value / length for value in axis)


def _range(item: Item, key: str) -> tuple[float, float]:
    """Lower and upper bound in the file's unit: one number holds both ways, ``unlimited`` is none;
    without the key there are none.
    """
    node = item.get(key)
    if node is None:
        return -INFINITY, INFINITY
    alone = isinstance(node, yaml.ScalarNode)
    parts = [node, node] if alone else node.value
    bounds = [
        INFINITY if getattr(part, "value", "") == "unlimited" else number(part) for part in parts
    ]
    if not isinstance(node, yaml.MappingNode) and len(bounds) == 2:
        low = -bounds[0] if alone or bounds[0] == INFINITY else bounds[0]
        if low <= bounds[1]:
            return low, bounds[1]
    raise item.error(
        f"has {key} {shown(node)}; expected [lower, upper], one number ≥ 0 for both ways, "
        f"or unlimited",
        key,
    )


def _both_ways(item: Item, key: str) -> float:
    """A limit that is one number, infinite without it."""
    if key not in item.entries:
        return INFINITY
    value = item.number(key)
    if value < 0:
        raise item.error(f"has {key} {value:g}; expected a number ≥ 0", key)
    return value


def _ends(item: Item, key: str, notes: list[str]) -> list[float]:
    """The smaller end of a range around zero; nothing without the key."""
    if key not in item.entries:
        return []
    low, high = _range(item, key)
    if low > 0 or high < 0:
        raise item.error(f"has {key} from {low:g} to {high:g}; expected lower ≤ 0 ≤ upper", key)
    if -low != high:
        notes.append(f"{item.title} has {key} {low:g} to {high:g}: the smaller holds both ways")
    return [min(-low, high)]
