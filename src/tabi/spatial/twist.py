"""Twists and wrenches as the API shows them: linear and angular parts by name."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Twist(NamedTuple):
    """Velocity (or acceleration) of a frame: of its origin [m/s], and angular [rad/s].

    Examples:
        >>> speed = sim.velocity("head").linear
    """

    linear: NDArray[np.float64]
    angular: NDArray[np.float64]


class Wrench(NamedTuple):
    """Force [N] and torque [N·m] about a stated point.

    Examples:
        >>> force = sim.foot_wrench("left").force
    """

    force: NDArray[np.float64]
    torque: NDArray[np.float64]
