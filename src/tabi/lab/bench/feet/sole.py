"""``tabi bench sole``: what soft soles cost: HRP-2 walks on them, step by step, and how long a fine
sole takes to be condensed.

The robot with rigid feet walks beside it, by the same plan and stabiliser, a step of each in turn,
so that both see the same machine. Times are those of the processor in this thread, controllers
apart.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np

import tabi
from tabi import walking
from tabi.lab.study import Benchmark, BenchPart, Option, constant_settings
from tabi.model.robot import Robot
from tabi.simulation.simulator import Simulator

# lengths of elements [m] that give HRP-2's soles about 60 and 300 ground nodes
SIZES = {60: 0.0265, 300: 0.011}
LENGTH, WARMUP_STEPS = 0.2, 100
MATERIAL: dict[str, Any] = {"young_modulus": 2e6, "poisson_ratio": 0.45, "viscosity": 0.003}
# length of elements [m] of a sole with some 2,000 nodes
FINE_LENGTH_M = 0.0095


class SoleBench(Benchmark, name="sole"):
    """HRP-2 walks on soft soles of 60 and of 300 ground nodes: time of a step, and rigid feet."""

    steps: Annotated[int, Option(min=2, help="How many steps it walks.")] = 4
    sizes: tuple[int, ...] = tuple(SIZES)

    packages = ()
    constants = constant_settings(robot="hrp2", dt=1e-3, control_hz=200, **MATERIAL)

    def parts(self) -> Iterator[BenchPart]:
        """Walks on coarser and finer soles, and the making of a fine one."""
        for size in self.sizes:
            yield BenchPart(("walks", str(size)), "", walk, (self.steps, SIZES[size]))
        yield BenchPart("condensation", "", condensation)

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        processor = result["hardware"]["processor"]
        yield f"HRP-2 walks on soft soles, steps of 1 ms, {processor}, one thread"
        for walk in result["walks"].values():
            ours, rigid, missed = walk["milliseconds"], walk["rigid_milliseconds"], walk["missed"]
            certified = f"{missed} steps did not converge" if missed else "every step certified"
            yield (
                f"  {walk['nodes_per_sole']} ground nodes a sole: median {ours['median']:.3f} ms, "
                f"90 % {ours['90 %']:.3f}, 99 % {ours['99 %']:.3f}, most {ours['most']:.2f} ms of "
                f"processor time; {certified}, worst {walk['worst_residual']:.1e} m/s"
            )
            yield (
                f"    rigid feet beside it: median {rigid['median']:.3f} ms, 99 % "
                f"{rigid['99 %']:.3f}; soft soles take {walk['ratio_of_medians']:.1f} times as long"
            )
        c = result["condensation"]
        yield (
            f"  a sole of {c['nodes']} nodes is condensed in {c['seconds']:.2f} s, and is there "
            f"again from the cache in {c['from_cache_seconds']:.3f} s"
        )


def walk(steps: int, element_size: float) -> dict[str, Any]:
    """HRP-2 on soft soles, and on rigid feet beside it."""
    soft, pattern = prepared(steps, element_size)
    rigid, _ = prepared(steps, None)
    count = round(pattern.duration / soft.dt)
    times = np.zeros((2, count))
    for k in range(count):
        for row, sim in enumerate((soft, rigid)):
            sim.ask_controllers()
            before = time.thread_time()
            sim.step(ask=False)
            times[row, k] = time.thread_time() - before
    # the first steps load kernels, and the soles settle
    ours, theirs = 1e3 * times[:, WARMUP_STEPS:]
    robot = soft.world.robots[0]
    return {
        "nodes_per_sole": len(soft.data.memory.sole) // 2,
        "milliseconds": _quantiles(ours),
        "rigid_milliseconds": _quantiles(theirs),
        "ratio_of_medians": round(float(np.median(ours) / np.median(theirs)), 2),
        "worst_residual": soft.data.worst["residual"],
        "missed": soft.missed_count,
        "fallen": bool(soft.fallen(robot)),
    }


def prepared(steps: int, element_size: float | None) -> tuple[Simulator, Any]:
    """A simulator of HRP-2 that is about to walk, on soft soles if an element's size is given."""
    world = tabi.World()
    world.add_ground(friction=0.8)
    made: Robot = tabi.robots.hrp2()
    if element_size is not None:
        made.add_soles(element_size=element_size, **MATERIAL)
    made.stand_on_ground()
    robot = world.add_robot(made)
    biped = walking.Biped(robot)
    plan = walking.walk(biped.stance, steps, length=LENGTH)
    pattern = walking.walking_pattern(biped, plan)
    sim = Simulator(world)
    sim.set_controller(robot, walking.Walker(pattern, walking.Stabiliser()), rate=200)
    sim.step()
    return sim, pattern


def condensation() -> dict[str, Any]:
    """Return the time that building a fine sole takes, new and from the cache [s]."""
    from tabi.soles import Layer, sole_mesh
    from tabi.soles.condensation import condensed

    outline = tabi.robots.hrp2().feet["left"].polygon
    rubber = Layer(0.02, MATERIAL["young_modulus"], MATERIAL["poisson_ratio"])
    mesh, times = sole_mesh(outline, rubber, FINE_LENGTH_M), []
    with TemporaryDirectory() as folder:
        for _ in range(2):
            before = time.perf_counter()
            condensed(mesh, (rubber,), folder=Path(folder))
            times.append(time.perf_counter() - before)
    return {
        "nodes": len(mesh.points),
        "ground_nodes": len(mesh.ground_nodes),
        "seconds": round(times[0], 3),
        "from_cache_seconds": round(times[1], 3),
    }


def _quantiles(times: np.ndarray) -> dict[str, float]:
    values = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "most": 1.0}
    return {name: round(float(np.quantile(times, at)), 4) for name, at in values.items()}
