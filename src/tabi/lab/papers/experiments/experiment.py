"""An experiment of a paper: what the paper says, what counts as agreement, how it is measured here.

A paper's figure becomes numbers, each with a *criterion*: the range in which it agrees with what
was published, written down before anything runs. An experiment *agrees* if every number is in its
range, else it *differs*. What is not in a range that could be missed says nothing: so each
experiment has *counter-runs*, the same scene with something taken away that the paper says matters
(friction halved, no supporting hand), and every criterion has to be failed by one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi import scenes
from tabi._errors import ModelError
from tabi.lab.criterion import Criterion
from tabi.scenes import Scene
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
LAWS = ("coulomb", "penalty", "selection", "pyramid")
AGREES, DIFFERS = "agrees", "differs"
NOT_COMPARABLE, NOT_APPLICABLE = "not comparable", "does not apply"


@dataclass(frozen=True)
class CounterRun:
    """A run that has to differ: ``changes`` are settings of the scene, as of ``--set``."""

    words: str
    changes: tuple[str, ...]


@dataclass(frozen=True)
class PaperTrial:
    """Settings of one run of an experiment.

    Attributes:
        scene: name of the scene in the library. settings: of it, in this experiment.
        law: of the contacts; default: the scene's own.
        changes: settings of the scene, as of ``--set``.
        short: whether the test suite's form is enough: fewer repetitions, a coarser sweep; numbers
            and criteria are the same.
    """

    scene: str
    law: str = ""
    changes: tuple[str, ...] = ()
    short: bool = False
    settings: tuple[str, ...] = ()

    def load(self, *overrides: str, scene: str | None = None) -> Scene:
        """The scene as this trial has it, ``overrides`` last; another scene of the library
        under the same law where one is named.
        """
        law = (f"simulation.contact={self.law}",) if self.law else ()
        settings = (*self.settings, *self.changes) if scene is None else ()
        return scenes.load(scene or self.scene, overrides=[*law, *settings, *overrides])


@dataclass(frozen=True)
class PaperFigure:
    """A figure in the paper's axes: lines by their names, each x and y."""

    title: str
    x: str
    y: str
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]]
    log: bool = False


@dataclass(frozen=True)
class PaperOutcome:
    """Result of a trial.

    Attributes:
        numbers: by names that end with their units; those of criteria, and further ones.
        figures: in the paper's axes. notes: sentences about this run.
        steps, missed: steps of the simulation, and those that missed their tolerance.
        residual: worst of all steps [m/s].
    """

    numbers: Mapping[str, float]
    figures: tuple[PaperFigure, ...] = ()
    notes: tuple[str, ...] = ()
    steps: int = 0
    missed: int = 0
    residual: float = 0.0

    def plus(self, other: PaperOutcome) -> PaperOutcome:
        """Both runs as one outcome."""
        return PaperOutcome(
            {**self.numbers, **other.numbers},
            self.figures + other.figures,
            self.notes + other.notes,
            self.steps + other.steps,
            self.missed + other.missed,
            max(self.residual, other.residual),
        )


@dataclass(frozen=True)
class Experiment:
    """See the head of this file.

    Attributes:
        name: as in ``tabi validate papers --only``. paper: "C06", "C12", "H03", "M08" or "S08".
        figure: of the paper, in words: "fig. 3". scene: in the library.
            settings: of it that make it this experiment, as of ``--set``.
        claim: what the paper says, in its own figures; our sentence.
        criteria, counters: see the head.
        measure: runs a trial.
        rests_on: values in the scene that the claim is about, by paths of ``--set``: where the user
            has edited them, the experiment does not apply any more.
        laws: those it can be run with. referees: those that can run the scene, by the words of
            ``tabi compare``; referee_changes: settings that make it one they can run.
        assumptions: sentences about what is not published, and was chosen to fit.
        because: why it differs, where that is known, by the numbers that do.
        excused: why there is no verdict ("not comparable"), where there cannot be one.
    """

    name: str
    paper: str
    figure: str
    scene: str
    claim: str
    criteria: tuple[Criterion, ...]
    counters: tuple[CounterRun, ...]
    measure: Callable[[PaperTrial], PaperOutcome]
    settings: tuple[str, ...] = ()
    rests_on: Mapping[str, Any] = field(default_factory=dict)
    laws: tuple[str, ...] = LAWS
    referees: tuple[str, ...] = ()
    referee_changes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    because: Mapping[str, str] = field(default_factory=dict)
    excused: str = ""

    def trial(self, **changes: Any) -> PaperTrial:
        """The run as published, or with changes of it."""
        return replace(PaperTrial(self.scene, settings=self.settings), **changes)

    @property
    def own_law(self) -> str:
        """The law of its scene."""
        law = self.trial().load().contents.simulation.contact
        return law if isinstance(law, str) else str(law.__struct_config__.tag)

    def verdict(self, numbers: Mapping[str, float]) -> str:
        """Whether numbers agree with the paper."""
        if self.excused:
            return NOT_COMPARABLE
        return AGREES if all(c.met(numbers) for c in self.criteria) else DIFFERS

    def reasons(self, numbers: Mapping[str, float]) -> list[str]:
        """By how much numbers are off, one sentence for each that is."""
        return [c.off(numbers) for c in self.failed(numbers)]

    def failed(self, numbers: Mapping[str, float]) -> list[Criterion]:
        """Criteria that are not met."""
        return [c for c in self.criteria if not c.met(numbers)]


@dataclass(frozen=True)
class RunRows:
    """Rows of a run: ``column[name][k]`` at ``time[k]`` [s]."""

    time: Array
    columns: Mapping[str, Array]
    steps: int
    missed: int
    residual: float

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def outcome(
        self, numbers: Mapping[str, float], *figures: PaperFigure, notes: tuple[str, ...] = ()
    ) -> PaperOutcome:
        """Numbers and figures with the certificates of this run."""
        return PaperOutcome(numbers, figures, notes, self.steps, self.missed, self.residual)


def watch(
    scene: Scene, look: Callable[[Simulator], Mapping[str, ArrayLike]], every: int = 1
) -> RunRows:
    """Run a scene to its end and look at it after each so many steps, and before the first.

    Args:
        look: what to keep, numbers or arrays by their names; it may raise ModelError where a body
            or a sensor that it needs is not in the scene.
    """
    sim = scene.simulator()
    rows, times = [look(sim)], [sim.time]
    steps = round(scene.duration / sim.dt)
    for k in range(1, steps + 1):
        sim.step()
        if k % every == 0 or k == steps:
            rows.append(look(sim))
            times.append(sim.time)
    columns = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in rows[0]}
    return RunRows(np.array(times), columns, steps, sim.missed_count, sim.data.worst["residual"])


def applies(experiment: Experiment, scene: Scene) -> None:
    """Refuse a scene that no longer is what the experiment is about."""
    for path, expected in experiment.rests_on.items():
        value = value_at(scene, path)
        if value != expected:
            raise ModelError(
                f"experiment {experiment.name!r} is about {path} = {expected!r}, and the scene "
                f"{scene.name!r} says {value!r}; put it back, or measure it with: "
                f"tabi run {scene.name}"
            )


def value_at(scene: Scene, path: str) -> Any:
    """Return the value of a scene at a path of ``--set``; None where it has none."""
    result: Any = scene.contents
    for key in path.split("."):
        if isinstance(result, tuple):
            named = [item for item in result if getattr(item, "name", None) == key]
            result = named[0] if named else result[int(key)] if key.isdecimal() else None
        elif isinstance(result, Mapping):
            result = result.get(key)
        else:
            result = getattr(result, key, None)
    return result
