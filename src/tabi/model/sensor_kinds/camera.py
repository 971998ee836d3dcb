"""Cameras, which have no values but pictures: ``sim.render``."""

from tabi.model.sensor_kinds.kind import SensorKind

KINDS = (SensorKind("camera", {}),)
