"""Writer of a run into an HDF5 file: state, contacts, motors and certificate of every recorded
step, and the look of the world.

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
caller adds), scene (text). One row per episode: episodes/… (``episodes``), with how each ended.

Rows are written and flushed after every second of simulated time or of the clock, and the file is
changed as a whole (``whole_file``): one whose writer was killed opens, with all but the last
second.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import sys
import threading
import time as clock
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tabi.model.controllers.rates import steps_between
from tabi.recording import episodes, file_names, foot_history, open_recordings
from tabi.recording.columns import Columns, Row, group_of
from tabi.recording.episodes import EpisodeTable
from tabi.recording.interrupts import postponed
from tabi.recording.problems import RecordingError, reason
from tabi.recording.recordable import Recordable, versions
from tabi.recording.recorded import STEP_ERRORS
from tabi.recording.whole_file import WholeHdf5

# seconds, of the simulation or of the clock, between two writings
INTERVAL = 1.0
# bytes of the disk left to others, and to HDF5's own pages
MARGIN = 4_000_000


class RecordingWriter:
    """Writer of a simulation into a file from now on, until it is closed; a process that ends
    closes it too. A reset, or a state that is restored, begins a new episode in the file.
    Example: ``with sim.record("run.h5"): sim.run(0.01)``.

    Args:
        path: file to write, a name that ends in .h5 or .hdf5; one that is there is replaced.
        sim: what is recorded, its present state first.
        rate: rows a second of simulated time [Hz]; default: every step.
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
        self.path = file_names.checked(path)
        # where it is, also after the script has gone to another folder
        self._place = self.path.absolute()
        self.every = steps_between(rate, sim.dt, f"the recording {path}")
        if problem := open_recordings.problem(self.path, sim):
            raise RecordingError(f"{self.path}: {problem}")
        self._sim, self._scheduled, self._lock = sim, None, threading.RLock()
        self._columns, self._episodes = Columns(sim), EpisodeTable()
        # noted and not yet in the file; how many takes there were since the last writing
        self._rows: list[Row] = []
        self._step_errors: list[tuple[float, float, float]] = []
        self._taken, self._full = 0, max(1, round(INTERVAL / (self.every * sim.dt)))
        # in the file: rows by ``group_of``, and the step of the last one
        self._stored = {"": 0, "contacts/": 0, "feet/events/": 0, "judged/": 0, "episodes/": 0}
        self._last_stored = -1
        # changes of feet before the recording began
        self._before = len(sim.data.foot_history)
        # an exception that stopped the run, and how many rows there were; what the file says
        self._stopped, self._ending = ("", -1), ("", "")
        self._first: Row | None = None
        self._file: Any = None
        self._create(scene, meta)
        self._clock = clock.monotonic()
        self._begin()
        self._scheduled = sim.every(self.every, self.take, self.stop, self.jump)
        open_recordings.add(self)

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        self._close(fault)

    def close(self, fault: BaseException | None = None) -> None:
        """Write the remaining rows and close the file; do nothing if it is closed.

        Args:
            fault: the exception that ended the run, if one did; the file names it.
        """
        self._close(fault)

    def close_at_exit(self, fault: BaseException | None) -> None:
        """Close it because the process ends, by an exception or without one."""
        self._close(fault, otherwise=episodes.EXIT)

    def _close(self, fault: BaseException | None = None, otherwise: str = episodes.CLOSED) -> None:
        with self._lock, postponed():
            if not open_recordings.holds(self):
                return
            self._catch_up()
            self._leave()
            self._settle()
            if self._rows:
                self._certify_end()
            by = self._stopped[0] if self._stopped[1] == self._count else ""
            if fault is not None and not isinstance(fault, SystemExit | GeneratorExit):
                by = episodes.words_of(fault)
            self._rest((episodes.EXCEPTION, by) if by else (otherwise, ""))

    def records(self, sim: Any) -> bool:
        """Whether it records this simulator."""
        return self._sim is sim

    def _leave(self) -> None:
        """Stop recording this simulator."""
        open_recordings.discard(self)
        if self._scheduled is not None:
            self._scheduled.cancel()

    # ---- what is noted ----------------------------------------------------------------------

    def take(self, data: Any) -> None:
        """Note the present state; written at the latest a second from now."""
        if self._scheduled is None or not self._scheduled.active:
            return
        if self._first is not None:
            # the state was restored within the step: none was simulated from there
            if data.steps == self._start:
                return
            self._begin_episode()
        elif data.steps != self._next:
            self._begin_after_jump()
            return
        self._rows.append(self._columns.noted(data))
        self._taken += 1
        if self._taken >= self._full or clock.monotonic() - self._clock >= INTERVAL:
            self._certify()
            self._write()

    def _begin(self) -> None:
        """The present state as the first row of an episode, which begins with its first step."""
        data = self._sim.data
        self._first = self._columns.noted(data)
        self._start, self._first_event = data.steps, len(data.foot_history) - self._before

    def _begin_episode(self) -> None:
        with postponed():
            if self._first is None:
                return
            step_errors = self._stored["judged/"] + len(self._step_errors)
            self._episodes.begin(self._count, self._first_event, step_errors)
            self._rows.append(self._first)
            self._first = None

    @property
    def _count(self) -> int:
        """Number of rows so far."""
        return self._stored[""] + len(self._rows)

    def _settle(self) -> None:
        """Begin an episode that waits for its first row, unless nothing was simulated in it; the
        first one is kept in any case.
        """
        if not self._episodes or self._sim.data.steps != self._start:
            self._begin_episode()

    @contextlib.contextmanager
    def jump(self, kind: str) -> Iterator[None]:
        """Around a reset, a restored state, or a state that is set."""
        data = self._sim.data
        self._catch_up()
        before = _moment(data)
        if kind != "set_state":
            self._certify_end()
        try:
            yield
        finally:
            with postponed():
                empty = self._first is not None and before[0] == self._start
                if kind == "set_state" and empty:
                    # what is simulated begins here
                    self._begin()
                elif kind != "set_state" and _moment(data) != before:
                    if not empty:
                        self._begin_episode()
                        stopped = self._stopped[1] == self._count
                        self._episodes.end(episodes.EXCEPTION if stopped else kind)
                    self._begin()

    def _catch_up(self) -> None:
        """Note a step that ended before its turn came: another callback raised, or restored."""
        data = self._sim.data
        if not open_recordings.holds(self):
            return
        if data.steps == self._next:
            self.take(data)
        elif not self._next - self.every <= data.steps < self._next:
            self._begin_after_jump()

    @property
    def _next(self) -> int:
        """The step whose state is noted next, unless there is a jump."""
        last = self._rows[-1][0] if self._rows else self._last_stored
        # of an episode that waits for its first row, the rows before are of another one
        last = self._start if self._first is not None else last
        return (last // self.every + 1) * self.every

    def _begin_after_jump(self) -> None:
        """Begin an episode after a jump that was not reported: an interrupt came right after it."""
        with postponed():
            self._begin_episode()
            self._episodes.end("restore")
            self._begin()

    def _certify(self) -> None:
        """Store the certificate of the last step, in newtons and metres; too slow for every
        step.
        """
        certificate = self._sim.certificate
        self._step_errors.append(
            (
                self._sim.data.time,
                certificate.force_residual,
                1e-3 * max(certificate.pressure_shift.values(), default=0.0),
            )
        )

    def _certify_end(self) -> None:
        """Certify the end of an episode; an error must not cost the rows, nor prevent a reset."""
        if self._first is None:
            with contextlib.suppress(Exception):
                self._certify()

    # ---- what is written --------------------------------------------------------------------

    def stop(self) -> None:
        """Write the remaining rows and close the file after an error or an interrupt of a run, so
        that other programs can read it; the next rows open it again.
        """
        with self._lock, postponed():
            self._catch_up()
            self._settle()
            fault = sys.exc_info()[1]
            by = episodes.words_of(fault) if fault is not None else "an exception"
            self._stopped = (by, self._count)
            self._rest((episodes.EXCEPTION, by))

    def _rest(self, ended: tuple[str, str]) -> None:
        """Write the remaining rows and how the run ended, and close the file."""
        if self._file is None and self._ending == ended and not self._rows and not self._new_events:
            return
        self._write(ended)
        file: Any = self._file
        self._file = None
        with contextlib.suppress(OSError, RuntimeError):
            for name, value in (
                ("missed", self._sim.data.missed_count),
                *((f"worst_{k}", x) for k, x in self._sim.data.worst.items()),
            ):
                file["certificate"].attrs[name] = value
        file.close()

    def _create(self, scene: str, meta: Mapping[str, Any] | None) -> None:
        known = versions() | {"reproducible": self._sim.reproducible} | dict(meta or {})
        about = json.dumps(known, default=str)
        try:
            with postponed():
                self._file = WholeHdf5(self._place, "w")
                self._columns.write_once(self._file, about, scene)
                self._file.flush()
        except BlockingIOError:
            raise RecordingError(
                f"{self.path}: another process records into it, or reads it; "
                "wait for that one, or choose another name"
            ) from None
        except OSError as fault:
            self._abandon()
            raise RecordingError(
                f"{self.path}: no recording can be written there: {reason(fault)}; "
                "choose a folder of yours"
            ) from None

    @property
    def _new_events(self) -> list[Any]:
        """Changes of feet that are not in the file."""
        return self._sim.data.foot_history[self._before + self._stored["feet/events/"] :]

    def _write(self, ended: tuple[str, str] = ("", "")) -> None:
        """Rows to the file, and how the run ended if it has. A disk that is full ends the
        recording, not the simulation: it can go on without.
        """
        with self._lock, postponed():
            rows, step_errors = self._rows, self._step_errors
            now = self._sim.data.time
            first, last = (rows[0][1], rows[-1][1]) if rows else (now, now)
            try:
                columns = self._columns.of(rows) if rows else {}
                columns |= foot_history.event_columns(self._new_events)
                columns |= {
                    f"judged/{name}": np.array([row[k] for row in step_errors], float)
                    for k, name in enumerate(STEP_ERRORS)
                }
                need = 2 * sum(column.nbytes for column in columns.values())
                # asked for before: HDF5 does not survive a disk that fills up while it writes
                if self._free() < MARGIN + need:
                    raise OSError(errno.ENOSPC, "full")
                grown = self._append(columns)
                episodes.write_ending(self._file, *ended)
                self._file.flush()
            except (OSError, RuntimeError, KeyError) as fault:
                self._end(first, reason(fault))
            self._last_stored = rows[-1][0] if rows else self._last_stored
            self._rows, self._step_errors, self._stored, self._ending = [], [], grown, ended
            self._taken, self._clock = 0, clock.monotonic()
            # room for these rows but not for as many again: end while they are safe
            if self._free() < MARGIN + need:
                self._end(last, reason(OSError(errno.ENOSPC, "full")))

    def _append(self, columns: dict[str, Any]) -> dict[str, int]:
        """Columns behind what is stored; how much there is of each group then."""
        if self._file is None:
            self._file = WholeHdf5(self._place, "r+")
            if len(self._file["time"]) != self._stored[""]:
                raise RuntimeError("another program has changed it")
        grown = dict(self._stored)
        # how the last one ended may be new
        again = max(0, self._stored["episodes/"] - 1)
        for name, added in (columns | self._episodes.columns(again)).items():
            group = group_of(name)
            start = again if group == "episodes/" else self._stored[group]
            grown[group] = start + len(added)
            dataset = self._file[name]
            dataset.resize(grown[group], axis=0)
            dataset[start:] = added
        return grown

    def _free(self) -> int:
        return shutil.disk_usage(self._place.parent).free

    def _end(self, time: float, why: str) -> NoReturn:
        self._abandon()
        raise RecordingError(
            f"{self.path}: the recording ends at {time:g} s, it cannot be written: {why}; "
            "make room, or record less often"
        ) from None

    def _abandon(self) -> None:
        """Forget a file that cannot be written."""
        self._leave()
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError, RuntimeError):
                file.abandon()

    def forget(self) -> None:
        """Close the descriptor in a forked process, without touching the file of the parent."""
        if self._scheduled is not None:
            self._scheduled.cancel()
        self._lock = threading.RLock()
        file, self._file = self._file, None
        if file is not None:
            file.forget()


def _moment(data: Any) -> tuple[int, bytes, bytes]:
    """A state, to be compared with another."""
    return data.steps, data.q.tobytes(), data.v.tobytes()
