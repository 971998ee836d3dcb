"""What the modules of a package register: found by importing them, known by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType
from typing import Any, TypeVar

from tabi._errors import ModelError

T = TypeVar("T")


def modules(package: str, path: Iterable[str], less: str = "") -> list[ModuleType]:
    """All modules of a package but for one, imported, in the order of their names."""
    names = [module.name for module in pkgutil.iter_modules(path, f"{package}.")]
    return [importlib.import_module(name) for name in names if name != less]


def classes(kind: type[T], package: str, path: Iterable[str], less: str = "") -> list[type[T]]:
    """All classes derived from one that the modules of a package define, but for those of one
    module.
    """
    return [
        value
        for module in modules(package, path, less)
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, kind)
        and value is not kind
        and value.__module__ == module.__name__
    ]


def check_methods(what: str, kinds: Iterable[type[Any]], base: type[Any], *names: str) -> None:
    """Refuse classes that leave methods of their base as they are."""
    for kind in kinds:
        for name in names:
            own, none = getattr(kind, name), getattr(base, name)
            if getattr(own, "__func__", own) is getattr(none, "__func__", none):
                raise ModelError(
                    f"{what} {kind.__name__} in {kind.__module__} has no method {name}; "
                    f"expected one, see {base.__name__}"
                )


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
