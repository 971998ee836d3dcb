"""Brick walls in running bond: rows of c and c − 1 bricks by turns,
each brick on the halves of the two below.

c columns and r rows have r c − ⌊r/2⌋ bricks and 4 (c + 2 (r − 1)(c − 1)) contacts, four to a face:
10 × 14 are 133 bricks and 976 contacts, 6 × 26 are 143 and 1,024. The ends of rows of c stand out
by half a brick, held by the weight of the row above; where such a row is the last one, its end
bricks lie on the brink.
"""

from __future__ import annotations

import numpy as np

from tabi.contact.bodies import BodyProblem
from tabi.lab.family import rigid

BRICK = np.array([0.24, 0.115, 0.071])  # m
DENSITY = 1800.0  # kg/m³
SPEEDS = (0.0, 0.001, 0.005, 0.02, 0.2)  # m/s
LARGE, LARGEST = (10, 14), (6, 26)


def wall(columns: int, rows: int, speed: float, mu: float, rng: np.random.Generator) -> BodyProblem:
    """A wall at rest, or with random velocities of its bricks, under gravity.

    Args:
        columns: bricks in the lowest row. rows: their number.
        speed: of each brick, a component [m/s]; its turning moves its ends as fast.
        mu: coefficient of friction of all faces.
    """
    x, row = [], []
    for r in range(rows):
        count = columns - r % 2
        x += [BRICK[0] * (i + 0.5 * (r % 2)) for i in range(count)]
        row += [r] * count
    level = np.array(row)
    centre = np.stack([np.array(x), np.zeros(len(x)), BRICK[2] * (level + 0.5)], axis=1)
    size = np.tile(BRICK, (len(x), 1))
    twist = rigid.shaken(rng, len(x), speed, BRICK[0] / 2)
    pairs, points = [], []
    for a in range(len(x)):
        if level[a] == 0:
            pairs.append((a, -1))
            points.append(rigid.underside(centre, size, a))
        # neighbours below are half a brick away;
        # those beside them touch in a line, which is no face
        below = np.flatnonzero(
            (level == level[a] - 1) & (np.abs(centre[:, 0] - x[a]) < 0.75 * BRICK[0])
        )
        for b in below:
            pairs.append((a, int(b)))
            points.append(rigid.overlap(centre, size, a, int(b)))
    mass = np.full(len(x), DENSITY * BRICK.prod())
    return rigid.assemble(rigid.boxes(mass, size, centre, twist), rigid.upright(pairs, points, mu))


def make(rng: np.random.Generator, index: int) -> BodyProblem:
    """A wall of 2 to 6 columns and 2 to 10 rows;
    one in 15 has 976 contacts, at one speed after the other, one in 75 has 1,024.
    """
    columns, rows = int(rng.integers(2, 7)), int(rng.integers(2, 11))
    speed, mu = SPEEDS[index % len(SPEEDS)], float(rng.uniform(0.3, 0.8))
    if index % 15 == 14:
        (columns, rows), speed = LARGE, SPEEDS[index // 15 % len(SPEEDS)]
    elif index % 75 == 40:
        columns, rows = LARGEST
    return wall(columns, rows, speed, mu, rng)
