"""Hands of people in a simulation, as controllers see them: positions and pressed buttons.

The mouse and haptic devices enter their hands here; controllers that look at a hand or react to its
buttons read them here, independently of the device.
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
    """State of a hand with a device, for display.

    Attributes:
        device: its name. state: of it, in a word. words: error message, or "".
        force: on the hand [N]. energy: from the device to the hand [J]. on_body: force on the held
            or touched body [N].
    """

    device: str
    state: str
    words: str
    force: float
    energy: float
    on_body: float


class Presence:
    """Hands of one simulation, by their owners.

    Attributes:
        meters: function that returns the state of a device, if any.
        obeyed: whether a robot reacts to the second button.
        expected: whether the scene is made for a hand, with a device or without.
    """

    def __init__(self) -> None:
        self._hands: dict[Hashable, tuple[Array, tuple[bool, ...]]] = {}
        self._bands: dict[Hashable, Band] = {}
        self._down: set[int] = set()
        self.meters: Callable[[], HandMeters] | None = None
        self.obeyed, self.expected = False, False

    def put(
        self,
        owner: Hashable,
        place: Array,
        buttons: tuple[bool, ...] = (),
        band: Band | None = None,
    ) -> None:
        """Set the position of a hand [m], its pressed buttons, and its rubber band to draw,
        if any.
        """
        self._hands[owner] = np.array(place, float), tuple(buttons)
        self._bands.pop(owner, None)
        if band is not None:
            self._bands[owner] = band

    def leave(self, owner: Hashable) -> None:
        """Remove the hand of an owner."""
        self._hands.pop(owner, None)
        self._bands.pop(owner, None)

    @property
    def bands(self) -> tuple[Band, ...]:
        """The rubber bands to draw."""
        return tuple(self._bands.values())

    @property
    def probe(self) -> Array | None:
        """Position of the hand that came first [m]; None without a hand."""
        return next((place for place, _ in self._hands.values()), None)

    def press(self, button: int, down: bool) -> None:
        """Press or release a button, for hands without buttons."""
        (self._down.add if down else self._down.discard)(button)

    def pressed(self, button: int) -> bool:
        """Check whether a button is pressed, by a hand or by ``press``."""
        return button in self._down or any(
            button < len(buttons) and buttons[button] for _, buttons in self._hands.values()
        )


_of: WeakKeyDictionary[Simulator, Presence] = WeakKeyDictionary()


def presence_of(sim: Simulator) -> Presence:
    """Return the hands of a simulation; none at first."""
    return _of.setdefault(sim, Presence())


def attach(sim: Simulator, presence: Presence) -> None:
    """Attach existing hands, which controllers know already, to a simulation."""
    _of[sim] = presence
