"""Commanded positions against the ranges of their joints: reported once per joint, or clipped."""

from __future__ import annotations

import warnings
from math import inf, pi

import numpy as np
from numpy.typing import NDArray

from tabi._errors import users_level
from tabi.model.robot import Robot

Array = NDArray[np.float64]
# how far beyond a range a target is reported [rad or m], and how many are listed
SLACK, MAX_LISTED = 1e-3, 4
# larger targets are taken for degrees [rad]
MAX_PLAUSIBLE_ANGLE = 2.0 * pi


class TargetRangeWarning(UserWarning):
    """Warning of a joint commanded beyond its range; given once per joint."""


class TargetRanges:
    """Ranges of a robot's joints, with which commanded positions are compared.

    Args:
        names: joint of each degree of freedom. lower, upper: its range, ±inf where it has none.
        clip: whether targets are moved into the ranges, without a warning.

    Attributes:
        bounds: lowest and highest target that is written as it is, shape (2, n).
    """

    def __init__(
        self, robot: Robot, names: tuple[str, ...], lower: Array, upper: Array, clip: bool = False
    ) -> None:
        self.robot, self.names, self.clip = robot, names, clip
        self._ranges = np.array([lower, upper])
        slack = 0.0 if clip else SLACK
        self.bounds = self._ranges + np.array([[-slack], [slack]])

    def apply(self, targets: Array, time: float) -> Array:
        """Return the targets; those beyond their range are clipped, or reported."""
        beyond = (targets < self.bounds[0]) | (targets > self.bounds[1])
        if not beyond.any():
            return targets
        if self.clip:
            return np.clip(targets, *self.bounds)
        self._report(np.flatnonzero(beyond), targets, time)
        return targets

    def _report(self, beyond: NDArray[np.int64], targets: Array, time: float) -> None:
        """Warn of joints that were not reported before."""
        units = ["m" if self._slides(name) else "rad" for name in self.names]
        listed = [
            f"{self.names[k]!r} is {targets[k]:.4g} {units[k]} (range {self._ranges[0, k]:.4g} to "
            f"{self._ranges[1, k]:.4g})"
            for k in beyond[:MAX_LISTED]
        ]
        rest = len(beyond) - len(listed)
        implausible = [
            k for k in beyond if units[k] == "rad" and abs(targets[k]) > MAX_PLAUSIBLE_ANGLE
        ]
        fix = (
            "are they degrees? angles are in radians, see numpy.radians"
            if implausible
            else "command positions within the range, or clip them: "
            "sim.set_controller(robot, controller, clip=True)"
        )
        warnings.warn(
            f"positions commanded to {self.robot.name} at {time:g} s are beyond the range of their "
            f"joints: {', '.join(listed)}{f' and {rest} more' if rest else ''}; {fix}; later "
            "targets of these joints are not reported",
            TargetRangeWarning,
            stacklevel=users_level(),
        )
        self.bounds[0, beyond], self.bounds[1, beyond] = -inf, inf

    def _slides(self, name: str) -> bool:
        return self.robot.joint(name).kind == "prismatic"
