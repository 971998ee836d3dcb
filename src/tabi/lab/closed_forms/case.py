"""A closed form: its law in words and symbols, and the checks that a run of it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import cos, log2, sin

import numpy as np
from numpy.typing import ArrayLike

from tabi.model.body import Body
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

G = 9.81
# velocities after many steps: each may be off by the tolerance of 1e-8 m/s
EXACT = 2e-6
# of a threshold: how far above and below it is tried
ABOVE_THRESHOLD, BELOW_THRESHOLD = 1.02, 0.98


@dataclass(frozen=True)
class Check:
    """A number of a run against its closed form;
    of an order in h, ``error_at`` gives the error at a step size [s].
    """

    what: str
    expected: float
    measured: float
    tolerance: float
    unit: str = "m/s"
    error_at: Callable[[float], float] | None = None

    @property
    def error(self) -> float:
        """Absolute error, in the unit."""
        return abs(float(self.measured) - float(self.expected))

    @property
    def holds(self) -> bool:
        """Whether the error is within the tolerance; a NaN is not."""
        return self.error <= self.tolerance


@dataclass(frozen=True)
class ClosedForm:
    """A closed form and its checks.

    Attributes:
        name: a sentence. law: the formula. key:
            its name among the reference cases, where it is one.
        run: makes its checks.
    """

    name: str
    law: str
    run: Callable[[], Iterator[Check]]
    key: str | None = None


class Register(list[ClosedForm]):
    """The cases of a family, in the order they are defined."""

    def case(
        self, name: str, law: str, key: str | None = None
    ) -> Callable[[Callable[[], Iterator[Check]]], Callable[[], Iterator[Check]]]:
        """Decorator: the function is a case."""

        def add(run: Callable[[], Iterator[Check]]) -> Callable[[], Iterator[Check]]:
            self.append(ClosedForm(name, law, run, key))
            return run

        return add


def order(
    error: Callable[[float], float], what: str = "order in h of the position's error"
) -> Check:
    """Whether an error halves with the step: taken at 2 ms and at 1 ms."""
    return Check(what, 1.0, log2(error(2e-3) / error(1e-3)), 0.11, "", error)


def stands(what: str, expected: bool, speed: float) -> Check:
    """On which side of a threshold it is: at rest or moving, with nothing between."""
    return Check(
        what, float(expected), float(speed < 1e-7) if expected else float(not speed > 1e-2), 0.0, ""
    )


def tilted(angle: float, friction: float) -> World:
    """Ground whose downhill is +x."""
    world = World(gravity=(G * sin(angle), 0.0, -G * cos(angle)))
    world.add_ground(friction=friction)
    return world


def with_box(
    angle: float,
    friction: float,
    mass: float = 1.0,
    size: tuple[float, float, float] = (0.4, 0.4, 0.1),
) -> tuple[World, Body]:
    """A box on a slope."""
    world = tilted(angle, friction)
    return world, world.add_box(size, mass, friction=friction, position=(0, 0, size[2] / 2))


def with_ball(
    angle: float, friction: float, radius: float = 0.1, mass: float = 1.0
) -> tuple[World, Body]:
    """A ball on a slope."""
    world = tilted(angle, friction)
    return world, world.add_sphere(radius, mass, friction=friction, position=(0, 0, radius))


def after(
    world: World,
    duration: float,
    velocity: ArrayLike = (),
    dt: float = 1e-3,
    tolerance: float = 1e-8,
) -> Simulator:
    """A simulator after a time, started with the first velocities given."""
    sim = Simulator(world, dt=dt, tolerance=tolerance)
    first = np.atleast_1d(np.asarray(velocity, float))
    v = np.zeros(sim.model.v_count)
    v[: len(first)] = first
    sim.set_state(sim.model.initial(), v)
    sim.run(duration)
    return sim
