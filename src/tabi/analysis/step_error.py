"""Discretisation error of the numbers of a run, from runs with finer steps: ``tabi run --error``.

A scene is run with its step h, with h/2 and h/4, and once more with a hundredth of its tolerance.
For a number x of the run's summary, with a scheme of order p, x(h) = x + c hᵖ + …, so from

    d₁ = x(h/2) − x(h),   d₂ = x(h/4) − x(h/2)
    p = log₂ |d₁|/|d₂|                                                                          (1)
    |x(h) − x| ≈ |d₁| / (1 − 2⁻ᵖ)                                                               (2)
where differences fall, |d₂| ≤ |d₁|/√2, and p ≤ 3: no scheme here has more, and what seems to is
chance. Else there is no order, and the largest change stands for the error. Places and other
vectors are compared by the lengths of their differences.

A number is *converged* if its error is at most what its unit allows (``ALLOWED``); *still changing*
if it is larger, and differences fall; *chaotic* if they do not, or if a smaller tolerance, which is
a push of some nanometres a second, changes it by more than is allowed: then a finer step gives
another run and not a better one, and only means over many runs can be reported. Counts, and whether
something fell, are converged if all runs agree, still changing if h/2 and h/4 do, else chaotic.

Reference: Roache (1998), Verification and Validation in Computational Science and Engineering,
ch. 5, for (1) and (2).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tabi._errors import TabiError
from tabi.scenes.handling import reacts_to_hands
from tabi.scenes.scene import Scene

Array = NDArray[np.float64]
Summary = Mapping[str, Any]
HALF, QUARTER, FINER = "h/2", "h/4", "tolerance/100"
# what a number may be off and still be converged, by the end of its name, the longest first; of
# accelerations a share; times of falls are known to 1 ms
ALLOWED = {"_m_s2": 0.02, "_deg_s": 1.0, "_m_s": 0.01, "_deg": 0.1, "_m": 1e-3, "_s": 2e-3}
# an overlap that is larger can be seen [m]
OVERLAP = 1e-4
# differences converge where each is at most this part of the one before
MAX_DIFFERENCE_RATIO = math.sqrt(0.5)
# higher orders than that of any scheme here are chance
MAX_ORDER = 3.0
# changes that are rounding, as a part of the number
ROUNDING = 1e-13
# what a scene may say
LEAST_STEP, LEAST_TOLERANCE = 1e-6, 1e-14
YES_NO = "yes or no"
CONVERGED, CHANGING, CHAOTIC = "converged", "still changing", "chaotic"


def variants(scene: Scene) -> dict[str, Scene]:
    """Return the unchanged scene, "h", and the three it is compared with; all end at the same time,
    a whole number of steps h.
    """
    how = scene.contents.simulation
    h, tolerance = how.step_s, how.tolerance_m_s
    if h / 4 < LEAST_STEP:
        raise TabiError(
            f"--error takes a quarter of the step, and that of the scene is {h:g} s; "
            f"expected one of at least {4 * LEAST_STEP:g} s: set simulation.step_s"
        )
    if tolerance / 100 < LEAST_TOLERANCE:
        raise TabiError(
            f"--error takes a hundredth of the tolerance, and that of the scene is {tolerance:g} "
            f"m/s; expected one of at least {100 * LEAST_TOLERANCE:g}: set simulation.tolerance_m_s"
        )
    ends = max(1, round(scene.duration / h)) * h
    changed = {
        "h": {},
        HALF: {"step_s": h / 2},
        QUARTER: {"step_s": h / 4},
        FINER: {"tolerance_m_s": tolerance / 100},
    }
    return {
        name: dataclasses.replace(
            scene,
            contents=msgspec.structs.replace(
                scene.contents,
                duration_s=ends,
                simulation=msgspec.structs.replace(how, **keys),
            ),
        )
        for name, keys in changed.items()
    }


def notes(scene: Scene) -> list[str]:
    """Return notes on what else changes with the step: controllers and sensors without rates."""
    texts = []
    for i, robot in enumerate(scene.contents.robots):
        name = robot.name or f"robot {i + 1}"
        constant = robot.motion.holds or not robot.motion.powered
        if not (constant or robot.motion.tick_s or reacts_to_hands(robot)):
            texts.append(
                f"the motion of {name} has no rate: it is called in every step, "
                "twice and four times as often with h/2 and h/4"
            )
        texts += [
            f"sensor {key} of {name} has no rate and samples in every step; give it rate_hz"
            for key, sensor in robot.sensors.items()
            if sensor.rate_hz is None
        ]
    return texts


# ---- numbers ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ReportedNumber:
    """A number, or a vector, of a run's summary.

    Attributes:
        value: of each run by its name; None where a run has none, e.g. no fall.
        allowed: largest error of a converged number; 0 for counts.
    """

    name: str
    unit: str
    value: dict[str, Array | None]
    allowed: float


def quantities(runs: Mapping[str, Summary]) -> list[ReportedNumber]:
    """Return all numbers of the summaries, in the order of the first one."""
    tables = {name: reported(summary) for name, summary in runs.items()}
    names = dict.fromkeys(key for table in tables.values() for key in table)
    numbers = []
    for name in names:
        values = {run: _vector(table.get(name)) for run, table in tables.items()}
        end = next((end for end in ALLOWED if name.endswith(end)), "")
        allowed = OVERLAP if name == "worst_penetration_m" else ALLOWED.get(end, 0.0)
        if end == "_m_s2":
            sizes = [np.linalg.norm(x) for x in values.values() if x is not None]
            allowed *= float(max(sizes, default=0.0))
        answer = any(isinstance(table.get(name), bool) for table in tables.values())
        numbers.append(
            ReportedNumber(name, YES_NO if answer else _UNITS.get(end, ""), values, allowed)
        )
    return numbers


_UNITS = {"_m_s2": "m/s²", "_deg_s": "°/s", "_m_s": "m/s", "_deg": "°", "_m": "m", "_s": "s"}


def reported(summary: Summary) -> dict[str, Any]:
    """Return the numbers of ``Summary.to_dict`` by names that end with their unit."""
    numbers: dict[str, Any] = {}
    for name, place in summary["places_m"].items():
        numbers[f"places.{name}_m"] = place
    for name in summary["robots"]:
        numbers[f"fallen_at.{name}_s"] = summary["fallen_at_s"].get(name)
    for name, walk in summary["walks"].items():
        numbers |= {f"walks.{name}.{key}": value for key, value in walk.items()}
    numbers["worst_penetration_m"] = summary["worst_penetration_m"]
    return numbers


def _vector(value: Any) -> Array | None:
    return None if value is None else np.atleast_1d(np.asarray(value, float))


def judge(number: ReportedNumber) -> dict[str, Any]:
    """Return a number with its changes, order (1), error (2) and verdict, as plain data."""
    x = number.value
    change = {name: _apart(x[name], x["h"]) for name in (HALF, QUARTER, FINER)}
    first, second = change[HALF], _apart(x[QUARTER], x[HALF])
    base = x["h"]
    size = 0.0 if base is None else float(np.abs(base).max())
    order, error = None, max(change[HALF], change[QUARTER])
    falls = (
        math.isfinite(second) and second <= MAX_DIFFERENCE_RATIO * first and first > ROUNDING * size
    )
    if falls and number.allowed and second > 0 and first <= second * 2.0**MAX_ORDER:
        order = math.log2(first / second)
        error = max(error, first / (1.0 - 2.0**-order))
    error = max(error, change[FINER])
    if error <= max(number.allowed, ROUNDING * size):
        verdict = CONVERGED
    elif falls and change[FINER] <= number.allowed:
        verdict = CHANGING
    else:
        verdict = CHAOTIC
    return {
        "name": number.name,
        "unit": number.unit,
        "value": _plain(x["h"]),
        "values": {name: _plain(value) for name, value in x.items()},
        "changes": {name: _finite(value) for name, value in change.items()},
        "order": order,
        "error": _finite(error),
        "allowed": number.allowed,
        "verdict": verdict,
    }


def _apart(a: Array | None, b: Array | None) -> float:
    """Return the length of a difference; infinite where only one value is there."""
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    return float(np.linalg.norm(a - b)) if a.shape == b.shape else math.inf


def _plain(x: Array | None) -> Any:
    return None if x is None else x.tolist() if len(x) > 1 else float(x[0])


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def compare(scene: Scene, runs: Mapping[str, Summary]) -> dict[str, Any]:
    """Return numbers, verdicts and notes of all runs as plain data.

    Args:
        runs: summaries of all ``variants``, by their names.
    """
    rows = [judge(number) for number in quantities(runs)]
    verdicts = [row["verdict"] for row in rows]
    worst = next((v for v in (CHAOTIC, CHANGING) if v in verdicts), CONVERGED)
    return {
        "step_s": scene.contents.simulation.step_s,
        "tolerance_m_s": scene.contents.simulation.tolerance_m_s,
        "verdict": worst,
        "quantities": rows,
        "notes": notes(scene),
        "missed_steps": {name: run["missed_steps"] for name, run in runs.items()},
        "stopped": {name: run["stopped"] for name, run in runs.items() if run["stopped"]},
    }
