"""Classes that the modules of a package register by being there, found by importing them."""

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
            method, default = getattr(kind, name), getattr(base, name)
            if getattr(method, "__func__", method) is getattr(default, "__func__", default):
                raise ModelError(
                    f"{what} {kind.__name__} in {kind.__module__} has no method {name}; "
                    f"expected one, see {base.__name__}"
                )


def by_name(what: str, entries: Iterable[tuple[str, str, T]]) -> dict[str, T]:
    """Things by their names, sorted; two of one name are refused.

    Args:
        what: the kind of thing, for messages. entries: name, module and thing of each.
    """
    known: dict[str, tuple[str, T]] = {}
    for name, module, thing in entries:
        if name in known:
            raise ModelError(
                f"{what} {name!r} is in {known[name][0]} and in {module}; "
                "give one of them another name"
            )
        known[name] = module, thing
    return {name: known[name][1] for name in sorted(known)}
