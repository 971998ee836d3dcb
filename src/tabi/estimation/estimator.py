"""State estimation: pose and velocity of a robot from its IMU, encoders and foot sensors.

Frames: W the world, B the base, I the IMU, F a foot. b is the gyro's bias, g gravity. The IMU
measures

    gyro = ω_WI + b + noise,   f = R_WIᵀ (a_I − g) + noise                                      (1)
Attitude is the gyro's integral, rotated so that measured gravity is vertical: a complementary
filter on the rotations (Mahony, Hamel and Pflimlin),

    Ṙ_WI = R_WI [ω]× + [k_P e]× R_WI,   ω = gyro − b,   e = n/|n| × z                           (2)
    ḃ = −k_I R_WIᵀ e                                                                            (3)
n is the measured gravity in the world's axes. An accelerometer alone measures it at rest only; the
feet give the acceleration of the IMU. A point C of a stance foot, its centre of pressure, is at
rest, so that base and IMU move with

    ω_WB = R_BI ω − ω_BI,   v_B = −(ω_WB × r_BC + ṙ_BC),   v_I = v_B + ω_WB × p_BI + v_BI       (4)
in the base's axes, and, with a low-pass of the first order,

    n = lowpass(R_WI f − d/dt (R_WB v_I))                                                       (5)
(4) allows a foot to rotate: it may roll over its edge. A flat foot does not, and predicts the gyro
reading; the mean difference is the bias:

    ḃ = k_B (gyro − b − R_BIᵀ (ω_BI − ω_BF))                                                    (6)
A foot that rolls over an edge rotates about that edge, and a foot under a moving robot may rotate
with its support, always in the same sense in a walk: both still measure the part of (6) along the
vertical, which gravity does not. Their gain is a fiftieth, as feet rotate back and forth in each
step. On level ground a flat sole also measures the vertical: k_L rotates it level as k_P does n.
Yaw is an integral and drifts with the remaining bias.

The base position follows from the landed feet: with shares s of the load,

    p_WB = Σ s (p_WF,landed − R_WB p_BF),   v_WB = Σ s R_WB v_B                                 (7)
The position of a foot that rolls about C moves with it, ṗ_WF = ω_WF × (p_WF − p_WC). With no foot
on the ground the accelerometer is integrated and (2) uses its gyro only.

Start: the robot stands, both soles flat. The vertical and the bias are from the first reading,
heading and position are parameters. Gains begin at 1/t, which averages the readings, until they
reach the specified gains.
Delay: (2) to (6) run at the time of the IMU's sample, with the limbs of that time; the gyro
integrates the attitude from there to now.

Reference: R. Mahony, T. Hamel, J.-M. Pflimlin, Nonlinear complementary filters on the special
orthogonal group, IEEE Trans. Automatic Control 53 (2008) 1203–1218.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.estimation import kernels as estimation
from tabi.estimation.body_sense import BodySense, read
from tabi.estimation.kernels import CLOCK, SETTINGS, EstimatorState
from tabi.jit import entry
from tabi.model.arrays import table
from tabi.model.controllers.controller import Rewindable
from tabi.model.controllers.signals import Measurement
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]
# samples stored for a delayed IMU
MAX_SAMPLES = 64


@dataclass(frozen=True)
class EstimatorGains:
    """Correction rates of an estimator.

    Attributes:
        gravity: k_P, accelerometer → vertical [1/s].
        bias: k_I, accelerometer → gyro bias [1/s²].
        stance: k_B, flat foot → gyro bias [1/s].
        level: k_L, flat sole → vertical [1/s]; 0 where ground may slope or feet be soft.
        bandwidth: of the low-pass of (5) [Hz].
        least_load: share of the robot's weight below which a foot is no stance foot.

    Examples:
        >>> gains = tabi.control.EstimatorGains(gravity=0.2)
        >>> estimator = tabi.control.Estimator(robot, gains=gains)
    """

    gravity: float = 0.5
    bias: float = 0.01
    stance: float = 0.5
    level: float = 0.0
    bandwidth: float = 5.0
    least_load: float = 0.05

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= real(f"gain {field.name!r} of the estimator", value) < inf:
                raise ModelError(
                    f"gain {field.name!r} of the estimator is {value}; expected a number ≥ 0"
                )


@dataclass(frozen=True, eq=False)
class StateEstimate:
    """Estimated state of a robot, in the world's axes.

    Attributes:
        base: X_WB. base_velocity: linear, of its origin, and angular.
        centre_of_mass: [m]. centre_of_mass_velocity: [m/s].
        gyro_bias: in the IMU's axes [rad/s].
        stance: share of the load on each foot, sum 1, or all 0 with no foot on the ground.

    Examples:
        >>> estimator = tabi.control.Estimator(robot)
        >>> base = estimator(sim.time, sim.measure(robot)).base
    """

    base: Transform
    base_velocity: Twist
    centre_of_mass: Array
    centre_of_mass_velocity: Array
    gyro_bias: Array
    stance: Mapping[str, float]


class Estimator(Rewindable):
    """State estimator, called in every period of a controller: ``estimate = estimator(time,
    measurement)``. It uses no ground truth.

    Args:
        imu: name of a sensor, or names of a gyro and an accelerometer; default: found on the robot.
        feet: force or touch sensor of each foot; default: found on the robot.
        delay: of the IMU [s]; default: that of the robot's sensor, and half its sampling time.
        start: pose of the base at the start; default: as the robot was placed. Tilt and height are
            measured: the lowest sole is on the ground.
        gains: see ``EstimatorGains``.

    Examples:
        >>> estimator = tabi.control.Estimator(robot)
        >>> estimate = estimator(sim.time, sim.measure(robot))
    """

    MEMORY = ("_last", "state")

    def __init__(
        self,
        robot: Robot,
        imu: str | tuple[str, str] | None = None,
        feet: Mapping[str, str] | None = None,
        delay: float | None = None,
        start: Transform | None = None,
        gains: EstimatorGains | None = None,
    ) -> None:
        self._body_sense, self.gains = BodySense(robot, imu, feet), gains or EstimatorGains()
        self.delay = (
            self._body_sense.lag if delay is None else real("delay of the estimator", delay)
        )
        if not 0 <= self.delay < inf:
            raise ModelError(f"delay of the estimator is {delay} s; expected a number ≥ 0")
        self._start = robot.placements()[robot.base] if start is None else start
        self._ground = robot.ground_height
        self._model = self._body_sense.model.arrays
        # machine code, at the first call
        self._estimate: Any = None
        self.reset()

    def reset(self) -> None:
        """Restart with the next measurement."""
        self._last: tuple[float, StateEstimate] | None = None
        self.state = self.fresh()

    @property
    def feet(self) -> tuple[str, ...]:
        """Names of the feet whose loads are measured."""
        return self._body_sense.feet

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Sensors in use: gyro and accelerometer, which may be one IMU, and those of the feet."""
        return self._body_sense.sensors

    def read(self, sensor: Sensor, measurement: Measurement) -> Array:
        """Return a sensor's reading, calibrated where it is raw."""
        return read(sensor, measurement)

    def fresh(self) -> EstimatorState:
        """Return the state before the first measurement."""
        sense, feet = self._body_sense, len(self._body_sense.feet)
        g = float(np.linalg.norm(sense.gravity))
        settings, soles = table(1, SETTINGS), sense.outlines
        for field in fields(self.gains):
            settings[0][field.name] = getattr(self.gains, field.name)
        settings[0]["weight"], settings[0]["g"] = sense.weight, g
        settings[0]["delay"] = self.delay
        corner = np.zeros((feet, max(map(len, soles)), 2))
        for k, sole in enumerate(soles):
            corner[k, : len(sole)] = sole
        return EstimatorState(
            settings=settings,
            clock=table(1, CLOCK),
            g=sense.gravity.copy(),
            start=np.concatenate([self._start.R.ravel(), self._start.p]),
            ground=np.array([self._ground]),
            R_WI=np.eye(3).ravel(),
            bias=np.zeros(3),
            n=np.array([0.0, 0.0, g]),
            imu_velocity=np.zeros(3),
            past_time=np.zeros(MAX_SAMPLES),
            past=np.zeros((MAX_SAMPLES, 1 + feet, 18)),
            past_count=np.zeros(1, np.int64),
            landed=np.zeros((feet, 3)),
            has_landed=np.zeros(feet, np.int64),
            corner=corner,
            corner_count=np.array([len(sole) for sole in soles], np.int64),
            share=np.zeros(feet),
            base=np.zeros(18),
            centre=np.zeros(6),
            body_state=sense.fresh(),
        )

    def update(self, time: float, measurement: Measurement) -> EstimatorState:
        """Update the state by a measurement and return its arrays, which the next call overwrites;
        a time in the past restarts it.
        """
        clock = self.state.clock[0]
        if clock["has_started"] and time < clock["time"]:
            self.reset()
        state = self.state
        self._body_sense.load_readings(state.body_state, measurement)
        if self._estimate is None:
            self._estimate = entry(estimation.estimate, self._model, state, float(time))
        self._estimate(self._model, state, float(time))
        return state

    def __call__(self, time: float, measurement: Measurement) -> StateEstimate:
        """Return the estimate now; a time in the past restarts the estimator."""
        if self._last is not None and time == self._last[0]:
            return self._last[1]
        if self._last is not None and time < self._last[0]:
            self.reset()
        state = self.update(time, measurement)
        base, centre = state.base.copy(), state.centre.copy()
        estimate = StateEstimate(
            Transform(base[:9].reshape(3, 3), base[9:12]),
            Twist(base[12:15], base[15:]),
            centre[:3],
            centre[3:],
            state.bias.copy(),
            dict(zip(self._body_sense.feet, state.share.tolist(), strict=True)),
        )
        self._last = time, estimate
        return estimate
