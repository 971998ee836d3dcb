"""The report of a study of soles: one HTML page with everything inside, and no script."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from html import escape

from tabi import __version__
from tabi.analysis.impact_measures import AIR, CUTOFF, ORDER, WINDOW
from tabi.apps import doctor
from tabi.lab.sole_study import figures
from tabi.lab.sole_study.findings import SoleStudy, columns, verdict
from tabi.lab.sole_study.front import CHANGE, StudyPoint
from tabi.lab.sole_study.series import SERIES
from tabi.reporting.report.markup import plot, section, table, whole
from tabi.reporting.report.pictures import svg

WORDS = {
    "pattern": "Pattern and motors alone: no stabiliser, no bush in the ankles, as in the paper",
    "stabiliser": "With stabiliser and bush",
}
RULES = (
    f"Peak: vertical acceleration of the foot's plate, from its velocity in every step, through a "
    f"Butterworth low-pass of order {ORDER} at {CUTOFF:g} Hz run forwards and backwards; largest "
    f"magnitude in the {1e3 * WINDOW:g} ms from a touchdown on, the largest of all touchdowns. A "
    f"touchdown is the first load after {1e3 * AIR:g} ms without one.",
    "Inclination: largest roll or pitch of the waist against the walking pattern's upright trunk, "
    "over the walk.",
    f"Every point is run with the step and with half of it. One whose peak changes by more than "
    f"{100 * CHANGE:g} % of that with half the step is drawn hollow and does not count; nor does "
    "one in which the robot falls, drawn as a cross.",
    "Front: points that count and that no other beats in both. Compromise: the point of the front "
    "nearest to the corner of the smallest peak and the smallest inclination, with both axes "
    "scaled to their ranges over the front.",
)


def page(study: SoleStudy) -> str:
    """The whole page as text."""
    series = {name: study.points(name) for name in SERIES}
    title = f"Soles: {study.scene.name}"
    small = f"tabi {__version__} · {len(study.rows)} of {study.count} runs"
    head = (
        f"<header><small>{escape(small)}</small><h1>{escape(title)}</h1>"
        f"{escape(study.scene.title)}</header>"
    )
    verdicts = "".join(
        f'<p class="verdict{"" if any(p.counts for p in points) else " bad"}">'
        f"<b>{escape(name)}</b>: {escape(verdict(points))}</p>"
        for name, points in series.items()
    )
    parts = [head, verdicts, section("How it was judged", _list(RULES))]
    parts += [_series(study, name, points) for name, points in series.items()]
    parts += [_warnings(study), _about(study), _scene(study)]
    return whole(title, parts)


def _list(lines: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _series(study: SoleStudy, name: str, points: list[StudyPoint]) -> str:
    if not points:
        return section(WORDS[name], "<p>No point has both its runs yet.</p>")
    drawn = "".join(
        plot(
            svg(figures.curves(study.grid, points, family)),
            f"peak of acceleration and inclination of the waist, {name}",
        )
        for family in figures.families(study.grid)
    )
    drawn += plot(svg(figures.pareto(points)), f"front and compromise, {name}")
    heads = columns(points)
    rows = list(zip(*(cells for _, cells in heads), strict=True))
    names = [f"={words}" if words else "" for words, _ in heads]
    return section(WORDS[name], drawn + table(names, rows, len(rows) > 12))


def _warnings(study: SoleStudy) -> str:
    warnings = list(study.lost)
    for row in study.rows:
        outcome = row["outcome"]
        where = ", ".join(f"{key}={value}" for key, value in row["parameters"].items())
        if outcome["stopped"]:
            warnings.append(f"{where}: stopped: {outcome['stopped']}")
        if outcome["missed_steps"]:
            warnings.append(f"{where}: {outcome['missed_steps']} steps did not converge")
    if len(study.rows) < study.count:
        warnings.append(f"{study.count - len(study.rows)} runs are still to be done.")
    items = "".join(f"<li>{escape(words)}</li>" for words in warnings[:40])
    return section("To look at", f'<ul class="warnings">{items}</ul>') if items else ""


def _about(study: SoleStudy) -> str:
    packages = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy", "numba")
    )
    wall = sum(row["outcome"]["wall_s"] for row in study.rows)
    facts = {
        "Scene": study.scene.name,
        "Settings": ", ".join(study.settings),
        **{f"Series {name}": ", ".join(settings) for name, settings in SERIES.items()},
        **{key: ", ".join(values) for key, values in study.grid.items()},
        "Steps": f"{study.steps[0]} s, and {study.steps[1]} s to check",
        "Runs": f"{len(study.rows)} of {study.count}, {wall:.0f} s of computing in all",
        "Versions": f"tabi {__version__}, Python {platform.python_version()}, {packages}",
        "Machine": f"{platform.platform()}, {doctor.processor()}, {os.cpu_count()} cores",
    }
    rows = [[key, value] for key, value in facts.items() if value]
    return section("What was run", table(["", ""], rows))


def _scene(study: SoleStudy) -> str:
    return section("The scene file", f"<pre>{escape(study.scene.to_yaml())}</pre>")
