"""A world that falls and comes to rest: the mean CPU time of a step beside MuJoCo's, and each of
tabi's steps by itself.

It falls four times in the same way. The first fall loads kernels and makes room for contacts, the
second runs through in a compiled loop, as MuJoCo's does through ``rollout``, and gives the mean; in
the others each step is timed by itself, the call from Python included, and the shorter of its two
times counts, as the machine may do something else meanwhile. MuJoCo falls twice, and its second
fall counts. All is CPU time of the thread, while Python's own search for garbage, a tenth of a
second, waits.
"""

from __future__ import annotations

import gc
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tabi.lab.bench.step import Rolling
from tabi.model.world import World
from tabi.simulation.simulator import Simulator


def measure(world: World, seconds: float) -> dict[str, Any]:
    """Measure mean, median and longest time of a step, and count steps that did not converge;
    MuJoCo's figures are left out if it is not installed.
    """
    sim = Simulator(world)
    start, count = sim.save(), round(seconds / sim.dt)
    missed, _ = sim.rollout(count)
    sim.restore(start)
    mean = {"tabi": round(_microseconds(lambda: sim.rollout(count)) / count, 1)}
    times, points = np.full(count, np.inf), 0
    for _ in range(2):
        sim.restore(start)
        for k in range(count):
            times[k] = min(times[k], _microseconds(sim.step))
            points = max(points, int(sim.data.outcome.report[0]["points"]))
    if importlib.util.find_spec("mujoco") is not None:
        for _ in range(2):
            theirs = Rolling(world, None, None)
            mean["mujoco"] = round(_microseconds(lambda fall=theirs: fall(count)) / count, 1)
    return {
        "microseconds": mean,
        "median_microseconds": round(float(np.median(times)), 1),
        "longest_ms": round(1e-3 * max(times), 2),
        "most_points": points,
        "missed": missed,
        "steps": count,
    }


def _microseconds(work: Callable[[], object]) -> float:
    """CPU time of some work."""
    gc.disable()
    try:
        start = time.thread_time()
        work()
        return 1e6 * (time.thread_time() - start)
    finally:
        gc.enable()
