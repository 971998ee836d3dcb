"""A run in an HDF5 file: state, contacts, motors and certificate of every recorded step,
and what the world looks like.

Attributes of the file: format, version (of tabi), created, dt [s], tolerance [m/s]; of certificate
the worst of the run, once closed. One row per recorded step: time [s], q, v;
motors/{effort [N·m or N], target [rad or m]} of each degree of freedom; energy/{kinetic, potential}
[J]; feet/{wrench [N, N·m], pressure [m], state, margin [m], signal}; robots/{centre_of_mass, zmp}
[m]; contacts/count; certificate/{residual [m/s], iterations, missed, gap [m], worst_residual,
worst_joint_residual, worst_penetration}, where missed and worst_… are of the run so far. One row
per second:
judged/{time [s], force_residual [N], pressure_shift [m]}, what the certificate says of the last
step before each writing. The points of all rows follow each other in contacts/{body_a, body_b,
point [m], normal, force and moment on a [N, N·m], gap [m], status}: bodies are places in
body_names, status one in contacts/status_names, a foot's state one in feet/state_names. All changes
of feet, also between rows: feet/events/{time [s], foot, before, after}. Of soft pads, if there are
any: pads/K/{displacement [m], force [N]} of the nodes (``pad_history``). Written once: world
(``anatomy``), look (``look``), meta (JSON: versions, whether a rerun is the same, and what the
caller tells), scene (text).

Rows are written and flushed after every second of simulated time or of the clock, and the file is
changed as a whole (``whole_file``): one whose writer was killed opens, with all but the last
second.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import shutil
import time as clock
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.rates import steps_between
from tabi.recording import (
    anatomy,
    foot_history,
    foot_words,
    look,
    pad_history,
    sensor_history,
    tracks,
)
from tabi.recording.hdf5 import write_attribute, write_text, write_texts
from tabi.recording.recordable import Recordable, versions
from tabi.recording.recorded import (
    ENERGY,
    FORMAT,
    JUDGED,
    MOTORS,
    ROBOTS,
    STATUS,
    VECTORS,
    WORST,
    Recorded,
    RecordingError,
    read,
    reason,
)
from tabi.recording.whole_file import WholeHdf5

__all__ = ["FORMAT", "STATUS", "Recorded", "Recording", "RecordingError", "read"]

# seconds, of the simulation or of the clock, between two writings
INTERVAL = 1.0
# bytes of the disk left to others, and to HDF5's own pages
MARGIN = 4_000_000

# recordings that are being written
_OPEN: weakref.WeakSet[Recording] = weakref.WeakSet()


class Recording:
    """Writes a simulation into a file from now on, until it is closed.

    Args:
        path: file to write; one that is there is replaced.
        sim: what is recorded, its present state first.
        rate: rows a second of simulated time [Hz]; every step unless given.
        scene: text of the scene file the world was built from.
        meta: whatever else should be kept with the run, a seed say;
            numbers, texts, lists and mappings.
    """

    def __init__(
        self,
        path: str | Path,
        sim: Recordable,
        rate: float | None = None,
        scene: str = "",
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = Path(path)
        self.every = steps_between(rate, sim.dt, f"the recording {path}")
        names = list(sim.model.links)
        self._sim, self._scheduled = sim, None
        self._body = np.array([names.index(shape.link) for shape in sim.model.shapes], np.int64)
        self._world = anatomy.of(sim.world, sim.model)
        self._sensors = sim.data.sensor_places(sensor_history.measured(sim.model))
        self._look = look.of(sim.world, sim.model)
        self._pads = pad_history.of(sim.model, self._look)
        self._rows: list[tuple[Any, ...]] = []
        self._judged: list[tuple[float, float, float]] = []
        # changes of feet that came before, or are in the file
        self._changes = len(sim.data.foot_history)
        self._file: Any = None
        if self.path.absolute() in [other.path.absolute() for other in _OPEN]:
            raise RecordingError(
                f"{self.path}: a simulation is being recorded into it already; "
                "close that recording, or choose another name"
            )
        told = versions() | {"reproducible": sim.reproducible} | dict(meta or {})
        about = json.dumps(told, default=str)
        if self.path.is_dir():
            raise RecordingError(f"{self.path}: it is a folder; expected the name of a file, .hdf5")
        try:
            self._file = WholeHdf5(self.path, "w")
            self._prepare(names)
            self._describe(about, scene)
            self._file.flush()
        except OSError as fault:
            self._abandon()
            raise RecordingError(
                f"{self.path}: no recording can be written there: {reason(fault)}; "
                "choose a folder of yours"
            ) from None
        self._written, self._clock = sim.data.time, clock.monotonic()
        self._scheduled = sim.every(self.every, self.take, self.rest)
        _OPEN.add(self)
        self.take(sim.data)

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left and close the file; a second time does nothing."""
        if self in _OPEN:
            self._leave()
            self._judge()
            self.rest()

    def _leave(self) -> None:
        """Record no more."""
        _OPEN.discard(self)
        if self._scheduled is not None:
            self._scheduled.cancel()

    def take(self, data: Any) -> None:
        """Note the present state; written at the latest a second from now."""
        contact = data.contact
        self._rows.append(
            (
                data.time,
                data.q.copy(),
                data.v.copy(),
                data.outcome.effort["motor"].copy(),
                data.command.motor["position"].copy(),
                (data.missed_count, *data.worst.values()),
                len(contact),
                # bytes: NumPy compares the columns of tables that it joins, which takes longer than
                # the steps
                data.outcome.report.tobytes(),
                contact.tobytes(),
                data.moment,
                data.memory.foot.tobytes(),
                data.sensor_values(*self._sensors),
                pad_history.taken(data) if self._pads else None,
            )
        )
        late = clock.monotonic() - self._clock >= INTERVAL
        if late or abs(data.time - self._written) >= INTERVAL:
            self._judge()
            self._write()

    def _judge(self) -> None:
        """Have the last step judged anew, in newtons and metres; too slow for every one."""
        found = self._sim.certificate
        self._judged.append(
            (
                self._sim.data.time,
                found.force_residual,
                1e-3 * max(found.pressure_shift.values(), default=0.0),
            )
        )

    def rest(self) -> None:
        """Write what is left and let go of the file, so that others can read it;
        the next rows open it again.
        """
        if self._rows or len(self._sim.data.foot_history) > self._changes:
            self._write()
        if self._file is not None:
            file, self._file = self._file, None
            with contextlib.suppress(OSError, RuntimeError):
                for name, value in (
                    ("missed", self._sim.data.missed_count),
                    *((f"worst_{k}", x) for k, x in self._sim.data.worst.items()),
                ):
                    file["certificate"].attrs[name] = value
            file.close()

    def _prepare(self, names: list[str]) -> None:
        """All columns, without rows."""
        sim, file = self._sim, self._file
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
        write_texts(file, "body_names", names)
        write_texts(file, "contacts/status_names", list(STATUS))
        write_texts(file, "feet/state_names", list(foot_words.STATES))

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
            *(f"judged/{part}" for part in JUDGED),
        ):
            column(name)
        certificate = ("certificate/iterations", "certificate/missed")
        for name in (*certificate, "contacts/count", "contacts/body_a", "contacts/body_b"):
            column(name, kind=np.int64)
        for name in VECTORS:
            column(f"contacts/{name}", 3)
        column("q", sim.model.q_count)
        for name in ("v", *(f"motors/{part}" for part in MOTORS)):
            column(name, sim.model.v_count)
        feet = len(self._world.feet.names)
        for name, width in foot_history.LOADS.items():
            column(f"feet/{name}", feet, width)
        for name, kind in foot_history.TOLD.items():
            column(f"feet/{name}", feet, kind=kind)
        for name, kind in foot_history.EVENTS.items():
            column(f"feet/events/{name}", kind=kind)
        for name, width in ROBOTS.items():
            column(f"robots/{name}", len(self._world.robot_names), width)
        column("contacts/status", kind=np.int8)
        column(sensor_history.VALUES, sensor_history.prepare(file, sim.model))
        for name, nodes in pad_history.prepare(file, self._pads):
            column(name, nodes, 3, kind=np.float32)

    def _describe(self, about: str, scene: str) -> None:
        """What is written once: the world, its look, and where the run came from."""
        file = self._file
        anatomy.write(file.create_group("world"), self._world)
        look.write(file.create_group("look"), self._look)
        write_text(file, "meta", about)
        write_text(file, "scene", scene)

    def _write(self) -> None:
        """Rows to the file. A disk that is full ends the recording, not the simulation:
        it can go on without.
        """
        (rows, self._rows), (judged, self._judged) = (self._rows, []), (self._judged, [])
        self._written, self._clock = self._sim.data.time, clock.monotonic()
        first, last = (rows[0][0], rows[-1][0]) if rows else (self._written, self._written)
        changes = self._sim.data.foot_history[self._changes :]
        self._changes += len(changes)
        try:
            columns = self._columns(rows) if rows else {}
            columns |= foot_history.event_columns(changes)
            columns |= {
                f"judged/{name}": np.array([row[k] for row in judged], float)
                for k, name in enumerate(JUDGED)
            }
            need = 2 * sum(column.nbytes for column in columns.values())
            # asked for before: HDF5 does not survive a disk that fills up while it writes
            if self._free() < MARGIN + need:
                raise OSError(errno.ENOSPC, "full")
            if self._file is None:
                self._file = WholeHdf5(self.path, "r+")
            for name, added in columns.items():
                dataset = self._file[name]
                start = len(dataset)
                dataset.resize(start + len(added), axis=0)
                dataset[start:] = added
            self._file.flush()
        except (OSError, RuntimeError, KeyError) as fault:
            self._end(first, reason(fault))
        # room for these rows but not for as many again: end while they are safe
        if self._free() < MARGIN + need:
            self._end(last, reason(OSError(errno.ENOSPC, "full")))

    def _free(self) -> int:
        return shutil.disk_usage(self.path.absolute().parent).free

    def _end(self, time: float, why: str) -> None:
        self._abandon()
        raise RecordingError(
            f"{self.path}: the recording ends at {time:g} s, it cannot be written: {why}; "
            "make room, or record less often"
        ) from None

    def _columns(self, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
        """Rows as they stand in the file, by the names of its datasets."""
        time, q, v, effort, target, worst, count, reports, tables, turning, *others = zip(
            *rows, strict=True
        )
        soles, readings, pads = others
        data = self._sim.data
        report = _rows(b"".join(reports), data.outcome.report.dtype)
        contact = _rows(b"".join(tables), data.memory.contact.dtype)
        feet = _rows(b"".join(soles), data.memory.foot.dtype)
        missed, *greatest = np.array(worst).T
        found = {
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
            for name, column in (found | self._derived(found)).items()
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

    def _abandon(self) -> None:
        """Forget a file that cannot be written."""
        self._leave()
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError, RuntimeError):
                file.abandon()

    @staticmethod
    def load(path: str | Path) -> Recorded:
        """Everything that was recorded in a file."""
        return read(path)


def _rows(raw: bytes, columns: np.dtype[np.void]) -> NDArray[np.void]:
    """A table from the bytes of its rows."""
    return np.frombuffer(raw, columns)
