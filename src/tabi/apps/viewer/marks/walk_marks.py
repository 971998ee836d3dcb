"""The plan of a walk in a page: outlines of the footsteps on the ground, the paths that are planned
for the zero moment point and the centre of mass, and a coin where the zero moment point should be
now.

Outlines and paths are sent once; of a walk that goes on, a picture is one coin that moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
import viser

from tabi.apps.viewer.marks.mark import Canvas, Checkbox, Mark
from tabi.apps.viewer.marks.nodes import Node, place
from tabi.apps.viewer.view import View
from tabi.apps.viewer.walk_look import LIFT_M, STAYED, WalkPlan, WalkView
from tabi.formats.triangles import revolved

# of the left foot, the right foot, and the planned zero moment point and centre of mass
LEFT, RIGHT, ZMP, CENTRE = (40, 110, 200), (200, 70, 60), (225, 110, 175), (230, 175, 60)
# m: width of lines, radius of the coin
PATH_WIDTH_M, COIN = 0.004, 0.026
WORLD = [1.0, 0.0, 0.0, 0.0]


class WalkMarks(Mark):
    """The marks of all walks."""

    BOXES = (
        Checkbox(
            "plan of a walk",
            40,
            "footsteps, blue of the left foot and red of the right one; pink: where the zero "
            "moment point should be, now and on its way; yellow: way of the centre of mass; teal "
            "coin of a steered robot: its capture point, where it could come to rest",
        ),
    )

    def __init__(self, server: viser.ViserServer) -> None:
        self._server, self._marks = server, []

    @classmethod
    def create(cls, canvas: Canvas) -> Self:
        """See ``Mark``."""
        return cls(canvas.server)

    def draw_view(self, view: View, shown: Mapping[str, bool], ground: float) -> None:
        """See ``Mark``."""
        self.draw(view.walks, shown["plan of a walk"])

    @property
    def shown(self) -> list[bool]:
        """Whether the marks of each walk so far are visible."""
        return [bool(mark.frame.visible) for mark in self._marks]

    def draw(self, walks: tuple[WalkView, ...], shown: bool) -> None:
        """These walks, or none."""
        while len(self._marks) < len(walks):
            self._marks.append(_Walk(self._server, len(self._marks)))
        for k, mark in enumerate(self._marks):
            visible = shown and k < len(walks)
            if mark.frame.visible != visible:
                mark.frame.visible = visible
            if visible:
                mark.draw(walks[k])


class _Walk:
    """The marks of one walk."""

    def __init__(self, server: viser.ViserServer, k: int) -> None:
        at, scene = f"/over/walk{k}", server.scene
        self.frame = scene.add_frame(at, show_axes=False, visible=False)
        none = np.zeros((1, 2, 3), np.float32)
        colors = {"left": LEFT, "right": RIGHT, "zmp": ZMP, "centre": CENTRE}
        self._lines = {
            name: Node(scene.add_line_segments(f"{at}/{name}", none, color, thickness=PATH_WIDTH_M))
            for name, color in colors.items()
        }
        mesh = revolved([(0.0, 0.0), (COIN, 0.0), (COIN, 0.0008), (0.0, 0.0008)])
        self._coin = scene.add_mesh_simple(
            f"{at}/coin",
            mesh[0].astype(np.float32),
            mesh[1].astype(np.uint32),
            color=ZMP,
            cast_shadow=False,
            receive_shadow=False,
        )
        self._plan: WalkPlan | None = None
        self._relocation = STAYED
        self._at = np.full(3, np.nan)

    def draw(self, walk: WalkView) -> None:
        if walk.relocation is not self._relocation:
            self._relocation = walk.relocation
            place(self.frame, walk.relocation.p.tolist(), walk.relocation.quaternion.tolist())
        if walk.plan is not self._plan:
            self._plan = walk.plan
            for name, node in self._lines.items():
                segments = getattr(walk.plan, name)
                if len(segments):
                    node.send(points=segments)
        if not np.array_equal(walk.zmp, self._at):
            self._at = walk.zmp
            place(self._coin, [*walk.zmp[:2].tolist(), float(walk.zmp[2]) + LIFT_M], WORLD)
