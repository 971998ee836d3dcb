"""Feet in a recording: wrench, pressure point and state of each in every row, and every
change of a state, also those between rows.

They are what the simulator itself says after each step. Files of earlier versions have wrenches and
pressure points only: their states are NOT_RECORDED, their margins NaN, and they list no change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording.foot_words import NONE, NOT_RECORDED, STATES, name_of
from tabi.recording.hdf5 import UntrustedFile

Array = NDArray[np.float64]
# columns of a row and foot that older files have too, and their widths; those that they have not
LOADS = {"wrench": 6, "pressure": 2}
STATE_COLUMNS: dict[str, Any] = {"state": np.int8, "margin": float, "signal": np.int8}
EVENTS: dict[str, Any] = {"time": float, "foot": np.int64, "before": np.int8, "after": np.int8}


@dataclass(frozen=True)
class FootEvent:
    """A change of a foot's state: "none", "vertex, stick", … "face, slide".

    Attributes:
        time: of the end of the step that changed it [s]. foot: its name.
    """

    time: float
    foot: str
    before: str
    after: str


def columns(rows: NDArray[np.void]) -> dict[str, NDArray[Any]]:
    """Datasets of rows (n, feet) of the simulator's table of feet."""
    loaded = rows["state"] != NONE
    return {
        "feet/wrench": np.concatenate([rows["force"], rows["torque"]], axis=2),
        "feet/pressure": np.where(loaded[:, :, None], rows["pressure"], np.nan),
        "feet/state": rows["state"].astype(np.int8),
        "feet/margin": np.where(loaded, rows["margin"], np.nan),
        "feet/signal": rows["signal"].astype(np.int8),
    }


def event_columns(events: list[tuple[float, int, int, int]]) -> dict[str, NDArray[Any]]:
    """Datasets of changes: time [s], number of the foot, state before, after."""
    parts = list(zip(*events, strict=True)) or [()] * len(EVENTS)
    return {
        f"feet/events/{name}": np.array(part, kind)
        for (name, kind), part in zip(EVENTS.items(), parts, strict=True)
    }


def state_columns(file: UntrustedFile) -> list[str]:
    """Return the columns of this file that older files do not have."""
    return [name for name in STATE_COLUMNS if file.has(f"feet/{name}")]


def read(file: UntrustedFile, feet: int, rows: range) -> dict[str, NDArray[Any]]:
    """Read the columns of some rows by name."""
    columns: dict[str, NDArray[Any]] = {}
    n = len(rows)
    for name, width in LOADS.items():
        columns[name] = (
            _loads(file, f"feet/{name}", (None, feet, width), rows)
            if feet
            else np.zeros((n, 0, width))
        )
    here = state_columns(file)
    for name, kind in STATE_COLUMNS.items():
        path, missing = f"feet/{name}", np.nan if kind is float else NOT_RECORDED
        if name not in here:
            columns[name] = np.full((n, feet), missing, kind)
        elif kind is float:
            columns[name] = _loads(file, path, (None, feet), rows)
        else:
            columns[name] = file.integers(path, (None, feet), rows).astype(kind)
    _check_states(file, columns["state"], NOT_RECORDED)
    return columns


def count_events(file: UntrustedFile) -> int:
    """Return the number of changes; of a writer that was killed, what all columns have."""
    paths = [f"feet/events/{name}" for name in EVENTS]
    if not all(file.has(path) for path in paths):
        return 0
    return min(file.length(path) for path in paths)


def read_events(file: UntrustedFile, names: list[str], subset: range) -> tuple[FootEvent, ...]:
    """Read a range of the changes, of feet of these names."""
    if not subset:
        return ()
    time, foot, before, after = (
        file.reals(f"feet/events/{name}", rows=subset)
        if name == "time"
        else file.integers(f"feet/events/{name}", rows=subset)
        for name in EVENTS
    )
    file.expect(((foot >= 0) & (foot < len(names))).all(), "a change is of no foot")
    _check_states(file, np.concatenate([before, after]), NONE)
    return tuple(
        FootEvent(round(t, 9), names[k], name_of(a), name_of(b))
        for t, k, a, b in zip(*(part.tolist() for part in (time, foot, before, after)), strict=True)
    )


def _check_states(file: UntrustedFile, states: NDArray[Any], least: int) -> None:
    known = (states >= least) & (states < len(STATES))
    file.expect(known.all(), "a foot is in no known state")


def _loads(file: UntrustedFile, name: str, shape: tuple[int | None, ...], rows: range) -> Array:
    """Numbers that are NaN where a foot bears nothing."""
    values = file.numbers(name, "f", shape, rows).astype(float)
    file.expect(not np.isinf(values).any(), f"{name!r} has infinite numbers")
    return values
