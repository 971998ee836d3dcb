"""Robots from files of any kind that tabi reads, with their feet declared.

The suffix says who reads the file; for XML the root element does, because URDF and MJCF share
suffixes. A foot is given by the name of its body, whose lowest collision points are then the sole,
or with a polygon of its own. Feet that are not given are looked for by name, then by shape, and
what was found, or why nothing was, is a note.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] (compiled, without stubs)

from tabi._errors import ModelError
from tabi.model import doubts, soles
from tabi.model.body import Body
from tabi.model.joint import INFINITY
from tabi.model.readers import visual
from tabi.model.robot import Robot

_KEYS = ("body", "polygon", "position", "quaternion")
_XML = (".urdf", ".xml", ".mjcf")
_EXAMPLE = (
    'expected {"left": "L_ANKLE", "right": {"body": "R_ANKLE", "polygon": '
    '[[x, y], …], "position": [x, y, z]}}'
)


def load(
    path: str | Path,
    feet: Mapping[str, str | Mapping[str, Any]] | None = None,
    base: str | None = None,
    name: str | None = None,
    srdf: str | Path | bool = True,
    collision: str = "file",
) -> Robot:
    """The robot in a URDF, MJCF, OpenHRP VRML or Choreonoid body file, as the file has it.

    Arguments are those of ``robots.files.load``; ``"decomposed"`` collides as ``"file"`` does here.
    """
    if not isinstance(path, (str, Path)):
        raise ModelError(
            f"the robot's path is {path!r}; expected the name of a URDF, MJCF, .wrl or .body file"
        )
    path = Path(path)
    robot = _read(path, base)
    _drop_zero_limits(robot)
    _apply_srdf(robot, path, srdf)
    robot.name = name or robot.name
    if collision == "visual":
        visual.let_collide(robot)
    if feet is not None:
        if not isinstance(feet, Mapping):
            raise ModelError(f"feet are {feet!r}; {_EXAMPLE}", path)
        for foot, place in feet.items():
            _declare(robot, path, foot, place)
    elif not robot.feet:
        _look_for_feet(robot)
    doubts.note(robot)
    return robot


def _read(path: Path, base: str | None) -> Robot:
    if not os.path.isfile(path):
        what = "it is a directory" if os.path.isdir(path) else "there is no such file"
        raise ModelError(
            f"robot file cannot be opened ({what}); "
            f"expected the path of a .urdf, .xml, .mjcf, .wrl or .body file",
            path,
        )
    suffix = path.suffix.lower()
    root = _root_element(path) if suffix in _XML else ""
    if suffix == ".xacro":
        raise ModelError(
            "a xacro file is a program that writes a URDF; expand it first (xacro robot.xacro > "
            "robot.urdf) and load the result",
            path,
        )
    if suffix == ".wrl":
        from tabi.model.readers import openhrp

        return openhrp.read(path, base)
    if suffix == ".body":
        from tabi.model.readers import choreonoid

        return choreonoid.read(path, base)
    if root == "mujoco" or (suffix == ".mjcf" and root != "robot"):
        from tabi.model.readers import mjcf

        return mjcf.read(path, base)
    if suffix in _XML:
        from tabi.model.readers import urdf

        return urdf.read(path, base)
    raise ModelError(
        f"suffix {path.suffix!r} is not known; expected .urdf, "
        f".xml or .mjcf (URDF, MJCF), .wrl (OpenHRP) or .body (Choreonoid)",
        path,
    )


def _drop_zero_limits(robot: Robot) -> None:
    """Limits of effort and velocity that are 0, as exporters write them where none is known, would
    let a joint do nothing: they are taken as not given, with a note.
    """
    names = []
    for joint in (body.joint for body in robot.bodies if body.joint.v_count):
        motor = joint.motor
        torque = motor.torque_limit if motor else INFINITY
        if 0.0 not in (joint.effort_limit, joint.velocity_limit, torque):
            continue
        names.append(repr(joint.name))
        joint.effort_limit = joint.effort_limit or INFINITY
        joint.velocity_limit = joint.velocity_limit or INFINITY
        if motor:
            joint.motor = replace(motor, torque_limit=torque or INFINITY)
    if names:
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        told = (
            f"joints with a limit of effort or velocity of 0, taken as not given ({len(names)}): "
            f"{', '.join(names[:6])}{more}"
        )
        robot.notes.append(told)
        robot.doubts.append(told)


def _apply_srdf(robot: Robot, path: Path, told: str | Path | bool) -> None:
    """Read the SRDF file that is given, or found."""
    from tabi.model.readers import srdf

    if not isinstance(told, (str, Path, bool)):
        raise ModelError(f"srdf is {told!r}; expected the path of a file, or False for none", path)
    if not isinstance(told, bool):
        srdf.apply(robot, Path(told))
    elif told and path.suffix.lower() in _XML and _root_element(path) == "robot":
        found = srdf.beside(path)
        if found is not None:
            srdf.apply(robot, found, found=True)


def _root_element(path: Path) -> str:
    """Name of the root element; empty where the XML breaks before it,
    which its reader will report.
    """
    try:
        with path.open("rb") as file:
            for _, element in etree.iterparse(
                file, events=("start",), resolve_entities=False, no_network=True
            ):
                return etree.QName(element).localname
    except (etree.XMLSyntaxError, OSError):
        pass
    return ""


# ---- feet that are given ------------------------------------------------------------------------


def _declare(robot: Robot, path: Path, foot: str, place: str | Mapping[str, Any]) -> None:
    given = {"body": place} if isinstance(place, str) else place
    if not isinstance(given, Mapping):
        raise ModelError(f"foot {foot!r} is {place!r}; {_EXAMPLE}", path)
    for key in given:
        if key not in _KEYS:
            raise ModelError(
                f"foot {foot!r} has the key {key!r}; expected keys among {', '.join(_KEYS)}", path
            )
    if not isinstance(given.get("body"), str):
        raise ModelError(f"foot {foot!r} has no body; {_EXAMPLE}", path)
    for key in ("position", "quaternion"):
        if key in given and "polygon" not in given:
            raise ModelError(
                f"foot {foot!r} has a {key} without a polygon; give both, or neither to find the "
                f"sole from the body's shapes",
                path,
            )
    try:
        body = robot.body(given["body"])
    except ModelError as problem:
        raise ModelError(
            f"foot {foot!r} stands on a body that is not there: {problem}", path
        ) from None
    if "polygon" not in given:
        _check_shapes(robot, path, foot, body)
    try:
        polygon = (
            None if "polygon" not in given else _numbers(foot, "polygon", given["polygon"], (-1, 2))
        )
        position = _numbers(foot, "position", given.get("position", (0.0, 0.0, 0.0)), (3,))
        quaternion = _numbers(
            foot, "quaternion", given.get("quaternion", (1.0, 0.0, 0.0, 0.0)), (4,)
        )
        robot.add_foot(foot, body, polygon, position, quaternion)
    except ModelError as problem:
        raise ModelError(str(problem), path, body.line) from None


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


def _check_shapes(robot: Robot, path: Path, foot: str, body: Body) -> None:
    """Refuse a body as a foot whose sole cannot be seen."""
    lost = robot.missing_meshes.get(body.name)
    if lost:
        message = (
            f"link {body.name!r} is declared the foot {foot!r} but its collision mesh {lost[0]!r} "
            f"is missing or cannot be used"
        )
        raise ModelError(
            f"{message}; put the mesh in its place, or give the foot a polygon", path, body.line
        )
    if not body.collision_shapes():
        message = (
            f"link {body.name!r} is declared the foot {foot!r} but has no collision shape to find "
            f"a sole in"
        )
        raise ModelError(
            f"{message}; name the link that has one, or give the foot a polygon", path, body.line
        )


# ---- feet that are not --------------------------------------------------------------------------


def _look_for_feet(robot: Robot) -> None:
    """Declare the one left and the one right end body named like a foot;
    else say which bodies come near.
    """
    named = [
        body
        for body in _end_bodies(robot)
        if any(re.fullmatch(r"(l|r|left|right)?(foot|sole|ankle).*", w) for w in _words(body.name))
    ]
    lacking = {
        body: " (its mesh is missing)" for body in named if body.name in robot.missing_meshes
    }
    lacking |= {
        body: " (no collision shape)"
        for body in named
        if body not in lacking and not body.collision_shapes()
    }
    sides = {
        side: [body for body in named if body not in lacking and _side(body.name) == side]
        for side in ("left", "right")
    }
    if all(len(bodies) == 1 for bodies in sides.values()):
        try:
            for side, (body,) in sides.items():
                robot.add_foot(side, body)
            found = ", ".join(f"{side} {body.name!r}" for side, (body,) in sides.items())
            robot.notes.append(f"feet found by name: {found}; give feet={{…}} to choose others")
            return
        except ModelError as problem:
            robot.feet.clear()
            robot.notes.append(f"feet found by name cannot be used: {problem}")
    reason = soles.add_feet(robot) if robot.base.joint.kind == "floating" else ""
    if robot.feet:
        return
    by_shape = f"; {reason}" if reason else ""
    if named:
        near = ", ".join(f"{body.name!r}{lacking.get(body, '')}" for body in named[:8])
        robot.notes.append(
            f"no feet declared: not exactly one left and one right with a sole among {near}"
            f"{by_shape}; give feet={{…}}"
        )
    else:
        robot.notes.append(
            f"no feet declared: no end body is named foot, sole or ankle{by_shape}; "
            "give feet={…} if it has some"
        )


def _end_bodies(robot: Robot) -> list[Body]:
    """Bodies that carry no moving joint."""
    carrying: set[Body] = set()
    for body in reversed(robot.bodies):
        if body.parent and (body.joint.kind != "fixed" or body in carrying):
            carrying.add(body.parent)
    return [body for body in robot.bodies[1:] if body not in carrying]


def _words(name: str) -> list[str]:
    """Words of a name, small; they end at anything but a letter,
    or where a capital follows a small letter.
    """
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def _side(name: str) -> str | None:
    """The side that the first word to tell one tells: L_ANKLE_R is the left ankle's roll."""
    for word in _words(name):
        told = re.fullmatch(r"(l|r)(leg|foot|sole|ankle)?|(left|right).*", word)
        if told:
            return "left" if word[0] == "l" else "right"
    return None
