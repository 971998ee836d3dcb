"""Rows on soft pads as seen in the frame of their pad."""

from tabi.jit import kernel
from tabi.spatial.vector import cross, load9, matmul, mul_t


@kernel(inline=True)
def pad_turn(work, k):
    """R of the pad whose frame a row is seen in: that of its body a, or of b."""
    i = work.row[k].pad_a if work.row[k].pad_a >= 0 else work.row[k].pad_b
    return load9(work.turn[i])


@kernel(inline=True)
def frame(p, k, work):
    """Q = E R: from the frame of a row's pad to its own."""
    return matmul(load9(p.contact[k].frame), pad_turn(work, k))


@kernel(inline=True)
def rotated(Q, M):
    """Qᵀ M Q."""
    transposed = (Q[0], Q[3], Q[6], Q[1], Q[4], Q[7], Q[2], Q[5], Q[8])
    return matmul(matmul(transposed, M), Q)


@kernel(inline=True)
def lever(R, r, out, i, sign):
    """Six columns of ± Rᵀ [−r̂ 1] into rows of ``out``, three numbers each from i on."""
    for q in range(3):
        axis = (R[3 * q], R[3 * q + 1], R[3 * q + 2])
        # rows of R are columns of Rᵀ: e_q in the pad's frame
        out[3 + q, i] = sign * axis[0]
        out[3 + q, i + 1] = sign * axis[1]
        out[3 + q, i + 2] = sign * axis[2]
        e = (1.0 if q == 0 else 0.0, 1.0 if q == 1 else 0.0, 1.0 if q == 2 else 0.0)
        v = mul_t(R, cross(e, r))
        out[q, i] = sign * v[0]
        out[q, i + 1] = sign * v[1]
        out[q, i + 2] = sign * v[2]
