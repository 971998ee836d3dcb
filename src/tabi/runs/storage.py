"""The folder of a sweep.

    sweep.json      what is swept: the scene with its fixed settings, and the keys that vary
    results.jsonl   one line per run, as it ends: {"run", "parameters", "outcome"};
                    written whole and flushed to the disk
    results.csv     the same as a table, for other programs;
                    replaced whole now and then, and at the end
    run-0001.h5     recordings, by the number of their run

A process that is killed leaves the lines it wrote; a last one without its end is removed.
A line with the parameters of an earlier one replaces it.
"""

from __future__ import annotations

import csv
import json
import math
import os
import time as clock
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabi import TabiError, __version__
from tabi.recording import locks
from tabi.runs.rows import Row, flat

if TYPE_CHECKING:
    from tabi.scenes import Scene

FORMAT = "tabi sweep 1"
# seconds between two tables
INTERVAL = 2.0


@contextmanager
def opened(folder: Path, scene: Scene, keys: list[str]) -> Iterator[Results]:
    """The results in a folder, new or of the same sweep;
    refused if another one, or anything else, is in it.
    """
    about = {
        "format": FORMAT,
        "tabi": __version__,
        "scene": scene.name,
        "keys": sorted(keys),
        "settings": list(scene.settings),
        "contents": scene.to_yaml(),
    }
    file = folder / "sweep.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / "sweep.json.part"
        if not file.exists() and any(other != part for other in folder.iterdir()):
            raise TabiError(f"{folder}: there are other things in it; choose another --out")
        if file.exists():
            _compare(folder, about, file.read_text(encoding="utf-8"))
        else:
            part.write_text(json.dumps(about, indent=2), encoding="utf-8")
            part.replace(file)
        lines = (folder / "results.jsonl").open("a+b", buffering=0)
    except OSError as fault:
        raise TabiError(
            f"{folder}: no results can be kept there: {(fault.strerror or str(fault)).lower()}; "
            "choose another --out"
        ) from None
    with lines:
        lock(lines, folder)
        results = Results(folder, lines)
        try:
            yield results
        finally:
            results.write_table()


def _compare(folder: Path, about: Row, text: str) -> None:
    try:
        stored = json.loads(text)
        known = stored["format"] == FORMAT
    except (ValueError, TypeError, KeyError):
        known, stored = False, {}
    if not known:
        raise TabiError(
            f"{folder}: its sweep.json is no sweep of this version of tabi; choose another --out"
        )
    settings = ", ".join(map(str, stored.get("settings") or ())) or "none"
    differences = {
        "scene": f"of the scene {stored.get('scene')}",
        "keys": f"over {', '.join(map(str, stored.get('keys') or ()))}",
        "settings": f"with other settings ({settings})",
        "contents": "of an earlier state of the scene file",
        "tabi": f"of tabi {stored.get('tabi')}",
    }
    for name, what in differences.items():
        if stored.get(name) != about[name]:
            raise TabiError(
                f"{folder}: it has a sweep {what[:300]}, not this one; "
                "choose another --out, or remove that folder"
            )


def lock(lines: Any, folder: Path) -> None:
    """Refuse a folder that another process is writing into."""
    try:
        locks.lock(lines.fileno())
    except BlockingIOError:
        raise TabiError(
            f"{folder}: another process is at it; wait for it, or choose another --out"
        ) from None


class Results:
    """Rows of a sweep, read from its folder and added to."""

    def __init__(self, folder: Path, lines: Any) -> None:
        self.folder, self._lines = folder, lines
        self.rows: dict[tuple[tuple[str, str], ...], Row] = {}
        self._numbers = 0
        self._files: dict[tuple[tuple[str, str], ...], int] = {}
        lines.seek(0)
        data = lines.read()
        whole = data.rpartition(b"\n")[0]
        if len(whole) + bool(whole) < len(data):
            # a line half written by a process that was killed
            lines.truncate(len(whole) + bool(whole))
        for k, line in enumerate(whole.splitlines(), 1):
            try:
                row = json.loads(line)
                flat(row["outcome"])
                self._keep(row)
            except (ValueError, TypeError, KeyError, AttributeError):
                raise TabiError(
                    f"{folder / 'results.jsonl'}, line {k}: it is no row of a sweep; "
                    "remove the line, and it will be run again"
                ) from None
        self._table = clock.monotonic()

    def _keep(self, row: Row) -> None:
        self._numbers = max(self._numbers, int(row["run"]))
        self.rows[tuple(sorted(row["parameters"].items()))] = row

    def has(self, parameters: dict[str, str], record: bool) -> bool:
        """Whether a run is done, with its recording where one is wanted."""
        row = self.rows.get(tuple(sorted(parameters.items())))
        if row is None:
            return False
        return (
            not record
            or row["outcome"]["stopped"] is not None
            or self._path(int(row["run"])).exists()
        )

    def _path(self, number: int) -> Path:
        return self.folder / f"run-{number:04d}.h5"

    def _number(self, parameters: dict[str, str]) -> int:
        key = tuple(sorted(parameters.items()))
        if key not in self._files:
            self._numbers += 1
            self._files[key] = self._numbers
        return self._files[key]

    def file(self, parameters: dict[str, str]) -> Path:
        """Return the path of the recording of a run."""
        return self._path(self._number(parameters))

    def add(self, parameters: dict[str, str], outcome: Row) -> None:
        """Store a run that has ended: it is on the disk when this returns."""
        row = {
            "run": self._number(parameters),
            "parameters": parameters,
            "outcome": _finite(outcome),
        }
        self._lines.write(json.dumps(row).encode() + b"\n")
        os.fsync(self._lines.fileno())
        self._keep(row)
        if clock.monotonic() - self._table > INTERVAL:
            self.write_table()

    def of(self, combinations: Iterable[dict[str, str]]) -> list[Row]:
        """Return the rows of combinations that have one, in their order."""
        keys = (tuple(sorted(parameters.items())) for parameters in combinations)
        return [self.rows[key] for key in keys if key in self.rows]

    def write_table(self) -> None:
        """All rows as CSV, in the order of their runs."""
        self._table = clock.monotonic()
        rows = [
            {"run": row["run"], **row["parameters"], **flat(row["outcome"])}
            for row in sorted(self.rows.values(), key=lambda row: row["run"])
        ]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        part = self.folder / "results.csv.part"
        with part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, restval="")
            writer.writeheader()
            writer.writerows(rows)
        part.replace(self.folder / "results.csv")


def _finite(value: Any) -> Any:
    """Return the same with None where a number is not finite, which JSON has no word for."""
    if isinstance(value, dict):
        return {key: _finite(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
