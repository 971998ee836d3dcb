"""Newton's step in the motions that bodies have in common, where these are few beside their twists
and beside the rows that do not open.

Equation (1) of ``twist_newton``, with ΔV = T y and G = J T of ``common_motions``, is

    Δλ = −C⁻¹ F − K G y,   (1 + Σ Gᵀ K G) y = −Σ Gᵀ C⁻¹ F                                      (1)
and the same step. A robot that lies on fourteen links has 84 twists, touches with sixty rows and
moves in thirty ways.
"""

from tabi.contact import common_motions as motions
from tabi.contact.common_motions import NO_MOTIONS, NOT_COMPUTED
from tabi.contact.maps import ZERO9
from tabi.contact.point_newton import OPENS, STICKS
from tabi.contact.row_slopes import bound_slope, inverse
from tabi.contact.rows import LIMITED
from tabi.jit import kernel
from tabi.spatial.vector import load3, load9, matmul, mul, scale, store3, store9, sub

# work of the others, for each body, from which on it may be worth while to look for motions
LOOK_FOR = 15


@kernel(inline=True)
def saves(p, work, other):
    """Work that (1) saves against the elimination of twists, which is arranged, where that may be
    more than ``other``; motions are computed only then.
    """
    bodies, products, w = p.start.shape[0] - 1, 0, work.motions
    if bodies < motions.LEAST_BODIES or w.rank[0] == NO_MOTIONS:
        return 0
    for step in range(bodies):
        m = work.lu.laters[step] + 1
        products += m * m
    if 2 * products - other < LOOK_FOR * bodies and w.rank[0] == NOT_COMPUTED:
        return 0
    if motions.rank_of(p, w) == NO_MOTIONS:
        return 0
    squares = 0
    for k in range(p.mu.shape[0]):
        if work.does[k] != OPENS:
            squares += motions.square(p, k, w)
    return 2 * products - motions.work(w, squares)


@kernel(apart="boolean", rare=True)
def solve(p, factor, eps, u, l, work):
    """Δλ without what follows partners into work.delta, from F there, B in work.slope, C in
    work.known and what rows do in work.does; False where the system is singular.
    """
    w, d, n = work.motions, work.delta, p.mu.shape[0]
    motions.clear(w)
    for k in range(n):
        _add(p, k, factor * p.weight[k], eps, u, l, work)
    if not motions.factor(w):
        return False
    motions.solve(w)
    for k in range(n):
        i, z = 3 * k, (0.0, 0.0, 0.0)
        if work.does[k] != OPENS:
            z = mul(load9(work.slope[k]), motions.row_motion(w, k, w.motion))
        d[i], d[i + 1], d[i + 2] = -d[i] - z[0], -d[i + 1] - z[1], -d[i + 2] - z[2]
    return True


@kernel(inline=True)
def _add(p, k, rho, eps, u, l, work):
    """Add three rows to the system; C⁻¹ F of them into work.delta, K into work.slope."""
    w, d, i, c, does = work.motions, work.delta, 3 * k, p.contact[k], work.does[k]
    f = load3(d[i : i + 3])
    motions.make_rows(p, k, w)
    if does == OPENS:
        # known impulses: F is −C⁻¹ F already
        store3(d[i : i + 3], scale(-1.0, f))
        store9(work.slope[k], ZERO9)
        motions.push(w, k, f, w.right)
        return
    if does == STICKS and c.angular == 0:
        stiff = rho / eps
        f, K = scale(stiff, f), (stiff, 0.0, 0.0, 0.0, stiff, 0.0, 0.0, 0.0, stiff)
    else:
        back = inverse(load9(work.known[k]))
        f, K = mul(back, f), matmul(back, load9(work.slope[k]))
    store9(work.slope[k], K)
    store3(d[i : i + 3], f)
    follows = c.partner >= 0 and p.kind[k] == LIMITED and bound_slope(p, k, u, l, rho, work)
    if follows:
        follow = load3(work.follow[k])
        motions.weigh_last(w, c.partner, load9(work.slope[c.partner]))
        motions.weigh(w, k, K, follow, True)
        f = sub(f, scale(d[3 * c.partner + 2], follow))
    elif motions.is_lone(p, k):
        motions.add_last(w, k, K[8])
    else:
        motions.weigh(w, k, K, f, False)
    if follows or not motions.is_lone(p, k):
        motions.add_three(w, k)
    motions.push(w, k, scale(-1.0, f), w.right)
