"""What was loaded: the facts of a robot on one page, and what in it looks wrong.

Bodies on fixed joints melt into the body that carries them; such a group moves as one. Two bodies
may collide when both have collision shapes, their groups are neither the same nor joined by one
joint, and the pair is not excluded.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tabi.model.body import Body, Foot
from tabi.model.joint import INFINITY
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform

WIDTH = 110
GROUND = 0.01  # a body that comes this near to the lowest point of the robot may be a foot [m]
# inertias in files have few digits: part of the largest moment that a wrong one has to exceed
ROUNDING = 1e-6


@dataclass
class JointRow:
    """A joint that moves; limits None where there is none. Units:
    rad or m, N·m or N, rad/s or m/s, kg·m² or kg.
    """

    name: str
    kind: str
    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None
    armature: float
    mimic: str | None = None


@dataclass
class FootRow:
    """A sole: extent in the axes of its own frame [m], area [m²]."""

    name: str
    body: str
    length: float
    width: float
    area: float


@dataclass
class Report:
    """Facts about a robot; ``str()`` is the page for a terminal, ``to_dict()`` the same for JSON.
    SI units.

    Attributes:
        height: of the zero pose [m]; ``height_by`` says whether shapes or only frames gave it.
        massless: bodies without mass; harmless where fixed to one that has some.
        foot_candidates: bodies that reach the ground in the zero pose, where no foot is declared.
        sensors: names by kind.
        colliding_bodies, collision_pairs, excluded_pairs: bodies with collision shapes, pairs that
            may touch, pairs ruled out by the file.
        heaviest: body and mass [kg].
        warnings: what looks wrong. notes: what the reader ignored or mended.
    """

    name: str
    file: str | None
    base: str
    start: list[float]
    mass: float
    height: float
    height_by: str
    body_count: int
    massless: list[str]
    joint_count: int
    degrees_of_freedom: int
    joints: list[JointRow]
    feet: list[FootRow]
    foot_candidates: list[str]
    sensors: dict[str, list[str]]
    frame_count: int
    poses: list[str]
    colliding_bodies: int
    collision_pairs: int
    excluded_pairs: int
    heaviest: list[tuple[str, float]]
    warnings: list[str]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return _page(self)


def report(robot: Robot) -> Report:
    """The report of a robot, without changing it."""
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
    q[robot.base] = robot.base.joint.position  # type: ignore[assignment]
    for b in robot.bodies[1:]:
        if b.joint.mimic and b.joint.q_count == 1:
            q[b] = np.array([b.joint.mimic.offset])
    return q


def _seen(robot: Robot) -> str:
    """What the height was taken from: shapes, where they cover most of the mass."""
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
    found, down = [], np.array([0.0, 0.0, -1.0])
    for b in robot.bodies:
        if group[b] in carriers or (shapeless and b is not group[b]):
            continue
        heights = [-(s.support(X[b].R.T @ down) + down @ X[b].p) for s in b.collision_shapes()] or [
            X[b].p[2]
        ] * shapeless
        if heights and min(heights) < lowest + GROUND:
            found.append(b.name)
    return found


# ---- what looks wrong -----------------------------------------------------------------------


def _warnings(robot: Robot) -> list[str]:
    found: dict[str, list[str]] = {}

    def warn(what: str, name: str) -> None:
        found.setdefault(what, []).append(name)

    group = _groups(robot)
    carried: dict[Body, float] = dict.fromkeys(group.values(), 0.0)
    for b in robot.bodies:
        carried[group[b]] += b.inertia.mass
        if b.inertia.mass > 0:
            for fault in _tensor_faults(b):
                warn(fault, b.name)
    for g, mass in carried.items():
        if mass == 0 and g.joint.kind != "fixed":
            warn("moving bodies without mass", g.name)
    for b in robot.bodies[1:]:
        j = b.joint
        if j.q_count != 1:
            continue
        if j.lower == j.upper:
            warn("joints whose range is empty", j.name)
        elif not j.lower <= j.position[0] <= j.upper:  # type: ignore[index]
            warn("joints that start outside of their range", j.name)
        if (
            j.velocity_limit == 0
            or min(j.effort_limit, j.motor.torque_limit if j.motor else INFINITY) == 0
        ):
            warn("joints whose speed or effort limit is zero", j.name)
    lines = [f"{what}: {_few(names)}" for what, names in found.items()]
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


# ---- the page -------------------------------------------------------------------------------


def _few(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _folded(notes: list[str]) -> list[str]:
    """Notes that differ only in names and numbers as one line."""
    alike: dict[str, list[str]] = {}
    for note in notes:
        alike.setdefault(re.sub(r"'[^']*'|[-+]?\d[\d.e+-]*", "…", note), []).append(note)
    return [
        same[0] + (f" (and {len(same) - 1} more like this)" if len(same) > 1 else "")
        for same in alike.values()
    ]


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _entry(key: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"  {key:<11}",
        subsequent_indent=" " * 13,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _page(r: Report) -> str:
    z = r.start[2]
    bodies = _count(r.body_count, "body", "bodies") + (
        f" ({len(r.massless)} without mass)" if r.massless else ""
    )
    excluded = f", {_count(r.excluded_pairs, 'pair')} excluded" if r.excluded_pairs else ""
    rows = [
        r.name if r.file is None else f"{r.name}  ({r.file})",
        _entry("base", f"{r.base}, at height {z:.3f} m"),
        _entry(
            "mass",
            f"{r.mass:.2f} kg; heaviest: "
            + ", ".join(f"{name} {mass:.3g}" for name, mass in r.heaviest),
        ),
        _entry(
            "height",
            f"{r.height:.3f} m in the zero pose"
            + ("" if r.height_by == "shapes" else f", by its {r.height_by}"),
        ),
        _entry(
            "tree",
            f"{bodies}, {_count(r.joint_count, 'joint')}, {r.degrees_of_freedom} degrees of "
            f"freedom",
        ),
        _entry(
            "collision",
            f"{_count(r.collision_pairs, 'pair')} among "
            f"{_count(r.colliding_bodies, 'body', 'bodies')} with shapes{excluded}",
        ),
        *_feet(r),
    ]
    for i, (kind, names) in enumerate(r.sensors.items()):
        rows.append(_entry("" if i else "sensors", f"{kind}: {', '.join(names)}"))
    if not r.sensors:
        rows.append(_entry("sensors", "none"))
    if r.frame_count or r.poses:
        poses = f"; poses: {_few(r.poses)}" if r.poses else ""
        rows.append(_entry("frames", f"{r.frame_count}{poses}"))
    for title, lines in (("warning", r.warnings), ("note", _folded(r.notes))):
        rows += [_entry(title, line) for line in lines]
    return "\n".join([*rows, *_table(r.joints)])


def _feet(r: Report) -> list[str]:
    if r.feet:
        lines = [
            (
                f"{f.name}: {f.body}, sole {1e3 * f.length:.0f} × {1e3 * f.width:.0f} mm, "
                f"{1e4 * f.area:.0f} cm²"
            )
            for f in r.feet
        ]
        return [_entry("" if i else "feet", line) for i, line in enumerate(lines)]
    if not r.foot_candidates:
        return [_entry("feet", "none")]
    return [
        _entry(
            "feet",
            f"none declared; on the ground in the zero pose: {_few(r.foot_candidates)} "
            f"(declare "
            f"with feet={{…}})",
        )
    ]


def _table(joints: list[JointRow]) -> list[str]:
    """The joints in aligned columns; a column nobody fills is left out."""
    if not joints:
        return []
    words = [("joint", [j.name for j in joints]), ("kind", [j.kind for j in joints])]
    columns = [
        [text.ljust(max(map(len, (head, *cells)))) for text in (head, *cells)]
        for head, cells in words
    ]
    turns = [j.kind != "prismatic" for j in joints]
    for head, values, units, form in (
        ("from", [_shown(j, j.lower) for j in joints], ("°", "mm"), ".1f"),
        ("to", [_shown(j, j.upper) for j in joints], ("°", "mm"), ".1f"),
        ("effort", [j.effort for j in joints], ("N·m", "N"), ".4g"),
        ("speed", [j.velocity for j in joints], ("rad/s", "m/s"), ".3g"),
        ("armature", [j.armature or None for j in joints], ("kg·m²", "kg"), ".3g"),
    ):
        columns += _numbers(head, values, [units[0] if t else units[1] for t in turns], form)
    if any(j.mimic for j in joints):
        columns.append(["follows", *(j.mimic or "" for j in joints)])
    return ["", *("  " + "  ".join(row).rstrip() for row in zip(*columns, strict=True))]


def _shown(j: JointRow, limit: float | None) -> float | None:
    return None if limit is None else limit * (1e3 if j.kind == "prismatic" else 180 / math.pi)


def _numbers(head: str, values: list[float | None], units: list[str], form: str) -> list[list[str]]:
    """A column of numbers, with its unit in the head, or behind each number where they differ;
    none if there is no number.
    """
    used = {u for u, x in zip(units, values, strict=True) if x is not None}
    if not used:
        return []
    one = len(used) == 1
    width = max(map(len, used))
    cells = [f"{head} {used.pop()}" if one else head.ljust(width)]
    for unit, x in zip(units, values, strict=True):
        number = "–" if x is None else format(x, form)
        cells.append(number if one else f"{number} {('' if x is None else unit).ljust(width)}")
    longest = max(map(len, cells))
    return [[cell.rjust(longest) for cell in cells]]
