"""The plan of a walk in a page: outlines of the footsteps on the ground, the paths that are planned
for the zero moment point and the centre of mass, and a coin where the zero moment point should be
now.

Outlines and paths are sent once; of a walk that goes on, a picture is one coin that moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.analysis.walk_measures import walkers
from tabi.apps.viewer.marks.nodes import Node, place
from tabi.formats.triangles import turned
from tabi.spatial.transform import Transform
from tabi.walking.plan.pattern import WalkingPattern

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# of the left foot, the right foot, and the planned zero moment point and centre of mass
LEFT, RIGHT, ZMP, CENTRE = (40, 110, 200), (200, 70, 60), (225, 110, 175), (230, 175, 60)
# m: above the ground, width of lines, radius of the coin
LIFT, THIN, COIN = 2.5e-3, 0.004, 0.026
# s between points of a path
APART = 0.04
WORLD = [1.0, 0.0, 0.0, 0.0]
STAYED = Transform()


@dataclass(frozen=True, eq=False)
class WalkPlan:
    """What is drawn of a pattern as segments, shape (n, 2, 3) [m].

    Attributes:
        left, right: outlines of the soles where they land.
        zmp, centre: paths of the zero moment point and the centre of mass.
    """

    left: NDArray[np.float32]
    right: NDArray[np.float32]
    zmp: NDArray[np.float32]
    centre: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WalkView:
    """A walk at one moment: its plan, and where the zero moment point should be [m], shape (3,).

    Attributes:
        moved: from where it began to where it goes on, of a robot that was put elsewhere.
        reason: why the walk was given up, "" where it was not.
    """

    plan: WalkPlan
    zmp: Array
    moved: Transform = field(default_factory=Transform)
    reason: str = ""


def plan_of(pattern: WalkingPattern) -> WalkPlan:
    """The segments of a pattern."""
    lift, soles = np.array([0.0, 0.0, LIFT]), {"left": [], "right": []}
    for step in pattern.steps:
        soles[step.foot].append(outline(step.pose, pattern.biped.outline[step.foot]))
    every = max(1, round(APART / pattern.gait.tick))
    ground = np.column_stack([pattern.zmp, pattern.schedule.zmp[:, 2]]) + lift
    left, right = (
        np.concatenate([np.zeros((0, 2, 3)), *soles[side]]).astype(np.float32)
        for side in ("left", "right")
    )
    return WalkPlan(left, right, _path(ground[::every]), _path(pattern.centre[::every]))


def outline(pose: Transform, corners: Array) -> Array:
    """Segments around a sole, a little above the ground [m], shape (n, 2, 3)."""
    ring = pose @ np.column_stack([corners, np.zeros(len(corners))]) + (0.0, 0.0, LIFT)
    return np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)


def _path(points: Array) -> NDArray[np.float32]:
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


@dataclass
class WalkLook:
    """Looks at the walkers of a simulator; a plan is made when its walker is first seen.

    Attributes:
        moved: of robots that were put elsewhere since their walks began.
    """

    moved: dict[str, Transform] = field(default_factory=dict)
    _plans: dict[int, tuple[WalkingPattern, WalkPlan]] = field(default_factory=dict)

    def look(self, sim: Simulator) -> tuple[WalkView, ...]:
        """The walks of this moment."""
        found = []
        for name, walker in walkers(sim).items():
            pattern = walker.pattern
            if id(pattern) not in self._plans:
                # the pattern is kept too: its number is nobody else's then
                self._plans[id(pattern)] = pattern, plan_of(pattern)
            k = walker.tick
            at = np.array([*pattern.zmp[k], pattern.schedule.zmp[k, 2]])
            moved = self.moved.get(name, STAYED)
            found.append(WalkView(self._plans[id(pattern)][1], at, moved, walker.reason))
        return tuple(found)


class WalkMarks:
    """The marks of all walks."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server, self._marks = server, []

    @property
    def shown(self) -> list[bool]:
        """Of every walk that was there, whether it is seen."""
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
            name: Node(scene.add_line_segments(f"{at}/{name}", none, color, thickness=THIN))
            for name, color in colors.items()
        }
        mesh = turned([(0.0, 0.0), (COIN, 0.0), (COIN, 0.0008), (0.0, 0.0008)])
        self._coin = scene.add_mesh_simple(
            f"{at}/coin",
            mesh[0].astype(np.float32),
            mesh[1].astype(np.uint32),
            color=ZMP,
            cast_shadow=False,
            receive_shadow=False,
        )
        self._plan: WalkPlan | None = None
        self._moved = STAYED
        self._at = np.full(3, np.nan)

    def draw(self, walk: WalkView) -> None:
        if walk.moved is not self._moved:
            self._moved = walk.moved
            place(self.frame, walk.moved.p.tolist(), walk.moved.quaternion.tolist())
        if walk.plan is not self._plan:
            self._plan = walk.plan
            for name, node in self._lines.items():
                segments = getattr(walk.plan, name)
                if len(segments):
                    node.tell(points=segments)
        if not np.array_equal(walk.zmp, self._at):
            self._at = walk.zmp
            place(self._coin, [*walk.zmp[:2].tolist(), float(walk.zmp[2]) + LIFT], WORLD)
