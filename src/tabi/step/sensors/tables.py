"""Tables of sensors: their parameters, and their memory from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, REAL, table
from tabi.model.compiled import Model, Site
from tabi.model.controllers.rates import steps_between
from tabi.model.sensor_kinds import SENSOR_KINDS
from tabi.model.sensors import Sensor

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

KIND = {name: number for number, name in enumerate(SENSOR_KINDS)}

SENSOR = np.dtype(
    [
        # its kind; its body, and its row among the sensed bodies or −1; its joint's degree of
        # freedom or −1; index of its first value among those of its kind
        ("kind", INDEX),
        ("body", INDEX),
        ("sensed", INDEX),
        ("dof", INDEX),
        ("part", INDEX),
        # X_BS: rotation row by row, position [m]
        ("rotation", REAL, 9),
        ("position", REAL, 3),
        # its values, first and end; where its ring of samples begins, and how many it holds; where
        # G⁻¹ begins, −1 without it
        ("first", INDEX),
        ("end", INDEX),
        ("ring", INDEX),
        ("room", INDEX),
        ("matrix", INDEX),
        # time between samples, and until one is released [s]; bandwidth of the low-pass [1/s], 0
        # without it; threshold of a switch [N]
        ("period", REAL),
        ("delay", REAL),
        ("bandwidth", REAL),
        ("threshold", REAL),
    ],
    align=True,
)
CHANNEL = np.dtype(
    [
        # parameters of each value
        ("offset", REAL),
        ("bias", REAL),
        ("drift", REAL),
        ("noise", REAL),
        ("limit", REAL),
        ("resolution", REAL),
    ],
    align=True,
)
SENSED = np.dtype(
    [
        # a body whose motion is needed, its parent's row here or −1, 1 where its forces are too
        ("body", INDEX),
        ("parent", INDEX),
        ("weighed", INDEX),
    ],
    align=True,
)
SAMPLE = np.dtype(
    [
        # samples taken so far, as many as there would be since the start; the last one released
        ("count", INDEX),
        ("released", INDEX),
    ],
    align=True,
)
VALUE = np.dtype(
    [
        # true value of the last step, the same behind the low-pass, wandering bias; the last
        # sample, and the reading
        ("truth", REAL),
        ("smooth", REAL),
        ("wander", REAL),
        ("sample", REAL),
        ("reading", REAL),
    ],
    align=True,
)
MOTION = np.dtype(
    [
        # motion of a sensed body within a step: R_WB and origin when it began; twist then,
        # acceleration less gravity; wrench across its joint, of the parent on it; about the tree's
        # origin
        ("rotation", REAL, 9),
        ("position", REAL, 3),
        ("velocity", REAL, 6),
        ("acceleration", REAL, 6),
        ("force", REAL, 6),
        # of all beyond its joint: mass, mass times centre, tensor about the tree's origin
        ("mass", REAL),
        ("moment", REAL, 3),
        ("tensor", REAL, 6),
    ],
    align=True,
)


class Sensors(Structure):
    """Parameters of all sensors of a world.

    Attributes:
        row: table of SENSOR. channel: table of CHANNEL, one row per value.
        body: table of SENSED, parents first. place: of each body its row there if it is weighed, or
            −1. matrix: G⁻¹ of sensors, one after the other.
        plate: of each shape, the sensor it is a force plate of, or −1.
        seed: of the noise, and number of the world, shape (2,).
    """

    row: NDArray[np.void]
    channel: NDArray[np.void]
    body: NDArray[np.void]
    place: Integers
    matrix: Floats
    plate: Integers
    seed: Integers


class SensorMemory(Structure):
    """Memory of all sensors of a world.

    Attributes:
        sample: table of SAMPLE, one row per sensor. value: table of VALUE, one row per value.
        ring: samples that are not released yet.
    """

    sample: NDArray[np.void]
    value: NDArray[np.void]
    ring: Floats


def build(model: Model, dt: float, seed: tuple[int, int]) -> tuple[Sensors, SensorMemory]:
    """Return the tables of all sensors of a model, in the order of ``model.sensors``.

    Args:
        dt: of the step [s]. seed: of noise, and number of the world.
    """
    sites = list(model.sensors.values())
    rows, sensed = table(len(sites), SENSOR), _sensed(model, sites)
    place = {int(row["body"]): j for j, row in enumerate(sensed) if row["weighed"]}
    sensed_rows = {int(b): j for j, b in enumerate(sensed["body"])}
    plate = np.full(len(model.shapes), -1, INDEX)
    channels, matrices, ring, values = [], [], 0, 0
    for i, (row, site) in enumerate(zip(rows, sites, strict=True)):
        sensor, width = site.sensor, site.sensor.width if site.measures else 0
        every = steps_between(sensor.rate, dt, f"sensor {site.name!r}")
        row["kind"], row["body"] = KIND[sensor.kind], site.body
        row["sensed"] = sensed_rows.get(site.body, -1) if sensor.about.feels_motion else -1
        row["dof"] = model.arrays.body["v_start"][site.body]
        row["part"] = _first_value(sensor)
        row["rotation"], row["position"] = site.placement.R.ravel(), site.placement.p
        row["first"], row["end"] = values, values + width
        row["period"], row["delay"] = every * dt, sensor.delay
        row["room"] = int(np.ceil(sensor.delay / (every * dt) - 1e-6)) + 1
        row["ring"] = ring
        row["bandwidth"] = 0.0 if sensor.bandwidth is None else 2 * np.pi * sensor.bandwidth
        row["threshold"], row["matrix"] = sensor.threshold, -1
        channels.append(_channels(site, width))
        if width and (sensor.matrix is not None):
            row["matrix"] = sum(map(len, matrices))
            matrices.append(sensor.uncalibration()[0].ravel())
        plate[list(site.shapes)] = i
        values, ring = values + width, ring + width * int(row["room"])
    sensors = Sensors(
        row=rows,
        channel=np.concatenate([table(0, CHANNEL), *channels]),
        body=sensed,
        place=np.array([place.get(b, -1) for b in range(len(model.arrays.body))], INDEX),
        matrix=np.concatenate([np.zeros(0), *matrices]),
        plate=plate,
        seed=np.array(seed, INDEX),
    )
    return sensors, SensorMemory(table(len(rows), SAMPLE), table(values, VALUE), np.zeros(ring))


def always_active(model: Model) -> Integers:
    """Return 1 for the sensors whose readings depend on earlier ones: these are measured from the
    start, others from when they are first read.
    """
    return np.array([_has_memory(site) for site in model.sensors.values()], INDEX)


def _has_memory(site: Site) -> bool:
    sensor = site.sensor
    slow = sensor.bandwidth is not None or sensor.delay > 0 or sensor.rate is not None
    counts = sensor.kind == "encoder" or bool(sensor.each("drift").any())
    return site.measures and (slow or counts)


def checked_seed(seed: Any) -> tuple[int, int]:
    """Return a seed and the number of a world, from both or from a seed alone."""
    pair = seed if isinstance(seed, tuple) else (seed, 0)
    whole = [isinstance(x, int | np.integer) and not isinstance(x, bool) for x in pair]
    if len(pair) != 2 or not all(whole) or not all(0 <= x < 2**32 for x in pair):
        raise ModelError(
            f"seed is {seed!r}; expected a whole number from 0 to 2³² − 1, or two of them: "
            f"(seed, number of the world)"
        )
    return int(pair[0]), int(pair[1])


def _first_value(sensor: Sensor) -> int:
    """Return the index of the first value of a sensor among those of its kind."""
    first = 0
    for part, width in sensor.about.parts.items():
        if sensor.part in ("", part):
            break
        first += width
    return first


def _channels(site: Site, width: int) -> NDArray[np.void]:
    rows, sensor = table(width, CHANNEL), site.sensor
    if width:
        for name in ("bias", "drift", "noise", "limit", "resolution"):
            rows[name] = sensor.each(name)
        rows["offset"] = sensor.uncalibration()[1]
    return rows


def _sensed(model: Model, sites: list[Site]) -> NDArray[np.void]:
    """Return bodies from the root to a sensor that measures motion, and all beyond those that
    measure forces.
    """
    body = model.arrays.body
    with_motion, weighed = np.zeros(len(body), bool), np.zeros(len(body), bool)
    for site in sites:
        with_motion[site.body] |= site.sensor.about.feels_motion and site.measures
        weighed[site.body] |= site.sensor.about.feels_forces and site.measures
    for b in range(1, len(body)):
        weighed[b] |= weighed[body["parent"][b]]
    with_motion |= weighed
    for b in range(len(body) - 1, 0, -1):
        with_motion[body["parent"][b]] |= with_motion[b]
    with_motion[0] = False
    bodies = np.flatnonzero(with_motion)
    rows, place = table(len(bodies), SENSED), {int(b): j for j, b in enumerate(bodies)}
    rows["body"], rows["weighed"] = bodies, weighed[bodies]
    rows["parent"] = [place.get(int(p), -1) for p in body["parent"][bodies]]
    return rows
