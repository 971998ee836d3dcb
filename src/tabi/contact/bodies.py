"""The contact problem in the space of bodies: twists instead of a matrix over contacts.

    f = Eᵀ λ,   F_a = (r_a × f, f),   F_b = −(r_b × f, f),   V = Ω F,   u = E (ẋ_a − ẋ_b) + q                     (1)
E: the contact's frame, rows tangent, tangent, normal (from b to a); r: the point from the origin of each body's twist;
V: what impulses add to the twists of the contacting bodies; Ω: their inverse inertia, 6×6 blocks that couple bodies of
one tree only. Rows that hold bodies together rather than let them touch (``cone.HELD``) may also be about rotations: then
u = E (ω_a − ω_b) + q and F = ±(Eᵀ λ, 0); so are the moments of contacts, whose limit is what a contact presses with.
W = J Ω Jᵀ is never formed: the six numbers of a foot's twist say all that the twelve rows of its corners would, and a
residual, or a sweep of Gauss–Seidel, costs as much as there are contacts.

References: Chardonnet (2012), secs. 3.2 and 6, who names it as work to come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._jit import kernel
from tabi.contact import block_lu
from tabi.contact.cone import LIMITED
from tabi.contact.workspace import DEPTH
from tabi.model.arrays import table
from tabi.spatial.vector import add, cross, dot6, load3, load6, load9, mul, mul_t, sub

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MOMENT = 2


CONTACT = np.dtype(
    [
        # the two bodies; b is −1 against what does not move
        ("a", np.int64),
        ("b", np.int64),
        # E row by row, and the point from the origin of each body's twist [m]
        ("frame", np.float64, 9),
        ("arm_a", np.float64, 3),
        ("arm_b", np.float64, 3),
        # 1 where the rows are about rotations; MOMENT + k where they are limited by what the contact k presses with, k before them
        ("turns", np.int64),
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
        wrench, held, turns = np.zeros((len(self.start), 6)), c["b"] < 0, c["turns"][:, None] != 0
        # what does not move is the last row, whose twist stays zero
        ends = ((c["a"], c["arm_a"], 1.0), (np.where(held, -1, c["b"]), c["arm_b"], -1.0))
        for body, arm, sign in ends:
            np.add.at(wrench, body, sign * np.where(turns, np.hstack([f, 0 * f]), np.hstack([np.cross(arm, f), f])))
        twist, row = np.zeros_like(wrench), np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        np.add.at(twist, row, np.einsum("eij,ej->ei", self.omega[: len(row)], wrench[self.column[: len(row)]]))
        v = sum(sign * np.where(turns, twist[body, :3], twist[body, 3:] + np.cross(twist[body, :3], arm)) for body, arm, sign in ends)
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
    weights(p)
    return p


class BodyWork(NamedTuple):
    """Arrays the kernels write: over contacts, over bodies, and of the systems of bodies.

    Attributes:
        u, trial, trial_u, best, delta, found: over the rows of contacts, shape (3n,).
        friction, alpha, slope, block: coefficients put aside, sliding rates, slopes of Newton's map, W_kk (xx xy xn yy yn nn) of each contact.
        wrench, twist: over bodies, shape (6b,). stiffness: S of ``twist_newton``, blocks in the slots of ``lu``.
        touch: bodies that a body touches, itself first: touch[i, :touches[i]].
        lean: how the step of a moment follows that of its contact. F, G, gram: of Anderson's acceleration.
    """

    u: Floats
    trial: Floats
    trial_u: Floats
    best: Floats
    delta: Floats
    found: Floats
    friction: Floats
    alpha: Floats
    slope: Floats
    block: Floats
    wrench: Floats
    twist: Floats
    stiffness: Floats
    touches: NDArray[np.int32]
    touch: NDArray[np.int32]
    lu: block_lu.Structure
    lean: Floats
    F: Floats
    G: Floats
    gram: Floats


def allocate(contacts: int, bodies: int, blocks: int | None = None) -> BodyWork:
    """Memory for a number of contacts, of bodies and, where bodies² would be too many, of blocks that elimination fills."""
    n, blocks = 3 * contacts, bodies * bodies if blocks is None else blocks
    rows = {name: np.zeros(n) for name in ("u", "trial", "trial_u", "best", "delta", "found")}
    return BodyWork(
        **rows,
        friction=np.zeros(contacts),
        alpha=np.zeros(contacts),
        slope=np.zeros((contacts, 9)),
        block=np.zeros((contacts, 6)),
        wrench=np.zeros(6 * bodies),
        twist=np.zeros(6 * bodies),
        stiffness=np.zeros((blocks, 6, 6)),
        touches=np.zeros(bodies, np.int32),
        touch=np.zeros((bodies, bodies), np.int32),
        lu=block_lu.allocate(bodies, blocks),
        lean=np.zeros((contacts, 3)),
        F=np.zeros((DEPTH + 3, n)),
        G=np.zeros((DEPTH + 3, n)),
        gram=np.zeros((DEPTH, DEPTH + 1)),
    )


@kernel
def prepare(p, work):
    """ρ of each contact, and the structure of the systems of bodies.

    Returns:
        the number of blocks that elimination fills; more than the work has need a larger one.
    """
    weights(p)
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
def weights(p):
    """ρ = 3/tr W_kk of each contact; the trace needs no frame."""
    for k in range(p.mu.shape[0]):
        c = p.contact[k]
        if c.turns != 0:
            trace = _turning_trace(c, p.start, p.column, p.omega)
            # what cannot turn needs no impulse either
            p.weight[k] = 3.0 / trace if trace > 0.0 else 1.0
            continue
        r = load3(c.arm_a)
        trace = _trace(p.omega[find(p.start, p.column, c.a, c.a)], r, r)
        if c.b >= 0:
            s = load3(c.arm_b)
            trace += _trace(p.omega[find(p.start, p.column, c.b, c.b)], s, s)
            # both may hang on one tree
            e = find(p.start, p.column, c.a, c.b)
            if e >= 0:
                trace -= _trace(p.omega[e], r, s) + _trace(p.omega[find(p.start, p.column, c.b, c.a)], s, r)
        p.weight[k] = 3.0 / trace


@kernel
def _turning_trace(c, start, column, omega):
    """tr W_kk of rows about rotations, whose frame need not be of unit vectors."""
    E = load9(c.frame)
    trace = _form(omega[find(start, column, c.a, c.a)], E)
    if c.b >= 0:
        trace += _form(omega[find(start, column, c.b, c.b)], E)
        e = find(start, column, c.a, c.b)
        if e >= 0:
            trace -= 2.0 * _form(omega[e], E)
    return trace


@kernel(inline=True)
def _form(O, E):
    """tr(E O Eᵀ), of the rotations in O."""
    return _along(O, E[0], E[1], E[2]) + _along(O, E[3], E[4], E[5]) + _along(O, E[6], E[7], E[8])


@kernel(inline=True)
def _along(O, x, y, z):
    return (
        x * (O[0, 0] * x + O[0, 1] * y + O[0, 2] * z) + y * (O[1, 0] * x + O[1, 1] * y + O[1, 2] * z) + z * (O[2, 0] * x + O[2, 1] * y + O[2, 2] * z)
    )


@kernel(inline=True)
def _trace(O, r, s):
    """tr(J_r O J_sᵀ), J_r = [−r̂ 1]."""
    t = (r[0] * s[0] + r[1] * s[1] + r[2] * s[2]) * (O[0, 0] + O[1, 1] + O[2, 2]) + O[3, 3] + O[4, 4] + O[5, 5]
    for c in range(3):
        t -= s[c] * (O[c, 0] * r[0] + O[c, 1] * r[1] + O[c, 2] * r[2])
    t += r[0] * (O[2, 4] - O[1, 5]) + r[1] * (O[0, 5] - O[2, 3]) + r[2] * (O[1, 3] - O[0, 4])
    return t + s[0] * (O[4, 2] - O[5, 1]) + s[1] * (O[5, 0] - O[3, 2]) + s[2] * (O[3, 1] - O[4, 0])


@kernel
def find(start, column, i, j):
    """Where Ω_ij is, −1 where bodies are of different trees."""
    for e in range(start[i], start[i + 1]):
        if column[e] == j:
            return e
    return -1


@kernel
def velocities(p, impulse, u, F, V):
    """Equation (1), and the limits of moments in p.mu; F and V are memory of the size of the twists."""
    twists(p, impulse, F, V)
    set_limits(p, impulse)
    for k in range(p.mu.shape[0]):
        c = p.contact[k]
        w = mul(load9(c.frame), relative(V, c))
        u[3 * k], u[3 * k + 1], u[3 * k + 2] = p.q[3 * k] + w[0], p.q[3 * k + 1] + w[1], p.q[3 * k + 2] + w[2]


@kernel(inline=True)
def limit(c, impulse):
    """In the place of μ, the limit of a moment: what its contact presses with."""
    return LIMITED - max(0.0, impulse[3 * (c.turns - MOMENT) + 2])


@kernel(inline=True)
def set_limits(p, impulse):
    """The limits of all moments, in p.mu; rows that are no contacts stand behind those that are."""
    if p.mu.shape[0] > 0 and p.mu[p.mu.shape[0] - 1] < 0.0:
        for k in range(p.mu.shape[0]):
            if p.contact[k].turns >= MOMENT:
                p.mu[k] = limit(p.contact[k], impulse)


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
            push_both(F, c, 0, mul_t(load9(c.frame), (x, y, n)), 1.0)
    apply_omega(p.start, p.column, p.omega, F, V)


@kernel(inline=True)
def push_both(F, c, base, f, sign):
    """Add ± the wrenches of a row's force or moment f on its two bodies, whose numbers count from ``base``."""
    if c.turns != 0:
        _twist(F, 6 * (base + c.a), f, sign)
        if c.b >= 0:
            _twist(F, 6 * (base + c.b), f, -sign)
    else:
        push(F, 6 * (base + c.a), load3(c.arm_a), f, sign)
        if c.b >= 0:
            push(F, 6 * (base + c.b), load3(c.arm_b), f, -sign)


@kernel(inline=True)
def wrench(turns, r, f):
    """Of a force f at r, or of a moment f, angular first."""
    if turns != 0:
        return (f[0], f[1], f[2], 0.0, 0.0, 0.0)
    m = cross(r, f)
    return (m[0], m[1], m[2], f[0], f[1], f[2])


@kernel(inline=True)
def relative(V, c):
    """Velocity of body a against body b at a row's point, or its rate of turning, in the world's axes."""
    if c.turns != 0:
        v = (V[6 * c.a], V[6 * c.a + 1], V[6 * c.a + 2])
        if c.b >= 0:
            v = sub(v, (V[6 * c.b], V[6 * c.b + 1], V[6 * c.b + 2]))
        return v
    v = at(V, 6 * c.a, load3(c.arm_a))
    if c.b >= 0:
        v = sub(v, at(V, 6 * c.b, load3(c.arm_b)))
    return v


@kernel(inline=True)
def _twist(F, i, f, sign):
    """Add ± the moment f."""
    F[i] += sign * f[0]
    F[i + 1] += sign * f[1]
    F[i + 2] += sign * f[2]


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
