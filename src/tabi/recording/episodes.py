"""Episodes of a recording: a reset or a restored state ends one and begins the next, so that time
runs forwards in each.

In the file, one row per episode: episodes/{row, event, judged}, where it begins among the rows, the
changes of feet and the certified steps, and episodes/ended, a place in ENDED. How the recording
itself ended are the attributes ended and ended_by of the file; a file without them was never
closed. Files of earlier versions have none of this: they are one episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording.hdf5 import UntrustedFile, write_attribute

Array = NDArray[np.float64]
STARTS = ("row", "event", "judged")
# of an episode: the recording itself ended, or another one began
ENDED = ("", "reset", "restore", "exception")
# of a recording
CLOSED, EXIT, EXCEPTION = "closed", "exit", "exception"
WORDS = {
    "reset": "reset",
    "restore": "another state was restored",
    "exception": "stopped by an exception, then reset or restored",
}
MAX_TEXT = 300
NOT_CLOSED = (
    "not closed: its process was killed or still records; up to its last second may be missing"
)


@dataclass(frozen=True)
class Episode:
    """A part of a recording in which time runs forwards.

    Attributes:
        number: counted from 0. rows: how many were recorded.
        begin, end: times of its first and last row [s]. steps: between them.
        kind: how it ended: "closed", "exit", "exception", "reset", "restore", or empty where it is
            unknown: the process was killed. ended: the same in words.

    Example: ``tabi.Recording("learn.h5").episodes`` in docs/recordings.md
    """

    number: int
    rows: int
    begin: float
    end: float
    steps: int
    kind: str
    ended: str


@dataclass(frozen=True)
class Span:
    """Ranges of one episode among all rows, changes of feet and certified steps."""

    row: range
    event: range
    step_errors: range


class EpisodeTable:
    """Table of the episodes while they are recorded."""

    def __init__(self) -> None:
        self._starts: list[tuple[int, ...]] = []
        self._ended: list[int] = []

    def __len__(self) -> int:
        return len(self._starts)

    def begin(self, row: int, event: int, step_error: int) -> None:
        """Begin an episode, from these indices on."""
        self._starts.append((row, event, step_error))
        self._ended.append(0)

    def end(self, kind: str) -> None:
        """End the last episode, by one of ENDED."""
        if self._ended:
            self._ended[-1] = ENDED.index(kind)

    def columns(self, start: int) -> dict[str, NDArray[Any]]:
        """Return the columns of the episodes from ``start`` on, as they are stored in the file."""
        parts = np.array(self._starts[start:], np.int64).reshape(-1, len(STARTS)).T
        arrays: dict[str, NDArray[Any]] = {
            f"episodes/{name}": part for name, part in zip(STARTS, parts, strict=True)
        }
        return arrays | {"episodes/ended": np.array(self._ended[start:], np.int8)}


def write_ending(file: Any, ended: str, by: str = "") -> None:
    """Write how a recording ended; an empty text for one that goes on."""
    for name, words in (("ended", ended), ("ended_by", by)):
        if ended:
            write_attribute(file, name, words)
        elif name in file.attrs:
            del file.attrs[name]


def words_of(fault: BaseException) -> str:
    """Format an exception by its type and message, in one line."""
    if isinstance(fault, KeyboardInterrupt):
        return type(fault).__name__
    # never let what describes the end prevent it
    try:
        message = " ".join(str(fault).split())
    except Exception:
        message = ""
    return f"{type(fault).__name__}: {message}"[:MAX_TEXT].removesuffix(": ")


def read_ending(file: UntrustedFile) -> tuple[str, str]:
    """Read how a recording ended, and in words; the first is empty where it was never closed."""
    if not file.has("episodes") and "missed" in file.file["certificate"].attrs:
        return CLOSED, "closed normally"
    if "ended" not in file.file.attrs:
        return "", NOT_CLOSED
    kind, by = (str(file.attribute(name)) for name in ("ended", "ended_by"))
    words = {
        CLOSED: "closed normally",
        EXIT: "the script ended without closing it",
        EXCEPTION: "interrupted (Ctrl-C)" if by == "KeyboardInterrupt" else f"stopped by {by}",
    }
    file.expect(kind in words, f"it ended by {kind[:40]!r}, which is not known")
    return kind, words[kind]


def read(
    file: UntrustedFile, n: int, events: int, step_errors: int
) -> tuple[list[Span], list[int]]:
    """Read all episodes of n rows, changes of feet and certified steps, and the codes of their
    ends; of a writer that was killed, those that have rows.
    """
    if not file.has("episodes"):
        return [Span(range(n), range(events), range(step_errors))], [0]
    count = min(file.length(f"episodes/{name}") for name in (*STARTS, "ended"))
    starts = [file.integers(f"episodes/{name}", rows=count) for name in STARTS]
    ended = file.integers("episodes/ended", rows=count)
    for part, total in zip(starts, (n, events, step_errors), strict=True):
        file.expect(
            (np.diff(part) >= 0).all() and (part[:1] == 0).all() and (part >= 0).all(),
            "its episodes do not follow each other",
        )
        np.minimum(part, total, out=part)
    file.expect(((ended >= 0) & (ended < len(ENDED))).all(), "an episode ended in no known way")
    ends = [
        np.append(part[1:], total)
        for part, total in zip(starts, (n, events, step_errors), strict=True)
    ]
    spans = [
        Span(*(range(int(a[k]), int(b[k])) for a, b in zip(starts, ends, strict=True)))
        for k in range(count)
    ]
    while spans and not spans[-1].row:
        spans.pop()
    file.expect(all(span.row for span in spans), "an episode has no row")
    return spans or [Span(range(0), range(0), range(0))], ended.tolist()


def described(
    spans: list[Span], ended: list[int], time: Array, dt: float, ending: tuple[str, str]
) -> tuple[Episode, ...]:
    """Return the episodes, from the times of all rows and how the recording ended."""
    episodes = []
    for k, span in enumerate(spans):
        times = time[span.row.start : span.row.stop]
        begin, end = (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)
        kind = ENDED[ended[k]] if k < len(ended) else ""
        how = (kind, WORDS[kind]) if kind else ending
        episodes.append(Episode(k, len(times), begin, end, steps_of(times, dt), *how))
    return tuple(episodes)


def steps_of(time: Array, dt: float) -> int:
    """Steps between rows; where time runs back, as in files of earlier versions that were reset,
    there are none.
    """
    return sum(round(float(b - a) / dt) for a, b in pairwise(_turns(time)) if b > a)


def _turns(time: Array) -> list[float]:
    """Times of the first and last row, and around each place where time runs back."""
    if len(time) == 0:
        return []
    back = np.flatnonzero(np.diff(time) <= 0)
    return [float(time[k]) for k in sorted({0, len(time) - 1, *back, *(back + 1)})]
