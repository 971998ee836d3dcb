"""Noticing a touch, and looking at what touches.

A robot that stands or moves slowly knows what its force sensors say by themselves: their average
w̄ over the last second or so. A touch is what makes one of them differ from it,

    |f − f̄| > F   or   |τ − τ̄| > T,      w̄' = (w − w̄)/T_a                                        (1)
Feet feel a touch anywhere on the body, wrists one on the hand. While a touch lasts T_a is ten times
as long, so that a steady hand is not soon forgotten; but a push may leave the feet sharing the
weight in another way, and that has to become the usual. Feet also feel what the robot does itself:
they are not asked while a joint moves fast, and until that has died away. The robot stays attentive
for a while after a touch.

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
# time constant of the average, and how long loads settle [s]
AVERAGE, SETTLED = 1.0, 0.5
# of the average, how much slower it is while a touch lasts
LASTING = 10.0
# speed of a joint from which on feet feel the robot's own motion [rad/s]
STILL = 0.2
# where a robot looks when nothing asks for attention, in front of its base [m]
AHEAD = (3.0, 0.0, 0.3)


class TouchSense(Rewindable):
    """Whether somebody touches, ``touch(time, measurement)``: see ``notices``.

    Attributes:
        touched: at the last call. sensor: that felt it last, "" where none did.
    """

    MEMORY = ("touched", "sensor", "_first", "_time", "_felt", "_moved", "_average")

    def __init__(self, robot: Robot, sensors: list[str], limits: Array, linger: float) -> None:
        self._sensors = [robot.sensors[name] for name in sensors]
        feet = {foot.body for foot in robot.feet.values()}
        self._on_foot = np.array([sensor.body in feet for sensor in self._sensors])
        self._limits, self._linger = limits, linger
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.touched, self.sensor = False, ""
        self._first: float | None = None
        self._time, self._felt, self._moved = 0.0, -np.inf, -np.inf
        self._average: Array = np.zeros((len(self._sensors), 6))

    def __call__(self, time: float, measurement: Measurement) -> bool:
        """By (1); a time that is past begins anew."""
        if self._first is not None and time < self._time:
            self.reset()
        w = np.array([read(sensor, measurement) for sensor in self._sensors])
        if self._first is None:
            self._first, self._time = time, time
        if time - self._first < SETTLED:
            self._average = w
        off = (w - self._average).reshape(-1, 2, 3)
        share = (np.linalg.norm(off, axis=2) / self._limits).max(axis=1)
        if np.abs(measurement.velocity).max(initial=0.0) > STILL:
            self._moved = time
        if time - self._moved < SETTLED:
            share[self._on_foot] = 0.0
        if share.max() > 1.0:
            self.sensor, self._felt = self._sensors[int(share.argmax())].name, time
        T, slow = time - self._time, AVERAGE * (LASTING if share.max() > 1.0 else 1.0)
        self._average = self._average + (w - self._average) * (T / (slow + T))
        self._time = time
        self.touched = time - self._felt <= self._linger
        return self.touched


def notices(
    robot: Robot,
    sensors: Iterable[str] | None = None,
    force: float = 8.0,
    torque: float = 4.0,
    linger: float = 2.0,
) -> TouchSense:
    """Whether somebody touches the robot, by its own force sensors.

    Args:
        sensors: names of force sensors; all of the robot's unless given. Those of feet say more of
            steps than of hands while it walks.
        force, torque: what is noticed, F [N] and T [N·m] of (1).
        linger: how long it stays attentive after a touch [s].
    """
    known = [name for name, sensor in robot.sensors.items() if sensor.kind == "force"]
    chosen = known if sensors is None else list(sensors)
    for name in chosen:
        if name not in known:
            raise unknown("force sensor", name, robot.name, known)
    if not chosen:
        raise ModelError(
            f"{robot.name} has no force sensor to notice a touch with; "
            'add one, as robot.add_sensor("wrist", "force", "right_hand")'
        )
    limits = np.array([real("force", force), real("torque", torque)])
    if not ((limits > 0.0).all() and real("linger", linger) >= 0.0):
        raise ModelError(
            f"a touch is noticed from {force:g} N, {torque:g} N·m, for {linger:g} s; "
            "expected a force and a torque > 0 and a time ≥ 0"
        )
    return TouchSense(robot, chosen, limits, linger)


def attend(
    robot: Robot,
    body: Body | Frame | str,
    probe: Callable[[float], ArrayLike | None],
    touch: TouchSense | None = None,
    base: BasePose = None,
    **options: Any,
) -> Gaze:
    """Look at a probe as soon as the robot is touched; straight ahead otherwise.

    Args:
        body: the head. probe: where it is seen at a time, x, y, z in the world [m]; None where it
            is not. touch: what notices; ``notices(robot)`` unless given.
        base: as of ``gaze``. options: of ``gaze``.
    """
    known = Known(BaseGuess(robot, base))
    target = Attention(touch or notices(robot), known, probe)
    return gaze(robot, body, target, base=known, **options)


class Attention(Rewindable):
    """What a robot looks at, ``target(time, measurement)``: see ``attend``."""

    def __init__(
        self, touch: TouchSense, base: Known, probe: Callable[[float], ArrayLike | None]
    ) -> None:
        self._touch, self._base, self._probe = touch, base, probe

    @property
    def inner(self) -> tuple[Any, ...]:
        """What feels the touch, and where the base is."""
        return self._touch, self._base

    def __call__(self, time: float, measurement: Measurement) -> ArrayLike:
        """The probe while it is felt and seen, else straight ahead."""
        felt, seen = self._touch(time, measurement), self._probe(time)
        ahead = self._base(time, measurement) @ np.array(AHEAD)
        return seen if felt and seen is not None else ahead


class Known(Rewindable):
    """A guess of the base's pose that is asked once for each time."""

    MEMORY = ("_last",)

    def __init__(self, guess: BaseGuess) -> None:
        self._guess, self._last = guess, (np.nan, Transform())

    def __call__(self, time: float, measurement: Measurement) -> Transform:
        """X_WB."""
        if time != self._last[0]:
            self._last = time, self._guess(time, measurement)
        return self._last[1]

    @property
    def inner(self) -> tuple[Any, ...]:
        """The guess."""
        return (self._guess,)

    def reset(self) -> None:
        """Begin anew."""
        super().reset()
        self._last = (np.nan, Transform())
