"""``tabi validate trees``: random trees with dry friction and stops in their joints, dropped on a
ground: does a joint and a contact that hold each other ever break a step?

Links touch, fall on each other, and in every second tree start inside of each other. Watched are
numbers that are none, things that sink into the ground, and steps that miss their tolerance, each
with its tree and time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from tabi._errors import SimulationError
from tabi.lab.study import Criterion, Option, Validator
from tabi.lab.validate.random_worlds import random_tree, random_velocity
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

# dry friction of joints between these [N·m or N], evenly in its logarithm
MIN_FRICTION, MAX_FRICTION = 1e-2, 1e2
# share of the joints without friction, and of hinges with stops
FRICTIONLESS_SHARE, STOPS_SHARE = 0.2, 0.5
# depth of a link's middle under the ground that counts as sunk [m]
SUNK_DEPTH_M = 1e-3
# share of the steps that may not converge
MAX_MISSED_SHARE = 1e-4


def random_dry_world(seed: int) -> World:
    """A ground, and one or two trees above it."""
    rng = np.random.default_rng([seed, 77])
    world = World()
    world.add_ground(friction=float(rng.uniform(0.1, 1.0)))
    for k in range(int(rng.integers(1, 3))):
        tree = random_tree(f"tree{k}", rng)
        for body in tree.bodies[1:]:
            joint = body.joint
            if rng.random() > FRICTIONLESS_SHARE:
                joint.friction = float(
                    np.exp(rng.uniform(np.log(MIN_FRICTION), np.log(MAX_FRICTION)))
                )
            if joint.kind == "revolute" and rng.random() < STOPS_SHARE:
                joint.lower, joint.upper = -float(rng.uniform(0.1, 2)), float(rng.uniform(0.1, 2))
        if rng.random() < 0.5:
            tree.excluded.clear()
        robot = world.add_robot(tree)
        low = robot.extent((0.0, 0.0, -1.0))
        robot.place((1.5 * k, 0.0, low + float(rng.uniform(0.0, 0.3))))
    return world


class DryTrees(Validator, name="trees"):
    """Drop random trees with dry friction and stops in their joints, some with links inside of each
    other: does anything break, sink or miss its tolerance?
    """

    trees: Annotated[int, Option(min=1, help="Worlds of one or two random trees.")] = 1000
    steps: Annotated[int, Option(min=1, help="Steps of 1 ms of each.")] = 100

    unit = "worlds"
    criteria = (
        Criterion("broken", "nothing breaks or sinks", at_most=0),
        Criterion(
            "missed_share",
            f"at most {MAX_MISSED_SHARE:g} of the steps miss",
            at_most=MAX_MISSED_SHARE,
        ),
    )

    def cases(self) -> range:
        """Worlds by their seeds."""
        return range(self.trees)

    def measure(self, case: int) -> tuple[list[dict[str, Any]], list[str]]:
        """Steps that missed, and what broke."""
        return drop(case, self.steps)

    def figures(self, rows: Sequence[tuple[list[dict[str, Any]], list[str]]]) -> dict[str, Any]:
        """Return the figures of all rows."""
        missed, steps = [step for row in rows for step in row[0]], len(rows) * self.steps
        return {
            "worlds": len(rows),
            "steps": steps,
            "missed": missed,
            "missed_share": len(missed) / max(steps, 1),
            "broken": [step for row in rows for step in row[1]],
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield sums, and the first faults."""
        yield (
            f"{result['worlds']} worlds of trees with dry joints, {result['steps']:,} steps: "
            f"{len(result['missed'])} missed, {len(result['broken'])} broken"
        )
        for row in result["missed"][:20]:
            yield (
                f"  world {row['world']} missed at {row['time_s']:.3f} s "
                f"by {row['residual']:.1e} m/s"
            )
        yield from (f"  {line}" for line in result["broken"][:20])


def drop(seed: int, steps: int) -> tuple[list[dict[str, Any]], list[str]]:
    """A world: steps that missed, and what broke."""
    world, broken = random_dry_world(seed), []
    sim = Simulator(world)
    sim.set_state(sim.model.initial(), random_velocity(world, seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sim.run(steps * sim.dt)
        except SimulationError as fault:
            broken.append(f"world {seed}: {fault}")
    missed = [
        {"world": seed, "time_s": time, "residual": residual} for time, residual in sim.missed
    ]
    if not (np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()):
        broken.append(f"world {seed}: its state is not finite")
    for robot in world.robots:
        for body in robot.bodies:
            if sim.position(body)[2] < -SUNK_DEPTH_M and _middle(sim, body) < -SUNK_DEPTH_M:
                broken.append(f"world {seed}: {body.name} is under the ground")
    return missed, broken


def _middle(sim: Simulator, body: Any) -> float:
    """Height of the middle of a link's shape [m]."""
    shape = body.shapes[0]
    return float((sim.pose(body) @ shape.placement.p)[2])
