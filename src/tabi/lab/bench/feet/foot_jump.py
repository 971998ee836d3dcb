"""Bend and jump with soles of many corners: exact selection against one step of it.

Both modes run the same motion in one process, block by block in turns; times are of the thread, so
that what else the machine does counts less. How wrong one step is: it is let go from every moment
of the exact run, and by itself.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.control import hold
from tabi.lab.bench.feet import foot_robots as robots
from tabi.lab.study import progress
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots import hrp2
from tabi.simulation.simulator import Simulator
from tabi.step.laws.polygons import polygons, selection, selection_search
from tabi.step.laws.polygons.polygons import Polygons
from tabi.step.laws.selection import EXACT, ONE_STEP, Selection

Array = NDArray[np.float64]
CORNERS, FEET, MODES = (4, 8, 16, 32, 64), (2, 4, 6), (EXACT, ONE_STEP)
# steps that are timed together, and how often the motion is timed
BLOCK, PASSES = 50, 5
# the selection alone is timed in one of so many steps, so often
SAMPLE, REPEATS = 5, 5
# how long HRP-2 and tables move [s]
HRP2_TIME, TABLE_TIME = 2.5, 1.2
# a wrench whose error is larger, in weights, is counted
MAX_WRENCH_ERROR = 0.01


def measure(
    corners: tuple[int, ...] = CORNERS,
    feet: tuple[int, ...] = FEET,
    passes: int = PASSES,
) -> list[dict[str, Any]]:
    """One row for each number of feet and corners; two feet are those of HRP-2."""
    rows = []
    for count in feet:
        for n in corners:
            progress(f"jump on {count} feet of {n} corners")
            rows.append({"feet": count, "corners": n} | jump(count, n, passes))
    return rows


def jump(feet: int, corners: int, passes: int = PASSES, duration: float | None = None) -> Any:
    """Times and errors of both modes over one jump."""
    runs, seconds = {}, HRP2_TIME if feet == 2 else TABLE_TIME
    for mode in MODES:
        if feet == 2:
            runs[mode] = robots.jumping_hrp2(f"{{law: selection, mode: {mode}}}", corners)
        else:
            runs[mode] = robots.jumping_table(Selection(mode=mode), feet, corners)
    sim, robot = runs[EXACT]
    steps = round((duration or seconds) / sim.dt) // BLOCK * BLOCK
    commands = robots.program(sim, robot, steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times, missed = clock({mode: run[0] for mode, run in runs.items()}, commands, passes)
        begin = sim.save()
        wrong = errors(sim, runs[ONE_STEP][0], commands)
        sim.restore(begin)
        alone = searches(sim, commands)
    mean = {mode: float(x.mean()) for mode, x in times.items()}
    return {
        "robot": robot.name,
        "steps": steps,
        "microseconds": {mode: round(x, 2) for mode, x in mean.items()},
        "slowest_block": {mode: round(float(x.max()), 2) for mode, x in times.items()},
        "ratio": round(mean[EXACT] / mean[ONE_STEP], 3),
        "missed": missed,
        "search_microseconds": alone,
        "along": {mode: np.round(x, 2).tolist() for mode, x in times.items()},
        **wrong,
    }


def clock(
    sims: dict[str, Simulator], commands: Array, passes: int
) -> tuple[dict[str, Array], dict[str, int]]:
    """Microseconds a step of each block, medians over passes; steps that missed in a pass."""
    begin = {name: sim.save() for name, sim in sims.items()}
    blocks = len(commands) // BLOCK
    times = {name: np.zeros((passes, blocks)) for name in sims}
    missed = dict.fromkeys(sims, 0)
    for turn in range(-1, passes):
        # the first one is for compilers and caches
        for name, sim in sims.items():
            sim.restore(begin[name])
        for block in range(blocks):
            part = np.ascontiguousarray(commands[block * BLOCK : (block + 1) * BLOCK])
            for name, sim in list(sims.items())[:: 1 if block % 2 else -1]:
                start = time.thread_time()
                rows, _ = sim.rollout(BLOCK, part)
                spent = time.thread_time() - start
                if turn >= 0:
                    times[name][turn, block] = 1e6 * spent / BLOCK
                if turn == passes - 1:
                    missed[name] += rows
    for name, sim in sims.items():
        sim.restore(begin[name])
    return {name: np.median(x, axis=0) for name, x in times.items()}, missed


def errors(exact: Simulator, quick: Simulator, commands: Array) -> dict[str, Any]:
    """The exact run step by step, and one step of the other mode from each of its moments."""
    weight = exact.model.mass * float(np.linalg.norm(exact.world.gravity))
    off, least, tried, wrong, missed = [], np.inf, [], 0, 0
    for k in range(len(commands)):
        quick.restore(exact.save())
        part = commands[k : k + 1]
        exact.rollout(1, part)
        missed += quick.rollout(1, part)[0]
        a, b = exact.data.memory.foot, quick.data.memory.foot
        off.append(np.abs(a["force"] - b["force"]).max() / weight)
        wrong += bool((a["state"] != b["state"]).any())
        least = min(least, float(a["normal_force"].min()))
        tried.append(int(exact.data.outcome.report[0]["iterations"]))
    return {
        "states_tried": {"mean": round(float(np.mean(tried)), 2), "most": max(tried)},
        "least_normal_force_N": round(least, 9),
        "one_step": {
            "wrong_states": wrong,
            "missed_from_exact": missed,
            "largest_force_error": float(f"{max(off):.3g}"),
            "steps_off": int((np.array(off) > MAX_WRENCH_ERROR).sum()),
        },
    }


def searches(sim: Simulator, commands: Array) -> dict[str, float]:
    """The selection alone, from the states of the step before, in every so many steps of the exact
    run: mean time of both modes [µs], what a call from Python takes taken off.
    """
    spent, count = dict.fromkeys(MODES, 0.0), 0
    calls = {
        EXACT: lambda P, s: selection_search.exact(P, s, sim.data.tolerance, True, len(s.heap)),
        ONE_STEP: lambda P, s: selection_search.one_step(P, s, sim.data.tolerance, True),
    }
    for k in range(SAMPLE, len(commands), SAMPLE):
        sim.rollout(SAMPLE - 1, commands[k - SAMPLE : k - 1])
        before = selected(sim)
        sim.rollout(1, commands[k - 1 : k])
        now = selected(sim)
        # states are numbers of polygons with as many corners
        if before is None or now is None or not np.array_equal(before[0].start, now[0].start):
            continue
        (P, s), state, count = now, before[1].state.copy(), count + 1
        idle = least_time(selection_search.pack, P, s, state)
        for mode, call in calls.items():
            spent[mode] += max(0.0, least_time(call, P, s, state) - idle)
    return {mode: round(1e6 * x / max(count, 1), 2) for mode, x in spent.items()}


def selected(sim: Simulator) -> tuple[Polygons, selection.Search] | None:
    """The polygons of the last step, all contacts being of feet, and the states that its impulses
    show.
    """
    p = sim.data.problem
    if p is None:
        return None
    n = len(p.kind)
    P = polygons.allocate(n, len(p.start) - 1)
    s = selection.allocate(P, Selection().candidates)
    gap = sim.data.contact["gap"][sim.data.problem_order].copy()
    polygons.gather(p, np.ones(n, np.int64), gap, P)
    selection_search.begin(P, s, sim.data.impulse)
    return P, s


def least_time(call: Any, P: Any, s: Any, state: NDArray[np.int64]) -> float:
    """The shortest of some calls from the same states [s]."""
    least = np.inf
    for _ in range(REPEATS):
        s.state[: len(state)] = state
        start = time.perf_counter()
        call(P, s)
        least = min(least, time.perf_counter() - start)
    return least


def standing(blocks: int = 31) -> dict[str, Any]:
    """A step of HRP-2 that stands, by laws of contact in turns [µs]."""
    names = {"coulomb": "coulomb", "selection": "selection", ONE_STEP: Selection(mode=ONE_STEP)}
    sims = {name: _standing(law)[0] for name, law in names.items()}
    for sim in sims.values():
        sim.run(0.5)
    times: dict[str, list[float]] = {name: [] for name in sims}
    for _ in range(blocks):
        for name, sim in sims.items():
            start = time.thread_time()
            sim.rollout(500)
            times[name].append(1e6 * (time.thread_time() - start) / 500)
    result = {name: np.array(x) for name, x in times.items()}
    return {
        "microseconds": {name: round(float(np.median(x)), 2) for name, x in result.items()},
        "ratio_to_coulomb": {
            name: round(float(np.median(x / result["coulomb"])), 3)
            for name, x in result.items()
            if name != "coulomb"
        },
    }


def _standing(law: Any) -> tuple[Simulator, Robot]:
    world = World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(hrp2())
    robot.stand_on_ground()
    sim = Simulator(world, contact=law)
    sim.set_controller(robot, hold(robot.half_sitting))
    return sim, robot
