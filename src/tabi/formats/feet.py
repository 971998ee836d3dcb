"""Feet of a robot from a file: those that the caller gives, else those that the file declares, else
those that names or shapes suggest.

By name a foot is an end of a limb that is called sole, foot, ankle or toe, with its opposite on the
other side; of several pairs the one that reaches lowest with all joints at zero, and of those
as low the one nearest to the ground by its name. A toe on a link that reaches as low is no foot,
that link is. Where names do not decide, shapes do (``soles``). What was found and why, or what came
near, is a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.feet import names as foot_names
from tabi.model.feet import soles
from tabi.model.robot import Robot

_KEYS = ("body", "polygon", "position", "quaternion")
_EXAMPLE = (
    'expected {"left": "L_ANKLE", "right": {"body": "R_ANKLE", "polygon": '
    '[[x, y], …], "position": [x, y, z]}}'
)
SIDES = ("left", "right")


# ---- feet that are given ------------------------------------------------------------------------


def declare(robot: Robot, path: Path, feet: Mapping[str, str | Mapping[str, Any]]) -> None:
    """Declare the feet that the caller gives, in place of those of the file."""
    if not isinstance(feet, Mapping):
        raise ModelError(f"feet are {feet!r}; {_EXAMPLE}", path)
    robot.feet.clear()
    for foot, place in feet.items():
        _declare(robot, path, foot, place)
    if len(feet) == 1 and (only := next(iter(feet))) in SIDES:
        other = SIDES[only == "left"]
        robot.doubts.append(
            f"only the foot {only!r} is given; a robot that stands on two needs the foot {other!r} "
            f"too"
        )
    owners: dict[Body, str] = {}
    for name, foot in robot.feet.items():
        other = owners.setdefault(foot.body, name)
        if other != name:
            raise ModelError(
                f"feet {other!r} and {name!r} are both on body {foot.body.name!r}; expected two "
                f"bodies, one for each foot",
                path,
                foot.body.line,
            )


def _declare(robot: Robot, path: Path, foot: str, place: str | Mapping[str, Any]) -> None:
    settings = _checked(path, foot, place)
    try:
        body = robot.body(settings["body"])
    except ModelError as problem:
        raise ModelError(
            f"foot {foot!r} stands on a body that is not there: {problem}", path
        ) from None
    if "polygon" not in settings:
        body = _with_shapes(robot, path, foot, body)
    try:
        polygon = (
            None
            if "polygon" not in settings
            else _numbers(foot, "polygon", settings["polygon"], (-1, 2))
        )
        position = _numbers(foot, "position", settings.get("position", (0.0, 0.0, 0.0)), (3,))
        quaternion = _numbers(
            foot, "quaternion", settings.get("quaternion", (1.0, 0.0, 0.0, 0.0)), (4,)
        )
        robot.add_foot(foot, body, polygon, position, quaternion)
    except ModelError as problem:
        raise ModelError(str(problem), path, body.line) from None


def _checked(path: Path, foot: str, place: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings of a foot as a mapping with known keys."""
    settings = {"body": place} if isinstance(place, str) else place
    if not isinstance(settings, Mapping):
        raise ModelError(f"foot {foot!r} is {place!r}; {_EXAMPLE}", path)
    for key in settings:
        if key not in _KEYS:
            raise ModelError(
                f"foot {foot!r} has the key {key!r}; expected keys among {', '.join(_KEYS)}", path
            )
    if not isinstance(settings.get("body"), str):
        raise ModelError(f"foot {foot!r} has no body; {_EXAMPLE}", path)
    for key in ("position", "quaternion"):
        if key in settings and "polygon" not in settings:
            raise ModelError(
                f"foot {foot!r} has a {key} without a polygon; give both, or neither to find the "
                f"sole from the body's shapes",
                path,
            )
    return settings


def _numbers(foot: str, key: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array = np.array(values, float)
        if array.ndim == len(shape) and array.shape[-1] == shape[-1] and np.isfinite(array).all():
            return array
    except (ValueError, TypeError):
        pass
    expected = {
        "position": "[x, y, z] in metres",
        "quaternion": "[w, x, y, z]",
        "polygon": "[[x, y], …] in metres",
    }[key]
    raise ModelError(f"foot {foot!r} has {key} {values!r}; expected {expected}")


def _with_shapes(robot: Robot, path: Path, foot: str, body: Body) -> Body:
    """The body, or the one fixed to it whose shapes are its sole; refused where none is seen."""
    lost = robot.missing_meshes.get(body.name)
    if lost:
        message = (
            f"link {body.name!r} is declared the foot {foot!r} but its collision mesh {lost[0]!r} "
            f"is missing or cannot be used"
        )
        raise ModelError(
            f"{message}; put the mesh in its place, or give the foot a polygon", path, body.line
        )
    shown = _shown(robot, body)
    if shown is None:
        message = (
            f"link {body.name!r} is declared the foot {foot!r} but has no collision shape to find "
            f"a sole in"
        )
        seen = ', load it with collision="visual"' * any(s.visible for s in body.shapes)
        raise ModelError(
            f"{message}; name the link that has one{seen}, or give the foot a polygon",
            path,
            body.line,
        )
    if shown is not body:
        robot.notes.append(
            f"foot {foot!r} is on {shown.name!r}, whose shapes are those of {body.name!r}, fixed "
            f"to it"
        )
    return shown


def _shown(robot: Robot, body: Body) -> Body | None:
    """The body if it has collision shapes, else the lowest one of those that are fixed to it."""
    if body.collision_shapes():
        return body
    owner = soles.links(robot)[body]
    lowest = soles.lowest_bodies(robot).get(owner)
    return None if lowest is None or owner is robot.base else lowest[0]


# ---- feet that are not --------------------------------------------------------------------------


@dataclass(frozen=True)
class FootLike:
    """A body that is called like a foot.

    Attributes:
        part: of a foot that it is called. height: of its lowest point [m].
        lacks: what it has no sole for, as notes say it. toes: that hang on it.
    """

    body: Body
    name: str
    part: str
    height: float
    lacks: str
    toes: tuple[str, ...] = ()


def look_for(robot: Robot) -> None:
    """Declare the feet of the file, or those that names or shapes suggest; else note which bodies
    come near.
    """
    if _add_declared(robot):
        return
    named = _named(robot)
    pair = _lowest_pair(robot, named)
    if pair is not None and _add(robot, pair):
        return
    reason = soles.add_feet(robot) if robot.base.joint.kind == "floating" else ""
    if robot.feet:
        return
    by_shape = f"; {reason}" if reason else ""
    if named:
        near = ", ".join(f"{candidate.name!r}{candidate.lacks}" for candidate in named[:8])
        robot.notes.append(
            f"no feet declared: not exactly one left and one right with a sole among {near}"
            f"{by_shape}; give feet={{…}}"
        )
    else:
        robot.notes.append(
            f"no feet declared: no end body is named foot, sole, ankle or toe{by_shape}; "
            "give feet={…} if it has some"
        )


def _add_declared(robot: Robot) -> bool:
    """Whether the links that the file declares became the feet: "left" and "right" by their names,
    or of two by where they are; else by the names of the links.
    """
    links = list(robot.foot_links)
    if not links:
        return False
    X, names = robot.placements(robot.at_zero()), {body.name for body in robot.bodies}
    sides = [foot_names.side(link, names) for link in links]
    if len(links) == 2 and set(sides) != set(SIDES):
        first = X[robot.body(links[0])].p[1] >= X[robot.body(links[1])].p[1]
        sides = list(SIDES if first else SIDES[::-1])
    feet = [
        side if len(links) == 2 and side else link for side, link in zip(sides, links, strict=True)
    ]
    try:
        for foot, link in zip(feet, links, strict=True):
            body = robot.body(link)
            robot.add_foot(foot, _shown(robot, body) or body)
    except ModelError as problem:
        robot.feet.clear()
        places = ", ".join(f"{link!r} at {p}" for link, p in robot.foot_links.items() if p)
        places_note = f"; the middles of their soles are {places}" if places else ""
        robot.notes.append(f"feet of the file's foot_links cannot be used: {problem}{places_note}")
        return False
    declared_names = ", ".join(f"{foot} {robot.feet[foot].body.name!r}" for foot in feet)
    robot.notes.append(f"feet of the file's foot_links: {declared_names}; {soles.CHOOSE}")
    return True


def _add(robot: Robot, pair: tuple[FootLike, FootLike]) -> bool:
    """Whether a pair became the feet; notes say what it is, or why it is none."""
    try:
        for side, foot in zip(SIDES, pair, strict=True):
            robot.add_foot(side, foot.body)
    except ModelError as problem:
        robot.feet.clear()
        robot.notes.append(f"feet found by name cannot be used: {problem}")
        return False
    names = ", ".join(
        f"{side} {foot.body.name!r}"
        + (f" (for {foot.name!r})" if foot.name != foot.body.name else "")
        for side, foot in zip(SIDES, pair, strict=True)
    )
    toes = soles.note_of_toes([toe for foot in pair for toe in foot.toes])
    robot.notes.append(f"feet found by name: {names}{toes}; {soles.CHOOSE}")
    return True


def _named(robot: Robot) -> list[FootLike]:
    """Ends of limbs that are called like feet, and what toes of them hang on."""
    candidates: dict[Body, FootLike] = {}
    low, link = soles.lowest_bodies(robot), soles.links(robot)
    for body in _end_bodies(robot):
        part = foot_names.part(body.name)
        if part is None:
            continue
        shown, name, toes = _shown(robot, body) or body, body.name, ()
        above = soles.heel(robot, shown, low) if part == "toe" else None
        if above is not None:
            toes = (*(candidates[above].toes if above in candidates else ()), shown.name)
            part = foot_names.part(above.name) or part
            shown, name = above, above.name if foot_names.part(above.name) else name
        height = low[link[shown]][1] if link[shown] in low else np.inf
        if shown not in candidates or toes or candidates[shown].name != shown.name:
            candidates[shown] = FootLike(shown, name, part, height, _lacks(robot, shown), toes)
    return list(candidates.values())


def _lacks(robot: Robot, body: Body) -> str:
    if body.name in robot.missing_meshes:
        return " (its mesh is missing)"
    return "" if body.collision_shapes() else " (no collision shape)"


def _lowest_pair(robot: Robot, named: list[FootLike]) -> tuple[FootLike, FootLike] | None:
    """Left and right foot; None without a pair, or with several that are as good."""
    names, link = {body.name for body in robot.bodies}, soles.links(robot)
    sides: dict[str, list[FootLike]] = {side: [] for side in SIDES}
    for foot in named:
        side = foot_names.side(foot.name, names)
        if side and not foot.lacks:
            sides[side].append(foot)
    lowest = min((foot.height for foot in named), default=0.0) + soles.LEVEL
    for part in foot_names.PARTS:
        pair = []
        for side in SIDES:
            level = [foot for foot in sides[side] if foot.part == part and foot.height < lowest]
            # what is fixed to one link is one foot
            if len({link[foot.body] for foot in level}) == 1:
                pair.append(min(level, key=lambda foot: foot.height))
        if len(pair) == 2:
            return pair[0], pair[1]
    return None


def _end_bodies(robot: Robot) -> list[Body]:
    """Bodies that carry no moving joint."""
    carrying: set[Body] = set()
    for body in reversed(robot.bodies):
        if body.parent and (body.joint.kind != "fixed" or body in carrying):
            carrying.add(body.parent)
    return [body for body in robot.bodies[1:] if body not in carrying]
