"""Walks of a simulation as a page shows them: footsteps, planned paths, and where the zero moment
point should be now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabi.analysis.walk_measures import walkers
from tabi.spatial.transform import Transform
from tabi.walking.plan.pattern import WalkingPattern

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# height above the ground; time between points of a path
LIFT_M, PATH_PERIOD_S = 2.5e-3, 0.04
STAYED = Transform()


@dataclass(frozen=True, eq=False)
class WalkPlan:
    """Plan of a walking pattern as segments, shape (n, 2, 3) [m].

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
    relocation: Transform = field(default_factory=Transform)
    reason: str = ""


def plan_of(pattern: WalkingPattern) -> WalkPlan:
    """The segments of a pattern."""
    lift, soles = np.array([0.0, 0.0, LIFT_M]), {"left": [], "right": []}
    for step in pattern.steps:
        soles[step.foot].append(outline(step.pose, pattern.biped.outline[step.foot]))
    every = max(1, round(PATH_PERIOD_S / pattern.gait.tick))
    ground = np.column_stack([pattern.zmp, pattern.schedule.zmp[:, 2]]) + lift
    left, right = (
        np.concatenate([np.zeros((0, 2, 3)), *soles[side]]).astype(np.float32)
        for side in ("left", "right")
    )
    return WalkPlan(left, right, _path(ground[::every]), _path(pattern.centre[::every]))


def outline(pose: Transform, corners: Array) -> Array:
    """Segments around a sole, a little above the ground [m], shape (n, 2, 3)."""
    ring = pose @ np.column_stack([corners, np.zeros(len(corners))]) + (0.0, 0.0, LIFT_M)
    return np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)


def _path(points: Array) -> NDArray[np.float32]:
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)


@dataclass
class WalkLook:
    """Looks at the walkers of a simulator; a plan is made when its walker is first seen.

    Attributes:
        relocations: of robots that were put elsewhere since their walks began.
    """

    relocations: dict[str, Transform] = field(default_factory=dict)
    _plans: dict[int, tuple[WalkingPattern, WalkPlan]] = field(default_factory=dict)

    def look(self, sim: Simulator) -> tuple[WalkView, ...]:
        """The walks of this moment."""
        views = []
        for name, walker in walkers(sim).items():
            pattern = walker.pattern
            if id(pattern) not in self._plans:
                # the pattern is kept too: its number then stays its own
                self._plans[id(pattern)] = pattern, plan_of(pattern)
            k = walker.tick
            at = np.array([*pattern.zmp[k], pattern.schedule.zmp[k, 2]])
            relocation = self.relocations.get(name, STAYED)
            views.append(WalkView(self._plans[id(pattern)][1], at, relocation, walker.reason))
        return tuple(views)
