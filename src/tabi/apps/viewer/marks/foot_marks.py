"""States of feet in a page: what a foot stands on lights up in its sole, and a label says it.

Green where it sticks, orange where it slides: a face all around and beneath the sole, an edge as a
bar, a vertex as a ball. The rest of the outline is grey, all of it where the foot bears nothing.
Everything hangs on a frame of the foot, so that a foot which only moves costs one message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.apps.viewer.marks.mark import Canvas, Checkbox, Mark
from tabi.apps.viewer.marks.nodes import Node, place
from tabi.apps.viewer.view import View
from tabi.recording.foot_words import NONE, name_of
from tabi.recording.foot_words import SLIDES as SLIDING
from tabi.reporting.frames import quaternions
from tabi.reporting.soles import Soles

Array = NDArray[np.float64]
STICKS, SLIDES, BEARS_NOTHING = (0, 170, 80), (240, 110, 0), (150, 150, 150)
# height above the sole, and width of the rim of a face beyond it
LIFT_M, RIM_M = 3e-3, 0.015
# widths of lines, radius of a ball, and distance of the words from the toe
LINE_WIDTH_M, SIDE_WIDTH_M, BALL_RADIUS_M, LABEL_DISTANCE_M = 0.004, 0.016, 0.016, 0.065
# smaller changes [m, or of a quaternion] are not sent
MIN_CHANGE = 1e-6


class FootMarks(Mark):
    """The marks of all feet.

    Args:
        outlines: of the soles, in their planes [m].
        filled: whether a face is filled, of each; it would hide the pressure on a soft sole.
    """

    BOXES = (
        Checkbox(
            "states of feet",
            20,
            "face, edge or corner that a foot stands on: green, orange where it slides; "
            "grey in the air",
        ),
    )

    def __init__(
        self, server: viser.ViserServer, outlines: list[Array], filled: list[bool] | None = None
    ) -> None:
        filled = filled or [True] * len(outlines)
        self.feet = [
            _Foot(server, k, outline, fill)
            for k, (outline, fill) in enumerate(zip(outlines, filled, strict=True))
        ]

    @classmethod
    def create(cls, canvas: Canvas) -> Self:
        """See ``Mark``."""
        return cls(canvas.server, canvas.soles, canvas.filled)

    def draw_view(self, view: View, shown: Mapping[str, bool], ground: float) -> None:
        """See ``Mark``."""
        self.draw(view.soles, shown["states of feet"])

    @property
    def labels(self) -> list[str]:
        """The words at the feet; empty where none is shown."""
        return [foot.label.text if foot.frame.visible else "" for foot in self.feet]

    def draw(self, soles: Soles, shown: bool) -> None:
        """Draw the feet at a moment, or none of them; feet without a reported state are left
        out.
        """
        turns = quaternions(soles.rotations) if shown and len(self.feet) else soles.positions
        for k, foot in enumerate(self.feet):
            state = int(soles.states[k])
            foot.show(shown and state >= NONE)
            if foot.frame.visible:
                foot.put(np.concatenate([soles.positions[k], turns[k]]))
                foot.light(state, soles.lit[k])


class _Foot:
    """The marks of one foot, in its own frame."""

    def __init__(self, server: viser.ViserServer, k: int, outline: Array, filled: bool) -> None:
        at, scene = f"/over/foot{k}", server.scene
        self.outline, self.filled = outline, filled
        self.frame = scene.add_frame(at, show_axes=False, visible=False)
        none = np.zeros((1, 2, 3), np.float32)
        self.rest = scene.add_line_segments(
            f"{at}/rest", _ring(outline), BEARS_NOTHING, thickness=LINE_WIDTH_M
        )
        self.side = scene.add_line_segments(f"{at}/side", none, STICKS, thickness=SIDE_WIDTH_M)
        self.fill = scene.add_mesh_simple(
            f"{at}/face",
            *_fan(outline),
            color=STICKS,
            opacity=0.55,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        self.ball = scene.add_icosphere(f"{at}/ball", BALL_RADIUS_M, color=STICKS, visible=False)
        toe = (float(outline[:, 0].max()) + LABEL_DISTANCE_M, float(outline[:, 1].mean()), 0.0)
        self.label = scene.add_label(
            f"{at}/state", "", position=toe, anchor="center-center", font_screen_scale=1.0
        )
        self._side, self._fill = Node(self.side), Node(self.fill)
        self._place = np.full(7, np.nan)
        self._state = -1
        self._lit = np.zeros((0, 2))

    def show(self, visible: bool) -> None:
        if self.frame.visible != visible:
            self.frame.visible = visible

    def put(self, placement: Array) -> None:
        """Position and quaternion; sent if it moved."""
        if not (np.abs(placement - self._place) <= MIN_CHANGE).all():
            self._place = placement
            numbers = placement.tolist()
            place(self.frame, numbers[:3], numbers[3:])

    def light(self, state: int, lit: Array) -> None:
        """Light up a part of the sole; sent if it is another one."""
        if state != self._state:
            self.label.text = name_of(state)
            color = SLIDES if state > SLIDING else STICKS
            for handle in (self.fill, self.ball):
                handle.color = color
            self._side.send(colors=np.array(color, np.uint8))
        elif lit.shape == self._lit.shape and (np.abs(lit - self._lit) <= 1e-4).all():
            return
        self._state, self._lit = state, lit
        self.fill.visible, self.ball.visible = len(lit) > 2 and self.filled, len(lit) == 1
        self.side.visible = len(lit) > 1
        if len(lit) > 2:
            vertices, faces = _fan(_wider(lit))
            self._fill.send(vertices=vertices, faces=faces)
        if len(lit) > 1:
            self._side.send(points=_ring(lit) if len(lit) > 2 else _ring(lit)[:1])
        elif len(lit) == 1:
            self.ball.position = (*lit[0], 0.0)


def _ring(corners: Array) -> NDArray[np.float32]:
    """A closed outline as segments, a little above the sole."""
    flat = np.column_stack([corners, np.full(len(corners), LIFT_M)])
    return np.stack([flat, np.roll(flat, -1, axis=0)], axis=1).astype(np.float32)


def _fan(corners: Array) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """A convex polygon as triangles."""
    vertices = np.column_stack([corners, np.full(len(corners), LIFT_M)]).astype(np.float32)
    second = np.arange(1, len(corners) - 1)
    return vertices, np.column_stack([0 * second, second, second + 1]).astype(np.uint32)


def _wider(corners: Array) -> Array:
    """A polygon that looks out on all sides."""
    away = corners - corners.mean(axis=0)
    return corners + away * (RIM_M / np.maximum(np.abs(away).max(axis=0), RIM_M))
