"""Heaps of balls and blocks on the ground.

Balls of many sizes are thrown into a heap and pushed apart until they only touch; then some of them
become blocks, which meet other blocks and the ground in four points instead of one. Normals lie
along the lines of centres, so a heap could always fly apart: its problem has a solution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from tabi.contact.bodies import BodyProblem
from tabi.lab.family import rigid

Floats = NDArray[np.float64]

PUSHES = 150
TOUCH_DISTANCE_RATIO = 0.02  # of the sum of the radii: closer ones touch
LARGE_PILE_SIZE = 30


def heap(rng: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    """Centres [m], shape (n, 3), and radii [m] of balls that lie together on the ground
    and hardly overlap.
    """
    radius = rng.uniform(0.03, 0.09, count)
    size = np.cbrt((radius**3).sum() / 0.4)
    centre = size * rng.uniform(-1, 1, (count, 3))
    centre[:, 2] = radius + size * rng.uniform(0, 1, count)
    for _ in range(PUSHES):
        # a little together and down, then apart
        centre *= 0.998
        pairs = KDTree(centre).query_pairs(2 * radius.max(), output_type="ndarray")
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        i, j = pairs.T
        line = centre[i] - centre[j]
        distance = np.maximum(np.linalg.norm(line, axis=1), 1e-9)
        depth = np.maximum(radius[i] + radius[j] - distance, 0.0)
        push = (0.5 * depth / distance)[:, None] * line
        np.add.at(centre, i, push)
        np.add.at(centre, j, -push)
        centre[:, 2] = np.maximum(centre[:, 2], radius)
    centre[:, 2] -= (centre[:, 2] - radius).min()
    return centre, radius


def pile(
    count: int, blocks: float, speed: float, mu: float, rng: np.random.Generator
) -> BodyProblem:
    """A heap of ``count`` bodies, a share of them blocks.

    Args:
        blocks: share of blocks, from 0 to 1.
        speed: of each body, a component [m/s].
        mu: largest coefficient of friction; each pair draws its own from a quarter of it on.
    """
    centre, radius = heap(rng, count)
    block = rng.random(count) < blocks
    density = rng.uniform(500.0, 8000.0, count)
    # a block has the edges of the cube in its ball
    edge = 2 * radius / np.sqrt(3)
    mass = density * np.where(block, edge**3, 4 / 3 * np.pi * radius**3)
    inertia = mass * np.where(block, edge**2 / 6, 0.4 * radius**2)
    tensor = inertia[:, None, None] * np.eye(3)
    twist = rigid.shaken(rng, count, speed, radius)
    pairs = KDTree(centre).query_pairs(
        2 * (1 + TOUCH_DISTANCE_RATIO) * radius.max(), output_type="ndarray"
    )
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    a, b = pairs[
        np.linalg.norm(centre[pairs[:, 0]] - centre[pairs[:, 1]], axis=1)
        < (1 + TOUCH_DISTANCE_RATIO) * radius[pairs].sum(axis=1)
    ].T
    down = np.flatnonzero(centre[:, 2] < (1 + TOUCH_DISTANCE_RATIO) * radius)
    a, b = np.concatenate([down, a]), np.concatenate([np.full(len(down), -1), b])
    contacts = _points(rng, centre, radius, block, a, b, mu)
    # bodies that nothing touches fall by themselves
    touched = np.unique(np.concatenate([a, b[b >= 0]]))
    number = np.full(count + 1, -1)
    number[touched] = np.arange(len(touched))
    free = rigid.Bodies(mass[touched], tensor[touched], centre[touched], twist[touched])
    return rigid.assemble(free, contacts._replace(a=number[contacts.a], b=number[contacts.b]))


def _points(
    rng: np.random.Generator,
    centre: Floats,
    radius: Floats,
    block: NDArray[np.bool_],
    a,
    b,
    mu: float,
) -> rigid.RigidContacts:
    """One point between two bodies, four around it where both are flat."""
    ground = (b < 0)[:, None]
    normal = np.where(ground, (0.0, 0.0, 1.0), centre[a] - centre[b])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    point = centre[a] - radius[a, None] * normal
    friction = mu * rng.uniform(0.25, 1.0, len(a))
    gap = 1e-6 * rng.normal(size=len(a))
    flat = block[a] & (block[b] | (b < 0))
    number = np.where(flat, 4, 1)
    each = np.repeat(np.arange(len(a)), number)
    corner = np.arange(len(each)) - np.repeat(np.cumsum(number) - number, number)
    reach = 0.4 * np.minimum(radius[a], np.where(b < 0, radius[a], radius[b]))
    frame = rigid.frames(normal).reshape(-1, 3, 3)[each]
    x, y = np.array([1, -1, -1, 1])[corner], np.array([1, 1, -1, -1])[corner]
    offset = np.where(flat, reach, 0.0)[each, None] * (
        x[:, None] * frame[:, 0] + y[:, None] * frame[:, 1]
    )
    return rigid.RigidContacts(
        a[each], b[each], point[each] + offset, normal[each], friction[each], gap[each]
    )


def make(rng: np.random.Generator, index: int) -> BodyProblem:
    """Three to 60 bodies; one in 30 has 100 of them, all blocks, and nearly a thousand contacts."""
    large = index % LARGE_PILE_SIZE == LARGE_PILE_SIZE - 1
    count = 100 if large else round(float(np.exp(rng.uniform(np.log(3), np.log(60)))))
    blocks = (0.0, 0.3, 1.0)[index % 3]
    speed = (0.0, 0.01, 0.1, 1.0)[index // 3 % 4]
    return pile(count, blocks, speed, float(rng.uniform(0.2, 1.2)), rng)
