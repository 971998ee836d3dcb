"""Newton's system of a soft pad whose contacts are all at its nodes, of the size of the nodes that
do not stick.

With w = c C Δλ, known where a node sticks (F = u, B = 1, A = 0), unknown in the set Z of all
others,

    (A K_ZZ/c + B) w_Z = −F − B J ΔV − A (K_ZS/c) w_S,   Δλ = K w/c,   K = C⁻¹                  (1)
see ``compliant_newton``. K never changes: a foot whose nodes all stick costs two products with
matrices.
"""

from tabi.contact.algebra.linear import solve_columns
from tabi.contact.algebra.products import dot, row_times, times_six
from tabi.contact.point_newton import OPENS, STICKS
from tabi.contact.soft.pad_frames import frame, lever, rotated
from tabi.jit import kernel
from tabi.spatial.vector import load3, load9, mul, mul_t, store3


@kernel
def add_pad(p, cluster, work):
    """(1) of a pad whose rows are all at its nodes: its wrench and S; False where it is singular.
    work.shift keeps w for ``step_pad``.
    """
    pad = work.pads.pad[cluster]
    size, X, J = 3 * (pad.end - pad.node), work.shift[cluster], work.arm[cluster]
    if work.known_braced[cluster] == 0:
        _brace(p, cluster, work)
    m = 0
    for i in range(pad.end - pad.node):
        k = work.at_node[pad.node + i]
        F, sign = (0.0, 0.0, 0.0), 0.0
        if k >= 0 and work.does[k] == STICKS:
            F, sign = mul_t(frame(p, k, work), load3(work.delta[3 * k : 3 * k + 3])), -1.0
        else:
            work.loose[m] = i
            m += 1
        X[0, 3 * i], X[0, 3 * i + 1], X[0, 3 * i + 2] = -F[0], -F[1], -F[2]
        for q in range(6):
            for e in range(3):
                X[1 + q, 3 * i + e] = sign * J[q, 3 * i + e]
    if m > 0:
        for r in range(m):
            _fill_node(p, cluster, r, m, X, work)
        if not solve_columns(work.system, work.node_columns, 3 * m, 7):
            return False
        for r in range(m):
            for e in range(3):
                for q in range(7):
                    X[q, 3 * work.loose[r] + e] = work.node_columns[3 * r + e, q]
    body = p.contact[work.listed[0]].a
    S = work.stiffness[work.lu.slot[body, body]]
    for q in range(6):
        work.wrench[6 * body + q] += dot(work.braced[cluster, q], X[0], size)
        for e in range(6):
            S[q, e] -= dot(work.braced[cluster, q], X[1 + e], size)
    return True


@kernel
def _brace(p, cluster, work):
    """J and K J/c of all nodes with rows: the same for all steps of Newton's method."""
    pad, J = work.pads.pad[cluster], work.arm[cluster]
    for i in range(pad.end - pad.node):
        k = work.at_node[pad.node + i]
        for q in range(6):
            for e in range(3):
                J[q, 3 * i + e] = 0.0
        if k >= 0:
            lever(load9(work.turn[cluster]), load3(p.contact[k].arm_a), J, 3 * i, 1.0)
    size, stiff = 3 * (pad.end - pad.node), 1.0 / work.give[cluster]
    times_six(work.pads.stiffness, pad.matrix, size, stiff, J, work.braced[cluster])
    work.known_braced[cluster] = 1


@kernel
def step_pad(p, cluster, body, work):
    """Δλ = K w/c of the rows that press, from ΔV of their body; that of the others is there."""
    pad, X, w = work.pads.pad[cluster], work.shift[cluster], work.open_motion
    size, g = 3 * (pad.end - pad.node), 1.0 / work.give[cluster]
    for j in range(size):
        w[j] = X[0, j]
        for q in range(6):
            w[j] += work.twist[6 * body + q] * X[1 + q, j]
    for i in range(pad.end - pad.node):
        k = work.at_node[pad.node + i]
        if k >= 0 and work.does[k] != OPENS:
            at = pad.matrix + 3 * i * size
            x = row_times(work.pads.stiffness, at, w, size)
            y = row_times(work.pads.stiffness, at + size, w, size)
            z = row_times(work.pads.stiffness, at + 2 * size, w, size)
            f = mul(frame(p, k, work), (g * x, g * y, g * z))
            store3(work.delta[3 * k : 3 * k + 3], f)


@kernel
def _fill_node(p, cluster, r, m, T, work):
    """Three rows of (1), and their right sides; T: w of what sticks."""
    K, H, X, J = work.pads.stiffness, work.system, work.node_columns, work.arm[cluster]
    pad = work.pads.pad[cluster]
    size, i, g = 3 * (pad.end - pad.node), work.loose[r], 1.0 / work.give[cluster]
    k = work.at_node[pad.node + i]
    for e in range(3):
        at = pad.matrix + (3 * i + e) * size
        for s in range(m):
            j = 3 * work.loose[s]
            H[3 * r + e, 3 * s] = g * K[at + j]
            H[3 * r + e, 3 * s + 1] = g * K[at + j + 1]
            H[3 * r + e, 3 * s + 2] = g * K[at + j + 2]
        for q in range(7):
            X[3 * r + e, q] = -g * row_times(K, at, T[q], size)
    if k < 0:
        return
    Q = frame(p, k, work)
    if work.does[k] == OPENS:
        f = mul_t(Q, load3(work.delta[3 * k : 3 * k + 3]))
        for e in range(3):
            X[3 * r + e, 0] += f[e]
        return
    A, B = rotated(Q, load9(work.known[k])), rotated(Q, load9(work.slope[k]))
    _weigh(H, 3 * r, 3 * m, A)
    _weigh(X, 3 * r, 7, A)
    F = mul_t(Q, load3(work.delta[3 * k : 3 * k + 3]))
    for e in range(9):
        H[3 * r + e // 3, 3 * r + e % 3] += B[e]
    for e in range(3):
        X[3 * r + e, 0] -= F[e]
    for q in range(6):
        v = mul(B, (J[q, 3 * i], J[q, 3 * i + 1], J[q, 3 * i + 2]))
        for e in range(3):
            X[3 * r + e, 1 + q] -= v[e]


@kernel(inline=True)
def _weigh(H, i, n, A):
    """Three rows become A times them."""
    for j in range(n):
        w = mul(A, (H[i, j], H[i + 1, j], H[i + 2, j]))
        H[i, j], H[i + 1, j], H[i + 2, j] = w[0], w[1], w[2]
