"""Motors, dampers and springs of the joints over a step of second order.

    τ = τ_ff + K_p (q_d − q_θ) + K_d (v_d − v_θ) − D v_θ − K (q_θ − q₀)
    v_θ = v + θ (v⁺ − v),   q_θ = q + θ h v_θ                                                    (1)
in place of (1) of ``forces.motors``, which is this with θ = 1; on the left-hand side

    M̂ a = τ₀ − b,   M̂ = M + h B,   B = θ (D + K_d + θ h (K + K_p))                              (2)
θ ∈ [½, 1] of each joint is that of ``middle``: ½, the rule of the middle, where a loop is slow
against the step, near 1 where it is stiff, so that it does not ring.
"""

from tabi.jit import kernel
from tabi.step.forces.motors import (
    INFINITY,
    LINE,
    LOOP,
    SPENT,
    has_given_motion,
    transfer_to_leader,
)

__all__ = ["finish", "judge", "load"]


@kernel(inline=True)
def load(part_memory, t, d, s, h):
    """Add τ₀ and h B of (2); bounds of motors are those of the first stage."""
    m = t.model
    for k in range(d.v.shape[0]):
        par, motor, joint = m.dof[k], d.command.motor[k], d.memory.joint[k]
        v, place, part = d.v[k], d.q[par.q] if par.q >= 0 else 0.0, s.second.share[k]
        kp = motor.kp if par.q >= 0 else 0.0
        s.added[k] += part * h * (par.damping + part * h * par.stiffness)
        limit = min(par.effort_limit, par.stall_effort)
        if joint.saturation != LOOP and limit < INFINITY:
            sign, bound = 1.0 if joint.saturation > 0 else -1.0, abs(joint.saturation)
            effort = sign * limit
            if bound == LINE:
                slope = par.stall_effort / par.no_load_speed
                effort = sign * par.stall_effort - slope * v
                s.added[k] += part * h * slope
            elif bound == SPENT:
                effort = 0.0
        else:
            effort = motor.effort
            effort += kp * (motor.position - place - part * h * v) + motor.kd * (motor.velocity - v)
            s.added[k] += part * h * (motor.kd + part * h * kp)
        d.outcome.effort[k].motor = effort
        stretch = place - par.rest + part * h * v if par.q >= 0 else 0.0
        s.applied[k] += effort - par.damping * v - par.stiffness * stretch


@kernel(inline=True)
def judge(part_memory, t, d, s, h, tolerance, guess):
    """Count motors beyond their limits; the step is then of first order."""
    m, wrong = t.model, 0
    for k in range(d.v.shape[0]):
        par, motor, v_next = m.dof[k], d.command.motor[k], s.v_next[k]
        most = min(par.effort_limit, par.stall_effort)
        if most < INFINITY and not has_given_motion(par, motor):
            effort = _mean_effort(par, motor, d, s, k, h)
            if par.no_load_speed < INFINITY:
                along = v_next if effort > 0.0 else -v_next
                most = min(most, par.stall_effort * (1.0 - along / par.no_load_speed))
            bound = abs(d.memory.joint[k].saturation)
            wrong += bound == LOOP and abs(effort) > max(0.0, most)
    return wrong, 0.0


@kernel(inline=True)
def _mean_effort(par, motor, d, s, k, h):
    """Return the effort of a motor over the step, with the change of its loop or line by v."""
    effort, bound, part = d.outcome.effort[k].motor, abs(d.memory.joint[k].saturation), 0.0
    if bound == LOOP:
        kp = motor.kp if par.q >= 0 else 0.0
        part = s.second.share[k] * h * kp + motor.kd
    elif bound == LINE:
        part = par.stall_effort / par.no_load_speed
    return effort - s.second.share[k] * part * (s.v_next[k] - d.v[k])


@kernel(inline=True)
def finish(part_memory, t, d, s, h):
    """Store efforts of motors over the step, from the velocities before and after it."""
    m = t.model
    for k in range(d.v.shape[0]):
        par, motor, effort = m.dof[k], d.command.motor[k], d.outcome.effort[k]
        if has_given_motion(par, motor):
            part = s.second.share[k]
            v = d.v[k] + part * (s.v_next[k] - d.v[k])
            effort.motor = s.dynamics.load[k] + s.reaction[k] / h + par.damping * v
            if par.q >= 0:
                effort.motor += par.stiffness * (d.q[par.q] + part * h * v - par.rest)
            effort.motor -= effort.constraint
        else:
            effort.motor = _mean_effort(par, motor, d, s, k, h)
    for c in range(m.mimic.shape[0]):
        transfer_to_leader(m, d, s, c, h)
