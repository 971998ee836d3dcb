"""Boxes on boxes: tall towers, slightly shifted, and heavy boxes on light ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tabi.contact.bodies import BodyProblem
from tabi.lab.family import rigid

MAX_STACK_HEIGHT = 40
SHIFT = 0.1  # of the smaller edge: what is above keeps its centre of mass over every face


def stack(
    mass: ArrayLike,
    size: ArrayLike,
    shift: ArrayLike,
    mu: ArrayLike,
    twist: ArrayLike | None = None,
) -> BodyProblem:
    """Boxes one on the other, the lowest first and on the ground.

    Args:
        mass: [kg], shape (n,). size: edges [m], shape (n, 3).
            shift: of the centres from one vertical line [m], shape (n, 2).
        mu: of each face, the ground's first, or one for all.
            twist: angular, then linear velocities, shape (n, 6).
    """
    size, shift = np.array(size, float), np.array(shift, float)
    top = np.cumsum(size[:, 2])
    centre = np.column_stack([shift, top - size[:, 2] / 2])
    pairs = [(a, a - 1) for a in range(len(size))]
    points = [
        rigid.overlap(centre, size, a, a - 1) if a else rigid.underside(centre, size, 0)
        for a in range(len(size))
    ]
    return rigid.assemble(rigid.boxes(mass, size, centre, twist), rigid.upright(pairs, points, mu))


def tower(rng: np.random.Generator, index: int) -> BodyProblem:
    """Two to 40 like boxes: at rest, shaken, one pushed out, or all sliding."""
    levels = round(float(np.exp(rng.uniform(np.log(2), np.log(MAX_STACK_HEIGHT)))))
    edge = rng.uniform(0.05, 0.4)
    size = edge * rng.uniform(0.8, 1.0, (levels, 3)) * (1.0, 1.0, rng.uniform(0.3, 1.0))
    mass = rng.uniform(300.0, 3000.0) * size.prod(axis=1)
    shift = SHIFT * edge * rng.uniform(-0.5, 0.5, (levels, 2))
    mu = rng.uniform(0.2, 1.0, levels)
    twist = np.zeros((levels, 6))
    if index % 4 == 1:
        twist = rigid.shaken(rng, levels, 10.0 ** rng.uniform(-3, -1), edge / 2)
    elif index % 4 == 2:
        twist[rng.integers(levels), 3:5] = rng.uniform(0.01, 1.0) * rng.normal(size=2)
    elif index % 4 == 3:
        twist[:, 3:5] = rng.uniform(0.01, 1.0) * rng.normal(size=2)
    return stack(mass, size, shift, mu, twist)


def mass_ratio(rng: np.random.Generator, index: int) -> BodyProblem:
    """Two to eight cubes with masses from 1 : 10 to 1 : 10⁴:
    growing upwards, one giant on top, or light and heavy by turns; half shaken.
    """
    levels = int(rng.integers(2, 9))
    ratio = 10.0 ** rng.uniform(1, 4)
    step = np.arange(levels) / (levels - 1)
    order = (step, (step == 1).astype(float), np.arange(levels) % 2.0)[index % 3]
    mass = rng.uniform(0.05, 1.0) * ratio**order
    edge = np.cbrt(mass / rng.uniform(500.0, 5000.0))
    shift = SHIFT * edge.min() * rng.uniform(-0.5, 0.5, (levels, 2))
    twist = rigid.shaken(rng, levels, 10.0 ** rng.uniform(-3, -1), edge / 2) if index % 2 else None
    return stack(mass, np.tile(edge[:, None], 3), shift, rng.uniform(0.2, 1.0, levels), twist)
