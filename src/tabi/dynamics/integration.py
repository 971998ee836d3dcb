"""Configurations move along velocities: q ⊕ v, on vectors and on unit quaternions.

Of angles and distances, and of quaternions with v in the joint frame's axes,

    q ⊕ v = q + v,   q ⊕ v = exp(v/2) ⊗ q                                                      (1)
"""

from tabi.jit import kernel
from tabi.model.arrays import FLOATING, SPHERICAL
from tabi.spatial import quaternion


@kernel
def advance(m, q, v, h):
    """q ← q ⊕ h v; followers stand exactly where their leaders put them."""
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        iq, k = body.q_start, body.v_start
        if body.kind == SPHERICAL or body.kind == FLOATING:
            if body.kind == FLOATING:
                q[iq] += h * v[k]
                q[iq + 1] += h * v[k + 1]
                q[iq + 2] += h * v[k + 2]
                iq, k = iq + 3, k + 3
            Q = quaternion.rotated(
                (q[iq], q[iq + 1], q[iq + 2], q[iq + 3]), (h * v[k], h * v[k + 1], h * v[k + 2])
            )
            q[iq], q[iq + 1], q[iq + 2], q[iq + 3] = Q[0], Q[1], Q[2], Q[3]
        else:
            for j in range(body.v_end - k):
                q[iq + j] += h * v[k + j]
    for c in range(m.mimic.shape[0]):
        row = m.mimic[c]
        if m.dof[row.follower].prescribed == 0:
            q[m.dof[row.follower].q] = row.ratio * q[m.dof[row.leader].q] + row.offset
