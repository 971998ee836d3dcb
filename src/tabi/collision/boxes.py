"""Two boxes: fifteen directions, one of which separates them if any does.

    σ(l) = |d·l| − Σ h_i |A_i·l| − Σ k_j |B_j·l|,   l ∈ {A_i, B_j, A_i × B_j / ‖·‖}          (1)
d: from the centre of b to that of a; A, h and B, k: axes and half edges. The largest σ is the depth
of an overlap, and a bound of the distance of boxes apart, reached where the faces or edges of that
direction lie over each other.
Reference: Gottschalk, Lin, Manocha, OBBTree, SIGGRAPH (1996).
"""

import math

from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, scale, sub

# part of the boxes' size by which two edges must beat the faces,
# for they do so by rounding when parallel
EDGES_LATE = 1e-7


@kernel
def closest_boxes(s, x, t, y, limit):
    """(found, n from t to s, gap, nearest point of s, of t, sure) as ``convex.closest`` says;
    sure where the points of two edges are.
    """
    R, Q = x.rotation, y.rotation
    A = ((R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8]))
    B = ((Q[0], Q[3], Q[6]), (Q[1], Q[4], Q[7]), (Q[2], Q[5], Q[8]))
    h, k, p, q = load3(s.half), load3(t.half), load3(x.position), load3(y.position)
    d, size = sub(p, q), s.reach + t.reach
    C = (
        (dot(A[0], B[0]), dot(A[0], B[1]), dot(A[0], B[2])),
        (dot(A[1], B[0]), dot(A[1], B[1]), dot(A[1], B[2])),
        (dot(A[2], B[0]), dot(A[2], B[1]), dot(A[2], B[2])),
    )
    a, b = (dot(d, A[0]), dot(d, A[1]), dot(d, A[2])), (dot(d, B[0]), dot(d, B[1]), dot(d, B[2]))
    best, n, middle = -math.inf, (0.0, 0.0, 1.0), scale(0.5, add(p, q))
    for j in range(3):
        gap = abs(b[j]) - k[j] - h[0] * abs(C[0][j]) - h[1] * abs(C[1][j]) - h[2] * abs(C[2][j])
        if gap > best + 1e-9 * size:
            best, n = gap, B[j] if b[j] >= 0.0 else scale(-1.0, B[j])
    for i in range(3):
        gap = abs(a[i]) - h[i] - k[0] * abs(C[i][0]) - k[1] * abs(C[i][1]) - k[2] * abs(C[i][2])
        if gap > best + 1e-9 * size:
            best, n = gap, A[i] if a[i] >= 0.0 else scale(-1.0, A[i])
    if best >= limit:
        return False, n, best, middle, middle, False
    edge, e, f = best + EDGES_LATE * size, -1, -1
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            square = 1.0 - C[i][j] * C[i][j]
            if square < 1e-9:
                continue
            gap = (
                abs(a[i2] * C[i1][j] - a[i1] * C[i2][j])
                - h[i1] * abs(C[i2][j])
                - h[i2] * abs(C[i1][j])
            )
            gap -= k[j1] * abs(C[i][j2]) + k[j2] * abs(C[i][j1])
            # the root only where the direction can win: gaps and bounds may both be negative
            if gap > 0.0 or edge < 0.0:
                gap /= math.sqrt(square)
                if gap > edge:
                    edge, e, f = gap, i, j
    if e < 0:
        return True, n, best, middle, middle, False
    if edge >= limit:
        return False, n, edge, middle, middle, False
    n = cross(A[e], B[f])
    n = scale((1.0 if dot(n, d) >= 0.0 else -1.0) / math.sqrt(dot(n, n)), n)
    u, v, inside = _edge_points(A, h, p, B, k, q, n, e, f)
    return True, n, edge, u, v, inside


@kernel
def _edge_points(A, h, p, B, k, q, n, e, f):
    """Nearest points of edge e of a and edge f of b that meet across n,
    and whether both lie within their edges.
    """
    u, v = p, q
    for i in range(3):
        if i != e:
            u = add(u, scale(-h[i] if dot(A[i], n) > 0.0 else h[i], A[i]))
        if i != f:
            v = add(v, scale(k[i] if dot(B[i], n) > 0.0 else -k[i], B[i]))
    w, c = sub(v, u), dot(A[e], B[f])
    wa, wb = dot(w, A[e]), dot(w, B[f])
    alpha, beta = (wa - c * wb) / (1.0 - c * c), (c * wa - wb) / (1.0 - c * c)
    inside = abs(alpha) <= h[e] * (1.0 + 1e-9) and abs(beta) <= k[f] * (1.0 + 1e-9)
    return add(u, scale(alpha, A[e])), add(v, scale(beta, B[f])), inside
