"""Where a controller believes the base of its robot to be."""

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
    """The base's pose X_WB at each moment: ``guess(time, measurement)``.

    Args:
        base: an ``Estimator``, or any function (time, measurement) → Transform, or a Transform for
            one that stays. Unless given: where it is built to be for a robot that is bolted down,
            else an estimator of its own, from the robot's IMU and feet.
    """

    def __init__(self, robot: Robot, base: BasePose = None) -> None:
        self._robot, fixed = robot, robot.base.joint.kind != "floating"
        if base is None:
            try:
                base = robot.placements()[robot.base] if fixed else Estimator(robot)
            except ModelError as problem:
                raise ModelError(
                    f"how the base of {robot.name} is turned is not known: {problem}; or give "
                    f"base, a Transform or a function (time, measurement) → Transform"
                ) from None
        if not (isinstance(base, Transform) or callable(base)):
            raise ModelError(
                f"base is {base!r}; expected a Transform, an Estimator, or a function "
                f"(time, measurement) → Transform"
            )
        self._base = base

    def __call__(self, time: float, measurement: Measurement) -> Transform:
        """X_WB now."""
        if isinstance(self._base, Transform):
            return self._base
        told = self._base(time, measurement)
        told = getattr(told, "base", told)
        if not isinstance(told, Transform):
            raise ModelError(
                f"base of {self._robot.name} is {type(told).__name__} at {time:g} s; "
                f"expected a Transform"
            )
        return told

    @property
    def inner(self) -> tuple[Any, ...]:
        """What estimates the pose."""
        return () if isinstance(self._base, Transform) else (self._base,)
