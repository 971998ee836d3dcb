"""A world that falls and comes to rest: CPU time of each of tabi's steps, and the mean of
MuJoCo's.

Each of tabi's steps is timed by itself, in CPU time of its thread, while Python's own search for
garbage, a tenth of a second, waits. MuJoCo runs through ``rollout``.
"""

from __future__ import annotations

import gc
import importlib.util
import time
from typing import Any

import numpy as np

from tabi.lab.bench.step import Rolling
from tabi.model.world import World
from tabi.simulation.simulator import Simulator


def measure(world: World, seconds: float) -> dict[str, Any]:
    """Mean, median and longest time of a step, and what was missed; no figure of MuJoCo where it
    is not installed.
    """
    sim = Simulator(world)
    # compiles, and makes room for points
    sim.step()
    times, points = [], 0
    gc.collect()
    gc.disable()
    try:
        for _ in range(round(seconds / sim.dt)):
            start = time.thread_time()
            sim.step()
            times.append(1e6 * (time.thread_time() - start))
            points = max(points, int(sim.data.outcome.report[0]["points"]))
    finally:
        gc.enable()
    mean = {"tabi": round(float(np.mean(times)), 1)}
    if importlib.util.find_spec("mujoco") is not None:
        theirs = Rolling(world, None, None)
        start = time.thread_time()
        theirs(len(times))
        mean["mujoco"] = round(1e6 * (time.thread_time() - start) / len(times), 1)
    return {
        "microseconds": mean,
        "median_microseconds": round(float(np.median(times)), 1),
        "longest_ms": round(1e-3 * max(times), 2),
        "most_points": points,
        "missed": sim.missed_count,
        "steps": len(times),
    }
