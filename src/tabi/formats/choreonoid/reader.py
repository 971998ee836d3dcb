"""Choreonoid body files (YAML, format ChoreonoidBody, versions 1 and 2) → Robot.

A link is a body and the joint that carries it, both with the link's name, unless ``joint_name``
gives the joint its own; the base hangs on the joint ``<robot>_base``. ``translation`` and
``rotation`` place it in its parent's frame, and its joint turns about, or slides along,
``joint_axis`` of its own. ``joint_id`` becomes the joint's number, by which ``standard_pose`` is
ordered: see ``additions``, also for the feet. ``extra_joints`` become bonds. Other keys
are for other programs, which the format invites, and are counted in a note.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np

from tabi._errors import ModelError, unknown
from tabi.formats.choreonoid import additions
from tabi.formats.choreonoid.elements import Elements
from tabi.formats.choreonoid.joint import drive, kind_of
from tabi.formats.choreonoid.node import Item, parse
from tabi.formats.choreonoid.pairs import exclude
from tabi.model.body import Closure
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform, z_to

LINK_KEYS = (
    *("type", "name", "joint_name", "parent", "translation", "rotation", "elements"),
    *("joint_id", "joint_type", "joint_axis", "joint_angle", "joint_displacement", "joint_range"),
    *("max_joint_velocity", "joint_velocity_range", "rotor_inertia", "gear_ratio"),
    *("center_of_mass", "mass", "inertia"),
)


def read(path: str | Path, base: str | None = None) -> Robot:
    """The robot of a Choreonoid body file.

    Args:
        path: a .body file; meshes are looked for from it.
        base: "floating" or "fixed" in place of what the file's root link says.
    """
    path = Path(path)
    if base not in (None, "floating", "fixed"):
        raise ModelError(
            f"base is {base!r}; expected 'floating', 'fixed' or None for what the file says", path
        )
    return _Reader(path, parse(path)).assemble(base)


class _Reader:
    def __init__(self, path: Path, top: Item) -> None:
        self.path, self.top = path, top
        self.angle = self._header()
        self.robot = Robot(top.text("name") or path.stem, path)
        self.elements = Elements(self.robot, path, self.angle)
        self.notes: list[str] = []
        self.numbers: dict[int, str] = {}

    def _header(self) -> float:
        """Check what the file says it is; returns its unit of angles [rad]."""
        top = self.top
        if top.text("format") != "ChoreonoidBody":
            raise top.error(
                f"has format {top.text('format')!r}; expected format: ChoreonoidBody", "format"
            )
        version = top.number("format_version", 1.0)
        if not 1.0 <= version <= 2.0:
            raise top.error(
                f"has format_version {version:g}; expected 1.0 to 2.0", "format_version"
            )
        return additions.angle_unit(top)

    def assemble(self, base: str | None) -> Robot:
        """Return the robot; its notes list what was ignored or fixed."""
        robot = self.robot
        for k, item in enumerate(self._ordered(self._links())):
            self._add(item, base if k == 0 else None, k == 0)
        additions.apply(robot, self.top, self.angle)
        self._bonds()
        exclude(robot, self.top)
        self._write_notes()
        return robot

    # ---- the tree ---------------------------------------------------------------------------

    def _links(self) -> dict[str, Item]:
        """The links by their names, in the order of the file."""
        links: dict[str, Item] = {}
        for kind, item in self._typed():
            if kind == "Skip":
                continue
            if kind != "Link":
                raise item.error(
                    f"is a {kind}, which is not read; expected links of type Link", "type"
                )
            name = item.text("name")
            if not name:
                raise item.error("has no name; expected name: …")
            item.title = f"link {name!r}"
            if name in links:
                raise item.error(
                    f"occurs twice, first in line {links[name].line}; give every link its own name",
                    "name",
                )
            links[name] = item
        if not links:
            raise self.top.error("has no links; expected links: [ { name: … }, … ]", "links")
        return links

    def _typed(self) -> list[tuple[str, Item]]:
        """Type and mapping of each entry under links."""
        items = self.top.items("links", "link")
        return [(item.text("type", "Link"), item) for item in items]

    def _ordered(self, links: dict[str, Item]) -> list[Item]:
        """Links from the root on, parents before children, else in the order of the file."""
        root = self.top.text("root_link", next(iter(links)))
        if root not in links:
            problem = unknown("link", root, self.robot.name, links)
            raise self.top.error(f"has a root_link that is not there: {problem}", "root_link")
        below: dict[str, list[str]] = {}
        for name, item in links.items():
            parent = item.text("parent")
            if name == root:
                continue
            if not parent:
                raise item.error(f"has no parent, nor is it the root {root!r}; expected parent: …")
            if parent not in links:
                problem = unknown("link", parent, self.robot.name, links)
                raise item.error(f"has a parent that is not there: {problem}", "parent")
            below.setdefault(parent, []).append(name)
        order, todo = [], [root]
        while todo:
            order.append(todo.pop())
            todo += reversed(below.get(order[-1], []))
        lost = next((name for name in links if name not in set(order)), None)
        if lost is not None:
            raise links[lost].error("is carried by itself; expected a tree from the root", "parent")
        return [links[name] for name in order]

    def _add(self, item: Item, base: str | None, is_root: bool) -> None:
        """A body, its joint, and all it holds."""
        robot, name, kind = self.robot, item.text("name"), kind_of(item)
        X = item.placement(self.angle)
        joint = Joint(item.text("joint_name") or name, kind, X, line=item.line)
        if is_root:
            if kind not in ("floating", "fixed"):
                raise item.error(
                    f"is the root and its joint is {kind}; expected free or fixed", "joint_type"
                )
            body = robot.add_body(
                name, Joint(f"{robot.name}_base", base or kind, line=item.line), line=item.line
            )
            robot.place(X.p, X.quaternion)
        else:
            if kind == "floating":
                raise item.error("is free but not the root; expected another joint", "joint_type")
            if joint.q_count == 1:
                self.notes += drive(item, joint, self.angle)
            body = robot.add_body(name, joint, item.text("parent"), line=item.line)
        if "track" in item.text("joint_type").lower():
            self.notes.append(f"{item.title} is a continuous track: fixed here, it does not run")
        self._number(item, joint)
        self.elements.fill(item, body)
        if body.inertia.mass > 0 and not body.inertia.tensor.any():
            self.notes.append(f"{item.title} has a mass without an inertia: a point here")
        for key in item.entries:
            if key not in item.used and key not in LINK_KEYS:
                meant = difflib.get_close_matches(key, LINK_KEYS, 1, cutoff=0.8)
                hint = f" (near {meant[0]})" if meant else ""
                self.elements.ignored[f"Link.{key}{hint}"] += 1

    def _number(self, item: Item, joint: Joint) -> None:
        number = item.number("joint_id", -1.0)
        if number != int(number):
            raise item.error(f"has joint_id {number:g}; expected a whole number", "joint_id")
        if number >= 0:
            joint.number = int(number)
            if number in self.numbers:
                self.notes.append(
                    f"joint_id {number:g} is given twice, to {self.numbers[int(number)]!r} and "
                    f"{joint.name!r}"
                )
            self.numbers.setdefault(int(number), joint.name)

    # ---- what the file says of the whole robot ----------------------------------------------

    def _bonds(self) -> None:
        """Extra joints, which close loops."""
        robot, X = self.robot, self.robot.placements()
        for item in self.top.items("extra_joints", "extra joint"):
            kind = item.text("joint_type", "ball")
            bodies = []
            for key in ("link1_name", "link2_name"):
                try:
                    bodies.append(robot.body(item.text(key)))
                except ModelError as problem:
                    raise item.error(f"has a {key} that is not there: {problem}", key) from None
            if kind not in ("ball", "hinge", "fixed"):
                self.notes.append(f"{item.title} is a {kind}, left out: its loop stays open")
                continue
            a, b = bodies
            axis = np.array(item.numbers("axis", (3,)) or [0.0, 0.0, 1.0])
            if not np.linalg.norm(axis) > 1e-9:
                raise item.error("has an axis of length zero; expected a direction", "axis")
            # the axis is given in the first link, where the links start
            R = z_to(axis) if kind == "hinge" else np.eye(3)
            places = [
                Transform(rotation, np.array(item.numbers(key, (3,)) or [0.0] * 3))
                for key, rotation in (
                    ("link1_local_pos", R),
                    ("link2_local_pos", X[b].R.T @ X[a].R @ R),
                )
            ]
            bond_kind = "weld" if kind == "fixed" else kind
            robot.bonds.append(Closure(bond_kind, a, b, *places))

    def _write_notes(self) -> None:
        counts, ignored = self.elements.counts, self.elements.ignored
        # what concerns the whole body is for editors and plugins
        ignored.update(key for key in self.top.entries if key not in self.top.used)
        lines = [
            (counts["hull"], f"{counts['hull']} × IndexedFaceSet stand as their convex hulls"),
            (
                counts["stretched"],
                f"{counts['stretched']} shapes stretched unevenly stand as convex polytopes",
            ),
            (
                ignored,
                "ignored: " + ", ".join(f"{n} × {what}" for what, n in sorted(ignored.items())),
            ),
        ]
        self.robot.notes += self.notes + [line for there, line in lines if there]
