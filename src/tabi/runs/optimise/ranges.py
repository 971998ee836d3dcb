"""Numbers of a scene file that are searched, and how far each may go.

    KEY=FROM:TO       between two values
    KEY=+-X           by so much either way from what the scene says
    KEY,OTHER=…       one number, put to all of these keys; -OTHER gets it with the other sign
    frames.*.at_s=…   a number of its own for everything that the star stands for

Keys are paths of ``--set``. Keys that are tied begin from one number: those that differ in the
scene are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tabi import TabiError
from tabi._errors import near
from tabi.scenes.reader import NUMBER

# digits of a number that is tried: what is written into a file is what was run
DIGITS = 5
EXAMPLE = "--over objects.crate.mass_kg=1:5 or --over robots.0.motion.frames.1.at_s=+-0.1"


@dataclass(frozen=True)
class SearchKey:
    """One number that is searched.

    Attributes:
        keys: paths of ``--set`` that get it, and the sign with which each does.
        low, high: how far it may go. start: what the scene says.
    """

    keys: tuple[tuple[str, float], ...]
    low: float
    high: float
    start: float

    @property
    def name(self) -> str:
        """Name of the key in reports: its paths."""
        return ",".join(key if sign > 0 else f"-{key}" for key, sign in self.keys)

    def number(self, share: float) -> float:
        """Return the number at a share of the range, from 0 to 1, rounded as it is written."""
        return float(f"{self.low + (self.high - self.low) * share:.{DIGITS}g}")

    def share(self) -> float:
        """Return the share of the range at the start, from 0 to 1."""
        return (self.start - self.low) / (self.high - self.low)

    def settings(self, number: float) -> list[str]:
        """Return the settings for ``--set``."""
        return [f"{key}={sign * number + 0.0:.{DIGITS}g}" for key, sign in self.keys]


def read_ranges(over: Sequence[str], contents: Any) -> list[SearchKey]:
    """All numbers that are searched.

    Args:
        contents: of the scene.
    """
    keys: list[SearchKey] = []
    for words in over:
        keys += _read(words, contents)
    seen: set[str] = set()
    for search_key in keys:
        for key, _ in search_key.keys:
            if key in seen:
                raise TabiError(f"--over {key} is searched twice; keep one of the two")
            seen.add(key)
    return keys


def _read(words: str, contents: Any) -> Iterator[SearchKey]:
    """Yield the search keys of one ``--over``."""
    left, equals, right = (part.strip() for part in words.partition("="))
    paths = [part.strip() for part in left.split(",")]
    if not equals or not right or not all(re.fullmatch(r"-?[^.\s]+(\.[^.\s]+)*", p) for p in paths):
        raise TabiError(f"--over {words!r} is not KEY=FROM:TO or KEY=+-X; for example {EXAMPLE}")
    signs = [-1.0 if path.startswith("-") else 1.0 for path in paths]
    places = [list(matches(contents, path.removeprefix("-"))) for path in paths]
    if len({len(place) for place in places}) > 1:
        counts = ", ".join(f"{path} {len(p)}" for path, p in zip(paths, places, strict=True))
        raise TabiError(f"--over {words!r}: keys that are tied stand for one thing each: {counts}")
    for tied in zip(*places, strict=True):
        keys = tuple((key, sign) for (key, _), sign in zip(tied, signs, strict=True))
        start = signs[0] * tied[0][1]
        _check_equal(tied, signs, words)
        low, high = _ends(right, start, words)
        if not low <= start <= high:
            raise TabiError(
                f"--over {words!r}: the scene says {tied[0][0]} = {tied[0][1]:g}, which is not "
                f"between {low:g} and {high:g}; widen the range, or begin elsewhere with --set"
            )
        yield SearchKey(keys, low, high, start)


def _check_equal(tied: Sequence[tuple[str, float]], signs: Sequence[float], words: str) -> None:
    """Refuse keys that are tied and differ, in digits that are written: the first run would not be
    the scene as it is.
    """
    first = signs[0] * tied[0][1]
    for (key, value), sign in zip(tied, signs, strict=True):
        if f"{sign * value + 0.0:.{DIGITS}g}" != f"{first + 0.0:.{DIGITS}g}":
            expected = sign * first + 0.0
            raise TabiError(
                f"--over {words!r}: keys that are tied begin from one number, but the scene says "
                f"{tied[0][0]} = {tied[0][1]:g} and {key} = {value:g}; "
                f"begin with --set {key}={expected:.{DIGITS}g}"
            )


def _ends(text: str, start: float, words: str) -> tuple[float, float]:
    """Ends of a range; an empty one is refused."""
    by = re.sub(r"^(\+-|\+/-|±)", "", text)
    parts = [part.strip() for part in by.split(":")]
    around = by != text
    if len(parts) != (1 if around else 2) or not all(NUMBER.fullmatch(part) for part in parts):
        raise TabiError(
            f"--over {words!r}: the range is {text!r}; expected FROM:TO or +-X: {EXAMPLE}"
        )
    numbers = [float(part) for part in parts]
    low, high = (start - numbers[0], start + numbers[0]) if around else (numbers[0], numbers[1])
    if not low < high or not math.isfinite(high - low):
        raise TabiError(f"--over {words!r}: nothing lies between {low:g} and {high:g}; widen it")
    return low, high


# ---- places in a scene --------------------------------------------------------------------------


def matches(contents: Any, path: str) -> Iterator[tuple[str, float]]:
    """Paths that a path with stars stands for, and the numbers that are there."""
    numbers = list(_below(contents, path.split("."), [], path))
    for key, value in numbers:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TabiError(
                f"--over {path}: {key} is not a number; expected a key whose value is one"
            )
        yield key, float(value)


def _below(value: Any, parts: list[str], done: list[str], path: str) -> Iterator[tuple[str, Any]]:
    if not parts:
        yield ".".join(done), value
        return
    part, rest = parts[0], parts[1:]
    here = children(value)
    if part == "*":
        reached = [key for key, x in children(value, names=False).items() if _reaches(x, rest)]
        for key in reached:
            yield from _below(here[key], rest, [*done, key], path)
        if reached:
            return
    elif part in here:
        yield from _below(here[part], rest, [*done, part], path)
        return
    where = ".".join(done) or "the scene"
    hint = near(part, here) or (f"; there are {', '.join(list(here)[:12])}" if here else "")
    raise TabiError(f"--over {path}: {where} has no {part!r}{hint}")


def children(value: Any, names: bool = True) -> dict[str, Any]:
    """Return the children of a value by their keys; items of a list by their numbers, and by
    ``names`` where they have some.
    """
    if isinstance(value, msgspec.Struct):
        return {key: getattr(value, key) for key in value.__struct_fields__}
    if isinstance(value, dict):
        return dict(value)
    if not isinstance(value, tuple):
        return {}
    items = {str(k): item for k, item in enumerate(value)}
    for item in value if names else ():
        name = getattr(item, "name", None) or getattr(item, "robot", None)
        if isinstance(name, str):
            items.setdefault(name, item)
    return items


def _reaches(value: Any, parts: list[str]) -> bool:
    """Whether the rest of a path leads anywhere: a star passes over what lacks the key."""
    if not parts:
        return True
    if parts[0] == "*":
        return any(_reaches(x, parts[1:]) for x in children(value, names=False).values())
    here = children(value)
    return parts[0] in here and _reaches(here[parts[0]], parts[1:])
