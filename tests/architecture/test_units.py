"""Public functions and classes whose arguments are physical quantities state their units."""

import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

API = sorted((Path(__file__).resolve().parents[2] / "docs" / "api").glob("*.md"))
QUANTITIES = re.compile(
    r"^(mass|force|torque|effort|wrench|duration|dt|delay|rate|velocity|speed|acceleration|position"
    r"|height|length|width|radius|depth|thickness|stiffness|damping|angle|pressure|frequency|period"
    r"|distance|impulse|density)s?$"
)
# a unit in brackets, or a word for one; numbers in a table's units are those of its columns
UNIT = re.compile(
    r"\[[^\]]*(m|N|kg|s|rad|Hz|Pa|J|W|°|unit)[^\]]*\]|\b(metres?|seconds?|newtons?|radians?|Hz|mm)\b"
)


def public() -> Iterator[tuple[str, str, Any]]:
    """Name, docstring with that of its class, and object of all that the API pages list."""
    for page in API:
        for path in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            thing = pkgutil.resolve_name(path)
            if inspect.ismodule(thing):
                parts = {key: x for key, x in vars(thing).items() if callable(x)}
                parts = {key: x for key, x in parts.items() if x.__module__ == path}
            else:
                parts = {"": thing}
            for key, part in parts.items():
                if not key.startswith("_"):
                    yield from of_part(f"{path}.{key}".rstrip("."), part)


def of_part(path: str, thing: Any) -> Iterator[tuple[str, str, Any]]:
    """A function, or a class with its methods."""
    yield path, thing.__doc__ or "", thing
    if inspect.isclass(thing):
        for key, method in inspect.getmembers(thing, inspect.isfunction):
            if not key.startswith("_"):
                yield f"{path}.{key}", f"{method.__doc__} {thing.__doc__}", method


def quantities(thing: Any) -> list[str]:
    """Arguments of a callable that are physical quantities."""
    try:
        return [name for name in inspect.signature(thing).parameters if QUANTITIES.match(name)]
    except (TypeError, ValueError):
        return []


def test_names_of_quantities_and_units_are_recognised():
    def push(force, name): ...

    assert quantities(push) == ["force"]
    assert UNIT.search("Push a body [N].")
    assert not UNIT.search("Push a body with a force.")


def test_nineteen_of_twenty_public_docstrings_with_quantities_have_units():
    checked = [(name, doc) for name, doc, thing in public() if quantities(thing)]
    without = [name for name, doc in checked if not UNIT.search(doc)]
    assert len(checked) > 100
    assert len(without) <= 0.05 * len(checked), "\n".join(without)
