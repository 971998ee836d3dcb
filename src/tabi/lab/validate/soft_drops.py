"""``tabi validate soles``: blocks on soft soles, dropped and twisted; where does their energy go?

Soles without viscosity keep energy but for what the first order of the step takes: no step may
bring any, and the loss that is not friction falls in proportion to the step. Each block falls on
its sole with a spin, slides and rocks, once with h and once with h/2.

    slope = log₂ (Σ loss(h) / Σ loss(h/2))                                                      (1)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tabi.lab.study import Criterion, Option, Validator, within
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

# steps in half a swing of the block on its sole, and how many such swings are seen
STEPS, SWINGS = 40, 3.0
# what a step may bring, of all energy that there is: its tolerance of 1e-8 m/s, and rounding
MAX_ENERGY_GAIN = 1e-7
# slope of (1) that first order means
SLOPE = (0.9, 1.1)


class SoftDrops(Validator, name="soles"):
    """Drop blocks on soft soles: does a step bring energy, and is the loss of first order?"""

    drops: Annotated[
        int, Option(min=1, help="Blocks on soft soles that are dropped and twisted.")
    ] = 1000

    unit = "drops"
    criteria = (
        Criterion("gained", "no step brings energy", at_most=0),
        Criterion("missed", "no step misses its tolerance", at_most=0),
        Criterion("slope", "the loss is of first order", *SLOPE),
    )

    def cases(self) -> range:
        """Blocks by their seeds."""
        return range(self.drops)

    def measure(self, case: int) -> tuple[SoftDrop, SoftDrop]:
        """A block with h and with h/2."""
        return drop(case, 1.0), drop(case, 0.5)

    def figures(self, rows: Sequence[tuple[SoftDrop, SoftDrop]]) -> dict[str, Any]:
        """Steps that gained energy and the worst of them as a share of all energy, mean shares that
        the scheme and friction took, with h and h/2, and the slope of (1).
        """
        every, count = [drop for row in rows for drop in row], max(len(rows), 1)
        lost = [sum(row[k].lost / row[k].energy for row in rows) for k in range(2)]
        rubbed = [sum(row[k].friction / row[k].energy for row in rows) for k in range(2)]
        sums = {
            key: sum(getattr(drop, key) for drop in every) for key in ("steps", "gained", "missed")
        }
        return {
            "drops": len(rows),
            **sums,
            "worst_gain": max((drop.worst_gain for drop in every), default=0.0),
            "lost_share": [x / count for x in lost],
            "friction_share": [x / count for x in rubbed],
            "slope": float(np.log2(lost[0] / lost[1])) if rows and lost[1] > 0 else float("nan"),
            "allowed": MAX_ENERGY_GAIN,
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """The result as sentences."""
        lost, rubbed = result["lost_share"], result["friction_share"]
        yield (
            f"{result['drops']} blocks on soft soles, dropped and twisted, {result['steps']:,} "
            f"steps: {within(result)} what is asked"
        )
        yield (
            f"  steps that gained energy: {result['gained']}, the worst "
            f"{result['worst_gain']:.1e} of all energy (allowed {result['allowed']:g}); "
            f"steps not converged: {result['missed']}"
        )
        yield (
            f"  of the energy, friction took {100 * rubbed[0]:.1f} % and the scheme "
            f"{100 * lost[0]:.1f} % with steps of a {STEPS}th of half a swing; with half of them "
            f"{100 * rubbed[1]:.1f} % and {100 * lost[1]:.1f} %"
        )
        yield f"  slope of the loss over the step: {result['slope']:.3f} (first order is 1)"


@dataclass(frozen=True)
class SoftDrop:
    """Result of one block: steps, those that gained energy or missed, the largest gain as a
    share of ``energy``, the most that there was [J], and what friction and the scheme took [J].
    """

    steps: int
    gained: int
    worst_gain: float
    missed: int
    energy: float
    friction: float
    lost: float


def drop(seed: int, part: float) -> SoftDrop:
    """One block, with a part of the step that its sole asks for."""
    rng = np.random.default_rng(seed)
    world, swing = _world(rng)
    h = part * swing / STEPS
    sim = Simulator(world, dt=h)
    v = np.concatenate([0.3 * rng.normal(size=2), [-rng.uniform(0.05, 0.5)], rng.normal(size=3)])
    sim.set_state(sim.model.initial(), v)
    # against its height over the ground when it lies flat
    start = before = sim.energy.total
    scale, friction, gained, worst = abs(sim.energy.kinetic), 0.0, 0, 0.0
    steps = round(SWINGS * STEPS / part)
    for _ in range(steps):
        sim.step()
        now = sim.energy.total
        scale = max(scale, sim.energy.kinetic)
        gain = (now - before) / scale
        gained, worst = gained + bool(not gain <= MAX_ENERGY_GAIN), max(worst, gain)
        friction += sum(float(row["impulse"] @ row["velocity"]) for row in sim.data.contact)
        before = now
    lost = start - before + friction
    return SoftDrop(steps, gained, worst, sim.missed_count, scale, -friction, lost)


def _world(rng: np.random.Generator) -> tuple[World, float]:
    """A block on a sole just above the ground, slightly tilted, and half a swing of it [s]."""
    from tabi.soles import Layer

    size = rng.uniform(0.05, 0.2, 3) * [1.0, 1.0, 0.5]
    mass, thickness = float(rng.uniform(0.5, 5.0)), float(rng.uniform(0.005, 0.02))
    modulus = float(10 ** rng.uniform(5.0, 6.5))
    friction = float(rng.uniform(0.1, 1.0))
    world = World()
    world.add_ground(friction=friction)
    tilt = 0.02 * rng.normal(size=2)
    # turns about x lower what is far along y; above the ground, as a pad that starts in it springs
    lower = 0.5 * float(np.abs(tilt) @ size[1::-1])
    height = 0.5 * size[2] + thickness + 1.1 * lower + 0.002
    quaternion = np.array([1.0, 0.5 * tilt[0], 0.5 * tilt[1], 0.0])
    box = world.add_box(
        tuple(size),
        mass,
        position=(0.0, 0.0, height),
        quaternion=quaternion / np.linalg.norm(quaternion),
        friction=friction,
    )
    layer = Layer(thickness, modulus, float(rng.uniform(0.0, 0.45)), density=1000.0)
    box.add_pad("-z", layer, element_size=float(size[:2].min()) / 3.0, cache=False)
    stiffness = modulus * size[0] * size[1] / thickness
    return world, float(np.pi * np.sqrt(box.inertia.mass / stiffness))
