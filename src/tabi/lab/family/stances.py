"""HRP-2 on its eight sole corners without joint torques, in random states near half-sitting:
feet that rock.

Corners that barely touch make these problems hard;
a robot that is held (``humanoid``) hardly meets them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import tabi
from tabi import dynamics
from tabi.contact.bodies import BodyProblem
from tabi.lab.family.articulated import Touch, assemble, on_ground
from tabi.lab.family.case import STEP
from tabi.model.compiled import Model
from tabi.model.robot import Robot

Floats = NDArray[np.float64]

FEET = ("right", "left")
CORNERS = 8


@functools.cache
def standing_robot() -> tuple[Robot, Model]:
    """The robot on its soles, and its model."""
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    return robot, world.compile()


def soles(robot: Robot) -> list[Touch]:
    """The corners of both soles on the ground."""
    return [
        on_ground(f"{side}_foot", corner) for side in FEET for corner in robot.feet[side].corners()
    ]


def states(
    model: Model, rng: np.random.Generator, count: int
) -> Iterator[tuple[Floats, Floats, float]]:
    """States of every kind: still or rocking, off by a micrometre or a millimetre, some sliding;
    with a friction each.
    """
    return (state(model, rng, k) for k in range(count))


def state(model: Model, rng: np.random.Generator, k: int) -> tuple[Floats, Floats, float]:
    """Configuration, velocity and friction of one state of ``states``."""
    q = model.initial()
    q[7:] += (1e-6, 1e-5, 1e-4, 1e-3)[k % 4] * rng.normal(size=model.q_count - 7)
    v = (1e-2, 1e-3, 1e-1)[k % 3] * rng.normal(size=model.v_count)
    if k % 5 == 0:
        v[:2] += rng.normal(size=2)
    return q, v, (0.15, 0.3, 0.8, 1.0)[k // 4 % 4]


def stance(
    robot: Robot, model: Model, q: Floats, v: Floats, mu: float, h: float = STEP
) -> tuple[BodyProblem, Floats]:
    """The problem of one step without joint torques, gaps closed within the step:
    in the space of bodies, and W.
    """
    inverse = np.linalg.inv(dynamics.mass_matrix(model, q))
    free = v + h * dynamics.forward_dynamics(model, q, v, np.zeros(model.v_count))
    problem, rows = assemble(model, q, free, inverse, soles(robot), np.full(CORNERS, mu), h)
    return problem, rows @ inverse @ rows.T


def make(rng: np.random.Generator, index: int) -> BodyProblem:
    """Return the contact problem of a rocking stance."""
    robot, model = standing_robot()
    return stance(robot, model, *state(model, rng, index))[0]
