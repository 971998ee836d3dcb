"""What the scripts that fill the documentation share:
tables between markers, plain axes, files that come out the same from the same numbers.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import matplotlib

DOCS = Path(__file__).resolve().parents[1]
PICTURES = DOCS / "pictures"
# the same file from the same numbers: no date of today, no random names
matplotlib.rcParams["svg.hashsalt"] = "tabi"
os.environ["SOURCE_DATE_EPOCH"] = "0"
BLUE, ORANGE, GREEN, GREY = "tab:blue", "tab:orange", "tab:green", "0.45"


def plain(axes: Any) -> None:
    """Axes without a box."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, which="major", alpha=0.3)


def short(seconds: float | None) -> str:
    """Two digits and a unit."""
    if seconds is None:
        return "–"
    scale, unit = (
        (1e6, "µs") if seconds < 0.9995e-3 else (1e3, "ms") if seconds < 0.9995 else (1.0, "s")
    )
    x = seconds * scale
    # a space that does not break
    return f"{x:.0f}\u00a0{unit}" if x >= 10 else f"{x:.1f}\u00a0{unit}"


def keep(file: Path, found: Any) -> None:
    """What was measured, without blanks: all of it is read by programs."""
    text = json.dumps(found, separators=(",", ":"), ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8", newline="\n")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, numbers to the right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def write(page: Path, name: str, text: str) -> None:
    """Replace what stands between the markers of a table."""
    old = page.read_text(encoding="utf-8")
    marked = re.compile(rf"(<!-- table {name}[^\n]*-->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not marked.search(old):
        raise SystemExit(
            f"{page.name} has no place for the table {name}: "
            f"<!-- table {name} --> … <!-- end {name} -->"
        )
    page.write_text(
        marked.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", old), encoding="utf-8"
    )
