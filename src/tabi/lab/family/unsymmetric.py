"""Matrices that are not quite symmetric, as files written by other programs have them.

Each entry of W of a small tower or pile is changed by itself, by one part in 10⁴ to 10³. No bodies
have such a matrix, and hyperstatic faces are no longer singular: contacts that shared their load at
will now have to agree. A solution is still there, because no impulses within the cones do without
momentum.
"""

from __future__ import annotations

import numpy as np

from tabi.contact import Problem
from tabi.contact.bodies import BodyProblem
from tabi.contact.matrix_form import sparse
from tabi.lab.family import piles, rigid, stacks


def perturbed(p: BodyProblem, size: float, rng: np.random.Generator) -> Problem:
    """The problem with every entry of W multiplied by 1 + ``size`` · N(0, 1)."""
    W = sparse(p)
    W.sort_indices()
    W.data = W.data * (1 + size * rng.normal(size=len(W.data)))
    return Problem(W, p.q, p.mu, order="ttn")


def make(rng: np.random.Generator, index: int) -> Problem:
    """A tower of two to four boxes, or a pile of three to ten bodies, at rest or shaken."""
    size = 10.0 ** rng.uniform(-4, -3)
    speed = 10.0 ** rng.uniform(-3, 0) if index // 2 % 2 else 0.0
    if index % 2:
        return perturbed(
            piles.pile(
                int(rng.integers(3, 11)),
                float(rng.uniform(0, 0.5)),
                speed,
                float(rng.uniform(0.2, 1.2)),
                rng,
            ),
            size,
            rng,
        )
    levels = int(rng.integers(2, 5))
    edges = rng.uniform(0.1, 0.2, (levels, 3))
    twist = rigid.shaken(rng, levels, speed, 0.1)
    shift = rng.uniform(-0.01, 0.01, (levels, 2))
    return perturbed(
        stacks.stack(
            1000.0 * edges.prod(axis=1), edges, shift, rng.uniform(0.2, 1.0, levels), twist
        ),
        size,
        rng,
    )
