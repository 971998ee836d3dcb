"""Forces across joints, and of contacts."""

from tabi.model.sensor_kinds.kind import SensorKind

WRENCH, UNITS = {"force": 3, "torque": 3}, {"force": "N", "torque": "N·m"}

KINDS = (
    SensorKind("force", WRENCH, UNITS, cuts=True, feels_motion=True, feels_forces=True),
    SensorKind("touch", {"normal_force": 1}, {"normal_force": "N"}, cuts=True),
    SensorKind("switch", {"on": 1}, cuts=True),
    SensorKind("plate", WRENCH, UNITS, anywhere=True, on_robots=False),
)
