"""Contents of a recording, read from its file;
``writer`` writes it and describes the format of the file.

Files may be broken, or made to break the reader: whatever is wrong ends in one ``RecordingError``
of one sentence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._renamed import RenamedAttribute
from tabi.recording import (
    anatomy,
    episodes,
    foot_history,
    look,
    pad_history,
    sensor_history,
    tracks,
)
from tabi.recording.anatomy import Anatomy
from tabi.recording.episodes import Episode, Span
from tabi.recording.foot_history import FootEvent
from tabi.recording.hdf5 import RefusedError, UntrustedFile
from tabi.recording.look import Look
from tabi.recording.pad_history import RecordedPad
from tabi.recording.problems import RecordingError, reason
from tabi.recording.whole_file import opened

Array = NDArray[np.float64]
FORMAT = "tabi recording 3"
STATUS = ("open", "stick", "slip")
CERTIFICATE = ("residual", "iterations", "missed", "gap")
WORST = ("worst_residual", "worst_joint_residual", "worst_penetration")
STEP_ERRORS = ("time", "force_residual", "pressure_shift")
VECTORS = ("point", "normal", "force", "moment")
CONTACTS = ("body_a", "body_b", *VECTORS, "gap", "status")
INTEGERS = ("iterations", "missed", "body_a", "body_b", "status")
# columns by what they count: their names and widths
MOTORS = ("effort", "target")
ROBOTS = {"centre_of_mass": 3, "zmp": 3}
ENERGY = ("kinetic", "potential")


@dataclass(frozen=True, eq=False)
class Recorded:
    """Contents of one episode of a recording.

    Attributes:
        time: shape (n,) [s].
        q, v: shape (n, …).
        dt [s], tolerance [m/s], version, created: of the run.
        joint_names: as in the model. body_names: what body_a and body_b count.
        certificate: columns by name, shape (n,).
        contact_count: of each row.
        contacts: columns by name, the points of all rows in turn.
        meta: versions, and what the caller added, for example a seed.
        scene: text of the scene file, empty without one.
        world: how bodies hang together, and the names of feet and robots. look: meshes.
        motors: effort [N·m or N] and target position of each degree of freedom, (n, v).
        energy: kinetic and potential [J], (n,).
        feet: wrench (n, feet, 6) in the world's axes about the foot's origin [N, N·m],
            pressure (n, feet, 2) in its frame [m]; (n, feet): state, a place in
            ``foot_words.STATES``, margin of the pressure point to the sole's edge [m], and
            signal, 1 where the foot carries the robot, debounced. Files without a state
            or signal have −1 there.
        robots: centre_of_mass and zmp (n, robots, 3) [m];
            pressure, margin and zmp are NaN where nothing is borne.
        step_errors: of some steps, about one a second, time [s] and what the independent
            certificate says: force_residual [N], pressure_shift [m].
        closed: whether its writer came to an end, and was not killed. ended: how the recording
            ended, in words; how this episode did: ``episodes[episode].ended``.
        episode: which one this is, counted from 0. episodes: all that the file has.
        foot_events: every change of a foot's state, also between rows.
        sensors: readings (n, width) of each sensor by name. sensor_labels: what each of its numbers
            is, as "gyro x [rad/s]".
        pads: soft soles by the names of their feet, and other soft pads.
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
    meta: dict[str, Any]
    scene: str
    world: Anatomy
    look: Look
    motors: dict[str, Array]
    energy: dict[str, Array]
    feet: dict[str, NDArray[Any]]
    robots: dict[str, Array]
    step_errors: dict[str, Array]
    judged = RenamedAttribute("step_errors")
    closed: bool = True
    foot_events: tuple[FootEvent, ...] = ()
    sensors: dict[str, Array] = field(default_factory=dict)
    sensor_labels: dict[str, list[str]] = field(default_factory=dict)
    pads: dict[str, RecordedPad] = field(default_factory=dict)
    ended: str = ""
    episode: int = 0
    episodes: tuple[Episode, ...] = ()

    @property
    def episode_name(self) -> str:
        """Which episode this is, where there are several: "episode 3 (of 0 to 9)"."""
        last = len(self.episodes) - 1
        return f"episode {self.episode} (of 0 to {last})" if last > 0 else ""

    def contacts_at(self, row: int) -> dict[str, NDArray[Any]]:
        """The contacts of one row, columns by name."""
        row = range(len(self.time))[row]
        start = int(self.contact_count[:row].sum())
        return {
            name: column[start : start + int(self.contact_count[row])]
            for name, column in self.contacts.items()
        }

    @property
    def summary(self) -> dict[str, float]:
        """Worst of the run so far: residual [m/s], joint_residual, penetration [m];
        of this episode: steps that did not converge, rows, seconds.

        Of the certified steps, one a second: force_residual [N], pressure_shift [m].
        """
        c, n = self.certificate, len(self.time)
        worst = {name.removeprefix("worst_"): float(c[name].max(initial=0.0)) for name in WORST}
        worst |= {name: float(self.step_errors[name].max(initial=0.0)) for name in STEP_ERRORS[1:]}
        missed = int(np.diff(c["missed"]).clip(0).sum())
        return worst | {
            "missed": missed,
            "rows": n,
            "seconds": float(self.time[-1] - self.time[0]) if n else 0.0,
        }

    def motion(self, rows: Any = slice(None)) -> tracks.Motion:
        """Return poses and velocities of all moving bodies in some rows."""
        return tracks.motion(self.world, self.q[rows])


def read(path: str | Path, episode: int | None = None) -> Recorded:
    """Read one episode of a recording, default: the last.

    Args:
        episode: counted from 0; −1 is the last one.
    """
    path = Path(path)
    if episode is not None and (
        isinstance(episode, bool) or not isinstance(episode, int | np.integer)
    ):
        raise RecordingError(
            f"{path}: episode is {str(episode)[:80]!r}; expected a whole number, or None for the "
            "last one; what records a simulation is sim.record(path)"
        )
    if not path.is_file():
        raise RecordingError(
            f"{path}: {'it is a folder' if path.is_dir() else 'there is no such file'}; "
            "expected a recording"
        )
    try:
        with opened(path) as file:
            return _read(UntrustedFile(path, file), episode)
    except RecordingError as fault:
        raise RecordingError(f"{path}: {fault}") from None
    except BlockingIOError:
        raise RecordingError(
            f"{path}: it is still being written; close the recording first"
        ) from None
    except RefusedError as fault:
        raise RecordingError(f"{path}: it is no whole recording: {fault}") from None
    except MemoryError:
        raise RecordingError(
            f"{path}: it needs more memory than there is; record less often, or for a shorter time"
        ) from None
    except Exception as fault:  # HDF5 raises anything over a damaged file
        written = "already open" in str(fault)
        what = (
            "it is still being written; close the recording first"
            if written
            else "it is no recording; expected an .hdf5 file of tabi run SCENE --record FILE.hdf5"
            if "signature not found" in str(fault)
            else f"it cannot be read as a recording: {reason(fault)}"
        )
        raise RecordingError(f"{path}: {what}") from None


def _check_format(file: UntrustedFile) -> None:
    """Refuse what tabi has not written, or another version of it."""
    file.expect(
        "format" in file.file.attrs, "it does not name its format, so it is no recording of tabi"
    )
    # the first format had texts in a heap, which are not read
    file.expect(
        file.file.attrs.get_id("format").dtype.kind == "S",
        "it is of an earlier version of tabi: record the run again",
    )
    format_ = file.attribute("format")
    file.expect(
        format_ == FORMAT,
        (
            f"its format is {str(format_)[:80]!r}, expected {FORMAT!r}; "
            "it is of another version of tabi: record the run again"
        ),
    )


def _read(file: UntrustedFile, episode: int | None) -> Recorded:
    _check_format(file)
    names, world = file.texts("body_names"), anatomy.read(file, "world")
    dt, tolerance = (float(file.attribute(name)) for name in ("dt", "tolerance"))
    file.expect(
        dt > 0 and tolerance > 0,
        f"its dt is {dt} and its tolerance {tolerance}, expected positive numbers",
    )
    n, count = _extent(file, world)
    step_error_count = min(file.length(f"judged/{c}") for c in STEP_ERRORS)
    spans, ends = episodes.read(file, n, foot_history.count_events(file), step_error_count)
    ending, time = episodes.read_ending(file), file.reals("time", rows=n)
    parts = episodes.described(spans, ends, time, dt, ending)
    number = _episode_number(episode, len(parts))
    span = spans[number]
    rows, before = span.row, int(count[: span.row.start].sum())
    count = count[rows.start : rows.stop]
    contact_rows = range(before, before + int(count.sum()))
    certificate = {c: _column(file, f"certificate/{c}", c, rows) for c in (*CERTIFICATE, *WORST)}
    contacts = {
        c: _column(file, f"contacts/{c}", c, contact_rows, 3 if c in VECTORS else 0)
        for c in CONTACTS
    }
    for side in ("body_a", "body_b"):
        file.expect(
            ((contacts[side] >= 0) & (contacts[side] < len(names))).all(), "a contact is of no body"
        )
    file.expect(
        ((contacts["status"] >= 0) & (contacts["status"] < len(STATUS))).all(),
        "a contact is in no known state",
    )
    return Recorded(
        time=time[rows.start : rows.stop],
        q=file.reals("q", (None, world.q_count), rows=rows),
        v=file.reals("v", (None, world.v_count), rows=rows),
        certificate=certificate,
        contact_count=count,
        contacts=contacts,
        dt=dt,
        tolerance=tolerance,
        version=str(file.attribute("version")),
        created=str(file.attribute("created")),
        joint_names=file.texts("joint_names"),
        body_names=names,
        closed=bool(ending[0]),
        ended=ending[1],
        episode=number,
        episodes=parts,
        **_rest(file, world, span, names),
    )


def _episode_number(episode: int | None, count: int) -> int:
    """Return the number of an episode, counted from the beginning."""
    number = count - 1 if episode is None else episode + count if episode < 0 else episode
    if not 0 <= number < count:
        there = "one episode, 0" if count == 1 else f"{count} episodes, 0 to {count - 1}"
        raise RecordingError(f"there is no episode {episode}; it has {there}")
    return number


def _extent(file: UntrustedFile, world: Anatomy) -> tuple[int, NDArray[np.int64]]:
    """Rows, and contacts of each:
    of a writer that was killed while it wrote, what all columns have.
    """
    rows = ["time", "q", "v", "contacts/count", *(f"certificate/{c}" for c in CERTIFICATE)]
    rows += [
        *(f"certificate/{c}" for c in WORST),
        *(f"motors/{c}" for c in MOTORS),
        *(f"energy/{c}" for c in ENERGY),
    ]
    rows += [
        *(
            f"feet/{c}"
            for c in (*foot_history.LOADS, *foot_history.state_columns(file))
            if world.feet.names
        ),
        *(f"robots/{c}" for c in ROBOTS if world.robot_names),
        *sensor_history.length(file),
        *pad_history.length(file),
    ]
    n = min(file.length(name) for name in rows)
    count = file.integers("contacts/count", rows=n)
    points = min(file.length(f"contacts/{c}") for c in CONTACTS)
    # a count that is absurd ends what can be read, in floats lest sums overflow
    file.expect((count >= 0).all(), "a row has less than no contacts")
    n = int(np.searchsorted(np.cumsum(count, dtype=float), points, side="right"))
    return n, count[:n]


def _column(
    file: UntrustedFile, name: str, column: str, rows: range, width: int = 0
) -> NDArray[Any]:
    shape = (None, width) if width else (None,)
    return (
        file.integers(name, shape, rows)
        if column in INTEGERS
        else file.reals(name, shape, rows=rows)
    )


def _rest(file: UntrustedFile, world: Anatomy, span: Span, names: list[str]) -> dict[str, Any]:
    """Read what the episode has besides state and contacts."""
    rows = span.row
    file.expect(len(world.link) == len(names), "its bodies and their names are not equally many")
    meta = json.loads(file.text("meta"))
    file.expect(isinstance(meta, dict), "its meta data are no table")

    def loads(name: str, count: int, width: int) -> Array:
        if count == 0:
            return np.zeros((len(rows), 0, width))
        values = file.numbers(name, "f", (None, count, width), rows).astype(float)
        file.expect(not np.isinf(values).any(), f"{name!r} has infinite numbers")
        return values

    sensors, labels = sensor_history.read(file, rows)
    shown = look.read(file, "look", len(world.body["parent"]))
    return {
        "pads": pad_history.read(file, rows, len(world.body["parent"]), len(shown.pieces)),
        "sensors": sensors,
        "sensor_labels": labels,
        "meta": meta,
        "scene": file.text("scene"),
        "world": world,
        "look": shown,
        "motors": {c: file.reals(f"motors/{c}", (None, world.v_count), rows=rows) for c in MOTORS},
        "energy": {c: file.reals(f"energy/{c}", rows=rows) for c in ENERGY},
        "feet": foot_history.read(file, len(world.feet.names), rows),
        "foot_events": foot_history.read_events(file, world.feet.names, span.event),
        "step_errors": {c: file.reals(f"judged/{c}", rows=span.step_errors) for c in STEP_ERRORS},
        "robots": {
            c: loads(f"robots/{c}", len(world.robot_names), width) for c, width in ROBOTS.items()
        },
    }
