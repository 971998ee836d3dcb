"""Where the energy of a step went."""

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
    """Energy over the last step [J]: what it changed by, what brought it,
    what the scheme itself took.

    Attributes:
        change: of kinetic and potential energy, with what soft soles store.
        motors: work of the motors.
        contacts: work of contact forces (negative: friction and impacts).
        soles: what soft soles and pads took (negative: viscosity, and what first order takes).
        joints: work of dampers, dry friction and ends of travel.
        pushes: work of forces from outside. scheme: the rest, what first order takes away.
    """

    change: float
    motors: float
    contacts: float
    joints: float
    pushes: float
    scheme: float
    soles: float = 0.0


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
    touched = _turning_work(data, w) + _rigid_work(data, w)
    damped = -dt * float((dof["damping"] * middle) @ middle)
    stored, slid, soles = _soft_work(data, w) if len(data.memory.sole) else (0.0, 0.0, 0.0)
    change, touched = change + stored, touched + slid
    # and so do pushes, on the bodies as they were when the step began
    free.prepare(model.arrays, q0, middle, w)
    wrench, pushed = data.command.wrench, 0.0
    if data.command.pushed[0]:
        pushed = dt * float((wrench[1:] * w.body["velocity"][1:]).sum())
    joints = held + damped
    rest = change - done - touched - joints - pushed - soles
    return Balance(change, done, touched, joints, pushed, rest, soles)


def _rigid_work(data: Data, w: dynamics.Workspace) -> float:
    """Work of contacts between rigid shapes, with w as the step began [J]."""
    work, soft = 0.0, _soft_shapes(data)
    for row in data.contact:
        if row["shape_a"] not in soft and row["shape_b"] not in soft:
            before = _closing(data, w, row)
            work += 0.5 * float(row["impulse"] @ (before + row["velocity"]))
    return work


def _soft_work(data: Data, w: dynamics.Workspace) -> tuple[float, float, float]:
    """Of soft pads: energy that they stored, work where they slide, and what they lost [J].

    The face slides with the velocity that it has; the body behind it has another, and gets the
    impulse at the mean of its velocities before and after.
    """
    stored = pad_state.energy(data) - pad_state.energy(data, before=True)
    soft, given = _soft_shapes(data), 0.0
    rows = [row for row in data.contact if row["shape_a"] in soft or row["shape_b"] in soft]
    for v in (data.outcome.v_before, data.v):
        free.prepare(data.model.arrays, data.outcome.q_before, v, w)
        given += sum(0.5 * float(row["impulse"] @ _closing(data, w, row)) for row in rows)
    slid = sum(float(row["impulse"] @ row["velocity"]) for row in rows)
    return stored, slid, given - slid + stored


def _soft_shapes(data: Data) -> set[int]:
    return {one.shape for one in data.model.pads}


def _closing(data: Data, w: dynamics.Workspace, row: np.void) -> Array:
    """Velocity of body a against body b where they touch."""
    a, b, point = row["a"], row["b"], row["position"]
    return _point_velocity(data.model, w, a, point) - _point_velocity(data.model, w, b, point)


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
