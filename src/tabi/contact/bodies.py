"""The contact problem in the space of bodies: twists instead of a matrix over contacts.

    f = Eᵀ λ,   F_a = (r_a × f, f),   F_b = −(r_b × f, f),   V = Ω F,   u = E (ẋ_a − ẋ_b) + q  (1)
E: the contact's frame, rows tangent, tangent, normal (from b to a); r: the point from the origin of
each body's twist; V: what impulses add to the twists of the contacting bodies; Ω: their inverse
inertia, 6×6 blocks that couple bodies of one tree only, or the factors of ``trees``. Rows may also
be ``angular``: then u = E (ω_a − ω_b) + q and F = ±(Eᵀ λ, 0). What law a row obeys is another
question: its ``kind``.
W = J Ω Jᵀ is never formed: the six numbers of a foot's twist say all that the twelve rows of its
corners would, and a residual, or a sweep of Gauss–Seidel, costs as much as there are contacts.

References: Chardonnet (2012), secs. 3.2 and 6, names it as future work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.contact import motion_work, row_mobility, trees
from tabi.contact.algebra import block_lu
from tabi.contact.body_work import BodyWork as BodyWork
from tabi.contact.body_work import allocate as allocate
from tabi.contact.rows import CONTACT, bound_by
from tabi.contact.weights import weights
from tabi.jit import kernel
from tabi.model.arrays import table
from tabi.spatial.vector import add, cross, dot6, load3, load6, load9, mul, mul_t, sub

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ROW = np.dtype(
    [
        # the two bodies; b is −1 against what does not move
        ("a", np.int64),
        ("b", np.int64),
        # E row by row, and the point from the origin of each body's twist [m]
        ("frame", np.float64, 9),
        ("arm_a", np.float64, 3),
        ("arm_b", np.float64, 3),
        # 1 where the rows are about how the bodies turn, 0 where about how they move
        ("angular", np.int64),
        # the contact whose normal impulse is their bound, before them; −1 without one
        ("partner", np.int64),
    ],
    align=True,
)


class BodyProblem(NamedTuple):
    """Contact problem between bodies.

    Attributes:
        contact: table of ROW, n of them.
        start, column, omega: blocks of Ω by rows of bodies, shape (·, 6, 6), angular first.
        parent: of each body, trees.BLOCKS. Where it is not, the rows are factors of ``trees``,
            and it is the parent's number, before its children's, or trees.ROOT.
        q: velocities without impulse, shape (3n,) [m/s].
        kind: laws of the rows (see ``rows``). mu: friction of contacts, 0 for other kinds.
        bound: largest impulse of limited rows [N·s]. weight: ρ = 3/tr W_kk. All of shape (n,).

    Example: ``bodies.problem`` in docs/contact.md
    """

    contact: NDArray[np.void]
    start: Integers
    column: Integers
    omega: Floats
    q: Floats
    kind: Integers
    mu: Floats
    bound: Floats
    weight: Floats
    parent: Integers

    def velocities(self, impulse: Floats) -> Floats:
        """Compute (1) with plain matrices, independently of the kernels, as the certificate needs
        it.
        """
        c, (start, column, omega) = self.contact, (self.start, self.column, self.omega)
        if (self.parent != trees.BLOCKS).any():
            start, column, omega = trees.with_blocks(self.parent, start, column, omega)
        f = np.einsum("nji,nj->ni", c["frame"].reshape(-1, 3, 3), impulse.reshape(-1, 3))
        wrench = np.zeros((len(start), 6))
        fixed = c["b"] < 0
        angular = c["angular"][:, None] != 0
        # what does not move is the last row, whose twist stays zero
        ends = ((c["a"], c["arm_a"], 1.0), (np.where(fixed, -1, c["b"]), c["arm_b"], -1.0))
        for body, arm, sign in ends:
            force = np.hstack([np.cross(arm, f), f])
            np.add.at(wrench, body, sign * np.where(angular, np.hstack([f, 0 * f]), force))
        twist = np.zeros_like(wrench)
        row = np.repeat(np.arange(len(start) - 1), np.diff(start))
        change = np.einsum("eij,ej->ei", omega[: len(row)], wrench[column[: len(row)]])
        np.add.at(twist, row, change)
        v = np.zeros((len(c), 3))
        for body, arm, sign in ends:
            moves = twist[body, 3:] + np.cross(twist[body, :3], arm)
            v += sign * np.where(angular, twist[body, :3], moves)
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
    """A problem of contacts, from one array for each column."""
    count = np.size(a)
    contact = table(count, ROW)
    contact["partner"] = -1
    for name, values in (("a", a), ("b", b), ("frame", frame), ("arm_a", arm_a), ("arm_b", arm_b)):
        contact[name] = values
    rows, columns = np.array(start, np.int64), np.array(column, np.int64)
    kind, bound = np.full(count, CONTACT), np.zeros(count)
    response, free, friction = (np.array(x, float) for x in (omega, q, mu))
    laws, weight, parent = (kind, friction, bound), np.zeros(count), no_parents(len(rows) - 1)
    p = BodyProblem(contact, rows, columns, response, free, *laws, weight, parent)
    weights(p)
    return p


def no_parents(bodies: int) -> Integers:
    """Parents for bodies whose Ω consists of blocks."""
    return np.full(bodies, trees.BLOCKS, np.int64)


@kernel(inline=True)
def part(p, a, b, c, e):
    """The problem of the bodies a to b and the rows c to e alone."""
    return BodyProblem(
        p.contact[c:e],
        p.start[a : b + 1],
        p.column,
        p.omega,
        p.q[3 * c : 3 * e],
        p.kind[c:e],
        p.mu[c:e],
        p.bound[c:e],
        p.weight[c:e],
        p.parent[a:b],
    )


@kernel
def prepare(p, work):
    """ρ of each contact, and the structure of the systems of bodies.

    Returns:
        the number of blocks that elimination fills; more than the work has need a larger one.
    """
    weights(p)
    touch_bodies(p, work)
    return arrange(p, work)


@kernel(inline=True)
def touch_bodies(p, work):
    """Which bodies touch which, and their blocks."""
    bodies, slot = p.start.shape[0] - 1, work.lu.slot
    for i in range(bodies):
        for j in range(bodies):
            slot[i, j] = block_lu.NO_BLOCK
        work.touches[i] = 1
        work.touch[i, 0] = i
        slot[i, i] = 0
    for k in range(p.mu.shape[0]):
        i, j = p.contact[k].a, p.contact[k].b
        if j >= 0 and slot[i, j] == block_lu.NO_BLOCK:
            slot[i, j], slot[j, i] = 0, 0
            work.touch[i, work.touches[i]] = j
            work.touch[j, work.touches[j]] = i
            work.touches[i] += 1
            work.touches[j] += 1


@kernel(inline=True)
def arrange(p, work):
    """The order of elimination, and W without columns; returns how many blocks it fills."""
    row_mobility.begin(p, work.rows)
    motion_work.begin(work.motions)
    bodies, slot = p.start.shape[0] - 1, work.lu.slot
    # blocks of Ω carry what happens to a body to its whole tree
    if not trees.linked(p):
        for i in range(bodies):
            for e in range(p.start[i], p.start[i + 1]):
                j = p.column[e]
                for c in range(work.touches[j]):
                    slot[i, work.touch[j, c]] = 0
    return block_lu.arrange(work.lu, bodies, p.parent)


@kernel
def velocities(p, impulse, u, F, V):
    """Equation (1), and the bounds in p.bound; F and V are memory of the size of the twists."""
    twists(p, impulse, F, V)
    set_bounds(p, impulse)
    for k in range(p.mu.shape[0]):
        c = p.contact[k]
        w = mul(load9(c.frame), relative(V, c))
        u[3 * k] = p.q[3 * k] + w[0]
        u[3 * k + 1] = p.q[3 * k + 1] + w[1]
        u[3 * k + 2] = p.q[3 * k + 2] + w[2]


@kernel(inline=True)
def set_bounds(p, impulse):
    """Bounds of all rows with a partner, in p.bound; contacts stand before other kinds."""
    n = p.kind.shape[0]
    if n > 0 and p.kind[n - 1] != CONTACT:
        for k in range(n):
            if p.contact[k].partner >= 0:
                p.bound[k] = bound_by(p.contact[k].partner, impulse)


# inlined: handing over all memory at every call would cost more than the velocities
@kernel(inline=True)
def velocities_with(p, impulse, u, work):
    """Compute ``velocities`` with memory from ``work``."""
    velocities(p, impulse, u, work.wrench, work.twist)


@kernel(inline=True)
def twists(p, impulse, F, V):
    """F and V of (1); by factors F ends as Z of ``trees``."""
    for i in range(6 * (p.start.shape[0] - 1)):
        F[i] = 0.0
    for k in range(p.mu.shape[0]):
        x, y, n = impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]
        if x != 0.0 or y != 0.0 or n != 0.0:
            c = p.contact[k]
            push_both(F, c, 0, mul_t(load9(c.frame), (x, y, n)), 1.0)
    if trees.linked(p):
        trees.apply(p, F, V)
    else:
        apply_omega(p.start, p.column, p.omega, F, V)


@kernel(inline=True)
def push_both(F, c, base, f, sign):
    """Add ± the wrenches of a row's force or moment f on its two bodies,
    whose numbers count from ``base``.
    """
    if c.angular != 0:
        _twist(F, 6 * (base + c.a), f, sign)
        if c.b >= 0:
            _twist(F, 6 * (base + c.b), f, -sign)
    else:
        push(F, 6 * (base + c.a), load3(c.arm_a), f, sign)
        if c.b >= 0:
            push(F, 6 * (base + c.b), load3(c.arm_b), f, -sign)


@kernel(inline=True)
def wrench(angular, r, f):
    """Wrench of a force f at r, or of a moment f where ``angular``; angular part first."""
    if angular != 0:
        return (f[0], f[1], f[2], 0.0, 0.0, 0.0)
    m = cross(r, f)
    return (m[0], m[1], m[2], f[0], f[1], f[2])


@kernel(inline=True)
def relative(V, c):
    """Velocity of body a against body b at a row's point, or its rate of turning, in the
    world's axes.
    """
    if c.angular != 0:
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
