"""Ω of a group whose trees touch with many links, by the factors of their joints: a velocity costs
the links, not their square.

Every body i of the group, parents before children, has P_i, N_i and Ω_ii (``tree_inertia``):

    Z_i = F_i + Σ_children P_cᵀ Z_c  from the leaves,   V_i = P_i V_a + N_i Z_i  to them       (1)
a: its parent. Two bodies of one tree know each other through the last body c that carries both:

    F_iᵀ Ω_ij F_j = Z_iᵀ Ω_cc Z_j,   Z_i = … P_iᵀ F_i  up to c                                 (2)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics.inverse_inertia.tree_inertia import (
    BLOCKS,
    EACH,
    FOLLOWS,
    ROOT,
    SELF,
    YIELDS,
    times,
)
from tabi.jit import kernel
from tabi.spatial.vector import add6, load6, store6

__all__ = ["BLOCKS", "EACH", "FOLLOWS", "ROOT", "SELF", "YIELDS", "apply", "kick", "linked"]


@kernel(inline=True)
def linked(p):
    """Whether Ω of a group is by factors."""
    return p.parent.shape[0] > 0 and p.parent[0] != BLOCKS


@kernel(apart="none", rare=True)
def apply(p, F, V):
    """Equation (1): V = Ω F; F ends as Z."""
    count = p.start.shape[0] - 1
    for i in range(count - 1, -1, -1):
        a = p.parent[i]
        if a >= 0:
            z = lifted(p, i, load6(F[6 * i : 6 * i + 6]))
            store6(F[6 * a : 6 * a + 6], add6(load6(F[6 * a : 6 * a + 6]), z))
    descend(p, F, V)


@kernel(inline=True)
def descend(p, Z, V):
    """The second half of (1); V may be Z itself."""
    for i in range(p.start.shape[0] - 1):
        e, a = p.start[i], p.parent[i]
        v = times(p.omega[e + YIELDS], load6(Z[6 * i : 6 * i + 6]))
        if a >= 0:
            v = add6(v, times(p.omega[e + FOLLOWS], load6(V[6 * a : 6 * a + 6])))
        store6(V[6 * i : 6 * i + 6], v)


@kernel
def kick(p, Z, V, i, f):
    """Add to the twists V what the wrench f on body i does to its tree; Z is memory."""
    count = p.start.shape[0] - 1
    for k in range(6 * count):
        Z[k] = 0.0
    while i >= 0:
        store6(Z[6 * i : 6 * i + 6], f)
        f = lifted(p, i, f)
        i = p.parent[i]
    descend(p, Z, Z)
    for k in range(6 * count):
        V[k] += Z[k]


@kernel
def lifted(p, i, f):
    """P_iᵀ f: what a wrench on body i is for its parent."""
    P = p.omega[p.start[i] + FOLLOWS]
    x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for c in range(6):
        x = (
            x[0] + P[c, 0] * f[c],
            x[1] + P[c, 1] * f[c],
            x[2] + P[c, 2] * f[c],
            x[3] + P[c, 3] * f[c],
            x[4] + P[c, 4] * f[c],
            x[5] + P[c, 5] * f[c],
        )
    return x


@kernel
def meet(p, i, j):
    """The last body that carries both, −1 where they are of different trees."""
    while i != j and i >= 0 and j >= 0:
        if i > j:
            i = p.parent[i]
        else:
            j = p.parent[j]
    return i if i == j else -1


@kernel
def carried(p, i, c, f):
    """Z of (2) for a wrench f on body i, at the body c that carries it."""
    while i != c:
        f = lifted(p, i, f)
        i = p.parent[i]
    return f


def with_blocks(
    parent: NDArray[np.int64],
    start: NDArray[np.int64],
    column: NDArray[np.int64],
    omega: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """start, column and blocks Ω_ij of bodies, of which some have factors instead;
    all count from the first of all groups.
    """
    count, tree, O = len(parent), np.arange(len(parent)), {}
    rows: list[NDArray[np.int64]] = []
    for i in np.flatnonzero(parent >= 0):
        tree[i] = tree[parent[i]]
    for t in np.unique(tree[parent != BLOCKS]):
        member = np.flatnonzero(tree == t)
        place, full = {b: k for k, b in enumerate(member)}, np.zeros((len(member),) * 2 + (6, 6))
        for k, i in enumerate(member):
            e = start[i]
            if parent[i] >= 0:
                full[k, :k] = omega[e + FOLLOWS] @ full[place[parent[i]], :k]
                full[:k, k] = full[k, :k].transpose(0, 2, 1)
            full[k, k] = omega[e + SELF]
            O[i] = (member, full[k])
    for i in range(count):
        if parent[i] == BLOCKS:
            there = slice(start[i], start[i + 1])
            O[i] = (column[there], omega[there])
        rows.append(O[i][0])
    sizes = np.array([len(row) for row in rows], np.int64)
    blocks = np.concatenate([O[i][1] for i in range(count)])
    return np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(rows), blocks
