"""What every experiment of a paper is held to, in its short form."""

from __future__ import annotations

from contextlib import suppress

from tiers import needs

from tabi._errors import SimulationError
from tabi.lab.papers.experiments import applies
from tabi.lab.papers.experiments.experiment import AGREES, DIFFERS, Experiment, PaperOutcome


def check(experiment: Experiment, verdict: str = AGREES, like: bool = False) -> PaperOutcome:
    """Its verdict is as expected, and every criterion is failed by one of its counter-runs; those
    that are left then are run by ``tabi validate papers`` alone.

    Args:
        like: whether another experiment has the same criteria and kinds of counter-runs, and shows
            that each is failed; the first counter-run is enough then.
    """
    needs("runs a paper's experiment", "papers")
    applies(experiment, experiment.trial().load())
    found = experiment.measure(experiment.trial(short=True))
    assert experiment.verdict(found.numbers) == verdict, experiment.reasons(found.numbers)
    failed: set[str] = set()
    criteria = {one.number for one in experiment.criteria}
    for counter in experiment.counters[: 1 if like else None]:
        if failed >= criteria:
            break
        numbers = {}
        # a run that breaks down differs, too
        with suppress(SimulationError):
            trial = experiment.trial(short=True, changes=counter.changes)
            numbers = experiment.measure(trial).numbers
        assert experiment.verdict(numbers) == DIFFERS, counter.words
        failed |= {one.number for one in experiment.failed(numbers)}
    if like:
        return found
    never = criteria - failed
    assert not never, f"no counter-run fails {never}"
    return found
