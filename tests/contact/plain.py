"""W = J Ω Jᵀ of a problem of bodies, by plain matrices."""

import numpy as np

from tabi.spatial.transform import cross_matrix


def matrices(p):
    """J and Ω as dense matrices."""
    count = len(p.start) - 1
    omega, J = np.zeros((6 * count, 6 * count)), np.zeros((len(p.q), 6 * count))
    for i in range(count):
        for e in range(p.start[i], p.start[i + 1]):
            j = p.column[e]
            omega[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = p.omega[e]
    for k in range(len(p.mu)):
        E, rows = p.contact["frame"][k].reshape(3, 3), slice(3 * k, 3 * k + 3)
        J[rows, 6 * p.contact["a"][k] : 6 * p.contact["a"][k] + 6] += E @ np.hstack(
            [-cross_matrix(p.contact["arm_a"][k]), np.eye(3)]
        )
        if p.contact["b"][k] >= 0:
            J[rows, 6 * p.contact["b"][k] : 6 * p.contact["b"][k] + 6] -= E @ np.hstack(
                [-cross_matrix(p.contact["arm_b"][k]), np.eye(3)]
            )
    return J, omega


def dense(p):
    """W."""
    J, omega = matrices(p)
    return J @ omega @ J.T
