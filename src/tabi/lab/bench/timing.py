"""Medians of interleaved blocks: what disturbs one engine disturbs the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Annotated

import numpy as np
import typer

from tabi.apps.robots import named
from tabi.model.robot import Robot

Blocks = Annotated[int, typer.Option(min=3, help="Timed blocks; medians are reported.")]
# robots of a benchmark, beside HRP-2
Robots = Annotated[
    list[str] | None,
    typer.Argument(help="Robots beside hrp2: paths to URDF, MJCF, .wrl or .body files."),
]


def microseconds(
    runs: Mapping[str, Callable[[int], object]],
    blocks: int = 31,
    block_seconds: float = 0.01,
    clock: Callable[[], float] = time.perf_counter,
    rotate: bool = False,
) -> dict[str, np.ndarray]:
    """Time per call [µs] of each run in each block, shape (blocks,).

    Args:
        runs: name → function that does its work ``count`` times.
        block_seconds: length of a block, from which the counts are chosen.
        clock: seconds; ``time.thread_time`` leaves out what other programs take from this thread.
        rotate: begin each turn with the next run, so that none has a place of its own.
    """
    counts = {}
    for name, run in runs.items():
        run(1)
        start = clock()
        run(20)
        counts[name] = max(1, int(20 * block_seconds / (clock() - start)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for turn in range(blocks):
        first = turn % len(names) if rotate else 0
        for name in names[first:] + names[:first]:
            start = clock()
            runs[name](counts[name])
            times[name].append((clock() - start) / counts[name] * 1e6)
    return {name: np.array(values) for name, values in times.items()}


def medians(times: Mapping[str, np.ndarray], digits: int = 2) -> dict[str, float]:
    """The median of each run [µs], rounded."""
    return {name: round(float(np.median(t)), digits) for name, t in times.items()}


def hrp2_and(paths: list[str] | None) -> list[Robot]:
    """HRP-2, then robots from files in their own order, all read before the first is measured."""
    return [named("hrp2"), *(named(path, gains=False) for path in paths or ())]


def repeat(call: Callable[[], object]) -> Callable[[int], object]:
    """A Python loop around a call."""

    def run(count: int) -> None:
        for _ in range(count):
            call()

    return run
