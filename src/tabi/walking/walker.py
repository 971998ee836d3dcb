"""The controller of a walk: a pattern that is followed, with a stabiliser or without."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi._jit import entry
from tabi._structure import arrays_of
from tabi.control.estimator import Estimator
from tabi.model.pilot import EFFORT, POSITION, VELOCITY, Pilot, channel
from tabi.model.signals import Command, Measurement
from tabi.walking.footsteps import SIDES
from tabi.walking.pattern import WalkingPattern
from tabi.walking.stabiliser_tables import StabiliserGains, loop_of
from tabi.walking.ticks import (
    PlannedWalk,
    Progress,
    StabilisedWalk,
    planned_tick,
    stabilised_tick,
)

Array = NDArray[np.float64]


class Walker:
    """Drives a robot along a walking pattern: a controller, to be asked once in every tick of the
    gait, ``rate=1/gait.tick``. It reads encoders, IMU and foot sensors, and no truth. A simulator
    asks it within its compiled loop; called as a function it says the same.

    Args:
        pattern: made by ``walking_pattern``.
        stabiliser: gains of its loops; None follows the pattern blindly.
        estimator: of the body's inclination; the robot's own sensors unless given.
    """

    def __init__(
        self,
        pattern: WalkingPattern,
        stabiliser: StabiliserGains | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        self.pattern, self.stabiliser = pattern, stabiliser
        self._estimator: Estimator | None = None
        if stabiliser is not None:
            self._estimator = Estimator(pattern.robot) if estimator is None else estimator
            missing = [side for side in SIDES if side not in self._estimator.feet]
            if missing:
                raise ModelError(
                    f"foot {missing[0]!r} of {pattern.robot.name} has no force sensor; a "
                    "stabiliser needs one: "
                    f'robot.add_sensor("{missing[0]}_force", "force", '
                    f'robot.feet["{missing[0]}"].body)'
                )
        self._walk = self._fresh()
        kernel: Any = planned_tick if stabiliser is None else stabilised_tick
        self._kernel, self._ask = kernel, entry(kernel, self._walk)
        self._said = Command()

    def reset(self) -> None:
        """Begin the walk anew with the next measurement."""
        self.restore_state([array.copy() for array in _changing(self._fresh())])

    def save_state(self) -> list[Array]:
        """All that it remembers, for ``restore_state``."""
        return [array.copy() for array in _changing(self._walk)]

    def restore_state(self, state: list[Array]) -> None:
        """Go on from where ``save_state`` was asked."""
        # in place: a simulator may know where it is
        for old, new in zip(_changing(self._walk), state, strict=True):
            old[...] = new

    def _fresh(self) -> PlannedWalk | StabilisedWalk:
        """A walk that has not begun."""
        walk, sensors = self.pattern, self._sensors()
        progress = Progress(
            start=np.full(1, np.inf),
            tick=np.full(1, -1),
            period=np.array([walk.gait.tick]),
            span=np.array([walk.gait.tick]),
            position=np.ascontiguousarray(walk.position),
            effort=np.ascontiguousarray(walk.effort),
            last=walk.position[0].copy(),
        )
        ends = np.cumsum([0, *(width for _, width in sensors)])
        talk = channel(len(walk.biped.joints), int(ends[-1]))
        if self.stabiliser is None or self._estimator is None:
            return PlannedWalk(talk, progress)
        model = walk.biped.model.arrays
        gyro, accelerometer, *feet = range(len(sensors))
        place = [ends[gyro], ends[accelerometer + 1] - 3]
        for k in feet:
            place += [ends[k], sensors[k][1]]
        loop = loop_of(walk, self.stabiliser)
        return StabilisedWalk(
            channel=talk,
            progress=progress,
            model=model,
            estimator=self._estimator.fresh(),
            loop=loop,
            place=np.array(place, np.int64),
            foot=np.array([self._estimator.feet.index(side) for side in SIDES], np.int64),
            q_at=model.dof["q"][loop.body.v_at].astype(np.int64),
        )

    def _sensors(self) -> list[tuple[str, int]]:
        """Names and widths of the sensors that are read: gyro, accelerometer, feet."""
        if self._estimator is None:
            return []
        return [(sensor.name, sensor.width) for sensor in self._estimator.sensors]

    def pilot(self) -> Pilot | None:
        """For the compiled loop of a simulator; None where a sensor's readings are raw, as they
        are calibrated in Python.
        """
        sensors = [] if self._estimator is None else self._estimator.sensors
        if any(sensor.matrix is not None or sensor.offset is not None for sensor in sensors):
            return None
        names = tuple(name for name, _ in self._sensors())
        talk, period = self._walk.channel, self.pattern.gait.tick
        return Pilot(self._kernel, self._walk, talk, names, period)

    @property
    def tick(self) -> int:
        """Of the pattern, that the last command was for."""
        return int(np.clip(self._walk.progress.tick[0], 0, self.pattern.count - 1))

    @property
    def finished(self) -> bool:
        """Whether the robot stands at the end of the pattern."""
        return self.tick >= self.pattern.count - 1

    @property
    def zmp(self) -> Array:
        """That the stabiliser wanted last, or that is planned [m], shape (2,)."""
        walk = self._walk
        planned = self.pattern.zmp[self.tick]
        return (walk.loop.zmp[:2] if isinstance(walk, StabilisedWalk) else planned).copy()

    @property
    def centre_of_mass(self) -> Array:
        """As it is estimated, or as it is planned [m], shape (3,)."""
        walk = self._walk
        planned = self.pattern.centre[self.tick]
        return (walk.loop.centre[:3] if isinstance(walk, StabilisedWalk) else planned).copy()

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """The command until the next tick; a time that is past begins the walk anew."""
        talk = self._walk.channel
        if time < talk.time[0]:
            self.reset()
        talk.time[0] = time
        talk.position[:], talk.velocity[:] = measurement.position, measurement.velocity
        if self._estimator is not None:
            first = 0
            for sensor in self._estimator.sensors:
                end = first + sensor.width
                talk.reading[first:end] = self._estimator.read(sensor, measurement)
                first = end
        self._ask(self._walk)
        if talk.given[0] == 0:
            # asked again within a tick
            return self._said
        q, v, effort = talk.told[POSITION], talk.told[VELOCITY], talk.told[EFFORT]
        self._said = Command(position=q, velocity=v, effort=effort, over=self.pattern.gait.tick)
        return self._said


def _changing(walk: PlannedWalk | StabilisedWalk) -> list[NDArray[Any]]:
    """Arrays that ticks change."""
    progress = walk.progress
    parts: list[Any] = [walk.channel, progress.start, progress.tick, progress.span, progress.last]
    if isinstance(walk, StabilisedWalk):
        loop = walk.loop
        parts += [walk.estimator, loop.smooth, loop.turn, loop.lower, loop.shift]
        parts += [loop.given_way, loop.answer, loop.effort, loop.zmp, loop.centre, loop.summed]
    return list(arrays_of(parts))
