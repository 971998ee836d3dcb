"""A robot held by its motors, stepped by hand: free motion, contacts, configuration.

Implicit, gains K and D at the end of the step, M̂ = M + hD + h²K:

    M̂ v_free = M v + h (τ − b + K (q_d − q) + D v_d)                                        (1)
explicit, gains small enough for the rotors to follow:

    M v_free = M v + h (τ − b + K (q_d − q) + D (v_d − v))                                   (2)
τ: what holds the joints at rest while the contacts bear the weight, by inverse dynamics,

    τ = b − Jᵀ f,   f: least forces with (Jᵀ f)_base = b_base                                (3)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.contact import solve_bodies
from tabi.contact.bodies import BodyProblem
from tabi.lab.family.articulated import Touch, assemble
from tabi.lab.family.case import STEP
from tabi.model.compiled import Model

Floats = NDArray[np.float64]

LIMP, EXPLICIT, IMPLICIT = 0, 1, 2


class HoldingState(NamedTuple):
    """State of a robot and the targets of its motors:
    q, v, and the references of the joints q_d, v_d (the base's are not read).
    """

    q: Floats
    v: Floats
    goal: Floats
    speed: Floats


class HoldingStep(NamedTuple):
    """A problem, and what brings its impulses back to the joints: v = free + M⁻¹ Jᵀ λ."""

    problem: BodyProblem
    free: Floats
    response: Floats


def bearing(model: Model, q: Floats, touches: list[Touch]) -> Floats:
    """Joint torques of (3), at rest [N·m]; nothing at the base."""
    still = np.zeros(model.v_count)
    b = dynamics.inverse_dynamics(model, q, still, still)
    J = assemble(model, q, still, np.eye(model.v_count), touches, np.ones(len(touches))).rows
    force = np.linalg.lstsq(J[:, :6].T, b[:6], rcond=None)[0]
    tau = b - J.T @ force
    tau[:6] = 0.0
    return tau


def prepare(
    model: Model, s: HoldingState, tau: Floats, how: int, touches: list[Touch], mu: Floats
) -> HoldingStep:
    """The contact problem of a step, the joints held by (1), by (2), or not at all;
    ``tau`` comes in addition.
    """
    h, dof = STEP, model.arrays.dof
    M = dynamics.mass_matrix(model, s.q)
    rest = np.zeros(model.v_count)
    force = tau - dynamics.inverse_dynamics(model, s.q, s.v, rest)
    K, D = dof["kp"].copy(), dof["kd"].copy()
    if how == LIMP:
        K[:], D[:] = 0.0, 0.0
    elif how == EXPLICIT:
        K = np.minimum(K, 0.04 * dof["armature"] / h**2)
        D = np.minimum(D, 0.2 * dof["armature"] / h)
    error = rest
    error[6:] = s.goal[7:] - s.q[7:]
    momentum = M @ s.v + h * (force + K * error + D * s.speed)
    if how == IMPLICIT:
        M = M + np.diag(h * D + h**2 * K)
    else:
        momentum -= h * D * s.v
    inverse = np.linalg.inv(M)
    free = inverse @ momentum
    problem, rows = assemble(model, s.q, free, inverse, touches, mu)
    return HoldingStep(problem, free, inverse @ rows.T)


def advance(model: Model, s: HoldingState, step: HoldingStep) -> tuple[HoldingState, Floats]:
    """Solve the step's contacts and move on; the new state and the impulses [N·s]."""
    impulse = solve_bodies(step.problem, 1e-10).impulse
    v = step.free + step.response @ impulse
    goal = s.goal.copy()
    goal[7:] += STEP * s.speed[6:]
    return HoldingState(dynamics.integrate(model, s.q, v, STEP), v, goal, s.speed), impulse
