"""Steered robots of a simulation as a page shows them: footsteps to come, where the zero moment
point should be, and the capture point: where the robot could come to rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi.apps.viewer.steering import steered_walkers
from tabi.apps.viewer.walk_look import STAYED, outline
from tabi.spatial.transform import Transform
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.schedule import BOTH
from tabi.walking.plan.schedule import LEFT as ON_LEFT

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
SUPPORTS = {BOTH: "both feet stand", ON_LEFT: "the left foot stands"}


@dataclass(frozen=True, eq=False)
class SteeredView:
    """View of a steered robot at one moment.

    Attributes:
        robot: its name. relocation: from where its walker believes to be to where it is.
        left, right: segments of footsteps to come, shape (n, 2, 3) [m].
        zmp, capture: planned zero moment point and capture point, on the ground [m], shape (3,).
        margin: how far the capture point is inside of what feet can catch [m].
        support: in words. stands, landed, reason: as the walker reports them.
    """

    robot: str
    relocation: Transform
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
        relocations: of robots that were put elsewhere since their walks began.
    """

    relocations: dict[str, Transform] = field(default_factory=dict)
    _soles: dict[str, dict[str, Array]] = field(default_factory=dict)

    def look(self, sim: Simulator) -> tuple[SteeredView, ...]:
        """The steered robots of this moment."""
        return tuple(self._view(sim, *item) for item in steered_walkers(sim).items())

    def _view(self, sim: Simulator, name: str, walker: Any) -> SteeredView:
        if name not in self._soles:
            biped = getattr(walker, "biped", None) or Biped(sim.world.robot(name))
            self._soles[name] = dict(biped.outline)
        steps = list(walker.footsteps)
        outlines = {
            side: [outline(s.pose, self._soles[name][side]) for s in steps if s.foot == side]
            for side in ("left", "right")
        }
        none = np.zeros((0, 2, 3), np.float32)
        ground = min((step.pose.p[2] for step in steps), default=sim.world.ground_height)
        return SteeredView(
            robot=name,
            relocation=self.relocations.get(name, STAYED),
            left=np.concatenate(outlines["left"] or [none]).astype(np.float32),
            right=np.concatenate(outlines["right"] or [none]).astype(np.float32),
            zmp=np.append(walker.planned_zmp, ground),
            capture=np.append(walker.capture_point, ground),
            margin=float(walker.margin),
            support=SUPPORTS.get(int(walker.support), "the right foot stands"),
            stands=bool(walker.stands),
            landed=int(walker.landed),
            reason=str(walker.reason),
        )
