"""Hands of people in a simulation, as its robots see them: where they are, and which buttons they
press.

Whatever moves a hand puts it here, the mouse and haptic devices alike; controllers that look at a
hand or obey its buttons ask here, and need not know what device it is.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]


class Presence:
    """The hands of one simulation, by what moves them."""

    def __init__(self) -> None:
        self._hands: dict[Hashable, tuple[Array, tuple[bool, ...]]] = {}

    def put(self, owner: Hashable, place: Array, buttons: tuple[bool, ...] = ()) -> None:
        """A hand is at a place [m], and presses buttons."""
        self._hands[owner] = np.array(place, float), tuple(buttons)

    def leave(self, owner: Hashable) -> None:
        """A hand is gone."""
        self._hands.pop(owner, None)

    @property
    def probe(self) -> Array | None:
        """Where a hand is seen [m]; of several the one that came first, None where there is
        none.
        """
        return next((place for place, _ in self._hands.values()), None)

    def pressed(self, button: int) -> bool:
        """Whether some hand presses a button."""
        return any(button < len(buttons) and buttons[button] for _, buttons in self._hands.values())


_of: WeakKeyDictionary[Simulator, Presence] = WeakKeyDictionary()


def presence_of(sim: Simulator) -> Presence:
    """The hands of a simulation; none to begin with."""
    return _of.setdefault(sim, Presence())


def share(sim: Simulator, presence: Presence) -> None:
    """Let a simulation have hands that controllers know already."""
    _of[sim] = presence
