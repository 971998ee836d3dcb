"""Hands of people in a simulation, as its robots see them: where they are, and which buttons they
press.

Whatever moves a hand puts it here, the mouse and haptic devices alike; controllers that look at a
hand or obey its buttons ask here, and need not know what device it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tabi.interaction.mouse_spring import Band

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HandMeters:
    """How a hand with a device fares, for people.

    Attributes:
        device: its name. state: of it, in a word. words: what is wrong, "" where nothing is.
        force: on the hand [N]. energy: that the hand got from the device [J]. on_body: force on
            what it holds or touches [N].
    """

    device: str
    state: str
    words: str
    force: float
    energy: float
    on_body: float


class Presence:
    """The hands of one simulation, by what moves them.

    Attributes:
        meters: tells how a device fares, where there is one.
        obeyed: whether a robot listens to the second button.
    """

    def __init__(self) -> None:
        self._hands: dict[Hashable, tuple[Array, tuple[bool, ...]]] = {}
        self._bands: dict[Hashable, Band] = {}
        self._down: set[int] = set()
        self.meters: Callable[[], HandMeters] | None = None
        self.obeyed = False

    def put(
        self,
        owner: Hashable,
        place: Array,
        buttons: tuple[bool, ...] = (),
        band: Band | None = None,
    ) -> None:
        """A hand is at a place [m], and presses buttons; its rubber band is drawn if it has one."""
        self._hands[owner] = np.array(place, float), tuple(buttons)
        self._bands.pop(owner, None)
        if band is not None:
            self._bands[owner] = band

    def leave(self, owner: Hashable) -> None:
        """A hand is gone."""
        self._hands.pop(owner, None)
        self._bands.pop(owner, None)

    @property
    def bands(self) -> tuple[Band, ...]:
        """What is drawn of them."""
        return tuple(self._bands.values())

    @property
    def probe(self) -> Array | None:
        """Where a hand is seen [m]; of several the one that came first, None where there is
        none.
        """
        return next((place for place, _ in self._hands.values()), None)

    def press(self, button: int, down: bool) -> None:
        """A button that is pressed until it is let go, for hands that have none of their own."""
        (self._down.add if down else self._down.discard)(button)

    def pressed(self, button: int) -> bool:
        """Whether a button is pressed, by some hand or for good."""
        return button in self._down or any(
            button < len(buttons) and buttons[button] for _, buttons in self._hands.values()
        )


_of: WeakKeyDictionary[Simulator, Presence] = WeakKeyDictionary()


def presence_of(sim: Simulator) -> Presence:
    """The hands of a simulation; none to begin with."""
    return _of.setdefault(sim, Presence())


def share(sim: Simulator, presence: Presence) -> None:
    """Let a simulation have hands that controllers know already."""
    _of[sim] = presence
