"""Two revisions of tabi side by side, in one run: is the step slower than it was?

    python benchmarks/compare.py REVISION [OTHER]        OTHER: the working tree, if not given

Each revision runs in a process of its own, on a copy of its sources, and the two take turns with
blocks of steps of a standing and a squatting HRP-2. What is printed: the fastest block of each, the
medians, and the median of the ratios of neighbouring blocks.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCKS, STEPS = 300, 200
WORKER = """
import sys, time, tabi
from tabi.lab.bench.step import Marching, Simulator, stage, targets
made = {}
for name in ("standing", "squat"):
    world, robot = stage(tabi.robots.hrp2())
    made[name] = Marching(Simulator(world), None if name == "standing" else targets(world, robot))
    made[name](2000)
print("ready", flush=True)
for line in sys.stdin:
    name, steps = line.split()
    start = time.perf_counter()
    made[name](int(steps))
    print(1e6 * (time.perf_counter() - start) / int(steps), flush=True)
"""


class Worker:
    """A revision in its own process."""

    def __init__(self, revision: str | None, folder: Path) -> None:
        sources = ROOT / "src"
        if revision is not None:
            packed = subprocess.run(
                ["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True
            ).stdout
            with tarfile.open(fileobj=BytesIO(packed)) as files:
                files.extractall(folder, filter="data")
            sources = folder / "src"
        self.name = revision or "working tree"
        settings = os.environ | {
            "PYTHONPATH": str(sources),
            "TABI_CACHE_DIR": str(folder / "cache"),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=settings,
        )

    def ready(self) -> None:
        """Wait for its kernels."""
        line = self.process.stdout.readline()
        if line.strip() != "ready":
            sys.exit(f"{self.name} does not run: see above")

    def block(self, scene: str) -> float:
        """Microseconds a step."""
        print(scene, STEPS, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def main(old: str, new: str | None = None) -> None:
    """Compile both, then let them take turns."""
    with tempfile.TemporaryDirectory() as place:
        workers = []
        for k, revision in enumerate((old, new)):
            folder = Path(place) / str(k)
            folder.mkdir()
            workers.append(Worker(revision, folder))
        for worker in workers:
            worker.ready()
        for scene in ("standing", "squat"):
            found = [[worker.block(scene) for worker in workers] for _ in range(BLOCKS)]
            ratio = statistics.median(b / a for a, b in found)
            for worker, times in zip(workers, zip(*found, strict=True), strict=True):
                print(
                    f"{scene:9} {worker.name:14} fastest {min(times):6.2f} µs, "
                    f"median {statistics.median(times):6.2f} µs"
                )
            print(
                f"{scene:9} new over old: {ratio:.3f} in the median of {BLOCKS} neighbouring "
                "blocks\n"
            )
        for worker in workers:
            worker.process.stdin.close()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
