"""What controllers of a walk have in common: senses, ticks, state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.estimation.estimator import Estimator
from tabi.jit import entry
from tabi.jit.structure import arrays_of
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.pilot import EFFORT, POSITION, VELOCITY, Pilot, channel
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.lookup import freedoms, joint_rows
from tabi.model.robot import Robot
from tabi.walking.balance.stabiliser_tables import (
    Reference,
    StabiliserGains,
    StabiliserLoop,
    loop_of,
)
from tabi.walking.balance.ticks import PlannedWalk, Progress, StabilisedWalk
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.pattern import WalkingPattern

Array = NDArray[np.float64]


class GaitController(Controller):
    """A controller that is asked once in every tick of a gait, ``rate=1/gait.tick``. It reads
    encoders, IMU and foot sensors, and no truth. A simulator asks it within its compiled loop;
    called as a function it says the same.

    Args:
        kernel: of a tick. period: of ticks [s].
        stabiliser: gains of its loops; None: nothing is read.
        estimator: of the body's inclination; the robot's own sensors unless given.
    """

    def __init__(
        self,
        kernel: Any,
        robot: Robot,
        period: float,
        stabiliser: StabiliserGains | None,
        estimator: Estimator | None,
    ) -> None:
        self.stabiliser = stabiliser
        self._estimator: Estimator | None = None
        if stabiliser is not None:
            self._estimator = Estimator(robot) if estimator is None else estimator
            missing = [side for side in SIDES if side not in self._estimator.feet]
            if missing:
                raise ModelError(
                    f"foot {missing[0]!r} of {robot.name} has no force sensor; a "
                    "stabiliser needs one: "
                    f'robot.add_sensor("{missing[0]}_force", "force", '
                    f'robot.feet["{missing[0]}"].body)'
                )
        self._kernel, self._period, self._joints = kernel, period, freedoms(robot)
        self._walk = self._fresh()
        self._ask = entry(kernel, self._walk)
        self._said = Command()

    def _fresh(self) -> Any:
        """A walk that has not begun: what the kernel works on."""
        raise NotImplementedError

    def _changing(self, walk: Any) -> list[Any]:
        """Of that, what ticks change."""
        progress = walk.progress
        parts = [walk.channel, progress.start, progress.tick, progress.span, progress.last]
        parts.append(progress.fell)
        if self.stabiliser is not None:
            loop = walk.loop
            parts += [walk.estimator, loop.smooth, loop.turn, loop.lower, loop.shift]
            parts += [loop.summed, loop.given_way, loop.answer, loop.effort, loop.zmp, loop.centre]
            course = loop.course
            parts += [course.base, course.turned, course.start, course.swung, course.stands]
            parts += [course.own, course.sent, course.aim, course.left, course.moved]
            parts += [course.position, course.rotation, course.under]
        return parts

    @property
    def begun(self) -> bool:
        """Whether it was asked for a command since the start, or since the last ``reset``."""
        return bool(self._walk.progress.tick[0] >= 0)

    @property
    def fell(self) -> bool:
        """Whether its sensors have said that the robot leans by more than 60°: it then holds its
        joints still. Without a stabiliser it reads none.
        """
        return bool(self._walk.progress.fell[0] >= 0)

    def reset(self) -> None:
        """Begin the walk anew with the next measurement."""
        new = arrays_of(self._changing(self._fresh()))
        self.restore_state([array.copy() for array in new])

    def save_state(self) -> list[Array]:
        """All that it remembers, for ``restore_state``."""
        return [array.copy() for array in arrays_of(self._changing(self._walk))]

    def restore_state(self, state: list[Array]) -> None:
        """Go on from where ``save_state`` was asked."""
        # in place: a simulator may know where it is
        for old, new in zip(arrays_of(self._changing(self._walk)), state, strict=True):
            old[...] = new

    def _begin(
        self, pattern: WalkingPattern, stabiliser: StabiliserGains | None
    ) -> PlannedWalk | StabilisedWalk:
        """A walk at the start of a pattern."""
        sensors = self._sensors()
        progress = Progress(
            start=np.full(1, np.inf),
            tick=np.full(1, -1),
            period=np.array([pattern.gait.tick]),
            span=np.array([pattern.gait.tick]),
            position=np.ascontiguousarray(pattern.position),
            effort=np.ascontiguousarray(pattern.effort),
            last=pattern.position[0].copy(),
            bounds=_bounds(pattern.biped),
            up=pattern.robot.placements()[pattern.robot.base].R[2].copy(),
            fell=np.full(1, -1),
        )
        ends = np.cumsum([0, *(width for _, width in sensors)])
        talk = channel(len(pattern.biped.joints), int(ends[-1]))
        if stabiliser is None or self._estimator is None:
            return PlannedWalk(talk, progress)
        model = pattern.biped.model.arrays
        gyro, accelerometer, *feet = range(len(sensors))
        place = [ends[gyro], ends[accelerometer + 1] - 3]
        for k in feet:
            place += [ends[k], sensors[k][1]]
        loop: StabiliserLoop = loop_of(pattern, stabiliser)
        return StabilisedWalk(
            channel=talk,
            progress=progress,
            model=model,
            estimator=self._estimator.fresh(),
            loop=loop,
            place=np.array(place, np.int64),
            foot=np.array([self._estimator.feet.index(side) for side in SIDES], np.int64),
            q_at=model.dof["q"][loop.body.v_at].astype(np.int64),
            halted=loop._replace(
                reference=Reference(*(np.array(part[:2]) for part in loop.reference))
            ),
            stop=np.full(1, -1),
            gap=np.zeros(2),
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
        talk = self._walk.channel
        return Pilot(self._kernel, self._walk, talk, names, self._period, self._joints)

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
        self._said = Command(position=q, velocity=v, effort=effort, over=self._period)
        return self._said


def _bounds(biped: Biped) -> Array:
    """Least and largest position, speed and effort of each joint of a command, shape (n, 4)."""
    dof = biped.model.arrays.dof[joint_rows(biped.model, biped.robot)]
    speed = np.minimum(
        dof["velocity_limit"], np.where(dof["no_load_speed"] > 0, dof["no_load_speed"], np.inf)
    )
    return np.column_stack([dof["lower"], dof["upper"], speed, dof["effort_limit"]])
