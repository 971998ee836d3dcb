"""What a robot feels of itself: its limbs as seen from its base, the load on its feet, its IMU.

Encoders tell where everything is from the base B, and how fast it moves there; nothing of this
needs to know where the base is. Of the frame F of a foot, of the IMU's frame I and of the centre of
mass,

    X_BF, ω_BF, v_BF,   X_BI, ω_BI, v_BI,   c_B, ċ_B                                            (1)
all in the base's axes. Joints without encoders count as unbent, but for rubber in the ankles, of
which the force sensor below tells what acts along each of its springs,

    K θ + D θ̇ = load                                                                           (3)

A force sensor at a foot tells its load along the sole's normal, and the centre of pressure

    c = (−τ_y, τ_x)/f_z                                                                         (2)
from the wrench about the origin of F, in its axes. A sole whose centre of pressure is well inside
its outline is flat on what it stands on: it cannot be turning about an edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.dynamics.workspace import allocate
from tabi.estimation import felt as kernels
from tabi.estimation.felt import Felt
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Model
from tabi.model.controllers.signals import Measurement
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]


class Moving(NamedTuple):
    """A frame from the base, (1): rotation, place [m], angular velocity [rad/s], velocity [m/s]."""

    R: Array
    p: Array
    w: Array
    v: Array

    def point(self, r: Array) -> tuple[Array, Array]:
        """Place and velocity of a point that is fixed at r in the frame."""
        arm = self.R @ r
        return self.p + arm, self.v + cross(self.w, arm)


class Limbs(NamedTuple):
    """A robot from its base, (1)."""

    imu: Moving
    feet: tuple[Moving, ...]
    centre: Array
    centre_velocity: Array


def cross(a: Array, b: Array) -> Array:
    """a × b; many times faster than NumPy's for one pair."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def read(sensor: Sensor, measurement: Measurement) -> Array:
    """What a sensor tells, calibrated where its reading is raw."""
    reading = measurement.sensors[sensor.name]
    if sensor.matrix is None and sensor.offset is None:
        return reading
    return sensor.calibrated(reading)


class BodySense:
    """What a robot's encoders, force sensors and IMU tell, from its measurements.

    Args:
        imu: name of a sensor of kind "imu", or names of a gyro and an accelerometer on one body;
            the robot's own unless given.
        feet: of each foot its sensor, of kind "force" or "touch"; all feet whose bodies have one
            unless given.
        margin: how far inside the outline of a flat sole its centre of pressure is [m].

    Attributes:
        feet: names, in the order of ``Limbs.feet``. weight: of the robot [N].
        lag: how old the reading of the IMU is, on the average [s].
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
                f"expected a floating base, of which something can be estimated"
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
        """That are read: gyro, accelerometer, which may be one, and those of the feet."""
        return (self._gyro, self._accelerometer, *self._sensors.values())

    def take(self, felt: Felt, measurement: Measurement) -> None:
        """Readings of a measurement, for kernels."""
        felt.position[:], felt.velocity[:] = measurement.position, measurement.velocity
        told = measurement.sensors
        felt.gyro[:] = told[self._gyro.name][:3]
        felt.acceleration[:] = told[self._accelerometer.name][-3:]
        for k, sensor in enumerate(self._sensors.values()):
            reading = read(sensor, measurement)
            felt.reading[k, : len(reading)] = reading

    def limbs(self, measurement: Measurement) -> Limbs:
        """(1), as the encoders tell, with rubber at rest under what is felt."""
        felt = self.fresh()
        self.take(felt, measurement)
        kernels.feel(self.model.arrays, felt, 0.0)
        frames = [
            Moving(row[:9].reshape(3, 3), row[9:12], row[12:15], row[15:]) for row in felt.frame
        ]
        return Limbs(frames[0], tuple(frames[1:]), felt.centre[:3], felt.centre[3:])

    def fresh(self) -> Felt:
        """Tables for kernels, with readings of nothing."""
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
        return Felt(
            position=np.zeros(len(rows)),
            velocity=np.zeros(len(rows)),
            q_at=model.arrays.dof["q"][rows].astype(np.int64),
            v_at=rows,
            gyro=np.zeros(3),
            acceleration=np.zeros(3),
            to_imu=_between(X, self._accelerometer, self._gyro).R.ravel().copy(),
            reading=np.zeros((n, 6)),
            kind=np.array([_kind(s) for s in self._sensors.values()], np.int64),
            sensor=np.array([_numbers(place) for place in sensors]),
            body=np.array([link.body for link in places], np.int64),
            placement=np.array([_numbers(link.placement) for link in places]),
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
            pressed=np.zeros((n, 5)),
            frame=np.zeros((n + 1, 18)),
            centre=np.zeros(6),
            work=allocate(model),
        )


def _kind(sensor: Sensor) -> int:
    if sensor.kind != "force":
        return kernels.TOUCH
    return kernels.FORCE if sensor.part else kernels.WRENCH


def _numbers(X: Transform) -> Array:
    return np.concatenate([X.R.ravel(), X.p])


def _edges(outline: Array, margin: float) -> Array:
    """Inward normals of a sole, and how far along them the centre of pressure of a flat one is."""
    edges = np.roll(outline, -1, axis=0) - outline
    inwards = np.column_stack([-edges[:, 1], edges[:, 0]])
    inwards /= np.linalg.norm(inwards, axis=1)[:, None]
    return np.column_stack([inwards, np.einsum("ij,ij->i", inwards, outline) + margin])


def _rubber(
    robot: Robot, foot: Foot, model: Model, number: int
) -> list[tuple[tuple[int, int, int], Array, tuple[float, float]]]:
    """Springs between a foot and its ankle: places, what acts along them, stiffness and damping."""
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
        turns = joint.kind == "revolute"
        along = np.concatenate([cross(centre, axis), axis] if turns else [axis, np.zeros(3)])
        places = number, model.q_index(joint.name), model.v_index(joint.name)
        springs.append((places, along, (joint.stiffness, joint.damping)))
    return springs


def _imu(robot: Robot, name: str | tuple[str, str] | None) -> tuple[Sensor, Sensor]:
    """The gyro and the accelerometer, which may be one sensor."""
    whole = [s for s in robot.sensors.values() if s.kind == "imu" and not s.part]
    if isinstance(name, str):
        sensor = _sensor(robot, name)
        if sensor not in whole:
            raise ModelError(
                f"sensor {name!r} of {robot.name} is of kind {sensor.kind!r}; expected an 'imu', "
                f"or a pair of names, of a 'gyro' and an 'accelerometer'"
            )
        return sensor, sensor
    if name is None and whole:
        return whole[0], whole[0]
    measuring = [
        [s for s in robot.sensors.values() if part in s.parts] for part in ("gyro", "accelerometer")
    ]
    if name is not None:
        named = [_sensor(robot, one) for one in name]
        measuring = [[s for s in some if s in named] for some in measuring]
    for gyro in measuring[0]:
        for accelerometer in measuring[1]:
            if _rigid(gyro.body) is _rigid(accelerometer.body):
                return gyro, accelerometer
    asked = "" if name is None else f" among {' and '.join(map(repr, name))}"
    raise ModelError(
        f"robot {robot.name!r} has no IMU{asked}; expected a sensor of kind 'imu', or a gyro and "
        f'an accelerometer on one body: robot.add_sensor("imu", "imu", body, position)'
    )


def _feet(robot: Robot, names: Mapping[str, str] | None) -> dict[str, Sensor]:
    """The sensor of each foot."""
    loads = [s for s in robot.sensors.values() if _tells_load(s)]
    # a force sensor knows more than one that only feels a touch
    loads.sort(key=lambda s: (s.kind != "force", bool(s.part)))
    found: dict[str, Sensor] = {}
    if names is None:
        for name, foot in robot.feet.items():
            own = [s for s in loads if _rigid(s.body) is _rigid(foot.body)]
            found |= {name: own[0]} if own else {}
    for name, told in (names or {}).items():
        if name not in robot.feet:
            raise unknown("foot", name, robot.name, robot.feet)
        foot, sensor = robot.feet[name], _sensor(robot, told)
        if not _tells_load(sensor) or _rigid(sensor.body) is not _rigid(foot.body):
            raise ModelError(
                f"sensor {told!r} of kind {sensor.kind!r} on body {sensor.body.name!r} does not "
                f"tell the load of foot {name!r}; expected one of kind 'force' or 'touch' on body "
                f"{foot.body.name!r}"
            )
        found[name] = sensor
    if not found:
        why = "no load sensor at a foot" if robot.feet else "no feet"
        raise ModelError(
            f"robot {robot.name!r} has {why}, so nothing tells what it stands on; expected feet "
            f"with a sensor of kind 'force' or 'touch' each: robot.add_foot(…), "
            f'robot.add_sensor(name, "force", robot.feet["left"].body)'
        )
    return found


def _tells_load(sensor: Sensor) -> bool:
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
