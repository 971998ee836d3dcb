"""A robot that is steered, in a page: outlines of the footsteps to come, a coin where the zero
moment point should be, and one at the capture point: where the robot could come to rest.

What the feet stand on and where the zero moment point is are drawn of every robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.apps.viewer.marks.mark import Canvas, Mark
from tabi.apps.viewer.marks.nodes import Node, place
from tabi.apps.viewer.marks.walk_marks import COIN, LEFT, PATH_WIDTH_M, RIGHT, WORLD, ZMP
from tabi.apps.viewer.steered_look import SteeredView
from tabi.apps.viewer.view import View
from tabi.apps.viewer.walk_look import LIFT_M, STAYED
from tabi.formats.triangles import revolved

CAPTURE = (20, 150, 150)


class SteeredMarks(Mark):
    """The marks of all steered robots."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server, self._marks = server, []

    @classmethod
    def create(cls, canvas: Canvas) -> Self:
        """See ``Mark``."""
        return cls(canvas.server)

    def draw_view(self, view: View, shown: Mapping[str, bool], ground: float) -> None:
        """See ``Mark``."""
        self.draw(view.steered, shown["plan of a walk"])

    @property
    def shown(self) -> list[bool]:
        """Whether the marks of each robot so far are visible."""
        return [bool(mark.frame.visible) for mark in self._marks]

    def draw(self, walks: tuple[SteeredView, ...], shown: bool) -> None:
        """These robots, or none."""
        while len(self._marks) < len(walks):
            self._marks.append(_Steered(self._server, len(self._marks)))
        for k, mark in enumerate(self._marks):
            visible = shown and k < len(walks)
            if mark.frame.visible != visible:
                mark.frame.visible = visible
            if visible:
                mark.draw(walks[k])


class _Steered:
    """The marks of one robot, in the frame in which it believes to walk."""

    def __init__(self, server: viser.ViserServer, k: int) -> None:
        at, scene = f"/over/steered{k}", server.scene
        self.frame = scene.add_frame(at, show_axes=False, visible=False)
        none = np.zeros((1, 2, 3), np.float32)
        self.lines = {
            name: Node(scene.add_line_segments(f"{at}/{name}", none, color, thickness=PATH_WIDTH_M))
            for name, color in (("left", LEFT), ("right", RIGHT))
        }
        self.coins = {
            name: scene.add_mesh_simple(
                f"{at}/{name}",
                *_coin(radius),
                color=color,
                cast_shadow=False,
                receive_shadow=False,
            )
            for name, color, radius in (("zmp", ZMP, COIN), ("capture", CAPTURE, 0.8 * COIN))
        }
        self.relocation = STAYED

    def draw(self, walk: SteeredView) -> None:
        if walk.relocation is not self.relocation:
            self.relocation = walk.relocation
            place(self.frame, walk.relocation.p.tolist(), walk.relocation.quaternion.tolist())
        for name, node in self.lines.items():
            segments = getattr(walk, name)
            node.handle.visible = len(segments) > 0
            if len(segments):
                node.send(points=segments)
        for name, coin in self.coins.items():
            x, y, z = getattr(walk, name).tolist()
            coin.visible = bool(np.isfinite([x, y, z]).all())
            if coin.visible:
                place(coin, [x, y, z + LIFT_M], WORLD)


def _coin(radius: float) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    mesh = revolved([(0.0, 0.0), (radius, 0.0), (radius, 0.0008), (0.0, 0.0008)])
    return mesh[0].astype(np.float32), mesh[1].astype(np.uint32)
