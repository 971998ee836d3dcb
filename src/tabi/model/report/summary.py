"""Summary of a loaded robot: its facts on one page, and warnings.

Bodies on fixed joints melt into the body that carries them; such a group moves as one. Two bodies
may collide when both have collision shapes, their groups are neither the same nor joined by one
joint, and the pair is not excluded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np

from tabi._errors import expect
from tabi.model.body import Body, Foot
from tabi.model.joint import INFINITY
from tabi.model.report.page import FootRow, JointRow, Report, few
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform

GROUND = 0.01  # a body that comes this near to the lowest point of the robot may be a foot [m]
# inertias in files have few digits: part of the largest moment that a wrong one has to exceed
ROUNDING = 1e-6


def report(robot: Robot) -> Report:
    """Return the report of a robot: what was found, assumed and ignored; the robot is not changed.

    Examples:
        >>> print(str(tabi.report(robot)).splitlines()[0])
        hrp2
    """
    expect("the robot of a report", robot, Robot, "one of tabi.load or tabi.robots")
    X = robot.placements(_zero_pose(robot))
    moving = [b for b in robot.bodies[1:] if b.joint.kind != "fixed"]
    pairs, excluded = _pairs(robot)
    return Report(
        name=robot.name,
        file=None if robot.file is None else str(robot.file),
        base=robot.base.joint.kind,
        start=X[robot.base].p.tolist(),
        mass=robot.mass,
        height=robot.extent((0, 0, 1), X) + robot.extent((0, 0, -1), X),
        height_by=_seen(robot),
        body_count=len(robot.bodies),
        massless=[b.name for b in robot.bodies if b.inertia.mass == 0],
        joint_count=len(moving),
        degrees_of_freedom=sum(b.joint.v_count for b in robot.bodies if b.joint.mimic is None),
        joints=[_joint_row(b) for b in moving],
        feet=[_foot_row(f) for f in robot.feet.values()],
        foot_candidates=[]
        if robot.feet
        else _foot_candidates(robot, X, -robot.extent((0, 0, -1), X)),
        sensors={
            k: [s.name for s in robot.sensors.values() if s.kind == k]
            for k in sorted({s.kind for s in robot.sensors.values()})
        },
        frame_count=len(robot.frames),
        poses=list(robot.poses),
        colliding_bodies=sum(1 for b in robot.bodies if b.collision_shapes()),
        collision_pairs=pairs,
        excluded_pairs=excluded,
        heaviest=[
            (b.name, b.inertia.mass)
            for b in sorted(robot.bodies, key=lambda b: -b.inertia.mass)[:5]
        ],
        warnings=_warnings(robot),
        notes=list(robot.notes),
    )


# ---- facts ----------------------------------------------------------------------------------


def _zero_pose(robot: Robot) -> dict[Body, np.ndarray]:
    """Every joint at its zero, followers where that puts them, the base where it stands."""
    q = {b: b.joint.zero() for b in robot.bodies}
    q[robot.base] = robot.base.joint.position
    for b in robot.bodies[1:]:
        if b.joint.mimic and b.joint.q_count == 1:
            q[b] = np.array([b.joint.mimic.offset])
    return q


def _seen(robot: Robot) -> str:
    """Return the source of the height: shapes, if they cover most of the mass."""
    solid = [b for b in robot.bodies if b.inertia.mass > 0]
    shaped = [b for b in solid if b.collision_shapes()]
    if 2 * sum(b.inertia.mass for b in shaped) >= robot.mass and shaped:
        return "shapes"
    return f"frames and the shapes of {len(shaped)} of {len(solid)} bodies" if shaped else "frames"


def _joint_row(body: Body) -> JointRow:
    j = body.joint
    effort = min(j.effort_limit, j.motor.torque_limit if j.motor else INFINITY)
    limited = j.q_count == 1 and j.kind != "continuous"
    follows = (
        f"{j.mimic.ratio:g} × {j.mimic.leader}"
        + (f" {j.mimic.offset:+g}" if j.mimic.offset else "")
        if j.mimic
        else None
    )
    lower, upper = (_known(j.lower), _known(j.upper)) if limited else (None, None)
    return JointRow(
        j.name,
        j.kind,
        lower,
        upper,
        _known(effort),
        _known(j.velocity_limit),
        j.total_armature,
        follows,
    )


def _foot_row(foot: Foot) -> FootRow:
    length, width = np.ptp(foot.polygon, axis=0).tolist()
    return FootRow(foot.name, foot.body.name, length, width, foot.area)


def _known(limit: float) -> float | None:
    return float(limit) if math.isfinite(limit) else None


def _groups(robot: Robot) -> dict[Body, Body]:
    """For every body, the one it moves with."""
    group: dict[Body, Body] = {}
    for b in robot.bodies:
        group[b] = group[b.parent] if b.parent and b.joint.kind == "fixed" else b
    return group


def _pairs(robot: Robot) -> tuple[int, int]:
    """Number of pairs of bodies that may collide,
    and of pairs that would if they were not excluded.
    """
    group = _groups(robot)
    solid = [b for b in robot.bodies if b.collision_shapes()]
    # the group that carries a group
    carrier = {g: group[g.parent] if g.parent else None for g in group.values()}
    free = excluded = 0
    for a, b in combinations(solid, 2):
        ga, gb = group[a], group[b]
        if ga is gb or carrier[ga] is gb or carrier[gb] is ga:
            continue
        if frozenset((a.name, b.name)) in robot.excluded:
            excluded += 1
        else:
            free += 1
    return free, excluded


def _foot_candidates(robot: Robot, X: dict[Body, Transform], lowest: float) -> list[str]:
    """Bodies that carry no moving one and reach the lowest point of a robot that could walk; by
    frames if it has no shapes.
    """
    if robot.base.joint.kind != "floating" or len(robot.bodies) == 1:
        return []
    group = _groups(robot)
    carriers = {group[g.parent] for g in set(group.values()) if g.parent}
    shapeless = not any(b.collision_shapes() for b in robot.bodies)
    candidates, down = [], np.array([0.0, 0.0, -1.0])
    for b in robot.bodies:
        if group[b] in carriers or (shapeless and b is not group[b]):
            continue
        heights = [-(s.support(X[b].R.T @ down) + down @ X[b].p) for s in b.collision_shapes()] or [
            X[b].p[2]
        ] * shapeless
        if heights and min(heights) < lowest + GROUND:
            candidates.append(b.name)
    return candidates


# ---- what looks wrong -----------------------------------------------------------------------


def _warnings(robot: Robot) -> list[str]:
    names_by_fault: dict[str, list[str]] = {}

    def warn(what: str, name: str) -> None:
        names_by_fault.setdefault(what, []).append(name)

    group = _groups(robot)
    carried: dict[Body, float] = dict.fromkeys(group.values(), 0.0)
    for b in robot.bodies:
        carried[group[b]] += b.inertia.mass
        if b.inertia.mass > 0:
            for fault in _tensor_faults(b):
                warn(fault, b.name)
    for g, mass in carried.items():
        # between the joints of a bush there is none, on purpose
        if mass == 0 and g.joint.kind != "fixed" and not g.joint.passive:
            warn("moving bodies without mass", g.name)
    for b in robot.bodies[1:]:
        j = b.joint
        if j.q_count != 1:
            continue
        if j.lower == j.upper:
            warn("joints whose range is empty", j.name)
        elif not j.lower <= j.position[0] <= j.upper:
            warn("joints that start outside of their range", j.name)
        if (
            j.velocity_limit == 0
            or min(j.effort_limit, j.motor.torque_limit if j.motor else INFINITY) == 0
        ):
            warn("joints whose speed or effort limit is zero", j.name)
    lines = [f"{what}: {few(names)}" for what, names in names_by_fault.items()]
    if robot.mass == 0:
        lines.insert(0, "the robot has no mass at all")
    if not any(b.collision_shapes() for b in robot.bodies):
        lines.append("no body has a collision shape: contacts will see nothing of this robot")
    return lines


def _tensor_faults(body: Body) -> Iterable[str]:
    """Moments no solid has: zero, negative, or one above the sum of the other two."""
    moments = np.linalg.eigvalsh(body.inertia.tensor)
    slack = ROUNDING * float(np.abs(moments).max())
    if slack == 0:
        yield "bodies with mass but without rotational inertia"
    elif moments[0] < -slack:
        yield "bodies with a negative moment of inertia"
    elif moments[0] + moments[1] < moments[2] - slack:
        yield "bodies whose largest moment of inertia exceeds the sum of the others"
