"""Joint angles of a biped from feet, centre of mass and yaw; its zero moment point; efforts.

The trunk stays upright with yaw ψ. With the position p of the base and the offset o of the centre
of mass from it, in axes of yaw ψ,

    p = c − R_z(ψ) o(q),   q: ``leg.reach`` of both soles from p                                (1)
is iterated until o converges: legs are light, so each iteration leaves a tenth of the error. Then,
with velocities and accelerations by finite differences, inverse dynamics of the whole robot gives
the wrench (F, N) on the base, and the zero moment point at the height z of the ground,

    x = (z F_x − M_y)/F_z,   y = (z F_y + M_x)/F_z,   M = N + p × F                              (2)
The ground exerts that wrench on the feet: all of it on one foot in single support; on two feet, by
the position s of the zero moment point along the line between the points under them, each shifted
by its distance from that line. Its effect on the legs is subtracted from the joint efforts:

    τ_leg = τ − Jᵀ R_Bᵀ (F_foot, N_foot)                                                         (3)
"""

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import centroidal, kinematics, rnea
from tabi.dynamics.workspace import Workspace
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial import quaternion
from tabi.spatial.trigonometry import sincos
from tabi.spatial.vector import add, cross, load3, load9, matmul, mul, mul_t, scale, store3, sub
from tabi.walking.legs.leg import LEFT, RIGHT, Legs, reach, sole

# error of the centre of mass [m], and iterations of (1)
CENTRE_TOLERANCE, MAX_ITERATIONS = 1e-9, 12


class WholeBody(Structure):
    """Data and workspace of the kernels of a biped.

    Attributes:
        base_rotation: rotation of the base at yaw 0, row by row, shape (9,).
        base_at: index of the base in q and in v, shape (2,). v_at: of the commanded joints in v.
        angles: joint angles of a leg, scratch, shape (6,).
    """

    legs: Legs
    work: Workspace
    base_rotation: NDArray[np.float64]
    base_at: NDArray[np.int64]
    v_at: NDArray[np.int64]
    angles: NDArray[np.float64]


@kernel(inline=True)
def facing(yaw):
    """Return the rotation about the vertical, row by row."""
    s, c = sincos(yaw)
    return (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)


@kernel(apart="none")
def follow(m, b, centre, yaw, position, rotation, offset, q, left):
    """Solve equation (1) at every tick, each starting from the previous one.

    Args:
        centre, yaw: of mass [m], shape (n, 3), and of the trunk [rad], shape (n,).
        position, rotation: of the soles, shapes (n, 2, 3) and (n, 2, 9).
        offset: initial o, overwritten by the final one; shape (3,).
        q: configurations, shape (n, ·); the first row holds the start, all others are written.
        left: remaining pose error of each sole [m, rad], shape (n, 2).
    """
    o, at = load3(offset), b.base_at[0]
    for k in range(centre.shape[0]):
        row = q[k]
        if k > 0:
            for i in range(row.shape[0]):
                row[i] = q[k - 1, i]
        Z = facing(yaw[k])
        R = matmul(Z, load9(b.base_rotation))
        Q = quaternion.of_matrix(R)
        row[at + 3], row[at + 4], row[at + 5], row[at + 6] = Q
        for _ in range(MAX_ITERATIONS):
            p = sub(load3(centre[k]), mul(Z, o))
            store3(row[at:], p)
            for side in range(2):
                for i in range(b.legs.count[side]):
                    b.angles[i] = row[b.legs.q_at[side, i]]
                wanted = product_t(R, load9(rotation[k, side]))
                position_ = mul_t(R, sub(load3(position[k, side]), p))
                left[k, side] = reach(b.legs, side, b.angles, wanted, position_, 6)
                for i in range(b.legs.count[side]):
                    row[b.legs.q_at[side, i]] = b.angles[i]
            kinematics.positions(m, row, b.work)
            _, c, _, _ = centroidal.tree_momentum(m, b.work, 1)
            new = mul_t(Z, c)
            change = abs(new[0] - o[0]) + abs(new[1] - o[1]) + abs(new[2] - o[2])
            o = new
            if change < CENTRE_TOLERANCE:
                break
    store3(offset, o)


@kernel(inline=True)
def product_t(A, B):
    """Return Aᵀ B of rotations row by row."""
    a, b, c = (
        mul_t(A, (B[0], B[3], B[6])),
        mul_t(A, (B[1], B[4], B[7])),
        mul_t(A, (B[2], B[5], B[8])),
    )
    return (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])


@kernel(apart="none")
def inverse_dynamics(m, b, q, v, a, ground, tau, zmp):
    """Compute forces τ of inverse dynamics at every tick, and the zero moment point (2).

    Args:
        ground: height of the zero moment point [m], shape (n,).
        tau: shape (n, ·). zmp: [m], shape (n, 2).
    """
    at, first = b.base_at[0], b.base_at[1]
    for k in range(q.shape[0]):
        rnea.inverse_dynamics(m, q[k], v[k], a[k], b.work, tau[k])
        F, N = load3(tau[k, first:]), load3(tau[k, first + 3 :])
        M = add(N, cross(load3(q[k, at:]), F))
        zmp[k, 0] = (ground[k] * F[0] - M[1]) / F[2]
        zmp[k, 1] = (ground[k] * F[1] + M[0]) / F[2]


@kernel(apart="none")
def efforts(b, q, tau, zmp, under, position, support, share, effort):
    """Compute joint efforts by equation (3) at every tick.

    Args:
        zmp: (2), with its height [m], shape (n, 3). under: points under the soles, shape (n, 2, 3).
        support: as in ``Schedule``.
        share: share of the load on each foot, written, shape (n, 2).
        effort: of the commanded joints, written, shape (n, ·).
    """
    at, first = b.base_at[0], b.base_at[1]
    for k in range(q.shape[0]):
        for j in range(b.v_at.shape[0]):
            effort[k, j] = tau[k, b.v_at[j]]
        Q = q[k, at + 3 : at + 7]
        R, p = quaternion.matrix(Q[0], Q[1], Q[2], Q[3]), load3(q[k, at:])
        F, N, z = load3(tau[k, first:]), load3(tau[k, first + 3 :]), load3(zmp[k])
        # about the zero moment point the moment is vertical
        M = add(N, cross(sub(p, z), F))
        s = share_of_left(z, load3(under[k, LEFT]), load3(under[k, RIGHT]), support[k])
        share[k, LEFT], share[k, RIGHT] = s, 1.0 - s
        # both feet share the distance from the line between them
        mean = add(scale(s, load3(under[k, LEFT])), scale(1.0 - s, load3(under[k, RIGHT])))
        beside = sub(z, mean)
        for side in range(2):
            part = share[k, side]
            if part == 0.0:
                continue
            arm = sub(add(load3(under[k, side]), beside), load3(position[k, side]))
            f, n = scale(part, F), scale(part, add(M, cross(arm, F)))
            f, n = mul_t(R, f), mul_t(R, n)
            for i in range(b.legs.count[side]):
                b.angles[i] = q[k, b.legs.q_at[side, i]]
            sole(b.legs, side, b.angles)
            for i in range(b.legs.count[side]):
                J, column = b.legs.J, b.legs.columns[side, i]
                for c in range(3):
                    effort[k, column] -= J[c, i] * f[c] + J[3 + c, i] * n[c]


@kernel(inline=True)
def share_of_left(zmp, left, right, support):
    """Return the share of the load on the left foot."""
    if support != 0:
        return 1.0 if support == 1 else 0.0
    x, y = left[0] - right[0], left[1] - right[1]
    s = ((zmp[0] - right[0]) * x + (zmp[1] - right[1]) * y) / (x * x + y * y)
    return min(max(s, 0.0), 1.0)
