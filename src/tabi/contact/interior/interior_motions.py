"""The step of ``interior_point`` in the motions that bodies have in common, A Δλ + B Δu = F.

With Δu = W Δλ, W = G Gᵀ of ``common_motions``, and A regular inside of the cones, that is

    Δλ = A⁻¹ F − K G y,   (1 + Gᵀ K G) y = Gᵀ A⁻¹ F,   K = A⁻¹ B                               (1)
of some thirty unknowns for a robot, whatever it lies on and however many of its joints jam. Near
the end A is nearly singular where contacts stick, and both parts of Δλ are large beside it: what is
left of the equations is looked at, and Δλ is corrected by it once; where that is not enough the
step is solved in another way (``interior_methods``).
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

# relative residual of an equation: without a correction, and at most
GOOD_RESIDUAL, MAX_RESIDUAL = 1e-10, 1e-6


@kernel(apart="boolean", rare=True)
def factor(p, work):
    """Factors of (1), from A in work.known and B in work.slope."""
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
    """Δλ from F, and Δu = W Δλ; False where they do not solve the equations."""
    w, n = work.interior, 3 * p.mu.shape[0]
    for i in range(n):
        w.dl[i], w.left[i] = 0.0, w.F[i]
    error = 1.0
    for _ in range(2):
        _correct(p, work)
        error = _look(p, work)
        if error <= GOOD_RESIDUAL:
            break
    return error <= MAX_RESIDUAL


@kernel
def _correct(p, work):
    """Add Δλ of what is left."""
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
            # what the motions do of a partner's step is known before
            store3(w.du[i : i + 3], x)
            store3(w.dl[i : i + 3], add(load3(w.dl[i : i + 3]), add(load3(w.left[i : i + 3]), x)))


@kernel
def _look(p, work):
    """Δu, and what is left of the equations into w.left; returns the largest part of its terms that
    one of them misses.
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
