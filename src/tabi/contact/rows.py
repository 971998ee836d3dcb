"""Kinds of rows: the law that three rows of a problem, an impulse λ and its velocity u, obey.

    CONTACT        Signorini and Coulomb: K ∋ λ ⊥ u + Φ(u) ∈ K*, with the friction μ (``cone``)  (1)
    LIMITED        ‖λ‖ ≤ R, and where u ≠ 0 the impulse is −R u/‖u‖                              (2)
    BILATERAL      u = 0, whatever impulse that takes                                            (3)
    BILATERAL_TWO  the first two rows of (3); no impulse in the third                            (4)
    IDLE           λ = 0, whatever u: a contact that no impulse opens or closes (``weights``)    (5)
    SOFT           0 ≤ λ_n ⊥ u_n + R λ_n ≥ 0 without friction: what gives way by R               (6)
The kind is in the column ``kind`` of a problem. The friction μ is in the column ``mu``, of
contacts alone; R is in ``bound``: the radius, given or what another row presses with, its
``partner``, or the compliance [1/kg]. Whether three rows act on how bodies move or on how they turn
is a column of the table of bodies (``bodies.CONTACT``), the same for every kind.

What the rest of the house needs of a kind is here, one function each: the projection onto its
impulses, its exact solution alone, and its map for Newton's method. Contacts of soles and of probes
are CONTACT or LIMITED rows, welds, hinges and virtual joints are BILATERAL ones; a law that is none
of these is a seventh number and a branch in each function.
"""

from math import sqrt

from tabi.contact import cone, maps
from tabi.contact.maps import ONE9, ZERO9
from tabi.jit import kernel
from tabi.spatial import symmetric

CONTACT, LIMITED, BILATERAL, BILATERAL_TWO, IDLE, SOFT = 0, 1, 2, 3, 4, 5


# ---- projection ---------------------------------------------------------------------------------


@kernel
def project(kind, mu, bound, x, y, n):
    """The admissible impulse nearest to (x, y, n)."""
    if kind == CONTACT:
        return cone.project(mu, x, y, n)
    if kind == LIMITED:
        return into_ball(bound, x, y, n)
    if kind in (IDLE, SOFT):
        return 0.0, 0.0, max(0.0, n) if kind == SOFT else 0.0
    return x, y, n if kind == BILATERAL else 0.0


@kernel
def into_ball(radius, x, y, n):
    """The point of a ball nearest to (x, y, n)."""
    length = sqrt(x * x + y * y + n * n)
    f = radius / length if length > radius else 1.0
    return f * x, f * y, f * n


# ---- three rows alone ---------------------------------------------------------------------------


@kernel
def local(kind, W, mu, bound, b, alpha):
    """λ of three rows alone, with u = W λ + b.

    Args:
        W: symmetric: xx, xy, xn, yy, yn, nn.
        alpha: a guess of how a contact slides, from an earlier answer (see ``cone.local``).

    Returns:
        λ (three numbers), and α for the next time.
    """
    if kind == CONTACT:
        return cone.local(W, mu, b, alpha)
    if kind == LIMITED:
        return _local_limited(W, bound, b), 0.0
    xx, xy, xn, yy, yn, nn = W
    if kind == SOFT:
        return (0.0, 0.0, max(0.0, -b[2] / (nn + bound))), 0.0
    if kind == IDLE or not xx + yy + nn > 0.0:
        return (0.0, 0.0, 0.0), 0.0
    if kind == BILATERAL:
        # a little more than W, which may be singular
        e = 1e-12 * (xx + yy + nn)
        W = (xx + e, xy, xn, yy + e, yn, nn + e)
        return symmetric.solve(W, (-b[0], -b[1], -b[2])), 0.0
    d = 1.0 / (xx * yy - xy * xy + 1e-24 * (xx + yy) * (xx + yy))
    return (d * (xy * b[1] - yy * b[0]), d * (xy * b[0] - xx * b[1]), 0.0), 0.0


@kernel
def _local_limited(W, radius, b):
    """λ in a ball with u = W λ + b: −(W + σ 1)⁻¹ b with the σ ≥ 0 that keeps it in there.

    By Newton's method on 1/‖λ‖, which is nearly straight in σ.
    """
    sigma, little = 0.0, 1e-12 * (W[0] + W[3] + W[5])
    l = (0.0, 0.0, 0.0)
    if not (radius > 0.0 and little > 0.0):
        return l
    for _ in range(60):
        e = sigma + little
        V = (W[0] + e, W[1], W[2], W[3] + e, W[4], W[5] + e)
        l = symmetric.solve(V, (-b[0], -b[1], -b[2]))
        length = sqrt(l[0] * l[0] + l[1] * l[1] + l[2] * l[2])
        if length <= radius * (1.0 + 4e-16):
            return l
        d = symmetric.solve(V, l)
        along = l[0] * d[0] + l[1] * d[1] + l[2] * d[2]
        change = (length / radius - 1.0) * length * length / along
        if not change > 1e-16 * sigma:
            break
        sigma += change
    return into_ball(radius, l[0], l[1], l[2])


# ---- maps of Newton's method --------------------------------------------------------------------


@kernel
def newton_map(kind, form, mu, bound, rho, u, l):
    """F, A = ∂F/∂λ and B = ∂F/∂u of three rows, as in ``maps``;
    the forms differ for contacts only.
    """
    if kind == CONTACT:
        return maps.contact_map(form, mu, rho, u, l)
    i = 1.0 / rho
    if kind == SOFT and l[2] - rho * (u[2] + bound * l[2]) > 0.0:
        A = (i, 0.0, 0.0, 0.0, i, 0.0, 0.0, 0.0, bound)
        B = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        return (l[0] * i, l[1] * i, u[2] + bound * l[2]), A, B
    if kind in (IDLE, SOFT):
        A = (i, 0.0, 0.0, 0.0, i, 0.0, 0.0, 0.0, i)
        return (l[0] * i, l[1] * i, l[2] * i), A, ZERO9
    if kind == BILATERAL:
        return u, ZERO9, ONE9
    if kind == BILATERAL_TWO:
        A = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, i)
        return (u[0], u[1], l[2] * i), A, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    x, y, n = l[0] - rho * u[0], l[1] - rho * u[1], l[2] - rho * u[2]
    length = sqrt(x * x + y * y + n * n)
    if length <= bound:
        return u, ZERO9, ONE9
    x, y, n, g = x / length, y / length, n / length, bound / length
    xy, xn, yn = -g * x * y, -g * x * n, -g * y * n
    B = (g * (1.0 - x * x), xy, xn, xy, g * (1.0 - y * y), yn, xn, yn, g * (1.0 - n * n))
    A = (
        i * (1.0 - B[0]), -i * xy, -i * xn,
        -i * xy, i * (1.0 - B[4]), -i * yn,
        -i * xn, -i * yn, i * (1.0 - B[8]),
    )  # fmt: skip
    F = ((l[0] - bound * x) * i, (l[1] - bound * y) * i, (l[2] - bound * n) * i)
    return F, A, B


@kernel(inline=True)
def opens(B):
    """Whether the impulse of three rows is known without their velocity."""
    return B[0] == 0.0 and B[4] == 0.0 and B[8] == 0.0


@kernel(inline=True)
def sticks(A, B):
    """Whether the velocity of three rows is known without their impulse: A = 0, B = 1."""
    return A[0] == 0.0 and A[4] == 0.0 and A[8] == 0.0 and B[6] == 0.0 and B[7] == 0.0


# ---- bounds -------------------------------------------------------------------------------------


@kernel(inline=True)
def bound_by(partner, impulse):
    """The bound of rows that are limited by what another contact presses with."""
    return max(0.0, impulse[3 * partner + 2])
