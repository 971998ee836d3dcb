"""The panel *Walk* of a page: sticks for robots that can be steered, how they walk, the last push,
and how far they are from falling.
"""

from __future__ import annotations

from html import escape
from math import degrees
from typing import TYPE_CHECKING, Self

import viser

from tabi.apps.viewer.panels.markup import literal, unbroken
from tabi.apps.viewer.panels.panel import Host, PagePanel
from tabi.apps.viewer.player import Player
from tabi.apps.viewer.steered_look import SteeredView
from tabi.apps.viewer.steering import SteeringHand, steered_walkers
from tabi.apps.viewer.view import View

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

KNOB = (
    "position:absolute;left:50%;top:50%;width:28px;height:28px;margin:-14px 0 0 -14px;"
    "border-radius:50%;background:#1a3385;box-shadow:0 1px 3px rgba(0,0,0,.4);pointer-events:none"
)
PAD = (
    "position:relative;border:1px solid rgba(128,128,128,.45);background:rgba(128,128,128,.12);"
    "touch-action:none;cursor:grab;user-select:none;"
)
MARK = "position:absolute;font-size:10px;opacity:.55;pointer-events:none;"


class WalkPanel(PagePanel):
    """A folder for each robot that can be steered; none where there is none."""

    def __init__(
        self, server: viser.ViserServer, sim: Simulator, player: Player, hand: SteeringHand
    ) -> None:
        self._player = player
        self.texts: dict[str, viser.GuiMarkdownHandle] = {}
        self.stops: dict[str, viser.GuiButtonHandle] = {}
        walkers, gui = steered_walkers(sim), server.gui
        for name, walker in walkers.items():
            title = "Walk" if len(walkers) == 1 else f"Walk: {name}"
            with gui.add_folder(title, order=-0.5):
                gui.add_html(sticks(name, walker.fastest))
                self.texts[name] = gui.add_markdown("")
                self.stops[name] = gui.add_button(
                    "Stop",
                    icon=viser.Icon.HAND_STOP,
                    hint="ends the walk with both feet on the ground, as letting go does",
                )
                self.stops[name].on_click(lambda _, name=name: self._stop(hand, name))

    @classmethod
    def create(cls, host: Host) -> Self:
        """See ``PagePanel``."""
        return cls(host.server, host.sim, host.player, host.hand)

    @property
    def follows(self) -> bool:
        """Whether the camera follows: a walking robot leaves the picture."""
        return bool(self.texts)

    def _stop(self, hand: SteeringHand, name: str) -> None:
        hand.let_go()
        # also a walk that is not steered by a stick: a scene's own
        self._player.order(lambda sim: steered_walkers(sim)[name].stop())

    def show(self, view: View | None) -> None:
        """The lines of a moment; sent where they are new."""
        if view is None:
            return
        for walk in view.steered:
            text = self.texts.get(walk.robot)
            if text is None:
                continue
            words = "  \n".join(self.lines(walk, walk.robot in view.fallen))
            if text.content != words:
                text.content = words

    def lines(self, walk: SteeredView, fallen: bool) -> list[str]:
        """Return the panel's lines about a robot."""
        goes = "stands" if walk.stands else f"walks, {walk.support}"
        steps = "1 step" if walk.landed == 1 else f"{walk.landed} steps"
        parts = [f"**{'has fallen' if fallen else goes}** · {steps}"]
        speeds_ = self._player.limited.get(walk.robot)
        if speeds_ is not None:
            parts.append(", ".join(speeds(*speeds_)))
        if walk.reason:
            parts.append(literal(walk.reason))
        if not fallen:
            far = unbroken(f"{round(1e3 * walk.margin)} mm")
            parts.append(f"margin to falling: **{far}**")
        push = self._player.pushed.get(walk.robot)
        if push is not None and push.line():
            parts.append(push.line())
        return parts


def speeds(forward: float, sideways: float, turn: float) -> list[str]:
    """Format the commanded speeds [m/s, rad/s] in words; zeros are left out."""
    words = []
    for value, unit, digits, (ahead, back) in (
        (forward, "m/s", 2, ("ahead", "back")),
        (sideways, "m/s", 2, ("to the left", "to the right")),
        (degrees(turn), "°/s", 0, ("left turn", "right turn")),
    ):
        size = f"{abs(value):.{digits}f}"
        if float(size) > 0:
            words.append(f"{unbroken(f'{size} {unit}')} {ahead if value > 0 else back}")
    return words or ["on the spot"]


def sticks(robot: str, fastest: tuple[float, float, float]) -> str:
    """The pads that the page's script finds: one for the way, one for the turn."""
    forward, sideways, turn = fastest
    most = (
        f"at most {forward:.2f} m/s ahead, {sideways:.2f} m/s sideways, {degrees(turn):.0f}°/s; "
        "arrow keys: ahead, back and turn, with Shift sideways"
    )
    knob = f'<div data-tabi-knob style="{KNOB}"></div>'
    marks = "".join(
        f'<span style="{MARK}{where}">{sign}</span>'
        for sign, where in (
            ("▲", "left:45px;top:3px"),
            ("▼", "left:45px;bottom:3px"),
            ("◀", "left:5px;top:42px"),
            ("▶", "right:5px;top:42px"),
        )
    )
    turns = "".join(
        f'<span style="{MARK}font-size:14px;top:8px;{where}">{sign}</span>'
        for sign, where in (("↶", "left:6px"), ("↷", "right:6px"))
    )
    return (
        f'<div data-tabi-steer="{escape(robot, quote=True)}" title="{most}" '
        'style="display:flex;gap:14px;align-items:center;justify-content:center;padding:6px 8px">'
        f'<div data-tabi-pad="walk" style="{PAD}width:100px;height:100px;border-radius:50%">'
        f"{marks}{knob}</div>"
        f'<div data-tabi-pad="turn" style="{PAD}width:116px;height:36px;border-radius:18px">'
        f"{turns}{knob}</div></div>"
    )
