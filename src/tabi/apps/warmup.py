"""Compile every kernel that Python calls, on a small world: kernels are the same for every robot."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def jobs() -> list[tuple[str, Callable[[], object]]]:
    """Name and call of each kernel that is entered from Python."""
    from tabi import collision, contact, dynamics
    from tabi.apps.bench import loops
    from tabi.dynamics import free, point_inertia, workspace
    from tabi.model.world import World

    world = World()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    model = world.compile()
    q, v, tau, a = model.neutral(), np.zeros(6), np.zeros(6), np.zeros(6)
    m, w, M = model.arrays, workspace.allocate(model), np.zeros((6, 6))
    return [
        ("kinematics", lambda: dynamics.velocity(model, q, v, "box")),
        ("forward dynamics", lambda: dynamics.forward_dynamics(model, q, v, tau)),
        ("inverse dynamics", lambda: dynamics.acceleration(model, q, v, dynamics.inverse_dynamics(model, q, v, a), "box")),
        ("mass matrix", lambda: dynamics.mass_matrix(model, q)),
        ("Jacobians", lambda: (dynamics.point_jacobian(model, q, "box"), dynamics.jacobian_bias(model, q, v, "box"))),
        ("Delassus operator", lambda: [dynamics.delassus(model, q, [("box", (0.0, 0.0, 0.0))], way) for way in point_inertia.WAYS]),
        ("energy and momentum", lambda: (dynamics.energy(model, q, v), dynamics.momentum(model, q, v))),
        ("configurations", lambda: dynamics.integrate(model, q, v, 1e-3)),
        ("free step", lambda: (free.prepare(m, q, v, w), free.step(m, q, v, tau, 1e-3, 1, w, a))),
        ("collision", lambda: (collision.contacts(model, q), collision.distance(model, q, "box", "box"))),
        ("contact solvers", lambda: [contact.solve(np.eye(3), [1.0, 0.0, -1.0], 0.5, order="ttn", solver=name) for name in contact.SOLVERS]),
        ("loops", lambda: loops.run_once(m, q, v, tau, w, a, M)),
    ]


def run(show: bool = True) -> str:
    """Run all jobs and say how long it took."""
    from tabi import _jit

    start = time.perf_counter()
    work = jobs()
    if show:
        from rich.progress import track

        work = track(work, description="compiling")  # type: ignore[assignment]
    for _, job in work:
        job()
    done = f"kernels ready after {time.perf_counter() - start:.1f} s"
    return done if _jit.cache_folder() else f"{done}, but for this run only: no folder can keep them; set TABI_CACHE_DIR to a folder of yours"
