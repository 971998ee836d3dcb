"""Makes the measured tables of the documentation and writes them between their marker comments.

python docs/generate/tables.py [NAME …]     all tables, or those named; seeds are fixed;
                                        needs the extra "dev"

Robots come from ../shared (beside the checkout) and from the package example-robot-data.
A table whose robots are not there stays as it is, and a line says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

# BLAS threads do not help 36 x 36 matrices; has to stand before NumPy is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from agreement import MissingRobotsError, digits, example_robots, humanoids, reach, relative
from filling import DOCS, table, write

import tabi
from tabi import dynamics
from tabi.dynamics import centroidal, free, workspace
from tabi.model.compiled import Model

# ---- energy and momentum --------------------------------------------------------------------


def fly(
    model: Model, v: np.ndarray, seconds: float, h: float, order: int
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Largest change of energy within the first second and in all [J], and the state at the end."""
    work = workspace.allocate(model)
    a, tau = np.zeros(model.v_count), np.zeros(model.v_count)
    q, v = model.neutral(), v.copy()
    free.prepare(model.arrays, q, v, work)

    def total() -> float:
        return centroidal.kinetic_energy(model.arrays, v, work) + centroidal.potential_energy(
            model.arrays, q, work
        )

    start, early, worst = total(), 0.0, 0.0
    for k in range(round(seconds / h)):
        free.step(model.arrays, q, v, tau, h, order, work, a)
        worst = max(worst, abs(total() - start))
        early = worst if (k + 1) * h <= 1.0 + h / 2 else early
    return early, worst, q, v


def tumbling() -> str:
    """HRP-2 without gravity, all joints swinging: energy and momentum for both orders."""
    world = tabi.World(gravity=(0, 0, 0))
    world.add_robot(tabi.robots.hrp2())
    model = world.compile()
    v0 = np.random.default_rng(1).normal(size=model.v_count)
    energy = dynamics.energy(model, model.neutral(), v0).kinetic
    before = dynamics.momentum(model, model.neutral(), v0)
    rows = []
    for order in (1, 2):
        previous = np.nan
        for h in (4e-3, 2e-3, 1e-3):
            early, worst, q, v = fly(model, v0, 10.0, h, order)
            after = dynamics.momentum(model, q, v)
            slope = "–" if np.isnan(previous) else f"{np.log2(previous / early):.1f}"
            lost = (relative(after.linear, before.linear), relative(after.angular, before.angular))
            rows.append(
                [
                    str(order),
                    f"{1e3 * h:g}",
                    digits(early / energy),
                    slope,
                    digits(worst / energy),
                    *map(digits, lost),
                ]
            )
            previous = early
    head = [
        "order",
        "h [ms]",
        "energy, 1 s",
        "slope",
        "energy, 10 s",
        "momentum, 10 s",
        "spin, 10 s",
    ]
    return table(head, rows)


def falling() -> str:
    """HRP-2 falling for a second: the energy the first order loses."""
    model, rows = tabi.robots.hrp2().compile(), []
    for h in (4e-3, 2e-3, 1e-3):
        changes = []
        for order in (1, 2):
            _, _, q, v = fly(model, np.zeros(model.v_count), 1.0, h, order)
            changes.append(
                dynamics.energy(model, q, v).total
                - dynamics.energy(model, model.neutral(), np.zeros(model.v_count)).total
            )
        law = -model.mass * 9.81**2 * h * 1.0 / 2
        rows.append([f"{1e3 * h:g}", f"{law:.6f}", f"{changes[0]:.6f}", digits(abs(changes[1]))])
    return table(["h [ms]", "−m g² h t/2 [J]", "order 1 [J]", "order 2, size [J]"], rows)


# ---- HRP-2 ----------------------------------------------------------------------------------


def joints(name: str = "hrp2") -> str:
    """The joints of a built-in robot: the middle and the right side."""
    robot, rows = getattr(tabi.robots, name)(), []
    for body in robot.bodies[1:]:
        joint, motor = body.joint, body.joint.motor
        if joint.name.startswith("L"):
            continue
        assert motor is not None
        axis = "xyz"[int(np.argmax(np.abs(joint.axis)))]
        angles = np.degrees([joint.lower, joint.upper, robot.half_sitting.get(joint.name, 0.0)])
        rotor = 1e7 * motor.rotor_inertia
        numbers = (
            motor.torque_limit,
            joint.velocity_limit,
            motor.gear_ratio,
            rotor,
            motor.armature,
            motor.kp,
            motor.kd,
        )
        rows.append(
            [
                f"`{joint.name}`",
                axis,
                *(f"{x:.4g}" for x in angles),
                *(f"{x:.{3 if x < 10 else 5}g}" for x in numbers),
            ]
        )
    head = [
        "joint",
        "axis",
        "from [°]",
        "to [°]",
        "half-sitting [°]",
        "torque [N·m]",
        "speed [rad/s]",
        "gear",
    ]
    head += ["rotor [g·cm²]", "armature [kg·m²]", "kp", "kd"]
    return table(head, rows)


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "humanoids": ("dynamics.md", humanoids),
    "example-robots": ("dynamics.md", example_robots),
    "reach": ("dynamics.md", reach),
    "tumbling": ("dynamics.md", tumbling),
    "falling": ("dynamics.md", falling),
    "joints": ("hrp2.md", joints),
    "joints-hrp1s": ("hrp1s.md", lambda: joints("hrp1s")),
}


def main() -> None:
    """Make the tables named on the command line, or all."""
    for name in sys.argv[1:] or TABLES:
        if name not in TABLES:
            raise SystemExit(f"no table {name!r}; expected one of {', '.join(TABLES)}")
        page, make = TABLES[name]
        try:
            write(DOCS / page, name, make())
            print(f"{page}: {name}")
        except MissingRobotsError as missing:
            print(f"{page}: {name} stays as it is, {missing} is not there")


if __name__ == "__main__":
    main()
