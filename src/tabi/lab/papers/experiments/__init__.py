"""Experiments of five papers, each with the published result and criteria of agreement.

A file of this package that has ``EXPERIMENTS`` adds them; see ``experiment`` for what one is.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from tabi._errors import unknown
from tabi.lab.papers.experiments.experiment import Experiment, applies

# by their short names, in the order of the report: authors, year, and what they are about
PAPERS = {
    "C06": "Chardonnet et al. (2006), Dynamic simulator for humanoids using constraint-based "
    "method with static friction",
    "C12": "Chardonnet (2012), Interactive dynamic simulator for multibody systems",
    "H03": "Hirukawa et al. (2003), Experimental evaluation of the dynamic simulation of biped "
    "walking of humanoid robots",
    "M08": "Moraud, Hale and Cheng (2008), Constraint-based ground contact handling in humanoid "
    "robotics simulation",
    "S08": "Chardonnet et al. (2008), Interactive dynamic simulator for humanoid robots with "
    "deformable soles",
}


@cache
def catalogue() -> dict[str, Experiment]:
    """All experiments by their names, paper by paper."""
    result: list[Experiment] = []
    for module in pkgutil.iter_modules(__path__):
        result += getattr(importlib.import_module(f"{__name__}.{module.name}"), "EXPERIMENTS", ())
    order = list(PAPERS)
    result.sort(key=lambda experiment: order.index(experiment.paper))
    return {experiment.name: experiment for experiment in result}


def select(words: list[str]) -> list[Experiment]:
    """Return the experiments of papers or of their own names; default: all."""
    known = catalogue()
    for word in words:
        if word not in known and word not in PAPERS:
            raise unknown("paper or experiment", word, "tabi", [*PAPERS, *known])
    return [x for x in known.values() if not words or {x.name, x.paper} & set(words)]


__all__ = ["PAPERS", "applies", "catalogue", "select"]
