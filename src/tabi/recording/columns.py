"""Rows of a recording: how each is noted while the simulation runs, and as columns of the file;
``writer`` describes the file.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording import (
    anatomy,
    foot_history,
    foot_words,
    look,
    pad_history,
    sensor_history,
    tracks,
)
from tabi.recording.episodes import STARTS
from tabi.recording.hdf5 import write_attribute, write_text, write_texts
from tabi.recording.recordable import Recordable, versions
from tabi.recording.recorded import (
    ENERGY,
    FORMAT,
    MOTORS,
    ROBOTS,
    STATUS,
    STEP_ERRORS,
    VECTORS,
    WORST,
)

# a row that was noted: its step, then what ``Columns.noted`` says
Row = tuple[Any, ...]
# datasets that do not count rows, by the beginnings of their names; contacts/count does
GROUPS = ("feet/events/", "judged/", "episodes/", "contacts/")


def group_of(name: str) -> str:
    """Return the group of a dataset: those of equal groups are equally long."""
    if name == "contacts/count":
        return ""
    return next((group for group in GROUPS if name.startswith(group)), "")


class Columns:
    """Columns of the recording of one simulator."""

    def __init__(self, sim: Recordable) -> None:
        self._sim, self._names = sim, list(sim.model.links)
        self._body = np.array(
            [self._names.index(shape.link) for shape in sim.model.shapes], np.int64
        )
        self._world = anatomy.of(sim.world, sim.model)
        self._sensors = sim.data.sensor_places(sensor_history.measured(sim.model))
        self._look = look.of(sim.world, sim.model)
        self._pads = pad_history.of(sim.model, self._look)

    def noted(self, data: Any) -> Row:
        """The present state; bytes of tables, which take less time than their columns."""
        contact = data.contact
        return (
            data.steps,
            data.time,
            data.q.copy(),
            data.v.copy(),
            data.outcome.effort["motor"].copy(),
            data.command.motor["position"].copy(),
            (data.missed_count, *data.worst.values()),
            len(contact),
            # NumPy compares the columns of tables that it joins, which takes longer than the steps
            data.outcome.report.tobytes(),
            contact.tobytes(),
            data.moment,
            data.memory.foot.tobytes(),
            data.sensor_values(*self._sensors),
            pad_history.taken(data) if self._pads else None,
        )

    def write_once(self, file: Any, about: str, scene: str) -> None:
        """Write what stays the same: columns without rows, the world, its look, and origin."""
        self._write_attributes(file)
        self._create(file)
        anatomy.write(file.create_group("world"), self._world)
        look.write(file.create_group("look"), self._look)
        write_text(file, "meta", about)
        write_text(file, "scene", scene)

    def _write_attributes(self, file: Any) -> None:
        sim = self._sim
        created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        about = {
            "format": FORMAT,
            "version": versions()["versions"]["tabi"],
            "created": created,
            "dt": sim.dt,
            "tolerance": sim.tolerance,
        }
        for key, value in about.items():
            write_attribute(file, key, value)
        write_texts(file, "joint_names", list(sim.model.joint_names))
        write_texts(file, "body_names", self._names)
        write_texts(file, "contacts/status_names", list(STATUS))
        write_texts(file, "feet/state_names", list(foot_words.STATES))

    def _create(self, file: Any) -> None:
        """All columns, without rows."""
        model = self._sim.model

        def column(name: str, *tail: int, kind: Any = float) -> None:
            # without feet or robots there is nothing to grow
            if 0 not in tail:
                file.create_dataset(
                    name,
                    (0, *tail),
                    kind,
                    maxshape=(None, *tail),
                    chunks=(max(16, 4096 // int(np.prod(tail))), *tail),
                )

        for name in ("time", "certificate/residual", "certificate/gap", "contacts/gap"):
            column(name)
        for name in (
            *(f"certificate/{worst}" for worst in WORST),
            *(f"energy/{part}" for part in ENERGY),
            *(f"judged/{part}" for part in STEP_ERRORS),
        ):
            column(name)
        certificate = ("certificate/iterations", "certificate/missed")
        for name in (*certificate, "contacts/count", "contacts/body_a", "contacts/body_b"):
            column(name, kind=np.int64)
        for name in VECTORS:
            column(f"contacts/{name}", 3)
        column("q", model.q_count)
        for name in ("v", *(f"motors/{part}" for part in MOTORS)):
            column(name, model.v_count)
        feet = len(self._world.feet.names)
        for name, width in foot_history.LOADS.items():
            column(f"feet/{name}", feet, width)
        for name, kind in foot_history.STATE_COLUMNS.items():
            column(f"feet/{name}", feet, kind=kind)
        for name, kind in foot_history.EVENTS.items():
            column(f"feet/events/{name}", kind=kind)
        for name, width in ROBOTS.items():
            column(f"robots/{name}", len(self._world.robot_names), width)
        column("contacts/status", kind=np.int8)
        column(sensor_history.VALUES, sensor_history.prepare(file, model))
        for name, nodes in pad_history.prepare(file, self._pads):
            column(name, nodes, 3, kind=np.float32)
        for name in STARTS:
            column(f"episodes/{name}", kind=np.int64)
        column("episodes/ended", kind=np.int8)

    def of(self, rows: Sequence[Row]) -> dict[str, Any]:
        """Return rows as they are stored in the file, by the names of its datasets."""
        _, time, q, v, effort, target, worst, count, reports, tables, turning, *rest = zip(
            *rows, strict=True
        )
        soles, readings, pads = rest
        data = self._sim.data
        report = _rows(b"".join(reports), data.outcome.report.dtype)
        contact = _rows(b"".join(tables), data.memory.contact.dtype)
        feet = _rows(b"".join(soles), data.memory.foot.dtype)
        missed, *greatest = np.array(worst).T
        columns = {
            "time": np.array(time),
            "q": np.array(q),
            "v": np.array(v),
            "motors/effort": np.array(effort),
            "motors/target": np.array(target),
            "certificate/residual": report["residual"],
            "certificate/iterations": report["iterations"],
            "certificate/missed": missed.astype(np.int64),
            "certificate/gap": report["gap"],
            **{f"certificate/{name}": column for name, column in zip(WORST, greatest, strict=True)},
            "contacts/count": np.array(count, np.int64),
            "contacts/body_a": self._body[contact["shape_a"]],
            "contacts/body_b": self._body[contact["shape_b"]],
            "contacts/point": contact["position"],
            "contacts/normal": contact["normal"],
            "contacts/force": contact["impulse"] / self._sim.dt,
            "contacts/moment": np.concatenate(turning),
            "contacts/gap": contact["gap"],
            "contacts/status": contact["status"].astype(np.int8),
            **foot_history.columns(feet.reshape(len(rows), len(data.memory.foot))),
            sensor_history.VALUES: np.array(readings),
            **pad_history.columns(self._pads, pads, self._sim.dt),
        }
        return {
            name: column
            for name, column in (columns | self._derived(columns)).items()
            if 0 not in column.shape[1:]
        }

    def _derived(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Energy and robots of rows."""
        parts = tracks.derived(anatomy.refreshed(self._world, self._sim.model), columns)
        names = [
            *(f"energy/{name}" for name in ENERGY),
            *(f"robots/{name}" for name in ROBOTS),
        ]
        return {
            name: np.concatenate(column)
            for name, column in zip(names, zip(*parts, strict=True), strict=True)
        }


def _rows(raw: bytes, columns: np.dtype[np.void]) -> NDArray[np.void]:
    """A table from the bytes of its rows."""
    return np.frombuffer(raw, columns)
