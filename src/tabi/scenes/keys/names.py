"""Errors of the Python API in the words of a scene: its keys in place of arguments and calls.

A key has the name of the argument that it becomes, with a unit behind it: ``thickness_m``. So the
keys that a message is about are found by name, among those along the path at which it was raised:

    thickness of a layer is 20 m; …          →  robots.hrp2.soles.thickness_m is 20 m; …
    give feet={…}, tabi.load(path, feet={…}) →  give robots.0.feet: {…}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tabi.scenes.keys.robots import RobotKeys
from tabi.scenes.reader import Path, Reader
from tabi.scenes.tree import SceneError

UNITS = frozenset(
    ("1", "deg", "hz", "kg", "m", "m2", "m3", "n", "nm", "nms", "ns", "pa", "rad", "s", "s2")
)
# arguments whose key has another name
ALIASES = {"dt": "step_s", "budget": "work_limit", "rounding": "rounded_m"}
# calls, and the key of a scene that does the same
CALLS = {
    "add_bond": "bonds",
    "add_bush": "bush",
    "add_foot": "feet",
    "add_ground": "ground",
    "add_sensor": "sensors",
    "add_soles": "soles",
    "apply_force": "pushes",
    "bond": "bonds",
    "measure_force": "force_plates",
    "set_controller": "motion",
    "set_pair": "pairs",
    "set_pose": "pose",
    "stand_on_ground": "stands",
}
_CALL = re.compile(r"\b(?:tabi|robot|world|sim)\.(\w+)\(((?:[^()]|\([^()]*\))*)\)")
_VALUE = r"(?:\{[^{}]*\}+|\[[^\]]*\]|\([^)]*\)|'[^']*'|\"[^\"]*\"|[^\s,;:)]+)"
# names that are no words of a sentence, and not a part of a path of keys already
_WORD = re.compile(r"(?<![\w.'\"])[a-z]+_[a-z_]+(?![\w.'\"(])")
_ARGUMENT = re.compile(rf"\b([a-z]\w*)=({_VALUE})")


def fault(reader: Reader, contents: Any, path: Path, message: str) -> SceneError:
    """Return the error of a scene at a path, for a message of the API."""
    keys = dict(_keys(contents, path))
    begins = re.match(r"([a-z][a-z_ ]*?)(?: of [^;]*?)? (?=is |are |[-0-9])", message)
    if begins:
        about = keys.get(begins[1].replace(" ", "_"))
        if about is not None and about in reader.places:
            rest = in_keys(reader, keys, message[begins.end() :])
            return reader.fault(about, f"{reader.name(about)} {rest}")
    message = in_keys(reader, keys, message)
    return reader.fault(path, f"{reader.name(path) or 'the scene'}: {message}")


def in_keys(reader: Reader, keys: dict[str, Path], message: str) -> str:
    """A message with keys in place of arguments and calls."""

    def argument(match: re.Match[str]) -> str:
        at = keys.get(match[1])
        return match[0] if at is None else f"{reader.name(at)}: {match[2]}"

    def call(match: re.Match[str]) -> str:
        names = [argument(name) for name in _ARGUMENT.finditer(match[2]) if name[1] in keys]
        key = keys.get(CALLS.get(match[1], ""))
        if names:
            return ", ".join(names)
        return match[0] if key is None else f"the key {reader.name(key)}"

    def word(match: re.Match[str]) -> str:
        at = keys.get(match[0])
        return match[0] if at is None else reader.name(at)

    message = _ARGUMENT.sub(argument, _CALL.sub(call, message))
    return _WORD.sub(word, message)


def _keys(contents: Any, path: Path) -> Iterator[tuple[str, Path]]:
    """Names of arguments and their keys: of robots, of the scene, of what is around a path, and at
    it; where two have one name the innermost comes last.
    """
    for key in RobotKeys.__struct_fields__:
        yield argument_of(key), ("robots", "*", key)
    node, at = contents, ()
    for part in (None, *path):
        if part is not None:
            at = (*at, part)
            node = _inside(node, part)
        if isinstance(node, msgspec.Struct):
            if not at and "simulation" in node.__struct_fields__:
                yield from _keys_of(node.simulation, ("simulation",))
            if len(at) == len(path):
                for key in node.__struct_fields__:
                    if at and isinstance(inner := getattr(node, key), msgspec.Struct):
                        yield from _keys_of(inner, (*at, key))
            yield from _keys_of(node, at)


def _keys_of(node: msgspec.Struct, at: Path) -> Iterator[tuple[str, Path]]:
    for key in node.__struct_fields__:
        yield argument_of(key), (*at, key)
    for name, key in ALIASES.items():
        if key in node.__struct_fields__:
            yield name, (*at, key)


def _inside(node: Any, part: str | int) -> Any:
    """Return the child of a node at a key or an index; None where there is none."""
    if isinstance(node, dict):
        return node.get(part)
    if isinstance(part, int):
        return node[part] if isinstance(node, tuple) and part < len(node) else None
    return getattr(node, part, None)


def argument_of(key: str) -> str:
    """A key without its unit."""
    words = key.split("_")
    while len(words) > 1 and words[-1] in UNITS:
        words.pop()
    return "_".join(words)
