"""Inertial sensors: angular velocity, acceleration and orientation."""

from tabi.model.sensor_kinds.kind import SensorKind

GYRO, ACCELEROMETER = {"gyro": 3}, {"accelerometer": 3}
UNITS = {"gyro": "rad/s", "accelerometer": "m/s²"}

KINDS = (
    SensorKind("imu", GYRO | ACCELEROMETER, UNITS, anywhere=True, feels_motion=True),
    SensorKind("gyro", GYRO, {"gyro": "rad/s"}, anywhere=True),
    SensorKind(
        "accelerometer",
        ACCELEROMETER,
        {"accelerometer": "m/s²"},
        anywhere=True,
        feels_motion=True,
    ),
    SensorKind("orientation", {"quaternion": 4}, anywhere=True),
)
