"""Motors, dampers and springs of the joints, taken at the end of the step.

    τ = τ_ff + K_p (q_d − q⁺) + K_d (v_d − v⁺) − D v⁺ − K (q⁺ − q₀),   q⁺ = q + h v⁺,   v⁺ = v + h a           (1)
so that stiff loops are stable whatever the step; with a on the left-hand side this is

    M̂ a = τ₀ − b(q, v),   M̂ = M + h (D + K_d) + h² (K + K_p)                                                (2)
and contacts see M̂ as well. A motor that would have to give more than its limit gives its limit, and its loop leaves M̂.
Which motors these are shows at the end of the step only: those of the last step are the guess, ``judge`` tells who was
guessed wrong, and the step is done again. (To ask at its beginning would be wrong for stiff loops: what they would give
at once and what they give over the step differ by orders of magnitude, and the motor would bang between its limits.)
"""

from tabi._jit import kernel

INFINITY = float("inf")


@kernel(inline=True)
def load(m, q, v, target, h, w):
    """τ₀ of (2) in w.load, what is added to the diagonal of M in w.dof.added."""
    for k in range(v.shape[0]):
        par, dof, goal = m.dof[k], w.dof[k], target[k]
        place = q[par.q] if par.q >= 0 else 0.0
        force, added = goal.effort, par.armature + h * (par.damping + h * par.stiffness)
        kp = goal.kp if par.q >= 0 else 0.0
        if goal.saturated != 0 and par.effort_limit < INFINITY:
            force = goal.saturated * par.effort_limit
        else:
            goal.saturated = 0
            force += kp * (goal.position - place - h * v[k]) + goal.kd * (goal.velocity - v[k])
            added += h * (goal.kd + h * kp)
        goal.given = force
        dof.added = added
        stretch = place - par.rest + h * v[k] if par.q >= 0 else 0.0
        w.load[k] = force - par.damping * v[k] - par.stiffness * stretch


@kernel(inline=True)
def judge(m, q, free, target, h, release):
    """Set who is held by its limit from (1) at the end of the step, velocities ``free``; who was stays so unless ``release``.

    Returns:
        how many were guessed wrong.
    """
    wrong = 0
    for k in range(free.shape[0]):
        par, goal = m.dof[k], target[k]
        limit = par.effort_limit
        if limit < INFINITY and par.prescribed == 0:
            asked = goal.effort + goal.kd * (goal.velocity - free[k])
            if par.q >= 0:
                asked += goal.kp * (goal.position - q[par.q] - h * free[k])
            if goal.saturated == 0 and abs(asked) > limit:
                goal.saturated = 1 if asked > 0.0 else -1
                wrong += 1
            elif goal.saturated != 0 and release and goal.saturated * asked < limit:
                goal.saturated = 0
                wrong += 1
    return wrong


@kernel(inline=True)
def settle(m, v, free, target, h, w):
    """What the motors gave over the step, from the velocities before (v) and after it (free), in target.given."""
    for k in range(v.shape[0]):
        goal = target[k]
        if m.dof[k].prescribed != 0:
            goal.given = w.load[k]
        elif goal.saturated == 0:
            kp = goal.kp if m.dof[k].q >= 0 else 0.0
            goal.given -= (h * kp + goal.kd) * (free[k] - v[k])
