"""Proprioception of a robot: limbs in its base frame, foot loads, IMU readings.

Encoders measure positions and velocities in the frame of the base B, independently of the pose of
the base. For the frame F of a foot, the IMU's frame I and the centre of mass,

    X_BF, ω_BF, v_BF,   X_BI, ω_BI, v_BI,   c_B, ċ_B                                            (1)
all in the base's axes. Joints without encoders count as undeflected, except rubber in the ankles:
the force sensor below measures the load along each of its springs,

    K θ + D θ̇ = load                                                                           (3)

A force sensor at a foot measures its load along the sole's normal, and the centre of pressure

    c = (−τ_y, τ_x)/f_z                                                                         (2)
from the wrench about the origin of F, in its axes. A sole whose centre of pressure is well inside
its outline is flat on its support: it cannot be rotating about an edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.dynamics.workspace import allocate
from tabi.estimation import body_state as kernels
from tabi.estimation.body_state import BodyState
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Model
from tabi.model.controllers.signals import Measurement
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]


class FrameMotion(NamedTuple):
    """Pose and velocity of a frame in the base frame, (1): rotation, position [m], angular velocity
    [rad/s], velocity [m/s].
    """

    R: Array
    p: Array
    w: Array
    v: Array

    def point(self, r: Array) -> tuple[Array, Array]:
        """Return position and velocity of a point fixed at r in the frame."""
        arm = self.R @ r
        return self.p + arm, self.v + cross(self.w, arm)


class Limbs(NamedTuple):
    """Limbs of a robot in its base frame, (1)."""

    imu: FrameMotion
    feet: tuple[FrameMotion, ...]
    centre: Array
    centre_velocity: Array


def cross(a: Array, b: Array) -> Array:
    """Return a × b; many times faster than NumPy's for one pair."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def read(sensor: Sensor, measurement: Measurement) -> Array:
    """Return a sensor's reading, calibrated where it is raw."""
    reading = measurement.sensors[sensor.name]
    if sensor.matrix is None and sensor.offset is None:
        return reading
    return sensor.calibrated(reading)


class BodySense:
    """Proprioception of a robot from measurements of its encoders, force sensors and IMU.

    Args:
        imu: name of a sensor of kind "imu", or names of a gyro and an accelerometer on one body;
            default: that of the robot.
        feet: sensor of each foot, of kind "force" or "touch"; default: of all feet whose bodies
            have one.
        margin: distance of the centre of pressure inside the outline of a flat sole [m].

    Attributes:
        feet: names, in the order of ``Limbs.feet``. weight: of the robot [N].
        lag: average age of the IMU reading [s].
    """

    def __init__(
        self,
        robot: Robot,
        imu: str | tuple[str, str] | None = None,
        feet: Mapping[str, str] | None = None,
        margin: float = 0.01,
    ) -> None:
        if robot.base.joint.kind != "floating":
            raise ModelError(
                f"robot {robot.name!r} is bolted to the world by its base {robot.base.name!r}; "
                f"expected a floating base, to estimate its state"
            )
        self.model = model = robot.compile()
        self._gyro, self._accelerometer = _imu(robot, imu)
        self._sensors = _feet(robot, feet)
        self.feet = tuple(self._sensors)
        self._soles = [robot.feet[name] for name in self.feet]
        self.outlines = [sole.polygon for sole in self._soles]
        self.lag = self._gyro.delay + (0.5 / self._gyro.rate if self._gyro.rate else 0.0)
        if self._gyro.bandwidth:
            self.lag += 1.0 / (2.0 * np.pi * self._gyro.bandwidth)
        self.gravity = np.array(model.arrays.gravity)
        self.weight = robot.mass * float(np.linalg.norm(self.gravity))
        self._robot, self._margin = robot, margin

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Sensors in use: gyro, accelerometer, which may be one, and those of the feet."""
        return (self._gyro, self._accelerometer, *self._sensors.values())

    def load_readings(self, body_state: BodyState, measurement: Measurement) -> None:
        """Write the readings of a measurement to the tables of kernels."""
        body_state.position[:], body_state.velocity[:] = measurement.position, measurement.velocity
        readings = measurement.sensors
        body_state.gyro[:] = readings[self._gyro.name][:3]
        body_state.acceleration[:] = readings[self._accelerometer.name][-3:]
        for k, sensor in enumerate(self._sensors.values()):
            reading = read(sensor, measurement)
            body_state.reading[k, : len(reading)] = reading

    def limbs(self, measurement: Measurement) -> Limbs:
        """Return (1) from the encoders, with rubber at rest under the measured load."""
        body_state = self.fresh()
        self.load_readings(body_state, measurement)
        kernels.update_body_state(self.model.arrays, body_state, 0.0)
        frames = [
            FrameMotion(row[:9].reshape(3, 3), row[9:12], row[12:15], row[15:])
            for row in body_state.frame
        ]
        return Limbs(frames[0], tuple(frames[1:]), body_state.centre[:3], body_state.centre[3:])

    def fresh(self) -> BodyState:
        """Return tables for kernels, with zero readings."""
        robot, model, n = self._robot, self.model, len(self.feet)
        rows, X = joint_rows(model, robot), robot.placements()
        places = [model.sensors[self._accelerometer.name], *(model.feet[x] for x in self.feet)]
        sensors = [
            _between(X, f, s) for f, s in zip(self._soles, self._sensors.values(), strict=True)
        ]
        edge, q = np.zeros((n, max(map(len, self.outlines)), 3)), model.initial()
        for k, outline in enumerate(self.outlines):
            edge[k, : len(outline)] = _edges(outline, self._margin)
        start = model.arrays.body["q_start"][model.links[robot.base.name].body]
        q[start : start + 7] = (0, 0, 0, 1, 0, 0, 0)
        springs = [
            row for k, foot in enumerate(self._soles) for row in _rubber(robot, foot, model, k)
        ]
        return BodyState(
            position=np.zeros(len(rows)),
            velocity=np.zeros(len(rows)),
            q_at=model.arrays.dof["q"][rows].astype(np.int64),
            v_at=rows,
            gyro=np.zeros(3),
            acceleration=np.zeros(3),
            to_imu=_between(X, self._accelerometer, self._gyro).R.ravel().copy(),
            reading=np.zeros((n, 6)),
            kind=np.array([_kind(s) for s in self._sensors.values()], np.int64),
            sensor=np.array([_row(place) for place in sensors]),
            body=np.array([link.body for link in places], np.int64),
            placement=np.array([_row(link.placement) for link in places]),
            edge=edge,
            edge_count=np.array([len(outline) for outline in self.outlines], np.int64),
            box=np.array(
                [np.array([o.min(axis=0), o.max(axis=0)]).T.ravel() for o in self.outlines]
            ),
            middle=np.array([o.mean(axis=0) for o in self.outlines]),
            spring=np.array([row[0] for row in springs], np.int64).reshape(-1, 3),
            along=np.array([row[1] for row in springs]).reshape(-1, 6),
            stiffness=np.array([row[2] for row in springs]).reshape(-1, 2),
            q=q,
            v=np.zeros(model.v_count),
            wrench=np.zeros((n, 6)),
            pressure=np.zeros((n, 5)),
            frame=np.zeros((n + 1, 18)),
            centre=np.zeros(6),
            work=allocate(model),
        )


def _kind(sensor: Sensor) -> int:
    if sensor.kind != "force":
        return kernels.TOUCH
    return kernels.FORCE if sensor.part else kernels.WRENCH


def _row(X: Transform) -> Array:
    return np.concatenate([X.R.ravel(), X.p])


def _edges(outline: Array, margin: float) -> Array:
    """Return inward normals of a sole, and the minimum distance along them of a flat sole's centre
    of pressure.
    """
    edges = np.roll(outline, -1, axis=0) - outline
    inwards = np.column_stack([-edges[:, 1], edges[:, 0]])
    inwards /= np.linalg.norm(inwards, axis=1)[:, None]
    return np.column_stack([inwards, np.einsum("ij,ij->i", inwards, outline) + margin])


def _rubber(
    robot: Robot, foot: Foot, model: Model, number: int
) -> list[tuple[tuple[int, int, int], Array, tuple[float, float]]]:
    """Return the springs between a foot and its ankle: indices, loads along them, stiffness and
    damping.
    """
    if robot.bush is None or foot.name not in robot.bush.feet:
        return []
    X, joints, springs = robot.placements(robot.at_zero()), robot.bush.feet[foot.name], []
    sole = X[foot.body] @ foot.placement
    for body in robot.bodies:
        joint = body.joint
        if joint.name not in (joints.roll, joints.pitch, joints.z):
            continue
        axis = sole.R.T @ X[body].R @ np.asarray(joint.axis, float)
        centre = sole.inverse() @ X[body].p
        # the moment about the axis, of a force at the foot's frame: axis · (n − centre × f)
        is_revolute = joint.kind == "revolute"
        along = np.concatenate([cross(centre, axis), axis] if is_revolute else [axis, np.zeros(3)])
        indices = number, model.q_index(joint.name), model.v_index(joint.name)
        springs.append((indices, along, (joint.stiffness, joint.damping)))
    return springs


def _imu(robot: Robot, name: str | tuple[str, str] | None) -> tuple[Sensor, Sensor]:
    """Return the gyro and the accelerometer, which may be one sensor."""
    imus = [s for s in robot.sensors.values() if s.kind == "imu" and not s.part]
    if isinstance(name, str):
        sensor = _sensor(robot, name)
        if sensor not in imus:
            raise ModelError(
                f"sensor {name!r} of {robot.name} is of kind {sensor.kind!r}; expected an 'imu', "
                f"or a pair of names, of a 'gyro' and an 'accelerometer'"
            )
        return sensor, sensor
    if name is None and imus:
        return imus[0], imus[0]
    measuring = [
        [s for s in robot.sensors.values() if part in s.parts] for part in ("gyro", "accelerometer")
    ]
    if name is not None:
        specified = [_sensor(robot, part) for part in name]
        measuring = [[s for s in sensors if s in specified] for sensors in measuring]
    for gyro in measuring[0]:
        for accelerometer in measuring[1]:
            if _rigid(gyro.body) is _rigid(accelerometer.body):
                return gyro, accelerometer
    among = "" if name is None else f" among {' and '.join(map(repr, name))}"
    raise ModelError(
        f"robot {robot.name!r} has no IMU{among}; expected a sensor of kind 'imu', or a gyro and "
        f'an accelerometer on one body: robot.add_sensor("imu", "imu", body, position)'
    )


def _feet(robot: Robot, names: Mapping[str, str] | None) -> dict[str, Sensor]:
    """Return the sensor of each foot."""
    loads = [s for s in robot.sensors.values() if _measures_load(s)]
    # prefer force sensors to touch sensors
    loads.sort(key=lambda s: (s.kind != "force", bool(s.part)))
    by_foot: dict[str, Sensor] = {}
    if names is None:
        for name, foot in robot.feet.items():
            on_foot = [s for s in loads if _rigid(s.body) is _rigid(foot.body)]
            by_foot |= {name: on_foot[0]} if on_foot else {}
    for name, sensor_name in (names or {}).items():
        if name not in robot.feet:
            raise unknown("foot", name, robot.name, robot.feet)
        foot, sensor = robot.feet[name], _sensor(robot, sensor_name)
        if not _measures_load(sensor) or _rigid(sensor.body) is not _rigid(foot.body):
            raise ModelError(
                f"sensor {sensor_name!r} of kind {sensor.kind!r} on body {sensor.body.name!r} does "
                f"not measure the load of foot {name!r}; expected kind 'force' or 'touch' on "
                f"body {foot.body.name!r}"
            )
        by_foot[name] = sensor
    if not by_foot:
        missing = "no load sensor at a foot" if robot.feet else "no feet"
        raise ModelError(
            f"robot {robot.name!r} has {missing}, so its stance feet are unknown; expected feet "
            f"with a sensor of kind 'force' or 'touch' each: robot.add_foot(…), "
            f'robot.add_sensor(name, "force", robot.feet["left"].body)'
        )
    return by_foot


def _measures_load(sensor: Sensor) -> bool:
    return sensor.kind == "touch" or (sensor.kind == "force" and "force" in sensor.parts)


def _sensor(robot: Robot, name: str) -> Sensor:
    if name not in robot.sensors:
        raise unknown("sensor", name, robot.name, robot.sensors)
    return robot.sensors[name]


def _rigid(body: Body) -> Body:
    """The first of the bodies that are one with this."""
    while body.parent is not None and body.joint.kind == "fixed":
        body = body.parent
    return body


def _between(X: Mapping[Body, Transform], a: Frame, b: Frame) -> Transform:
    """X_AB of two frames on bodies that are one."""
    return (X[a.body] @ a.placement).inverse() @ (X[b.body] @ b.placement)
