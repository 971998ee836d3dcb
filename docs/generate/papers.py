"""Keeps the verdicts on the papers, and writes the table of their page.

tabi validate papers --out papers        some minutes on all cores
python docs/generate/papers.py papers        from that folder
python docs/generate/papers.py --tables      the table again, from docs/measured/papers.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from filling import DOCS, keep, table, write

from tabi import scenes
from tabi.apps.stamp import stamped
from tabi.lab.papers import experiments
from tabi.lab.papers.findings import MISSING, PaperRow, row, summary
from tabi.lab.papers.results import PaperResults

MEASURED = DOCS / "measured" / "papers.json"


def rows_of(folder: Path) -> list[PaperRow]:
    """All experiments with what a run of them found."""
    found = PaperResults(folder).outcomes
    return [row(one, found, False) for one in experiments.catalogue().values()]


def measured(rows: list[PaperRow], folder: Path) -> dict[str, Any]:
    """Their verdicts; refused where one is missing."""
    told = summary(rows)
    missing = [name for name, one in told["experiments"].items() if one["verdict"] == MISSING]
    if missing:
        raise SystemExit(f"{folder} has no run of {', '.join(missing)}: tabi validate papers")
    return told


def verdicts(told: dict[str, Any]) -> str:
    """A line for each experiment."""
    head = [
        "experiment",
        "paper",
        "scene",
        "verdict",
        "other laws",
        "other engines",
        "not converged",
    ]
    rows = []
    for name, one in told["experiments"].items():
        laws = ", ".join(f"{law} {found['verdict']}" for law, found in one["laws"].items())
        engines = ", ".join(found.get("engine", key) for key, found in one["referees"].items())
        rows.append(
            [
                f"`{name}`",
                f"{one['paper']}, {one['figure']}",
                f"[{scenes.load(one['scene']).title}](scenes.md)",
                f"**{one['verdict']}**" + (f": {' '.join(one['why'])}" if one["why"] else ""),
                laws or "–",
                engines or "–",
                f"{one['missed']} of {one['steps']}",
            ]
        )
    counts = ", ".join(f"{count} {name}" for name, count in told["verdicts"].items() if count)
    text = (
        f"{counts}. `tabi validate papers` writes the whole report, with figures, numbers and "
        "counter-runs: `papers/papers.html`."
    )
    return f"{text}\n\n{table(head, rows)}"


def main() -> None:
    if "--tables" not in sys.argv:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else "papers")
        rows = rows_of(folder)
        told = measured(rows, folder)
        keep(MEASURED, stamped(told))
    write(
        DOCS / "papers.md", "verdicts", verdicts(json.loads(MEASURED.read_text(encoding="utf-8")))
    )


if __name__ == "__main__":
    main()
