"""YAML text as a tree of texts, lists and keys, each with its file and line.

What a number or a name is depends on where it stands, so nothing is guessed here: every value stays
the text it was written as, and the reader, which knows what is expected, makes of it what it has to
be. A plain ``no`` can so be a name, and ``1e-3`` a number.

No code runs from a file: explicit tags are refused. Aliases are copies, counted as such;
sizes and depths have bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tabi._errors import ModelError

# bytes of a file, values in a tree, and levels of one inside another
MAX_BYTES, MAX_VALUES, MAX_DEPTH = 500_000, 50_000, 16
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Place(NamedTuple):
    """Place where something was written: a file, or the command line,
    and a line counted from 1.
    """

    file: str
    line: int | None = None


class SceneError(ModelError):
    """A scene file is invalid; the message has file and line.

    Attributes:
        key: the path to what is wrong, as ``--set`` takes it; empty where the file as a whole is.
    """

    def __init__(self, message: str, place: Place | None = None, key: str = "") -> None:
        self.key = brief(key, 200)
        super().__init__(
            message, None if place is None else place.file, None if place is None else place.line
        )


@dataclass(slots=True, eq=False)
class Text:
    """One value as it was written, and whether it stood without quotes."""

    value: str
    plain: bool
    place: Place
    size: int = 1
    height: int = 1


@dataclass(slots=True, eq=False)
class Items:
    """A list of nodes, as written."""

    values: list[Node]
    place: Place
    size: int = 1
    height: int = 1


@dataclass(slots=True, eq=False)
class Entries:
    """Keys and their values; ``keys`` are the places where the keys stand."""

    values: dict[str, Node]
    place: Place
    keys: dict[str, Place] = field(default_factory=dict)
    size: int = 1
    height: int = 1


Node = Text | Items | Entries


def brief(text: str, most: int = 40) -> str:
    """A text that fits into a sentence."""
    return text if len(text) <= most else text[: most - 1] + "…"


def read(path: Path) -> Node:
    """The tree of a file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise SceneError(
            f"the scene file cannot be read: {(fault.strerror or str(fault)).lower()}",
            Place(str(path)),
        ) from None
    return parse(data, str(path))


def parse(data: bytes | str, file: str) -> Node:
    """The tree of a text; ``file`` is what errors name."""
    if not isinstance(data, bytes | str):
        raise SceneError(f"the text of a scene is {data!r}; expected a text, or bytes", Place(file))
    if len(data) > MAX_BYTES:
        raise SceneError(
            f"the file is larger than {MAX_BYTES // 1000} kB; "
            "a scene is a page or two, put large things into robot files",
            Place(file),
        )
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
    except UnicodeDecodeError as fault:
        line = fault.object[: fault.start].count(b"\n") + 1
        raise SceneError(
            f"byte {fault.start} is not UTF-8; save the file as UTF-8 text", Place(file, line)
        ) from None
    try:
        return _Builder(file, yaml.parse(text, Loader=_LOADER)).document()
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        why = ", ".join(part for part in (fault.context, fault.problem) if part)
        raise SceneError(
            f"this is not YAML: {why}", Place(file, None if mark is None else mark.line + 1)
        ) from None
    except (yaml.YAMLError, UnicodeError) as fault:
        # characters that no text has
        why = " ".join(str(fault).split())
        raise SceneError(f"this is not YAML: {why[:200]}", Place(file)) from None


class _Builder:
    """Builder of the tree from the parser's events, one after the other,
    and stops at the first that is too much.
    """

    def __init__(self, file: str, events: Iterator[Any]) -> None:
        self.file, self.events, self.count = file, events, 0
        self.anchors: dict[str, Node | None] = {}

    def document(self) -> Node:
        """The only document there is."""
        next(self.events)
        started = next(self.events)
        if isinstance(started, yaml.StreamEndEvent):
            raise SceneError(
                "the file is empty; expected a scene: title, ground, robots, objects",
                Place(self.file),
            )
        root = self.node(next(self.events), 1)
        next(self.events)
        ended = next(self.events)
        if not isinstance(ended, yaml.StreamEndEvent):
            raise self.fault("a second document begins; expected one scene in a file", ended)
        return root

    def fault(self, message: str, event: Any) -> SceneError:
        return SceneError(message, self.place(event))

    def place(self, event: Any) -> Place:
        return Place(self.file, event.start_mark.line + 1)

    def node(self, event: Any, depth: int) -> Node:
        """Return the node that begins with an event."""
        if isinstance(event, yaml.AliasEvent):
            node = self.anchors.get(event.anchor)
            if node is None:
                what = "contains itself" if event.anchor in self.anchors else "is not there"
                raise self.fault(
                    f"*{brief(event.anchor)} {what}; expected an anchor &{brief(event.anchor)} "
                    "that ends before it",
                    event,
                )
        else:
            if event.tag is not None:
                raise self.fault(
                    f"the tag {brief(event.tag)!r} is not known; "
                    "scene files have no tags, and no code in them",
                    event,
                )
            if event.anchor:
                self.anchors[event.anchor] = None
            node = self.plain(event, depth)
            if event.anchor:
                self.anchors[event.anchor] = node
        if depth + node.height - 1 > MAX_DEPTH:
            raise self.fault(
                f"things lie inside of each other more than {MAX_DEPTH} deep; no scene needs that",
                event,
            )
        self.count += node.size if isinstance(event, yaml.AliasEvent) else 1
        if self.count > MAX_VALUES:
            raise self.fault(f"there are more than {MAX_VALUES} values; a scene is smaller", event)
        return node

    def plain(self, event: Any, depth: int) -> Node:
        """Return the node of an event that is not an alias."""
        place = self.place(event)
        if isinstance(event, yaml.ScalarEvent):
            return Text(event.value, not event.style, place)
        if depth >= MAX_DEPTH:
            raise self.fault(
                f"things lie inside of each other more than {MAX_DEPTH} deep; no scene needs that",
                event,
            )
        if isinstance(event, yaml.SequenceStartEvent):
            items = Items([], place)
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                self.grow(items, child := self.node(event, depth + 1))
                items.values.append(child)
            return items
        entries = Entries({}, place)
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.key(event, entries)
            self.grow(entries, child := self.node(next(self.events), depth + 1))
            entries.values[key], entries.keys[key] = child, self.place(event)
        return entries

    def key(self, event: Any, entries: Entries) -> str:
        if not isinstance(event, yaml.ScalarEvent) or event.tag is not None:
            raise self.fault("a key is no plain word; expected 'key: value'", event)
        if event.value in entries.values:
            first = entries.keys[event.value].line
            raise SceneError(
                f"key {brief(event.value)!r} occurs twice, first in line {first}; keep one of them",
                self.place(event),
                event.value,
            )
        return event.value

    @staticmethod
    def grow(node: Items | Entries, child: Node) -> None:
        node.size, node.height = node.size + child.size, max(node.height, child.height + 1)


def title_of(text: str) -> str:
    """Return the title of a scene file; empty where it has none, or is not a scene."""
    try:
        root = parse(text, "scene") if text.strip() else None
    except SceneError:
        root = None
    title = root.values.get("title") if isinstance(root, Entries) else None
    return title.value[:200] if isinstance(title, Text) else ""
