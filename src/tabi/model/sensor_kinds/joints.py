"""Positions and forces of single joints."""

from tabi.model.sensor_kinds.kind import SensorKind

FORCE = ("N", "N·m")

KINDS = (
    SensorKind(
        "encoder",
        {"position": 1, "velocity": 1},
        {"position": ("m", "rad"), "velocity": ("m/s", "rad/s")},
        of_joint=True,
    ),
    SensorKind(
        "torque",
        {"torque": 1},
        {"torque": FORCE},
        of_joint=True,
        cuts=True,
        feels_motion=True,
        feels_forces=True,
    ),
    SensorKind("effort", {"effort": 1}, {"effort": FORCE}, of_joint=True),
)
