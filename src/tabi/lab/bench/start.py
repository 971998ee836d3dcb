"""``tabi bench start``: seconds until HRP-2 has done its first step, in a new process.

Once with an empty cache of compiled kernels, in a folder of its own, and then again with what the
first one left there. The clock starts before the interpreter does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from tabi.lab.study import Benchmark, BenchPart, Option

SCRIPT = """
import json, os, tabi
world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2())
robot.stand_on_ground()
sim = tabi.Simulator(world)
sim.step()
# of itself and of those that it waited for
print(json.dumps({"cpu_s": round(sum(os.times()[:4]), 2)}))
"""


class StartBench(Benchmark, name="start"):
    """Seconds from a command to HRP-2's first step: nothing cached, and with a warm cache."""

    warm: Annotated[bool, Option("--warm", help="Only with the kernels in the cache.")] = False

    packages = ("numpy", "numba", "llvmlite")

    def parts(self) -> Iterator[BenchPart]:
        """In a folder without kernels, then with those of the first time."""
        if self.warm:
            first_step(None)
            yield BenchPart("warm", "", first_step, (None,))
            return
        with tempfile.TemporaryDirectory() as folder:
            for name in ("cold", "warm"):
                yield BenchPart(name, "", first_step, (folder,))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """A sentence for each."""
        yield f"{result['hardware']['processor']}, {result['hardware']['cores']} cores"
        for name in ("cold", "warm"):
            if name in result:
                start = result[name]
                yield (
                    f"  {name}: first step of HRP-2 after {start['wall_s']:.1f} s "
                    f"({start['cpu_s']:.1f} s of CPU in the process itself)"
                )


def first_step(cache: str | None) -> dict[str, float]:
    """Seconds from here to the end of the first step, and CPU seconds of that process."""
    settings = os.environ | {"TABI_QUIET": "1"} | ({"TABI_CACHE_DIR": cache} if cache else {})
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=settings, capture_output=True, text=True, check=True
    )
    return {"wall_s": round(time.perf_counter() - start, 2)} | json.loads(done.stdout)
