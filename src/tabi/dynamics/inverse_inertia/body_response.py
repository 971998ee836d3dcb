"""Changes of all joint velocities by impulses on contacting bodies: dv = M̂⁻¹ Σ J_iᵀ F_i.

Wrenches leave u = Σ R_iᵀ F_i in the joints, with the rows R of ``body_inertia``, from which one
pass to the leaves, (3) of ``aba``, makes M̂⁻¹ Σ J_iᵀ F_i. Where Ω has the factors of
``tree_inertia`` the wrenches go from child to parent instead. Joints that follow others take their
part out of u (``followers``). A free object moves by its own inertia alone.
"""

from tabi.dynamics import followers
from tabi.dynamics.inverse_inertia import tree_inertia
from tabi.jit import kernel
from tabi.spatial import symmetric
from tabi.spatial.vector import (
    accumulate6,
    add,
    angular,
    axpy6,
    cross,
    dot,
    dot6,
    linear,
    load3,
    load6,
    scale,
    store6,
    sub,
)


@kernel
def respond(m, w, c, bodies, count, wrench, dv):
    """dv = M̂⁻¹ Σ J_iᵀ F_i, shape (v,): what impulses on the contacting bodies add to the
    velocities; needs ``body_inertia.omega``.

    Args:
        wrench: F_i at 6i, angular first, about the origin of the body's tree [N·m·s, N·s];
            by factors it ends as all that the body carries.
    """
    for k in range(dv.shape[0]):
        dv[k] = 0.0
        w.dof[k].residual = 0.0
    for i in range(count):
        b = bodies[i]
        F = load6(wrench[6 * i : 6 * i + 6])
        if c.contacting[b].plain != 0:
            _fly(m, w, b, F, dv)
        elif c.above[i] == tree_inertia.BLOCKS:
            t = c.body[b].slot + c.body[b].depth
            while b != 0:
                for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
                    t -= 1
                    w.dof[k].residual += dot6(load6(c.row[t]), F)
                b = m.body[b].parent
    # parents come before their children
    for i in range(count - 1, -1, -1):
        if c.above[i] != tree_inertia.BLOCKS and c.contacting[bodies[i]].plain == 0:
            F = tree_inertia.leave(m, w, bodies[i], load6(wrench[6 * i : 6 * i + 6]))
            if c.above[i] >= 0:
                accumulate6(wrench[6 * c.above[i] : 6 * c.above[i] + 6], F)
    if m.mimic.shape[0] > 0:
        followers.remove(w, c)
    for i in range(1, m.body.shape[0]):
        # plain objects have moved already
        if c.body[i].lone == 0 or c.contacting[i].plain == 0:
            _descend(m, w, i, dv)
    for e in range(m.mimic.shape[0]):
        # (2) of ``followers`` leaves rounding; they get exactly their share
        row = m.mimic[e]
        if m.dof[row.follower].prescribed == 0:
            dv[row.follower] = row.ratio * dv[row.leader]


@kernel(inline=True)
def _fly(m, w, b, F, dv):
    """Velocities of a free object under the wrench F:
    about its centre of mass c, then at its origin, in its joint's axes.
    """
    c, f = load3(w.body[b].centre), linear(F)
    turn = symmetric.solve(load6(w.body[b].tensor), sub(angular(F), cross(c, f)))
    speed = add(scale(1.0 / m.body[b].mass, f), cross(c, turn))
    for j in range(m.body[b].v_start, m.body[b].v_start + 3):
        dv[j] = dot(linear(load6(w.dof[j].motion)), speed)
        dv[j + 3] = dot(angular(load6(w.dof[j + 3].motion)), turn)


@kernel(inline=True)
def _descend(m, w, i, dv):
    """Equation (3) of ``aba`` for one body, its parent's done;
    fixed joints stay where they are, and their reaction comes out.
    """
    y = load6(w.body[m.body[i].parent].delta)
    for j in range(m.body[i].v_start, m.body[i].v_end):
        if w.dof[j].fixed == 0:
            dof = w.dof[j]
            dv[j] = (dof.residual - dot6(load6(dof.gain), y)) * dof.pivot
            y = axpy6(dv[j], load6(dof.motion), y)
        else:
            w.dof[j].reaction = dot6(load6(w.dof[j].gain), y) - w.dof[j].residual
    store6(w.body[i].delta, y)
