"""Compilation in the background, by a second process, at a first start.

Kernels take arguments of the same types in every world, so the kernels to compile are known before
there is one. Where the cache has no step, a second process compiles its units (``step.Units``) from
the last to the first, while this one begins with the first; a unit that the other process compiles
is waited for. Then the second process compiles all that a step may need in another world.
"""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import threading
from typing import Any

from tabi.contact import ladder
from tabi.jit import cache_folder, decorator
from tabi.model.world import World
from tabi.step.laws import coulomb
from tabi.step.step import step_on
from tabi.step.stepper import Stepper
from tabi.step.tables import NO_PROGRAM

# timeout for the second process to end [s]
END_WITHIN_S = 2.0


@functools.cache
def start() -> None:
    """Start the second process once, if it is of use; this process meets its errors again."""
    folder = cache_folder.cache_folder()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if not decorator.own_compiler() or folder is None or (cores or 1) < 2:
        return
    if any(folder.glob(step_files())):
        return
    none = subprocess.DEVNULL
    command = [sys.executable, "-m", "tabi.simulation.background_compile"]
    helper = subprocess.Popen(command, stdin=none, stdout=none, stderr=none)
    # so that it does not remain as a zombie
    threading.Thread(target=helper.wait, name="tabi-second-compiler", daemon=True).start()
    atexit.register(end, helper)


def end(helper: subprocess.Popen[bytes]) -> None:
    """End the second process with this one; kernels compiled so far stay in the cache."""
    helper.terminate()
    try:
        helper.wait(END_WITHIN_S)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


def step_files() -> str:
    """Return the pattern of the files of the compiled step in the cache."""
    from tabi.jit import identity

    rollout = step_on(coulomb).rollout.py_func
    return f"{rollout.__module__}.{rollout.__name__}-{identity.whole(rollout)}-*"


def jobs(stepper: Stepper) -> list[tuple[Any, tuple[Any, ...]]]:
    """Return kernels of a step with arguments of their types, the last one first, and then the step
    itself, which a process with a walking robot compiles late.
    """
    t, d, s, step = stepper.tables, stepper.data, stepper.workspace, step_on(coulomb)
    return [
        (ladder.solve_bodies, (s.problem, 0.0, s.impulse, s.law, t.attempts)),
        (step.units.conclude, (t, d, s, 0.0, 0.0)),
        (step.units.assemble, (t, d, s, 0.0)),
        (step.units.free_motion, (t, d, s, 0.0, 0)),
        (step.units.find_contacts, (t, d, s, 0.0)),
        (step.rollout, (t, d, s, NO_PROGRAM, 0.0, 0.0, 1)),
    ]


def run() -> None:
    """Compile all kernels of a step, and then those they may call."""
    if not decorator.own_compiler():
        return
    world = World()
    world.add_ground()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    kernels = jobs(Stepper(world.compile(), step_on(coulomb), ready=False))
    for kernel, args in kernels:
        kernel.entry(args)
    for kernel, args in kernels:
        decorator.complete(kernel, *args)


if __name__ == "__main__":
    run()
