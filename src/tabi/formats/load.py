"""Robots from files of any kind that tabi reads, with their feet declared.

The suffix selects the reader; for XML the root element does, because URDF and MJCF share
suffixes. Feet are given, or looked for: see ``feet``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lxml import etree

from tabi._errors import ModelError
from tabi.formats import feet as feet_of
from tabi.formats import visual
from tabi.model.joint import INFINITY
from tabi.model.report import suspicious_values
from tabi.model.robot import Robot

_XML = (".urdf", ".xml", ".mjcf")


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
        feet_of.declare(robot, path, feet)
    elif not robot.feet:
        feet_of.look_for(robot)
    suspicious_values.note(robot)
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
        from tabi.formats.openhrp import reader as openhrp

        return openhrp.read(path, base)
    if suffix in (".body", ".yaml", ".yml"):
        return _choreonoid(path, base)
    if root == "mujoco" or (suffix == ".mjcf" and root != "robot"):
        from tabi.formats.mjcf import reader as mjcf

        return mjcf.read(path, base)
    if suffix in _XML:
        from tabi.formats.urdf import reader as urdf

        return urdf.read(path, base)
    raise ModelError(
        f"suffix {path.suffix!r} is not known; expected .urdf, "
        f".xml or .mjcf (URDF, MJCF), .wrl (OpenHRP) or .body (Choreonoid)",
        path,
    )


def _choreonoid(path: Path, base: str | None) -> Robot:
    """The robot of a body file, or of the model file that a file adds to."""
    from tabi.formats.choreonoid import additions
    from tabi.formats.choreonoid import reader as choreonoid

    model = additions.model_file(path)
    if model is None:
        return choreonoid.read(path, base)
    robot = _read(model, base)
    additions.add(robot, path)
    return robot


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
        rest = f" and {len(names) - 6} more" if len(names) > 6 else ""
        note = (
            f"joints with a limit of effort or velocity of 0, taken as not given ({len(names)}): "
            f"{', '.join(names[:6])}{rest}"
        )
        robot.notes.append(note)
        robot.doubts.append(note)


def _apply_srdf(robot: Robot, path: Path, srdf_choice: str | Path | bool) -> None:
    """Read the SRDF file that is given, or the one beside the URDF file."""
    from tabi.formats.urdf import srdf

    if not isinstance(srdf_choice, (str, Path, bool)):
        raise ModelError(
            f"srdf is {srdf_choice!r}; expected the path of a file, or False for none", path
        )
    if not isinstance(srdf_choice, bool):
        srdf.apply(robot, Path(srdf_choice))
    elif srdf_choice and path.suffix.lower() in _XML and _root_element(path) == "robot":
        file = srdf.beside(path)
        if file is not None:
            srdf.apply(robot, file, is_beside=True)


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
