"""Newton's system of rows on soft pads, of the size of the rows that press.

    (A + B c C) Δλ = −F − B J ΔV                                                               (1)
in the frame of their pad, solved for F and for the six columns of each body that they touch:
see ``compliant_newton``. Contacts may lie anywhere between the nodes, also between two pads.
"""

from tabi.contact.algebra.linear import solve_columns
from tabi.contact.bodies import push_both, wrench
from tabi.contact.point_newton import OPENS, STICKS
from tabi.contact.soft import compliance
from tabi.contact.soft.compliance import load, motion_at
from tabi.contact.soft.pad_frames import frame, lever, pad_turn, rotated
from tabi.jit import kernel
from tabi.spatial.vector import add, load3, load9, matmul, mul, mul_t, scale, store3


@kernel
def add_cluster(p, cluster, count, touched, first, work):
    """(1) of all rows of a cluster that press: its wrench and S.

    Args:
        count: rows of it in work.listed. touched: its bodies in work.touched.
        first: where its rows and columns are kept for ``step_cluster``.

    Returns:
        how many rows press; −1 where (1) is singular.
    """
    d, m = work.delta, 0
    for n in range(work.pad_count[0]):
        pad = work.pads.pad[work.pad_list[n]]
        if work.cluster[work.pad_list[n]] == cluster:
            for i in range(3 * pad.node, 3 * pad.end):
                work.open_force[i] = 0.0
    released = False
    for n in range(count):
        k = work.listed[n]
        if work.does[k] == OPENS:
            f = mul_t(load9(p.contact[k].frame), load3(d[3 * k : 3 * k + 3]))
            if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
                released = True
                load(work, k, f, work.open_force)
                push_both(work.wrench, p.contact[k], 0, f, 1.0)
        else:
            work.unknown[first + m] = k
            m += 1
    if released:
        for n in range(work.pad_count[0]):
            if work.cluster[work.pad_list[n]] == cluster:
                compliance.give_way(work, work.pad_list[n], work.open_force, work.open_motion)
    X = work.columns[3 * first :]
    for r in range(m):
        _fill_row(p, r, first, m, touched, released, X, work)
    if not solve_columns(work.system, X, 3 * m, 1 + 6 * touched):
        return -1
    for r in range(m):
        _push_row(p, r, work.unknown[first + r], touched, X, work)
    return m


@kernel
def step_cluster(p, first, m, touched, work):
    """Δλ of the m rows of a cluster that press, from ΔV; that of the others is there."""
    X, V = work.columns[3 * first :], work.twist
    for r in range(m):
        k = work.unknown[first + r]
        f = (X[3 * r, 0], X[3 * r + 1, 0], X[3 * r + 2, 0])
        for n in range(touched):
            for q in range(6):
                v, j = V[6 * work.touched[n] + q], 1 + 6 * n + q
                f = add(f, scale(v, (X[3 * r, j], X[3 * r + 1, j], X[3 * r + 2, j])))
        store3(work.delta[3 * k : 3 * k + 3], mul(frame(p, k, work), f))


@kernel
def _fill_row(p, r, first, m, touched, released, X, work):
    """Three rows of (1), and their right sides."""
    H, k = work.system, work.unknown[first + r]
    c, Q = p.contact[k], frame(p, k, work)
    B = rotated(Q, load9(work.slope[k]))
    sticks = work.does[k] == STICKS
    for s in range(m):
        M = compliance_between(work, k, work.unknown[first + s])
        if not sticks:
            M = matmul(B, M)
        for e in range(9):
            H[3 * r + e // 3, 3 * s + e % 3] = M[e]
    A = rotated(Q, load9(work.known[k]))
    for e in range(9):
        H[3 * r + e // 3, 3 * r + e % 3] += A[e]
    F = mul_t(Q, load3(work.delta[3 * k : 3 * k + 3]))
    if released:
        w = mul_t(pad_turn(work, k), motion_at(work, k, work.open_motion))
        F = add(F, mul(B, w))
    for e in range(3):
        X[3 * r + e, 0] = -F[e]
        for j in range(1, 1 + 6 * touched):
            X[3 * r + e, j] = 0.0
    _fill_levers(c, pad_turn(work, k), B, r, touched, X, work)


@kernel
def _fill_levers(c, R, B, r, touched, X, work):
    """−B J of a row, in the columns of its two bodies."""
    J = work.lever
    for side in range(2):
        i = c.a if side == 0 else c.b
        if i < 0:
            continue
        arm = load3(c.arm_a) if side == 0 else load3(c.arm_b)
        lever(R, arm, J, 0, 1.0 if side == 0 else -1.0)
        for n in range(touched):
            if work.touched[n] == i:
                for q in range(6):
                    v = mul(B, (J[q, 0], J[q, 1], J[q, 2]))
                    for e in range(3):
                        X[3 * r + e, 1 + 6 * n + q] -= v[e]


@kernel
def compliance_between(work, k, j):
    """Motion of row k under a unit force of row j, each in the frame of its own pad: c N C Nᵀ."""
    a, b = work.row[k], work.row[j]
    if a.pad_b < 0 and b.pad_b < 0:
        if a.pad_a != b.pad_a:
            return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return _between(work, a.pad_a, a.node_a, a.weight_a, b.node_a, b.weight_a)
    M = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    Rk, Rj = pad_turn(work, k), pad_turn(work, j)
    for s in range(2):
        i = a.pad_a if s == 0 else a.pad_b
        for t in range(2):
            if i < 0 or i != (b.pad_a if t == 0 else b.pad_b):
                continue
            node, weight = (a.node_a, a.weight_a) if s == 0 else (a.node_b, a.weight_b)
            other, share = (b.node_a, b.weight_a) if t == 0 else (b.node_b, b.weight_b)
            C = _between(work, i, node, weight, other, share)
            R, sign = load9(work.turn[i]), 1.0 if s == t else -1.0
            left, right = _transposed_product(Rk, R), _transposed_product(R, Rj)
            N = matmul(matmul(left, C), right)
            M = (
                M[0] + sign * N[0], M[1] + sign * N[1], M[2] + sign * N[2],
                M[3] + sign * N[3], M[4] + sign * N[4], M[5] + sign * N[5],
                M[6] + sign * N[6], M[7] + sign * N[7], M[8] + sign * N[8],
            )  # fmt: skip
    return M


@kernel(inline=True)
def _transposed_product(A, B):
    """Aᵀ B."""
    return matmul((A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]), B)


@kernel
def _between(work, i, node, weight, other, share):
    """C N C Nᵀ of two points of pad i."""
    C = work.pads.compliance
    m0, m1, m2, m3, m4, m5, m6, m7, m8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(3):
        for b in range(3):
            if node[a] >= 0 and other[b] >= 0:
                at, size = compliance.entry(work, i, node[a], other[b])
                f, x, y = work.give[i] * weight[a] * share[b], at + size, at + 2 * size
                m0, m1, m2 = m0 + f * C[at], m1 + f * C[at + 1], m2 + f * C[at + 2]
                m3, m4, m5 = m3 + f * C[x], m4 + f * C[x + 1], m5 + f * C[x + 2]
                m6, m7, m8 = m6 + f * C[y], m7 + f * C[y + 1], m8 + f * C[y + 2]
    return (m0, m1, m2, m3, m4, m5, m6, m7, m8)


@kernel
def _push_row(p, r, k, touched, X, work):
    """Wrenches and S of the row k, from its columns."""
    c, R = p.contact[k], pad_turn(work, k)
    f = mul(R, (X[3 * r, 0], X[3 * r + 1, 0], X[3 * r + 2, 0]))
    push_both(work.wrench, c, 0, f, 1.0)
    for side in range(2):
        i = c.a if side == 0 else c.b
        if i < 0:
            continue
        arm, sign = load3(c.arm_a) if side == 0 else load3(c.arm_b), 1.0 if side == 0 else -1.0
        for n in range(touched):
            S = work.stiffness[work.lu.slot[i, work.touched[n]]]
            for q in range(6):
                j = 1 + 6 * n + q
                f = mul(R, (X[3 * r, j], X[3 * r + 1, j], X[3 * r + 2, j]))
                w = wrench(0, arm, f)
                for e in range(6):
                    S[e, q] -= sign * w[e]
