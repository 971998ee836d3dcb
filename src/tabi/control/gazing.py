"""Gaze control: turn the head so that it looks at a target.

Inverse kinematics solves for the neck joints that point the axis of the head, from a point of it,
at the target, with all other joints at their measured positions, starting from the last command of
the neck. For a target out of reach the axis points as near to it as the limits allow. The neck
moves within the velocity limits of its joints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.control.base_pose import BaseGuess, BasePose
from tabi.control.chains import limb
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.control.joint_values import JointChoice
from tabi.dynamics.configuration import Configuration
from tabi.model.body import Body, Frame
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.robot import Robot

Array = NDArray[np.float64]
Target = ArrayLike | Callable[[float, Measurement], ArrayLike]
# restarts of the search, for targets behind the head
RESTARTS = 4


class Gaze(Controller):
    """A controller of a neck: see ``gaze``.

    Attributes:
        joints: names of the neck joints.
        error: angle between axis and target at the last commanded position [rad].
    """

    MEMORY = ("error", "_last")

    def __init__(
        self, robot: Robot, name: str, choice: JointChoice, target: Target, axis: Array, base: Any
    ) -> None:
        self._choice, self._target, self.joints = choice, target, choice.names
        self._base, self._floats = BaseGuess(robot, base), robot.base.joint.kind == "floating"
        self._here = Configuration(robot)
        model = self._here.model
        locked = [name for name in robot.joint_names if name not in choice.names]
        if self._floats:
            locked += [next(iter(model.things))]
        self._search = InverseKinematics(robot, locked, restarts=RESTARTS)
        self._task = self._search.gaze(name, axis)
        self._at = np.array([model.q_index(name) for name in choice.names])
        self._fastest = choice.limits()[2]
        self.reset()

    @property
    def inner(self) -> tuple[Any, ...]:
        """The source of the base pose, and the target."""
        return self._base, *([self._target] if callable(self._target) else [])

    def reset(self) -> None:
        """Restart at the neck's next measured position."""
        super().reset()
        self.error = 0.0
        self._last: tuple[float, Array] | None = None

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return position and velocity of the neck."""
        if self._last is not None and time < self._last[0]:
            self.reset()
        before, now = self._last or (time, measurement.position[self._choice.at].copy())
        base = self._base(time, measurement) if self._floats else None
        self._here.set_joints(measurement.position, 0.0, base)
        q = self._here.q
        q[self._at] = now
        self._task.target = self._target_position(time, measurement)
        q = self._search.solve(q).q
        self.error = self._task.sizes[0]
        # within the velocity limits
        T, change = time - before, q[self._at] - now
        change = np.clip(change, -self._fastest * T, self._fastest * T) if T > 0 else 0.0 * change
        self._last = time, now + change
        v = change / T if T > 0 else change
        return Command(self._choice.command_values(now + change), self._choice.command_values(v))

    def _target_position(self, time: float, measurement: Measurement) -> Array:
        target = self._target(time, measurement) if callable(self._target) else self._target
        return _vector("target", target, f" at {time:g} s" if callable(self._target) else "")


def gaze(
    robot: Robot,
    body: Body | Frame | str,
    target: Target,
    axis: ArrayLike = (1.0, 0.0, 0.0),
    joints: Iterable[str] | None = None,
    base: BasePose = None,
) -> Gaze:
    """Turn the head so that an axis of it points at a target.

    Args:
        body: the head, or a frame or sensor of it, as a camera; the axis goes through its origin.
        target: x, y, z in the world [m], or a function (time, measurement) → x, y, z.
        axis: line of sight, in the frame of the body.
        joints: that move; default: those of the neck, from the head inwards to the branch of
            another limb.
        base: see ``tabi.control.base_pose.BaseGuess``; default: an ``Estimator``. With
            ``tabi.Transform()`` the target is in the base's frame.

    Examples:
        >>> sim.set_controller(robot, tabi.control.gaze(robot, "head", (1.5, -0.4, 0.8)), rate=200)
    """
    name = body if isinstance(body, str) else body.name
    frame = robot.frames.get(name) or robot.sensors.get(name)
    head = robot.body(name) if frame is None else frame.body
    choice = JointChoice(robot, limb(robot, head) if joints is None else joints)
    ahead = _vector("axis of a gaze", axis)
    if not np.linalg.norm(ahead) > 0:
        raise ModelError("axis of a gaze is 0, 0, 0; expected a direction, as (1, 0, 0)")
    if not callable(target):
        target = _vector("target", target)
    return Gaze(robot, name, choice, target, ahead / np.linalg.norm(ahead), base)


def _vector(name: str, value: Any, when: str = "") -> Array:
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        x = np.zeros(0)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(f"{name} is {value!r}{when}; expected three finite numbers x, y, z")
    return x
