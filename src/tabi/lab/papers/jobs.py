"""Runs of ``tabi validate papers``: of each experiment the one that is published, the same under
other laws of contact, its counter-runs, and the same scene in other engines.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabi import ModelError, TabiError
from tabi.lab.papers import experiments
from tabi.lab.papers.experiments.experiment import Experiment, PaperFigure, PaperOutcome

RUN, LAW, COUNTER, REFEREE = "run", "law", "counter-run", "referee"
# points of a line that are kept: more than a figure can show
POINTS = 800


@dataclass(frozen=True)
class PaperJob:
    """One run: of which experiment, what kind, and which law, counter-run or referee."""

    experiment: str
    kind: str = RUN
    which: str = ""
    short: bool = False

    @property
    def words(self) -> str:
        """Its name in sentences, and in the file of results."""
        return " ".join(
            word
            for word in (self.experiment, self.kind, self.which, "short" if self.short else "")
            if word
        )

    def run(self) -> dict[str, Any]:
        """Do it: plain data. What breaks down is told, and is no number."""
        one, begin = experiments.catalogue()[self.experiment], time.perf_counter()
        try:
            with warnings.catch_warnings():
                # steps that miss are counted and told with the rest
                warnings.simplefilter("ignore")
                found = self._found(one)
        except TabiError as fault:
            # a scene that is not what the paper is about is no run that differs
            stopped = isinstance(fault, ModelError)
            found = {"fault": str(fault), "applies": not stopped, "numbers": {}}
        return found | {"seconds": round(time.perf_counter() - begin, 2)}

    def _found(self, one: Experiment) -> dict[str, Any]:
        trial = one.trial(short=self.short)
        experiments.applies(one, trial.load())
        if self.kind == REFEREE:
            return compared(one, self.which)
        if self.kind == LAW:
            trial = one.trial(short=self.short, law=self.which)
        if self.kind == COUNTER:
            trial = one.trial(short=self.short, changes=one.counters[int(self.which)].changes)
        return plain(one.measure(trial))

    @property
    def settings(self) -> list[str]:
        """That it is named by."""
        return [self.words]

    @property
    def record(self) -> None:
        """No file is left by an unfinished one."""
        return


def jobs(chosen: Iterable[Experiment], referees: Sequence[str], short: bool) -> list[PaperJob]:
    """All runs of experiments; those that are published first."""
    chosen = list(chosen)
    found = [PaperJob(one.name, RUN, "", short) for one in chosen]
    for one in chosen:
        found += [PaperJob(one.name, COUNTER, str(k), short) for k in range(len(one.counters))]
        found += [PaperJob(one.name, LAW, law, short) for law in one.laws if law != one.own_law]
        found += [
            PaperJob(one.name, REFEREE, name, short) for name in referees if name in one.referees
        ]
    return found


def plain(found: PaperOutcome) -> dict[str, Any]:
    """An outcome as plain data; numbers that are none are null."""
    return {
        "numbers": {name: number(x) for name, x in found.numbers.items()},
        "figures": [_figure(one) for one in found.figures],
        "notes": list(found.notes),
        "steps": found.steps,
        "missed": found.missed,
        "residual_m_s": float(found.residual),
        "applies": True,
    }


def number(x: Any) -> float | None:
    """A number of JSON; null where it is none."""
    return float(x) if math.isfinite(x) else None


def _figure(one: PaperFigure) -> dict[str, Any]:
    lines = {}
    for name, (x, y) in one.lines.items():
        x, y = np.asarray(x, float), np.asarray(y, float)
        kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
        lines[name] = [[number(v) for v in np.round(axis[kept], 7)] for axis in (x, y)]
    return {"title": one.title, "x": one.x, "y": one.y, "log": one.log, "lines": lines}


def compared(one: Experiment, referee: str) -> dict[str, Any]:
    """The scene of an experiment in tabi and in another engine: how far apart they are."""
    from tabi.lab.referee import measure

    scene = one.trial(changes=one.referee_changes).load()
    comparison = measure(scene, referee)
    result, names = comparison.result, list(comparison.columns)
    ours, theirs = (result["engines"][name] for name in names)
    apart = {
        body: 1e3
        * float(np.linalg.norm(np.subtract(told["end_m"], theirs["bodies"][body]["end_m"])))
        for body, told in ours["bodies"].items()
    }
    return {
        "engine": names[1],
        "version": theirs["version"],
        "end_apart_mm": {body: number(x) for body, x in apart.items()},
        "engines": {name: _engine(result["engines"][name]) for name in names},
        "fault": result["fault"],
        "notes": theirs["notes"],
        "changes": list(one.referee_changes),
        "applies": True,
        "numbers": {},
    }


def _engine(told: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("penetration_mm", "ground_force_n", "fallen_at_s", "microseconds_per_step")
    return {key: told[key] for key in keys}
