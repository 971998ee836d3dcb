"""Motors, dampers and springs of the joints, taken at the end of the step.

    τ = τ_ff + K_p (q_d − q⁺) + K_d (v_d − v⁺) − D v⁺ − K (q⁺ − q₀)
    q⁺ = q + h v⁺,   v⁺ = v + h a                                                              (1)
so that stiff loops are stable whatever the step; with a on the left-hand side this is

    M̂ a = τ₀ − b(q, v),   M̂ = M + h B,   B = D + K_d + h (K + K_p)                             (2)
τ₀ = τ at v⁺ = v. Contacts see M̂ as well. A motor that would have to give more than its limit gives
its limit, and its loop leaves M̂. Which motors saturate shows at the end of the step only: those of
the last step are the guess, ``judge`` tells which were guessed wrong, and the step is done again.
(To ask at its beginning would be wrong for stiff loops: what they would give at once and what they
give over the step differ by orders of magnitude, and the motor would bang between its limits.)
"""

from tabi._jit import kernel

INFINITY = float("inf")
# guesses after which a motor that saturates stays so
RELEASES = 2


@kernel(inline=True)
def load(own, t, d, s, h):
    """τ₀ and h B of (2)."""
    m = t.model
    for k in range(d.v.shape[0]):
        par, motor, joint = m.dof[k], d.command.motor[k], d.memory.joint[k]
        v, place = d.v[k], d.q[par.q] if par.q >= 0 else 0.0
        kp = motor.kp if par.q >= 0 else 0.0
        s.added[k] += h * (par.damping + h * par.stiffness)
        if joint.saturation != 0 and par.effort_limit < INFINITY:
            effort = joint.saturation * par.effort_limit
        else:
            joint.saturation = 0
            effort = motor.effort
            effort += kp * (motor.position - place - h * v) + motor.kd * (motor.velocity - v)
            s.added[k] += h * (motor.kd + h * kp)
        d.outcome.effort[k].motor = effort
        stretch = place - par.rest + h * v if par.q >= 0 else 0.0
        s.applied[k] += effort - par.damping * v - par.stiffness * stretch


@kernel(inline=True)
def judge(own, t, d, s, h, tolerance, guess):
    """Which motors saturate, from (1) at the end of the step;
    returns how many were guessed wrong.
    """
    m, wrong = t.model, 0
    for k in range(d.v.shape[0]):
        par, motor, joint, v_next = m.dof[k], d.command.motor[k], d.memory.joint[k], s.v_next[k]
        limit = par.effort_limit
        if limit < INFINITY and par.prescribed == 0:
            asked = motor.effort + motor.kd * (motor.velocity - v_next)
            if par.q >= 0:
                asked += motor.kp * (motor.position - d.q[par.q] - h * v_next)
            if joint.saturation == 0 and abs(asked) > limit:
                joint.saturation = 1 if asked > 0.0 else -1
                wrong += 1
            elif joint.saturation != 0 and guess < RELEASES and joint.saturation * asked < limit:
                joint.saturation = 0
                wrong += 1
    return wrong, 0.0


@kernel(inline=True)
def finish(own, t, d, s, h):
    """What the motors gave over the step, from the velocities before and after it."""
    m = t.model
    for k in range(d.v.shape[0]):
        motor, effort = d.command.motor[k], d.outcome.effort[k]
        if m.dof[k].prescribed != 0:
            effort.motor = s.dynamics.load[k]
        elif d.memory.joint[k].saturation == 0:
            kp = motor.kp if m.dof[k].q >= 0 else 0.0
            effort.motor -= (h * kp + motor.kd) * (s.v_next[k] - d.v[k])
