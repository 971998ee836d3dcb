"""Constraint selection: which corners, edges or faces of polygonal feet are held by their planes.

A polygon touches with nothing, a vertex, an edge or its face, and sticks or slides. Each of these
states is a set of bilateral constraints on its twist ξ (``polygons``), and its forces follow from
small linear systems (``selection_forces``). The moment of friction about the pressure point is
zero: a polygon that slides has no yaw friction. A face or an edge that sticks has no limit of it; a
vertex has none. So there are times at which no state is right: a foot held by one corner lands on
the next, and would be pulled off by the yaw moment of both.

A state is right if it violates none of these rules; violations are counted, and compared in this
order:

    pressure   the pressure point lies in the held part: else corners away from it are released (1)
    geometry   corners lower than −d are held, those higher than d are not, d = 1 mm           (2)
    force      no held corner is pulled                                                         (3)
    motion     no free corner ends the step below the plane: u_n ≥ 0                            (4)
    friction   ‖f_t‖ ≤ μ f_z of sticking feet; sliding feet continue to slide                   (5)
Without the rule of pressure the corners' forces are the least ones that have the wrench, and pull
before the pressure point is at an edge.

Exact: the state of the last step is tried first. Then the best of the states that were tried is
corrected, rule by rule, until one is right; where no corrections are left its neighbours are tried,
so that every state is reached in the end. If none is right, the least violated one is taken.
One-step: the last state is corrected once: each corner gets the value, held or free, that the rules
say for it alone, and the state nearest to these values is taken, by weights that are smaller from
rule to rule by the number of corners and one.

The paper's rules (4) are thresholds on acceleration and speed, as its scheme does not know the end
of the step. Its weights are smaller by the number of corners: then as many lower violations would
weigh as much as a higher one.

References: Moraud (2008), secs. II to IV.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.contact.algebra import least_norm
from tabi.contact.algebra.least_norm import Factors
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.step.laws.polygons.corner_forces import gradient
from tabi.step.laws.polygons.polygon_states import EDGE, FACE, NONE, decode, holds
from tabi.step.laws.polygons.polygons import Polygons
from tabi.step.laws.polygons.selection_forces import forces, slip_velocity

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# d of (2) [m]
MAX_TOUCH_GAP_M = 1e-3
# bits of a count of violations; rules
BITS, RULES = 10, 5
PRESSURE, GEOMETRY, FORCE, MOTION, FRICTION = range(RULES)


class Search(Structure):
    """Memory of the search for states.

    Attributes:
        state, before: of each polygon, its number (``decode``), now and before.
        base: how many numbers each has.
        wrench, twist: w and ξ, shape (6f,). slip: directions in which polygons slide, shape (f, 2).
        count: violations by polygon and rule.
        C, B, z: rows, columns and unknowns of (1) of ``selection_forces``, those of polygon f from
            begin[f] to end[f]. V, X, S, R, slider_b: of (3) and (4) there, with b′ in
            slider_b and A′ in R. slides: whether each polygon does. slider: those that do, in
            order, so many as sliding, shape (1,), counts. response, part: scratch. least: of
            singular systems.
        tried: numbers of states in a hash table, −1 where empty. heap, key, stage, slot: of the
            queue. corrections: of each state that was tried, in this order.
        want, weight: of the one-step mode, over corners.
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
    z: Floats
    begin: Integers
    end: Integers
    V: Floats
    X: Floats
    S: Floats
    R: Floats
    slider_b: Floats
    slides: Integers
    slider: Integers
    sliding: Integers
    response: Floats
    part: Floats
    least: Factors
    tried: Integers
    heap: Integers
    key: Integers
    stage: Integers
    slot: Integers
    corrections: Integers
    want: Floats
    weight: Floats


def allocate(P: Polygons, candidates: int) -> Search:
    """Allocate memory for polygons, and so many states that are tried at most."""
    most, size = len(P.first), 1 << (2 * candidates).bit_length()
    memory: dict[str, Any] = {
        name: np.zeros(most, np.int64)
        for name in ("state", "before", "base", "begin", "end", "slides", "slider")
    }
    for name in ("wrench", "twist", "z", "slider_b", "response", "part"):
        memory[name] = np.zeros(6 * most)
    for name in ("V", "X", "S", "R"):
        memory[name] = np.zeros((6 * most, 6 * most))
    for name in ("heap", "key", "stage", "slot"):
        memory[name] = np.zeros(candidates, np.int64)
    return Search(
        **memory,
        slip=np.zeros((most, 2)),
        count=np.zeros((most, RULES), np.int64),
        C=np.zeros((6 * most, 6)),
        B=np.zeros((6 * most, 6)),
        sliding=np.zeros(1, np.int64),
        least=least_norm.allocate(6 * most),
        tried=np.full(size, -1, np.int64),
        corrections=np.zeros((candidates, 2 * most + 1), np.int64),
        want=np.zeros(len(P.x)),
        weight=np.zeros(len(P.x)),
    )


@kernel
def evaluate(P, s, tolerance, pressure):
    """Compute forces, motion and violations of the state s.state.

    Args:
        tolerance: of velocities [m/s]. pressure: whether rule (1) is used.

    Returns:
        all violations in one number, less for lesser violations; 0 for none.
    """
    forces(P, s)
    key = 0
    for f in range(P.count[0]):
        _count_violations(P, s, f, tolerance, pressure)
    for rule in range(RULES):
        total = 0
        for f in range(P.count[0]):
            total += s.count[f, rule]
        key = (key << BITS) + min(total, (1 << BITS) - 1)
    return key


# ---- violations ---------------------------------------------------------------------------------


@kernel
def _count_violations(P, s, f, tolerance, pressure):
    """Count violations of a polygon in s.count; store the values that its corners should have, and
    the rule for that, in s.want and s.weight.
    """
    first, n, i, w = P.start[f], P.start[f + 1] - P.start[f], 6 * f, s.wrench
    kind, begin, slides = decode(s.state[f], n)
    for rule in range(RULES):
        s.count[f, rule] = 0
    # the impulse that changes velocities by the tolerance
    min_impulse = tolerance / P.A[i + 5, i + 5]
    fz = w[i + 5]
    keep = (
        worst_edge(P, s, f, min_impulse) if kind == FACE and pressure and fz >= -min_impulse else -1
    )
    gx, gy = 0.0, 0.0
    if kind == FACE and not pressure:
        gx, gy = gradient(P, first, n, w[i], w[i + 1])
    for j in range(n):
        c = first + j
        is_held, want, rule = holds(kind, begin, j, n), -1, RULES
        if is_held:
            if keep >= 0 and j != keep and j != (keep + 1) % n:
                want, rule = 0, PRESSURE
            elif P.gap[c] > MAX_TOUCH_GAP_M:
                want, rule = 0, GEOMETRY
            else:
                load = _load(P, s, f, kind, begin, j, fz / n + gx * P.x[c] + gy * P.y[c])
                if kind == FACE and pressure:
                    load = fz
                if load < -min_impulse:
                    want, rule = (
                        0,
                        PRESSURE if pressure and kind == EDGE and fz > min_impulse else FORCE,
                    )
        elif P.gap[c] < -MAX_TOUCH_GAP_M:
            want, rule = 1, GEOMETRY
        elif corner_velocity(P, s, f, c) < -tolerance and P.gap[c] <= MAX_TOUCH_GAP_M:
            want, rule = 1, MOTION
        s.want[c], s.weight[c] = (1 if is_held else 0) if want < 0 else want, rule
        if rule < RULES:
            s.count[f, rule] += 1
    if kind != NONE:
        vx, vy = slip_velocity(s, f)
        force = (w[i + 3] * w[i + 3] + w[i + 4] * w[i + 4]) ** 0.5
        if slides:
            s.count[f, FRICTION] += vx * s.slip[f, 0] + vy * s.slip[f, 1] < -tolerance
        else:
            s.count[f, FRICTION] += force > P.mu[f] * max(0.0, fz) + min_impulse


@kernel(inline=True)
def corner_velocity(P, s, f, c):
    """Return u_n of a corner [m/s]."""
    # its own free velocity is not quite that of the fitted plane
    i = 6 * f
    turn_x, turn_y = s.twist[i] - P.b[i], s.twist[i + 1] - P.b[i + 1]
    return P.free[c] + s.twist[i + 5] - P.b[i + 5] + turn_x * P.y[c] - turn_y * P.x[c]


@kernel(inline=True)
def _load(P, s, f, kind, begin, j, even):
    """Return the normal impulse of a held corner."""
    if kind == FACE:
        return even
    # the unknowns of vertices and edges are their corners' own
    return s.z[s.begin[f] + (0 if j == begin else 1)]


@kernel
def worst_edge(P, s, f, little):
    """Return the edge that the pressure point of a face is beyond most, −1 if it is inside."""
    first, n, i, w = P.start[f], P.start[f + 1] - P.start[f], 6 * f, s.wrench
    worst, edge = -little * P.span[f], -1
    for j in range(n):
        a, b = first + j, first + (j + 1) % n
        ux, uy = P.x[b] - P.x[a], P.y[b] - P.y[a]
        # moment about the edge, positive inside
        moment = ux * (w[i] - w[i + 5] * P.y[a]) - uy * (-w[i + 1] - w[i + 5] * P.x[a])
        if moment < 0.0:
            moment /= (ux * ux + uy * uy) ** 0.5
            if moment < worst:
                worst, edge = moment, j
    return edge
