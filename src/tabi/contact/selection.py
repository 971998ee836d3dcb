"""Constraint selection: which corners, edges or faces of polygonal feet are held by their planes.

A polygon touches with nothing, a vertex, an edge or its face, and sticks or slides. Each of these
states is a set of bilateral constraints on its twist ξ (``polygons``), and its forces follow from a
small linear system, friction of a sliding polygon among them:

    C (A B z + b) = 0,   w = B z                                                                (1)
    vertex  u(p) = 0;    edge  u_n = 0 at both ends, u_t = 0 in the middle, ω_z = 0;  face  ξ = 0
    sliding: the rows of u_n alone; each normal force n comes with −μ d at its place            (2)
d: unit, the way in which the pressure point slides at the end of the step. The moment of friction
about the pressure point is zero: a polygon that slides has no yaw friction, and one that sticks has
no limit of it.

A state is right if it violates none of these rules; violations are counted, and compared in this
order:

    pressure   the pressure point lies in what is held: else what is away from it is released   (3)
    geometry   what is lower than −d is held, what is higher than d is not, d = 1 mm            (4)
    force      no corner that is held is pulled                                                 (5)
    motion     no corner that is free ends the step below the plane: u_n ≥ 0                    (6)
    friction   ‖f_t‖ ≤ μ f_z of what sticks; what slides goes on sliding                        (7)
Without the rule of pressure the corners' forces are the least ones that have the wrench, and pull
before the pressure point is at an edge.

Exact: the state of the last step is tried first. Then the best of the states that were tried is
corrected, rule by rule, until one is right; where no corrections are left its neighbours are tried,
so that every state is reached in the end. If none is right, the least violated one is taken.
One-step: the last state is corrected once: each corner gets the value, held or free, that the rules
say for it alone, and the state nearest to these values is taken, by weights that are smaller from
rule to rule by the number of corners and one.

The paper's rules (6) are thresholds on acceleration and speed, as its scheme does not know the end
of the step. Its weights are smaller by the number of corners: then as many lower violations would
weigh as much as a higher one.

References: Moraud (2008), secs. II to IV.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi._jit import kernel
from tabi._structure import Structure
from tabi.contact import linear
from tabi.contact.corner_forces import gradient
from tabi.contact.polygon_states import EDGE, FACE, NONE, VERTEX, decode, holds
from tabi.contact.polygons import Polygons

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# d of (4) [m]
NEAR = 1e-3
# turns in which the direction of sliding is found, and how much of it may be left open
TURNS, STRAIGHT = 30, 1e-9
# bits of a count of violations; rules
BITS, RULES = 10, 5
PRESSURE, GEOMETRY, FORCE, MOTION, FRICTION = range(RULES)


class Search(Structure):
    """Memory of a selection.

    Attributes:
        state, before: of each polygon, its number (``decode``), now and before.
        base: how many numbers each has.
        wrench, twist: w and ξ, shape (6f,). slip: d of (2), shape (f, 2).
        count: violations by polygon and rule. C, B: rows and columns of (1), by polygon.
        begin: where the unknowns of each begin. S, z, moved: the system.
        tried: numbers of states in a hash table, −1 where empty. heap, key, stage: of the queue.
        want, weight, total: of the one-step way, over corners.
    """

    state: Integers
    before: Integers
    base: Integers
    wrench: Floats
    twist: Floats
    slip: Floats
    count: Integers
    C: Floats
    B: Floats
    begin: Integers
    S: Floats
    z: Floats
    moved: Floats
    tried: Integers
    heap: Integers
    key: Integers
    stage: Integers
    want: Floats
    weight: Floats


def allocate(P: Polygons, candidates: int) -> Search:
    """Memory for polygons, and so many states that are tried at most."""
    most, size = len(P.first), 1 << (2 * candidates).bit_length()
    return Search(
        state=np.zeros(most, np.int64),
        before=np.zeros(most, np.int64),
        base=np.zeros(most, np.int64),
        wrench=np.zeros(6 * most),
        twist=np.zeros(6 * most),
        slip=np.zeros((most, 2)),
        count=np.zeros((most, RULES), np.int64),
        C=np.zeros((6 * most, 6)),
        B=np.zeros((6 * most, 6)),
        begin=np.zeros(most + 1, np.int64),
        S=np.zeros((6 * most, 6 * most)),
        z=np.zeros(6 * most),
        moved=np.zeros(6 * most),
        tried=np.full(size, -1, np.int64),
        heap=np.zeros(candidates, np.int64),
        key=np.zeros(candidates, np.int64),
        stage=np.zeros(candidates, np.int64),
        want=np.zeros(len(P.x)),
        weight=np.zeros(len(P.x)),
    )


# ---- forces of a state --------------------------------------------------------------------------


@kernel
def evaluate(P, s, tolerance, pressure):
    """Forces and motion of the state s.state, and its violations.

    Args:
        tolerance: of velocities [m/s]. pressure: whether rule (3) is used.

    Returns:
        all violations in one number, less for what is less violated; 0 for none.
    """
    sliding = False
    for f in range(P.count[0]):
        n, i = P.start[f + 1] - P.start[f], 6 * f
        s.slip[f, 0], s.slip[f, 1] = _unit(P.b[i + 3], P.b[i + 4])
        sliding = sliding or decode(s.state[f], n)[2]
    for _ in range(TURNS):
        _solve(P, s)
        if not sliding or _turn_slip(P, s) < STRAIGHT:
            break
    key = 0
    for f in range(P.count[0]):
        _judge(P, s, f, tolerance, pressure)
    for rule in range(RULES):
        total = 0
        for f in range(P.count[0]):
            total += s.count[f, rule]
        key = (key << BITS) + min(total, (1 << BITS) - 1)
    return key


@kernel(inline=True)
def _unit(x, y):
    """A direction, x where there is none."""
    size = (x * x + y * y) ** 0.5
    return (x / size, y / size) if size > 0.0 else (1.0, 0.0)


@kernel
def _solve(P, s):
    """w and ξ of (1)."""
    m = 0
    for f in range(P.count[0]):
        s.begin[f] = m
        m = _constrain(P, s, f, m)
    s.begin[P.count[0]] = m
    for g in range(P.count[0]):
        for c in range(s.begin[g], s.begin[g + 1]):
            for i in range(6 * P.count[0]):
                total = 0.0
                for j in range(6):
                    total += P.A[i, 6 * g + j] * s.B[c, j]
                s.moved[i] = total
            for f in range(P.count[0]):
                for r in range(s.begin[f], s.begin[f + 1]):
                    total = 0.0
                    for i in range(6):
                        total += s.C[r, i] * s.moved[6 * f + i]
                    s.S[r, c] = total
    size = 0.0
    for r in range(m):
        size = max(size, abs(s.S[r, r]))
    for r in range(m):
        # where legs are rigid what both feet bear is open: it stays small
        s.S[r, r] += 1e-13 * size
    if not linear.solve(s.S, s.z, m):
        for r in range(m):
            s.z[r] = 0.0
    for f in range(P.count[0]):
        for j in range(6):
            total = 0.0
            for c in range(s.begin[f], s.begin[f + 1]):
                total += s.B[c, j] * s.z[c]
            s.wrench[6 * f + j] = total
    for i in range(6 * P.count[0]):
        total = P.b[i]
        for j in range(6 * P.count[0]):
            total += P.A[i, j] * s.wrench[j]
        s.twist[i] = total


@kernel
def _constrain(P, s, f, m):
    """Rows and columns of a polygon behind the first m, with −C b in s.z; returns their end."""
    first, n = P.start[f], P.start[f + 1] - P.start[f]
    kind, i, slides = decode(s.state[f], n)
    dx, dy = P.mu[f] * s.slip[f, 0], P.mu[f] * s.slip[f, 1]
    if not slides:
        dx, dy = 0.0, 0.0
    mx, my = 0.0, 0.0
    if kind == FACE:
        # the columns of τ_x, τ_y and f_z, with friction in the pressure point
        _row(s, m, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (1.0, 0.0, dx, 0.0, 0.0, 0.0))
        _row(s, m + 1, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, dy, 0.0, 0.0, 0.0))
        _row(s, m + 2, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, -dx, -dy, 1.0))
        for r in range(3):
            s.z[m + r] = -P.b[6 * f + (r if r < 2 else 5)]
        m += 3
    else:
        for j in range(kind):
            c = first + (i + j) % n
            x, y = P.x[c], P.y[c]
            mx, my = mx + x / kind, my + y / kind
            normal = (y, -x, 0.0, 0.0, 0.0, 1.0)
            _row(s, m, normal, (y, -x, y * dx - x * dy, -dx, -dy, 1.0))
            s.z[m] = -P.free[c]
            m += 1
    if slides or kind == NONE:
        return m
    across, along = (0.0, 0.0, -my, 1.0, 0.0, 0.0), (0.0, 0.0, mx, 0.0, 1.0, 0.0)
    _row(s, m, across, across)
    _row(s, m + 1, along, along)
    b = 6 * f
    s.z[m], s.z[m + 1] = my * P.b[b + 2] - P.b[b + 3], -mx * P.b[b + 2] - P.b[b + 4]
    m += 2
    if kind != VERTEX:
        yaw = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
        _row(s, m, yaw, yaw)
        s.z[m] = -P.b[b + 2]
        m += 1
    return m


@kernel(inline=True)
def _row(s, m, row, column):
    for i in range(6):
        s.C[m, i], s.B[m, i] = row[i], column[i]


@kernel
def _turn_slip(P, s):
    """The directions in which polygons slide, from their twists; the largest change."""
    change = 0.0
    for f in range(P.count[0]):
        n = P.start[f + 1] - P.start[f]
        if decode(s.state[f], n)[2]:
            # the free velocity, were the polygon alone and the same in all directions
            i, (vx, vy) = 6 * f, slip_velocity(P, s, f)
            slows = 0.5 * P.mu[f] * max(0.0, s.wrench[i + 5])
            slows *= P.A[i + 3, i + 3] + P.A[i + 4, i + 4]
            dx, dy = _unit(vx + slows * s.slip[f, 0], vy + slows * s.slip[f, 1])
            change = max(change, abs(dx - s.slip[f, 0]), abs(dy - s.slip[f, 1]))
            s.slip[f, 0], s.slip[f, 1] = dx, dy
    return change


@kernel(inline=True)
def slip_velocity(P, s, f):
    """Of the pressure point along the plane."""
    i, w = 6 * f, s.wrench
    px, py = (-w[i + 1] / w[i + 5], w[i] / w[i + 5]) if w[i + 5] > 0.0 else (0.0, 0.0)
    return s.twist[i + 3] - s.twist[i + 2] * py, s.twist[i + 4] + s.twist[i + 2] * px


# ---- violations ---------------------------------------------------------------------------------


@kernel
def _judge(P, s, f, tolerance, pressure):
    """Counts of violations of a polygon in s.count; the values that its corners should have, and
    the rule that says so, in s.want and s.weight.
    """
    first, n, i, w = P.start[f], P.start[f + 1] - P.start[f], 6 * f, s.wrench
    kind, begin, slides = decode(s.state[f], n)
    for rule in range(RULES):
        s.count[f, rule] = 0
    # the impulse that changes velocities by the tolerance
    little = tolerance / P.A[i + 5, i + 5]
    fz = w[i + 5]
    keep = worst_edge(P, s, f, little) if kind == FACE and pressure and fz >= -little else -1
    gx, gy = gradient(P, first, n, w[i], w[i + 1]) if kind == FACE else (0.0, 0.0)
    for j in range(n):
        c = first + j
        held, want, rule = holds(kind, begin, j, n), -1, RULES
        if held:
            if keep >= 0 and j != keep and j != (keep + 1) % n:
                want, rule = 0, PRESSURE
            elif P.gap[c] > NEAR:
                want, rule = 0, GEOMETRY
            else:
                load = _load(P, s, f, kind, begin, j, fz / n + gx * P.x[c] + gy * P.y[c])
                if kind == FACE and pressure:
                    load = fz
                if load < -little:
                    want, rule = 0, PRESSURE if pressure and kind == EDGE and fz > little else FORCE
        elif P.gap[c] < -NEAR:
            want, rule = 1, GEOMETRY
        elif corner_velocity(P, s, f, c) < -tolerance and P.gap[c] <= NEAR:
            want, rule = 1, MOTION
        s.want[c], s.weight[c] = (1 if held else 0) if want < 0 else want, rule
        if rule < RULES:
            s.count[f, rule] += 1
    if kind != NONE:
        vx, vy = slip_velocity(P, s, f)
        force = (w[i + 3] * w[i + 3] + w[i + 4] * w[i + 4]) ** 0.5
        if slides:
            s.count[f, FRICTION] += vx * s.slip[f, 0] + vy * s.slip[f, 1] < -tolerance
        else:
            s.count[f, FRICTION] += force > P.mu[f] * max(0.0, fz) + little


@kernel(inline=True)
def corner_velocity(P, s, f, c):
    """u_n of a corner."""
    # its own free velocity is not quite that of the fitted plane
    i = 6 * f
    turn_x, turn_y = s.twist[i] - P.b[i], s.twist[i + 1] - P.b[i + 1]
    return P.free[c] + s.twist[i + 5] - P.b[i + 5] + turn_x * P.y[c] - turn_y * P.x[c]


@kernel(inline=True)
def _load(P, s, f, kind, begin, j, even):
    """Normal impulse of a corner that is held."""
    if kind == FACE:
        return even
    # the unknowns of vertices and edges are their corners' own
    return s.z[s.begin[f] + (0 if j == begin else 1)]


@kernel
def worst_edge(P, s, f, little):
    """The edge of a face that the pressure point is beyond most, −1 if it is inside."""
    first, n, i, w = P.start[f], P.start[f + 1] - P.start[f], 6 * f, s.wrench
    worst, edge = -little * P.span[f], -1
    for j in range(n):
        a, b = first + j, first + (j + 1) % n
        ux, uy = P.x[b] - P.x[a], P.y[b] - P.y[a]
        size = (ux * ux + uy * uy) ** 0.5
        # moment about the edge, positive inside
        moment = ux * (w[i] - w[i + 5] * P.y[a]) - uy * (-w[i + 1] - w[i + 5] * P.x[a])
        if moment / size < worst:
            worst, edge = moment / size, j
    return edge
