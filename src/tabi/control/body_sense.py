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
from tabi.dynamics import centroidal, kinematics
from tabi.dynamics.workspace import allocate
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Link, Model
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.signals import Measurement
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


class Pressed(NamedTuple):
    """A foot's load [N], its centre of pressure in the foot's frame [m], and whether the sole is
    flat on the ground.
    """

    load: float
    centre: Array
    flat: bool


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
        model = robot.compile()
        self._model, self._work = model, allocate(model)
        self._gyro, self._accelerometer = _imu(robot, imu)
        sensors = _feet(robot, feet)
        self.feet = tuple(sensors)
        self.lag = self._gyro.delay + (0.5 / self._gyro.rate if self._gyro.rate else 0.0)
        if self._gyro.bandwidth:
            self.lag += 1.0 / (2.0 * np.pi * self._gyro.bandwidth)
        self._places = [model.sensors[self._accelerometer.name]]
        self._places += [model.feet[name] for name in sensors]
        self._soles = [
            _Sole(robot, robot.feet[name], s, margin, model) for name, s in sensors.items()
        ]
        rows = joint_rows(model, robot)
        place = model.arrays.dof["q"][rows]
        # joints of three degrees of freedom have no single position
        self._single, self._q_at, self._v_at = place >= 0, place[place >= 0], rows
        self._root = model.links[robot.base.name].body
        self._q, self._v = model.initial(), np.zeros(model.v_count)
        start = model.arrays.body["q_start"][self._root]
        self._q[start : start + 7] = (0, 0, 0, 1, 0, 0, 0)
        self.gravity = np.array(model.arrays.gravity)
        self.weight = robot.mass * float(np.linalg.norm(self.gravity))
        X = robot.placements()
        self._R_IG = _between(X, self._accelerometer, self._gyro).R

    def limbs(self, measurement: Measurement) -> Limbs:
        """(1), as the encoders tell."""
        model, work, q, v = self._model, self._work, self._q, self._v
        q[self._q_at], v[self._v_at] = measurement.position[self._single], measurement.velocity
        kinematics.positions(model.arrays, q, work)
        kinematics.velocities(model.arrays, v, work)
        mass, centre, momentum, _ = centroidal.tree_momentum(model.arrays, work, self._root)
        frames = [self._frame(link) for link in self._places]
        return Limbs(
            frames[0], tuple(frames[1:]), np.array(centre), np.array(momentum) * (1.0 / mass)
        )

    def _frame(self, link: Link) -> Moving:
        body = self._work.body[link.body]
        R, V = body["rotation"].reshape(3, 3), body["velocity"]
        p = body["position"] + R @ link.placement.p
        return Moving(R @ link.placement.R, p, V[:3].copy(), V[3:] + cross(V[:3], p))

    def inertial(self, measurement: Measurement) -> tuple[Array, Array]:
        """Angular velocity [rad/s] and acceleration less gravity [m/s²], in the IMU's axes."""
        gyro, accelerometer = (
            measurement.sensors[s.name] for s in (self._gyro, self._accelerometer)
        )
        return self._R_IG @ gyro[:3], accelerometer[-3:]

    def pressed(self, measurement: Measurement) -> list[Pressed]:
        """Of each foot."""
        return [sole.pressed(measurement) for sole in self._soles]

    def wrench(self, foot: str, measurement: Measurement) -> Array:
        """Of the ground on a foot, at its frame's origin in its axes [N, N·m], shape (6,)."""
        return self._soles[self.feet.index(foot)].wrench(measurement)

    def bend(self, measurement: Measurement, dt: float) -> None:
        """Rubber, by what is felt below it, (3), over dt [s] since the last time; at rest for 0."""
        for sole in self._soles:
            if sole.rubber:
                wrench = sole.wrench(measurement)
                for spring in sole.rubber:
                    spring.bend(self._q, self._v, wrench, dt)

    def lowest(self, limbs: Limbs, R: Array) -> float:
        """Height of the lowest corner of a sole above the base [m], whose axes R turns to the
        world's.
        """
        return min(
            float(((foot.p + sole.corners @ foot.R.T) @ R[2]).min())
            for foot, sole in zip(limbs.feet, self._soles, strict=True)
        )


class _Sole:
    """A foot with its sensor; ``corners`` of its outline in its frame, shape (n, 3)."""

    def __init__(
        self, robot: Robot, foot: Foot, sensor: Sensor, margin: float, model: Model
    ) -> None:
        self._sensor = sensor
        self._X_FS = _between(robot.placements(), foot, sensor)
        polygon = foot.polygon
        self.corners = np.column_stack([polygon, np.zeros(len(polygon))])
        edges = np.roll(polygon, -1, axis=0) - polygon
        inwards = np.column_stack([-edges[:, 1], edges[:, 0]])
        self._inwards = inwards / np.linalg.norm(inwards, axis=1)[:, None]
        self._least = np.einsum("ij,ij->i", self._inwards, polygon) + margin
        self._low, self._high = self.corners.min(axis=0), self.corners.max(axis=0)
        self._middle = self.corners.mean(axis=0)
        self.rubber = _rubber(robot, foot, model)

    def wrench(self, measurement: Measurement) -> Array:
        """Force and torque at the foot's frame, in its axes; torque 0 where none is measured."""
        read_, X, out = read(self._sensor, measurement), self._X_FS, np.zeros(6)
        if self._sensor.kind == "force":
            out[:3] = X.R @ read_[:3]
            turn = X.R @ read_[3:] if len(read_) == 6 else np.zeros(3)
            out[3:] = turn + cross(X.p, out[:3])
        else:
            out[2] = read_[0]
        return out

    def pressed(self, measurement: Measurement) -> Pressed:
        """Load and centre of pressure, (2)."""
        sensor = self._sensor
        wrench = read(sensor, measurement)
        if sensor.kind != "force" or sensor.part:
            # no torque: the middle, and nothing against flat
            load = float((self._X_FS.R @ wrench)[2]) if sensor.part else float(wrench[0])
            return Pressed(load, self._middle, True)
        wrench = self.wrench(measurement)
        force, torque = wrench[:3], wrench[3:]
        if not force[2] > 0:
            return Pressed(float(force[2]), self._middle, False)
        c = np.array([-torque[1], torque[0], 0.0]) * (1.0 / force[2])
        flat = bool((self._inwards @ c[:2] >= self._least).all())
        return Pressed(float(force[2]), np.minimum(np.maximum(c, self._low), self._high), flat)


class _Spring(NamedTuple):
    """A joint of rubber: its places in q and v, what of a wrench on the foot acts along it, its
    stiffness and damping.
    """

    q: int
    v: int
    along: Array
    stiffness: float
    damping: float

    def bend(self, q: Array, v: Array, wrench: Array, dt: float) -> None:
        """Equation (3), at the end of dt."""
        load, before = float(self.along @ wrench), float(q[self.q])
        rate = self.damping / dt if dt > 0 else 0.0
        q[self.q] = (load + rate * before) / (self.stiffness + rate)
        v[self.v] = (q[self.q] - before) / dt if dt > 0 else 0.0


def _rubber(robot: Robot, foot: Foot, model: Model) -> list[_Spring]:
    """Springs between a foot and its ankle."""
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
        q, v = model.q_index(joint.name), model.v_index(joint.name)
        springs.append(_Spring(q, v, along, joint.stiffness, joint.damping))
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
