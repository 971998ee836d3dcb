"""Methods that an object shares with its parts: ``sim.jacobian`` is ``sim.quantities.jacobian``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

P = ParamSpec("P")
R = TypeVar("R")


class shared(Generic[P, R]):
    """Descriptor that becomes the part's method at first access, so that calls cost no more.

    Args:
        part: attribute of the object that is the part. method: of the part's class.
    """

    def __init__(self, part: str, method: Callable[Concatenate[Any, P], R]) -> None:
        self._part, self._method, self._name = part, method, ""
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, whole: None, owner: type) -> Callable[Concatenate[Any, P], R]: ...

    @overload
    def __get__(self, whole: object, owner: type) -> Callable[P, R]: ...

    def __get__(self, whole: Any, owner: type) -> Callable[..., R]:
        if whole is None:
            return self._of_any_whole()
        method: Any = cast(Any, self._method).__get__(getattr(whole, self._part))
        # from now on an attribute of the instance, unless a derived class overrides the method and
        # calls this one
        if next(vars(c)[self._name] for c in type(whole).__mro__ if self._name in vars(c)) is self:
            whole.__dict__[self._name] = method
        return method

    def _of_any_whole(self) -> Any:
        """Return the method as a function of the class, whose first argument is the object."""

        @functools.wraps(self._method)
        def function(whole: Any, *args: Any, **settings: Any) -> Any:
            return self.__get__(whole, type(whole))(*args, **settings)

        return function
