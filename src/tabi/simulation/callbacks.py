"""Callbacks between steps: at a period, or when bodies begin or cease to press."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.observation.contacts import Contact, contacts
from tabi.step.data import Data

# context around a change of the state that is no step, called with "reset", "restore", "set_state"
Jump = Callable[[str], AbstractContextManager[Any]]


@dataclass(eq=False)
class Scheduled:
    """A callback that is called every ``steps`` steps, until it is cancelled.

    Attributes:
        callback: called with the simulation's data.
        stopped: called where a run ends with an error or an interrupt.
        jump: entered before a reset, a restore or a new state, and left after it.
    """

    steps: int
    callback: Callable[[Data], Any]
    stopped: Callable[[], Any] | None
    jump: Jump | None
    _all: list[Scheduled]

    def cancel(self) -> None:
        """Cancel the callback; a second time does nothing."""
        if self in self._all:
            self._all.remove(self)

    @property
    def active(self) -> bool:
        """Whether the callback is not cancelled yet."""
        return self in self._all


def schedule(
    every: list[Scheduled],
    steps: int,
    callback: Callable[[Data], Any],
    stopped: Callable[[], Any] | None,
    jump: Jump | None = None,
) -> Scheduled:
    """Add a callback to the scheduled ones."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise ModelError(f"steps between two calls is {steps!r}; expected a whole number ≥ 1")
    if not callable(callback):
        raise ModelError(f"callback is {callback!r}; expected a function (data)")
    every.append(Scheduled(int(steps), callback, stopped, jump, every))
    return every[-1]


@contextmanager
def jumping(every: Iterable[Scheduled], kind: str) -> Iterator[None]:
    """Hold the contexts of all callbacks while the state changes otherwise than by a step."""
    with ExitStack() as stack:
        for scheduled in tuple(every):
            if scheduled.jump is not None:
                stack.enter_context(scheduled.jump(kind))
        yield


class ContactWatch:
    """Callback for the steps in which two bodies begin or cease to press on each other."""

    def __init__(self, data: Data, callback: Callable[[Contact, str], None]) -> None:
        if not callable(callback):
            raise ModelError(
                f"callback for contacts is {callback!r}; expected a function (contact, kind)"
            )
        self._callback, self._pressing = callback, _pressing(data)

    def __call__(self, data: Data) -> None:
        """Compare contacts with those of the last step."""
        now, before = _pressing(data), self._pressing
        self._pressing = now
        for pair, contact in now.items():
            if pair not in before:
                self._callback(contact, "begins")
        for pair, contact in before.items():
            if pair not in now:
                self._callback(contact, "ends")


def _pressing(data: Data) -> dict[tuple[str, str], Contact]:
    """Return one contact of each two bodies that press on each other."""
    return {(c.body_a.name, c.body_b.name): c for c in contacts(data) if c.pressing}
