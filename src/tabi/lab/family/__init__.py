"""A family of contact problems of our own, made by a seeded generator,
so that hard tests run on every machine.

All in SI units, a step of 1 ms, gravity 9.81 m/s². Each case has its own random generator, from the
seed, its kind and its index: it is the same whatever is made before it. Where a short run comes
before a problem (stances, slides, falls), its last digits are those of the solver that made the
run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tabi._errors import unknown
from tabi.contact import Problem
from tabi.contact.bodies import BodyProblem
from tabi.lab.family import (
    chains,
    falls,
    humanoid,
    piles,
    plates,
    scene_steps,
    stacks,
    stances,
    unsymmetric,
    walls,
)
from tabi.lab.family.case import Case
from tabi.lab.family.walls import wall

__all__ = ["KINDS", "Case", "case", "cases", "everything", "wall"]

# kind: its maker (generator, index) → problem, with the impulses of the step before where there is
# one; cases in a thousand
_MAKERS: dict[str, tuple[Callable[[np.random.Generator, int], Any], int]] = {
    "stance": (humanoid.stance, 150),
    "rocking": (stances.make, 100),
    "slide": (humanoid.slide, 100),
    "fall": (falls.fall, 150),
    "wall": (walls.make, 75),
    "tower": (stacks.tower, 75),
    "mass ratio": (stacks.mass_ratio, 75),
    "pile": (piles.make, 90),
    "plate": (plates.make, 75),
    "chain": (chains.chain, 50),
    "single": (plates.single, 30),
    "unsymmetric": (unsymmetric.make, 30),
    # only on request: the set of scenes changes
    "scene": (scene_steps.make, 0),
}
# those of the whole family
KINDS = tuple(kind for kind, (_, count) in _MAKERS.items() if count)


def case(kind: str, index: int, seed: int) -> Case:
    """One case of a kind."""
    if kind not in _MAKERS:
        raise unknown("kind", kind, "the family", list(_MAKERS))
    # the kind's letters, so that other kinds can come and go
    rng = np.random.default_rng([seed, index, *kind.encode()])
    made, name = _MAKERS[kind][0](rng, index), f"{kind} {seed}:{index}"
    if isinstance(made, Problem):
        return Case(name, kind, None, ready_problem=made)
    if isinstance(made, BodyProblem):
        return Case(name, kind, made)
    return Case(name, kind, *made)


def cases(kind: str, count: int, seed: int) -> Iterator[Case]:
    """The first cases of a kind."""
    return (case(kind, index, seed) for index in range(count))


def everything(seed: int, scale: float = 1.0) -> Iterator[Case]:
    """The whole family, kind after kind.

    Args:
        scale: 1 gives a thousand cases, one in a hundred of them with more than 400 contacts;
            a small one is for tests.
    """
    for kind in KINDS:
        yield from cases(kind, max(1, round(scale * _MAKERS[kind][1])), seed)
