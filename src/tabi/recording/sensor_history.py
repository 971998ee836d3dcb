"""What a recording tells of sensors: the readings of each in every row.

Files of earlier versions have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.compiled import Model
from tabi.recording.hdf5 import Careful, write_texts

Array = NDArray[np.float64]
VALUES, LABELS = "sensors/values", "sensors/labels"
# of a label, between the sensor and what the number is
BETWEEN = ": "
UNITS = {
    "force": "N",
    "torque": "N·m",
    "gyro": "rad/s",
    "accelerometer": "m/s²",
    "normal_force": "N",
}
AXES = {3: "xyz", 4: "wxyz"}


def measured(model: Model) -> list[str]:
    """Names of the sensors that have values: all but those in what is fixed, and cameras."""
    return [name for name, site in model.sensors.items() if site.measures]


def labels(model: Model) -> list[str]:
    """What each number is: "imu: gyro x [rad/s]"."""
    found = []
    for name in measured(model):
        for part, width in model.sensors[name].sensor.parts.items():
            unit = f" [{UNITS[part]}]" if part in UNITS else ""
            axes = [f" {axis}" for axis in AXES.get(width, "")] or [""]
            found += [f"{name}{BETWEEN}{part.replace('_', ' ')}{axis}{unit}" for axis in axes]
    return found


def prepare(file: Any, model: Model) -> int:
    """Write what the numbers are; how many."""
    found = labels(model)
    write_texts(file, LABELS, found)
    return len(found)


def length(file: Careful) -> list[str]:
    """The column, where there is one."""
    return [VALUES] if file.has(VALUES) else []


def read(file: Careful, n: int) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """Readings of n rows by sensor, shape (n, width), and what each of their numbers is."""
    if not file.has(VALUES):
        return {}, {}
    told = file.texts(LABELS)
    file.expect(all(BETWEEN in label for label in told), "a reading is of no sensor")
    values = file.numbers(VALUES, "f", (None, len(told)), n).astype(float)
    owner = [label.rpartition(BETWEEN)[0] for label in told]
    names = dict.fromkeys(owner)
    columns = {name: [k for k, one in enumerate(owner) if one == name] for name in names}
    return (
        {name: values[:, where] for name, where in columns.items()},
        {name: [told[k].rpartition(BETWEEN)[2] for k in where] for name, where in columns.items()},
    )
