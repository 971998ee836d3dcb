"""``tabi validate soles``: blocks on soft soles, dropped and twisted; where does their energy go?

Soles without viscosity keep energy but for what the first order of the step takes: no step may
bring any, and the loss that is not friction falls in proportion to the step. Each block falls on
its sole with a spin, slides and rocks, once with h and once with h/2.

    slope = log₂ (Σ loss(h) / Σ loss(h/2))                                                      (1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tabi.model.world import World
from tabi.simulation.simulator import Simulator

# steps in half a swing of the block on its sole, and how many such swings are seen
STEPS, SWINGS = 40, 3.0
# what a step may bring, of all energy that there is: its tolerance of 1e-8 m/s, and rounding
ALLOWED = 1e-7
# slope of (1) that first order means
SLOPE = (0.9, 1.1)


def validate(
    drops: int = 1000,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """So many drops; an interrupt keeps what is done.

    Returns:
        plain data: drops, steps that gained energy and the worst of them as a share of all energy,
        sums of the losses and of friction [J], and the slope of (1).
    """
    found: dict[str, Any] = {"drops": 0, "steps": 0, "gained": 0, "missed": 0, "worst_gain": 0.0}
    lost, rubbed, interrupted = np.zeros(2), np.zeros(2), False
    try:
        for seed in range(drops):
            for k in range(2):
                one = drop(seed, 0.5**k)
                lost[k] += one["lost"] / one["energy"]
                rubbed[k] += one["friction"] / one["energy"]
                found["worst_gain"] = max(found["worst_gain"], one["worst_gain"])
                for key in ("steps", "gained", "missed"):
                    found[key] += one[key]
            found["drops"] += 1
            progress("drops", seed + 1, drops)
    except KeyboardInterrupt:
        interrupted = True
    slope = float(np.log2(lost[0] / lost[1])) if lost[1] > 0 else float("nan")
    within = found["gained"] == 0 and found["missed"] == 0 and SLOPE[0] <= slope <= SLOPE[1]
    shares = {
        "lost_share": [float(x) / max(found["drops"], 1) for x in lost],
        "friction_share": [float(x) / max(found["drops"], 1) for x in rubbed],
    }
    told = {"slope": slope, "allowed": ALLOWED, "interrupted": interrupted}
    return found | shares | told | {"within": within and found["drops"] == drops}


def drop(seed: int, part: float) -> dict[str, Any]:
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
        gained, worst = gained + bool(not gain <= ALLOWED), max(worst, gain)
        friction += sum(float(row["impulse"] @ row["velocity"]) for row in sim.data.contact)
        before = now
    return {
        "steps": steps,
        "gained": gained,
        "worst_gain": worst,
        "missed": sim.missed_count,
        "energy": scale,
        "friction": -friction,
        "lost": start - before + friction,
    }


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


def text(found: dict[str, Any]) -> str:
    """The result as sentences."""
    lost, rubbed = found["lost_share"], found["friction_share"]
    verdict = "within" if found["within"] else "NOT within"
    return "\n".join(
        [
            f"{found['drops']} blocks on soft soles, dropped and twisted, {found['steps']:,} "
            f"steps: {verdict} what is asked",
            f"  steps that gained energy: {found['gained']}, the worst "
            f"{found['worst_gain']:.1e} of all energy (allowed {found['allowed']:g}); "
            f"steps missed: {found['missed']}",
            f"  of the energy, friction took {100 * rubbed[0]:.1f} % and the scheme "
            f"{100 * lost[0]:.1f} % with steps of a {STEPS}th of half a swing; with half of them "
            f"{100 * rubbed[1]:.1f} % and {100 * lost[1]:.1f} %",
            f"  slope of the loss over the step: {found['slope']:.3f} (first order is 1)",
        ]
    )
