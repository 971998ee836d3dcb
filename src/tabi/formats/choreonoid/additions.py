"""Parts of a Choreonoid file besides its links: the standard pose and the feet.

Such keys stand in the body file, or in a file that adds them to a model of another format, which it
names: ``modelFile``. ``standardPose`` is in the order of joint ids; ``footLinks`` are links, with
the middle of the sole of each, ``soleCenter`` [m].
"""

from __future__ import annotations

import math
from pathlib import Path

import yaml

from tabi._errors import ModelError
from tabi.formats.choreonoid.node import Item, parse
from tabi.formats.choreonoid.pairs import exclude
from tabi.model.robot import Robot

CHOREONOID_SUFFIXES = (".body", ".yaml", ".yml")


def model_file(path: Path) -> Path | None:
    """The model file that a file adds to; None where it has links of its own."""
    top = parse(path)
    if path.suffix.lower() != ".body" and not {"format", "model_file"} & set(top.entries):
        raise ModelError(
            "is no robot: it has neither the key format nor modelFile of Choreonoid; expected a "
            ".urdf, .xml, .mjcf, .wrl or .body file, and tabi run for a scene",
            path,
        )
    if not _only_adds(top):
        return None
    name = top.text("model_file")
    file = path.parent / name
    if not file.is_file():
        raise top.error(
            f"adds to the model file {name!r}, which is not beside it; put it there", "model_file"
        )
    if file.suffix.lower() in CHOREONOID_SUFFIXES and _only_adds(parse(file)):
        raise top.error(
            f"adds to the model file {name!r}, which only adds to another; expected a file with "
            f"links",
            "model_file",
        )
    return file


def _only_adds(top: Item) -> bool:
    return "model_file" in top.entries and "links" not in top.entries


def add(robot: Robot, path: Path) -> None:
    """Give the robot of a model file what a file adds to it."""
    top = parse(path)
    model = top.text("model_file")
    robot.name = top.text("name") or robot.name
    robot.notes.append(f"{path.name} adds to {model}")
    top.text("format")
    top.number("format_version", 1.0)
    apply(robot, top, angle_unit(top))
    exclude(robot, top)
    unread = [key for key in top.entries if key not in top.used]
    if unread:
        robot.notes.append(f"ignored of {path.name}: {', '.join(unread)}")


def angle_unit(top: Item) -> float:
    """Unit of angles of a file [rad]."""
    unit = top.text("angle_unit", "degree")
    if unit not in ("degree", "radian"):
        raise top.error(f"has angle_unit {unit!r}; expected degree or radian", "angle_unit")
    return math.pi / 180 if unit == "degree" else 1.0


def apply(robot: Robot, top: Item, angle: float) -> None:
    """The standard pose, and links that are feet.

    Args:
        angle: unit of angles [rad].
    """
    _pose(robot, top, angle)
    for link, centre, item in _feet(top):
        try:
            robot.body(link)
        except ModelError as problem:
            raise item.error(f"has foot_links with a link that is not there: {problem}") from None
        robot.foot_links[link] = centre


def _pose(robot: Robot, top: Item, angle: float) -> None:
    """In the order of joint ids; it is also the robot's half-sitting pose."""
    joints = {}
    for body in robot.bodies:
        joints.setdefault(body.joint.number, body.joint)
    values, pose, lost = top.numbers("standard_pose"), dict[str, float](), []
    for number, value in enumerate(values):
        joint = joints.get(number)
        if joint is None or joint.q_count != 1:
            lost.append(str(number))
            continue
        pose[joint.name] = value * (1.0 if joint.kind == "prismatic" else angle)
    if lost:
        robot.notes.append(f"standard_pose has values for no joint of id {', '.join(lost)}")
    if values:
        robot.poses |= {"standard": pose, "half_sitting": pose}


def _feet(top: Item) -> list[tuple[str, list[float], Item]]:
    """Link of each foot, the middle of its sole if it is given, and its place in the file."""
    node = top.get("foot_links")
    plain = isinstance(node, yaml.SequenceNode) and all(
        isinstance(part, yaml.ScalarNode) for part in node.value
    )
    if node is None or plain:
        return [(name, [], top) for name in top.names("foot_links")]
    return [
        (item.text("link"), item.numbers("sole_center", (3,)), item)
        for item in top.items("foot_links", "foot link")
    ]
