"""Base class of walking controllers: sensors, ticks, state."""

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
from tabi.walking.balance.stabiliser_tables import StabiliserGains, StabiliserLoop, loop_of
from tabi.walking.balance.ticks import BalancedWalk, PlannedWalk, Progress
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.pattern import WalkingPattern

Array = NDArray[np.float64]


class GaitController(Controller):
    """Base class of controllers that compute one command per tick of a gait, ``rate=1/gait.tick``.
    It reads encoders, IMU and foot sensors, and no ground truth. A simulator runs it within its
    compiled loop; called as a function it returns the same command.

    Args:
        kernel: function of one tick. period: of ticks [s].
        stabiliser: gains of its loops; None: no sensor is read.
        estimator: of the body's inclination; default: from the robot's sensors.
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
        self._compute = entry(kernel, self._walk)
        self._command = Command()

    def _fresh(self) -> Any:
        """Return a walk before its first tick: the structure that the kernel works on."""
        raise NotImplementedError

    def _changing(self, walk: Any) -> list[Any]:
        """Return the parts of a walk that ticks change."""
        progress = walk.progress
        parts = [walk.channel, progress.start, progress.tick, progress.span, progress.last]
        parts.append(progress.fell)
        if self.stabiliser is not None:
            loop = walk.loop
            parts += [
                walk.estimator,
                loop.smooth_wrench,
                loop.foot_rotation,
                loop.foot_lowering,
                loop.swing_correction,
            ]
            parts += [
                loop.error_integral,
                loop.rubber_rotation,
                loop.q_desired,
                loop.effort,
                loop.zmp,
                loop.centre,
            ]
            course = loop.course
            parts += [
                course.base,
                course.yaw_offset,
                course.start,
                course.last_swing,
                course.pivot_pose,
            ]
            parts += [
                course.landing_error,
                course.landing_correction,
                course.landing_shift,
                course.lift_offset,
                course.offset,
            ]
            parts += [course.position, course.rotation, course.under]
        return parts

    @property
    def begun(self) -> bool:
        """Whether it has computed a command since the start, or since the last ``reset``."""
        return bool(self._walk.progress.tick[0] >= 0)

    @property
    def fell(self) -> bool:
        """Whether its sensors report that the robot leans by more than 60°: it then holds its
        joints still. Without a stabiliser it reads none.
        """
        return bool(self._walk.progress.fell[0] >= 0)

    def reset(self) -> None:
        """Begin the walk again with the next measurement."""
        new = arrays_of(self._changing(self._fresh()))
        self.restore_state([array.copy() for array in new])

    def save_state(self) -> list[Array]:
        """Return its state, for ``restore_state``."""
        return [array.copy() for array in arrays_of(self._changing(self._walk))]

    def restore_state(self, state: list[Array]) -> None:
        """Continue from a state of ``save_state``."""
        # in place: a simulator may hold its address
        for old, new in zip(arrays_of(self._changing(self._walk)), state, strict=True):
            old[...] = new

    def _begin(
        self, pattern: WalkingPattern, stabiliser: StabiliserGains | None
    ) -> PlannedWalk | BalancedWalk:
        """Return a walk at the start of a pattern."""
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
        channel_ = channel(len(pattern.biped.joints), int(ends[-1]))
        if stabiliser is None or self._estimator is None:
            return PlannedWalk(channel_, progress)
        model = pattern.biped.model.arrays
        gyro, accelerometer, *feet = range(len(sensors))
        slices = [ends[gyro], ends[accelerometer + 1] - 3]
        for k in feet:
            slices += [ends[k], sensors[k][1]]
        loop: StabiliserLoop = loop_of(pattern, stabiliser)
        return BalancedWalk(
            channel=channel_,
            progress=progress,
            model=model,
            estimator=self._estimator.fresh(),
            loop=loop,
            sensor_slices=np.array(slices, np.int64),
            foot_index=np.array([self._estimator.feet.index(side) for side in SIDES], np.int64),
            q_at=model.dof["q"][loop.body.v_at].astype(np.int64),
        )

    def _sensors(self) -> list[tuple[str, int]]:
        """Return names and widths of the sensors in use: gyro, accelerometer, feet."""
        if self._estimator is None:
            return []
        return [(sensor.name, sensor.width) for sensor in self._estimator.sensors]

    def pilot(self) -> Pilot | None:
        """Return the kernel for the compiled loop of a simulator; None for sensors with raw
        readings, as these are calibrated in Python.
        """
        sensors = [] if self._estimator is None else self._estimator.sensors
        if any(sensor.matrix is not None or sensor.offset is not None for sensor in sensors):
            return None
        names = tuple(name for name, _ in self._sensors())
        channel_ = self._walk.channel
        return Pilot(self._kernel, self._walk, channel_, names, self._period, self._joints)

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the command until the next tick; a time in the past begins the walk again."""
        channel_ = self._walk.channel
        if time < channel_.time[0]:
            self.reset()
        channel_.time[0] = time
        channel_.position[:], channel_.velocity[:] = measurement.position, measurement.velocity
        if self._estimator is not None:
            first = 0
            for sensor in self._estimator.sensors:
                end = first + sensor.width
                channel_.reading[first:end] = self._estimator.read(sensor, measurement)
                first = end
        self._compute(self._walk)
        if channel_.command_mask[0] == 0:
            # called again within a tick
            return self._command
        q, v, effort = (channel_.command[row] for row in (POSITION, VELOCITY, EFFORT))
        self._command = Command(position=q, velocity=v, effort=effort, over=self._period)
        return self._command


def _bounds(biped: Biped) -> Array:
    """Return position limits, velocity and effort limit of each commanded joint, shape (n, 4)."""
    dof = biped.model.arrays.dof[joint_rows(biped.model, biped.robot)]
    speed = np.minimum(
        dof["velocity_limit"], np.where(dof["no_load_speed"] > 0, dof["no_load_speed"], np.inf)
    )
    return np.column_stack([dof["lower"], dof["upper"], speed, dof["effort_limit"]])
