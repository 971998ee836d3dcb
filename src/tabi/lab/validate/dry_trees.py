"""``tabi validate trees``: random trees with dry friction and stops in their joints, dropped on a
ground: does a joint and a contact that hold each other ever break a step?

Links touch, fall on each other, and in every second tree start inside of each other. Watched are
numbers that are none, things that sink into the ground, and steps that miss their tolerance, each
with its tree and time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tabi._errors import SimulationError
from tabi.lab.validate.random_worlds import random_tree, random_velocity
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

# dry friction of joints between these [N·m or N], evenly in its logarithm
WEAKEST, STRONGEST = 1e-2, 1e2
# share of the joints without friction, and of hinges with stops
SLICK, STOPPED = 0.2, 0.5
# depth of a link's middle under the ground that counts as sunk [m]
SUNK = 1e-3
# share of the steps that may miss their tolerance
MISSED = 1e-4


def random_dry_world(seed: int) -> World:
    """A ground, and one or two trees above it."""
    rng = np.random.default_rng([seed, 77])
    world = World()
    world.add_ground(friction=float(rng.uniform(0.1, 1.0)))
    for k in range(int(rng.integers(1, 3))):
        tree = random_tree(f"tree{k}", rng)
        for body in tree.bodies[1:]:
            joint = body.joint
            if rng.random() > SLICK:
                joint.friction = float(np.exp(rng.uniform(np.log(WEAKEST), np.log(STRONGEST))))
            if joint.kind == "revolute" and rng.random() < STOPPED:
                joint.lower, joint.upper = -float(rng.uniform(0.1, 2)), float(rng.uniform(0.1, 2))
        if rng.random() < 0.5:
            tree.excluded.clear()
        robot = world.add_robot(tree)
        low = robot.extent((0.0, 0.0, -1.0))
        robot.place((1.5 * k, 0.0, low + float(rng.uniform(0.0, 0.3))))
    return world


def validate(
    trees: int = 1000,
    steps: int = 100,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """All worlds; an interrupt keeps what is done.

    Args:
        steps: of 1 ms, of each.
    """
    missed: list[dict[str, Any]] = []
    broken: list[str] = []
    done, interrupted = 0, False
    progress("trees", 0, trees)
    try:
        for seed in range(trees):
            _drop(seed, steps, missed, broken)
            done += 1
            progress("trees", done, trees)
    except KeyboardInterrupt:
        interrupted = True
    return {
        "worlds": done,
        "steps": done * steps,
        "missed": missed,
        "broken": broken,
        "within": not broken and len(missed) <= max(MISSED * done * steps, 0),
        "interrupted": interrupted,
    }


def _drop(seed: int, steps: int, missed: list[dict[str, Any]], broken: list[str]) -> None:
    world = random_dry_world(seed)
    sim = Simulator(world)
    sim.set_state(sim.model.initial(), random_velocity(world, seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sim.run(steps * sim.dt)
        except SimulationError as fault:
            broken.append(f"world {seed}: {fault}")
    missed += [
        {"world": seed, "time_s": time, "residual": residual} for time, residual in sim.missed
    ]
    if not (np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()):
        broken.append(f"world {seed}: its state is no number")
    for robot in world.robots:
        for body in robot.bodies:
            if sim.position(body)[2] < -SUNK and _middle(sim, body) < -SUNK:
                broken.append(f"world {seed}: {body.name} is under the ground")


def _middle(sim: Simulator, body: Any) -> float:
    """Height of the middle of a link's shape [m]."""
    shape = body.shapes[0]
    return float((sim.pose(body) @ shape.placement.p)[2])


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [
        f"{result['worlds']} worlds of trees with dry joints, {result['steps']:,} steps: "
        f"{len(result['missed'])} missed, {len(result['broken'])} broken"
    ]
    lines += [
        f"  world {row['world']} missed at {row['time_s']:.3f} s by {row['residual']:.1e} m/s"
        for row in result["missed"][:20]
    ]
    lines += [f"  {line}" for line in result["broken"][:20]]
    if result["interrupted"]:
        lines.append("interrupted: these are the worlds done before")
    return "\n".join(lines)
