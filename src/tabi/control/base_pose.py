"""Pose of the base as a controller knows it: fixed, computed or estimated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabi._errors import ModelError
from tabi.estimation.estimator import Estimator
from tabi.model.controllers.controller import Rewindable
from tabi.model.controllers.signals import Measurement
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform

BasePose = Transform | Estimator | Callable[[float, Measurement], Any] | None


class BaseGuess(Rewindable):
    """Pose X_WB of the base at each time: ``guess(time, measurement)``.

    Args:
        base: an ``Estimator``, or any function (time, measurement) → Transform, or a Transform for
            a fixed one. Default: the placement of a robot that is bolted down, else a new
            estimator, from the robot's IMU and feet.
    """

    def __init__(self, robot: Robot, base: BasePose = None) -> None:
        self._robot, fixed = robot, robot.base.joint.kind != "floating"
        if base is None:
            try:
                base = robot.placements()[robot.base] if fixed else Estimator(robot)
            except ModelError as problem:
                raise ModelError(
                    f"the pose of the base of {robot.name} is unknown: {problem}; or pass "
                    f"base, a Transform or a function (time, measurement) → Transform"
                ) from None
        if not (isinstance(base, Transform) or callable(base)):
            raise ModelError(
                f"base is {base!r}; expected a Transform, an Estimator, or a function "
                f"(time, measurement) → Transform"
            )
        self._base = base

    def __call__(self, time: float, measurement: Measurement) -> Transform:
        """Return X_WB at this time."""
        if isinstance(self._base, Transform):
            return self._base
        pose = self._base(time, measurement)
        pose = getattr(pose, "base", pose)
        if not isinstance(pose, Transform):
            raise ModelError(
                f"base of {self._robot.name} is {type(pose).__name__} at {time:g} s; "
                f"expected a Transform"
            )
        return pose

    @property
    def inner(self) -> tuple[Any, ...]:
        """The estimator of the pose."""
        return () if isinstance(self._base, Transform) else (self._base,)
