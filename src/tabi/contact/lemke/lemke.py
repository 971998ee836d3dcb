"""Lemke's complementary pivoting for the linear complementarity problem

    w = M z + q,   0 ≤ z ⊥ w ≥ 0                                                               (1)
An artificial z₀ makes every q feasible: w = M z + q + d z₀, d > 0. One variable enters the basis at
a time, always the partner of the one that has left, until z₀ leaves (a solution) or nothing stops
the variable that enters (a ray). A ray of a copositive M shows a z ≥ 0 with 0 ≤ M z ⊥ z and
qᵀz < 0; where M is positive semidefinite, (1) then has no solution. The tableau holds the n + 1
columns outside the basis, each contiguous, and the right-hand side b:

    x_B + T x_N = b;   T_c ← T_c − (T_rc/T_re) T_e for every column c ≠ e                      (2)
where column e enters and row r leaves, so a pivot costs n². Feet on four corners make ties, and
with them cycles: of the rows that stop x_e first, the one leaves whose (b, B⁻¹)/T_e comes first in
the order of words in a dictionary. B⁻¹ needs no memory of its own: its columns are those of w in
the tableau, or unit vectors.

Rounding makes ties uncertain and zeros small numbers. Rows and columns are scaled alike, to 1 on
the diagonal, and q by its largest entry; b counts as zero below TIE, an entry of T_e below SMALL of
the largest. In the end z is corrected once with the rows and columns of M that take part, and
looked at: where it misses (1), or where a ray may be one of rounding only, pivoting starts again
with other bounds and another d.

References: Lemke (1965); Cottle, Pang and Stone (1992), secs. 4.4 and 4.9; for the bounds,
Harris (1973).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.contact.algebra.linear import solve as solve_linear
from tabi.jit import kernel
from tabi.jit.structure import Structure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# how pivoting may end; INEXACT: z₀ has left, but rounding has spoilt what is found
SOLVED, RAY, LIMIT, INEXACT = 0, 1, 2, 3
ENDS = ("solved", "ray", "pivot limit", "inexact")
# of each attempt: SMALL, TIE, and by how much the entries of d differ from each other
ATTEMPTS = np.array(
    [
        (1e-8, 1e-10, 0.0),
        (1e-8, 1e-9, 1.0),
        (1e-9, 1e-11, 1.0),
        (1e-7, 1e-10, 3.0),
        (1e-11, 1e-12, 0.0),
    ]
)
GOLDEN_RATIO = 0.6180339887498949
# largest violation of (1), scaled, that still counts as solved
EXACT = 1e-9


class LemkeWork(Structure):
    """Arrays the kernel writes, for n rows.

    Attributes:
        tableau: T of (2) column by column, then b, shape (n + 2, n).
        basic, outside: variable of each row and of each column;
            w is 0 … n − 1, z is n … 2n − 1, z₀ is 2n.
        place: of each variable: its column, or −1 − its row.
        tied: rows. scale: of rows and columns. step: memory. best: z of the best attempt.
    """

    tableau: Floats
    basic: Integers
    outside: Integers
    place: Integers
    tied: Integers
    scale: Floats
    step: Floats
    best: Floats


def allocate(rows: int) -> LemkeWork:
    """Memory for problems of up to so many rows."""
    return LemkeWork(
        tableau=np.zeros((rows + 2, rows)),
        basic=np.zeros(rows, np.int64),
        outside=np.zeros(rows + 1, np.int64),
        place=np.zeros(2 * rows + 1, np.int64),
        tied=np.zeros(rows, np.int64),
        scale=np.zeros(rows),
        step=np.zeros(rows),
        best=np.zeros(rows),
    )


@kernel
def solve(M, q, z, pivots, w):
    """Solve the complementarity problem (1).

    Args:
        M, q: left as they are. z: what is found, whether or not it is a solution.
        pivots: how many at most, in each attempt.
        w: memory for at least as many rows.

    Returns:
        SOLVED, or RAY, LIMIT or INEXACT as the attempt ended that came nearest; pivots of
        all attempts.
    """
    n, total, status, least = q.shape[0], 0, INEXACT, 1e300
    size = _scale(M, q, w.scale)
    for i in range(n):
        w.best[i] = 0.0
    for k in range(ATTEMPTS.shape[0]):
        if not size < 1e300:
            break
        _begin(M, q, size, ATTEMPTS[k, 2], w)
        end, done = _march(n, pivots, ATTEMPTS[k, 0], ATTEMPTS[k, 1], w)
        total += done
        _read(size, w, z)
        error = _correct(M, q, z, w) if end == SOLVED else violation(M, q, z, w.scale)
        if end == SOLVED and not error <= EXACT * size:
            end = INEXACT
        if error < least or end == SOLVED:
            least, status = error, end
            for i in range(n):
                w.best[i] = z[i]
        if end == SOLVED:
            break
    for i in range(n):
        z[i] = w.best[i]
    return status, total


@kernel
def _scale(M, q, scale):
    """The scales; returns the size of q, infinite where it has an entry that is not finite."""
    n, size = q.shape[0], 0.0
    for i in range(n):
        scale[i] = 1.0 / sqrt(abs(M[i, i])) if M[i, i] != 0.0 else 0.0
    for i in range(n):
        if M[i, i] == 0.0:
            # a row that only limits others: its entries become as large as theirs
            largest = 0.0
            for j in range(n):
                if M[j, j] != 0.0:
                    largest = max(largest, abs(M[i, j]) * scale[j])
            scale[i] = 1.0 / largest if largest > 0.0 else 1.0
    for i in range(n):
        if not abs(q[i] * scale[i]) <= size:
            size = abs(q[i] * scale[i])
            if not size < 1e300:
                return 1e300
    return size


@kernel
def _begin(M, q, size, spread, w):
    """The tableau of the basis w."""
    n, T, scale = q.shape[0], w.tableau, w.scale
    inverse, part = 1.0 / size if size > 0.0 else 1.0, 0.0
    for c in range(n):
        for i in range(n):
            T[c, i] = -M[i, c] * scale[i] * scale[c]
        part += GOLDEN_RATIO
        part -= int(part)
        T[n, c] = -1.0 - spread * part
        T[n + 1, c] = q[c] * scale[c] * inverse
        w.basic[c], w.outside[c], w.place[c], w.place[n + c] = c, n + c, -1 - c, c
    w.outside[n], w.place[2 * n] = 2 * n, n


@kernel
def _march(n, pivots, small, tie, w):
    """Pivot until z₀ is zero; returns how it ended, and the pivots done."""
    T, row, lowest = w.tableau, -1, 0.0
    for i in range(n):
        # of ties the last: it comes first in the order of words
        if T[n + 1, i] < 0.0 and T[n + 1, i] / -T[n, i] <= lowest:
            row, lowest = i, T[n + 1, i] / -T[n, i]
    if row < 0:
        return SOLVED, 0
    entering, done = n, 0
    while done < pivots:
        left = _pivot(n, row, entering, w)
        done += 1
        if left == 2 * n or T[n + 1, -1 - w.place[2 * n]] <= tie:
            return SOLVED, done
        entering = w.place[left + n if left < n else left - n]
        row = _leaving(n, entering, small, tie, w)
        if row < 0:
            return RAY, done
    return LIMIT, done


@kernel
def _pivot(n, r, e, w):
    """Equation (2); returns the variable that leaves."""
    T = w.tableau
    column = T[e]
    inverse = 1.0 / column[r]
    for c in range(n + 2):
        if c != e:
            other = T[c]
            f = other[r] * inverse
            if f != 0.0:
                for i in range(n):
                    other[i] -= f * column[i]
                other[r] = f
    for i in range(n):
        column[i] *= -inverse
    column[r] = inverse
    enters, leaves = w.outside[e], w.basic[r]
    w.basic[r], w.outside[e] = enters, leaves
    w.place[enters], w.place[leaves] = -1 - r, e
    return leaves


@kernel
def _leaving(n, e, small, tie, w):
    """The row that stops the variable of column e; −1 where none does."""
    T, tied = w.tableau, w.tied
    column, b, largest, bound, count = T[e], T[n + 1], 0.0, 1e300, 0
    for i in range(n):
        largest = max(largest, abs(column[i]))
    least = small * largest
    for i in range(n):
        if column[i] > least:
            bound = min(bound, (max(0.0, b[i]) + tie) / column[i])
    for i in range(n):
        if column[i] > least and b[i] <= bound * column[i]:
            # z₀ goes as soon as it may
            if w.basic[i] == 2 * n:
                return i
            tied[count] = i
            count += 1
    if count == 0:
        return -1
    j = 0
    while count > 1 and j < n:
        count = _first(j, column, count, tie, w)
        j += 1
    return tied[0]


@kernel
def _first(j, column, count, tie, w):
    """Keep those of the tied rows that have the smallest entry in column j of B⁻¹; return how many
    they are.
    """
    T, tied, place = w.tableau, w.tied, w.place[j]
    least, tied_count = 1e300, 0
    for k in range(count):
        i = tied[k]
        x = T[place, i] if place >= 0 else 1.0 if -1 - place == i else 0.0
        least = min(least, x / column[i])
    for k in range(count):
        i = tied[k]
        x = T[place, i] if place >= 0 else 1.0 if -1 - place == i else 0.0
        if x / column[i] <= least + tie * (1.0 + abs(least)):
            tied[tied_count] = i
            tied_count += 1
    return tied_count


@kernel
def _read(size, w, z):
    """z of the basis, in its own units."""
    n = z.shape[0]
    for i in range(n):
        z[i] = 0.0
    for i in range(n):
        if n <= w.basic[i] < 2 * n:
            k = w.basic[i] - n
            z[k] = max(0.0, w.tableau[n + 1, i]) * size * w.scale[k]


@kernel
def _correct(M, q, z, w):
    """z ← z − M_aa⁻¹ w_a over the rows a that z takes part in, where that brings it nearer to (1);
    returns the violation.
    """
    n, T, step, index, count = q.shape[0], w.tableau, w.step, w.tied, 0
    before = violation(M, q, z, w.scale)
    for i in range(n):
        if w.place[n + i] < 0:
            index[count] = i
            count += 1
    for a in range(count):
        i = index[a]
        step[a] = q[i]
        for j in range(n):
            step[a] += M[i, j] * z[j]
        step[a] *= w.scale[i]
        for c in range(count):
            T[a, c] = M[i, index[c]] * w.scale[i] * w.scale[index[c]]
    if not solve_linear(T, step, count):
        return before
    for a in range(count):
        i = index[a]
        # what z was is kept, in a column that is free by now
        T[count, a] = z[i]
        z[i] = max(0.0, z[i] - step[a] * w.scale[i])
    after = violation(M, q, z, w.scale)
    if after <= before:
        return after
    for a in range(count):
        z[index[a]] = T[count, a]
    return before


@kernel
def violation(M, q, z, scale):
    """The largest |min(z, w)| of all rows, scaled; NaN if there is one."""
    n, worst = q.shape[0], 0.0
    for i in range(n):
        s = q[i]
        for j in range(n):
            s += M[i, j] * z[j]
        x, y = z[i] / scale[i], s * scale[i]
        x = abs(y if y < x or y != y else x)
        if not x <= worst:
            worst = x
            if x != x:
                return x
    return worst
