"""Outcomes of the runs of a sweep by name, and the table that is printed at the end."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabi._errors import unknown
from tabi.runs.summary import Summary
from tabi.scenes.reader import NUMBER

if TYPE_CHECKING:
    from tabi.scenes import Scene
    from tabi.simulation.simulator import Simulator

Row = dict[str, Any]
UNITS = ("_m_s2", "_m_s", "_deg_s", "_deg", "_s", "_m", "_n")
# of a run's summary, what is no outcome of it
ABOUT = ("scene", "title", "settings", "robots", "interrupted")
# lines and places of the printed table, and smallest difference of places
MAX_LINES, MAX_PLACES, MIN_DIFFERENCE_M = 60, 6, 1e-4


def flat(outcome: Row) -> Row:
    """Outcomes of a run as columns: worst_residual_m_s, places_m.crate.x, fallen_at_s.hrp2,
    impact_m_s2.hrp2, …
    """
    out = {
        name: value
        for name, value in outcome.items()
        if name not in (*ABOUT, "fallen_at_s", "places_m", "walks")
    }
    out |= {
        f"fallen_at_s.{robot}": outcome["fallen_at_s"].get(robot) for robot in outcome["robots"]
    }
    for robot, walk in outcome.get("walks", {}).items():
        out |= {f"{name}.{robot}": x for name, x in walk.items() if not isinstance(x, list)}
    return out | {
        f"places_m.{name}.{axis}": x
        for name, place in outcome["places_m"].items()
        for axis, x in zip("xyz", place, strict=True)
    }


def of_walks(sim: Simulator) -> dict[str, Row]:
    """Return what will be reported of robots that walk, by their names, with a number for each."""
    from tabi.runs.watch import walk_monitors

    numbers: dict[str, Row] = {}
    for watch in walk_monitors(sim):
        for name, walk in watch.measured({}).items():
            items = walk.to_dict().items()
            numbers.setdefault(name, {}).update(
                {key: 0.0 for key, x in items if x is None or _is_number(x)}
            )
    return numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int)


def outcomes(
    robots: list[str], places: list[str], walks: dict[str, Row] | None = None
) -> list[str]:
    """Names of a run's outcomes that are numbers; ``walks``: see ``of_walks``."""
    summary = Summary(
        "",
        "",
        robots=tuple(robots),
        fallen=dict.fromkeys(robots, 0.0),
        walks=walks or {},
        places={name: [0.0, 0.0, 0.0] for name in places},
    )
    return [name for name, value in flat(summary.to_dict()).items() if _is_number(value)]


def outcome(requested: str, names: list[str]) -> str:
    """Return the outcome of a name that may lack its unit, and the robot's name if there is one."""
    first, dot, _ = requested.partition(".")
    matches = [name for name in names if name == requested or _without_unit(name) == requested]
    if not matches and not dot:
        matches = [
            name
            for name in names
            if name.partition(".")[0] in (first, *(first + unit for unit in UNITS))
        ]
    if len(matches) != 1:
        raise unknown("outcome", requested, "this sweep", map(_without_unit, matches or names))
    return matches[0]


def _without_unit(name: str) -> str:
    first, dot, rest = name.partition(".")
    return (
        next((first.removesuffix(unit) for unit in UNITS if first.endswith(unit)), first)
        + dot
        + rest
    )


@dataclass(frozen=True)
class SweepReport:
    """Report of a sweep: the grid, rows in its order, runs whose processes were lost,
    whether it was interrupted.
    """

    scene: Scene
    settings: list[str]
    grid: dict[str, list[str]]
    folder: Path
    rows: list[Row]
    lost: list[str]
    interrupted: bool

    @property
    def count(self) -> int:
        """Runs of the grid."""
        return math.prod(map(len, self.grid.values()))

    def code(self) -> int:
        """Return the exit code of the command."""
        if self.interrupted:
            return 130
        return int(
            bool(self.lost)
            or any(row["outcome"]["missed_steps"] or row["outcome"]["stopped"] for row in self.rows)
        )

    def to_dict(self) -> Row:
        """All of it, for machines."""
        over = {key: [_value(text) for text in values] for key, values in self.grid.items()}
        about = {
            "scene": self.scene.name,
            "title": self.scene.title,
            "settings": self.settings,
            "over": over,
            "folder": str(self.folder),
        }
        values_by_run = (
            {key: _value(text) for key, text in row["parameters"].items()} for row in self.rows
        )
        runs = [
            {"run": row["run"], "parameters": values, **row["outcome"]}
            for row, values in zip(self.rows, values_by_run, strict=True)
        ]
        return about | {
            "count": self.count,
            "done": len(self.rows),
            "interrupted": self.interrupted,
            "lost": self.lost,
            "runs": runs,
        }

    def text(self) -> str:
        """A table for people: the keys that vary, then how each run went."""
        lines = [
            f"{self.scene.name}: {self.scene.title}",
            f"  {len(self.rows)} of {self.count} runs, in {self.folder / 'results.csv'}",
        ]
        lines += [f"  LOST: {words}" for words in self.lost]
        if self.rows:
            lines += ["", *("  " + line for line in table(self.columns()))]
        if self.interrupted:
            lines += ["", "  interrupted; the same command goes on"]
        return "\n".join(lines)

    def columns(self) -> list[tuple[str, list[str]]]:
        """Heads and cells of the table."""
        rows = [flat(row["outcome"]) for row in self.rows]
        keys = [key for key, values in self.grid.items() if len(values) > 1] or list(self.grid)
        varied = [(key, [row["parameters"][key] for row in self.rows]) for key in keys]
        columns = [
            ("worst error [m/s]", "worst_residual_m_s", ".1e"),
            ("missed", "missed_steps", "d"),
            ("overlap [µm]", "worst_penetration_m", ".3g"),
        ]
        columns += [
            (f"{name.partition('.')[2]} fell [s]", name, ".3g")
            for name in _named(rows, "fallen_at_s.")
        ]
        for words, start in (("impact [m/s²]", "impact_m_s2."), ("leant [°]", "inclination_deg.")):
            columns += [
                (f"{name.partition('.')[2]} {words}", name, ".3g") for name in _named(rows, start)
            ]
        columns += [
            (f"{' '.join(name.split('.')[1:])} [m]", name, ".4f") for name in _varying_places(rows)
        ]
        for head, name, form in columns:
            values = [row.get(name) for row in rows]
            scale = 1e6 if "µ" in head else 1
            varied.append((head, ["–" if x is None else _plain(scale * x, form) for x in values]))
        if any(row["stopped"] for row in rows):
            varied.append(
                ("", [f"STOPPED: {row['stopped']}"[:80] if row["stopped"] else "" for row in rows])
            )
        return varied


def _value(text: str) -> float | str:
    return float(text) if NUMBER.fullmatch(text) else text


def _plain(x: float, form: str) -> str:
    # without the sign of a zero
    return format(x if form == "d" else x if abs(x) >= 5e-5 or form != ".4f" else 0.0, form)


def _named(rows: list[Row], start: str) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row if name.startswith(start)))


def _varying_places(rows: list[Row]) -> list[str]:
    """Places that differ from run to run, those that differ most."""
    spread = {}
    for name in _named(rows, "places_m."):
        values = [row[name] for row in rows if row.get(name) is not None]
        spread[name] = max(values) - min(values) if values else 0.0
    most = sorted(
        (name for name in spread if spread[name] > MIN_DIFFERENCE_M), key=lambda name: -spread[name]
    )[:MAX_PLACES]
    return [name for name in spread if name in most]


def table(columns: list[tuple[str, list[str]]]) -> list[str]:
    """Lines of a table, numbers to the right."""
    widths = [max(len(cell) for cell in (head, *cells)) for head, cells in columns]

    def line(cells: Iterable[str]) -> str:
        return "  ".join(
            cell.rjust(width) for cell, width in zip(cells, widths, strict=True)
        ).rstrip()

    count = len(columns[0][1])
    body = [line(cells[k] for _, cells in columns) for k in range(min(count, MAX_LINES))]
    return [
        line(head for head, _ in columns),
        *body,
        *([f"… and {count - MAX_LINES} more"] if count > MAX_LINES else []),
    ]
