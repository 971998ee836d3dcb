"""What a recording tells of sensors: the readings of each in every row.

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
from tabi.recording.hdf5 import Careful, write_texts

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


def parts(told: Sequence[str]) -> list[Quantity]:
    """The parts of a reading, from what its numbers are called."""
    found: dict[str, list[tuple[str, str, int]]] = {}
    for column, label in enumerate(told):
        words, _, unit = label.partition(" [")
        head, _, axis = words.rpartition(" ")
        word = (head, axis) if head and axis in tuple("wxyz") else (words, "")
        found.setdefault(word[0], []).append((unit.removesuffix("]"), word[1], column))
    return [
        Quantity(word, own[0][0], tuple(axis for _, axis, _ in own), tuple(c for *_, c in own))
        for word, own in found.items()
    ]


def measured(model: Model) -> list[str]:
    """Names of the sensors that have values: all but those in what is fixed, and cameras."""
    return [name for name, site in model.sensors.items() if site.measures]


def labels_of(model: Model) -> dict[str, list[str]]:
    """Of every sensor with values what each number is: "gyro x [rad/s]"."""
    found: dict[str, list[str]] = {}
    for name in measured(model):
        sensor, own = model.sensors[name].sensor, found.setdefault(name, [])
        for part, width in sensor.parts.items():
            unit = unit_of(sensor, part)
            unit = f" [{unit}]" if unit else ""
            axes = [f" {axis}" for axis in AXES.get(width, "")] or [""]
            own += [f"{part.replace('_', ' ')}{axis}{unit}" for axis in axes]
    return found


def labels(model: Model) -> list[str]:
    """The same in one list: "imu: gyro x [rad/s]"."""
    return [f"{name}{BETWEEN}{told}" for name, own in labels_of(model).items() for told in own]


def unit_of(sensor: Sensor, part: str) -> str:
    """Of a part of a sensor's reading; empty where it has none, as that of a raw reading."""
    if sensor.matrix is not None:
        return ""
    unit = sensor.about.units.get(part, "")
    if isinstance(unit, str):
        return unit
    slides, turns = unit
    return slides if sensor.body.joint.kind == "prismatic" else turns


def prepare(file: Any, model: Model) -> int:
    """Write what the numbers are; how many."""
    found = labels(model)
    write_texts(file, LABELS, found)
    return len(found)


def length(file: Careful) -> list[str]:
    """The column, where there is one."""
    return [VALUES] if file.has(VALUES) else []


def read(file: Careful, rows: range) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """Readings of n rows by sensor, shape (n, width), and what each of their numbers is."""
    if not file.has(VALUES):
        return {}, {}
    told = file.texts(LABELS)
    file.expect(all(BETWEEN in label for label in told), "a reading is of no sensor")
    values = file.numbers(VALUES, "f", (None, len(told)), rows).astype(float)
    owner = [label.rpartition(BETWEEN)[0] for label in told]
    names = dict.fromkeys(owner)
    columns = {name: [k for k, one in enumerate(owner) if one == name] for name in names}
    return (
        {name: values[:, where] for name, where in columns.items()},
        {name: [told[k].rpartition(BETWEEN)[2] for k in where] for name, where in columns.items()},
    )
