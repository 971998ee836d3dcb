"""A panel of a page that plays: a folder of controls and lines about the moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import viser
from websockets.http11 import Request, Response

from tabi.apps.viewer.player import Player
from tabi.apps.viewer.steering import SteeringHand
from tabi.apps.viewer.view import View

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator


@dataclass(frozen=True)
class Host:
    """The page and simulation of a panel.

    Attributes:
        server: of the page. sim: what is played, by the player's thread.
        player: takes orders for it. hand: of the sticks that steer.
    """

    server: viser.ViserServer
    sim: Simulator
    player: Player
    hand: SteeringHand


class PagePanel:
    """A folder of a page; it may stay empty where a world has nothing for it."""

    @classmethod
    def create(cls, host: Host) -> Self:
        """Create the panel in a page."""
        raise NotImplementedError

    def show(self, view: View | None) -> None:
        """Show a moment; None before the first. Called often: only send what is new."""
        raise NotImplementedError

    def handlers(self) -> dict[str, Callable[[Request], Response]]:
        """Return handlers of requests of the page's scripts, by their paths."""
        return {}

    def close(self) -> None:
        """End what the panel does, as its scene or the page ends."""

    @property
    def follows(self) -> bool:
        """Whether cameras go along with the robot, as what it does leaves the picture."""
        return False
