"""Tables of measures in CSV files: columns by the names in their first line.

Names carry their units (``force_n``, ``time_s``), numbers have a point, and unused columns are
ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tabi.identification.damped_oscillation import IdentificationError

Array = NDArray[np.float64]


def header(path: Path) -> list[str]:
    """Names of a table's columns."""
    return _cells(_lines(path)[:1])


def read(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Array]:
    """Columns of a table by name, those that are there of the optional ones.

    Raises:
        IdentificationError: with what is missing, and what is there.
    """
    lines = _lines(path)
    names = _cells(lines[:1])
    missing = [name for name in required if name not in names]
    if missing:
        raise IdentificationError(
            f"{path}: it has no column {', '.join(missing)}; its columns are "
            f"{', '.join(names) or 'none'}; name them in the first line"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise IdentificationError(f"{path}: column {twice} is there twice; expected it once")
    wanted = [*required, *(name for name in optional if name in names)]
    places = [names.index(name) for name in wanted]
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            rows.append(_numbers(path, number, line, wanted, places))
    table = np.array(rows, float).reshape(-1, len(wanted))
    return {name: table[:, k].copy() for k, name in enumerate(wanted)}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is no text"
        raise IdentificationError(
            f"{path}: it cannot be read: {why}; expected a CSV file"
        ) from None


def _cells(lines: Sequence[str]) -> list[str]:
    return [name.strip() for name in lines[0].split(",")] if lines else []


def _numbers(
    path: Path, number: int, line: str, wanted: Sequence[str], places: Sequence[int]
) -> list[float]:
    """Parse the numbers in the required columns of a line."""
    cells, numbers = line.split(","), []
    for name, k in zip(wanted, places, strict=True):
        try:
            numbers.append(float(cells[k]))
        except (ValueError, IndexError):
            cell = cells[k].strip()[:40] if k < len(cells) else "nothing"
            raise IdentificationError(
                f"{path}, line {number}: {name} is {cell!r}; expected a number with a point"
            ) from None
        if not np.isfinite(numbers[-1]):
            raise IdentificationError(
                f"{path}, line {number}: {name} is {numbers[-1]}; expected a finite number"
            )
    return numbers
