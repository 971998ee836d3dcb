"""Controllers with a memory, and what may be asked of any controller beside a command.

A controller is a function (time [s], measurement) → command. One that remembers something between
two calls is a ``Controller``: it lists what it remembers, and the controllers that it calls,
and can then begin anew, be saved and be restored. The functions here ask any function for the same;
one that is no ``Controller`` and has no such method remembers nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar, cast

import numpy as np

from tabi._errors import ModelError
from tabi.jit.structure import Structure
from tabi.model.controllers.pilot import Pilot


class Rewindable:
    """Base of what remembers something between two calls: controllers, estimators, filters.

    Attributes:
        MEMORY: names of the attributes that calls change.
    """

    MEMORY: ClassVar[tuple[str, ...]] = ()

    @property
    def inner(self) -> tuple[Any, ...]:
        """The controllers, estimators and filters that it calls."""
        return ()

    def reset(self) -> None:
        """Begin anew with the next measurement, and let the inner controllers do so."""
        for one in self.inner:
            reset(one)

    def save_state(self) -> tuple[Any, ...]:
        """What it and the inner controllers remember, for ``restore_state``."""
        own = {name: _copied(getattr(self, name)) for name in self.MEMORY}
        return own, [save_state(one) for one in self.inner]

    def restore_state(self, state: Any) -> None:
        """Go on from where ``save_state`` was called."""
        own, others = state
        for name, value in own.items():
            setattr(self, name, _copied(value))
        for one, kept in zip(self.inner, others, strict=True):
            restore_state(one, kept)


class Controller(Rewindable):
    """Base of controllers that remember something.

    Attributes:
        reproducible: whether a rerun gives the same commands.
    """

    reproducible = True

    def pilot(self) -> Pilot | None:
        """The same controller as a kernel, for the compiled loop; None where there is none."""
        return None


def reset(controller: Any) -> None:
    """Let a controller begin anew, if it has a method ``reset``."""
    method = getattr(controller, "reset", None)
    if callable(method):
        method()


def save_state(controller: Any) -> Any:
    """What a controller remembers; None where it has no method ``save_state``."""
    method = getattr(controller, "save_state", None)
    return method() if callable(method) else None


def restore_state(controller: Any, state: Any) -> None:
    """Let a controller go on from a saved state, if it has a method ``restore_state``."""
    method = getattr(controller, "restore_state", None)
    if state is not None and callable(method):
        method(state)


def pilot(controller: Any) -> Pilot | None:
    """A controller as a kernel; None where it is a function only."""
    method = getattr(controller, "pilot", None)
    return cast(Any, method)() if callable(method) else None


def nested(controller: Any) -> Iterator[Any]:
    """A controller and all those that it calls, the outermost first, each once."""
    waiting, seen = [controller], set()
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += getattr(one, "inner", ())


def with_method(controller: Any, method: str) -> Any:
    """The first controller that has a method, itself or one that it calls; None where none has."""
    found = (one for one in nested(controller) if callable(getattr(one, method, None)))
    return next(found, None)


def reproducible(controller: Any) -> bool:
    """Whether a rerun gives the same commands: unless it, or one that it calls, says otherwise."""
    return all(getattr(one, "reproducible", True) for one in nested(controller))


def checked(controller: Any, name: str) -> Any:
    """A controller, refused where it is none."""
    if not callable(controller):
        raise ModelError(
            f"{name} is {controller!r}; expected a controller, a function "
            f"(time, measurement) → command"
        )
    return controller


def _copied(value: Any) -> Any:
    """A copy of arrays in lists, tuples and structures; all else never changes."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Structure):
        return type(value)(*map(_copied, value))
    if type(value) in (list, tuple, deque):
        return type(value)(_copied(one) for one in value)
    return value
