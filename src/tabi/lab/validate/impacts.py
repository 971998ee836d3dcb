"""``tabi validate impacts``: random bodies thrown at the ground and at each other, without gravity;
does an impact bring energy?

Newton's restitution with friction may: a slanted rod that slides leaves faster than it came (Kane).
The step lowers ε there, and counts it. Here the kinetic energy of all is compared before and after
every step in which something bounces: without gravity nothing but the impact changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tabi.lab.validate.random_worlds import random_geometry, reach_of, solid_of
from tabi.model.shape import HalfSpace
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

# throws of one world, and steps of one throw
THROWS, STEPS = 10, 120
# of the kinetic energy: what rounding and the tolerance of 1e-8 m/s may bring
ALLOWED = 1e-8


def validate(
    impacts: int = 10_000,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """Throw until there were so many steps with impacts; an interrupt keeps what is done.

    Returns:
        plain data: impacts, points that bounced, groups whose restitution was lowered, the worst
        change as a share of the kinetic energy.
    """
    found = {
        "throws": 0,
        "impacts": 0,
        "points": 0,
        "lowered": 0,
        "missed": 0,
        "gained": 0,
        "worst_change": -1.0,
    }
    seed, interrupted = 0, False
    try:
        while found["impacts"] < impacts:
            _throw(seed, impacts, found)
            seed += 1
            progress("impacts", min(int(found["impacts"]), impacts), impacts)
    except KeyboardInterrupt:
        interrupted = True
    within = found["impacts"] >= impacts and found["gained"] == 0 and found["missed"] == 0
    return found | {"allowed": ALLOWED, "interrupted": interrupted, "within": within}


def _throw(seed: int, impacts: int, found: dict[str, Any]) -> None:
    rng = np.random.default_rng(seed)
    sim = Simulator(_world(rng))
    for _ in range(THROWS):
        v = rng.normal(size=12) * np.tile([1.0, 1.0, 1.0, 6.0, 6.0, 6.0], 2)
        v[2] = -rng.uniform(0.5, 4.0)
        v[8] = v[2] - rng.uniform(0.5, 3.0)
        sim.set_state(sim.model.initial(), v)
        found["throws"] += 1
        known, before = sim.missed_count, sim.energy.kinetic
        for _ in range(STEPS):
            sim.step()
            report = sim.data.outcome.report[0]
            if report["bounced"] or report["lowered"]:
                after = sim.energy.kinetic
                change = after / before - 1.0
                found["impacts"] += 1
                found["points"] += int(report["bounced"])
                found["lowered"] += int(report["lowered"])
                found["gained"] += bool(not change <= ALLOWED)
                found["worst_change"] = max(found["worst_change"], change)
                before = after
        found["missed"] += sim.missed_count - known
        if found["impacts"] >= impacts:
            return


def _world(rng: np.random.Generator) -> World:
    """Two bodies of random shapes over a plane, one above the other,
    with surfaces that bounce and rub.
    """
    world = World(gravity=(0.0, 0.0, 0.0))

    def surface() -> dict[str, float]:
        friction, restitution = float(rng.uniform(0.0, 1.5)), float(rng.uniform(0.05, 1.0))
        return {"friction": friction, "restitution": restitution}

    world.add_fixed(HalfSpace(), name="ground", **surface())
    height = 0.02
    for k in range(2):
        geometry = random_geometry(rng)
        quaternion, reach = rng.normal(size=4), reach_of(geometry)
        height += reach
        inertia = solid_of(geometry, float(np.exp(rng.uniform(np.log(0.1), np.log(10.0)))))
        world.add_object(
            geometry,
            inertia,
            (0.0, 0.0, height),
            quaternion / np.linalg.norm(quaternion),
            name=f"thing{k}",
            **surface(),
        )
        height += reach + 0.02
    return world


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    r = result
    lines = [
        (
            f"{r['impacts']:,} impacts with friction in {r['throws']:,} throws; "
            f"{r['points']:,} points bounced"
        ),
        (
            f"restitution was lowered {r['lowered']:,} times, "
            "where friction would have made it bring energy"
        ),
        f"largest share of the kinetic energy that an impact brought: {r['worst_change']:.1e}",
        f"{r['missed']} steps missed their tolerance",
        (
            f"{'none gains energy' if not r['gained'] else str(r['gained']) + ' GAIN ENERGY'}, "
            f"more than {r['allowed']:g} of it"
        ),
    ]
    if r["interrupted"]:
        lines.append("interrupted: these are the impacts before")
    return "\n".join(lines)
