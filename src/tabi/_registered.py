"""What the modules of a package register: found by importing them, known by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType
from typing import TypeVar

from tabi._errors import ModelError

T = TypeVar("T")


def modules(package: str, path: Iterable[str]) -> list[ModuleType]:
    """All modules of a package, imported, in the order of their names."""
    return [
        importlib.import_module(module.name) for module in pkgutil.iter_modules(path, f"{package}.")
    ]


def by_name(what: str, found: Iterable[tuple[str, str, T]]) -> dict[str, T]:
    """Things by their names, sorted; two of one name are refused.

    Args:
        what: they are, for messages. found: of each its name, its module and the thing.
    """
    known: dict[str, tuple[str, T]] = {}
    for name, module, thing in found:
        if name in known:
            raise ModelError(
                f"{what} {name!r} is in {known[name][0]} and in {module}; "
                "give one of them another name"
            )
        known[name] = module, thing
    return {name: known[name][1] for name in sorted(known)}
