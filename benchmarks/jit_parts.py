"""What each part of `tabi.jit` gains: CPU time until HRP-2's first step, and time of a step.

    python benchmarks/jit_parts.py [--rounds 3]

Each variant leaves one part out, in a process of its own with an empty cache, followed by one that
leaves nothing out; the gain is the median of the ratios of such pairs. The last line is the
whole, `TABI_JIT=plain`, by Numba alone. Half an hour on an idle core; on a busy
one ratios scatter by a tenth, which is more than most gains.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

# name → statements that leave the part out, before any kernel is compiled
PARTS = {
    "nothing": "",
    "indexing (lowering)": "lowering.KernelLower.lower_getitem = base.lower_getitem\n"
    "lowering.KernelLower.lower_setitem = base.lower_setitem",
    "loops (lowering)": "lowering.KernelLower.lower_expr = base.lower_expr",
    "operators (lowering)": "lowering.KernelLower.lower_binop = base.lower_binop",
    "calls (lowering)": "lowering.KernelLowering.run_pass = lowering.typed_passes."
    "BaseNativeLowering.run_pass",
    "types of operators (dispatcher)": "dispatcher.typing_context = lambda context: context",
    "shared flags (dispatcher)": "dispatcher.KernelFlags = lambda flags: flags",
    "registers before linking (compilation)": "from tabi.jit.numba_private import codegen\n"
    "compilation._Linked._optimize_functions = codegen.JITCodeLibrary._optimize_functions",
    "no vectors (compilation)": "compilation.Outside.vectors = True",
}
SCRIPT = """
import resource, statistics, time
import tabi
from tabi.jit import compilation, dispatcher, lowering
base = lowering.lowering.Lower
{part}
# all kernels in this process
from tabi.simulation import background_compile
background_compile.start = lambda: None
start = time.perf_counter()
world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2())
robot.stand_on_ground()
sim = tabi.Simulator(world, dt=1e-3)
sim.step()
wall = time.perf_counter() - start
sim.rollout(200)
times = []
for _ in range(31):
    begin = time.thread_time()
    sim.rollout(100)
    times.append(1e4 * (time.thread_time() - begin))
use = resource.getrusage(resource.RUSAGE_SELF)
cpu = use.ru_utime + use.ru_stime - 31 * 100 * 1e-6 * statistics.median(times)
import json
print(json.dumps({{"cpu_s": cpu, "wall_s": wall, "step_us": min(times)}}))
"""


def run(part: str, plain: bool = False) -> dict[str, float]:
    """Measure one variant in a fresh process."""
    with tempfile.TemporaryDirectory() as cache:
        env = os.environ | {"TABI_CACHE_DIR": cache, "TABI_QUIET": "1"}
        env |= {"TABI_JIT": "plain"} if plain else {}
        script = SCRIPT.format(part=part)
        if plain:
            script = script.replace("from tabi.jit import compilation, dispatcher, lowering", "")
            script = script.replace("base = lowering.lowering.Lower", "")
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=env
        )
    if done.returncode:
        raise SystemExit(f"{part or 'the whole'} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{'left out':40s}   CPU to the first step      a step")
    for name, part in [*PARTS.items(), ("all of it (TABI_JIT=plain)", "plain")]:
        pairs = [(run("", True) if part == "plain" else run(part), run("")) for _ in range(rounds)]
        cpu, step = (
            statistics.median(one[key] / other[key] for one, other in pairs)
            for key in ("cpu_s", "step_us")
        )
        seconds = statistics.median(other["cpu_s"] for _, other in pairs)
        print(f"{name:40s} {cpu:6.2f} × of {seconds:5.1f} s {step:10.2f} ×", flush=True)


if __name__ == "__main__":
    main()
