"""A first start in two processes.

Kernels take arguments of the same types in every world, so what has to be compiled is known before
there is one. Where the cache has no step, a second process compiles the kernels of a step from its
end, contact solver and dynamics, into the cache, while this one begins with the collisions. Where
the two meet, the rest is read from the cache; neither waits for the other.
"""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
from typing import Any

from tabi import _jit, _shipped
from tabi.contact import bodies, certificate, ladder
from tabi.dynamics import aba, body_inertia, body_response, forward, free, gyroscopic, kinematics
from tabi.model.world import World
from tabi.simulation.laws import coulomb
from tabi.simulation.step import step_on
from tabi.simulation.stepper import Stepper

# of a step in the cache: see _jit
STEP = "tabi.simulation.step.rollout-*"


@functools.cache
def start() -> None:
    """Begin, once, where it is of use; what goes wrong in the other process is met again here."""
    folder = _jit.cache_folder()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if folder is None or any(folder.glob(STEP)) or (cores or 1) < 2 or _jit.plain_mode():
        return
    # what came with the package leaves nothing to do
    if _shipped.folder(_jit.PACKAGE, _jit.source_digest()) is not None:
        return
    none = subprocess.DEVNULL
    command = [sys.executable, "-m", "tabi.simulation.ahead"]
    helper = subprocess.Popen(command, stdin=none, stdout=none, stderr=none)
    atexit.register(helper.terminate)


def jobs(stepper: Stepper) -> list[tuple[Any, tuple[Any, ...]]]:
    """Kernels and arguments that have their types, those that a step comes to last before the
    others.
    """
    t, d, s = stepper.tables, stepper.data, stepper.workspace
    m, w, p = t.model, s.dynamics, s.problem
    return [
        (ladder.solve_bodies, (p, 0.0, s.impulse, s.law, t.attempts)),
        (bodies.prepare, (p, s.law)),
        (bodies.velocities, (p, s.impulse, s.u, s.check_wrench, s.check_twist)),
        (certificate.residual, (p, s.impulse, s.u)),
        (body_response.respond, (m, w, s.chains, s.body, 0, s.wrench, s.delta_v)),
        (body_inertia.omega, (m, w, s.chains, s.body, 0, p.start, p.column, p.omega)),
        (free.conserve, (m, d.q, d.v, 0.0, 0, w)),
        (gyroscopic.settle, (m, d.v, 0.0, s.applied, w, s.acceleration, True, s.v_free)),
        (gyroscopic.turn, (m, d.v, s.v_next, w, 0.0, True, s.v_configuration)),
        (gyroscopic.keep_energy, (m, 0.0, w, s.v_free)),
        (forward.accelerations, (m, w.load, w, s.acceleration)),
        (aba.factor, (m, w)),
        (free.measure, (m, w.load, 0.0, w)),
        (kinematics.velocities, (m, d.v, w)),
        (kinematics.positions, (m, d.q, w)),
    ]


def run() -> None:
    """Compile them, as other kernels see them."""
    world = World()
    world.add_ground()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    for kernel, args in jobs(Stepper(world.compile(), step_on(coulomb), ready=False)):
        kernel.inside.entry(args)


if __name__ == "__main__":
    run()
