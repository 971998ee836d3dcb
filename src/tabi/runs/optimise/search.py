"""Generations of a search: candidates are run in processes of their own, and update the strategy.

The strategy works on shares of the ranges, from 0 to 1, folded back at the ends (``reflected``).
The scene as it is is run before them, as generation −1, and does not update it: the first
generation is drawn around it.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabi import TabiError
from tabi.reporting.terminal import Move
from tabi.runs import pool
from tabi.runs.cma_es import CmaEs, reflected
from tabi.runs.optimise.folder import BROKEN, SearchFolder
from tabi.runs.optimise.ranges import SearchKey

if TYPE_CHECKING:
    from tabi.scenes import Scene

# shares of their ranges that differ by less are the same motion
MIN_SPREAD = 1e-4


@dataclass(frozen=True)
class Candidate:
    """One run: the scene with all its settings, the terms of its cost, and which one it is."""

    scene: str
    settings: list[str]
    terms: tuple[str, ...]
    generation: int
    number: int
    record: Path | None = None

    def run(self) -> dict[str, Any]:
        """Run the candidate; return its cost as plain data, infinite where it cannot be built."""
        from tabi import scenes
        from tabi.analysis import motion_cost

        try:
            terms = motion_cost.read_terms(self.terms)
            cost = motion_cost.measure(scenes.load(self.scene, self.settings), terms)
        except TabiError as fault:
            cost = motion_cost.MotionCost(math.inf, {}, None, str(fault))
        return cost.to_dict()


@dataclass(frozen=True)
class Plan:
    """Definition of a search: scene, keys and cost.

    Attributes:
        scene, fixed: what is run, with settings that do not change. keys: what is searched.
        terms: of the cost, as they are written. population, seed: of the strategy.
        spread: of the first generation, in shares of the ranges.
    """

    scene: str
    fixed: list[str]
    keys: list[SearchKey]
    terms: tuple[str, ...]
    population: int | None = None
    seed: int = 0
    spread: float = 0.2

    def about(self, base: Scene) -> dict[str, Any]:
        """All of it as plain data: two searches of the same are one."""
        return {
            "scene": base.to_yaml(),
            "keys": [[key.name, key.low, key.high] for key in self.keys],
            "cost": list(self.terms),
            "search": {
                "population": self.population,
                "seed": self.seed,
                "spread": self.spread,
            },
        }

    def strategy(self) -> CmaEs:
        """From the scene as it is."""
        start = [key.share() for key in self.keys]
        return CmaEs(start, self.spread, self.population, self.seed)

    def settings(self, numbers: Sequence[float]) -> list[str]:
        """All settings of a candidate."""
        pairs = zip(self.keys, numbers, strict=True)
        return [*self.fixed, *(setting for key, x in pairs for setting in key.settings(x))]


def _resumed(plan: Plan, folder: SearchFolder) -> CmaEs:
    """The strategy as it was left; refused where it cannot be gone on with."""
    try:
        tried: CmaEs = CmaEs.from_dict(folder.state or {})
        # a valid state can produce candidates and be updated
        candidates = tried.ask()
        tried.update(range(len(candidates)))
        if candidates.shape[1] == len(plan.keys) and math.isfinite(tried.spread):
            return CmaEs.from_dict(folder.state or {})
    except (*BROKEN, IndexError):
        pass
    raise folder.state_error()


class MotionSearch:
    """One search, begun or gone on with.

    Attributes:
        strategy: of whom candidates are asked. lost: sentences about processes that ended.

    Args:
        plan: what is searched. folder: where it is kept. jobs: processes.
    """

    def __init__(self, plan: Plan, folder: SearchFolder, jobs: int = 1) -> None:
        self.plan, self.folder, self.jobs = plan, folder, jobs
        self.strategy = plan.strategy() if folder.state is None else _resumed(plan, folder)
        self.lost: list[str] = []
        self._workers: list[Any] = []

    @property
    def first(self) -> dict[str, Any] | None:
        """Outcome of the scene as it is; None before its run."""
        row = self.folder.runs.get((-1, 0))
        return None if row is None else row["found"]

    def run(self, generations: int, interrupts: Sequence[int], move: Move) -> str:
        """Search until so many generations are done, all targets are reached, or it is interrupted;
        return why it ended.
        """
        begun, done = clock.monotonic(), 0
        try:
            start = [key.start for key in self.plan.keys]
            self._runs([(-1, 0, start)], interrupts, lambda: None)
            while not interrupts and (why := self._ended(generations)) is None:
                ahead = self._candidates()
                todo = [run for run in ahead if run[:2] not in self.folder.runs]

                def ended() -> None:
                    nonlocal done
                    done += 1
                    move(self._count(), self._words(generations, begun, done))

                self._runs(todo, interrupts, ended)
                if interrupts or self.lost:
                    break
                self._update([self.folder.runs[run[:2]]["found"] for run in ahead])
                move(self._count(), self._words(generations, begun, done))
            else:
                return "interrupted" if interrupts else str(why)
            return "interrupted" if interrupts else "lost"
        finally:
            pool.end(self._workers)

    def _candidates(self) -> list[tuple[int, int, list[float]]]:
        """Return the candidates of this generation, with their numbers."""
        k = self.strategy.generation
        shares = reflected(self.strategy.ask())
        return [
            (k, i, [key.number(x) for key, x in zip(self.plan.keys, row, strict=True)])
            for i, row in enumerate(shares.tolist())
        ]

    def _runs(self, todo: list[tuple[int, int, list[float]]], interrupts: Any, ended: Any) -> None:
        numbers = {(k, i): x for k, i, x in todo}
        tasks = [
            Candidate(self.plan.scene, self.plan.settings(x), self.plan.terms, k, i)
            for k, i, x in todo
            if (k, i) not in self.folder.runs
        ]
        for task, outcome in pool.work(tasks, self.jobs, interrupts, self._workers):
            if isinstance(outcome, str):
                self.lost.append(outcome)
                continue
            where = task.generation, task.number
            self.folder.add(
                {
                    "generation": task.generation,
                    "candidate": task.number,
                    "numbers": numbers[where],
                    "found": outcome,
                }
            )
            ended()

    def _update(self, outcomes: list[dict[str, Any]]) -> None:
        """Update the strategy with costs; a first generation without any finished run is
        refused.
        """
        if all(row["cost"] is None for row in outcomes) and self.strategy.generation == 0:
            raise TabiError(
                f"none of the {len(outcomes)} candidates could be run to its end, the first one "
                f"because: {outcomes[0]['stopped']}; take narrower ranges"
            )
        self.strategy.update([math.inf if row["cost"] is None else row["cost"] for row in outcomes])
        self.folder.store_state(self.strategy.to_dict())

    def _ended(self, generations: int) -> str | None:
        """Why nothing is left to do, or None."""
        if self.folder.least <= 0 and self._targets():
            return "every target is reached"
        if self.strategy.generation >= generations:
            return "all generations are done"
        if self.strategy.spread < MIN_SPREAD:
            return "it has settled: candidates hardly differ any more"
        return None

    def _targets(self) -> bool:
        """Whether a cost of zero is the least there can be."""
        from tabi.analysis.motion_cost import MEASURES, read_terms

        return all(
            t.relation or not MEASURES[t.measure].maximise for t in read_terms(self.plan.terms)
        )

    def _count(self) -> int:
        return sum(k >= 0 for k, _ in self.folder.runs)

    def _words(self, generations: int, begun: float, done: int) -> str:
        """The best cost, and seconds left."""
        cost = self.folder.least
        left = generations * self.strategy.population - self._count()
        seconds = (clock.monotonic() - begun) / max(done, 1) * left
        return f"generation {self.strategy.generation + 1}, cost {cost:.4g}, {seconds:.0f} s left"
