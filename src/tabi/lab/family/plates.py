"""Flat things on flat ground: one body on many coplanar points, and one body on one point."""

from __future__ import annotations

import numpy as np

from tabi.contact.bodies import BodyProblem
from tabi.lab.family import rigid

COEFFICIENTS = (0.0, 0.05, 0.3, 0.7, 1.0, 3.0)


def plate(count: int, mu: float, twist: np.ndarray, rng: np.random.Generator) -> BodyProblem:
    """A plate on ``count`` points of its lower face:
    corners first, then a ring or places at random.

    Args:
        twist: angular, then linear velocity [rad/s, m/s], shape (6,).
    """
    x, y, z = rng.uniform(0.1, 0.8), rng.uniform(0.1, 0.8), rng.uniform(0.005, 0.1)
    mass = rng.uniform(300.0, 8000.0) * x * y * z
    if rng.random() < 0.5:
        # a regular polygon
        angle = 2 * np.pi * np.arange(count) / count + rng.uniform(0, 1)
        places = 0.5 * np.stack([x * np.cos(angle), y * np.sin(angle)], axis=1)
    else:
        corners = np.array(
            [(-1, -1), (1, -1), (0, 1)] if count == 3 else [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        )
        places = (
            0.5 * np.concatenate([corners, rng.uniform(-1, 1, (count - len(corners), 2))]) * (x, y)
        )
    free = rigid.boxes([mass], [(x, y, z)], [(0.0, 0.0, z / 2)], [twist])
    return rigid.assemble(
        free, rigid.upright([(0, -1)], [np.column_stack([places, np.zeros(count)])], mu)
    )


def make(rng: np.random.Generator, index: int) -> BodyProblem:
    """Three to 64 points: at rest, sliding, spinning, sliding and spinning, or dropped askew."""
    count = round(float(np.exp(rng.uniform(np.log(3), np.log(64)))))
    twist = np.zeros(6)
    motion = index % 5
    if motion in (1, 3):
        twist[3:5] = 10.0 ** rng.uniform(-3, 0.5) * rng.normal(size=2)
    if motion in (2, 3):
        twist[2] = 10.0 ** rng.uniform(-2, 1) * rng.normal()
    if motion == 4:
        twist = 10.0 ** rng.uniform(-2, 0) * rng.normal(size=6)
        twist[5] -= 0.5
    return plate(count, float(rng.uniform(0.05, 1.2)), twist, rng)


def single(rng: np.random.Generator, index: int) -> BodyProblem:
    """One contact of a box at any place of its lower face, with the ground or with another box;
    all μ from 0 to 3, most of them closing.
    """
    count = 1 + index % 2
    size = rng.uniform(0.02, 0.5, (count, 3))
    mass = rng.uniform(300.0, 8000.0) * size.prod(axis=1)
    # the two meet at the origin: the upper one with its lower face,
    # the lower one with its upper face
    place = rng.uniform(-0.5, 0.5, (count, 2)) * size[:, :2]
    height = size[:, 2] / 2 * np.array([1.0, -1.0])[:count]
    free = rigid.boxes(
        mass,
        size,
        np.column_stack([place, height]),
        rigid.shaken(rng, count, 10.0 ** rng.uniform(-2, 1), size.max(axis=1)),
    )
    mu = (
        COEFFICIENTS[index // 2 % len(COEFFICIENTS)]
        if rng.random() < 0.7
        else float(rng.uniform(0, 3))
    )
    contacts = rigid.upright(
        [(0, 1 if count == 2 else -1)],
        [np.zeros((1, 3))],
        mu,
        float(10.0 ** rng.uniform(-7, -4) * rng.normal()),
    )
    contacts = contacts._replace(normal=rng.normal(size=(1, 3)) * 0.3 + (0.0, 0.0, 1.0))
    p = rigid.assemble(free, contacts)
    if p.q[2] > 0 and rng.random() < 0.8:
        return rigid.assemble(free._replace(twist=-free.twist), contacts)
    return p
