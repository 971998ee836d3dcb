"""A mapping in a Choreonoid body file: values as they were written, asked for by what they should
be, with errors that name the line.

Keys are written in two ways, ``jointType`` and ``joint_type``; here they are all of the second.
``<<`` and ``import`` bring in keys of other mappings that are not given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.spatial.transform import Transform, about

Array = NDArray[np.float64]
YamlNode = Any  # a node of PyYAML's tree
MERGES = ("<<", "import")
MAX_DEPTH = 100


def parse(path: Path) -> Item:
    """The mapping that a file is."""
    try:
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ModelError(
            f"robot file cannot be opened ({reason}); expected a .body file", path
        ) from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        raise ModelError(
            f"file is not well-formed YAML: {problem.problem or problem.context}; fix it there",
            path,
            mark.line + 1 if mark else None,
        ) from None
    except (yaml.YAMLError, RecursionError) as problem:
        what = str(problem).splitlines()[0] if str(problem) else "it is nested too deep"
        raise ModelError(f"file is not well-formed YAML: {what}; fix it", path) from None
    if not isinstance(root, yaml.MappingNode):
        raise ModelError(
            "file holds no keys; expected format: ChoreonoidBody and links: […]", path, 1
        )
    return Item(path, root, "the file")


def snake(key: str) -> str:
    """Convert a key to snake case: jointType → joint_type."""
    return re.sub(r"(?<=[a-z0-9])([A-Z]+)", lambda m: "_" + m[1].lower(), key)


class Item:
    """A mapping of a YAML file.

    Attributes:
        title: what errors call it. used: keys that were asked for.
    """

    def __init__(self, file: Path, node: YamlNode, title: str) -> None:
        self.file, self.node, self.title = file, node, title
        self.line = node.start_mark.line + 1
        self.used: set[str] = set()
        if not isinstance(node, yaml.MappingNode):
            raise ModelError(f"{title} is {shown(node)}; expected keys and values", file, self.line)
        self.entries: dict[str, tuple[YamlNode, int]] = {}
        self._gather(node, 0)

    def _gather(self, node: YamlNode, depth: int) -> None:
        own_keys: set[str] = set()
        merged: list[YamlNode] = []
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in MERGES:
                merged += value.value if isinstance(value, yaml.SequenceNode) else [value]
                continue
            name = snake(name)
            if name in own_keys:
                raise ModelError(
                    f"{self.title} has the key {name!r} twice; expected it once", self.file, line
                )
            own_keys.add(name)
            self.entries.setdefault(name, (value, line))
        for other in merged:
            if not isinstance(other, yaml.MappingNode) or depth > MAX_DEPTH:
                raise ModelError(
                    f"{self.title} brings in {shown(other)}; expected a mapping, by its alias",
                    self.file,
                    other.start_mark.line + 1,
                )
            self._gather(other, depth + 1)

    def error(self, message: str, key: str = "") -> ModelError:
        """An error about this mapping, in the line of a key: '<title> <message>'."""
        line = self.entries[key][1] if key in self.entries else self.line
        return ModelError(f"{self.title} {message}", self.file, line)

    def get(self, key: str) -> YamlNode | None:
        """The value of a key as it was written."""
        self.used.add(key)
        entry = self.entries.get(key)
        return None if entry is None else entry[0]

    # ---- values -----------------------------------------------------------------------------

    def text(self, key: str, default: str = "") -> str:
        """The one word or number of a key, as text."""
        node = self.get(key)
        if node is None:
            return default
        if not isinstance(node, yaml.ScalarNode):
            raise self.error(f"has {key} {shown(node)}; expected a word", key)
        return str(node.value)

    def numbers(self, key: str, counts: tuple[int, ...] = ()) -> list[float]:
        """Finite numbers of a list, or one alone; none where the key is not there."""
        node = self.get(key)
        if node is None:
            return []
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        values = [number(part) for part in parts]
        if not all(map(math.isfinite, values)) or (counts and len(values) not in counts):
            several = " or ".join(map(str, counts)) + " finite numbers" if counts else "numbers"
            wanted = "a finite number" if counts == (1,) else several
            raise self.error(f"has {key} {shown(node)}; expected {wanted}", key)
        return values

    def number(self, key: str, default: float | None = None) -> float:
        """The finite number of a key."""
        if default is None and key not in self.entries:
            raise self.error(f"has no {key}; expected a number", key)
        return (self.numbers(key, (1,)) or [default or 0.0])[0]

    def length(self, key: str) -> float:
        """One positive number that has to be there [m]."""
        value = self.number(key)
        if not value > 0:
            raise self.error(f"has {key} {value:g}; expected a positive length in metres", key)
        return value

    def names(self, key: str) -> list[str]:
        """Words of a list, or one alone."""
        node = self.get(key)
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node] if node else []
        if not all(isinstance(part, yaml.ScalarNode) for part in parts):
            raise self.error(f"has {key} {shown(node)}; expected a list of names", key)
        return [str(part.value) for part in parts]

    def inside(self, key: str, title: str) -> Item | None:
        """The mapping of a key."""
        node = self.get(key)
        return None if node is None else Item(self.file, node, title)

    def items(self, key: str, title: str) -> list[Item]:
        """The mappings of a list."""
        node = self.get(key)
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise self.error(f"has {key} {shown(node)}; expected a list", key)
        return [Item(self.file, part, f"{title} {k + 1}") for k, part in enumerate(node.value)]

    def elements(self, key: str, owner: str) -> Iterator[tuple[str, Item]]:
        """Type and mapping of each element: of a list, of one mapping with a type, or of a mapping
        whose keys are the types.
        """
        node = self.get(key)
        if node is None:
            return
        if isinstance(node, yaml.MappingNode):
            if any(str(k.value) == "type" for k, _ in node.value):
                parts = [("", node)]
            else:
                parts = [(str(k.value), v) for k, v in node.value]
        elif isinstance(node, yaml.SequenceNode):
            parts = [("", part) for part in node.value]
        else:
            raise self.error(f"has {key} {shown(node)}; expected a list or a mapping", key)
        for kind, part in parts:
            item = Item(self.file, part, f"an element of {owner}")
            kind_given = item.text("type", kind)
            if not kind_given or (kind and kind_given != kind):
                problem = f"has type {kind_given!r} under {kind!r}" if kind_given else "has no type"
                raise item.error(f"{problem}; expected type: Shape, Transform, …", "type")
            item.title = f"{kind_given} of {owner}"
            yield kind_given, item

    def placement(self, angle: float) -> Transform:
        """``translation`` [m] and ``rotation``, an axis and an angle, or a list of such, each in
        the axes that those before it have turned.

        Args:
            angle: the file's unit of angles [rad].
        """
        p = np.array(self.numbers("translation", (3,)) or [0.0] * 3)
        node, R = self.get("rotation"), np.eye(3)
        turns: list[Any] = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if not (turns and all(isinstance(turn, yaml.SequenceNode) for turn in turns)):
            turns = [node] if node is not None else []
        for turn in turns:
            parts = turn.value if isinstance(turn, yaml.SequenceNode) else []
            values = [number(part) for part in parts]
            if len(values) != 4 or not all(map(math.isfinite, values)):
                raise self.error(
                    f"has rotation {shown(turn)}; expected [x, y, z, angle]", "rotation"
                )
            if values[3] and not math.hypot(*values[:3]) > 1e-9:
                raise self.error(
                    f"has rotation {shown(turn)} about no axis; expected a direction", "rotation"
                )
            R = R @ about(values[:3], values[3] * angle).R if values[3] else R
        return Transform(R, p)


def number(node: YamlNode) -> float:
    """The number that is written, NaN for what is none."""
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    try:
        # Python would take 1_0 for ten
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.inf if re.fullmatch(r"\+?\.inf", text, re.IGNORECASE) else math.nan


def shown(node: YamlNode) -> str:
    """A value as an error message quotes it."""
    if isinstance(node, yaml.ScalarNode):
        return repr(node.value[:40])
    if isinstance(node, yaml.SequenceNode):
        words = [shown(part).strip("'") for part in node.value[:9]]
        return f"[{', '.join(words)}{', …' if len(node.value) > 9 else ''}]"
    return "a mapping"
