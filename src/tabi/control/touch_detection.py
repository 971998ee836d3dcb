"""Touch detection from force sensors, and attention to the touching hand.

The force sensors of a robot that stands or moves slowly read about their average w̄ over the last
second. A touch is detected where one of them differs from it,

    |f − f̄| > F   or   |τ − τ̄| > T,      w̄' = (w − w̄)/T_a
    (1)
Foot sensors detect a touch anywhere on the body, wrist sensors one on the hand. During a touch T_a
is ten times as long, so that a steady hand stays detected; it is finite, as a push may change the
load shares of the feet permanently. Foot sensors also react to the robot's motion: they are ignored
while a joint moves fast, and until the loads have settled. The detection is held for a while after
a touch.

Reference: P. Evrard, F. Keith, J.-R. Chardonnet, A. Kheddar, Framework for haptic interaction with
virtual avatars, RO-MAN 2008; Chardonnet (2012), sec. 4 and fig. 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real, unknown
from tabi.control.base_pose import BaseGuess, BasePose
from tabi.control.gazing import Gaze, gaze
from tabi.estimation.body_sense import read
from tabi.model.body import Body, Frame
from tabi.model.controllers.controller import Rewindable
from tabi.model.controllers.signals import Measurement
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# time constant of the average, and settling time of loads [s]
AVERAGE_TIME_S, SETTLING_TIME_S = 1.0, 0.5
# factor of the time constant during a touch
TOUCH_TIME_FACTOR = 10.0
# joint speed above which foot sensors are ignored [rad/s]
MAX_STILL_SPEED = 0.2
# default target of the gaze, in the base frame [m]
TARGET_AHEAD = (3.0, 0.0, 0.3)


class TouchSense(Rewindable):
    """Touch detector, ``touch(time, measurement)``: see ``touch_detector``.

    Attributes:
        touched: whether touched at the last call. sensor: that detected the last touch, or "".
    """

    MEMORY = ("touched", "sensor", "_first", "_time", "_touch_time", "_motion_time", "_average")

    def __init__(self, robot: Robot, sensors: list[str], limits: Array, linger: float) -> None:
        self._sensors = [robot.sensors[name] for name in sensors]
        feet = {foot.body for foot in robot.feet.values()}
        self._on_foot = np.array([sensor.body in feet for sensor in self._sensors])
        self._limits, self._linger = limits, linger
        self.reset()

    def reset(self) -> None:
        """Restart with the next measurement."""
        self.touched, self.sensor = False, ""
        self._first: float | None = None
        self._time, self._touch_time, self._motion_time = 0.0, -np.inf, -np.inf
        self._average: Array = np.zeros((len(self._sensors), 6))

    def __call__(self, time: float, measurement: Measurement) -> bool:
        """Return whether the robot is touched, by (1); a time in the past restarts it."""
        if self._first is not None and time < self._time:
            self.reset()
        w = np.array([read(sensor, measurement) for sensor in self._sensors])
        if self._first is None:
            self._first, self._time = time, time
        if time - self._first < SETTLING_TIME_S:
            self._average = w
        off = (w - self._average).reshape(-1, 2, 3)
        share = (np.linalg.norm(off, axis=2) / self._limits).max(axis=1)
        if np.abs(measurement.velocity).max(initial=0.0) > MAX_STILL_SPEED:
            self._motion_time = time
        if time - self._motion_time < SETTLING_TIME_S:
            share[self._on_foot] = 0.0
        if share.max() > 1.0:
            self.sensor, self._touch_time = self._sensors[int(share.argmax())].name, time
        T, slow = (
            time - self._time,
            AVERAGE_TIME_S * (TOUCH_TIME_FACTOR if share.max() > 1.0 else 1.0),
        )
        self._average = self._average + (w - self._average) * (T / (slow + T))
        self._time = time
        self.touched = time - self._touch_time <= self._linger
        return self.touched


def touch_detector(
    robot: Robot,
    sensors: Iterable[str] | None = None,
    force: float = 8.0,
    torque: float = 4.0,
    linger: float = 2.0,
) -> TouchSense:
    """Detect touches of the robot by its force sensors.

    Args:
        sensors: names of force sensors; default: all of the robot. While it walks, foot sensors
            measure steps rather than touches.
        force, torque: thresholds F [N] and T [N·m] of (1).
        linger: time for which a touch stays detected after its end [s].

    Examples:
        >>> touch = tabi.control.touch_detector(robot)
        >>> sim.set_controller(robot, tabi.control.together(robot, touch), rate=200)
    """
    known = [name for name, sensor in robot.sensors.items() if sensor.kind == "force"]
    selected = known if sensors is None else list(sensors)
    for name in selected:
        if name not in known:
            raise unknown("force sensor", name, robot.name, known)
    if not selected:
        raise ModelError(
            f"{robot.name} has no force sensor to detect a touch; "
            'add one, as robot.add_sensor("wrist", "force", "right_hand")'
        )
    limits = np.array([real("force", force), real("torque", torque)])
    if not ((limits > 0.0).all() and real("linger", linger) >= 0.0):
        raise ModelError(
            f"a touch is detected from {force:g} N, {torque:g} N·m, for {linger:g} s; "
            "expected a force and a torque > 0 and a time ≥ 0"
        )
    return TouchSense(robot, selected, limits, linger)


def attend(
    robot: Robot,
    body: Body | Frame | str,
    probe: Callable[[float], ArrayLike | None],
    touch: TouchSense | None = None,
    base: BasePose = None,
    **options: Any,
) -> Gaze:
    """Look at a probe while the robot is touched; straight ahead otherwise.

    Args:
        body: the head. probe: function of time that returns its position x, y, z in the world [m],
            or None if it is not visible. touch: detector; default: ``touch_detector(robot)``.
        base: as in ``gaze``. options: of ``gaze``.

    Examples:
        >>> look = tabi.control.attend(robot, "head", lambda time: (1.0, 0.3, 1.2))
        >>> sim.set_controller(robot, look, rate=200)
    """
    known = BasePoseCache(BaseGuess(robot, base))
    target = Attention(touch or touch_detector(robot), known, probe)
    return gaze(robot, body, target, base=known, **options)


class Attention(Rewindable):
    """Gaze target, ``target(time, measurement)``: see ``attend``."""

    def __init__(
        self, touch: TouchSense, base: BasePoseCache, probe: Callable[[float], ArrayLike | None]
    ) -> None:
        self._touch, self._base, self._probe = touch, base, probe

    @property
    def inner(self) -> tuple[Any, ...]:
        """The touch detector and the source of the base pose."""
        return self._touch, self._base

    def __call__(self, time: float, measurement: Measurement) -> ArrayLike:
        """Return the probe's position while touched and visible, else the target ahead."""
        is_touched, seen = self._touch(time, measurement), self._probe(time)
        ahead = self._base(time, measurement) @ np.array(TARGET_AHEAD)
        return seen if is_touched and seen is not None else ahead


class BasePoseCache(Rewindable):
    """Base pose, computed once for each time."""

    MEMORY = ("_last",)

    def __init__(self, guess: BaseGuess) -> None:
        self._guess, self._last = guess, (np.nan, Transform())

    def __call__(self, time: float, measurement: Measurement) -> Transform:
        """Return X_WB at this time."""
        if time != self._last[0]:
            self._last = time, self._guess(time, measurement)
        return self._last[1]

    @property
    def inner(self) -> tuple[Any, ...]:
        """The source of the base pose."""
        return (self._guess,)

    def reset(self) -> None:
        """Restart with the next measurement."""
        super().reset()
        self._last = (np.nan, Transform())
