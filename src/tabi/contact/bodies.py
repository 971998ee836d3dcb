"""The contact problem in the space of bodies: twists instead of a matrix over contacts.

    f = Eᵀ λ,   F_a = (r_a × f, f),   F_b = −(r_b × f, f),   V = Ω F,   u = E (ẋ_a − ẋ_b) + q                     (1)
E: the contact's frame, rows tangent, tangent, normal (from b to a); r: the point from the origin of each body's twist;
V: what impulses add to the twists of the contacting bodies; Ω: their inverse inertia, 6×6 blocks that couple bodies of
one tree only. W = J Ω Jᵀ is never formed: the six numbers of a foot's twist say all that the twelve rows of its corners
would, and a residual, or a sweep of Gauss–Seidel, costs as much as there are contacts.

References: Chardonnet (2012), secs. 3.2 and 6, who names it as work to come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._jit import kernel
from tabi.contact import block_lu
from tabi.contact.cone import local
from tabi.contact.workspace import DEPTH
from tabi.model.arrays import table
from tabi.spatial.vector import add, cross, dot6, load3, load6, load9, mul, mul_t, sub

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


CONTACT = np.dtype(
    [
        # the two bodies; b is −1 against what does not move
        ("a", np.int64),
        ("b", np.int64),
        # E row by row, and the point from the origin of each body's twist [m]
        ("frame", np.float64, 9),
        ("arm_a", np.float64, 3),
        ("arm_b", np.float64, 3),
    ],
    align=True,
)


class BodyProblem(NamedTuple):
    """Contacts between bodies.

    Attributes:
        contact: table of CONTACT, n rows.
        start, column, omega: blocks of Ω by rows of bodies; omega has shape (·, 6, 6), angular first.
        q: velocities without impulse, shape (3n,) [m/s]. mu, weight: coefficients and ρ = 3/tr W_kk, shape (n,).
    """

    contact: NDArray[np.void]
    start: Integers
    column: Integers
    omega: Floats
    q: Floats
    mu: Floats
    weight: Floats

    def velocities(self, impulse: Floats) -> Floats:
        """Equation (1) by plain matrices, apart from the kernels: what the judge believes."""
        c = self.contact
        f = np.einsum("nji,nj->ni", c["frame"].reshape(-1, 3, 3), impulse.reshape(-1, 3))
        wrench, held = np.zeros((len(self.start), 6)), c["b"] < 0
        # what does not move is the last row, whose twist stays zero
        ends = ((c["a"], c["arm_a"], 1.0), (np.where(held, -1, c["b"]), c["arm_b"], -1.0))
        for body, arm, sign in ends:
            np.add.at(wrench, body, sign * np.hstack([np.cross(arm, f), f]))
        twist, row = np.zeros_like(wrench), np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        np.add.at(twist, row, np.einsum("eij,ej->ei", self.omega[: len(row)], wrench[self.column[: len(row)]]))
        v = sum(sign * (twist[body, 3:] + np.cross(twist[body, :3], arm)) for body, arm, sign in ends)
        return self.q + np.einsum("nij,nj->ni", c["frame"].reshape(-1, 3, 3), v).ravel()


def problem(
    *,
    a: ArrayLike,
    b: ArrayLike,
    frame: ArrayLike,
    arm_a: ArrayLike,
    arm_b: ArrayLike,
    start: ArrayLike,
    column: ArrayLike,
    omega: ArrayLike,
    q: ArrayLike,
    mu: ArrayLike,
) -> BodyProblem:
    """A problem from one array for each column."""
    contact = table(np.size(a), CONTACT)
    for name, values in (("a", a), ("b", b), ("frame", frame), ("arm_a", arm_a), ("arm_b", arm_b)):
        contact[name] = values
    rows, columns = np.array(start, np.int64), np.array(column, np.int64)
    p = BodyProblem(contact, rows, columns, np.array(omega, float), np.array(q, float), np.array(mu, float), np.zeros(np.size(a)))
    weights(p, np.zeros((np.size(a), 6)), p.weight)
    return p


class BodyWork(NamedTuple):
    """Arrays the kernels write: over contacts, over bodies, and of the systems of bodies.

    Attributes:
        u, trial, trial_u, best, delta, warm, found: over the rows of contacts, shape (3n,).
        alpha, slope, block: sliding rates, slopes of Newton's map, W_kk (xx xy xn yy yn nn) of each contact.
        wrench, twist: over bodies, shape (6b,). stiffness: S of ``twist_newton``, blocks in the slots of ``lu``.
        touch: bodies that a body touches, itself first: touch[i, :touches[i]].
        F, G, gram: of Anderson's acceleration.
    """

    u: Floats
    trial: Floats
    trial_u: Floats
    best: Floats
    delta: Floats
    warm: Floats
    found: Floats
    alpha: Floats
    slope: Floats
    block: Floats
    wrench: Floats
    twist: Floats
    stiffness: Floats
    touches: NDArray[np.int32]
    touch: NDArray[np.int32]
    lu: block_lu.Structure
    F: Floats
    G: Floats
    gram: Floats


def allocate(contacts: int, bodies: int, blocks: int | None = None) -> BodyWork:
    """Memory for a number of contacts, of bodies and, where bodies² would be too many, of blocks that elimination fills."""
    n, blocks = 3 * contacts, bodies * bodies if blocks is None else blocks
    rows = {name: np.zeros(n) for name in ("u", "trial", "trial_u", "best", "delta", "warm", "found")}
    return BodyWork(
        **rows,
        alpha=np.zeros(contacts),
        slope=np.zeros((contacts, 9)),
        block=np.zeros((contacts, 6)),
        wrench=np.zeros(6 * bodies),
        twist=np.zeros(6 * bodies),
        stiffness=np.zeros((blocks, 6, 6)),
        touches=np.zeros(bodies, np.int32),
        touch=np.zeros((bodies, bodies), np.int32),
        lu=block_lu.allocate(bodies, blocks),
        F=np.zeros((DEPTH + 3, n)),
        G=np.zeros((DEPTH + 3, n)),
        gram=np.zeros((DEPTH, DEPTH + 1)),
    )


@kernel
def prepare(p, work):
    """W_kk and ρ of each contact, and the structure of the systems of bodies.

    Returns:
        the number of blocks that elimination fills; more than the work has need a larger one.
    """
    weights(p, work.block, p.weight)
    bodies, slot = p.start.shape[0] - 1, work.lu.slot
    for i in range(bodies):
        for j in range(bodies):
            slot[i, j] = block_lu.EMPTY
        work.touches[i] = 1
        work.touch[i, 0] = i
        slot[i, i] = 0
    for k in range(p.mu.shape[0]):
        i, j = p.contact[k].a, p.contact[k].b
        if j >= 0 and slot[i, j] == block_lu.EMPTY:
            slot[i, j], slot[j, i] = 0, 0
            work.touch[i, work.touches[i]] = j
            work.touch[j, work.touches[j]] = i
            work.touches[i] += 1
            work.touches[j] += 1
    # Ω carries what happens to a body to its whole tree
    for i in range(bodies):
        for e in range(p.start[i], p.start[i + 1]):
            j = p.column[e]
            for c in range(work.touches[j]):
                slot[i, work.touch[j, c]] = 0
    return block_lu.arrange(work.lu, bodies)


@kernel
def weights(p, block, out):
    """W_kk of each contact, shape (n, 6), and ρ = 3/tr W_kk."""
    for k in range(p.mu.shape[0]):
        _local_block(p, k, block[k])
        out[k] = 3.0 / (block[k, 0] + block[k, 3] + block[k, 5])


@kernel
def _local_block(p, k, out):
    """W_kk of one contact, symmetric, as ``cone.local`` takes it."""
    contact = p.contact[k]
    E, a, b = contact.frame, contact.a, contact.b
    for c in range(6):
        out[c] = 0.0
    for side in range(2):
        i = a if side == 0 else b
        if i < 0:
            continue
        r = load3(contact.arm_a) if side == 0 else load3(contact.arm_b)
        for e in range(p.start[i], p.start[i + 1]):
            j = p.column[e]
            # the other body of the contact may hang on the same tree
            if j != a and j != b:
                continue
            s = load3(contact.arm_a) if j == a else load3(contact.arm_b)
            sign = 1.0 if i == j else -1.0
            n = 0
            for x in range(3):
                d = (E[3 * x], E[3 * x + 1], E[3 * x + 2])
                m = cross(r, d)
                left = (m[0], m[1], m[2], d[0], d[1], d[2])
                for y in range(x, 3):
                    g = (E[3 * y], E[3 * y + 1], E[3 * y + 2])
                    m = cross(s, g)
                    out[n] += sign * _form(left, p.omega[e], (m[0], m[1], m[2], g[0], g[1], g[2]))
                    n += 1


@kernel
def _form(x, O, y):
    """xᵀ O y."""
    a = x[0] * dot6(load6(O[0]), y) + x[1] * dot6(load6(O[1]), y) + x[2] * dot6(load6(O[2]), y)
    return a + x[3] * dot6(load6(O[3]), y) + x[4] * dot6(load6(O[4]), y) + x[5] * dot6(load6(O[5]), y)


@kernel
def velocities(p, impulse, u, F, V):
    """Equation (1); F and V are memory of the size of the twists."""
    twists(p, impulse, F, V)
    for k in range(p.mu.shape[0]):
        c = p.contact[k]
        v = at(V, 6 * c.a, load3(c.arm_a))
        if c.b >= 0:
            v = sub(v, at(V, 6 * c.b, load3(c.arm_b)))
        w = mul(load9(c.frame), v)
        u[3 * k], u[3 * k + 1], u[3 * k + 2] = p.q[3 * k] + w[0], p.q[3 * k + 1] + w[1], p.q[3 * k + 2] + w[2]


# inlined: handing over all memory at every call would cost more than the velocities
@kernel(inline=True)
def velocities_with(p, impulse, u, work):
    """As ``velocities``, with memory from the work."""
    velocities(p, impulse, u, work.wrench, work.twist)


@kernel(inline=True)
def twists(p, impulse, F, V):
    """F and V of (1)."""
    for i in range(6 * (p.start.shape[0] - 1)):
        F[i] = 0.0
    for k in range(p.mu.shape[0]):
        x, y, n = impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]
        if x != 0.0 or y != 0.0 or n != 0.0:
            c = p.contact[k]
            f = mul_t(load9(c.frame), (x, y, n))
            push(F, 6 * c.a, load3(c.arm_a), f, 1.0)
            if c.b >= 0:
                push(F, 6 * c.b, load3(c.arm_b), f, -1.0)
    apply_omega(p.start, p.column, p.omega, F, V)


@kernel(inline=True)
def push(F, i, r, f, sign):
    """Add ± the wrench of a force f at r to the six numbers from i on."""
    m = cross(r, f)
    F[i] += sign * m[0]
    F[i + 1] += sign * m[1]
    F[i + 2] += sign * m[2]
    F[i + 3] += sign * f[0]
    F[i + 4] += sign * f[1]
    F[i + 5] += sign * f[2]


@kernel(inline=True)
def at(V, i, r):
    """Velocity of the point r of the body whose twist starts at i, in the world's axes."""
    return add((V[i + 3], V[i + 4], V[i + 5]), cross((V[i], V[i + 1], V[i + 2]), r))


@kernel
def apply_omega(start, column, omega, F, V):
    """V = Ω F."""
    for i in range(start.shape[0] - 1):
        x, y = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for e in range(start[i], start[i + 1]):
            O, j = omega[e], 6 * column[e]
            f = (F[j], F[j + 1], F[j + 2], F[j + 3], F[j + 4], F[j + 5])
            x = add(x, (dot6(load6(O[0]), f), dot6(load6(O[1]), f), dot6(load6(O[2]), f)))
            y = add(y, (dot6(load6(O[3]), f), dot6(load6(O[4]), f), dot6(load6(O[5]), f)))
        i *= 6
        V[i], V[i + 1], V[i + 2], V[i + 3], V[i + 4], V[i + 5] = x[0], x[1], x[2], y[0], y[1], y[2]


@kernel
def sweep(p, impulse, work):
    """Gauss–Seidel once over all contacts: the twists follow every impulse, so a contact costs its trees and no more."""
    V = work.twist
    twists(p, impulse, work.wrench, V)
    for k in range(p.mu.shape[0]):
        i, c = 3 * k, p.contact[k]
        a, b, E, r, W = c.a, c.b, load9(c.frame), load3(c.arm_a), load6(work.block[k])
        v = at(V, 6 * a, r)
        if b >= 0:
            v = sub(v, at(V, 6 * b, load3(c.arm_b)))
        u, l = mul(E, v), (impulse[i], impulse[i + 1], impulse[i + 2])
        x = p.q[i] + u[0] - (W[0] * l[0] + W[1] * l[1] + W[2] * l[2])
        y = p.q[i + 1] + u[1] - (W[1] * l[0] + W[3] * l[1] + W[4] * l[2])
        n = p.q[i + 2] + u[2] - (W[2] * l[0] + W[4] * l[1] + W[5] * l[2])
        new, work.alpha[k] = local(W, p.mu[k], (x, y, n), work.alpha[k])
        change = sub(new, l)
        if change[0] != 0.0 or change[1] != 0.0 or change[2] != 0.0:
            f = mul_t(E, change)
            _kick(p.start, p.column, p.omega, V, a, r, f, 1.0)
            if b >= 0:
                _kick(p.start, p.column, p.omega, V, b, load3(c.arm_b), f, -1.0)
        impulse[i], impulse[i + 1], impulse[i + 2] = new[0], new[1], new[2]


@kernel
def _kick(start, column, omega, V, i, r, f, sign):
    """What ± a force at the point r of body i adds to the twists of its tree; Ω is symmetric, so its row is its column."""
    m = cross(r, f)
    F = (sign * m[0], sign * m[1], sign * m[2], sign * f[0], sign * f[1], sign * f[2])
    for e in range(start[i], start[i + 1]):
        O, j = omega[e], 6 * column[e]
        for c in range(6):
            V[j + c] += F[0] * O[0, c] + F[1] * O[1, c] + F[2] * O[2, c] + F[3] * O[3, c] + F[4] * O[4, c] + F[5] * O[5, c]
