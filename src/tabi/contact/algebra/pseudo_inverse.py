"""The pseudo-inverse of a symmetric matrix that may be singular: its rank by a stated tolerance.

From Gaussian elimination with diagonal pivots that ends where these are below RANK of the largest,

    P W Pᵀ = L D Lᵀ,   L = [L₁; L₂],   L₁: ρ × ρ, unit lower,   K = L₂ L₁⁻¹                     (1)
    W⁺ = L G⁻¹ D⁻¹ G⁻¹ Lᵀ,   G = Lᵀ L                                                           (2)
    G⁻¹ Lᵀ y = L₁⁻¹ x,   L G⁻¹ a = [x; K x]  with  x = (1 + KᵀK)⁻¹ (y₁ + Kᵀ y₂),                (3)
in the second case of y₁ = L₁⁻ᵀ a, y₂ = 0. L G⁻¹ Lᵀ is the projection onto what W can do. With
many pivots of few that are missing S = 1 + KKᵀ is smaller than 1 + KᵀK, and

    x = y₁ + Kᵀ S⁻¹ (y₂ − K y₁)                                                                 (4)
so that a matrix of full rank takes plain substitutions. ``least_norm`` does the same for matrices
that are not symmetric.

References: Ben-Israel and Greville (2003), ch. 1, sec. 6; Golub and Van Loan (2013), sec. 4.2.8.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi.contact.algebra import linear
from tabi.jit import kernel
from tabi.spatial.vector import axpy6, load6, store6

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# pivots below this part of the largest are none
RANK = 1e-8
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class SymmetricFactors(NamedTuple):
    """L with D on its diagonal, K, Cholesky's factor of 1 + KᵀK or S, whichever is smaller, scales
    of the rows, and P as an order.
    """

    L: Floats
    K: Floats
    S: Floats
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
def complement(L, n, rank, K, S):
    """K of (1), and Cholesky's factor of S or of 1 + KᵀK."""
    missing = n - rank
    for i in range(missing):
        k = K[i]
        for j in range(rank):
            k[j] = L[rank + i, j]
        for j in range(rank - 1, 0, -1):
            x = k[j]
            for q in range(j):
                k[q] -= x * L[j, q]
    size = min(rank, missing)
    for i in range(size):
        for j in range(i):
            S[i, j] = 0.0
        S[i, i] = 1.0
    if rank <= missing:
        for r in range(missing):
            for i in range(rank):
                x = K[r, i]
                for j in range(i + 1):
                    S[i, j] += x * K[r, j]
    else:
        for i in range(missing):
            for j in range(i + 1):
                for q in range(rank):
                    S[i, j] += K[i, q] * K[j, q]
    linear.cholesky(S, size, 0.0)


@kernel
def _least(f, rank, n, a):
    """The first ρ of a = [y₁; y₂] become x of (3); the others are scratch."""
    if rank <= n - rank:
        _add_transposed(f, rank, n, a)
        linear.cholesky_solve(f.S, a, rank)
        return
    for i in range(n - rank):
        for j in range(rank):
            a[rank + i] -= f.K[i, j] * a[j]
    linear.cholesky_solve(f.S, a[rank:n], n - rank)
    _add_transposed(f, rank, n, a)


@kernel(inline=True)
def _add_transposed(f, rank, n, a):
    """a₁ += Kᵀ a₂."""
    for i in range(n - rank):
        x = a[rank + i]
        for j in range(rank):
            a[j] += f.K[i, j] * x


@kernel
def down(f, rank, n, y, a):
    """a = G⁻¹ Lᵀ y, by (3); a has room for n numbers."""
    for i in range(n):
        a[i] = y[f.order[i]]
    _least(f, rank, n, a)
    for j in range(rank):
        for i in range(j):
            a[j] -= f.L[j, i] * a[i]


@kernel
def down_rows(f, rank, n, B, m, A):
    """A = D^-½ G⁻¹ Lᵀ s B for m columns of B, a multiple of six, so that Aᵀ A = Bᵀ s (s W s)⁺ s B;
    A has room for n rows.
    """
    for c in range(0, m, 6):
        for i in range(n):
            b = load6(B[f.order[i], c : c + 6])
            store6(A[i, c : c + 6], axpy6(f.scale[f.order[i]], b, NOTHING))
        if rank > n - rank:
            for i in range(n - rank):
                _subtract_rows(A, rank + i, f.K[i], 0, rank, c, 1.0)
            _solve_rows(f.S, A, rank, n - rank, c)
        for i in range(n - rank):
            a = load6(A[rank + i, c : c + 6])
            for j in range(rank):
                store6(A[j, c : c + 6], axpy6(f.K[i, j], a, load6(A[j, c : c + 6])))
        if rank <= n - rank:
            _solve_rows(f.S, A, 0, rank, c)
        for j in range(rank):
            _subtract_rows(A, j, f.L[j], 0, j, c, 1.0)
        for j in range(rank):
            a = load6(A[j, c : c + 6])
            store6(A[j, c : c + 6], axpy6(1.0 / sqrt(f.L[j, j]), a, NOTHING))


@kernel(inline=True)
def _subtract_rows(A, i, x, first, count, c, factor):
    """Row i = factor (row i − Σ_j x_j row first + j), of six columns from c on."""
    a = load6(A[i, c : c + 6])
    for j in range(count):
        a = axpy6(-x[j], load6(A[first + j, c : c + 6]), a)
    store6(A[i, c : c + 6], axpy6(factor, a, NOTHING))


@kernel(inline=True)
def _solve_rows(S, A, first, n, c):
    """Rows ← (S Sᵀ)⁻¹ rows, n from the first one on, with Cholesky's factor S, which has its
    inverse pivots on the diagonal.
    """
    for i in range(n):
        _subtract_rows(A, first + i, S[i], first, i, c, S[i, i])
    for i in range(n - 1, -1, -1):
        # column by column, along rows of S
        a = axpy6(S[i, i], load6(A[first + i, c : c + 6]), NOTHING)
        store6(A[first + i, c : c + 6], a)
        for k in range(i):
            b = load6(A[first + k, c : c + 6])
            store6(A[first + k, c : c + 6], axpy6(-S[i, k], a, b))


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
    """z −= W⁺ y; a is scratch, with room for n numbers."""
    down(f, rank, n, y, a)
    for j in range(rank):
        a[j] /= f.L[j, j]
    # L₁⁻ᵀ a
    for j in range(rank - 1, 0, -1):
        x = a[j]
        for i in range(j):
            a[i] -= x * f.L[j, i]
    for i in range(rank, n):
        a[i] = 0.0
    _least(f, rank, n, a)
    for i in range(n - rank):
        total = 0.0
        for j in range(rank):
            total += f.K[i, j] * a[j]
        a[rank + i] = total
    for i in range(n):
        z[f.order[i]] -= a[i]
