"""Detection of falls of a robot.

At the start, a robot's base is at a height z₀ above the lower of its soles, and one direction of
the base points upwards. It has fallen while

    z < z₀/2   or   that direction leans by more than 60°                                       (1)
z: height of the base above the lower sole, so that stairs and jumps make no difference; for a robot
without feet, above the ground. One of both holds while it rolls over: a robot that lies is low or
leans, whichever side is up. A robot that does not start on its soles counts as if the z axis of its
base were upwards; if the base is hardly above the soles, as of a single block, only the inclination
counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi.model.robot import Robot
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# of (1): share of the height, cosine of the inclination
FALLEN_HEIGHT_SHARE, FALLEN_COSINE = 0.5, 0.5
# cosine of the inclination of soles that a robot stands on: 30°
LEVEL_COSINE = 0.87
# share of a robot's size below which its base has no height that it could lose
MIN_HEIGHT_SHARE = 0.1


@dataclass(frozen=True)
class Upright:
    """Standing pose of a robot: height of its base above its soles [m], None without one, and the
    up direction in the base's frame.
    """

    height: float | None
    up: Array

    def margin(self, base: Transform, below: float) -> float:
        """Return the margin of a robot against a fall: 0.5 standing, negative after a fall.

        Args:
            base: its pose now. below: height of its lower sole, or of the ground [m].
        """
        upright = float(base.R[2] @ self.up) - FALLEN_COSINE
        if self.height is None:
            return upright
        return min((float(base.p[2]) - below) / self.height - FALLEN_HEIGHT_SHARE, upright)


def upright(robot: Robot) -> Upright:
    """Return the standing pose of a robot, from its initial pose."""
    X = robot.placements()
    base = X[robot.base]
    soles = [X[foot.body] @ foot.placement for foot in robot.feet.values()]
    stands = all(abs(sole.R[2, 2]) > LEVEL_COSINE for sole in soles)
    up = base.R[2].copy()
    if soles and stands:
        height = float(base.p[2]) - min(float(sole.p[2]) for sole in soles)
    else:
        height = robot.base_height
        # without feet the initial pose determines the up direction
        up = np.array([0.0, 0.0, 1.0]) if soles else up
    size = robot.extent((0.0, 0.0, 1.0), X) + robot.extent((0.0, 0.0, -1.0), X)
    return Upright(height if height > MIN_HEIGHT_SHARE * size else None, up)
