"""Run the tests of physical laws with machine code of several processors: ``make test-processors``.

Numba compiles for the processor named by NUMBA_CPU_NAME, and sums round otherwise from one to the
next: a number that rounding decides shows as a test that passes on one of them alone. Those that
this machine cannot run are left out, with a word about it. Arguments are handed to pytest in place
of the list below.
"""

import os
import subprocess
import sys
from pathlib import Path

# name for LLVM, and a feature that a machine needs to run its code
PROCESSORS = {"generic": None, "haswell": "avx2", "skylake-avx512": "avx512f"}
LAWS = (
    "tests/analytic",
    "tests/identities",
    "tests/reference",
    "tests/contact",
    "tests/collision",
    "tests/dynamics",
    "tests/step",
    "tests/observation",
    "tests/simulation",
    "tests/soles",
    "tests/walking",
    "tests/scenes/test_library.py",
    "tests/scenes/test_hands.py",
    "tests/scenes/test_turned_scenes.py",
    "tests/lab/papers/experiments",
)
# other programs and pages of documentation tell nothing about a processor
CHOSEN = "not (process or browser or docs)"


def main(chosen: list[str]) -> int:
    """Run pytest once for each processor; the number of those on which tests failed."""
    import llvmlite.binding as llvm

    features, failed = llvm.get_host_cpu_features(), []
    tests = chosen or [path for path in LAWS if Path(path).exists()]
    for name, needed in PROCESSORS.items():
        if needed and not features.get(needed):
            print(f"== {name}: left out, as this processor has no {needed}", flush=True)
            continue
        print(f"== {name}", flush=True)
        env = {**os.environ, "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}
        command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", "-m", CHOSEN]
        if subprocess.run([*command, *tests], env=env, check=False).returncode != 0:
            failed.append(name)
    print(f"failed on: {', '.join(failed)}" if failed else "passed on every processor", flush=True)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
