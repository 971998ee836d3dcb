"""How much faster a sweep of 48 short runs is on two processes than on one.

python benchmarks/sweep_speed.py            a few minutes; needs two cores that are idle
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

# HRP-2 is pushed in each of them: two seconds of computing, and little to build beforehand
SWEEP = "sweep push --over pushes.0.force_n.0=100:400:48 --time 40 --json"
RUNS, WANTED = 48, 1.8


def seconds(jobs: int, folder: Path) -> float:
    """Of the whole command, with the start of its processes."""
    words = [*SWEEP.split(), "--jobs", str(jobs), "--out", str(folder / f"with-{jobs}")]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tabi.apps.cli", *words], stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, two = (seconds(jobs, folder) for jobs in (1, 2))
    print(f"{RUNS} runs: {one:.1f} s on one process, {two:.1f} s on two, {one / two:.2f} times")
    print(f"at least {WANTED} times: {'yes' if one / two >= WANTED else 'NO'}")


if __name__ == "__main__":
    main()
