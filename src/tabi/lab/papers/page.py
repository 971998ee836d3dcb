"""The report of ``tabi validate papers``: one HTML page with everything inside, and no script."""

from __future__ import annotations

import base64
import importlib.metadata
import math
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tabi import __version__, scenes
from tabi.apps import doctor
from tabi.apps.catalogue import picture
from tabi.lab.papers.experiments import PAPERS
from tabi.lab.papers.experiments.experiment import AGREES, DIFFERS, Criterion, Experiment
from tabi.lab.papers.findings import PaperRow, RunData, numbers_of, verdict_of
from tabi.reporting.figures import COLOURS, plain
from tabi.reporting.report.markup import plot, section, short, table, whole
from tabi.reporting.report.pictures import svg

# numbers whose names end so, in these units; the longest first
UNITS = {
    "_m_s2": "m/s²",
    "_nms_rad": "N·m·s/rad",
    "_nm_rad": "N·m/rad",
    "_rad_s": "rad/s",
    "_n_m": "N/m",
    "_deg_s": "°/s",
    "_m_s": "m/s",
    "_deg": "°",
    "_percent": "%",
    "_mm": "mm",
    "_ms": "ms",
    "_us": "µs",
    "_nm": "N·m",
    "_kg": "kg",
    "_hz": "Hz",
    "_m": "m",
    "_s": "s",
    "_n": "N",
    "_j": "J",
}
RULES = (
    "Agrees: every number is in its range, which was written down before the run from the claim of "
    "the paper. Differs: one is not, by how much is stated. Not comparable: the paper does not say "
    "enough, the reason is stated.",
    "A counter-run takes away what the paper says matters. It has to differ, and every criterion "
    "has to be failed by one of them, else it would say nothing.",
    "Error: backward error of the worst step, the largest change of a relative velocity that would "
    "make the forces obey Coulomb and Signorini exactly; of other laws it is how far they are "
    "from these. Missed: steps that did not converge to 10⁻⁸ m/s, or the tolerance of the scene.",
    "Laws: the same run with contacts by springs and dampers (penalty), by constraint selection, "
    "and with a friction pyramid of eight sides. Another engine runs the same scene from the same "
    "start with the same motors and commands.",
)


def page(rows: Sequence[PaperRow], notes: Sequence[str] = ()) -> str:
    """The whole page as text."""
    agree = sum(row.verdict == AGREES for row in rows)
    title = "Do simulation and experiment correspond?"
    papers = len({row.experiment.paper for row in rows})
    small = f"tabi {__version__} · experiments: {len(rows)} · papers: {papers}"
    head = f"<header><small>{escape(small)}</small><h1>{escape(title)}</h1></header>"
    kind = "verdict" if all(row.within for row in rows) else "verdict bad"
    summary = f'<p class="{kind}">{agree} of {len(rows)} experiments agree with their papers.</p>'
    parts = [head, summary, _verdicts(rows), section("How it was judged", _list(RULES))]
    if notes:
        parts.append(section("Left out", _list(notes)))
    for paper in PAPERS:
        of_paper = [row for row in rows if row.experiment.paper == paper]
        if of_paper:
            parts.append(f"<h1>{escape(PAPERS[paper])}</h1>")
            parts += [_experiment(row) for row in of_paper]
    parts.append(_about())
    return whole(title, parts)


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _verdicts(rows: Sequence[PaperRow]) -> str:
    head = ["Experiment", "Paper", "Verdict", "=Error", "=Missed", "Other laws", "Other engines"]
    cells = [
        [
            row.experiment.name,
            f"{row.experiment.paper}, {row.experiment.figure}",
            row.verdict,
            _error(row.run),
            f"{row.run.get('missed', 0)} of {row.run.get('steps', 0)}",
            ", ".join(
                f"{law} {verdict_of(row.experiment, outcome)}" for law, outcome in row.laws.items()
            ),
            ", ".join(outcome.get("engine", name) for name, outcome in row.referees.items()),
        ]
        for row in rows
    ]
    return section("Verdicts", table(head, cells, len(cells) > 12))


def _error(outcome: RunData) -> str:
    error = outcome.get("residual_m_s")
    return short(error, "m/s") if error is not None else "–"


def _experiment(row: PaperRow) -> str:
    about = row.experiment
    kind = {AGREES: "verdict", DIFFERS: "verdict bad"}.get(row.verdict, "note")
    why = "".join(f"<br>{escape(words)}" for words in row.why)
    parts = [
        _look(about),
        f"<p><b>{escape(about.paper)}, {escape(about.figure)}:</b> {escape(about.claim)}</p>",
        "".join(
            f'<p class="note">Not published, and chosen to fit: {escape(words)}</p>'
            for words in about.assumptions
        ),
        f'<p class="{kind}">{escape(row.verdict)}{why}</p>',
        _criteria(row),
        "".join(_drawn(figure) for figure in row.run.get("figures", ())),
        _variants(row),
        _referees(row),
        _notes(row),
    ]
    title = f"{about.name}: {scenes.load(about.scene).title}"
    return section(title, "\n".join(part for part in parts if part))


def _look(about: Experiment) -> str:
    scene, file = about.scene, picture(about.scene)
    if file is None:
        return ""
    data = base64.b64encode(Path(file).read_bytes()).decode()
    image = f'<img src="data:image/webp;base64,{data}" alt="{escape(scene)}" style="width: 45%">'
    run = " ".join(
        [f"tabi run {scene} --page", *(f"--set {shlex.quote(words)}" for words in about.settings)]
    )
    return f"<figure>{image}<figcaption><code>{escape(run)}</code></figcaption></figure>"


def _criteria(row: PaperRow) -> str:
    numbers, with_criterion = numbers_of(row.run), {c.number for c in row.experiment.criteria}
    rows = [
        [c.words, allowed(c), _value(c.number, numbers), _met(c, numbers)]
        for c in row.experiment.criteria
    ]
    extra = [
        [_words(name), _value(name, numbers)] for name in numbers if name not in with_criterion
    ]
    out = table(["What has to be", "=Range", "=Here", "Met"], rows) if rows else ""
    if extra:
        out += table(["Also measured", "=Here"], extra, len(extra) > 12)
    certificate = (
        f"Certificate: worst error of a step {_error(row.run)}, {row.run.get('missed', 0)} of "
        f"{row.run.get('steps', 0)} steps did not converge."
    )
    return out + f'<p class="note">{escape(certificate)}</p>'


def _met(c: Criterion, numbers: Mapping[str, float]) -> str:
    return "–" if not numbers else "yes" if c.met(numbers) else "no"


def allowed(c: Criterion) -> str:
    """The range of a criterion, in its unit."""
    unit = _unit(c.number)
    low, high = c.at_least, c.at_most
    if low == high:
        return f"{low:g} {unit}".strip()
    if math.isinf(high):
        return f"≥ {low:g} {unit}".strip()
    if math.isinf(low):
        return f"≤ {high:g} {unit}".strip()
    return f"{low:g} to {high:g} {unit}".strip()


def _unit(name: str) -> str:
    return next((unit for end, unit in UNITS.items() if name.endswith(end)), "")


def _words(name: str) -> str:
    end = next((end for end in UNITS if name.endswith(end)), "")
    return name.removesuffix(end).replace("_", " ")


def _value(name: str, numbers: Mapping[str, float]) -> str:
    x = numbers.get(name, math.nan)
    return "–" if math.isnan(x) else f"{x:.4g} {_unit(name)}".strip()


def _variants(row: PaperRow) -> str:
    """Laws and counter-runs, number by number."""
    about = row.experiment
    runs = {f"as published, {about.own_law}": row.run} | row.laws | row.counters
    if len(runs) < 2:
        return ""
    names = [c.number for c in about.criteria]
    head = ["Run", "Verdict", *(f"={_words(name)}" for name in names), "=Error", "=Missed"]
    rows = [
        [
            name if name not in row.counters else f"counter-run: {name}",
            verdict_of(about, outcome),
            *(_value(key, numbers_of(outcome)) for key in names),
            _error(outcome),
            str(outcome.get("missed", "–")),
        ]
        for name, outcome in runs.items()
    ]
    warnings = [f"no counter-run fails {', '.join(row.weak)}"] if row.weak else []
    warnings += [
        f"this counter-run does not differ, or was not run: {words}" for words in row.unproven
    ]
    bad = "".join(f'<p class="verdict bad">{escape(words)}</p>' for words in warnings)
    return f'<div class="wide">{table(head, rows)}</div>{bad}'


def _referees(row: PaperRow) -> str:
    rows, notes = [], []
    for name, comparison in row.referees.items():
        if comparison.get("fault"):
            notes.append(f"{comparison.get('engine', name)}: {comparison['fault']}")
        for engine, figures in comparison.get("engines", {}).items():
            rows.append(
                [
                    engine if engine == "tabi" else f"{engine} {comparison['version']}",
                    "" if engine == "tabi" else _apart(comparison["end_apart_mm"]),
                    f"{figures['penetration_mm']['largest']:.3g} mm",
                    f"{figures['ground_force_n']['flicker']:.3g} N",
                    _fallen(figures["fallen_at_s"]),
                ]
            )
        notes += [f"{name}: {words}" for words in comparison.get("notes", ())]
        if comparison.get("changes"):
            notes.append(f"compared with {' '.join(comparison['changes'])}, which {name} can do")
    head = ["Engine", "End, apart from tabi", "=Deepest overlap", "=Flicker of the ground's force"]
    figures = "".join(f'<p class="note">{escape(words)}</p>' for words in notes)
    return (table([*head, "Falls"], rows) if rows else "") + figures


def _apart(bodies: Mapping[str, float | None]) -> str:
    shown = [f"{name} {'–' if x is None else f'{x:.3g} mm'}" for name, x in bodies.items()]
    return ", ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")


def _fallen(times: Mapping[str, float]) -> str:
    return ", ".join(f"{name} at {at:.3g} s" for name, at in times.items()) or "nobody"


def _notes(row: PaperRow) -> str:
    """Return notes on the run, and what ended other runs."""
    others_runs = row.laws | row.counters
    faults = [f"{name}: {x['fault']}" for name, x in others_runs.items() if x.get("fault")]
    notes = [*row.run.get("notes", ()), *faults]
    return _list(notes) if notes else ""


def _drawn(figure: Mapping[str, Any]) -> str:
    """Draw a figure of the paper again."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(7.2, 2.9), layout="constrained")
    axes = canvas.add_subplot()
    for k, (name, (x, y)) in enumerate(figure["lines"].items()):
        x, y = ([math.nan if v is None else v for v in axis] for axis in (x, y))
        marks: dict[str, Any] = {"marker": "o", "markersize": 3} if len(x) <= 30 else {}
        axes.plot(x, y, label=plain(name), linewidth=1.2, color=COLOURS[k % len(COLOURS)], **marks)
    if figure["log"]:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel(plain(figure["x"]), fontsize=8)
    axes.set_ylabel(plain(figure["y"]), fontsize=8)
    axes.set_title(plain(figure["title"]), fontsize=9)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)
    if len(figure["lines"]) > 1:
        axes.legend(fontsize=7, frameon=False)
    return plot(svg(canvas), figure["title"])


def _about() -> str:
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("numpy", "numba", "mujoco", "pin")
        if doctor.version_of(name)
    )
    rows = [
        ["Versions", f"tabi {__version__}, Python {platform.python_version()}, {versions}"],
        ["Machine", f"{doctor.processor()}, {os.cpu_count()} cores"],
    ]
    return section("Made with", table(["", ""], rows))
