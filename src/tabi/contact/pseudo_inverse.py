"""The pseudo-inverse of a symmetric matrix that may be singular: its rank by a stated tolerance.

From Gaussian elimination with diagonal pivots that ends where these are below RANK of the largest,

    P W Pᵀ = L D Lᵀ,   L: n × ρ, unit lower;   W⁺ = L G⁻¹ D⁻¹ G⁻¹ Lᵀ,   G = Lᵀ L               (1)
L G⁻¹ Lᵀ is the projection onto what W can do. No entry of L is above 1, so that G is far from
singular; ``least_norm`` does the same for matrices that are not symmetric.

References: Ben-Israel and Greville (2003), ch. 1, sec. 6; Golub and Van Loan (2013), sec. 4.2.8.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._jit import kernel
from tabi.contact import linear

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# pivots below this part of the largest are none
RANK = 1e-8


class SymmetricFactors(NamedTuple):
    """L with D on its diagonal, Cholesky's factor of G, scales of the rows, and P as an order."""

    L: Floats
    G: Floats
    scale: Floats
    order: Integers


@kernel(vectors=True)
def factor(W, n, L, order):
    """L and D of (1), D on the diagonal; returns the rank. Above the diagonal is scratch."""
    for i in range(n):
        order[i] = i
        for j in range(n):
            L[i, j] = W[i, j]
    least = 0.0
    for k in range(n):
        at = k
        for i in range(k + 1, n):
            if L[i, i] > L[at, at]:
                at = i
        least = max(least, RANK * L[at, at]) if k == 0 else least
        if not L[at, at] > least:
            return k
        if at != k:
            order[k], order[at] = order[at], order[k]
            for j in range(n):
                L[k, j], L[at, j] = L[at, j], L[k, j]
            for i in range(n):
                L[i, k], L[i, at] = L[i, at], L[i, k]
        inverse = 1.0 / L[k, k]
        for i in range(k + 1, n):
            f = L[i, k] * inverse
            L[i, k] = f
            # what is left stays symmetric: row k is its column
            for j in range(k + 1, n):
                L[i, j] -= f * L[k, j]
    return n


@kernel(vectors=True)
def gram(L, n, rank, G):
    """Cholesky's factor of G of (1)."""
    for i in range(rank):
        for j in range(i):
            G[i, j] = L[i, j]
        G[i, i] = 1.0
    for r in range(n):
        for i in range(min(r, rank)):
            f = L[r, i]
            for j in range(i + 1):
                G[i, j] += f * L[r, j]
    linear.cholesky(G, rank, 0.0)


@kernel
def down(f, rank, n, y, a):
    """a = G⁻¹ Lᵀ y."""
    for j in range(rank):
        total = y[f.order[j]]
        for i in range(j + 1, n):
            total += f.L[i, j] * y[f.order[i]]
        a[j] = total
    linear.cholesky_solve(f.G, a, rank)


@kernel(vectors=True)
def down_rows(f, rank, n, B, m, A):
    """A = D^-½ G⁻¹ Lᵀ s B for m columns of B, so that Aᵀ A = Bᵀ s (s W s)⁺ s B."""
    for j in range(rank):
        for c in range(m):
            A[j, c] = f.scale[f.order[j]] * B[f.order[j], c]
        for i in range(j + 1, n):
            x, b = f.L[i, j] * f.scale[f.order[i]], B[f.order[i]]
            for c in range(m):
                A[j, c] += x * b[c]
    # by Cholesky's factor of G, which has its inverse pivots on the diagonal
    for j in range(rank):
        for i in range(j):
            x = f.G[j, i]
            for c in range(m):
                A[j, c] -= x * A[i, c]
        x = f.G[j, j]
        for c in range(m):
            A[j, c] *= x
    for j in range(rank - 1, -1, -1):
        for i in range(j + 1, rank):
            x = f.G[i, j]
            for c in range(m):
                A[j, c] -= x * A[i, c]
        x = f.G[j, j]
        for c in range(m):
            A[j, c] *= x
    for j in range(rank):
        x = 1.0 / sqrt(f.L[j, j])
        for c in range(m):
            A[j, c] *= x


@kernel
def up(f, rank, n, a, z, sign):
    """z += ± L a."""
    for i in range(n):
        total = a[i] if i < rank else 0.0
        for j in range(min(i, rank)):
            total += f.L[i, j] * a[j]
        z[f.order[i]] += sign * total


@kernel
def subtract_pseudo_inverse(f, rank, n, y, a, z):
    """z −= W⁺ y; a is scratch."""
    down(f, rank, n, y, a)
    for j in range(rank):
        a[j] /= f.L[j, j]
    linear.cholesky_solve(f.G, a, rank)
    up(f, rank, n, a, z, -1.0)
