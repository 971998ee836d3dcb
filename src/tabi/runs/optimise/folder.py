"""The folder of a search.

    optimise.json   what is searched: the scene, the keys with their ranges, the cost, the seed;
                    files that the scene was written to, with the digests of their texts
    runs.jsonl      one line per run, as it ends: {"generation", "candidate", "numbers", "found"};
                    written whole and flushed to the disk
    state.json      the strategy after the last whole generation; replaced whole
    best.json       the best run so far: its numbers, its cost and what it measured

The strategy asks for the same candidates again after a kill, so runs of a generation that was not
ended are found by their number and not run again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tabi import TabiError, __version__
from tabi.runs.storage import lock

FORMAT = "tabi optimise 2"
ABOUT, LINES, STATE, BEST = "optimise.json", "runs.jsonl", "state.json", "best.json"
Row = dict[str, Any]
# errors of reading a file that was changed by hand
BROKEN = (ValueError, TypeError, KeyError, AttributeError)


@contextmanager
def opened(folder: Path, about: Row) -> Iterator[SearchFolder]:
    """The folder of a search, new or of the same one; refused if another one, or anything else, is
    in it.
    """
    about = {"format": FORMAT, "tabi": __version__, **about}
    file = folder / ABOUT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if file.exists():
            _compare(folder, about, file.read_bytes())
        elif any(other.name != f"{ABOUT}.part" for other in folder.iterdir()):
            raise TabiError(f"{folder}: there are other things in it; choose another --out")
        else:
            _write(file, json.dumps(about, indent=1))
        lines = (folder / LINES).open("a+b", buffering=0)
    except OSError as fault:
        raise TabiError(
            f"{folder}: no results can be kept there: {(fault.strerror or str(fault)).lower()}; "
            "choose another --out"
        ) from None
    with lines:
        lock(lines, folder)
        yield SearchFolder(folder, lines, len(about.get("keys", ())))


def wrote(folder: Path, file: Path) -> bool:
    """Whether a file is as the search in this folder wrote it."""
    try:
        stored = json.loads((folder / ABOUT).read_bytes())
        return _digest(file.read_bytes()) in stored["written"][str(file.resolve())]
    except (OSError, *BROKEN):
        return False


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _compare(folder: Path, about: Row, text: bytes) -> None:
    try:
        stored = json.loads(text)
        known = stored["format"] == FORMAT
    except BROKEN:
        known, stored = False, {}
    if not known:
        raise TabiError(
            f"{folder}: its {ABOUT} is no search of this version of tabi; choose another --out"
        )
    for name, value in about.items():
        if stored.get(name) != value:
            raise TabiError(
                f"{folder}: it has a search with another {name}; choose another --out, or remove "
                "that folder"
            )


def _write(file: Path, text: str) -> None:
    """A file that is there as a whole, or as it was."""
    part = file.with_name(f"{file.name}.part")
    part.write_text(text, encoding="utf-8", newline="")
    part.replace(file)


@contextmanager
def _storing(file: Path) -> Iterator[None]:
    """A disk that is full, say, in one sentence."""
    try:
        yield
    except OSError as fault:
        raise TabiError(
            f"{file}: {(fault.strerror or str(fault)).lower()}; the runs before are kept: make "
            "room, and repeat the command"
        ) from None


class SearchFolder:
    """Results of a search, read from its folder and added to.

    Attributes:
        runs: outcomes, by generation and number of the candidate. state: of the strategy,
            None before the first generation has ended. best: row of the best run, or None.

    Args:
        lines: the open file of runs. numbers: how many a run has.
    """

    def __init__(self, folder: Path, lines: Any, numbers: int) -> None:
        self.folder, self._lines, self._numbers = folder, lines, numbers
        self.runs: dict[tuple[int, int], Row] = {}
        self.best: Row | None = None
        lines.seek(0)
        data = lines.read()
        whole = data.rpartition(b"\n")[0]
        # a line half written by a process that was killed
        lines.truncate(len(whole) + bool(whole))
        for k, line in enumerate(whole.splitlines(), 1):
            try:
                row = json.loads(line)
                self._check(row)
                self._keep(row)
            except BROKEN:
                raise TabiError(
                    f"{folder / LINES}, line {k}: it is no run of this search; "
                    "remove the line, and it will be run again"
                ) from None
        state = folder / STATE
        try:
            self.state: Row | None = json.loads(state.read_bytes()) if state.exists() else None
        except ValueError:
            raise self.state_error() from None

    def state_error(self) -> TabiError:
        """Return the error of a state that cannot be continued: the same candidates are requested
        again from the start, and their runs are known.
        """
        return TabiError(
            f"{self.folder / STATE}: it is no state of this search; remove it, and it is made "
            f"again from {LINES}"
        )

    def _check(self, row: Row) -> None:
        """Raise an error for a line that is not a run."""
        outcome = row["found"]
        numbers = [*row["numbers"], 0.0 if outcome["cost"] is None else outcome["cost"]]
        named = isinstance(outcome["values"], dict) and isinstance(outcome["costs"], dict)
        whole = len(numbers) == self._numbers + 1 and all(map(math.isfinite, numbers))
        if not named or not whole or not isinstance(outcome["stopped"], str):
            raise ValueError

    def _keep(self, row: Row) -> None:
        self.runs[int(row["generation"]), int(row["candidate"])] = row
        # of one that broke down there is no cost
        cost = row["found"]["cost"]
        if cost is not None and cost < self.least:
            self.best = row

    @property
    def least(self) -> float:
        """The best cost so far."""
        return math.inf if self.best is None else float(self.best["found"]["cost"])

    def add(self, row: Row) -> None:
        """A run that has ended: on the disk when this returns."""
        data = json.dumps(row).encode() + b"\n"
        with _storing(self.folder / LINES):
            # a disk takes what it has room for, and refuses the rest
            while data:
                data = data[self._lines.write(data) :]
            os.fsync(self._lines.fileno())
        before = self.best
        self._keep(row)
        if self.best is not before:
            with _storing(self.folder / BEST):
                _write(self.folder / BEST, json.dumps(row, indent=1))

    def store_state(self, state: Row) -> None:
        """Store the state of the strategy after a generation."""
        self.state = state
        with _storing(self.folder / STATE):
            _write(self.folder / STATE, json.dumps(state, indent=1))

    def write_scene(self, file: Path, text: str) -> None:
        """Write the best motion as a scene file; this search may write it again."""
        about, place = self.folder / ABOUT, file.resolve()
        with _storing(about):
            stored = json.loads(about.read_bytes())
            # noted before it is written: a process killed in between may still repeat it
            digests = stored.setdefault("written", {}).setdefault(str(place), [])
            if (digest := _digest(text.encode())) not in digests:
                digests.append(digest)
                _write(about, json.dumps(stored, indent=1))
        with _storing(file):
            _write(place, text)
