"""Report on a robot, and its page for a terminal."""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import asdict, dataclass
from typing import Any

WIDTH = 110


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
        warnings: what looks wrong. notes: what the reader ignored or repaired.
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


def few(names: list[str], most: int = 6) -> str:
    """The first names, and how many more there are."""
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


def _count(n: int, singular: str, many: str = "") -> str:
    return f"{n} {singular if n == 1 else many or singular + 's'}"


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
        poses = f"; poses: {few(r.poses)}" if r.poses else ""
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
            f"none declared; on the ground in the zero pose: {few(r.foot_candidates)} "
            f"(declare "
            f"with feet={{…}})",
        )
    ]


def _table(joints: list[JointRow]) -> list[str]:
    """Return the joints in aligned columns, without empty ones."""
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
    none without numbers.
    """
    used = {u for u, x in zip(units, values, strict=True) if x is not None}
    if not used:
        return []
    same_unit = len(used) == 1
    width = max(map(len, used))
    cells = [f"{head} {used.pop()}" if same_unit else head.ljust(width)]
    for unit, x in zip(units, values, strict=True):
        number = "–" if x is None else format(x, form)
        cells.append(
            number if same_unit else f"{number} {('' if x is None else unit).ljust(width)}"
        )
    longest = max(map(len, cells))
    return [[cell.rjust(longest) for cell in cells]]
