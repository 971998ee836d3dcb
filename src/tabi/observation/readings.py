"""Readings of sensors: of all sensors of a robot, and of one with names for its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import MissingNameError, ModelError, unknown
from tabi.dynamics import loads
from tabi.model.compiled import Link, Site
from tabi.model.controllers.pilot import Pilot
from tabi.model.controllers.signals import Measurement, Truth
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.step.commands.pilot_link import PilotLink
from tabi.step.data import Data

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """Reading of a sensor after a step.

    Its parts are attributes: ``reading.force`` and ``reading.torque`` of a force sensor or plate,
    ``reading.gyro`` and ``reading.accelerometer`` of an imu, ``reading.position`` of an encoder, …

    Attributes:
        sensor: that was read. values: all of its values, shape (width,).
        time: when the sample was taken [s].

    Examples:
        >>> force = sim.sensor("left_foot_force").force
    """

    sensor: Sensor
    values: Array
    time: float

    def __getattr__(self, name: str) -> Any:
        first = 0
        for part, width in self.sensor.parts.items():
            if part == name:
                part_values = self.values[first : first + width]
                return part_values if width > 1 else float(part_values[0])
            first += width
        raise AttributeError(
            f"a reading of sensor {self.sensor.name!r} has no {name!r}; it has "
            f"{', '.join(self.sensor.parts)}, values and time"
        )

    @property
    def centre_of_pressure(self) -> Array | None:
        """Centre of pressure of the wrench in the plane of the sensor's frame [m], as of a force
        plate; None without a load along its z axis.
        """
        return loads.pressure_point(self.force, self.torque)


class Named(Mapping[str, Array]):
    """Values of sensors or feet by name, at one moment; they may be stored.

    Args:
        values: of all of them. spans: first value and end of each.
        kind, owner: for messages.
    """

    def __init__(
        self, values: Array, spans: Mapping[str, tuple[int, int]], kind: str, owner: str
    ) -> None:
        self._values, self._spans, self._kind, self._owner = values, spans, kind, owner

    def __getitem__(self, name: str) -> Array:
        if name not in self._spans:
            raise unknown(self._kind, name, self._owner, self._spans, MissingNameError)
        first, end = self._spans[name]
        return self._values[first:end]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def reading(data: Data, site: Site, truth: bool = False) -> Reading:
    """Return the reading of a sensor after the last step.

    Args:
        truth: the value before low-pass, calibration, noise and delay.
    """
    if not site.measures:
        why = (
            f"a camera has no values but a picture, sim.render({site.name!r})"
            if site.kind == "camera"
            else "it sits in what is fixed to the world: make that a force plate, "
            "world.measure_force(…)"
        )
        raise ModelError(f"sensor {site.name!r} of kind {site.kind!r} cannot be read: {why}")
    values, taken = data.sensor(site.name, truth)
    return Reading(site.sensor, values, taken)


class MeasurementSource:
    """Source of the measurements of a robot in a simulation.

    Args:
        link_of: the link of a body, a foot or a sensor.
    """

    def __init__(self, data: Data, robot: Robot, link_of: Callable[[Any], Link]) -> None:
        self._data, self._robot, self._base = data, robot, link_of(robot.base)
        self._rows = joint_rows(data.model, robot)
        self._feet = {name: link_of(foot).name for name, foot in robot.feet.items()}
        self._soles = {name: (6 * k, 6 * k + 6) for k, name in enumerate(self._feet)}
        names = {name: link_of(sensor).name for name, sensor in robot.sensors.items()}
        sites = {name: data.model.sensors[full] for name, full in names.items()}
        self._names = {name: names[name] for name, site in sites.items() if site.measures}
        self._spans: dict[str, tuple[int, int]] = {}
        first = 0
        for name in self._names:
            width = sites[name].sensor.width
            self._spans[name], first = (first, first + width), first + width
        self._values, self._sensors = data.sensor_places(list(self._names.values()))
        # degrees of freedom with an encoder: joint, and indices of its values
        freedom = {int(k): i for i, k in enumerate(self._rows)}
        self._encoders = [
            (freedom[k], self._spans[name], site.sensor.part)
            for name, site in sites.items()
            if site.kind == "encoder"
            and (k := int(data.model.arrays.body["v_start"][site.body])) in freedom
        ]

    def linked(self, pilot: Pilot) -> PilotLink:
        """Link the channel of a controller that is a kernel to its measurements; its sensors are
        measured in every step from now on.
        """
        data, robot = self._data, self._robot
        missing = [name for name in pilot.sensors if name not in self._names]
        if missing:
            raise unknown("sensor", missing[0], robot.name, self._names)
        encoder = np.full((len(self._rows), 2), -1, np.int64)
        for i, (first, _), part in self._encoders:
            if part != "velocity":
                encoder[i, 0] = self._values[first]
            if part != "position":
                encoder[i, 1] = self._values[first + (part == "")]
        names = [self._names[name] for name in pilot.sensors]
        places, _ = data.sensor_places(names)
        # activates all of them
        data.sensor_values(self._values, self._sensors)
        q_at = data.model.arrays.dof["q"][self._rows].astype(np.int64)
        return PilotLink(pilot.channel, self._rows, q_at, encoder, places)

    def measure(self, truth: bool = False) -> Measurement:
        """Return the measurement after the last step, with the truth of base and feet if
        ``truth``.
        """
        data, known = self._data, None
        if truth:
            joints, base, moves = data.senses(self._rows, self._base)
            wrenches = [data.foot_wrench(full) for full in self._feet.values()]
            forces = np.array(wrenches, float).ravel()
            known = Truth(base, moves, Named(forces, self._soles, "foot", self._robot.name))
        else:
            joints = data.joints(self._rows)
        values = data.sensor_values(self._values, self._sensors)
        for i, (first, _), part in self._encoders:
            if part != "velocity":
                joints[0, i] = values[first]
            if part != "position":
                joints[1, i] = values[first + (part == "")]
        sensors = Named(values, self._spans, "sensor", self._robot.name)
        return Measurement(joints[0], joints[1], joints[2], sensors, known)
