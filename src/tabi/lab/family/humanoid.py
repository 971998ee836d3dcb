"""HRP-2 held by its motors on both feet: standing, squatting, swaying and sliding.

Legs follow the waist so that the soles stay flat:
with J the twists of the feet by the legs' joints,

    J_legs v_legs = −J_rest v_rest                                                           (1)
for velocities, and by a few steps of Newton for poses. A problem of the family is a step out of a
short run: the one or two steps before it have really been solved, and leave the gaps and the
impulses that a simulation would. Its last digits are those of the solver that made them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.contact.bodies import BodyProblem
from tabi.lab.family import holding
from tabi.lab.family.articulated import Touch
from tabi.lab.family.holding import EXPLICIT, IMPLICIT, HoldingState
from tabi.lab.family.stances import CORNERS, FEET, soles, standing_robot
from tabi.model.compiled import Model
from tabi.spatial.transform import Transform, from_rpy

Floats = NDArray[np.float64]

# the first joints of the model after the base
LEGS = slice(6, 18)
ITERATIONS = 8
# steps solved before the problem, for one case after the other
BEFORE = (0, 1, 2, 2)


def planted(model: Model, q: Floats) -> Floats:
    """The configuration with its legs moved until both feet are where they stand at the start."""
    first = model.initial()
    goals = [dynamics.pose(model, first, f"{side}_foot") for side in FEET]
    q = q.copy()
    for _ in range(ITERATIONS):
        errors, J = [], []
        for side, goal in zip(FEET, goals, strict=True):
            X = dynamics.pose(model, q, f"{side}_foot")
            errors += [goal.p - X.p, _turn(goal.R @ X.R.T)]
            J.append(dynamics.point_jacobian(model, q, f"{side}_foot"))
        q[7:19] += np.linalg.solve(np.vstack(J)[:, LEGS], np.concatenate(errors))
    return q


def _turn(R: Floats) -> Floats:
    """Rotation vector of a small rotation."""
    return 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


def follow(model: Model, q: Floats, v: Floats) -> Floats:
    """Equation (1): the velocity with the legs' joints such that both feet stand still."""
    v = v.copy()
    J = np.vstack([dynamics.point_jacobian(model, q, f"{side}_foot") for side in FEET])
    v[LEGS] = 0.0
    v[LEGS] = np.linalg.solve(J[:, LEGS], -J @ v)
    return v


def standing(model: Model, rng: np.random.Generator) -> HoldingState:
    """A squat, swayed a little, moving as in a squat or a sway,
    and off by micrometres from where its motors want it.
    """
    q = model.initial()
    shift = rng.uniform((-0.02, -0.02, -0.15), (0.02, 0.02, 0.0))
    X = Transform(np.eye(3), q[:3]) @ from_rpy(list(rng.uniform(-0.05, 0.05, 3)), shift)
    q[:3], q[3:7] = X.p, X.quaternion
    q[19:] += 0.1 * rng.normal(size=len(q) - 19)
    goal = planted(model, q)
    speed = np.zeros(model.v_count)
    if rng.random() < 0.7:
        speed[:6] = rng.uniform(-1, 1, 6) * (0.1, 0.1, 0.4, 0.2, 0.2, 0.2)
        speed[18:] = 0.3 * rng.normal(size=model.v_count - 18)
    speed = follow(model, goal, speed)
    q, v = goal.copy(), speed.copy()
    q[7:] += 10.0 ** rng.uniform(-7, -4) * rng.normal(size=len(q) - 7)
    v += 10.0 ** rng.uniform(-5, -2) * rng.normal(size=len(v))
    return HoldingState(q, v, goal, speed)


def stance(rng: np.random.Generator, index: int) -> tuple[BodyProblem, Floats | None]:
    """Standing and squatting on rough ground: mostly sticking."""
    robot, model = standing_robot()
    mu = np.full(CORNERS, float(rng.uniform(0.4, 1.0)))
    return run(
        model,
        standing(model, rng),
        soles(robot),
        mu,
        (IMPLICIT, EXPLICIT)[index % 2],
        BEFORE[index // 2 % 4],
    )


def slide(rng: np.random.Generator, index: int) -> tuple[BodyProblem, Floats | None]:
    """The same on smooth ground, moving over it; one in three also turns."""
    robot, model = standing_robot()
    mu = np.full(CORNERS, float(rng.uniform(0.05, 0.3)))
    s = standing(model, rng)
    s.v[:2] += 10.0 ** rng.uniform(-2, 0.3) * rng.normal(size=2)
    if index % 3 == 0:
        # as one body about the vertical through the waist
        s.v[5] += rng.uniform(-2, 2)
    return run(model, s, soles(robot), mu, (IMPLICIT, EXPLICIT)[index % 2], BEFORE[index // 2 % 4])


def run(
    model: Model, s: HoldingState, touches: list[Touch], mu: Floats, how: int, steps: int
) -> tuple[BodyProblem, Floats | None]:
    """The problem after some solved steps, and the impulses of the last one."""
    tau = holding.bearing(model, s.goal, touches)
    warm = None
    for _ in range(steps):
        s, warm = holding.advance(model, s, holding.prepare(model, s, tau, how, touches, mu))
    return holding.prepare(model, s, tau, how, touches, mu).problem, warm
