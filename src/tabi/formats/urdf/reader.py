"""Robots from URDF files.

A URDF is a flat list of links and joints; the joints make them a tree. What the format leaves open
is decided so: - the root link floats, unless it is called ``world`` or ``base="fixed"`` is asked
for; - bodies come depth-first from the root, joints of one link in the order of the file;
- collision meshes become convex hulls, visual meshes stay files; a mesh that is not there becomes a
note; - a revolute or prismatic joint without ``lower`` and ``upper`` has no limits (the format
would lock it at zero), with a note; - one that mimics a mimic follows the last leader, ratios and
offsets composed; - elements and attributes of other programs are counted in the notes, not read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tabi._errors import ModelError, unknown
from tabi.formats.urdf.link import LinkReader
from tabi.formats.xml import Element, parse
from tabi.model.joint import INFINITY, SIZES, Joint, Mimic, Motor
from tabi.model.report.suspicious_values import listed
from tabi.model.robot import Robot

_ONE_AXIS = ("revolute", "continuous", "prismatic")


def read(path: str | Path, base: str | None = None) -> Robot:
    """The robot in a URDF file.

    Args:
        path: the file; meshes are looked for from it.
        base: ``"floating"`` or ``"fixed"``; by default the root link floats unless it is called
            ``world``.
    """
    path = Path(path)
    if base not in (None, "floating", "fixed"):
        raise ModelError(f"base is {base!r}; expected 'floating' or 'fixed'", path)
    return _Reader(path, parse(path)).assemble(base)


class _Branch(NamedTuple):
    joint: Joint
    parent: str
    child: str


class _Reader(LinkReader):
    """A URDF file: its joints, and the tree they make of the links."""

    def __init__(self, path: Path, root: Element) -> None:
        super().__init__(path, root)
        self.mimic_lines: dict[str, int | None] = {}
        self.endless: list[str] = []

    def assemble(self, base: str | None) -> Robot:
        """Return the robot; its notes list what was ignored or fixed."""
        robot = self.robot
        if not self.root.get("name"):
            robot.notes.append(f"<robot> has no name; called {robot.name!r} after its file")
        self.count_ignored(self.root)
        lines = self.named_once("link")
        branches = self.branches(lines)
        if self.endless:
            robot.doubts.append(
                f"joints {listed(self.endless)} have no position limits and move without end; "
                'expected <limit lower="…" upper="…"/>, or the type continuous'
            )
        root = self.check_tree(lines, branches)
        links = {e.get("name", ""): self.link(e) for e in self.root.iterchildren("link")}
        self.follow_mimics({b.joint.name: b.joint for b in branches})
        self.gear_ratios({b.joint.name: b.joint for b in branches})
        kind = base or ("fixed" if root == "world" else "floating")
        name = f"{robot.name}_base"
        while any(b.joint.name == name for b in branches):
            name += "_"
        robot.add_body(
            root,
            Joint(name, kind, line=links[root].line),
            None,
            links[root].inertia,
            links[root].shapes,
            links[root].line,
        )
        for b in _depth_first(root, branches):
            robot.add_body(
                b.child,
                b.joint,
                b.parent,
                links[b.child].inertia,
                links[b.child].shapes,
                links[b.child].line,
            )
        self.write_notes()
        return robot

    # ---- joints -----------------------------------------------------------------------------

    def branches(self, links: dict[str, int | None]) -> list[_Branch]:
        """Every joint with the links it joins, in the order of the file."""
        self.named_once("joint")
        branches = []
        for element in self.root.iterchildren("joint"):
            owner, ends = f"joint {element.get('name')!r}", []
            for tag in ("parent", "child"):
                end = element.find(tag)
                if end is None:
                    raise self.error(element, f'{owner} has no <{tag}>; expected <{tag} link="…"/>')
                ends.append(self.text(end, "link", owner))
                if ends[-1] not in links:
                    raise self.error(
                        end,
                        f"{owner} has a {tag} that is not there: "
                        f"{unknown('link', ends[-1], self.robot.name, links)}",
                    )
            branches.append(_Branch(self.joint(element), *ends))
        return branches

    def joint(self, element: Element) -> Joint:
        """A joint as it stands in the file."""
        name = element.get("name", "")
        owner, kind = f"joint {name!r}", element.get("type", "")
        if kind not in SIZES:
            raise self.error(
                element, f"{owner} has type {kind!r}; expected one of {', '.join(SIZES)}"
            )
        joint = Joint(name, kind, self.origin(element, owner), line=element.sourceline)
        axis = element.find("axis")
        direction = (
            np.array([1.0, 0.0, 0.0]) if axis is None else self.numbers(axis, "xyz", owner, 3)
        )
        if kind in (*_ONE_AXIS, "planar"):
            length = math.hypot(*direction)
            if not length > 1e-12:
                raise self.error(
                    axis if axis is not None else element,
                    f"{owner} has an axis of length zero; expected a direction",
                )
            joint.axis = tuple((direction / length).tolist())
        self.limits(element, joint)
        dynamics = element.find("dynamics")
        if dynamics is not None:
            joint.damping = self.number(dynamics, "damping", owner, 0.0, lowest=0.0)
            joint.friction = self.number(dynamics, "friction", owner, 0.0, lowest=0.0)
        mimic = element.find("mimic")
        if mimic is not None and kind == "fixed":
            self.gather("that are fixed though they mimic another", name, "joints")
        elif mimic is not None:
            ratio = self.number(mimic, "multiplier", owner, 1.0)
            offset = self.number(mimic, "offset", owner, 0.0)
            joint.mimic = Mimic(self.text(mimic, "joint", owner), ratio, offset)
            self.mimic_lines[name] = mimic.sourceline
        return joint

    def limits(self, element: Element, joint: Joint) -> None:
        """Set a joint's limits of position, effort and velocity."""
        limit, owner = element.find("limit"), f"joint {joint.name!r}"
        bounded = joint.kind in ("revolute", "prismatic")
        if bounded and (
            limit is None or (limit.get("lower") is None and limit.get("upper") is None)
        ):
            self.gather("without position limits, taken to move without end", joint.name, "joints")
            self.endless.append(joint.name)
            bounded = False
        if joint.kind in _ONE_AXIS and (
            limit is None or limit.get("effort") is None or limit.get("velocity") is None
        ):
            self.gather(
                "without limit of effort or velocity, taken as unlimited", joint.name, "joints"
            )
        if limit is None:
            return
        lower, upper = (
            self.number(limit, a, owner, 0.0, infinite=True) for a in ("lower", "upper")
        )
        if bounded and (lower > upper or lower == INFINITY or upper == -INFINITY):
            raise self.error(
                limit,
                f"{owner} has limits lower={lower:g}, upper={upper:g}; expected lower ≤ upper",
            )
        if bounded:
            joint.lower, joint.upper = lower, upper
        elif joint.kind == "continuous" and 0 < upper - lower < 2 * math.pi:
            self.doubt(
                f"{owner} is continuous, so its limits from {lower:g} to {upper:g} do not count; "
                "a joint with limits is revolute"
            )
        joint.effort_limit = self.number(limit, "effort", owner, INFINITY, 0.0, infinite=True)
        joint.velocity_limit = self.number(limit, "velocity", owner, INFINITY, 0.0, infinite=True)

    def follow_mimics(self, joints: dict[str, Joint]) -> None:
        """Lead every mimic to its last leader: q = r₁(r₂ q₂ + o₂) + o₁."""
        mimics = {name: j.mimic for name, j in joints.items() if j.mimic}
        for name, mimic in mimics.items():
            joint, seen = joints[name], [name]
            leader, ratio, offset = mimic.leader, mimic.ratio, mimic.offset
            while leader in mimics and leader not in seen:
                seen.append(leader)
                after = mimics[leader]
                leader = after.leader
                offset += ratio * after.offset
                ratio *= after.ratio
            if leader in seen:
                chain = " → ".join([*seen, leader])
                raise self.error(
                    self.mimic_lines[name],
                    f"joint {name!r} mimics itself through {chain}; "
                    f"expected a leader that moves freely",
                )
            if leader not in joints:
                near = unknown("joint", leader, self.robot.name, joints)
                raise self.error(
                    self.mimic_lines[name],
                    f"joint {name!r} mimics a joint that is not there: {near}",
                )
            for part in (joint, joints[leader]):
                if part.kind not in _ONE_AXIS:
                    message = (
                        f"joint {name!r} mimics {leader!r}, but {part.name!r} is {part.kind}; "
                        f"expected one degree of freedom"
                    )
                    raise self.error(self.mimic_lines[name], message)
            joint.mimic = Mimic(leader, ratio, offset)
            joint.position = np.array([offset])

    def gear_ratios(self, joints: dict[str, Joint]) -> None:
        """Gear ratios of transmissions with one joint and one reduction;
        a ratio of 1 says nothing.
        """
        for element in self.root.iterchildren("transmission"):
            driven = [joints.get(e.get("name", "")) for e in element.iterchildren("joint")]
            ratios = [e for e in element.iter("mechanicalReduction") if (e.text or "").strip()]
            joint = driven[0] if len(driven) == len(ratios) == 1 else None
            if joint is None or joint.kind not in _ONE_AXIS:
                self.ignored["<transmission>"] += 1
                continue
            try:
                ratio = float(ratios[0].text or "")
            except ValueError:
                ratio = math.nan
            if not math.isfinite(ratio) or ratio == 0.0:
                message = (
                    f"joint {joint.name!r} has a mechanicalReduction of {ratios[0].text!r}; "
                    f"expected a finite number other than zero"
                )
                raise self.error(ratios[0], message)
            if ratio != 1.0:
                joint.motor = Motor(gear_ratio=ratio, torque_limit=joint.effort_limit)

    # ---- the tree ---------------------------------------------------------------------------

    def check_tree(self, links: dict[str, int | None], branches: list[_Branch]) -> str:
        """The root link; refuses two parents, two roots, a loop."""
        if not links:
            raise self.error(self.root, "<robot> has no <link>; expected at least one")
        carrier: dict[str, _Branch] = {}
        for b in branches:
            if b.child in carrier:
                first = carrier[b.child].joint
                both = f"joint {first.name!r} (line {first.line}) and joint {b.joint.name!r}"
                raise self.error(
                    b.joint.line, f"link {b.child!r} has two parents, by {both}; expected one"
                )
            carrier[b.child] = b
        # link → one it hangs together with; a joint between two that already do closes a loop
        joined = {name: name for name in links}
        for b in branches:
            ends = []
            for link in (b.parent, b.child):
                while joined[link] != link:
                    joined[link] = link = joined[joined[link]]
                ends.append(link)
            if ends[0] == ends[1]:
                message = (
                    f"joint {b.joint.name!r} closes a loop from link {b.parent!r} to link "
                    f"{b.child!r}; expected a tree, leave out one joint"
                )
                raise self.error(b.joint.line, message)
            joined[ends[1]] = ends[0]
        roots = [name for name in links if name not in carrier]
        if len(roots) > 1:
            a, b = roots[:2]
            raise self.error(
                links[b],
                f"links {a!r} and {b!r} are both without parent; "
                f"expected one root, add a joint "
                f"to {b!r}",
            )
        return roots[0]


def _depth_first(root: str, branches: list[_Branch]) -> Iterator[_Branch]:
    below: dict[str, list[_Branch]] = {}
    for b in branches:
        below.setdefault(b.parent, []).append(b)
    todo = below.get(root, [])[::-1]
    while todo:
        b = todo.pop()
        yield b
        todo += below.get(b.child, [])[::-1]
