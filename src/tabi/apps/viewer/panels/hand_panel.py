"""The panel *Hand* of a page: how a haptic device fares, its force and energy, and a switch for the
grippers, for hands that have no second button.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import viser

from tabi.apps.viewer.panels.markup import literal, unbroken
from tabi.apps.viewer.panels.panel import Host, PagePanel
from tabi.apps.viewer.player import Player
from tabi.apps.viewer.view import View
from tabi.interaction.presence import HandMeters, presence_of

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

MOUSE = "**the mouse acts as the hand**; Ctrl-drag pulls a body"
# the button that shuts grippers
GRIPS = 1


class HandPanel(PagePanel):
    """A folder; none where there is neither a device, nor a scene for hands, nor a gripper that
    waits for a button.

    Attributes:
        text: about the device. grips: the switch.
    """

    def __init__(self, server: viser.ViserServer, sim: Simulator, player: Player) -> None:
        hands = presence_of(sim)
        self.text: viser.GuiMarkdownHandle | None = None
        self.grips: viser.GuiCheckboxHandle | None = None
        if hands.meters is None and not (hands.obeyed or hands.expected):
            return
        with server.gui.add_folder("Hand", order=-0.4):
            self.text = server.gui.add_markdown("")
            if hands.obeyed:
                self.grips = server.gui.add_checkbox(
                    "shut grippers", False, hint="as the second button of a haptic device does"
                )

                @self.grips.on_update
                def _(event: viser.GuiEvent) -> None:
                    down = bool(event.target.value)
                    player.order(lambda sim: presence_of(sim).press(GRIPS, down))

        self.text.content = lines(None)

    @classmethod
    def create(cls, host: Host) -> Self:
        """See ``PagePanel``."""
        return cls(host.server, host.sim, host.player)

    def show(self, view: View | None) -> None:
        """The meters of a moment; sent where they are news."""
        if self.text is None or view is None:
            return
        line = lines(view.hand)
        if line != self.text.content:
            self.text.content = line


def lines(hand: HandMeters | None) -> str:
    """Format the state of a haptic device."""
    if hand is None:
        return f"no haptic device: {MOUSE}"
    parts = [
        f"{literal(hand.device)}: **{hand.state}**",
        f"on the hand {unbroken(f'{hand.force:.1f} N')}, on the body "
        + unbroken(f"{hand.on_body:.1f} N"),
        f"energy to the hand {unbroken(f'{1e3 * hand.energy:.2f} mJ')}",
    ]
    parts += [literal(hand.words)] if hand.words else []
    return "  \n".join(parts if hand.state == "running" else [*parts, f"until it runs, {MOUSE}"])
