"""Kinematics of a leg of six joints, or five: pose of its sole, and joint angles for a desired
pose.

In the base frame B, with fixed placements X_i between the joints and axes a_i,

    X_BS = X_1 Rot(a_1, q_1) ⋯ X_n Rot(a_n, q_n) X_0                                            (1)
    J_i = (a_i × (p_S − o_i), a_i)                                                              (2)
o_i: position of joint i. Angles for a desired sole by damped Newton steps,

    q ← q + (JᵀJ + (λ + e²) 1)⁻¹ Jᵀ e,   e = (p* − p, ½ Σ_k r_k × r*_k)                         (3)
r_k: columns of the rotation; the second half of e is the axis times the sine of the remaining
angle. Five joints position a sole and leave one rotation free, about an axis f that is fixed in the
sole: the components of e and J along it are left out. A stretched knee makes J singular: e², which
vanishes with the error, keeps the steps towards a sole that is out of reach short, and e remains.
Beyond it lie the angles of a knee that bends the other way: a step that would stretch it fully is
made without the knee.

Reference: Sugihara (2011), Solvability-unconcerned inverse kinematics by the Levenberg–Marquardt
method.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial import cholesky
from tabi.spatial.trigonometry import sincos
from tabi.spatial.vector import add, cross, dot, load3, load9, matmul, mul, scale, sub

JOINTS = 6
LEFT, RIGHT = 0, 1
# λ of (3), small against squares of lever arms, about 0.1 m²
DAMPING = 1e-9
# minimum bend of a knee [rad]: shortens a leg by one part in 10,000
MIN_KNEE_BEND = 0.03
# error of a sole's pose [m, rad]
POSE_TOLERANCE = 1e-9


class Legs(Structure):
    """Both legs of a biped, the left one first.

    Attributes:
        placement: X of (1), rotation row by row, then position [m], shape (2, 7, 12); X_0 last.
        axis: a of (1), shape (2, 6, 3). q_at: index of the joints in q, −1 beyond them, shape (2,
            6).
        v_at, columns: index in v and in a command.
        count: of joints, shape (2,). free: f in the sole's axes, 0 for six joints, shape (2, 3).
        knee: its index among the joints, shape (2,). stretched: knee angle of a straight leg [rad],
            and sign of the angle that bends it, shape (2, 2).
        J: (2), linear rows first, shape (6, 6). system: scratch, shape (6, 7).
    """

    placement: NDArray[np.float64]
    axis: NDArray[np.float64]
    q_at: NDArray[np.int64]
    v_at: NDArray[np.int64]
    columns: NDArray[np.int64]
    count: NDArray[np.int64]
    free: NDArray[np.float64]
    knee: NDArray[np.int64]
    stretched: NDArray[np.float64]
    J: NDArray[np.float64]
    system: NDArray[np.float64]


@kernel(inline=True)
def rotation_about(axis, angle):
    """Return the rotation matrix about a unit vector, nine numbers row by row (Rodrigues)."""
    (s, c), (x, y, z) = sincos(angle), axis
    d = 1.0 - c
    return (
        c + x * x * d, x * y * d - z * s, x * z * d + y * s,
        y * x * d + z * s, c + y * y * d, y * z * d - x * s,
        z * x * d - y * s, z * y * d + x * s, c + z * z * d,
    )  # fmt: skip


@kernel
def sole(legs, side, angles):
    """Return rotation and position of a sole in the base frame, equation (1); writes (2) to
    ``legs.J``.
    """
    R, p, J = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0), legs.J
    for i in range(legs.count[side]):
        X = legs.placement[side, i]
        p, R = add(p, mul(R, load3(X[9:]))), matmul(R, load9(X))
        a = mul(R, load3(legs.axis[side, i]))
        # position of the joint for now
        J[0, i], J[1, i], J[2, i] = p
        J[3, i], J[4, i], J[5, i] = a
        R = matmul(R, rotation_about(load3(legs.axis[side, i]), angles[i]))
    X = legs.placement[side, JOINTS]
    p, R = add(p, mul(R, load3(X[9:]))), matmul(R, load9(X))
    for i in range(legs.count[side]):
        arm = sub(p, (J[0, i], J[1, i], J[2, i]))
        J[0, i], J[1, i], J[2, i] = cross((J[3, i], J[4, i], J[5, i]), arm)
    return R, p


@kernel(inline=True)
def rotation_between(R, wanted):
    """Return ½ Σ r_k × r*_k: axis times the sine of the angle from R to the desired rotation."""
    e = (0.0, 0.0, 0.0)
    for k in range(3):
        e = add(e, cross((R[k], R[3 + k], R[6 + k]), (wanted[k], wanted[3 + k], wanted[6 + k])))
    return (0.5 * e[0], 0.5 * e[1], 0.5 * e[2])


@kernel
def _solve_step(legs, n, f, e_p, e_R, error, locked):
    """Solve the step of (3) for n joints into column n of ``legs.system``, with one joint locked
    (or n).

    Args:
        f: axis about which the sole is free, in the base frame; 0 without one.
    """
    K, J = legs.system, legs.J
    for i in range(n):
        free_rate = f[0] * J[3, i] + f[1] * J[4, i] + f[2] * J[5, i]
        for j in range(i + 1):
            K[i, j] = DAMPING + error * error if i == j else 0.0
            if i != locked and j != locked:
                for k in range(6):
                    K[i, j] += J[k, i] * J[k, j]
                K[i, j] -= free_rate * (f[0] * J[3, j] + f[1] * J[4, j] + f[2] * J[5, j])
        K[i, n] = 0.0
        if i != locked:
            for k in range(3):
                K[i, n] += J[k, i] * e_p[k] + J[3 + k, i] * e_R[k]
    cholesky.solve(K, n)


@kernel
def reach(legs, side, angles, R_wanted, p_wanted, max_iterations):
    """Iterate equation (3), at most ``max_iterations`` times, from the given angles.

    Returns:
        norm of e before the last step [m, rad].
    """
    K, n, error = legs.system, legs.count[side], 0.0
    for _ in range(max_iterations):
        R, p = sole(legs, side, angles)
        e_p, e_R = sub(p_wanted, p), rotation_between(R, R_wanted)
        f = mul(R, load3(legs.free[side]))
        e_R = sub(e_R, scale(dot(f, e_R), f))
        error = sqrt(
            e_p[0] ** 2 + e_p[1] ** 2 + e_p[2] ** 2 + e_R[0] ** 2 + e_R[1] ** 2 + e_R[2] ** 2
        )
        if not error > POSE_TOLERANCE:
            break
        _solve_step(legs, n, f, e_p, e_R, error, n)
        knee, sign = legs.knee[side], legs.stretched[side, 1]
        bent = sign * (angles[knee] + K[knee, n] - legs.stretched[side, 0])
        if bent < MIN_KNEE_BEND:
            _solve_step(legs, n, f, e_p, e_R, error, knee)
            angles[knee] = legs.stretched[side, 0] + sign * MIN_KNEE_BEND
        for i in range(n):
            angles[i] += K[i, n]
    return error
