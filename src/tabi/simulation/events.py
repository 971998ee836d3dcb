"""The second scheme: steps that stop where things hit each other, and go on from there.

Time stepping lets an impact happen anywhere within a step; its error is of first order in h. Here the moment is looked for: the
longest part τ of the step in which nothing bounces, by halving; then the impact, over an instant in which nothing else moves; then the
rest of the step. What flies by itself follows its parabola exactly, so an elastic ball keeps its energy.

Accumulating impacts (Zeno) end in rest by the rule of ``assembly``: what closes slower than gravity makes it in two steps lands. And
after MOST impacts in one step, as when a ball is caught between two others, the rest of the step is done by time stepping.

Reference: Chardonnet (2006), sec. II-B.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabi.simulation import arrays
from tabi.simulation import step as stepping

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

# impacts in one step; halvings of a step until its moment is known; how long an impact takes, as a part of the step
MOST, HALVINGS, INSTANT = 50, 50, 1e-7


def advance(sim: Simulator) -> tuple[int, int]:
    """One step of a simulator, with its impacts where they happen.

    Returns:
        steps done, 1 or 0, and the status of the last part.
    """
    left = sim.dt
    for _ in range(MOST):
        before = _take(sim)
        done, status = _part(sim, left)
        if done == 0 or not sim._room.report[0]["bounced"]:
            return done, status
        # the longest part without an impact, and then the impact
        low, high = 0.0, left
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            _put(sim, before)
            done, status = _part(sim, middle)
            if done == 0:
                return done, status
            low, high = (low, middle) if sim._room.report[0]["bounced"] else (middle, high)
        instant = INSTANT * sim.dt
        _put(sim, before)
        for length in (low, instant):
            if length > 0.0:
                done, status = _part(sim, length)
                if done == 0:
                    return done, status
        left -= low + instant
        if left <= instant:
            return 1, status
    return _part(sim, left)


def _part(sim: Simulator, length: float) -> tuple[int, int]:
    """A part of a step, by time stepping."""
    world, state = sim._scene, (sim._q, sim._v)
    while True:
        done, status = stepping.march(world, *state, sim._target, arrays.NO_PROGRAM, length, sim.tolerance, sim._memory, sim._room, 1)
        if status != stepping.ROOM:
            return done, status
        sim._grow()


def _take(sim: Simulator) -> tuple:
    count = int(sim._memory.count[0])
    return sim._q.copy(), sim._v.copy(), sim._memory.touch[:count].copy(), sim._target.copy()


def _put(sim: Simulator, before: tuple) -> None:
    sim._q[:], sim._v[:], touch, sim._target[:] = before
    sim._memory.touch[: len(touch)], sim._memory.count[0] = touch, len(touch)
    sim._refresh()
