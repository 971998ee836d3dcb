"""Contact problems out of scenes: humanoids that walk, lift, lean, sit, push and fall.

A scene of the library is run for some time, drawn by the seed, and the problem of the step that has
the most contacts in the last tenth of a second is taken, so that it is one while things touch.
Scenes come by turns. Steps with rows that FCLib's form cannot represent (bonds, soft soles,
surfaces that resist turning) are passed over.
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
MAX_TIME_S, SEARCH_TIME_S = 3.0, 0.1


@cache
def with_robots() -> tuple[str, ...]:
    """Return the scenes in which a robot has contacts that files can represent."""
    result = []
    for name in scenes.names():
        contents = scenes.load(name).contents
        soft = any(robot.soles or robot.pads for robot in contents.robots)
        how = contents.simulation
        plain = how.contact == "coulomb" and how.step_s == STEP and not contents.bonds
        if contents.robots and plain and not soft and contents.hand is None:
            result.append(name)
    return tuple(result)


def make(rng: np.random.Generator, index: int) -> tuple[BodyProblem, Floats | None]:
    """The problem of a step, and the impulses of the step before."""
    names = with_robots()
    scene = scenes.load(names[index % len(names)])
    sim = scene.simulator()
    sim.run(float(rng.uniform(0.2, min(scene.duration, MAX_TIME_S))))
    for _ in range(10):
        result = _richest(sim)
        if result is not None:
            return result, None
    # nothing touched for a second: the start, where it stands
    sim.reset()
    sim.step()
    result = sim.problem()
    assert result is not None
    return result, None


def _richest(sim: Simulator) -> BodyProblem | None:
    """Return the problem with most contacts of the next steps."""
    best: BodyProblem | None = None
    for _ in range(round(SEARCH_TIME_S / sim.dt)):
        sim.step()
        problem = sim.problem()
        if problem is None or (problem.kind != CONTACT).any():
            continue
        if best is None or len(problem.mu) > len(best.mu):
            best = problem
    return best
