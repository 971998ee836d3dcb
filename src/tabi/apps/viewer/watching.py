"""The controls of a page that is watched: a few lines of text, where to look from, and what is
drawn.
"""

from __future__ import annotations

import numpy as np
import viser

from tabi.apps.viewer.marks.overlay import BOXES
from tabi.apps.viewer.soft_pad import soft_of
from tabi.model.world import World
from tabi.reporting.frames import arrow_scale

# under soft soles there are too many contacts to see anything else
CROWDED = ("contact points", "friction cones", "contact forces")


class WatchControls:
    """The controls of one world that its owner steps.

    Attributes:
        text: three lines about the moment. details: more about it, in a folder.
            shown: kinds of drawings and their checkboxes.
            arrow: metres of a force's arrow per newton. follow_it: whether cameras go along.
    """

    text: viser.GuiMarkdownHandle
    details: viser.GuiMarkdownHandle

    def __init__(self, server: viser.ViserServer, world: World) -> None:
        self._server, self._soft = server, bool(soft_of(world))
        self.arrow = arrow_scale(
            bool(world.robots),
            [body.inertia.mass * float(np.linalg.norm(world.gravity)) for body in world.objects],
        )

    def add_text(self, gui: viser.GuiApi) -> None:
        """Add the lines about the moment."""
        self.text = gui.add_markdown("")
        with gui.add_folder("details", expand_by_default=False):
            self.details = gui.add_markdown("")

    def add_camera(self, gui: viser.GuiApi) -> None:
        """Add the button that resets the camera."""
        hint = (
            "look from where the scene began; in the view a drag turns, a right drag shifts, "
            "the wheel comes closer; on a touch screen one finger or two turn, two come closer, "
            "three shift, and one that rests on a body for half a second pulls it"
        )
        self.look = gui.add_button_group("camera", ("Reset view",), hint=hint)
        self.follow_it = gui.add_checkbox(
            "follow",
            False,
            hint="the cameras of all pages go along with the robot, from where you turned them to",
        )
        self.look.on_click(lambda event: look_again(self._server, event.client))

    def add_drawing(self, gui: viser.GuiApi) -> None:
        """Add the checkboxes of what is drawn."""
        with gui.add_folder("drawing", order=1.0, expand_by_default=False):
            arrows = f"red arrows of {1e3 * self.arrow:.3g} mm per newton, on the upper body"
            self.shown = {
                box.name: gui.add_checkbox(
                    box.name,
                    box.shown and not (self._soft and box.name in CROWDED),
                    hint=box.hint or arrows,
                )
                for box in BOXES
            }


def look_again(server: viser.ViserServer, client: viser.ClientHandle | None) -> None:
    """One page looks from where its scene began."""
    if client is not None:
        client.camera.position = server.initial_camera.position
        client.camera.look_at = server.initial_camera.look_at
