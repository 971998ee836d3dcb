"""``tabi validate impacts``: random bodies thrown at the ground and at each other, without gravity;
does an impact bring energy?

Newton's restitution with friction may: a slanted rod that slides leaves faster than it came (Kane).
The step lowers ε there, and counts it. Here the kinetic energy of all is compared before and after
every step in which something bounces: without gravity nothing but the impact changes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from tabi.lab.study import Criterion, Option, Validator, progress
from tabi.lab.validate.random_worlds import random_geometry, reach_of, solid_of
from tabi.model.shape import HalfSpace
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

# throws of one world, and steps of one throw
THROWS, STEPS = 10, 120
# of the kinetic energy: what rounding and the tolerance of 1e-8 m/s may bring
MAX_ENERGY_GAIN = 1e-8


@dataclass
class ThrowTally:
    """Sums over all throws so far.

    Attributes:
        points: that bounced. lowered: groups whose restitution was. gained: impacts that brought
            energy. worst_change: of the kinetic energy, as a share of it.
    """

    throws: int = 0
    impacts: int = 0
    points: int = 0
    lowered: int = 0
    missed: int = 0
    gained: int = 0
    worst_change: float = -1.0


class Impacts(Validator, name="impacts"):
    """Throw random bodies at the ground and at each other:
    does an impact with friction bring energy?
    """

    impacts: Annotated[int, Option(min=1, help="Steps with impacts to look at.")] = 10_000

    unit = "impacts"
    criteria = (
        Criterion(
            "gained", f"no impact brings more than {MAX_ENERGY_GAIN:g} of the energy", at_most=0
        ),
        Criterion("missed", "no step misses its tolerance", at_most=0),
    )

    def cases(self) -> Iterator[tuple[Simulator, np.random.Generator, ThrowTally]]:
        """Throws, some in each world, until there were enough steps with impacts."""
        tally = ThrowTally()
        for seed in itertools.count():
            rng = np.random.default_rng(seed)
            sim = Simulator(_world(rng))
            for _ in range(THROWS):
                yield sim, rng, tally
                progress(self.unit, min(tally.impacts, self.impacts), self.impacts)
                if tally.impacts >= self.impacts:
                    return

    def measure(self, case: tuple[Simulator, np.random.Generator, ThrowTally]) -> ThrowTally:
        """Measure one case and return its row."""
        _throw(*case)
        return case[-1]

    def figures(self, rows: Sequence[ThrowTally]) -> dict[str, Any]:
        """Return the figures of all rows."""
        return asdict(rows[-1] if rows else ThrowTally()) | {"allowed": MAX_ENERGY_GAIN}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        r = result
        yield (
            f"{r['impacts']:,} impacts with friction in {r['throws']:,} throws; "
            f"{r['points']:,} points bounced"
        )
        yield (
            f"restitution was lowered {r['lowered']:,} times, "
            "where friction would have made it bring energy"
        )
        yield f"largest share of the kinetic energy that an impact brought: {r['worst_change']:.1e}"
        yield f"{r['missed']} steps did not converge"
        gained = f"{r['gained']} GAIN ENERGY" if r["gained"] else "none gains energy"
        yield f"{gained}, more than {r['allowed']:g} of it"


def _throw(sim: Simulator, rng: np.random.Generator, tally: ThrowTally) -> None:
    v = rng.normal(size=12) * np.tile([1.0, 1.0, 1.0, 6.0, 6.0, 6.0], 2)
    v[2] = -rng.uniform(0.5, 4.0)
    v[8] = v[2] - rng.uniform(0.5, 3.0)
    sim.set_state(sim.model.initial(), v)
    tally.throws += 1
    known, before = sim.missed_count, sim.energy.kinetic
    for _ in range(STEPS):
        sim.step()
        report = sim.data.outcome.report[0]
        if report["bounced"] or report["lowered"]:
            after = sim.energy.kinetic
            change = after / before - 1.0
            tally.impacts += 1
            tally.points += int(report["bounced"])
            tally.lowered += int(report["lowered"])
            tally.gained += bool(not change <= MAX_ENERGY_GAIN)
            tally.worst_change = max(tally.worst_change, change)
            before = after
    tally.missed += sim.missed_count - known


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
