"""Names in a world: every robot, object and fixed thing has its own."""

from __future__ import annotations

from collections.abc import Collection

from tabi._errors import ModelError


def free_name(name: str, taken: Collection[str], given: bool = False) -> str:
    """The name, or with a number behind it where it is taken;
    one that was ``given`` on purpose is refused then.
    """
    if not name:
        raise ModelError("a robot or object has an empty name; give it one")
    if name not in taken:
        return name
    if given:
        raise ModelError(
            f"name {name!r} occurs twice in the world; give every robot and object its own name"
        )
    return next(f"{name}_{k}" for k in range(2, len(taken) + 3) if f"{name}_{k}" not in taken)
