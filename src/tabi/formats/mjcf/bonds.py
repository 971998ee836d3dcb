"""Equality constraints of an MJCF file that hold bodies: bonds of the robot.

    connect    a ball: a place of body 1 and one of body 2 stay together; MuJoCo finds the second in
               the configuration of the file
    weld       a weld: of body 2 the anchor, of body 1 the relative pose, R_1 R_rel = R_2; without
               torque (torquescale 0) it is a ball
    two connects of the same bodies are a hinge through both places

Between sites, frames of the sites stay together. What is held by the world stays with a base that
is bolted to it, wherever the robot is placed. MuJoCo's are soft, tabi's are not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabi.formats.mjcf.source import Source
from tabi.model.body import Body, Closure
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform, from_quaternion, translation, z_to

End = tuple[Body | None, Transform]
# a larger gap between the places of a connection at the start is noted
MAX_GAP_M = 1e-6


def add_bonds(source: Source, robot: Robot, names: Mapping[int, str]) -> None:
    """Give a robot the bonds of its file; what cannot be one becomes a note.

    Args:
        names: of the robot's bodies, by MuJoCo's numbers.
    """
    m, bonds, inactive = source.m, list[Closure](), 0
    for k in range(m.neq):
        kind = source.kind("mjtEq", m.eq_type[k])
        if kind not in ("connect", "weld"):
            continue
        if not m.eq_active0[k]:
            inactive += 1
            continue
        title = m.equality(k).name or f"equality {k + 1}"
        ends = _ends(source, k, kind)
        if any(number and number not in names for number, _ in ends):
            robot.notes.append(f"{kind} {title!r} holds a body that was left out: left out too")
            continue
        (a, X_A), (b, X_B) = (_end_on_robot(robot, names, *end) for end in ends)
        if a is None:
            (a, X_A), (b, X_B) = (b, X_B), (a, X_A)
        if a is None or _carrier(a) is _carrier(b):
            robot.notes.append(f"{kind} {title!r} is between bodies that move as one: left out")
            continue
        bond_kind = "weld" if kind == "weld" and m.eq_data[k, 10] > 0 else "ball"
        problem = _join(bonds, Closure(bond_kind, a, b, X_A, X_B))
        if problem:
            robot.notes.append(f"{kind} {title!r} {problem}: left out")
    if inactive:
        robot.notes.append(f"{inactive} inactive connect or weld constraints were left out")
    robot.bonds += bonds
    _add_notes(robot)


def _ends(source: Source, k: int, kind: str) -> list[tuple[int, Transform]]:
    """Both ends of a constraint: MuJoCo's number of the body, and the place on it."""
    m, data = source.m, source.m.eq_data[k]
    numbers = [int(m.eq_obj1id[k]), int(m.eq_obj2id[k])]
    if source.kind("mjtObj", m.eq_objtype[k]) == "site":
        places = [from_quaternion(m.site_quat[s], m.site_pos[s]) for s in numbers]
        numbers = [int(m.site_bodyid[s]) for s in numbers]
    elif kind == "connect":
        places = [translation(data[:3]), translation(data[3:6])]
    else:
        places = [from_quaternion(data[6:10], data[3:6]), translation(data[:3])]
    return list(zip(numbers, places, strict=True))


def _end_on_robot(robot: Robot, names: Mapping[int, str], number: int, X: Transform) -> End:
    """The robot's body of a number; the world is a base that is bolted to it, or None."""
    if number:
        return robot.body(names[number]), X
    if robot.base.joint.kind == "fixed":
        return robot.base, robot.base.joint.placement.inverse() @ X
    return None, X


def _carrier(body: Body | None) -> Body | None:
    """The body that a body moves with; None where that is the world."""
    while body is not None and body.joint.kind == "fixed":
        body = body.parent
    return body


def _join(bonds: list[Closure], new: Closure) -> str:
    """Add a bond, or make it one with the ball that holds the same bodies;
    returns what is wrong with it.
    """
    pair = {_carrier(new.a), _carrier(new.b)}
    old = next((c for c in bonds if {_carrier(c.a), _carrier(c.b)} == pair), None)
    if old is None:
        bonds.append(new)
        return ""
    if old.b is new.a and old.a is new.b and new.b is not None:
        new = Closure(new.kind, new.b, new.a, new.place_b, new.place_a)
    axes = [new.place_a.p - old.place_a.p, new.place_b.p - old.place_b.p]
    lengths = [float(np.linalg.norm(axis)) for axis in axes]
    if old.kind != "ball" or new.kind != "ball" or old.a is not new.a or old.b is not new.b:
        return "is one more between bodies that are held together"
    if min(lengths) < 1e-6 or abs(lengths[0] - lengths[1]) > 1e-3 * min(lengths):
        return "does not fit to the one before between the same bodies"
    old.kind = "hinge"
    old.place_a, old.place_b = (
        Transform(z_to(axis), X.p) for axis, X in zip(axes, (old.place_a, old.place_b), strict=True)
    )
    return ""


def _add_notes(robot: Robot) -> None:
    """Note the bonds of a robot, and those that start with a gap."""
    if not robot.bonds:
        return
    listed = [f"{c.kind} of {c.a.name!r} and {c.b.name if c.b else 'world'!r}" for c in robot.bonds]
    rest = f" and {len(listed) - 6} more" if len(listed) > 6 else ""
    robot.notes.append(f"bonds ({len(listed)}), hard here: {', '.join(listed[:6])}{rest}")
    X = robot.placements()
    for name, closure in zip(listed, robot.bonds, strict=True):
        gap = closure.gap(X)
        if gap > MAX_GAP_M:
            robot.notes.append(f"the {name} starts {1e3 * gap:.3g} mm apart, and is drawn together")
