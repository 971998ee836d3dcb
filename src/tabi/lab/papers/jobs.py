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
        """Run the job and return plain data; a failure is reported as a fault."""
        experiment, begin = experiments.catalogue()[self.experiment], time.perf_counter()
        try:
            with warnings.catch_warnings():
                # steps that do not converge are counted and reported with the rest
                warnings.simplefilter("ignore")
                result = self._measured(experiment)
        except TabiError as fault:
            # a scene that is not what the paper is about is no run that differs
            stopped = isinstance(fault, ModelError)
            result = {"fault": str(fault), "applies": not stopped, "numbers": {}}
        return result | {"seconds": round(time.perf_counter() - begin, 2)}

    def _measured(self, experiment: Experiment) -> dict[str, Any]:
        trial = experiment.trial(short=self.short)
        experiments.applies(experiment, trial.load())
        if self.kind == REFEREE:
            return compared(experiment, self.which)
        if self.kind == LAW:
            trial = experiment.trial(short=self.short, law=self.which)
        if self.kind == COUNTER:
            trial = experiment.trial(
                short=self.short, changes=experiment.counters[int(self.which)].changes
            )
        return plain(experiment.measure(trial))

    @property
    def settings(self) -> list[str]:
        """Name of the job in messages."""
        return [self.words]

    @property
    def record(self) -> None:
        """No file is left by an unfinished one."""
        return


def jobs(selected: Iterable[Experiment], referees: Sequence[str], short: bool) -> list[PaperJob]:
    """All runs of experiments; those that are published first."""
    selected = list(selected)
    result = [PaperJob(experiment.name, RUN, "", short) for experiment in selected]
    for experiment in selected:
        result += [
            PaperJob(experiment.name, COUNTER, str(k), short)
            for k in range(len(experiment.counters))
        ]
        result += [
            PaperJob(experiment.name, LAW, law, short)
            for law in experiment.laws
            if law != experiment.own_law
        ]
        result += [
            PaperJob(experiment.name, REFEREE, name, short)
            for name in referees
            if name in experiment.referees
        ]
    return result


def plain(outcome: PaperOutcome) -> dict[str, Any]:
    """Return an outcome as plain data; numbers that are not finite are null."""
    return {
        "numbers": {name: number(x) for name, x in outcome.numbers.items()},
        "figures": [_figure(figure) for figure in outcome.figures],
        "notes": list(outcome.notes),
        "steps": outcome.steps,
        "missed": outcome.missed,
        "residual_m_s": float(outcome.residual),
        "applies": True,
    }


def number(x: Any) -> float | None:
    """A number of JSON; null where it is none."""
    return float(x) if math.isfinite(x) else None


def _figure(figure: PaperFigure) -> dict[str, Any]:
    lines = {}
    for name, (x, y) in figure.lines.items():
        x, y = np.asarray(x, float), np.asarray(y, float)
        indices = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
        lines[name] = [[number(v) for v in np.round(axis[indices], 7)] for axis in (x, y)]
    return {"title": figure.title, "x": figure.x, "y": figure.y, "log": figure.log, "lines": lines}


def compared(experiment: Experiment, referee: str) -> dict[str, Any]:
    """The scene of an experiment in tabi and in another engine: how far apart they are."""
    from tabi.lab.referee import measure

    scene = experiment.trial(changes=experiment.referee_changes).load()
    comparison = measure(scene, referee)
    result, names = comparison.result, list(comparison.columns)
    ours, theirs = (result["engines"][name] for name in names)
    apart = {
        body: 1e3
        * float(np.linalg.norm(np.subtract(figures["end_m"], theirs["bodies"][body]["end_m"])))
        for body, figures in ours["bodies"].items()
    }
    return {
        "engine": names[1],
        "version": theirs["version"],
        "end_apart_mm": {body: number(x) for body, x in apart.items()},
        "engines": {name: _engine(result["engines"][name]) for name in names},
        "fault": result["fault"],
        "notes": theirs["notes"],
        "changes": list(experiment.referee_changes),
        "applies": True,
        "numbers": {},
    }


def _engine(figures: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("penetration_mm", "ground_force_n", "fallen_at_s", "microseconds_per_step")
    return {key: figures[key] for key in keys}
