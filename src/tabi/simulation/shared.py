"""Methods that a whole shares with its parts: ``sim.jacobian`` is ``sim.quantities.jacobian``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def shared(part: str, method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method of a part, which the whole has as well.

    Args:
        part: the attribute of the whole that is the part. method: of the part's class.
    """
    return cast(Any, Shared(part, method))


class Shared:
    """Becomes the part's own method when the whole is first asked for it: a call costs no more."""

    def __init__(self, part: str, method: Any) -> None:
        self._part, self._method, self._name = part, method, ""
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, whole: Any, owner: type) -> Any:
        if whole is None:
            return self._method
        method = self._method.__get__(getattr(whole, self._part))
        # an attribute of the instance is found before this one from now on
        whole.__dict__[self._name] = method
        return method
