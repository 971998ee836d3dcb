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
from typing import Any

import tabi
from tabi.apps.doctor import processor, version_of

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


def measure(cold: bool = True) -> dict[str, Any]:
    """All figures, as plain data."""
    result: dict[str, Any] = {
        "hardware": {"processor": processor(), "cores": os.cpu_count()},
        "versions": {"tabi": tabi.__version__}
        | {name: version_of(name) for name in ("numpy", "numba", "llvmlite")},
    }
    with tempfile.TemporaryDirectory() as folder:
        if cold:
            result["cold"] = first_step(folder)
            result["warm"] = first_step(folder)
        else:
            first_step(None)
            result["warm"] = first_step(None)
    return result


def first_step(cache: str | None) -> dict[str, float]:
    """Seconds from here to the end of the first step, and CPU seconds of that process."""
    settings = os.environ | {"TABI_QUIET": "1"} | ({"TABI_CACHE_DIR": cache} if cache else {})
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=settings, capture_output=True, text=True, check=True
    )
    return {"wall_s": round(time.perf_counter() - start, 2)} | json.loads(done.stdout)


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [f"{result['hardware']['processor']}, {result['hardware']['cores']} cores"]
    for name in ("cold", "warm"):
        if name in result:
            found = result[name]
            lines.append(
                f"  {name}: first step of HRP-2 after {found['wall_s']:.1f} s "
                f"({found['cpu_s']:.1f} s of CPU in the process itself)"
            )
    return "\n".join(lines)
