"""Energy balance of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.dynamics import free
from tabi.model.compiled import Model
from tabi.observation import pad_state
from tabi.step.data import Data
from tabi.step.tables import MOMENTS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Balance:
    """Energy balance of the last step [J]: its change, works, and loss of the scheme.

    Attributes:
        change: of kinetic and potential energy, including energy stored in soft soles.
        motors: work of the motors.
        contacts: work of contact forces (negative: friction and impacts).
        soles: loss of soft soles and pads (negative: viscosity, and the error of first order).
        joints: work of dampers, dry friction and ends of travel.
        pushes: work of external forces. scheme: the rest, the loss of first order.
    """

    change: float
    motors: float
    contacts: float
    joints: float
    pushes: float
    scheme: float
    soles: float = 0.0


def of_last_step(data: Data) -> Balance:
    """Return the energy balance of a simulation's last step."""
    model, dt, effort = data.model, data.dt, data.outcome.effort
    (q0, v0), (q, v) = (data.outcome.q_before, data.outcome.v_before), (data.q, data.v)
    mean_velocity, dof = 0.5 * (v0 + v), model.arrays.dof
    change = dynamics.energy(model, q, v).total - dynamics.energy(model, q0, v0).total
    motor_work = dt * float(effort["motor"] @ mean_velocity)
    constrained = dt * float(effort["constraint"] @ mean_velocity)
    # impulses act on the mean of the velocities before and after
    w = dynamics.allocate(model)
    free.prepare(model.arrays, q0, v0, w)
    contact_work = _turning_work(data, w) + _rigid_work(data, w)
    damped = -dt * float((dof["damping"] * mean_velocity) @ mean_velocity)
    stored_energy, slip_work, soles = (
        _soft_work(data, w) if len(data.memory.sole) else (0.0, 0.0, 0.0)
    )
    change, contact_work = change + stored_energy, contact_work + slip_work
    # so do pushes, at the poses of the bodies when the step began
    free.prepare(model.arrays, q0, mean_velocity, w)
    wrench, pushed = data.command.wrench, 0.0
    if data.command.pushed[0]:
        pushed = dt * float((wrench[1:] * w.body["velocity"][1:]).sum())
    joints = constrained + damped
    rest = change - motor_work - contact_work - joints - pushed - soles
    return Balance(change, motor_work, contact_work, joints, pushed, rest, soles)


def _rigid_work(data: Data, w: dynamics.Workspace) -> float:
    """Return the work of contacts between rigid shapes, with w at the start of the step [J]."""
    work, soft = 0.0, _soft_shapes(data)
    for row in data.contact:
        if row["shape_a"] not in soft and row["shape_b"] not in soft:
            before = _closing(data, w, row)
            work += 0.5 * float(row["impulse"] @ (before + row["velocity"]))
    return work


def _soft_work(data: Data, w: dynamics.Workspace) -> tuple[float, float, float]:
    """Return the change of stored energy of soft pads, work of their slip, and their loss [J].

    The face slides at its own velocity; the body behind it has another, and gets the impulse at the
    mean of its velocities before and after.
    """
    stored = pad_state.energy(data) - pad_state.energy(data, before=True)
    soft, body_work = _soft_shapes(data), 0.0
    rows = [row for row in data.contact if row["shape_a"] in soft or row["shape_b"] in soft]
    for v in (data.outcome.v_before, data.v):
        free.prepare(data.model.arrays, data.outcome.q_before, v, w)
        body_work += sum(0.5 * float(row["impulse"] @ _closing(data, w, row)) for row in rows)
    slid = sum(float(row["impulse"] @ row["velocity"]) for row in rows)
    return stored, slid, body_work - slid + stored


def _soft_shapes(data: Data) -> set[int]:
    return {placed_pad.shape for placed_pad in data.model.pads}


def _closing(data: Data, w: dynamics.Workspace, row: np.void) -> Array:
    """Return the velocity of body a against body b at their contact [m/s]."""
    a, b, point = row["a"], row["b"], row["position"]
    return _point_velocity(data.model, w, a, point) - _point_velocity(data.model, w, b, point)


def _turning_work(data: Data, w: dynamics.Workspace) -> float:
    """Return the work of the contacts' moments, with w at the start of the step [J]."""
    work = 0.0
    for row in data.of_kind(MOMENTS):
        a, b = row["a"], row["b"]
        turn = sum(
            body["velocity"][a][:3] - body["velocity"][b][:3] for body in (w.body, data.body)
        )
        work += 0.5 * float(row["impulse"] @ turn)
    return work


def _point_velocity(model: Model, w: dynamics.Workspace, body: int, point: Array) -> Array:
    """Return the velocity of a point of a moving body, by its position in the world [m/s]."""
    V = w.body["velocity"][body]
    return V[3:] + np.cross(V[:3], point - w.body["origin"][model.arrays.body["root"][body]])
