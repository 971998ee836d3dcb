"""Old names that still work for one release: each prints the new name once, as a FutureWarning.

Four kinds of names can change. A module-level name, an attribute of a class, an argument, a key of
a mapping that a user wrote:

    __getattr__ = renamed_in_module(__name__, {"old": "package.module.new"})

    class Motor:
        old = RenamedAttribute("new")

    @renamed_arguments(old="new")
    def stand(new): ...

    keys = renamed_keys("scene file", keys, {"old": "new"})

Old and new together are refused with both names, as it is not clear which one counts.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from tabi._errors import ModelError

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
_reported: set[tuple[str, str]] = set()


def warn_renamed(owner: str, old: str, new: str, depth: int = 3) -> None:
    """Print the new name of something once per process.

    Args:
        owner: module, class or file that has the name. depth: calls up to the user's line.
    """
    if (owner, old) not in _reported:
        _reported.add((owner, old))
        warnings.warn(
            f"{old} in {owner} is now called {new}; the old name will go with the next release",
            FutureWarning,
            stacklevel=depth,
        )


def renamed_in_module(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Make a ``__getattr__`` for a module that finds old names where they are now.

    Args:
        module: its name. names: old name → full name, ``tabi.package.module.name``.
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        warn_renamed(module, name, new if home == module else names[name])
        return getattr(importlib.import_module(home), new)

    return get


class RenamedAttribute:
    """The old name of an attribute or method, to read and to assign on instances."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.owner, self.old = owner.__name__, name

    def __get__(self, item: Any, kind: type[Any]) -> Any:
        if item is None:
            # looked up in the class, as by help()
            return self
        warn_renamed(self.owner, self.old, self.new)
        return getattr(item, self.new)

    def __set__(self, item: Any, value: Any) -> None:
        warn_renamed(self.owner, self.old, self.new)
        setattr(item, self.new, value)


def renamed_attributes(**names: str) -> Callable[[type[T]], type[T]]:
    """Let instances of a class have attributes, and a dataclass fields, by their old names.

    Args:
        names: old name → new name.
    """

    def decorate(owner: type[T]) -> type[T]:
        fields = getattr(owner, "__dataclass_fields__", {})
        arguments = {old: new for old, new in names.items() if new in fields}
        if arguments:
            owner.__init__ = renamed_arguments(**arguments)(owner.__init__)
        for old, new in names.items():
            attribute = RenamedAttribute(new)
            attribute.__set_name__(owner, old)
            setattr(owner, old, attribute)
        return owner

    return decorate


def renamed_arguments(**names: str) -> Callable[[F], F]:
    """Let a function take arguments by their old names.

    Args:
        names: old name → new name.
    """

    def decorate(function: F) -> F:
        owner = f"{cast(Any, function).__qualname__}()"

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            if not names.keys().isdisjoint(named):
                named = renamed_keys(owner, named, names, depth=3)
            return function(*args, **named)

        return cast(Any, call)

    return decorate


def renamed_keys(
    owner: str, mapping: Mapping[str, Any], names: Mapping[str, str], depth: int = 2
) -> dict[str, Any]:
    """Return a mapping whose old keys have their new names, in the same order.

    Args:
        owner: what has the keys, for messages. names: old key → new key.

    Raises:
        ModelError: if a key is there under both names.
    """
    renamed = {}
    for key, value in mapping.items():
        new = names.get(key, key)
        if new != key:
            if new in mapping:
                raise ModelError(
                    f"{owner} has {key!r} and {new!r}, which is its new name; keep {new!r} only"
                )
            warn_renamed(owner, key, new, depth + 1)
        renamed[new] = value
    return renamed
