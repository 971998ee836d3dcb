"""Motors, dampers and springs of the joints, taken at the end of the step.

    τ = τ_ff + K_p (q_d − q⁺) + K_d (v_d − v⁺) − D v⁺ − K (q⁺ − q₀)
    q⁺ = q + h v⁺,   v⁺ = v + h a                                                              (1)
so that stiff loops are stable whatever the step; with a on the left-hand side this is

    M̂ a = τ₀ − b(q, v),   M̂ = M + h B,   B = D + K_d + h (K + K_p)                             (2)
τ₀ = τ at v⁺ = v. Contacts see M̂ as well. The effort of the motor, its first three terms, stays
within bounds that depend on v⁺ too:

    −U(−v⁺) ≤ τ_motor ≤ U(v⁺),   U(v) = max(0, min(T, T_s, T_s (1 − v / v₀)))                   (3)
T: effort limit; T_s, v₀: effort at rest and no-load speed of the motor's line, if it has one.
Against the motion, in braking, only T and T_s hold. A motor at a bound has that effort, and its
loop leaves M̂; on its line it adds T_s/v₀ to B instead. Which motors are at which bound is known at
the end of the step only: the last step's answer is the guess, ``judge`` finds wrong guesses, and
the step is solved again. (A check at its beginning would be wrong for stiff loops: their efforts at
once and over the step differ by orders of magnitude, and the motor would bang between its limits.)

A joint with given motion has no loop: its motor has the effort of that motion, and that of the
joints that follow it, times their ratios.

Reference: Chardonnet (2012), eq. 22.
"""

from tabi.jit import kernel

INFINITY = float("inf")
# bound of a motor, in ``saturation`` with the sign of its effort: none but its loop; its limit; its
# line; a speed beyond the end of the line, with no effort
LOOP, LIMIT, LINE, SPENT = 0, 1, 2, 3
# guesses after which a saturated motor stays so
RELEASE_GUESS_COUNT = 2
# guesses in which all motors with a line change at once; guesses after which an error of
# ROUGH_TOLERANCE of the limit is accepted, as contacts leave as much
SIMULTANEOUS_GUESS_COUNT, EXACT_GUESS_COUNT = 3, 20
ROUNDING, ROUGH_TOLERANCE = 1e-12, 1e-7


@kernel(inline=True)
def has_given_motion(par, motor):
    """Whether the motion of a joint is given, and its effort computed."""
    return par.prescribed != 0 or motor.exact != 0


@kernel(inline=True)
def load(part_memory, t, d, s, h):
    """Add τ₀ and h B of (2) to s.applied and s.added."""
    m = t.model
    for k in range(d.v.shape[0]):
        par, motor, joint = m.dof[k], d.command.motor[k], d.memory.joint[k]
        v, place = d.v[k], d.q[par.q] if par.q >= 0 else 0.0
        kp = motor.kp if par.q >= 0 else 0.0
        s.added[k] += h * (par.damping + h * par.stiffness)
        limit = min(par.effort_limit, par.stall_effort)
        if joint.saturation != LOOP and limit < INFINITY:
            sign, bound = 1.0 if joint.saturation > 0 else -1.0, abs(joint.saturation)
            effort = sign * limit
            if bound == LINE:
                slope = par.stall_effort / par.no_load_speed
                effort = sign * par.stall_effort - slope * v
                s.added[k] += h * slope
            elif bound == SPENT:
                effort = 0.0
        else:
            joint.saturation = LOOP
            effort = motor.effort
            effort += kp * (motor.position - place - h * v) + motor.kd * (motor.velocity - v)
            s.added[k] += h * (motor.kd + h * kp)
        d.outcome.effort[k].motor = effort
        stretch = place - par.rest + h * v if par.q >= 0 else 0.0
        s.applied[k] += effort - par.damping * v - par.stiffness * stretch


@kernel(inline=True)
def judge(part_memory, t, d, s, h, tolerance, guess):
    """Find saturated motors from (1) at the end of the step; returns the number of wrong
    guesses.
    """
    m, wrong = t.model, 0
    for k in range(d.v.shape[0]):
        par, motor, joint, v_next = m.dof[k], d.command.motor[k], d.memory.joint[k], s.v_next[k]
        limit = par.effort_limit
        line = par.no_load_speed < INFINITY
        if (limit < INFINITY or line) and not has_given_motion(par, motor):
            requested = motor.effort + motor.kd * (motor.velocity - v_next)
            if par.q >= 0:
                requested += motor.kp * (motor.position - d.q[par.q] - h * v_next)
            if line:
                bound = _next_bound(par, joint.saturation, requested, v_next, guess)
                if bound != joint.saturation:
                    wrong += 1
                    if guess < SIMULTANEOUS_GUESS_COUNT or (k + guess) % 3 == 0:
                        joint.saturation = bound
            elif joint.saturation == LOOP and abs(requested) > limit:
                joint.saturation = LIMIT if requested > 0.0 else -LIMIT
                wrong += 1
            elif (
                joint.saturation != LOOP
                and guess < RELEASE_GUESS_COUNT
                and joint.saturation * requested < limit
            ):
                joint.saturation = LOOP
                wrong += 1
    return wrong, 0.0


@kernel
def _next_bound(par, now, requested, v, guess):
    """Return the bound of a motor with a line by (3): the guess ``now``, if that gives the right
    effort at the velocity v; else the next guess. That is a neighbour in v of the last one, as
    leaps over a piece may cycle: LOOP lies between bounds of either sign, LINE between its ends.
    """
    stall, top = par.stall_effort, par.no_load_speed
    limit = min(par.effort_limit, stall)
    sign = 1.0 if requested > 0.0 else -1.0
    line = stall * (1.0 - sign * v / top)
    bound, most = LIMIT, limit
    if sign * v >= top:
        bound, most = SPENT, 0.0
    elif line < limit:
        bound, most = LINE, line
    right = requested
    if abs(requested) > most:
        right = sign * most
    else:
        bound = LOOP
    # effort of the guess
    side, gave = 1.0 if now > 0 else -1.0, requested
    if abs(now) == LIMIT:
        gave = side * limit
    elif abs(now) == LINE:
        gave = side * stall - stall / top * v
    elif abs(now) == SPENT:
        gave = 0.0
    if abs(gave - right) <= (ROUNDING if guess < EXACT_GUESS_COUNT else ROUGH_TOLERANCE) * limit:
        return now
    if bound == LOOP or (now != LOOP and side != sign):
        return LOOP
    if abs(now) + bound == LIMIT + SPENT:
        bound = LINE
    return bound if sign > 0.0 else -bound


@kernel(inline=True)
def finish(part_memory, t, d, s, h):
    """Store efforts of motors over the step, from the velocities before and after it."""
    m = t.model
    for k in range(d.v.shape[0]):
        par, motor, effort = m.dof[k], d.command.motor[k], d.outcome.effort[k]
        bound, v_next = abs(d.memory.joint[k].saturation), s.v_next[k]
        if has_given_motion(par, motor):
            # effort of the motion, less that of damper, spring and dry friction
            effort.motor = s.dynamics.load[k] + s.reaction[k] / h + par.damping * v_next
            if par.q >= 0:
                effort.motor += par.stiffness * (d.q[par.q] + h * v_next - par.rest)
            effort.motor -= effort.constraint
        elif bound == LOOP:
            kp = motor.kp if par.q >= 0 else 0.0
            effort.motor -= (h * kp + motor.kd) * (v_next - d.v[k])
        elif bound == LINE:
            effort.motor -= par.stall_effort / par.no_load_speed * (v_next - d.v[k])
    for c in range(m.mimic.shape[0]):
        transfer_to_leader(m, d, s, c, h)


@kernel(inline=True)
def transfer_to_leader(m, d, s, c, h):
    """Transfer effort of the follower of coupling c, beyond its own forces, to its leader."""
    k, w = m.mimic[c].follower, s.dynamics
    if w.dof[k].fixed == 0 or has_given_motion(m.dof[k], d.command.motor[k]):
        return
    effort = s.applied[k] - (s.added[k] - m.dof[k].armature) / h * (s.v_next[k] - d.v[k])
    share = m.mimic[c].ratio * (w.load[k] + s.reaction[k] / h - effort)
    leader = m.mimic[c].leader
    # leaders may follow others
    for _ in range(m.mimic.shape[0]):
        for e in range(m.mimic.shape[0]):
            if m.mimic[e].follower == leader and not has_given_motion(
                m.dof[leader], d.command.motor[leader]
            ):
                share, leader = share * m.mimic[e].ratio, m.mimic[e].leader
    d.outcome.effort[leader].motor += share
