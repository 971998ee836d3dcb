"""Draws the figures and writes the table of the page on soles' study, by ``tabi study soles``.

python docs/generate/sole_study.py [SCENE [KEY=VALUES …]]     goes on where it was left, in OUT
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from filling import DOCS, PICTURES, table, write
from saving import save_figure

from tabi.apps import sweep_command as command
from tabi.lab.sole_study import figures, findings, series, soles
from tabi.runs import storage

OUT = Path(tempfile.gettempdir()) / "tabi-sole-study"


def study(scene: str, over: list[str]) -> findings.SoleStudy:
    """Run what is left of it, and read all."""
    from tabi import scenes

    words = [word for one in over for word in ("--over", one)]
    words += ["--out", str(OUT), "--json"]
    told = subprocess.run(
        [sys.executable, "-m", "tabi.apps.cli", "study", "soles", scene, *words],
        stdout=subprocess.PIPE,
        text=True,
    )
    steps = tuple(command.shortest(h) for h in json.loads(told.stdout)["steps_s"])
    base, grid = scenes.load(scene), command.read_grid(over)
    keys = [series.SERIES_KEY, series.STEP, *grid]
    with storage.opened(OUT, base, keys) as results:
        rows = results.of(series.places(grid, steps))
    return findings.SoleStudy(base, [], grid, steps, OUT, rows, [], False)


def main() -> None:
    scene, *over = sys.argv[1:] or [soles.SCENE]
    found = study(scene, over or list(soles.OVER))
    parts = ["## What came out"]
    for name in series.SERIES:
        points = found.points(name)
        for k, family in enumerate(figures.families(found.grid)):
            file = f"sole_study_{name}{k or ''}.svg"
            save_figure(figures.curves(found.grid, points, family), PICTURES / file)
            parts.append(f"![{name}: peaks and inclination](pictures/{file})")
        save_figure(figures.pareto(points), PICTURES / f"sole_study_{name}_front.svg")
        parts.append(f"![{name}: front](pictures/sole_study_{name}_front.svg)")
        parts.append(f"*Series {name}: {findings.verdict(points)}.*")
        heads = findings.columns(points)
        rows = zip(*(cells for _, cells in heads), strict=True)
        parts.append(table([words for words, _ in heads], [list(row) for row in rows]))
    write(DOCS / "sole_study.md", "results", "\n\n".join(parts))


if __name__ == "__main__":
    main()
