"""The contact problem of bodies as a matrix over contacts, for solvers that want one.

    W = J Ω Jᵀ,   J_k = E_k [−r̂, 1],   of rows that turn  E_k [1, 0]                           (1)
in 3×3 blocks by rows. Contacts k and j have a block only where a body of k and a body of j hang in
the same tree. Row k gathers T = J_k Ω on every body it can move, then meets the contacts of those
bodies one by one: the cost is that of the blocks there are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tabi.contact.blocks import Blocks
from tabi.contact.bodies import BodyProblem, wrench
from tabi.contact.soft.soft_problem import SoftProblem
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial.vector import add, cross, dot, load3

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class _Work(Structure):
    """Arrays the kernels write.

    Attributes:
        start, contact: contacts of each body by rows of bodies.
        T: J_k Ω on each body, shape (bodies, 3, 6).
        reached: the bodies where it is not zero.
        seen: last row that met a body.
        met: last row that met a contact. slot: where its block stands in that row.
    """

    start: Integers
    contact: Integers
    T: Floats
    reached: Integers
    seen: Integers
    met: Integers
    slot: Integers


def blocks(p: BodyProblem) -> Blocks:
    """W by rows of blocks, the one on the diagonal first; ρ is that of the bodies."""
    count, bodies = len(p.mu), len(p.start) - 1
    work = _work(p, count, bodies)
    start = np.zeros(count + 1, np.int64)
    _count(p, start, work)
    np.cumsum(start, out=start)
    work.met[:], work.seen[:] = -1, -1
    column, value = np.empty(start[-1], np.int64), np.zeros((start[-1], 9))
    _fill(p, start, column, value, work)
    return Blocks(start, column, value, p.q, p.kind, p.mu, p.bound, p.weight)


def sparse(p: BodyProblem) -> scipy.sparse.csr_matrix:
    """W as a sparse matrix, rows ordered contact by contact, tangents first."""
    b, size = blocks(p), len(p.q)
    bsr = scipy.sparse.bsr_matrix((b.value.reshape(-1, 3, 3), b.column, b.start), (size, size))
    W = scipy.sparse.csr_matrix(bsr)
    return W + p.compliance if isinstance(p, SoftProblem) else W


def _work(p: BodyProblem, count: int, bodies: int) -> _Work:
    """Memory for the kernels, with the contacts sorted by body."""
    a, b = p.contact["a"], p.contact["b"]
    second = np.flatnonzero(b >= 0)
    body = np.concatenate([a, b[second]])
    contact = np.concatenate([np.arange(count), second])
    order = np.lexsort((contact, body))
    start = np.searchsorted(body[order], np.arange(bodies + 1))
    over_contacts = np.full((2, count), -1, np.int64)
    over_bodies = np.full((2, bodies), -1, np.int64)
    return _Work(
        start.astype(np.int64),
        contact[order].astype(np.int64),
        np.zeros((bodies, 3, 6)),
        *over_bodies,
        *over_contacts,
    )


@kernel
def _count(p, start, work):
    """Number of blocks of row k in start[k + 1]."""
    for k in range(p.mu.shape[0]):
        work.met[k] = k
        block_count = 1
        for side in range(2):
            i = p.contact[k].a if side == 0 else p.contact[k].b
            if i >= 0:
                for e in range(p.start[i], p.start[i + 1]):
                    c = p.column[e]
                    if work.seen[c] != k:
                        work.seen[c] = k
                        for x in range(work.start[c], work.start[c + 1]):
                            j = work.contact[x]
                            if work.met[j] != k:
                                work.met[j] = k
                                block_count += 1
        start[k + 1] = block_count


@kernel
def _fill(p, start, column, value, work):
    """Blocks of (1); the first of each row is its diagonal."""
    for k in range(p.mu.shape[0]):
        bodies = _gather(p, k, work)
        column[start[k]], work.met[k], work.slot[k] = k, k, start[k]
        used = start[k] + 1
        for m in range(bodies):
            c = work.reached[m]
            for x in range(work.start[c], work.start[c + 1]):
                j = work.contact[x]
                if work.met[j] != k:
                    work.met[j], work.slot[j], column[used] = k, used, j
                    used += 1
                # a contact on two bodies of the same tree comes by twice
                row, T, out = p.contact[j], work.T[c], value[work.slot[j]]
                if row.a == c:
                    _meet(T, row.frame, row.angular, load3(row.arm_a), 1.0, out)
                if row.b == c:
                    _meet(T, row.frame, row.angular, load3(row.arm_b), -1.0, out)


@kernel
def _gather(p, k, work):
    """T = J_k Ω on the bodies that contact k can move; returns how many there are."""
    bodies = 0
    for side in range(2):
        i = p.contact[k].a if side == 0 else p.contact[k].b
        if i >= 0:
            r = load3(p.contact[k].arm_a) if side == 0 else load3(p.contact[k].arm_b)
            sign, frame = 1.0 if side == 0 else -1.0, p.contact[k].frame
            for e in range(p.start[i], p.start[i + 1]):
                c = p.column[e]
                T, O = work.T[c], p.omega[e]
                if work.seen[c] != k:
                    work.seen[c] = k
                    work.reached[bodies] = c
                    bodies += 1
                    for d in range(3):
                        for g in range(6):
                            T[d, g] = 0.0
                for d in range(3):
                    f = (sign * frame[3 * d], sign * frame[3 * d + 1], sign * frame[3 * d + 2])
                    w = wrench(p.contact[k].angular, r, f)
                    for g in range(6):
                        T[d, g] += (
                            w[0] * O[0, g]
                            + w[1] * O[1, g]
                            + w[2] * O[2, g]
                            + w[3] * O[3, g]
                            + w[4] * O[4, g]
                            + w[5] * O[5, g]
                        )
    return bodies


@kernel
def _meet(T, frame, turns, s, sign, out):
    """out += ± T J_jᵀ for a contact at s with that frame, or for rows that turn."""
    for d in range(3):
        row = (T[d, 0], T[d, 1], T[d, 2])
        if turns == 0:
            row = add(cross(row, s), (T[d, 3], T[d, 4], T[d, 5]))
        out[3 * d] += sign * dot(row, (frame[0], frame[1], frame[2]))
        out[3 * d + 1] += sign * dot(row, (frame[3], frame[4], frame[5]))
        out[3 * d + 2] += sign * dot(row, (frame[6], frame[7], frame[8]))
