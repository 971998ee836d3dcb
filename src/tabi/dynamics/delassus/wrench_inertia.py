"""Ω of contacting bodies by six unit wrenches on each, as Chardonnet (2012, section 3.2) computes
it.

Each wrench goes up from its body to the root and the motion comes down again, with the factors of
``aba``, no velocities, no gravity and no joint forces; the twists of the contacting bodies are a
column of Ω (his equations 5 to 9):

    u = Sᵀ x,   x ← x − U u/D             up the branch of the body
    a = (u − Uᵀ y)/D,   y ← y + S a       down to the others                              (1)
Only branches that carry contacting bodies are visited. ``body_inertia`` has the same matrix without
the way down.
"""

from tabi.dynamics.delassus.branch_inertia import branches
from tabi.jit import kernel
from tabi.spatial.vector import axpy6, dot6, load6, store6


@kernel
def omega(m, w, bodies, count, mark, start, column, out):
    """Blocks of Ω, angular first; needs ``aba.factor``;
    arguments as in ``branch_inertia.omega``.
    """
    branches(m, bodies, count, mark)
    for i in range(count):
        root = m.body[bodies[i]].root
        for b in range(root, mark.shape[0]):
            if mark[b] != 0:
                for k in range(m.body[b].v_start, m.body[b].v_end):
                    w.dof[k].residual = 0.0
        for c in range(6):
            _up(m, w, bodies[i], c)
            _down(m, w, root, mark)
            for e in range(start[i], start[i + 1]):
                # the twist of the other body is a column of its block with i,
                # so a row of the block here
                b = bodies[column[e]]
                store6(
                    out[e, c],
                    load6(w.body[b].delta)
                    if m.body[b].root == root
                    else (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
                )


@kernel(inline=True)
def _up(m, w, b, c):
    x = (
        1.0 if c == 0 else 0.0,
        1.0 if c == 1 else 0.0,
        1.0 if c == 2 else 0.0,
        1.0 if c == 3 else 0.0,
        1.0 if c == 4 else 0.0,
        1.0 if c == 5 else 0.0,
    )
    while b != 0:
        for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
            if w.dof[k].fixed == 0:
                dof = w.dof[k]
                dof.residual = dot6(load6(dof.motion), x)
                x = axpy6(-dof.residual * dof.pivot, load6(dof.gain), x)
        b = m.body[b].parent


@kernel(inline=True)
def _down(m, w, root, mark):
    for b in range(root, mark.shape[0]):
        if mark[b] != 0 and m.body[b].root == root:
            y = load6(w.body[m.body[b].parent].delta)
            for k in range(m.body[b].v_start, m.body[b].v_end):
                if w.dof[k].fixed == 0:
                    dof = w.dof[k]
                    a = (dof.residual - dot6(load6(dof.gain), y)) * dof.pivot
                    y = axpy6(a, load6(dof.motion), y)
            store6(w.body[b].delta, y)
