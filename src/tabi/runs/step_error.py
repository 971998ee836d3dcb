"""``tabi run --error``: the same scene with finer steps and a finer tolerance, and by how much each
number of the summary changes; see ``analysis.step_error``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tabi.reporting.terminal import print_now
from tabi.runs.summary import Summary

if TYPE_CHECKING:
    from tabi.scenes import Scene

# the sentence that goes with a verdict
VERDICTS = {
    "converged": "converged: the step is fine enough for all of these numbers",
    "still changing": "still changing: errors fall with the step; take a smaller one for",
    "chaotic": "chaotic: differences do not fall, and a finer step is another run for",
}


def run_error(
    scene: Scene, play: Callable[[Scene], Summary], as_json: bool, expect_standing: bool
) -> int:
    """Run all four, print what was found, and return the exit code.

    Args:
        play: runs a scene to its end.
    """
    from tabi.analysis import step_error

    runs: dict[str, Summary] = {}
    for name, variant in step_error.variants(scene).items():
        runs[name] = play(variant)
        if runs[name].interrupted:
            break
    base, outcomes = runs["h"], {name: run.to_dict() for name, run in runs.items()}
    # of runs that were cut short nothing can be compared
    cut = runs[name].interrupted
    comparison = None if cut else step_error.compare(scene, outcomes)
    if as_json:
        print_now(
            json.dumps(base.to_dict() | {"step_error": comparison, "interrupted": cut}, indent=2)
        )
    else:
        print_now(text(base, comparison))
    if cut:
        return 130
    return max(base.code(expect_standing), *(run.code() for run in runs.values()))


# ---- in words -----------------------------------------------------------------------------------


def text(base: Summary, comparison: dict[str, Any] | None) -> str:
    """Format the summary for a terminal, then each number with its changes."""
    lines = [base.text(), ""]
    if comparison is None:
        return "\n".join(
            [*lines, "interrupted before all four runs were done: no changes to report"]
        )
    lines.append(
        f"h = {1e3 * comparison['step_s']:g} ms, tolerance = {comparison['tolerance_m_s']:g} m/s; "
        "the same scene with h/2, h/4 and tolerance/100:"
    )
    lines += [f"  {sentence(row)}" for row in comparison["quantities"]]
    for name, missed in comparison["missed_steps"].items():
        if missed:
            lines.append(f"  with {name} {missed} STEPS DID NOT CONVERGE")
    lines += [f"  with {name} STOPPED: {why}" for name, why in comparison["stopped"].items()]
    lines += [f"  note: {note}" for note in comparison["notes"]]
    verdict = VERDICTS[comparison["verdict"]]
    if comparison["verdict"] != "converged":
        names = [
            row["name"]
            for row in comparison["quantities"]
            if row["verdict"] == comparison["verdict"]
        ]
        verdict += " " + ", ".join(names)
    return "\n".join([*lines, f"  {verdict}"])


def sentence(row: dict[str, Any]) -> str:
    """A number, its changes, and what they say."""
    subject, changes = _subject(row), row["changes"]
    if all(change == 0 for change in changes.values()):
        return f"{subject}; nothing changes it"
    parts = [f"{name} {_by(row, name)}" for name in changes]
    first = parts[0].replace(" by ", " changes it by ", 1)
    ends = ""
    if row["order"] is not None:
        ends = f"; order {row['order']:.1f}, about {amount(row['error'], row['unit'])} off"
    elif row["verdict"] != "converged":
        ends = f"; {row['verdict'].upper()}"
    return f"{subject}; {', '.join([first, *parts[1:]])}{ends}"


def _subject(row: dict[str, Any]) -> str:
    kind, _, name = row["name"].partition(".")
    value, unit = row["value"], row["unit"]
    if kind == "places":
        x, y, z = (round(v, 4) + 0.0 for v in value)
        return f"{name.removesuffix('_m')} is at {x:.4f}, {y:.4f}, {z:.4f} m"
    if kind == "fallen_at":
        robot = name.removesuffix("_s")
        return f"{robot} did not fall" if value is None else f"{robot} fell at {value:g} s"
    if kind == "walks":
        robot, _, key = name.partition(".")
        return f"{robot}: {_words(key, unit)} {_value(value, unit)}"
    return f"deepest overlap {amount(value, unit)}"


def _words(key: str, unit: str) -> str:
    """The name of a number without its unit."""
    ends = {"m/s²": "_m_s2", "°/s": "_deg_s", "m/s": "_m_s", "°": "_deg", "m": "_m", "s": "_s"}
    return key.removesuffix(ends.get(unit, "")).replace("_", " ")


def _value(value: Any, unit: str) -> str:
    if value is None:
        return "none"
    if unit == "yes or no":
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(f"{v:.4g}" for v in value) + (f" {unit}" if unit else "")
    return amount(value, unit)


def _by(row: dict[str, Any], name: str) -> str:
    change, value = row["changes"][name], row["values"][name]
    if change is None or row["unit"] == "yes or no":
        return f"makes it {'none' if value is None else _value(value, row['unit'])}"
    # times of falls are known to a millisecond
    if row["name"].startswith("fallen_at") and change < 1e-3:
        return "by less than 1 ms"
    return f"by {amount(change, row['unit'])}"


def amount(x: float, unit: str) -> str:
    """A number with a unit that suits its size."""
    scales = {
        "m": ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm")),
        "s": ((1.0, "s"), (1e-3, "ms")),
    }
    if x == 0:
        return f"0 {unit}".strip()
    if unit not in scales:
        return f"{x:.3g}{'' if unit.startswith('°') else ' '}{unit}".strip()
    scale, name = next((s for s in scales[unit] if abs(x) >= s[0]), scales[unit][-1])
    scaled = x / scale
    # smaller than a picometre is nothing
    return f"0 {unit}" if unit == "m" and abs(x) < 1e-12 else f"{scaled:.3g} {name}"
