"""Polygons held by their states, beside contacts of other kinds.

With the states of ``selection`` given, a polygon that sticks is a joint of its two bodies, and the
rest of the group, hands on tables, boxes, bonds, obeys another law: all of it is one problem for
the solver of that law. Of the rows of a polygon two become those of its joint, the others idle:

    face    u(middle) = 0, ω = 0;   edge    u(middle of it) = 0, ω = 0 but about it;
    vertex  u = 0;                  none    no impulse
One that slides rests on the corners that it holds, each with friction of its own, which then
resists turning as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.contact.bodies import ROW, BodyProblem
from tabi.contact.rows import BILATERAL, BILATERAL_TWO, IDLE
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import table
from tabi.spatial.vector import add, load3, load9, mul_t, scale, store3, store9
from tabi.step.laws.polygons.polygon_states import EDGE, FACE, NONE, VERTEX, decode, holds

Floats = NDArray[np.float64]


class HeldRows(Structure):
    """Columns of the problem with joints, for the rows of a group."""

    contact: NDArray[np.void]
    q: Floats
    kind: NDArray[np.int64]
    mu: Floats
    bound: Floats
    weight: Floats
    impulse: Floats


def allocate(points: int) -> HeldRows:
    """Allocate memory for so many rows."""
    columns = {name: np.zeros(points) for name in ("mu", "bound", "weight")}
    rows = {name: np.zeros(3 * points) for name in ("q", "impulse")}
    return HeldRows(contact=table(points, ROW), kind=np.zeros(points, np.int64), **columns, **rows)


@kernel(inline=True)
def problem(p, h):
    """Return the problem p with the columns of h."""
    n = p.kind.shape[0]
    return BodyProblem(
        h.contact[:n],
        p.start,
        p.column,
        p.omega,
        h.q[: 3 * n],
        h.kind[:n],
        h.mu[:n],
        h.bound[:n],
        h.weight[:n],
        p.parent,
    )


@kernel
def hold(p, P, s, impulse, h):
    """Set rows of polygons by s.state, and copy the rest."""
    for k in range(p.kind.shape[0]):
        copy_row(p, k, impulse, h)
    for f in range(P.count[0]):
        first, n = P.start[f], P.start[f + 1] - P.start[f]
        kind, i, slides = decode(s.state[f], n)
        for k in range(p.kind.shape[0]):
            if P.owner[k] == f:
                h.kind[k], h.bound[k] = IDLE, 0.0
        if slides or kind == VERTEX:
            for j in range(n):
                k = P.row[first + j]
                if holds(kind, i, j, n):
                    h.kind[k] = p.kind[k] if slides else BILATERAL
        elif kind != NONE:
            _join(p, P, f, kind, i, h)
    for k in range(p.kind.shape[0]):
        if h.kind[k] == IDLE:
            for c in range(3):
                h.impulse[3 * k + c] = 0.0


@kernel(inline=True)
def copy_row(p, k, impulse, h):
    """Copy a row without changes."""
    c, o = p.contact[k], h.contact[k]
    o.a, o.b, o.angular, o.partner = c.a, c.b, c.angular, c.partner
    store9(o.frame, load9(c.frame))
    store3(o.arm_a, load3(c.arm_a))
    store3(o.arm_b, load3(c.arm_b))
    h.kind[k], h.mu[k], h.bound[k] = p.kind[k], p.mu[k], p.bound[k]
    for i in range(3):
        h.q[3 * k + i], h.impulse[3 * k + i] = p.q[3 * k + i], impulse[3 * k + i]


@kernel(inline=True)
def _join(p, P, f, kind, i, h):
    """Set the joint of an edge or a face: two rows of three."""
    first, n, b = P.start[f], P.start[f + 1] - P.start[f], 6 * f
    E, x, y, ux, uy = load9(p.contact[P.first[f]].frame), 0.0, 0.0, 1.0, 0.0
    here, there = first + i, first + (i + 1) % n
    if kind == EDGE:
        x, y = 0.5 * (P.x[here] + P.x[there]), 0.5 * (P.y[here] + P.y[there])
        ux, uy = P.x[there] - P.x[here], P.y[there] - P.y[here]
        size = (ux * ux + uy * uy) ** 0.5
        ux, uy = ux / size, uy / size
    k, l = P.row[here], P.row[there]
    move, turn = h.contact[k], h.contact[l]
    # translation: of the middle of the edge or face
    at = mul_t(E, (x, y, 0.0))
    store3(move.arm_a, add(load3(P.arm[f, 0]), at))
    store3(move.arm_b, add(load3(P.arm[f, 1]), at))
    h.kind[k] = BILATERAL
    h.q[3 * k] = P.b[b + 3] - P.b[b + 2] * y
    h.q[3 * k + 1] = P.b[b + 4] + P.b[b + 2] * x
    h.q[3 * k + 2] = P.b[b + 5] + P.b[b] * y - P.b[b + 1] * x
    if kind == EDGE:
        h.q[3 * k + 2] = 0.5 * (P.free[here] + P.free[there])
    # rotation: across the edge and about the normal; about the edge only for a face
    tx, ty, up = (E[0], E[1], E[2]), (E[3], E[4], E[5]), (E[6], E[7], E[8])
    along, across = add(scale(ux, tx), scale(uy, ty)), add(scale(-uy, tx), scale(ux, ty))
    turn.angular = 1
    store9(turn.frame, (*across, *up, *along))
    h.kind[l] = BILATERAL if kind == FACE else BILATERAL_TWO
    h.q[3 * l] = ux * P.b[b + 1] - uy * P.b[b]
    h.q[3 * l + 1], h.q[3 * l + 2] = P.b[b + 2], ux * P.b[b] + uy * P.b[b + 1]
