"""Soft soles and pads recomputed by plain matrices, apart from the step's own kernels.

With N from the nodes of all pads to the contacts on them, in the frames of the contacts, the step
of h says

    compliance between contacts   N c C Nᵀ,      U⁺ = U + h (c C Nᵀ λ − A U)                    (1)
where c = A/h, A = 1/(h + η) of a pad with viscosity η; see ``rows.soft_contacts``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tabi.model.compiled import Model
from tabi.model.links import PlacedPad
from tabi.step.rows.contacts import PAD

Array = NDArray[np.float64]


class PadMatrices(NamedTuple):
    """What never changes: c C and A of (1) of all nodes."""

    compliance: scipy.sparse.csr_matrix
    relaxation: scipy.sparse.csr_matrix


def given(model: Model, dt: float) -> PadMatrices:
    """Of a model, for steps of dt [s]."""
    return PadMatrices(node_compliance(model, dt), relaxation(model, dt))


def node_compliance(model: Model, dt: float) -> scipy.sparse.csr_matrix:
    """C c of all pads, in the frames of their bodies [1/kg]."""
    blocks = []
    for one in model.pads:
        pad, turn = one.pad, _turn(one)
        if pad.damping is None:
            C = pad.compliance / (dt * (dt + pad.viscosity))
        else:
            C = np.linalg.inv(np.linalg.inv(pad.compliance) + pad.damping / dt) / dt**2
        blocks.append(turn @ C @ turn.T)
    return scipy.sparse.csr_matrix(scipy.sparse.block_diag(blocks))


def relaxation(model: Model, dt: float) -> scipy.sparse.csr_matrix:
    """A of (1), of all pads [1/s]."""
    blocks: list[Any] = []
    for one in model.pads:
        pad, n = one.pad, 3 * len(one.pad.nodes)
        if pad.damping is None:
            blocks.append(scipy.sparse.eye(n) / (dt + pad.viscosity))
            continue
        turn = _turn(one)
        K = np.linalg.inv(pad.compliance)
        A = np.linalg.solve(K + pad.damping / dt, K) / dt
        blocks.append(turn @ A @ turn.T)
    return scipy.sparse.csr_matrix(scipy.sparse.block_diag(blocks))


def _turn(one: PlacedPad) -> Array:
    """From the frame of a pad to that of its body, of all its nodes."""
    return np.asarray(np.kron(np.eye(len(one.pad.nodes)), one.placement.R), float)


def spread(s: Any, count: int) -> scipy.sparse.csr_matrix:
    """N of the first rows of a step's problem, from its workspace, shape (3 count, 3 nodes)."""
    soft, e = s.law, s.groups.order[:count]
    on_pad = (s.kind[e] == 0) & (s.soft[e] == PAD)
    rows, columns, values = [], [], []
    three = np.arange(3)
    for side, sign in (("a", 1.0), ("b", -1.0)):
        pad = np.where(on_pad, soft.surfaces.of_shape[s.points[f"shape_{side}"][e]], -1)
        x = np.flatnonzero(pad >= 0)
        E = s.problem.contact["frame"][x].reshape(-1, 3, 3)
        turned = sign * E @ soft.solver.turn[pad[x]].reshape(-1, 3, 3)
        at = s.source[e[x]]
        for c in three:
            node, weight = soft.where[f"node_{side}"][at, c], soft.where[f"weight_{side}"][at, c]
            used = node >= 0
            i, j = 3 * x[used, None, None] + three[:, None], 3 * node[used, None, None] + three
            rows.append(np.broadcast_to(i, (len(i), 3, 3)).ravel())
            columns.append(np.broadcast_to(j, (len(j), 3, 3)).ravel())
            values.append((weight[used, None, None] * turned[used]).ravel())
    parts = (np.concatenate(rows), np.concatenate(columns))
    shape = (3 * count, 3 * len(soft.surfaces.rest))
    return scipy.sparse.csr_matrix((np.concatenate(values), parts), shape)


def misplaced(s: Any, count: int) -> float:
    """How far the nodes of a point, with their weights, are from where the point lies on its pad,
    at most [m]: x = Σ w_k x_k, half the gap from the contact.
    """
    soft, e, worst = s.law, np.arange(count), 0.0
    e = e[(s.kind[:count] == 0) & (s.soft[:count] == PAD)]
    point, where = s.points[e], soft.where[s.source[e]]
    for side, sign in (("a", 0.5), ("b", -0.5)):
        on = soft.surfaces.of_shape[point[f"shape_{side}"]] >= 0
        node, weight = where[f"node_{side}"][on], where[f"weight_{side}"][on]
        x = np.einsum("ij,ijk->ik", np.where(node >= 0, weight, 0.0), soft.place[node])
        there = point["position"][on] + sign * point["gap"][on, None] * point["normal"][on]
        worst = max(worst, float(np.abs(x - there).max(initial=0.0)))
    return worst


def error(given: PadMatrices, dt: float, s: Any, data: Any) -> float:
    """How far the nodes are from where (1) puts them by the forces of the last step, and contacts
    from the nodes that bear them [m]; the larger.
    """
    count = int(data.outcome.report[0]["points"])
    U, apart = data.outcome.sole_before.ravel(), 0.0
    push = np.zeros(len(U))
    if count and count <= len(s.points):
        push = spread(s, count).T @ s.impulse[: 3 * count]
        apart = misplaced(s, count)
    v = given.compliance @ push - given.relaxation @ U
    return max(apart, float(np.abs(U + dt * v - data.memory.sole.ravel()).max(initial=0.0)))
