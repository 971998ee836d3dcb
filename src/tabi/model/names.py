"""Names in a world: every robot, object and fixed thing has its own."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from tabi._errors import MissingNameError, ModelError, expect, unknown

Thing = TypeVar("Thing")
FEET_HINT = 'declare them, tabi.load(path, feet={"left": "L_FOOT", "right": "R_FOOT"})'


class NamedThings(dict[str, Thing]):
    """Things of a robot by name; a name that is not there is refused with those that are.

    Args:
        kind: of the things, for messages. hint: how to get some where there are none.
    """

    def __init__(self, kind: str, hint: str = "") -> None:
        super().__init__()
        self._message = kind, hint

    def __missing__(self, name: str) -> Thing:
        kind, hint = self._message
        raise unknown(kind, name, "this robot", self, MissingNameError, hint)

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedThings, self._message, None, None, iter(self.items())


def free_name(name: str, taken: Collection[str], explicit: bool = False) -> str:
    """Return the name, or with a number behind it if it is taken; an ``explicit`` one is rejected
    then.
    """
    expect("the name of a robot or object", name, str, "a text")
    if not name:
        raise ModelError("a robot or object has an empty name; give it one")
    if name not in taken:
        return name
    if explicit:
        raise ModelError(
            f"name {name!r} occurs twice in the world; give every robot and object its own name"
        )
    return next(f"{name}_{k}" for k in range(2, len(taken) + 3) if f"{name}_{k}" not in taken)
