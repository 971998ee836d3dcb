"""Controllers with state: reset, saving and restoring.

A controller is a function (time [s], measurement) → command. One with state between two calls is a
``Controller``: it lists its state and the controllers that it calls, and can then be reset, saved
and restored. The functions here do the same for any function; one that is no ``Controller`` and has
no such method has no state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from tabi._errors import ModelError
from tabi.jit.structure import Structure
from tabi.model.controllers.pilot import Pilot


class Rewindable:
    """Base of controllers, estimators and filters with state between two calls.

    Attributes:
        MEMORY: names of the attributes that calls change.
    """

    MEMORY: ClassVar[tuple[str, ...]] = ()

    @property
    def inner(self) -> tuple[Any, ...]:
        """The controllers, estimators and filters that it calls."""
        return ()

    def reset(self) -> None:
        """Reset the state and that of inner controllers, before the next measurement."""
        for child in self.inner:
            reset(child)

    def save_state(self) -> Sequence[Any]:
        """Return its state and that of inner controllers, for ``restore_state``."""
        attributes = {name: _copied(getattr(self, name)) for name in self.MEMORY}
        return attributes, [save_state(child) for child in self.inner]

    def restore_state(self, state: Any) -> None:
        """Restore the state of ``save_state``."""
        attributes, states = state
        for name, value in attributes.items():
            setattr(self, name, _copied(value))
        for child, child_state in zip(self.inner, states, strict=True):
            restore_state(child, child_state)


class Controller(Rewindable):
    """Base of controllers with state between two calls.

    Attributes:
        reproducible: whether a rerun gives the same commands.

    Example: ``tabi.control.Controller`` in docs/controllers.md
    """

    reproducible = True

    def pilot(self) -> Pilot | None:
        """Return the controller as a kernel, for the compiled loop; None if there is none."""
        return None


def reset(controller: Any) -> None:
    """Reset a controller, if it has a method ``reset``."""
    method = getattr(controller, "reset", None)
    if callable(method):
        method()


def save_state(controller: Any) -> Any:
    """Return the state of a controller; None if it has no method ``save_state``."""
    method = getattr(controller, "save_state", None)
    return method() if callable(method) else None


def restore_state(controller: Any, state: Any) -> None:
    """Restore a saved state of a controller, if it has a method ``restore_state``."""
    method = getattr(controller, "restore_state", None)
    if state is not None and callable(method):
        method(state)


def pilot(controller: Any) -> Pilot | None:
    """Return a controller as a kernel; None if it is a function only."""
    method = getattr(controller, "pilot", None)
    return cast(Any, method)() if callable(method) else None


def nested(controller: Any) -> Iterator[Any]:
    """Yield a controller and all those that it calls, the outermost first, each once."""
    waiting, seen = [controller], set()
    while waiting:
        child = waiting.pop(0)
        if child is None or id(child) in seen:
            continue
        seen.add(id(child))
        yield child
        waiting += getattr(child, "inner", ())


def with_method(controller: Any, method: str) -> Any:
    """Return the first controller with a method, itself or one that it calls; None without any."""
    matches = (child for child in nested(controller) if callable(getattr(child, method, None)))
    return next(matches, None)


def reproducible(controller: Any) -> bool:
    """Whether a rerun gives the same commands, of a controller and all that it calls."""
    return all(getattr(child, "reproducible", True) for child in nested(controller))


def checked(controller: Any, name: str) -> Any:
    """Return a controller, or raise an error if it is none."""
    if not callable(controller):
        raise ModelError(
            f"{name} is {controller!r}; expected a controller, a function "
            f"(time, measurement) → command"
        )
    return controller


def _copied(value: Any) -> Any:
    """Copy arrays in lists, tuples and structures; all else is immutable."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Structure):
        return type(value)(*map(_copied, value))
    if type(value) in (list, tuple, deque):
        return type(value)(_copied(item) for item in value)
    return value
