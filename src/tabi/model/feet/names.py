"""What names of bodies tell of feet: that a body is one, and of which side.

A name is a row of words, that end at anything but a letter and where a capital follows a small
one: LLEG_ANKLE_R is lleg, ankle, r; toeLeft is toe, left. Words tell a side as l, r, left or right,
alone or before or behind another word. Where several do, it is the one with whose opposite another
body is called: of LLEG_ANKLE_R and RLEG_ANKLE_R the first, as no RLEG_ANKLE_L is there.
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
    """The part of a foot that a name tells, the one of its words that comes first in PARTS."""
    found = {m[2].replace("feet", "foot") for w in _words(name) if (m := _PART.match(w))}
    return next((one for one in PARTS if one in found), None)


def side(name: str, names: Collection[str]) -> str | None:
    """The side that a name tells, "left" or "right".

    Args:
        names: of all bodies.
    """
    told = list(_sides(name))
    for one, opposite in told:
        if opposite in names:
            return one
    return told[0][0] if told else None


def _sides(name: str) -> Iterable[tuple[str, str]]:
    """Of each word that tells a side this side, and the name with the other one."""
    for word in _WORD.finditer(name):
        found = _SIDE.fullmatch(word[0].lower())
        if not found:
            continue
        group = next(group for group, text in found.groupdict().items() if text)
        start, end = (word.start() + k for k in found.span(group))
        opposite = _like(name[start:end], _OPPOSITE[name[start:end].lower()])
        one = "left" if name[start].lower() == "l" else "right"
        yield one, name[:start] + opposite + name[end:]


def _like(pattern: str, word: str) -> str:
    """A word with the capitals of another."""
    if pattern.isupper():
        return word.upper()
    return word.capitalize() if pattern[0].isupper() else word


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
