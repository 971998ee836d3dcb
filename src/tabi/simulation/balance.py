"""Where the energy of a step went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.dynamics import free
from tabi.model.compiled import Model
from tabi.simulation.data import Data
from tabi.simulation.tables import MOMENTS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Balance:
    """Energy over the last step [J]: what it changed by, what brought it,
    what the scheme itself took.

    Attributes:
        change: of kinetic and potential energy. motors: work of the motors.
        contacts: work of contact forces (negative: friction and impacts).
        joints: work of dampers, dry friction and ends of travel.
        pushes: work of forces from outside. scheme: the rest, what first order takes away.
    """

    change: float
    motors: float
    contacts: float
    joints: float
    pushes: float
    scheme: float


def of_last_step(data: Data) -> Balance:
    """Of a simulation's last step."""
    model, dt, effort = data.model, data.dt, data.outcome.effort
    (q0, v0), (q, v) = (data.outcome.q_before, data.outcome.v_before), (data.q, data.v)
    middle, dof = 0.5 * (v0 + v), model.arrays.dof
    change = dynamics.energy(model, q, v).total - dynamics.energy(model, q0, v0).total
    done = dt * float(effort["motor"] @ middle)
    held = dt * float(effort["constraint"] @ middle)
    # impulses act on the mean of the velocities before and after
    w = dynamics.allocate(model)
    free.prepare(model.arrays, q0, v0, w)
    touched = _turning_work(data, w)
    for row in data.contact:
        a, b, point = row["a"], row["b"], row["position"]
        before = _point_velocity(model, w, a, point) - _point_velocity(model, w, b, point)
        touched += 0.5 * float(row["impulse"] @ (before + row["velocity"]))
    damped = -dt * float((dof["damping"] * middle) @ middle)
    # and so do pushes, on the bodies as they were when the step began
    free.prepare(model.arrays, q0, middle, w)
    wrench, pushed = data.command.wrench, 0.0
    if data.command.pushed[0]:
        pushed = dt * float((wrench[1:] * w.body["velocity"][1:]).sum())
    joints = held + damped
    rest = change - done - touched - joints - pushed
    return Balance(change, done, touched, joints, pushed, rest)


def _turning_work(data: Data, w: dynamics.Workspace) -> float:
    """Work of the contacts' moments, with w as the step began [J]."""
    work = 0.0
    for row in data.of_kind(MOMENTS):
        a, b = row["a"], row["b"]
        turn = sum(
            body["velocity"][a][:3] - body["velocity"][b][:3] for body in (w.body, data.body)
        )
        work += 0.5 * float(row["impulse"] @ turn)
    return work


def _point_velocity(model: Model, w: dynamics.Workspace, body: int, point: Array) -> Array:
    """Velocity of a point of a moving body, by its place in the world."""
    V = w.body["velocity"][body]
    return V[3:] + np.cross(V[:3], point - w.body["origin"][model.arrays.body["root"][body]])
