"""Contents of an SRDF file: links that never collide, and poses with names.

    disable_collisions            a pair that never collides
    disable_default_collisions    a link that never collides with any other, but for pairs under
                                  enable_collisions
    group_state                   a pose; states of one name for several groups are one pose

A value is an angle [rad] or a distance [m]; of a continuous joint it may be the cosine and the sine
of its angle, and seven numbers are a place of the base (x, y, z and a quaternion x, y, z, w), which
a pose here does not hold. Groups, chains and end effectors are for planners and passed over.
Whatever names a link or joint that the robot has not is a note.
"""

from __future__ import annotations

import math
import os
from itertools import combinations
from pathlib import Path

from tabi._errors import ModelError
from tabi.formats import home_pose
from tabi.formats.xml import Element, XmlFile, parse
from tabi.model.robot import Robot

_KNOWN = {
    tag: (children.split(), attributes.split())
    for tag, children, attributes in [
        (
            "robot",
            "disable_collisions disable_default_collisions enable_collisions group_state "
            "group end_effector virtual_joint passive_joint",
            "name version",
        ),
        ("disable_collisions", "", "link1 link2 reason"),
        ("enable_collisions", "", "link1 link2 reason"),
        ("disable_default_collisions", "", "link"),
        ("group_state", "joint", "name group"),
        ("joint", "", "name value"),
    ]
}
# files round: how far a position may be behind a limit without a note [rad or m]
_ROUNDING = 1e-4


def beside(path: Path) -> Path | None:
    """The SRDF file of a robot's file: of its name in its folder, or in ../srdf."""
    for file in (path.with_suffix(".srdf"), path.parent.parent / "srdf" / f"{path.stem}.srdf"):
        if os.path.isfile(file):
            return file
    return None


def apply(robot: Robot, path: Path, is_beside: bool = False) -> None:
    """Apply an SRDF file to a robot.

    Args:
        is_beside: whether the file was found beside the robot's file, which its note then states.
    """
    if not os.path.isfile(path):
        raise ModelError(
            "SRDF file cannot be opened (there is no such file); expected the path of one, "
            "or srdf=False",
            path,
        )
    try:
        _Reader(robot, path).apply(is_beside)
    except ModelError as problem:
        if not is_beside:
            raise
        error = ModelError(f"{problem}; srdf=False loads the robot without this file")
        error.file, error.line = problem.file, problem.line
        raise error from None


class _Reader(XmlFile):
    def __init__(self, robot: Robot, path: Path) -> None:
        root = parse(path)
        if root.tag != "robot":
            raise ModelError(
                f"root element is <{root.tag}>; expected <robot>", path, root.sourceline
            )
        super().__init__(path, root, _KNOWN, set().union(*(c for c, _ in _KNOWN.values())))
        self.robot = robot
        self.links = {body.name for body in robot.bodies}
        self.joints = {body.joint.name: body.joint for body in robot.bodies[1:]}
        self.notes: list[str] = []
        # names that the file speaks of, and whether the robot has them
        self.spoken: dict[str, bool] = {}

    def apply(self, is_beside: bool) -> None:
        """Read everything first, so that a faulty file leaves the robot as it was."""
        self.count_ignored(self.root)
        pairs, poses = self.pairs(), self.poses()
        robot, title = self.robot, self.root.get("name")
        if not is_beside and self.spoken and not any(self.spoken.values()):
            raise self.error(
                self.root,
                f"SRDF of {title!r} names no link or joint of {robot.name!r}, but for example "
                f"{next(iter(self.spoken))!r}; expected the file of this robot, or srdf=False",
            )
        if title and title != robot.name:
            self.notes.append(f"is of a robot called {title!r}, this one is {robot.name!r}")
        for pair in pairs:
            robot.exclude(*pair)
        robot.poses |= poses
        start = home_pose.named(poses)
        if start and "half_sitting" not in robot.poses:
            robot.poses["half_sitting"] = poses[start]
            self.notes.append(f"its pose {start!r} is also the robot's half_sitting")
        listed = ", ".join(map(repr, poses)) or "none"
        how = " found beside the robot's file" if is_beside else ""
        robot.notes.append(
            f"SRDF {self.path.name}{how}; pairs that never collide: {len(pairs)}, poses: {listed}"
        )
        robot.notes += [f"{self.path.name}: {line}" for line in self.notes + self.summary()]

    # ---- pairs ------------------------------------------------------------------------------

    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of links that never collide, each once, as names in order."""
        alone = {
            self.text(e, "link", "<disable_default_collisions>")
            for e in self.root.iterchildren("disable_default_collisions")
        }
        for name in sorted(alone - self.links):
            self.gather("that the robot has not, passed over", name)
        disabled = {(a, b) for a, b in combinations(sorted(self.links), 2) if {a, b} & alone}
        disabled -= self.named_pairs("enable_collisions")
        return sorted(disabled | self.named_pairs("disable_collisions"))

    def named_pairs(self, tag: str) -> set[tuple[str, str]]:
        """Pairs of links that elements of a tag name."""
        pairs = set()
        for element in self.root.iterchildren(tag):
            a, b = sorted(self.text(element, key, f"<{tag}>") for key in ("link1", "link2"))
            unknown = [name for name in (a, b) if name not in self.links]
            self.spoken |= {name: name not in unknown for name in (a, b)}
            for name in unknown:
                self.gather("that the robot has not, passed over", name)
            if a == b:
                self.gather(f"in a <{tag}> with themselves, passed over", a)
            elif not unknown:
                pairs.add((a, b))
        return pairs

    # ---- poses ------------------------------------------------------------------------------

    def poses(self) -> dict[str, dict[str, float]]:
        """Positions of joints, by the name of the pose."""
        poses: dict[str, dict[str, float]] = {}
        for state in self.root.iterchildren("group_state"):
            name = self.text(state, "name", "<robot>")
            pose = poses.setdefault(name, {})
            for element in state.iterchildren("joint"):
                joint = self.text(element, "name", f"pose {name!r}")
                value = self.position(element, name, joint)
                if value is not None:
                    pose[joint] = value
        for name, pose in poses.items():
            self.follow(name, pose)
        return poses

    def position(self, element: Element, pose: str, name: str) -> float | None:
        """Position of an element's joint; None, with a note, where a pose cannot have it."""
        owner = f"joint {name!r} of pose {pose!r}"
        count = len(self.text(element, "value", owner).split())
        values = self.numbers(element, "value", owner, max(count, 1)).tolist()
        joint = self.joints.get(name)
        self.spoken[name] = joint is not None
        if joint is None and count == 7:
            x, y, z, qx, qy, qz, qw = values
            self.notes.append(
                f"pose {pose!r} also moves the base, which a pose of tabi does not hold: "
                f"robot.place({[x, y, z]}, {[qw, qx, qy, qz]}) does"
            )
        elif joint is None:
            self.gather("that the robot has not, passed over", name, "joints")
        elif joint.q_count != 1:
            self.gather(f"of a pose that are {joint.kind}, passed over", name, "joints")
        elif count == 1:
            if not joint.lower - _ROUNDING <= values[0] <= joint.upper + _ROUNDING:
                self.gather(f"that pose {pose!r} puts out of their limits, kept", name, "joints")
            return values[0]
        elif count == 2 and joint.kind == "continuous" and any(values):
            return math.atan2(values[1], values[0])
        else:
            raise self.error(
                element, f"{owner} has value={element.get('value')!r}; expected one number"
            )
        return None

    def follow(self, name: str, pose: dict[str, float]) -> None:
        """Leave out joints that follow another; their leaders say where they are."""
        for follower in [joint for joint in pose if self.joints[joint].mimic]:
            mimic, position = self.joints[follower].mimic, pose.pop(follower)
            assert mimic is not None
            if abs(mimic.ratio * pose.get(mimic.leader, 0.0) + mimic.offset - position) > _ROUNDING:
                self.gather(
                    f"that pose {name!r} puts elsewhere than their leaders do, which count",
                    follower,
                    "joints",
                )
