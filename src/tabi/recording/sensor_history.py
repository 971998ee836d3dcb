"""Sensors in a recording: the readings of each in every row.

Files of earlier versions have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.compiled import Model
from tabi.model.sensors import Sensor
from tabi.recording.hdf5 import UntrustedFile, write_texts

Array = NDArray[np.float64]
VALUES, LABELS = "sensors/values", "sensors/labels"
# of a label, between the sensor and what the number is
BETWEEN = ": "
AXES = {3: "xyz", 4: "wxyz"}


@dataclass(frozen=True)
class Quantity:
    """Numbers of a sensor that belong together: the force of a force sensor, say.

    Attributes:
        word: what they are. unit: of all of them; empty where there is none.
        axes: of each, empty where there is only one number. columns: their places in a reading.
    """

    word: str
    unit: str
    axes: tuple[str, ...]
    columns: tuple[int, ...]

    @property
    def title(self) -> str:
        """With its unit: "force [N]"."""
        return f"{self.word} [{self.unit}]" if self.unit else self.word


def parts(labels_: Sequence[str]) -> list[Quantity]:
    """Return the parts of a reading, from the labels of its numbers."""
    groups: dict[str, list[tuple[str, str, int]]] = {}
    for column, label in enumerate(labels_):
        words, _, unit = label.partition(" [")
        head, _, axis = words.rpartition(" ")
        word = (head, axis) if head and axis in tuple("wxyz") else (words, "")
        groups.setdefault(word[0], []).append((unit.removesuffix("]"), word[1], column))
    return [
        Quantity(word, part[0][0], tuple(axis for _, axis, _ in part), tuple(c for *_, c in part))
        for word, part in groups.items()
    ]


def measured(model: Model) -> list[str]:
    """Names of the sensors that have values: all but those in what is fixed, and cameras."""
    return [name for name, site in model.sensors.items() if site.measures]


def labels_of(model: Model) -> dict[str, list[str]]:
    """Return the labels of the numbers of every sensor with values: "gyro x [rad/s]"."""
    numbers: dict[str, list[str]] = {}
    for name in measured(model):
        sensor, sensor_labels = model.sensors[name].sensor, numbers.setdefault(name, [])
        for part, width in sensor.parts.items():
            unit = unit_of(sensor, part)
            unit = f" [{unit}]" if unit else ""
            axes = [f" {axis}" for axis in AXES.get(width, "")] or [""]
            sensor_labels += [f"{part.replace('_', ' ')}{axis}{unit}" for axis in axes]
    return numbers


def labels(model: Model) -> list[str]:
    """Return the same in one list: "imu: gyro x [rad/s]"."""
    items = labels_of(model).items()
    return [f"{name}{BETWEEN}{label}" for name, labels_ in items for label in labels_]


def unit_of(sensor: Sensor, part: str) -> str:
    """Return the unit of a part of a sensor's reading; empty where it has none, as a raw
    reading.
    """
    if sensor.matrix is not None:
        return ""
    unit = sensor.about.units.get(part, "")
    if isinstance(unit, str):
        return unit
    slides, turns = unit
    return slides if sensor.body.joint.kind == "prismatic" else turns


def prepare(file: Any, model: Model) -> int:
    """Write the labels of the numbers; return how many there are."""
    texts = labels(model)
    write_texts(file, LABELS, texts)
    return len(texts)


def length(file: UntrustedFile) -> list[str]:
    """The column, where there is one."""
    return [VALUES] if file.has(VALUES) else []


def read(file: UntrustedFile, rows: range) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """Readings of n rows by sensor, shape (n, width), and what each of their numbers is."""
    if not file.has(VALUES):
        return {}, {}
    texts = file.texts(LABELS)
    file.expect(all(BETWEEN in label for label in texts), "a reading is of no sensor")
    values = file.numbers(VALUES, "f", (None, len(texts)), rows).astype(float)
    owner = [label.rpartition(BETWEEN)[0] for label in texts]
    names = dict.fromkeys(owner)
    columns = {name: [k for k, owner_ in enumerate(owner) if owner_ == name] for name in names}
    return (
        {name: values[:, where] for name, where in columns.items()},
        {name: [texts[k].rpartition(BETWEEN)[2] for k in where] for name, where in columns.items()},
    )
