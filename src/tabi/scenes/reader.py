"""A tree of texts becomes typed contents: each value is read as what its key is for,
and what cannot be is named with its place.

A path is a tuple of keys and numbers, ``("objects", 0, "mass_kg")``;
people see it as ``objects.crate.mass_kg``, which ``--set`` takes too.
"""

from __future__ import annotations

import functools
import re
from math import inf, isfinite
from typing import Any

from msgspec import NODEFAULT, inspect

from tabi._errors import near
from tabi.scenes.tree import Entries, Items, Node, Place, SceneError, Text, brief

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
NOTHING = ("", "~", "null", "Null", "NULL")

Path = tuple[str | int, ...]


@functools.cache
def type_of(kind: Any) -> Any:
    """Return what msgspec knows about a type."""
    return inspect.type_info(kind)


class Reader:
    """Reader of one tree.

    Attributes:
        places: where each path was written, of keys that were.
        labels: names of the things in lists, by their paths.
    """

    def __init__(self) -> None:
        self.places: dict[Path, Place] = {}
        self.labels: dict[Path, str] = {}

    def read(self, node: Node, kind: Any) -> Any:
        """The tree as a type."""
        return self.value(node, type_of(kind), ())

    def name(self, path: Path) -> str:
        """A path as people write it."""
        return ".".join(
            self.labels.get(path[: k + 1], brief(str(part))) for k, part in enumerate(path)
        )

    def place(self, path: Path) -> Place | None:
        """Return where a path was written, or the nearest thing around it that was."""
        return next(
            (self.places[path[:k]] for k in range(len(path), -1, -1) if path[:k] in self.places),
            None,
        )

    def fault(self, path: Path, message: str) -> SceneError:
        """An error about a path, with its place."""
        return SceneError(message, self.place(path), self.name(path))

    def wrong(self, node: Node, kind: Any, path: Path) -> SceneError:
        """The error for a value that is not what its key is for."""
        name = self.name(path)
        if isinstance(node, Text) and node.plain and node.value in NOTHING:
            return self.fault(
                path, f"{name or 'the scene'} has no value; expected {expected(kind)}"
            )
        return self.fault(
            path, f"{name or 'the scene'} is {shown(node)}; expected {expected(kind)}"
        )

    def value(self, node: Node, kind: Any, path: Path) -> Any:
        """A value of a type."""
        self.places.setdefault(path, node.place)
        if isinstance(kind, inspect.UnionType):
            return self.union(node, kind, path)
        if isinstance(kind, inspect.StructType):
            return self.struct(node, kind, path)
        if isinstance(kind, inspect.DictType):
            return self.table(node, kind, path)
        if isinstance(kind, inspect.TupleType | inspect.VarTupleType):
            return self.items(node, kind, path)
        if not isinstance(node, Text):
            raise self.wrong(node, kind, path)
        result = scalar(node, kind)
        if result is None:
            raise self.wrong(node, kind, path)
        return result

    def union(self, node: Node, kind: Any, path: Path) -> Any:
        """Return None, or one of several kinds of things, distinguished by one of their keys."""
        kinds = [k for k in kind.types if not isinstance(k, inspect.NoneType)]
        if (
            len(kinds) < len(kind.types)
            and isinstance(node, Text)
            and node.plain
            and node.value in NOTHING
        ):
            return None
        # a thing that can be written as a word
        words = [k for k in kinds if is_word(k)] if len(kinds) > 1 else []
        if words and isinstance(node, Text):
            # one number, or several; a truth, or keys
            scalars = inspect.FloatType | inspect.BoolType
            if isinstance(words[0], scalars) and scalar(node, words[0]) is None:
                raise self.wrong(node, kind, path)
            return self.value(node, words[0], path)
        kinds = [k for k in kinds if k not in words]
        if len(kinds) == 1:
            return self.value(node, kinds[0], path)
        tag, choices = kinds[0].tag_field, {k.tag: k for k in kinds}
        if not isinstance(node, Entries):
            raise self.wrong(node, kind, path)
        known = ", ".join(choices)
        if tag not in node.values:
            close = near(tag, node.values)
            raise self.fault(
                path, f"{self.label(node, path)} has no {tag}; expected one of {known}{close}"
            )
        kind_node = node.values[tag]
        self.places[(*path, tag)] = node.keys.get(tag, kind_node.place)
        if not isinstance(kind_node, Text) or kind_node.value not in choices:
            word = kind_node.value if isinstance(kind_node, Text) else ""
            self.label(node, path)
            raise self.fault(
                (*path, tag),
                f"{self.name((*path, tag))} is {shown(kind_node)}; "
                f"expected one of {known}{near(word, choices)}",
            )
        return self.struct(node, choices[kind_node.value], path)

    def label(self, node: Entries, path: Path) -> str:
        """The name of a thing in a list, as its path says it from now on."""
        if path and isinstance(path[-1], int):
            for key in ("name", "robot"):
                name_node = node.values.get(key)
                # a path of a file cannot be part of a path of keys
                if (
                    isinstance(name_node, Text)
                    and name_node.value
                    and not re.search(r"[./\\]", name_node.value)
                ):
                    self.labels[path] = brief(name_node.value, 64)
                    break
        return self.name(path) or "the scene"

    def struct(self, node: Node, kind: Any, path: Path) -> Any:
        """Keys that belong together; each one has to be known,
        and those without a default have to be there.
        """
        if not isinstance(node, Entries):
            raise self.wrong(node, kind, path)
        owner, fields = self.label(node, path), {f.name: f for f in kind.fields}
        for key in node.values:
            self.places[(*path, key)] = node.keys.get(key, node.values[key].place)
        for key in node.values:
            if key not in fields and key != kind.tag_field:
                known = [*([kind.tag_field] if kind.tag_field else []), *fields]
                hint = near(key, known) or f"; keys here are {', '.join(known)}"
                where = f" in {owner}" if path else ""
                raise self.fault((*path, key), f"key {brief(key)!r}{where} is not known{hint}")
        for name, f in fields.items():
            if f.required and name not in node.values:
                raise self.fault(path, f"{owner} has no {name}; expected {expected(f.type)}")
        fields_ = {
            key: self.field(child, fields[key], (*path, key))
            for key, child in node.values.items()
            if key in fields
        }
        return kind.cls(**fields_)

    def field(self, node: Node, f: Any, path: Path) -> Any:
        """The value of a key."""
        result = self.value(node, f.type, path)
        # an explicit nothing where nothing is the default is what a file without the key says
        return f.default if result is None and f.default is not NODEFAULT else result

    def table(self, node: Node, kind: Any, path: Path) -> dict[str, Any]:
        """Names that the file chooses, and their values."""
        if not isinstance(node, Entries):
            raise self.wrong(node, kind, path)
        result = {}
        for key, child in node.values.items():
            self.places[(*path, key)] = node.keys.get(key, child.place)
            if scalar(Text(key, False, child.place), kind.key_type) is None:
                raise self.fault(
                    (*path, key),
                    f"{brief(key)!r} in {self.name(path)} cannot be a name; "
                    f"expected {expected(kind.key_type)}",
                )
            result[key] = self.value(child, kind.value_type, (*path, key))
        return result

    def items(self, node: Node, kind: Any, path: Path) -> tuple[Any, ...]:
        """A list of so many values."""
        if not isinstance(node, Items):
            raise self.wrong(node, kind, path)
        count = len(node.values)
        if isinstance(kind, inspect.TupleType):
            if count != len(kind.item_types):
                raise self.fault(
                    path, f"{self.name(path)} has {count} values; expected {expected(kind)}"
                )
            kinds = kind.item_types
        else:
            if not (kind.min_length or 0) <= count <= (kind.max_length or count):
                few = (
                    f"at least {kind.min_length}"
                    if count < (kind.min_length or 0)
                    else f"at most {kind.max_length}"
                )
                raise self.fault(path, f"{self.name(path)} has {count} values; expected {few}")
            kinds = count * (kind.item_type,)
        return tuple(
            self.value(child, k, (*path, i))
            for i, (child, k) in enumerate(zip(node.values, kinds, strict=True))
        )


def scalar(node: Text, kind: Any) -> Any:
    """A text as a number, a word or a truth; None where it is none."""
    text = node.value
    if isinstance(kind, inspect.LiteralType):
        return text if text in kind.values else None
    if isinstance(kind, inspect.BoolType):
        return {"true": True, "false": False}.get(text) if node.plain else None
    if isinstance(kind, inspect.FloatType | inspect.IntType):
        # a float has 17 digits that count; the bound keeps endless ones out
        if not node.plain or len(text) > 64 or not NUMBER.fullmatch(text):
            return None
        number = float(text)
        whole = isinstance(kind, inspect.IntType)
        if not isfinite(number) or (whole and number != int(number)) or not within(number, kind):
            return None
        return int(number) if whole else number
    if not isinstance(kind, inspect.StrType):
        raise TypeError(f"scene files have no values of the type {kind}")
    length, printable = len(text), text.replace("\n", "").isprintable()
    fits = (
        (kind.min_length or 0) <= length <= (length if kind.max_length is None else kind.max_length)
    )
    return (
        text
        if printable and fits and (kind.pattern is None or re.search(kind.pattern, text))
        else None
    )


def within(number: Any, kind: Any) -> bool:
    """Whether a number keeps the bounds of its type."""
    checks = (
        (kind.gt, number.__gt__),
        (kind.ge, number.__ge__),
        (kind.lt, number.__lt__),
        (kind.le, number.__le__),
    )
    return all(bound is None or check(float(bound)) for bound, check in checks)


def shown(node: Node) -> str:
    """A value for a sentence."""
    if isinstance(node, Items):
        return f"a list of {len(node.values)}"
    if isinstance(node, Entries):
        first = ", ".join(map(brief, list(node.values)[:3]))
        return f"keys ({first}{', …' if len(node.values) > 3 else ''})"
    text = brief(node.value)
    if node.plain and NUMBER.fullmatch(text):
        return text
    return ascii(text) if not text.isprintable() else repr(text)


def is_word(kind: Any) -> bool:
    """Whether values of a type are single words, numbers or truths."""
    words = inspect.StrType | inspect.LiteralType | inspect.BoolType
    return isinstance(kind, words | inspect.FloatType | inspect.IntType)


def keys_of(kinds: list[Any]) -> str:
    """Name several kinds of things, distinguished by one of their keys."""
    if len(kinds) == 1:
        return expected(kinds[0])
    return f"keys, with {kinds[0].tag_field}: {' or '.join(k.tag for k in kinds)}"


def expected(kind: Any) -> str:
    """Name a type for the end of a sentence."""
    if isinstance(kind, inspect.UnionType):
        kinds: list[Any] = [k for k in kind.types if not isinstance(k, inspect.NoneType)]
        if words := [k for k in kinds if is_word(k)]:
            rest = [k for k in kinds if k not in words]
            return " or ".join([*map(expected, words), *([keys_of(rest)] if rest else [])])
        return keys_of(kinds)
    if isinstance(kind, inspect.LiteralType):
        return f"one of {', '.join(map(str, kind.values))}"
    if isinstance(kind, inspect.FloatType | inspect.IntType):
        return f"a {'whole ' if isinstance(kind, inspect.IntType) else ''}number{bounds(kind)}"
    if isinstance(kind, inspect.StrType):
        if kind.pattern:
            return (
                f"a name of up to {kind.max_length} letters (a to z), digits, spaces, _ and -, "
                "a letter first"
            )
        return f"a text of {kind.min_length or 0} to {kind.max_length} characters"
    if isinstance(kind, inspect.TupleType):
        plural = (
            expected(kind.item_types[0])
            .removeprefix("a ")
            .replace("number", "numbers")
            .replace("text of", "texts of")
        )
        return f"a list of {len(kind.item_types)} {plural}"
    if isinstance(kind, inspect.VarTupleType):
        return "a list"
    if isinstance(kind, inspect.BoolType):
        return "true or false"
    if isinstance(kind, inspect.DictType):
        return "names and their values"
    keys = [f.name for f in kind.fields]
    return f"keys ({', '.join(keys[:4])}{', …' if len(keys) > 4 else ''})" if keys else "keys"


def bounds(kind: Any, far: float = inf) -> str:
    """The range of a number; bounds beyond ``far`` are there to catch slips,
    and tables leave them out.
    """
    low = kind.ge if kind.gt is None else kind.gt
    low, high = (
        None if bound is None or abs(bound) >= far else f"{bound:g}" for bound in (low, kind.le)
    )
    if kind.gt is None and low and high:
        return f" from {low} to {high}"
    ends = (f"{'≥' if kind.gt is None else '>'} {low}" if low else "", f"≤ {high}" if high else "")
    return f" {' and '.join(end for end in ends if end)}".rstrip()
