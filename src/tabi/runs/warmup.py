"""Compile every kernel that Python calls, on a small world: kernels are the same for every robot.

Where there is a second core another process compiles the simulation (``background_compile``), into
the cache that both share; what it has not come to is compiled here in the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabi._errors import TabiError
from tabi.reporting.terminal import bar

if TYPE_CHECKING:
    from tabi.contact import BodyProblem
    from tabi.model.compiled import Model

Array = NDArray[np.float64]
Job = tuple[str, Callable[[], object]]


def jobs() -> list[Job]:
    """Name and call of each kernel that is entered from Python."""
    from tabi import collision, contact
    from tabi.dynamics import free, workspace
    from tabi.model.world import World
    from tabi.simulation.simulator import Simulator

    world = World()
    world.add_ground()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0, position=(0.0, 0.0, 0.05))
    model = world.compile()
    q, v, tau, a = model.initial(), np.zeros(6), np.zeros(6), np.zeros(6)
    m, w = model.arrays, workspace.allocate(model)
    return [
        *_dynamics(model, q, v, tau, a),
        ("free step", lambda: (free.prepare(m, q, v, w), free.step(m, q, v, tau, 1e-3, 1, w, a))),
        (
            "collision",
            lambda: (collision.contacts(model, q), collision.distance(model, q, "box", "box")),
        ),
        (
            "contact solvers",
            lambda: [
                contact.solve(np.eye(3), [1.0, 0.0, -1.0], 0.5, order="ttn", solver=name)
                for name in contact.SOLVERS
            ],
        ),
        (
            "contacts of bodies",
            lambda: [contact.solve_bodies(_touching(), solver=name) for name in contact.SOLVERS],
        ),
        ("pictures", _draw),
        (
            "simulation",
            lambda: (
                (sim := Simulator(world)).step() or (sim.contacts, sim.certificate, sim.balance)
            ),
        ),
    ]


def _dynamics(model: Model, q: Array, v: Array, tau: Array, a: Array) -> list[Job]:
    from tabi import dynamics
    from tabi.dynamics.delassus import point_inertia

    return [
        ("kinematics", lambda: dynamics.velocity(model, q, v, "box")),
        ("forward dynamics", lambda: dynamics.forward_dynamics(model, q, v, tau)),
        (
            "inverse dynamics",
            lambda: dynamics.acceleration(
                model, q, v, dynamics.inverse_dynamics(model, q, v, a), "box"
            ),
        ),
        ("mass matrix", lambda: dynamics.mass_matrix(model, q)),
        (
            "Jacobians",
            lambda: (
                dynamics.point_jacobian(model, q, "box"),
                dynamics.jacobian_bias(model, q, v, "box"),
            ),
        ),
        (
            "Delassus operator",
            lambda: [
                dynamics.delassus(model, q, [("box", (0.0, 0.0, 0.0))], method)
                for method in point_inertia.WAYS
            ],
        ),
        (
            "energy and momentum",
            lambda: (dynamics.energy(model, q, v), dynamics.momentum(model, q, v)),
        ),
        ("configurations", lambda: dynamics.integrate(model, q, v, 1e-3)),
        ("inverse kinematics", lambda: _reach(model, q)),
    ]


def _reach(model: Model, q: Array) -> None:
    """Both answers of inverse kinematics, and why one is not reached."""
    from tabi.control.inverse_kinematics import InverseKinematics

    ik = InverseKinematics(model, locked=model.root_names, restarts=0)
    ik.pose("box", orientation="").target = (1.0, 0.0, 0.0)
    ik.velocity(q, 1e-3)
    str(ik.solve(q).reason)


def _draw() -> None:
    """A ball on the ground in a picture of one pixel."""
    from tabi.recording.look import Look
    from tabi.rendering.camera import Camera
    from tabi.rendering.renderer import Renderer
    from tabi.rendering.triangles import of_look

    ground = np.array([[(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)]])
    eye = Camera((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), size=(1, 1))
    Renderer(of_look(Look([], ground))).colour(np.eye(3)[None], np.zeros((1, 3)), eye)


def _touching() -> BodyProblem:
    """One body on one point."""
    from tabi.contact import bodies

    frame, arm, omega = np.eye(3).reshape(1, 9), np.zeros((1, 3)), np.eye(6)[None]
    return bodies.problem(
        a=[0],
        b=[-1],
        frame=frame,
        arm_a=arm,
        arm_b=arm,
        start=[0, 1],
        column=[0],
        omega=omega,
        q=[1.0, 0.0, -1.0],
        mu=[0.5],
    )


def run(show: bool = True) -> str:
    """Run all jobs and say how long it took; where nothing can keep what is compiled, say that."""
    from tabi.jit import cache_folder, decorator

    if not decorator.own_compiler():
        return "nothing to compile ahead: TABI_JIT=plain and NUMBA_DISABLE_JIT keep no kernels"
    if cache_folder.cache_folder() is None:
        return (
            "nothing was compiled, as no folder can keep it; set TABI_CACHE_DIR to a folder of "
            "yours, or every run compiles what it needs"
        )
    from tabi.jit import units
    from tabi.simulation import background_compile

    start = time.perf_counter()
    background_compile.start()
    before = units.known()

    def rare() -> None:
        new = [slot for name, slot in units.known().items() if name not in before]
        units.fill_below(new)
        background_compile.run()

    work = [*jobs(), ("what is rarely called", rare)]
    with bar("compiling", len(work), show=show) as move:
        for count, (_, job) in enumerate(work):
            move(count)
            job()
    return f"kernels ready after {time.perf_counter() - start:.1f} s"


def ship() -> str:
    """Put the kernels into the package, and say how many."""
    from tabi.jit import cache_folder, decorator

    if not decorator.own_compiler():
        raise TabiError("kernels of a wheel are made by tabi's compiler: unset TABI_JIT")
    from tabi.jit import code_cache, shipped_kernels

    folder = cache_folder.cache_folder()
    if folder is None:
        raise TabiError("no folder keeps kernels; set TABI_CACHE_DIR to a folder of yours")
    try:
        names = {code_cache.begin_of(function) for function in decorator.KERNELS}
        count = shipped_kernels.ship(folder, cache_folder.PACKAGE, cache_folder.digest(), names)
    except OSError as error:
        raise TabiError(f"kernels cannot be put into {cache_folder.PACKAGE}: {error}") from None
    return f"{count} kernels in {cache_folder.PACKAGE / shipped_kernels.FOLDER}"
