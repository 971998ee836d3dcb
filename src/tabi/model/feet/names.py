"""Feet and their sides from the names of bodies.

A name is a row of words, that end at anything but a letter and where a capital follows a small
one: LLEG_ANKLE_R is lleg, ankle, r; toeLeft is toe, left. Words for a side are l, r, left or right,
alone or before or behind another word. Of several, it is the one whose opposite occurs in the name
of another body: of LLEG_ANKLE_R and RLEG_ANKLE_R the first, as no RLEG_ANKLE_L is there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

# the part of a foot that is nearest to the ground comes first; a toe may hang on a foot
PARTS = ("sole", "foot", "ankle", "toe")
_PART = re.compile(r"(l|r|left|right)?(sole|foot|feet|ankle|toe)")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SIDE = re.compile(
    r"(?P<alone>l|r)|(?P<letter>l|r)(leg|sole|foot|ankle|toe).*|(?P<before>left|right).*"
    r"|.*(leg|sole|foot|ankle|toe)(?P<behind>l|r)|.*(?P<last>left|right)"
)
_OPPOSITE = {"l": "r", "r": "l", "left": "right", "right": "left"}


def part(name: str) -> str | None:
    """Return the part of a foot in a name, the first one in the order of PARTS."""
    parts = {m[2].replace("feet", "foot") for w in _words(name) if (m := _PART.match(w))}
    return next((part_name for part_name in PARTS if part_name in parts), None)


def side(name: str, names: Collection[str]) -> str | None:
    """Return the side in a name, "left" or "right".

    Args:
        names: of all bodies.
    """
    sides = list(_sides(name))
    for side_of_word, opposite in sides:
        if opposite in names:
            return side_of_word
    return sides[0][0] if sides else None


def _sides(name: str) -> Iterable[tuple[str, str]]:
    """Yield the side of each word with one, and the name with the opposite side."""
    for word in _WORD.finditer(name):
        match = _SIDE.fullmatch(word[0].lower())
        if not match:
            continue
        group = next(group for group, text in match.groupdict().items() if text)
        start, end = (word.start() + k for k in match.span(group))
        opposite = _like(name[start:end], _OPPOSITE[name[start:end].lower()])
        side_of_word = "left" if name[start].lower() == "l" else "right"
        yield side_of_word, name[:start] + opposite + name[end:]


def _like(pattern: str, word: str) -> str:
    """A word with the capitals of another."""
    if pattern.isupper():
        return word.upper()
    return word.capitalize() if pattern[0].isupper() else word


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
