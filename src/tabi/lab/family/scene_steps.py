"""Contact problems out of scenes: humanoids that walk, lift, lean, sit, push and fall.

A scene of the library is run for some time, drawn by the seed, and the problem of the step that has
the most contacts in the last tenth of a second is taken, so that it is one while things touch.
Scenes come by turns. Steps with rows that FCLib's form cannot tell (bonds, soft soles, surfaces
that resist turning) are passed over.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tabi import scenes
from tabi.contact.bodies import BodyProblem
from tabi.contact.rows import CONTACT
from tabi.lab.family.case import STEP
from tabi.simulation.simulator import Simulator

Floats = NDArray[np.float64]
# how long a scene is run at most [s], and looked at [s]
LONGEST, LOOKED = 3.0, 0.1


@cache
def with_robots() -> tuple[str, ...]:
    """Scenes in which a robot touches something, by contacts that files can tell."""
    found = []
    for name in scenes.names():
        told = scenes.load(name).contents
        soft = any(robot.soles or robot.pads for robot in told.robots)
        how = told.simulation
        plain = how.contact == "coulomb" and how.step_s == STEP and not told.bonds
        if told.robots and plain and not soft and told.hand is None:
            found.append(name)
    return tuple(found)


def make(rng: np.random.Generator, index: int) -> tuple[BodyProblem, Floats | None]:
    """The problem of a step, and the impulses of the step before."""
    names = with_robots()
    scene = scenes.load(names[index % len(names)])
    sim = scene.simulator()
    sim.run(float(rng.uniform(0.2, min(scene.duration, LONGEST))))
    for _ in range(10):
        found = _richest(sim)
        if found is not None:
            return found, None
    # nothing touched for a second: the start, where it stands
    sim.reset()
    sim.step()
    found = sim.problem()
    assert found is not None
    return found, None


def _richest(sim: Simulator) -> BodyProblem | None:
    """Of the next steps the problem with most contacts."""
    best: BodyProblem | None = None
    for _ in range(round(LOOKED / sim.dt)):
        sim.step()
        found = sim.problem()
        if found is None or (found.kind != CONTACT).any():
            continue
        if best is None or len(found.mu) > len(best.mu):
            best = found
    return best
