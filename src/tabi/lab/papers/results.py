"""The folder of ``tabi validate papers``: what was found so far, one line a run.

    results.jsonl   {"run", "sources", "found"}, written whole as a run ends
    papers.html     the report, written again at the end, also of an unfinished one

A run that has a line with the same sources is not done again: an interrupted one goes on. Sources
are all files that a run could read, code and scenes, and the versions of what it rests on; once one
changes, all runs are done again.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from tabi import TabiError
from tabi.apps.doctor import version_of
from tabi.runs.storage import lock

LINES, PAGE = "results.jsonl", "papers.html"
SUFFIXES = (".py", ".yaml")
PACKAGES = ("numpy", "numba", "mujoco", "pin")


@cache
def sources() -> str:
    """A short name of all that decides how a run ends."""
    folder = Path(str(resources.files("tabi")))
    versions = [f"{name} {version_of(name)}" for name in PACKAGES]
    digest = hashlib.sha256("\n".join(versions).encode())
    for file in sorted(folder.rglob("*")):
        # how results are shown changes none of them
        if file.suffix in SUFFIXES and not file.is_relative_to(folder / "apps"):
            digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


class PaperResults:
    """Stored results, by the words of their run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / LINES
            foreign = [
                file_there.name
                for file_there in folder.iterdir()
                if file_there.name not in (LINES, PAGE)
            ]
            if foreign and not file.exists():
                raise TabiError(
                    f"{folder} has other things in it, {foreign[0]} for one; "
                    "expected an empty folder or one of an earlier run: choose another --out"
                )
            self.outcomes = _read(file)
            self._lines = file.open("a+b", buffering=0)
        except OSError as fault:
            raise TabiError(
                f"{folder}: no results can be kept there: "
                f"{(fault.strerror or str(fault)).lower()}; choose another --out"
            ) from None
        lock(self._lines, folder)

    def add(self, run: str, outcome: dict[str, Any]) -> None:
        """Store the result of a run, on the disk too."""
        self.outcomes[run] = outcome
        line = json.dumps({"run": run, "sources": sources(), "found": outcome})
        try:
            self._lines.write(line.encode() + b"\n")
            os.fsync(self._lines.fileno())
        except OSError as fault:
            raise TabiError(
                f"{self.folder / LINES}: {(fault.strerror or str(fault)).lower()}; the runs before "
                "are kept: make room, and repeat the command"
            ) from None


def _read(file: Path) -> dict[str, dict[str, Any]]:
    """Lines of the same sources; one that was cut short is taken away."""
    result: dict[str, dict[str, Any]] = {}
    if not file.exists():
        return result
    data = file.read_bytes()
    if not data.endswith(b"\n"):
        data = data[: data.rfind(b"\n") + 1]
        file.write_bytes(data)
    for line in data.splitlines():
        try:
            record = json.loads(line)
            if record["sources"] == sources():
                result[record["run"]] = record["found"]
        except (ValueError, TypeError, KeyError):
            continue
    return result
