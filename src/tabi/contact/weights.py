"""ρ = 3/tr W_kk of each three rows, from Ω alone: the scale between impulses and velocities.

Where all joints between two links are held, by dry friction or at their stops, no impulse moves the
links against each other: W_kk is zero up to rounding, and so is all of its row, as W is positive
semi-definite. Then λ = 0 does what any other impulse would, and the contact becomes IDLE; also
where only its normal is held.
"""

from tabi.contact import trees
from tabi.contact.rows import CONTACT, IDLE, SOFT
from tabi.jit import kernel
from tabi.spatial.vector import cross, dot6, load3, load9

# share of two bodies' own mobility below which that between them is rounding
MIN_MOBILITY_RATIO = 1e-12


@kernel
def weights(p):
    """ρ = 3/tr W_kk of each contact; the trace needs no frame."""
    if trees.linked(p):
        _weights_of_trees(p)
        return
    for k in range(p.mu.shape[0]):
        c = p.contact[k]
        if c.angular != 0:
            trace = _angular_trace(c, p.start, p.column, p.omega)
            p.weight[k] = _weight(trace)
            continue
        r, e = load3(c.arm_a), -1
        A = p.omega[find(p.start, p.column, c.a, c.a)]
        trace = trace_at(A, r, r)
        if c.b >= 0:
            s = load3(c.arm_b)
            B = p.omega[find(p.start, p.column, c.b, c.b)]
            trace += trace_at(B, s, s)
            # both may hang on one tree
            e = find(p.start, p.column, c.a, c.b)
            if e >= 0:
                P, Q = p.omega[e], p.omega[find(p.start, p.column, c.b, c.a)]
                trace -= trace_at(P, r, s) + trace_at(Q, s, r)
                normal = (c.frame[6], c.frame[7], c.frame[8])
                f, g = _wrench(0, r, normal), _wrench(0, s, normal)
                unconstrained = _product(A, f, f) + _product(B, g, g)
                _set(
                    p,
                    k,
                    trace,
                    unconstrained - _product(P, f, g) - _product(Q, g, f),
                    unconstrained,
                )
        # only links of one tree can be held against each other and not against the world
        if e < 0:
            _set(p, k, trace, trace, trace)


@kernel(inline=True)
def _weight(trace):
    """ρ from a trace, 1 for rows that cannot move."""
    return 3.0 / trace if trace > 0.0 else 1.0


@kernel(inline=True)
def _set(p, k, trace, nn, unconstrained):
    """ρ from tr W_kk; a contact is IDLE where W_nn is nothing beside what the bodies do alone."""
    p.weight[k] = _weight(trace)
    if p.kind[k] in (CONTACT, SOFT) and not nn > MIN_MOBILITY_RATIO * unconstrained:
        p.kind[k], p.weight[k] = IDLE, 1.0


@kernel(inline=True)
def _product(O, f, g):
    """fᵀ O g."""
    return dot6(f, trees.times(O, g))


@kernel(apart="none", rare=True)
def _weights_of_trees(p):
    """Weights from the factors of ``trees``, by one unit wrench after another."""
    for k in range(p.mu.shape[0]):
        c, trace, nn, unconstrained = p.contact[k], 0.0, 0.0, 0.0
        both = trees.meet(p, c.a, c.b) if c.b >= 0 else -1
        for q in range(3):
            axis = (c.frame[3 * q], c.frame[3 * q + 1], c.frame[3 * q + 2])
            f = _wrench(c.angular, load3(c.arm_a), axis)
            unconstrained = _does(p, c.a, f, f)
            nn = unconstrained
            if c.b >= 0:
                g = _wrench(c.angular, load3(c.arm_b), axis)
                unconstrained += _does(p, c.b, g, g)
                nn = unconstrained
                if both >= 0:
                    f, g = trees.carried(p, c.a, both, f), trees.carried(p, c.b, both, g)
                    nn -= 2.0 * _does(p, both, f, g)
            trace += nn
        # the last axis is the normal
        _set(p, k, trace, nn, unconstrained)


@kernel(inline=True)
def _wrench(angular, r, f):
    """Wrench of a force f at r, or of a moment f."""
    if angular != 0:
        return (f[0], f[1], f[2], 0.0, 0.0, 0.0)
    m = cross(r, f)
    return (m[0], m[1], m[2], f[0], f[1], f[2])


@kernel(inline=True)
def _does(p, i, f, g):
    """fᵀ Ω_ii g."""
    return _product(p.omega[p.start[i] + trees.SELF], f, g)


@kernel
def _angular_trace(c, start, column, omega):
    """tr W_kk of rows about rotations, whose frame need not be of unit vectors."""
    E = load9(c.frame)
    trace = _form(omega[find(start, column, c.a, c.a)], E)
    if c.b >= 0:
        trace += _form(omega[find(start, column, c.b, c.b)], E)
        e = find(start, column, c.a, c.b)
        if e >= 0:
            trace -= 2.0 * _form(omega[e], E)
    return trace


@kernel(inline=True)
def _form(O, E):
    """tr(E O Eᵀ), of the rotations in O."""
    return _along(O, E[0], E[1], E[2]) + _along(O, E[3], E[4], E[5]) + _along(O, E[6], E[7], E[8])


@kernel(inline=True)
def _along(O, x, y, z):
    return (
        x * (O[0, 0] * x + O[0, 1] * y + O[0, 2] * z)
        + y * (O[1, 0] * x + O[1, 1] * y + O[1, 2] * z)
        + z * (O[2, 0] * x + O[2, 1] * y + O[2, 2] * z)
    )


@kernel(inline=True)
def trace_at(O, r, s):
    """tr(J_r O J_sᵀ), J_r = [−r̂ 1]."""
    t = (
        (r[0] * s[0] + r[1] * s[1] + r[2] * s[2]) * (O[0, 0] + O[1, 1] + O[2, 2])
        + O[3, 3]
        + O[4, 4]
        + O[5, 5]
    )
    for c in range(3):
        t -= s[c] * (O[c, 0] * r[0] + O[c, 1] * r[1] + O[c, 2] * r[2])
    t += r[0] * (O[2, 4] - O[1, 5]) + r[1] * (O[0, 5] - O[2, 3]) + r[2] * (O[1, 3] - O[0, 4])
    return t + s[0] * (O[4, 2] - O[5, 1]) + s[1] * (O[5, 0] - O[3, 2]) + s[2] * (O[3, 1] - O[4, 0])


@kernel
def find(start, column, i, j):
    """Index of the block Ω_ij, −1 for bodies of different trees."""
    for e in range(start[i], start[i + 1]):
        if column[e] == j:
            return e
    return -1
