"""Solve the linear system of an interior-point step, A Δλ + B Δu = F, in the common motions of the
bodies: the reduced coordinates y of ``common_motions``, in which W = G Gᵀ.

With Δu = W Δλ, and A regular inside of the cones, the system becomes

    Δλ = A⁻¹ F − K G y,   (1 + Gᵀ K G) y = Gᵀ A⁻¹ F,   K = A⁻¹ B                               (1)
A robot has about thirty unknowns y, however many contacts it has and however many of its joints are
at their ends.

In the last steps of the method A is nearly singular where contacts stick. Then Δλ is a small
difference of two large terms and loses digits. So the residual of the original equations is
computed, and Δλ is corrected by it once (iterative refinement). If the residual is still too large,
``interior_methods`` solves the step in another way.

In the workspace A is ``work.known``, B is ``work.slope`` and the residual ``w.left``. The radius of
a ball may be the normal impulse of another contact, its ``partner``; g is the derivative with
respect to that radius.
"""

from tabi.contact import common_motions as motions
from tabi.contact.interior.interior_system import NOTHING, follows, has_three
from tabi.contact.row_slopes import inverse
from tabi.jit import kernel
from tabi.spatial.vector import (
    add,
    load3,
    load9,
    matmul,
    mul,
    scale,
    store3,
    store9,
    sub,
)

# relative residual of an equation: below the first no correction is made, above the second the step
# is rejected
GOOD_RESIDUAL, MAX_RESIDUAL = 1e-10, 1e-6


@kernel(apart="boolean", rare=True)
def factor(p, work):
    """Factor 1 + Gᵀ K G of (1); False where that fails."""
    w, g = work.interior, work.motions
    motions.clear(g)
    for k in range(p.mu.shape[0]):
        if w.does[k] == NOTHING:
            continue
        motions.make_rows(p, k, g)
        if not has_three(w.does[k]):
            back = 1.0 / work.known[k, 8]
            stiff = back * work.slope[k, 8]
            store9(w.back[k], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, back))
            store9(w.stiff[k], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, stiff))
            motions.add_last(g, k, stiff)
            continue
        back = inverse(load9(work.known[k]))
        K, pull, pulled = matmul(back, load9(work.slope[k])), (0.0, 0.0, 0.0), follows(p, w, k)
        store9(w.back[k], back)
        store9(w.stiff[k], K)
        if pulled:
            e, pull = p.contact[k].partner, mul(back, load3(work.follow[k]))
            store3(w.pull[k], pull)
            motions.weigh_last(g, e, load9(w.stiff[e]))
        motions.weigh(g, k, K, pull, pulled)
        motions.add_three(g, k)
    return motions.factor(g)


@kernel(apart="boolean", rare=True)
def solve(p, work):
    """Compute Δλ from F, and Δu = W Δλ; False if the residual is too large."""
    w, n = work.interior, 3 * p.mu.shape[0]
    for i in range(n):
        w.dl[i], w.left[i] = 0.0, w.F[i]
    error = 1.0
    for _ in range(2):
        _correct(p, work)
        error = _residual(p, work)
        if error <= GOOD_RESIDUAL:
            break
    return error <= MAX_RESIDUAL


@kernel
def _correct(p, work):
    """Solve (1) for the residual as right side, and add the result to Δλ."""
    w, g = work.interior, work.motions
    motions.zero(g.right, g.rank[0])
    for k in range(p.mu.shape[0]):
        if w.does[k] != NOTHING:
            i, f = 3 * k, mul(load9(w.back[k]), load3(w.left[3 * k : 3 * k + 3]))
            if follows(p, w, k):
                f = sub(f, scale(w.left[3 * p.contact[k].partner + 2], load3(w.pull[k])))
            store3(w.left[i : i + 3], f)
            motions.push(g, k, f, g.right)
    motions.solve(g)
    for k in range(p.mu.shape[0]):
        if w.does[k] != NOTHING:
            i = 3 * k
            x = scale(-1.0, mul(load9(w.stiff[k]), motions.row_motion(g, k, g.motion)))
            if follows(p, w, k):
                x = sub(x, scale(w.du[3 * p.contact[k].partner + 2], load3(w.pull[k])))
            # −K G y of the partner is there: contacts come before the rows that they bound
            store3(w.du[i : i + 3], x)
            store3(w.dl[i : i + 3], add(load3(w.dl[i : i + 3]), add(load3(w.left[i : i + 3]), x)))


@kernel
def _residual(p, work):
    """Compute Δu and the residual of the equations (w.left); return the largest residual of one
    equation relative to the sum of the magnitudes of its terms.
    """
    w, g, worst = work.interior, work.motions, 0.0
    motions.zero(g.motion, g.rank[0])
    for k in range(p.mu.shape[0]):
        if w.does[k] != NOTHING:
            motions.push(g, k, load3(w.dl[3 * k : 3 * k + 3]), g.motion)
    for k in range(p.mu.shape[0]):
        motions.make_rows(p, k, g)
        i, v, l = 3 * k, motions.row_motion(g, k, g.motion), load3(w.dl[3 * k : 3 * k + 3])
        store3(w.du[i : i + 3], v)
        if w.does[k] == NOTHING:
            continue
        A, B, pressed = work.known[k], work.slope[k], 0.0
        if follows(p, w, k):
            pressed = w.dl[3 * p.contact[k].partner + 2]
        for q in range(0 if has_three(w.does[k]) else 2, 3):
            left, size = w.F[i + q], abs(w.F[i + q])
            for e in range(3):
                x, y = A[3 * q + e] * l[e], B[3 * q + e] * v[e]
                left -= x + y
                size += abs(x) + abs(y)
            if pressed != 0.0:
                left -= work.follow[k, q] * pressed
                size += abs(work.follow[k, q] * pressed)
            w.left[i + q] = left
            # a NaN is the worst
            if not abs(left) <= worst * size:
                worst = abs(left) / size
    return worst
