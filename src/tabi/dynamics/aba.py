"""Forward dynamics by the articulated-body algorithm, O(n): M a = τ − b(q, v).

Every degree of freedom is a rank-one elimination, so joints of one to six degrees of freedom are
all alike. From the leaves to the roots, for each column S of a body's joint, the last one first:

    U = I S,   D = Sᵀ U + d,   I ← I − U Uᵀ/D                 (d: diagonal added to M)          (1)
    u = τ − Sᵀ F,   F ← F + U u/D                             (F starts as RNEA's force)        (2)
then I and F are added to the parent's. From the roots to the leaves, the first column first,
y_world = 0:
    a = (u − Uᵀ y)/D,   y ← y + S a                                                            (3)
y is the acceleration on top of the one RNEA was given. Where the motion is prescribed, RNEA was
given its acceleration, (1)–(3) pass over it, and its force comes out: τ = Sᵀ F + d a + Uᵀ y.

(1) depends on q alone and factors M once; (2), (3) apply M⁻¹ to as many vectors as one likes.
References: Featherstone (2008), ch. 7 and 9.2 (hybrid dynamics).
"""

from tabi.dynamics import articulated
from tabi.jit import kernel
from tabi.spatial.vector import accumulate6, axpy6, dot6, load6, store6


@kernel
def factor(m, w):
    """Equation (1), with d = w.dof.added; needs ``kinematics.positions``.

    Returns:
        0, or 1 + the first degree of freedom found, from the leaves, whose D is not positive.
    """
    bad = 0
    articulated.rigid_bodies(m, w)
    for i in range(m.body.shape[0] - 1, 0, -1):
        body = m.body[i]
        I = articulated.load(w.body[i].inertia)
        for j in range(body.v_end - 1, body.v_start - 1, -1):
            dof = w.dof[j]
            S = load6(dof.motion)
            U = articulated.mul(I, S)
            D = dot6(S, U) + dof.added
            if not D > 0.0 and bad == 0:
                bad = j + 1
            dof.pivot = 1.0 / D
            store6(dof.gain, U)
            if w.dof[j].fixed == 0:
                I = articulated.without(I, U, dof.pivot)
        if body.parent != 0:
            out = w.body[body.parent].inertia
            articulated.store(out, articulated.sum(articulated.load(out), I))
    return bad


@kernel
def gather(m, tau, w):
    """Sum joint forces from the leaves to the root by equation (2)."""
    for i in range(m.body.shape[0] - 1, 0, -1):
        body = m.body[i]
        F = load6(w.body[i].force)
        for j in range(body.v_end - 1, body.v_start - 1, -1):
            dof = w.dof[j]
            load = dot6(load6(dof.motion), F)
            if w.dof[j].fixed != 0:
                dof.residual = load + dof.added * dof.known
            else:
                dof.residual = tau[j] - load
                F = axpy6(dof.residual * dof.pivot, load6(dof.gain), F)
        if body.parent != 0:
            accumulate6(w.body[body.parent].force, F)


@kernel
def spread(m, w, a, tau):
    """Equation (3); writes a, and τ where the motion is prescribed."""
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        y = load6(w.body[body.parent].delta)
        for j in range(body.v_start, body.v_end):
            dof = w.dof[j]
            coupled = dot6(load6(dof.gain), y)
            if w.dof[j].fixed != 0:
                tau[j] = dof.residual + coupled
                a[j] = dof.known
            else:
                a[j] = (dof.residual - coupled) * dof.pivot
                y = axpy6(a[j], load6(dof.motion), y)
        store6(w.body[i].delta, y)


@kernel
def respond(m, tau, w, a):
    """a = M⁻¹ τ, by (2) and (3) from rest; prescribed joints stay where they are."""
    for i in range(1, m.body.shape[0]):
        store6(w.body[i].force, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for j in range(a.shape[0]):
        w.dof[j].known = 0.0
    gather(m, tau, w)
    spread(m, w, a, tau)
