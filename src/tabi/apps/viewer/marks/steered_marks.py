"""A robot that is steered, in a page: outlines of the footsteps to come, a coin where the zero
moment point should be, and one at the capture point: where the robot could come to rest.

What the feet stand on and where the zero moment point is are drawn of every robot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.apps.viewer.marks.nodes import Node, place
from tabi.apps.viewer.marks.walk_marks import (
    COIN,
    LEFT,
    LIFT,
    RIGHT,
    STAYED,
    THIN,
    WORLD,
    ZMP,
    outline,
)
from tabi.apps.viewer.steering import steered_walkers
from tabi.formats.triangles import turned
from tabi.spatial.transform import Transform
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.schedule import BOTH
from tabi.walking.plan.schedule import LEFT as ON_LEFT

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
CAPTURE = (20, 150, 150)
SUPPORTS = {BOTH: "both feet stand", ON_LEFT: "the left foot stands"}


@dataclass(frozen=True, eq=False)
class SteeredView:
    """A steered robot at one moment.

    Attributes:
        robot: its name. moved: from where its walker believes to be to where it is.
        left, right: segments of footsteps to come, shape (n, 2, 3) [m].
        zmp, capture: planned zero moment point and capture point, on the ground [m], shape (3,).
        margin: how far the capture point is inside of what feet can catch [m].
        support: in words. stands, landed, reason: as the walker tells them.
    """

    robot: str
    moved: Transform
    left: NDArray[np.float32]
    right: NDArray[np.float32]
    zmp: Array
    capture: Array
    margin: float
    support: str
    stands: bool
    landed: int
    reason: str


@dataclass
class SteeredLook:
    """Looks at the steered robots of a simulator.

    Attributes:
        moved: of robots that were put elsewhere since their walks began.
    """

    moved: dict[str, Transform] = field(default_factory=dict)
    _soles: dict[str, dict[str, Array]] = field(default_factory=dict)

    def look(self, sim: Simulator) -> tuple[SteeredView, ...]:
        """The steered robots of this moment."""
        return tuple(self._one(sim, *item) for item in steered_walkers(sim).items())

    def _one(self, sim: Simulator, name: str, walker: Any) -> SteeredView:
        if name not in self._soles:
            biped = getattr(walker, "biped", None) or Biped(sim.world.robot(name))
            self._soles[name] = dict(biped.outline)
        steps = list(walker.footsteps)
        found = {
            side: [outline(s.pose, self._soles[name][side]) for s in steps if s.foot == side]
            for side in ("left", "right")
        }
        none = np.zeros((0, 2, 3), np.float32)
        ground = min((step.pose.p[2] for step in steps), default=sim.world.ground_height)
        return SteeredView(
            robot=name,
            moved=self.moved.get(name, STAYED),
            left=np.concatenate(found["left"] or [none]).astype(np.float32),
            right=np.concatenate(found["right"] or [none]).astype(np.float32),
            zmp=np.append(walker.planned_zmp, ground),
            capture=np.append(walker.capture_point, ground),
            margin=float(walker.margin),
            support=SUPPORTS.get(int(walker.support), "the right foot stands"),
            stands=bool(walker.stands),
            landed=int(walker.landed),
            reason=str(walker.reason),
        )


class SteeredMarks:
    """The marks of all steered robots."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server, self._marks = server, []

    @property
    def shown(self) -> list[bool]:
        """Of every robot that was there, whether its marks are seen."""
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
            name: Node(scene.add_line_segments(f"{at}/{name}", none, color, thickness=THIN))
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
        self.moved = STAYED

    def draw(self, walk: SteeredView) -> None:
        if walk.moved is not self.moved:
            self.moved = walk.moved
            place(self.frame, walk.moved.p.tolist(), walk.moved.quaternion.tolist())
        for name, node in self.lines.items():
            segments = getattr(walk, name)
            node.handle.visible = len(segments) > 0
            if len(segments):
                node.tell(points=segments)
        for name, coin in self.coins.items():
            x, y, z = getattr(walk, name).tolist()
            coin.visible = bool(np.isfinite([x, y, z]).all())
            if coin.visible:
                place(coin, [x, y, z + LIFT], WORLD)


def _coin(radius: float) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    mesh = turned([(0.0, 0.0), (radius, 0.0), (radius, 0.0008), (0.0, 0.0008)])
    return mesh[0].astype(np.float32), mesh[1].astype(np.uint32)
