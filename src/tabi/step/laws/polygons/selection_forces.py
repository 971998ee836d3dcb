"""Forces and motion of polygonal feet in a given state: sticking ones are constrained, sliding ones
exert friction.

With the states of all polygons given (``polygon_states``), forces follow from linear systems. Each
row of C is a velocity that is held, each column of B a constraint force:

    C (A B z + b) = 0,   w = B z                                                                (1)
    vertex  u(p) = 0;    edge  u_n = 0 at both ends, u_t = 0 in the middle, ω_z = 0;  face  ξ = 0
    sliding: the rows of u_n alone; each normal force n comes with −μ d at its place            (2)
d: unit, the direction in which the pressure point slides at the end of the step. Turning is in
spans of the polygon, moments in forces at that distance, so that all of z is forces [N·s].

Directions d are found by iteration, in which (1) is solved for sliding polygons alone. Sticking
ones, t, have B = Cᵀ, and are eliminated once, so that sliding polygons l have

    S_t = C A_tt Cᵀ,   V = C A_tl,   X = S_t⁻¹ V                                                (3)
    A′ = A_ll − Vᵀ X,   b′ = b_l − Xᵀ C b_t                                                     (4)
Where polygons are rigid to each other, S_t is singular, and so may be that of (1) for sliding ones:
then forces are the least ones (``least_norm``).

References: Moraud (2008), sec. II.
"""

from tabi.contact.algebra import least_norm, linear
from tabi.contact.algebra.least_norm import RANK
from tabi.jit import kernel
from tabi.step.laws.polygons.polygon_states import FACE, NONE, VERTEX, decode

# iterations of the direction of sliding, and its tolerance
MAX_ITERATIONS, DIRECTION_TOLERANCE = 30, 1e-9


@kernel
def forces(P, s):
    """Solve w and ξ of all polygons in the states s.state."""
    t = _constrain_all(P, s)
    sliding = s.sliding[0]
    _solve_sticking(P, s, t)
    if sliding > 0:
        _iterate_sliding(P, s, t)
    # sticking polygons under the load of sliding ones: X is stored by columns of V, a row each
    for x in range(6 * sliding):
        i = 6 * s.slider[x // 6] + x % 6
        for r in range(t):
            s.z[r] -= s.X[x, r] * s.wrench[i]
    for i in range(6 * P.count[0]):
        s.twist[i] = P.b[i]
    for f in range(P.count[0]):
        if s.slides[f]:
            for j in range(6 * f, 6 * f + 6):
                for i in range(6 * P.count[0]):
                    s.twist[i] += P.A[j, i] * s.wrench[j]
        else:
            _wrench(s, f)
            for r in range(s.begin[f], s.end[f]):
                for i in range(6 * P.count[0]):
                    s.twist[i] += s.V[r, i] * s.z[r]


@kernel
def _constrain_all(P, s):
    """Fill rows of all polygons, sticking ones first; returns the end of these."""
    t, sliding = 0, 0
    for f in range(P.count[0]):
        kind, i, slides = decode(s.state[f], P.start[f + 1] - P.start[f])
        s.slides[f] = slides
        if slides:
            s.slider[sliding] = f
            sliding += 1
        else:
            s.begin[f], s.end[f] = t, _constrain(P, s, f, (kind, i, slides), t)
            t = s.end[f]
    s.sliding[0], m = sliding, t
    for a in range(sliding):
        f = s.slider[a]
        s.begin[f] = m
        m = _constrain(P, s, f, decode(s.state[f], P.start[f + 1] - P.start[f]), m)
        s.end[f] = m
    return t


@kernel
def _constrain(P, s, f, state, m):
    """Fill rows C of a polygon behind the first m, with −C b in s.z; returns their end."""
    kind, i, slides = state
    first, n, b, span = P.start[f], P.start[f + 1] - P.start[f], 6 * f, P.span[f]
    mx, my = 0.0, 0.0
    if kind == FACE:
        _row(s, m, (span, 0.0, 0.0, 0.0, 0.0, 0.0))
        _row(s, m + 1, (0.0, span, 0.0, 0.0, 0.0, 0.0))
        _row(s, m + 2, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        s.z[m], s.z[m + 1], s.z[m + 2] = -span * P.b[b], -span * P.b[b + 1], -P.b[b + 5]
        m += 3
    else:
        for j in range(kind):
            c = first + (i + j) % n
            x, y = P.x[c], P.y[c]
            mx, my = mx + x / kind, my + y / kind
            _row(s, m, (y, -x, 0.0, 0.0, 0.0, 1.0))
            s.z[m] = -P.free[c]
            m += 1
    if slides or kind == NONE:
        return m
    _row(s, m, (0.0, 0.0, -my, 1.0, 0.0, 0.0))
    _row(s, m + 1, (0.0, 0.0, mx, 0.0, 1.0, 0.0))
    s.z[m], s.z[m + 1] = my * P.b[b + 2] - P.b[b + 3], -mx * P.b[b + 2] - P.b[b + 4]
    m += 2
    if kind != VERTEX:
        _row(s, m, (0.0, 0.0, span, 0.0, 0.0, 0.0))
        s.z[m] = -span * P.b[b + 2]
        m += 1
    return m


@kernel(inline=True)
def _row(s, m, row):
    for i in range(6):
        s.C[m, i] = row[i]


@kernel(inline=True)
def _wrench(s, f):
    """Compute w = Cᵀ z of a sticking polygon."""
    for j in range(6):
        total = 0.0
        for r in range(s.begin[f], s.end[f]):
            total += s.C[r, j] * s.z[r]
        s.wrench[6 * f + j] = total


# ---- sticking polygons --------------------------------------------------------------------------


@kernel
def _solve_sticking(P, s, t):
    """Compute S_t, V and X of (3), and z without sliding polygons."""
    for f in range(P.count[0]):
        # no rows of sliding polygons
        for r in range(s.begin[f], s.begin[f] if s.slides[f] else s.end[f]):
            for i in range(6 * P.count[0]):
                s.V[r, i] = 0.0
            for j in range(6):
                c = s.C[r, j]
                if c != 0.0:
                    for i in range(6 * P.count[0]):
                        s.V[r, i] += c * P.A[6 * f + j, i]
    largest = _fill_sticking(P, s, t)
    sliding = s.sliding[0]
    for x in range(6 * sliding):
        i = 6 * s.slider[x // 6] + x % 6
        for r in range(t):
            s.X[x, r] = s.V[r, i]
    if linear.cholesky(s.S, t, RANK * largest):
        linear.cholesky_solve(s.S, s.z, t)
        for x in range(6 * sliding):
            linear.cholesky_solve(s.S, s.X[x], t)
    else:
        _fill_sticking(P, s, t)
        least_norm.factor(s.S, t, s.least)
        least_norm.solve(s.least, s.z, t)
        for x in range(6 * sliding):
            least_norm.solve(s.least, s.X[x], t)


@kernel
def _fill_sticking(P, s, t):
    """Fill S_t of (3); returns its largest entry, which is on the diagonal."""
    largest = 0.0
    for g in range(P.count[0]):
        if not s.slides[g]:
            for c in range(s.begin[g], s.end[g]):
                for r in range(c, t):
                    total = 0.0
                    for i in range(6):
                        total += s.V[r, 6 * g + i] * s.C[c, i]
                    s.S[r, c], s.S[c, r] = total, total
                largest = max(largest, s.S[c, c])
    return largest


# ---- sliding polygons ---------------------------------------------------------------------------


@kernel
def _iterate_sliding(P, s, t):
    """Iterate w, ξ and d of sliding polygons: (1) with A′ and b′ of (4)."""
    sliding = s.sliding[0]
    for x in range(6 * sliding):
        i = 6 * s.slider[x // 6] + x % 6
        s.slider_b[x] = P.b[i]
        for r in range(t):
            # z is S_t⁻¹ (−C b) here
            s.slider_b[x] += s.V[r, i] * s.z[r]
        for y in range(6 * sliding):
            j = 6 * s.slider[y // 6] + y % 6
            total = P.A[i, j]
            for r in range(t):
                total -= s.V[r, i] * s.X[y, r]
            s.R[x, y] = total
    m = t
    for a in range(sliding):
        f = s.slider[a]
        m = s.end[f]
        s.slip[f, 0], s.slip[f, 1] = _unit(s.slider_b[6 * a + 3], s.slider_b[6 * a + 4])
        # rows are −C b′ with corners' own velocities
        for r in range(s.begin[f], s.end[f]):
            for i in range(6):
                s.z[r] -= s.C[r, i] * (s.slider_b[6 * a + i] - P.b[6 * f + i])
    for _ in range(MAX_ITERATIONS):
        _solve_sliding(P, s, t, m)
        if _update_directions(P, s) < DIRECTION_TOLERANCE:
            break
    for r in range(t, m):
        s.z[r] = s.part[r - t]


@kernel
def _solve_sliding(P, s, t, m):
    """Solve (1) of sliding polygons, with fixed directions d."""
    sliding = s.sliding[0]
    if not linear.solve_above(s.S, s.part, m - t, RANK * _fill_sliding(P, s, t)):
        _fill_sliding(P, s, t)
        least_norm.factor(s.S, m - t, s.least)
        least_norm.solve(s.least, s.part, m - t)
    for a in range(sliding):
        f = s.slider[a]
        for j in range(6):
            total = 0.0
            for c in range(s.begin[f], s.end[f]):
                total += s.B[c, j] * s.part[c - t]
            s.wrench[6 * f + j] = total
    for x in range(6 * sliding):
        total = s.slider_b[x]
        for y in range(6 * sliding):
            total += s.R[x, y] * s.wrench[6 * s.slider[y // 6] + y % 6]
        s.twist[6 * s.slider[x // 6] + x % 6] = total


@kernel
def _fill_sliding(P, s, t):
    """Fill the system of sliding polygons in s.S and s.part, with friction in its columns B;
    returns its largest entry.
    """
    sliding, largest = s.sliding[0], 0.0
    for b in range(sliding):
        g = s.slider[b]
        dx, dy = P.mu[g] * s.slip[g, 0], P.mu[g] * s.slip[g, 1]
        for c in range(s.begin[g], s.end[g]):
            # C of a normal force at (x, y), or of a moment: friction is in the pressure point
            tx, ty, fz = s.C[c, 0], s.C[c, 1], s.C[c, 5]
            s.B[c, 0], s.B[c, 1], s.B[c, 2] = tx, ty, tx * dx + ty * dy
            s.B[c, 3], s.B[c, 4], s.B[c, 5] = -fz * dx, -fz * dy, fz
            for x in range(6 * sliding):
                total = 0.0
                for j in range(6):
                    total += s.R[x, 6 * b + j] * s.B[c, j]
                s.response[x] = total
            for a in range(sliding):
                for r in range(s.begin[s.slider[a]], s.end[s.slider[a]]):
                    total = 0.0
                    for i in range(6):
                        total += s.C[r, i] * s.response[6 * a + i]
                    s.S[r - t, c - t] = total
                    largest = max(largest, abs(total))
            s.part[c - t] = s.z[c]
    return largest


@kernel(inline=True)
def _unit(x, y):
    """Return a unit direction, x for zero."""
    size = (x * x + y * y) ** 0.5
    return (x / size, y / size) if size > 0.0 else (1.0, 0.0)


@kernel
def _update_directions(P, s):
    """Update the directions in which polygons slide from their twists; returns the largest
    change.
    """
    change = 0.0
    for a in range(s.sliding[0]):
        f, x = s.slider[a], 6 * a
        vx, vy = slip_velocity(s, f)
        # velocity without friction, if the response were the same in all directions
        slows = 0.5 * P.mu[f] * max(0.0, s.wrench[6 * f + 5])
        slows *= s.R[x + 3, x + 3] + s.R[x + 4, x + 4]
        dx, dy = _unit(vx + slows * s.slip[f, 0], vy + slows * s.slip[f, 1])
        change = max(change, abs(dx - s.slip[f, 0]), abs(dy - s.slip[f, 1]))
        s.slip[f, 0], s.slip[f, 1] = dx, dy
    return change


@kernel(inline=True)
def slip_velocity(s, f):
    """Return the velocity of the pressure point along the plane [m/s]."""
    i, w = 6 * f, s.wrench
    px, py = (-w[i + 1] / w[i + 5], w[i] / w[i + 5]) if w[i + 5] > 0.0 else (0.0, 0.0)
    return s.twist[i + 3] - s.twist[i + 2] * py, s.twist[i + 4] + s.twist[i + 2] * px
