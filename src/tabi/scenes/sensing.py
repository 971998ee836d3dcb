"""Sensors and force plates that a scene gives its robots and things."""

from __future__ import annotations

from typing import Any

from tabi._errors import ModelError, unknown
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.world import World
from tabi.scenes.keys.robots import RobotKeys
from tabi.scenes.keys.sensors import Measuring, PlateKeys, SensorKeys
from tabi.scenes.places import Places
from tabi.scenes.reader import Path
from tabi.scenes.solids import placement

# key of a file → option of a sensor; what is measured comes first
OPTIONS = {
    "part": "part",
    "rate_hz": "rate",
    "delay_s": "delay",
    "noise": "noise",
    "bias": "bias",
    "drift": "drift",
    "resolution": "resolution",
    "limit": "limit",
    "bandwidth_hz": "bandwidth",
    "matrix": "matrix",
    "offset": "offset",
    "threshold_n": "threshold",
}
# keys that are for new sensors
NEW = ("kind", "body", "position_m", "quaternion")


def options_of(keys: Measuring) -> dict[str, Any]:
    """Return the options that a file specifies, by the names of its keys."""
    options = {key: getattr(keys, key, None) for key in OPTIONS}
    return {key: value for key, value in options.items() if value is not None}


def add_sensors(builder: Places, robot: Robot, keys: RobotKeys, i: int) -> None:
    """Add sensors of the i-th robot; those it has already are changed."""
    for name, sensor in keys.sensors.items():
        path = ("robots", i, "sensors", name)
        if name in robot.sensors:
            _refuse_place(builder, robot, sensor, path)
        else:
            _add(builder, robot, name, sensor, path)
        for key, value in options_of(sensor).items():
            with builder.at(*path, key):
                robot.set_sensor(name, **{OPTIONS[key]: value})


def _refuse_place(builder: Places, robot: Robot, keys: SensorKeys, path: Path) -> None:
    for key in NEW:
        if getattr(keys, key) is not None:
            raise builder.reader.fault(
                (*path, key),
                f"{builder.reader.name((*path, key))} is given, but {robot.name} has this sensor, "
                f"at its place; leave {key} out, or give a new sensor another name",
            )


def _add(builder: Places, robot: Robot, name: str, keys: SensorKeys, path: Path) -> None:
    with builder.at(*path):
        if keys.kind is None or keys.body is None:
            fault = unknown("sensor", name, robot.name, robot.sensors)
            raise ModelError(f"{fault}; a new sensor has a kind and a body")
    with builder.at(*path, "body"):
        body = robot.body(keys.body)
    with builder.at(*path):
        robot.add_sensor(
            name,
            keys.kind,
            body,
            keys.position_m or (0.0, 0.0, 0.0),
            keys.quaternion or (1.0, 0.0, 0.0, 0.0),
        )


def add_plate(world: World, keys: PlateKeys) -> Sensor:
    """Create a new force plate."""
    X = placement(keys)
    options = {OPTIONS[key]: value for key, value in options_of(keys).items()}
    return world.add_force_plate(
        keys.name or "plate",
        keys.size_m,
        X.p,
        X.quaternion,
        keys.thickness_m,
        keys.friction,
        _resolution(keys),
        **options,
    )


def measure(world: World, keys: PlateKeys) -> Sensor:
    """Create a force plate from a thing in the world."""
    options = {OPTIONS[key]: value for key, value in options_of(keys).items()}
    assert keys.of is not None
    return world.measure_force(keys.of, resolution=_resolution(keys), **options)


def _resolution(keys: PlateKeys) -> tuple[float, ...]:
    return (*3 * (keys.resolution_n,), 0.0, 0.0, 0.0)
