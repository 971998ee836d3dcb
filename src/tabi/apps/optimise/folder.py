"""The folder of a search.

    optimise.json   what is searched: the scene, the keys with their ranges, the cost, the seed
    runs.jsonl      one line per run, as it ends: {"generation", "candidate", "numbers", "found"};
                    written whole and flushed to the disk
    state.json      the strategy after the last whole generation; replaced whole
    best.json       the best run so far: its numbers, its cost and what it measured

The strategy asks for the same candidates again after a kill, so runs of a generation that was not
ended are found by their number and not run again.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tabi import TabiError, __version__
from tabi.apps.sweep.storage import lock

FORMAT = "tabi optimise 1"
Row = dict[str, Any]


@contextmanager
def opened(folder: Path, about: Row) -> Iterator[SearchFolder]:
    """The folder of a search, new or of the same one; refused if another one, or anything else, is
    in it.
    """
    about = {"format": FORMAT, "tabi": __version__, **about}
    file = folder / "optimise.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if file.exists():
            _compare(folder, about, file.read_text(encoding="utf-8"))
        elif any(other.name != "optimise.json.part" for other in folder.iterdir()):
            raise TabiError(f"{folder}: there are other things in it; choose another --out")
        else:
            _write(file, about)
        lines = (folder / "runs.jsonl").open("a+b", buffering=0)
    except OSError as fault:
        raise TabiError(
            f"{folder}: no results can be kept there: {(fault.strerror or str(fault)).lower()}; "
            "choose another --out"
        ) from None
    with lines:
        lock(lines, folder)
        yield SearchFolder(folder, lines)


def _compare(folder: Path, about: Row, text: str) -> None:
    try:
        told = json.loads(text)
        known = told["format"] == FORMAT
    except (ValueError, TypeError, KeyError):
        known, told = False, {}
    if not known:
        raise TabiError(f"{folder}: its optimise.json is no search of tabi's; choose another --out")
    for name, value in about.items():
        if told.get(name) != value:
            raise TabiError(
                f"{folder}: it has a search with another {name}; choose another --out, or remove "
                "that folder"
            )


def _write(file: Path, value: Row) -> None:
    """A file that is there as a whole, or as it was."""
    part = file.with_name(f"{file.name}.part")
    part.write_text(json.dumps(value, indent=1), encoding="utf-8")
    part.replace(file)


class SearchFolder:
    """What is known of a search, read from its folder and added to.

    Attributes:
        runs: what was found, by generation and number of the candidate. state: of the strategy,
            None before the first generation has ended. best: row of the best run, or None.
    """

    def __init__(self, folder: Path, lines: Any) -> None:
        self.folder, self._lines = folder, lines
        self.runs: dict[tuple[int, int], Row] = {}
        self.best: Row | None = None
        lines.seek(0)
        data = lines.read()
        whole = data.rpartition(b"\n")[0]
        # what somebody who was killed had half written
        lines.truncate(len(whole) + bool(whole))
        for k, line in enumerate(whole.splitlines(), 1):
            try:
                self._keep(json.loads(line))
            except (ValueError, TypeError, KeyError):
                raise TabiError(
                    f"{folder / 'runs.jsonl'}, line {k}: it is no run of a search; "
                    "remove the line, and it will be run again"
                ) from None
        state = folder / "state.json"
        self.state: Row | None = json.loads(state.read_text("utf-8")) if state.exists() else None

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
        self._lines.write(json.dumps(row).encode() + b"\n")
        os.fsync(self._lines.fileno())
        before = self.best
        self._keep(row)
        if self.best is not before:
            _write(self.folder / "best.json", row)

    def keep_state(self, state: Row) -> None:
        """After a generation."""
        self.state = state
        _write(self.folder / "state.json", state)
