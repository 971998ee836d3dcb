"""Medians of interleaved blocks: what disturbs one engine disturbs the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np


def microseconds(
    runs: Mapping[str, Callable[[int], object]], blocks: int = 31, block_seconds: float = 0.01
) -> dict[str, np.ndarray]:
    """Time per call [µs] of each run in each block, shape (blocks,).

    Args:
        runs: name → function that does its work ``count`` times.
        block_seconds: length of a block, from which the counts are chosen.
    """
    counts = {}
    for name, run in runs.items():
        run(1)
        start = time.perf_counter()
        run(20)
        counts[name] = max(1, int(20 * block_seconds / (time.perf_counter() - start)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(blocks):
        for name, run in runs.items():
            start = time.perf_counter()
            run(counts[name])
            times[name].append((time.perf_counter() - start) / counts[name] * 1e6)
    return {name: np.array(values) for name, values in times.items()}


def repeat(call: Callable[[], object]) -> Callable[[int], object]:
    """A Python loop around a call."""

    def run(count: int) -> None:
        for _ in range(count):
            call()

    return run
