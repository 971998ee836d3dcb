"""``tabi optimise``: numbers of a scene that make a cost small, by CMA-ES in many processes.

Exit codes: 0, every target is reached, or there is none; 1, one is not, or a process was lost;
2, the search cannot be, and nothing was done, or the disk is full; 130, interrupted, with the best
kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabi import TabiError
from tabi.apps.run import SceneArgument, Settings, all_settings
from tabi.apps.showing import Json
from tabi.reporting.terminal import bar, interrupt, print_now

if TYPE_CHECKING:
    from tabi.runs.optimise.search import MotionSearch
    from tabi.scenes import Scene

# keys that are printed, at most
MAX_KEY_LINES = 40
Over = Annotated[
    list[str],
    typer.Option(
        metavar="KEY=RANGE",
        help="A number to search: KEY=FROM:TO, or KEY=+-X around what the scene says. KEY is a "
        "path of --set; KEY,OTHER ties two, KEY,-OTHER with the other sign, and * stands for "
        "everything there. May be repeated.",
    ),
]
Cost = Annotated[
    list[str],
    typer.Option(
        metavar="MEASURE",
        help="What counts: MEASURE[:BODY][>=X|<=X|=X][*WEIGHT]; may be repeated. Measures: fall, "
        "missed, torque, speed, travel, friction, pressure, gap, energy, height:BODY, "
        "lowest:BODY, distance:BODY,BODY, slip:BODY, rest:BODY.",
    ),
]

Time = Annotated[
    float | None, typer.Option(help="How long each run is [s]; by default what it says.")
]
Population = Annotated[
    int | None,
    typer.Option(min=4, max=10_000, help="Runs of a generation; default: 4 + 3 ln(keys)."),
]
Spread = Annotated[
    float, typer.Option(help="How far the first generation goes, as a share of the ranges.")
]
Jobs = Annotated[
    int | None, typer.Option(min=1, max=1024, help="Processes; default: one for each core.")
]
Out = Annotated[
    Path | None, typer.Option(help="Folder of the results; by default SCENE-optimise, here.")
]
Write = Annotated[
    Path | None,
    typer.Option(help="Write the scene with what was found into this file, at the end."),
]


def optimise(
    scene: SceneArgument,
    over: Over,
    cost: Cost,
    settings: Settings = None,
    time: Time = None,
    generations: Annotated[int, typer.Option(min=1, max=100_000, help="At most.")] = 50,
    population: Population = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search; the same gives the same.")] = 0,
    spread: Spread = 0.2,
    jobs: Jobs = None,
    out: Out = None,
    write: Write = None,
    as_json: Json = False,
) -> None:
    """Search numbers of a scene that make a cost small; repeat it to go on after an interrupt."""
    from tabi import scenes
    from tabi.runs.executor import cores
    from tabi.runs.optimise import folder, ranges, search
    from tabi.scenes.rewriting import rewritten

    fixed = all_settings(settings, time)
    base = scenes.load(scene, fixed)
    keys, terms = ranges.read_ranges(over, base.contents), _terms(cost, base)
    if not 0 < spread <= 1:
        raise TabiError(f"--spread is {spread:g}; expected a share of the ranges, from 0 to 1")
    out = out or Path(f"{base.name}-optimise")
    if write is not None:
        _check_target(write, base, out)
    plan = search.Plan(scene, fixed, keys, terms, population, seed, spread)
    with folder.opened(out, plan.about(base)) as results:
        search = search.MotionSearch(plan, results, jobs or cores())
        total = generations * search.strategy.population
        with bar("searching", total) as move, interrupt() as interrupted:
            why = search.run(generations, interrupted, move)
        report = SearchReport(base, search, why)
        # of one that goes on the scene is written when it has ended
        if write is not None and results.best is not None and why != "interrupted":
            result = scenes.load(scene, plan.settings(results.best["numbers"]))
            text, report.comments = rewritten(result, write)
            results.write_scene(write, text)
            report.written = write
    print_now(json.dumps(report.to_dict(), indent=2) if as_json else report.text())
    if code := report.code():
        raise typer.Exit(code)


def _terms(cost: list[str], base: Scene) -> tuple[str, ...]:
    """The terms of the cost; a body that is not there is refused before anything is kept."""
    from tabi.analysis import motion_cost

    terms = motion_cost.read_terms(cost)
    motion_cost.CostWatch(base, terms)
    return tuple(term.text for term in terms)


def _check_target(write: Path, base: Scene, out: Path) -> None:
    """Refuse to write what is no scene, or over one that this search did not write."""
    from tabi.reporting.outputs import check_writable
    from tabi.runs.optimise import folder

    check_writable(write)
    if write.suffix not in (".yaml", ".yml"):
        raise TabiError(f"--write {write}: expected a scene file, .yaml")
    if base.file is not None and write.exists() and write.samefile(base.file):
        raise TabiError(
            f"--write {write}: it is the scene that is searched, and the search goes on from it; "
            "choose another name"
        )
    if write.exists() and not folder.wrote(out, write):
        raise TabiError(
            f"--write {write}: it is there already, and not as this search wrote it; choose "
            "another name, or remove it"
        )


@dataclass
class SearchReport:
    """Report of a search at its end.

    Attributes:
        why: reason why it ended. written: file of the optimised scene.
        comments: whether that has those of the scene it began from.
    """

    scene: Scene
    search: MotionSearch
    why: str
    written: Path | None = None
    comments: bool = True

    def rows(self) -> list[dict[str, Any]]:
        """Terms of the cost, before and after."""
        from tabi.analysis.motion_cost import MEASURES, read_terms

        best, first = self.search.folder.best, self.search.first or {}
        values = {} if best is None else best["found"]
        rows = []
        for term in read_terms(self.search.plan.terms):
            rows.append(
                {
                    "term": term.text,
                    "unit": MEASURES[term.measure].unit,
                    "first": first.get("values", {}).get(term.text),
                    "found": values.get("values", {}).get(term.text),
                    # an infinite value has no word in JSON, but it has a cost
                    "cost": values.get("costs", {}).get(term.text),
                    "target": bool(term.relation) or term.measure in ("fall", "missed"),
                }
            )
        return rows

    def code(self) -> int:
        """Return the exit code of the command."""
        if self.why == "interrupted":
            return 130
        open_ = [row for row in self.rows() if row["target"] and row["cost"] != 0]
        return int(bool(open_ or self.search.lost or self.search.folder.best is None))

    def to_dict(self) -> dict[str, Any]:
        """All of it, for machines."""
        best, first = self.search.folder.best, self.search.first
        return {
            "scene": self.scene.name,
            "ended": self.why,
            "generations": self.search.strategy.generation,
            "runs": len(self.search.folder.runs),
            "first_cost": None if first is None else first["cost"],
            "cost": None if best is None else best["found"]["cost"],
            "terms": self.rows(),
            "numbers": {
                key.name: x
                for key, x in zip(
                    self.search.plan.keys, best["numbers"] if best else [], strict=False
                )
            },
            "settings": self.search.plan.settings(best["numbers"]) if best else [],
            "folder": str(self.search.folder.folder),
            "written": None if self.written is None else str(self.written),
            "lost": self.search.lost,
        }

    def text(self) -> str:
        """Format the report for the terminal."""
        end = self.to_dict()
        lines = [
            f"{self.scene.name}: cost {_number(end['first_cost'])} → {_number(end['cost'])} "
            f"after {end['generations']} generations, {end['runs']} runs, in {end['folder']}",
            f"  {self.why}",
        ]
        lines += [f"  LOST: {words}" for words in self.search.lost]
        for row in end["terms"]:
            met = " ✗" if row["target"] and row["cost"] else ""
            unit = f" {row['unit']}" if row["unit"] else ""
            ends = f"{_number(row['first'])} → {_number(row['found'])}"
            lines.append(f"  {row['term']}: {ends}{unit}{met}")
        for key in self.search.plan.keys[:MAX_KEY_LINES] if end["numbers"] else []:
            lines.append(f"    {key.name}: {key.start:g} → {end['numbers'][key.name]:g}")
        if len(self.search.plan.keys) > MAX_KEY_LINES:
            lines.append(f"    … and {len(self.search.plan.keys) - MAX_KEY_LINES} more")
        if self.written is not None:
            rest = "" if self.comments else ", without the comments of the file it began from"
            lines.append(f"  written to {self.written}{rest}")
        if self.why == "interrupted":
            lines.append("  interrupted; the same command goes on")
        return "\n".join(lines)


def _number(x: float | None) -> str:
    return "none" if x is None else f"{x:.4g}"
