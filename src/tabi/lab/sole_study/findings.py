"""Results of a study of soles, as text and as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabi.apps import sweep_command as command
from tabi.lab.sole_study.figures import number
from tabi.lab.sole_study.front import StudyPoint, compromise, front, walked
from tabi.lab.sole_study.series import SERIES, SERIES_KEY, STEP, Grid, places
from tabi.runs.rows import Row, table


@dataclass(frozen=True)
class SoleStudy:
    """Results of a study of soles.

    Attributes:
        scene: with the settings of all runs, ``settings``. grid: keys and their values.
        steps: the step and half of it [s], as texts. folder: of the rows.
        rows: of all runs that have ended. lost: sentences about others.
    """

    scene: Any
    settings: list[str]
    grid: Grid
    steps: tuple[str, str]
    folder: Path
    rows: list[Row]
    lost: list[str]
    interrupted: bool

    @property
    def count(self) -> int:
        """Runs of the study."""
        return len(places(self.grid, self.steps))

    def points(self, series: str) -> list[StudyPoint]:
        """Return the points of a series whose two runs have ended, in the order of the grid."""
        rows = {tuple(sorted(row["parameters"].items())): row["outcome"] for row in self.rows}
        result = []
        for values in command.combinations(self.grid):
            keys = [
                tuple(sorted({SERIES_KEY: series, STEP: h, **values}.items())) for h in self.steps
            ]
            if all(key in rows for key in keys):
                result.append(StudyPoint(series, values, *(walked(rows[key]) for key in keys)))
        return result

    def code(self) -> int:
        """Return the exit code of the command."""
        if self.interrupted:
            return 130
        bad = (row["outcome"]["missed_steps"] or row["outcome"]["stopped"] for row in self.rows)
        return int(bool(self.lost) or any(bad))

    def to_dict(self) -> Row:
        """All of it, for machines."""
        series = {}
        for name in SERIES:
            points = self.points(name)
            best = compromise(points)
            series[name] = {
                "settings": list(SERIES[name]),
                "points": [_machine(point) for point in points],
                "falls": sum(point.falls for point in points),
                "front": [point.parameters for point in front(points)],
                "compromise": None if best is None else _machine(best),
            }
        return {
            "scene": self.scene.name,
            "title": self.scene.title,
            "settings": self.settings,
            "over": self.grid,
            "steps_s": [float(h) for h in self.steps],
            "folder": str(self.folder),
            "count": self.count,
            "done": len(self.rows),
            "interrupted": self.interrupted,
            "lost": self.lost,
            "series": series,
        }

    def text(self, file: Path) -> str:
        """For people: a table and a compromise for each series."""
        lines = [
            f"{self.scene.name}: {self.scene.title}",
            f"  {len(self.rows)} of {self.count} runs; report in {file}",
            *(f"  LOST: {words}" for words in self.lost),
        ]
        for name in SERIES:
            points = self.points(name)
            lines += ["", f"  {name}: {verdict(points)}"]
            if points:
                lines += ["", *("  " + line for line in table(columns(points)))]
        if self.interrupted:
            lines += ["", "  interrupted; the same command goes on"]
        return "\n".join(lines)


def columns(points: list[StudyPoint]) -> list[tuple[str, list[str]]]:
    """Heads and cells of the table of a series."""
    selected, best = compromise(points), front(points)
    result = [(key, [point.parameters[key] for point in points]) for key in points[0].parameters]
    state = ["compromise" if p is selected else "front" if p in best else p.state for p in points]
    fell = [min((t for t in (p.run.fallen, p.finer.fallen) if t), default=None) for p in points]
    return [
        *result,
        ("peak [m/s²]", [number(p.run.impact) for p in points]),
        ("median", [number(p.run.median) for p in points]),
        ("half step", [number(p.finer.impact) for p in points]),
        ("change", [number(p.change, ".1%") for p in points]),
        ("leant [°]", [number(p.run.inclination) for p in points]),
        ("roll", [number(p.run.roll) for p in points]),
        ("pitch", [number(p.run.pitch) for p in points]),
        ("fell [s]", [number(t) for t in fell]),
        ("", state),
    ]


def verdict(points: list[StudyPoint]) -> str:
    """A series in a sentence."""
    if not points:
        return "no point has both its runs yet"
    falls, counting = sum(p.falls for p in points), sum(p.counts for p in points)
    counts = f"{counting} of {len(points)} points count, {falls} fall"
    best = compromise(points)
    if best is None:
        return f"{counts}; no compromise"
    values = ", ".join(f"{key}={value}" for key, value in best.parameters.items())
    a, i = best.place
    return f"{counts}; compromise {values}: {a:.3g} m/s², {i:.3g}°"


def _machine(point: StudyPoint) -> Row:
    """A point, with units in the names."""

    def run(outcome: Any) -> Row:
        return {
            "impact_m_s2": outcome.impact,
            "median_impact_m_s2": outcome.median,
            "inclination_deg": outcome.inclination,
            "roll_deg": outcome.roll,
            "pitch_deg": outcome.pitch,
            "fallen_at_s": outcome.fallen,
            "stopped": outcome.stopped,
            "missed_steps": outcome.missed,
        }

    return {
        "parameters": point.parameters,
        **run(point.run),
        "half_step": run(point.finer),
        "change": point.change,
        "falls": point.falls,
        "counts": point.counts,
    }
