"""Soft soles and pads recomputed by plain matrices, apart from the step's own kernels.

With N from the nodes of all pads to the contacts on them, in the frames of the contacts, a step of
h solves

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
    """Constant matrices c C and A of (1) over all nodes."""

    compliance: scipy.sparse.csr_matrix
    relaxation: scipy.sparse.csr_matrix


def pad_matrices(model: Model, dt: float) -> PadMatrices:
    """Return the matrices of a model, for steps of dt [s]."""
    return PadMatrices(node_compliance(model, dt), relaxation(model, dt))


def node_compliance(model: Model, dt: float) -> scipy.sparse.csr_matrix:
    """Return C c of all pads, in the frames of their bodies [1/kg]."""
    blocks = []
    for placed_pad in model.pads:
        pad, turn = placed_pad.pad, _pad_rotation(placed_pad)
        if pad.damping is None:
            C = pad.compliance / (dt * (dt + pad.viscosity))
        else:
            C = np.linalg.inv(np.linalg.inv(pad.compliance) + pad.damping / dt) / dt**2
        blocks.append(turn @ C @ turn.T)
    return scipy.sparse.csr_matrix(scipy.sparse.block_diag(blocks))


def relaxation(model: Model, dt: float) -> scipy.sparse.csr_matrix:
    """Return A of (1) of all pads [1/s]."""
    blocks: list[Any] = []
    for placed_pad in model.pads:
        pad, n = placed_pad.pad, 3 * len(placed_pad.pad.nodes)
        if pad.damping is None:
            blocks.append(scipy.sparse.eye(n) / (dt + pad.viscosity))
            continue
        turn = _pad_rotation(placed_pad)
        K = np.linalg.inv(pad.compliance)
        A = np.linalg.solve(K + pad.damping / dt, K) / dt
        blocks.append(turn @ A @ turn.T)
    return scipy.sparse.csr_matrix(scipy.sparse.block_diag(blocks))


def _pad_rotation(placed_pad: PlacedPad) -> Array:
    """Return the rotation of all nodes of a pad to the frame of its body."""
    return np.asarray(np.kron(np.eye(len(placed_pad.pad.nodes)), placed_pad.placement.R), float)


def contact_matrix(s: Any, count: int) -> scipy.sparse.csr_matrix:
    """Return N of the first rows of a step's problem, shape (3 count, 3 nodes)."""
    soft, e = s.law, s.groups.order[:count]
    on_pad = (s.kind[e] == 0) & (s.soft[e] == PAD)
    rows, columns, values = [], [], []
    three = np.arange(3)
    for side, sign in (("a", 1.0), ("b", -1.0)):
        pad = np.where(on_pad, soft.surfaces.of_shape[s.points[f"shape_{side}"][e]], -1)
        x = np.flatnonzero(pad >= 0)
        E = s.problem.contact["frame"][x].reshape(-1, 3, 3)
        rotated_frames = sign * E @ soft.solver.turn[pad[x]].reshape(-1, 3, 3)
        at = s.source[e[x]]
        for c in three:
            node, weight = soft.where[f"node_{side}"][at, c], soft.where[f"weight_{side}"][at, c]
            used = node >= 0
            i, j = 3 * x[used, None, None] + three[:, None], 3 * node[used, None, None] + three
            rows.append(np.broadcast_to(i, (len(i), 3, 3)).ravel())
            columns.append(np.broadcast_to(j, (len(j), 3, 3)).ravel())
            values.append((weight[used, None, None] * rotated_frames[used]).ravel())
    parts = (np.concatenate(rows), np.concatenate(columns))
    shape = (3 * count, 3 * len(soft.surfaces.rest))
    return scipy.sparse.csr_matrix((np.concatenate(values), parts), shape)


def largest_misplacement(s: Any, count: int) -> float:
    """Return the largest distance between points on pads and the weighted means of their nodes [m]:
    x = Σ w_k x_k, half the gap from the contact.
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


def error(pads: PadMatrices, dt: float, s: Any, data: Any) -> float:
    """Return the error of node positions by (1) and the forces of the last step, or of contacts
    from the nodes that bear them [m], whichever is larger.
    """
    count = int(data.outcome.report[0]["points"])
    U, apart = data.outcome.sole_before.ravel(), 0.0
    push = np.zeros(len(U))
    if count and count <= len(s.points):
        push = contact_matrix(s, count).T @ s.impulse[: 3 * count]
        apart = largest_misplacement(s, count)
    v = pads.compliance @ push - pads.relaxation @ U
    return max(apart, float(np.abs(U + dt * v - data.memory.sole.ravel()).max(initial=0.0)))
