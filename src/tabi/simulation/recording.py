"""A run in an HDF5 file: state, contacts and certificate of every recorded step.

Attributes of the file: format, version (of tabi), created, dt [s], tolerance [m/s]. Datasets, one row per recorded step:
time [s], q, v; certificate/{residual [m/s], iterations, missed, gap [m]}, where missed counts the steps of the run so far
that did not reach the tolerance; contacts/count. The points of all rows follow each other in contacts/{body_a, body_b,
point [m], normal, force on a [N], gap [m], status}: bodies are places in body_names, status one in contacts/status_names.

Rows are written and flushed after every second of simulated time or of the clock. The datasets are there from the start
and the format is the oldest HDF5 has: a file whose writer was killed opens, with all but the last second.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import shutil
import sys
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from numpy.typing import NDArray

from tabi._errors import TabiError
from tabi.simulation import motors
from tabi.simulation.observation import STILL, contact_count

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
FORMAT = "tabi recording 1"
STATUS = ("open", "stick", "slip")
CERTIFICATE = ("residual", "iterations", "missed", "gap")
CONTACTS = ("body_a", "body_b", "point", "normal", "force", "gap", "status")
# seconds, of the simulation or of the clock, between two writings
INTERVAL = 1.0
# bytes of the disk left to others, and to HDF5's own pages
MARGIN = 4_000_000


class RecordingError(TabiError, OSError):
    """A recording that cannot be written or read."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a recording holds.

    Attributes:
        time: shape (n,) [s]. q, v: shape (n, …). dt [s], tolerance [m/s], version, created: of the run.
        joint_names: as in the model. body_names: what body_a and body_b count.
        certificate: columns by name, shape (n,). contact_count: of each row. contacts: columns by name, the points of all rows in turn.
    """

    time: Array
    q: Array
    v: Array
    certificate: dict[str, NDArray[Any]]
    contact_count: NDArray[np.int64]
    contacts: dict[str, NDArray[Any]]
    dt: float
    tolerance: float
    version: str
    created: str
    joint_names: list[str]
    body_names: list[str]

    def contacts_at(self, row: int) -> dict[str, NDArray[Any]]:
        """The contacts of one row, columns by name."""
        row = range(len(self.time))[row]
        start = int(self.contact_count[:row].sum())
        return {name: column[start : start + int(self.contact_count[row])] for name, column in self.contacts.items()}


class Recording:
    """Writes a simulation into a file from now on, until it is closed.

    Args:
        path: file to write; one that is there is replaced.
        sim: what is recorded, its present state first.
        rate: rows a second of simulated time [Hz]; every step unless given.
    """

    def __init__(self, path: str | Path, sim: Simulator, rate: float | None = None) -> None:
        self.path, self.every = Path(path), motors.steps_between(rate, sim.dt, f"the recording {path}")
        names = list(sim.model.links)
        self._sim, self._body = sim, np.array([names.index(shape.link) for shape in sim.model.shapes], np.int64)
        self._rows: list[tuple[Any, ...]] = []
        self._file: Any = None
        if self.path in [r.path for r in sim._recordings]:
            raise RecordingError(f"{self.path}: this simulation is being recorded into it already; close that recording, or choose another name")
        try:
            self._file = h5py.File(self.path, "w")
            self._prepare(names)
        except OSError as fault:
            self._abandon()
            raise RecordingError(f"{self.path}: no recording can be written there: {reason(fault)}; choose a folder of yours") from None
        self._written, self._clock = sim.time, clock.monotonic()
        sim._recordings.append(self)
        self.take()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left and close the file; a second time does nothing."""
        if self in self._sim._recordings:
            self._sim._recordings.remove(self)
            self.rest()

    def take(self) -> None:
        """Note the present state; written at the latest a second from now."""
        sim, n = self._sim, contact_count(self._sim._room, self._sim._memory)
        self._rows.append(
            (
                sim.time,
                sim._q.copy(),
                sim._v.copy(),
                sim._room.report[0].copy(),
                sim.missed_count,
                sim._room.points[:n].copy(),
                sim._memory.touch[:n].copy(),
            )
        )
        if abs(sim.time - self._written) >= INTERVAL or clock.monotonic() - self._clock >= INTERVAL:
            self._write()

    def rest(self) -> None:
        """Write what is left and let go of the file, so that others can read it; the next rows open it again."""
        if self._rows:
            self._write()
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def _prepare(self, names: list[str]) -> None:
        """Everything the file will have, without rows."""
        sim, file, text = self._sim, self._file, h5py.string_dtype()
        created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        # not imported: the package's own face stands above this layer
        about = {"format": FORMAT, "version": sys.modules["tabi"].__version__, "created": created, "dt": sim.dt, "tolerance": sim.tolerance}
        for key, value in about.items():
            file.attrs[key] = value
        file.create_dataset("joint_names", data=list(sim.model.joint_names), dtype=text)
        file.create_dataset("body_names", data=names, dtype=text)
        file.create_dataset("contacts/status_names", data=list(STATUS), dtype=text)

        def column(name: str, width: int = 0, kind: Any = float) -> None:
            tail = (width,) if width else ()
            file.create_dataset(name, (0, *tail), kind, maxshape=(None, *tail), chunks=(max(16, 4096 // max(width, 1)), *tail))

        for name in ("time", "certificate/residual", "certificate/gap", "contacts/gap"):
            column(name)
        for name in ("certificate/iterations", "certificate/missed", "contacts/count", "contacts/body_a", "contacts/body_b"):
            column(name, kind=np.int64)
        for name in ("contacts/point", "contacts/normal", "contacts/force"):
            column(name, 3)
        column("q", sim.model.q_count)
        column("v", sim.model.v_count)
        column("contacts/status", kind=np.int8)
        file.flush()

    def _write(self) -> None:
        """Rows to the file. A disk that is full ends the recording, not the simulation: it can go on without."""
        rows, self._rows = self._rows, []
        self._written, self._clock = self._sim.time, clock.monotonic()
        try:
            columns = self._columns(rows)
            # asked for before: HDF5 does not survive a disk that fills up while it writes
            if shutil.disk_usage(self.path.absolute().parent).free < MARGIN + 2 * sum(column.nbytes for column in columns.values()):
                raise OSError(errno.ENOSPC, "full")
            if self._file is None:
                self._file = h5py.File(self.path, "r+")
            for name, added in columns.items():
                dataset = self._file[name]
                start = len(dataset)
                dataset.resize(start + len(added), axis=0)
                dataset[start:] = added
            self._file.flush()
        except (OSError, RuntimeError, KeyError) as fault:
            self._abandon()
            raise RecordingError(
                f"{self.path}: the recording ends at {rows[0][0]:g} s, it cannot be written: {reason(fault)}; make room, or record less often"
            ) from None

    def _columns(self, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
        """Rows as they stand in the file, by the names of its datasets."""
        time, q, v, reports, missed, point, touch = zip(*rows, strict=True)
        # bytes: NumPy compares the columns of tables that it joins, which takes longer than the steps
        tables: list[Any] = [np.frombuffer(b"".join(x.tobytes() for x in part), part[0].dtype) for part in (reports, point, touch)]
        report, points, touches = tables
        force, normal, u = touches["impulse"] / self._sim.dt, points["normal"], touches["velocity"]
        slip = np.linalg.norm(u - normal * (normal * u).sum(1, keepdims=True), axis=1)
        return {
            "time": np.array(time),
            "q": np.array(q),
            "v": np.array(v),
            "certificate/residual": report["residual"],
            "certificate/iterations": report["iterations"],
            "certificate/missed": np.array(missed),
            "certificate/gap": report["gap"],
            "contacts/count": np.array([len(p) for p in point]),
            "contacts/body_a": self._body[points["shape_a"]],
            "contacts/body_b": self._body[points["shape_b"]],
            "contacts/point": points["position"],
            "contacts/normal": normal,
            "contacts/force": force,
            "contacts/gap": points["gap"],
            "contacts/status": np.where((normal * force).sum(1) <= 0, 0, np.where(slip > STILL, 2, 1)),
        }

    def _abandon(self) -> None:
        """Forget a file that cannot be written."""
        if self in self._sim._recordings:
            self._sim._recordings.remove(self)
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError, RuntimeError):
                file.close()

    @staticmethod
    def load(path: str | Path) -> Recorded:
        """Everything that was recorded in a file."""
        path = Path(path)
        if not path.is_file():
            raise RecordingError(f"{path}: there is no such file; expected a recording")
        try:
            with h5py.File(path, "r") as file:
                return _read(path, file)
        except RecordingError:
            raise
        except BlockingIOError:
            raise RecordingError(f"{path}: it is still being written; close the recording first") from None
        except (OSError, KeyError, ValueError, RuntimeError) as fault:
            written = "already open" in str(fault)
            what = "it is still being written; close the recording first" if written else f"it cannot be read as a recording: {reason(fault)}"
            raise RecordingError(f"{path}: {what}") from None


def _read(path: Path, file: Any) -> Recorded:
    if file.attrs.get("format") != FORMAT:
        raise RecordingError(f"{path}: it is no recording of tabi, its format is {file.attrs.get('format', 'not named')}; expected {FORMAT!r}")
    # of a writer that was killed while it wrote, the rows that all columns have
    rows = ["time", "q", "v", "contacts/count", *(f"certificate/{name}" for name in CERTIFICATE)]
    n = min(len(file[name]) for name in rows)
    count, points = file["contacts/count"][:n], min(len(file[f"contacts/{name}"]) for name in CONTACTS)
    n = int(np.searchsorted(np.cumsum(count), points, side="right"))
    total = int(count[:n].sum())
    return Recorded(
        time=file["time"][:n],
        q=file["q"][:n],
        v=file["v"][:n],
        certificate={name: file[f"certificate/{name}"][:n] for name in CERTIFICATE},
        contact_count=count[:n],
        contacts={name: file[f"contacts/{name}"][:total] for name in CONTACTS},
        dt=float(file.attrs["dt"]),
        tolerance=float(file.attrs["tolerance"]),
        version=str(file.attrs["version"]),
        created=str(file.attrs["created"]),
        joint_names=[name.decode() for name in file["joint_names"][:]],
        body_names=[name.decode() for name in file["body_names"][:]],
    )


def take(recordings: list[Recording]) -> None:
    """Note the present state in all recordings whose turn it is."""
    for recording in list(recordings):
        if recording._sim._steps % recording.every == 0:
            recording.take()


def rest(recordings: list[Recording]) -> None:
    """Let go of the files of all recordings, because their simulation has stopped."""
    for recording in list(recordings):
        recording.rest()


def reason(fault: BaseException) -> str:
    """What the system says in a library's words about a file."""
    number = getattr(fault, "errno", None)
    if number is None:
        # HDF5 puts it inside a longer text
        _, found, tail = str(fault).partition("errno = ")
        number = int(tail.split(",")[0]) if found and tail.split(",")[0].isdigit() else None
    return os.strerror(number).lower() if number else " ".join(str(fault).split())
