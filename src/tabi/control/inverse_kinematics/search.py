"""Inverse kinematics: joint positions that bring every task as near to its target as tasks of
higher priority allow.

    level 0:  min ½‖e_0(q)‖²,   level p:  min ½‖e_p(q)‖²  with  e_h(q) = e_h*,  h < p,
    all with  l ≤ q ≤ u                                                                        (1)
e: weighted errors of ``errors``; e_h*: the result of level h, zero if its targets are reached.
Levels are solved one after the other, each by the method of Levenberg and Marquardt,

    x = argmin ½‖e_p − B_p x‖²/λ + ½‖x‖²   with  B_h x = e_h − e_h*,  l ≤ q ⊕ x ≤ u             (2)
    λ = μ ½‖e_p‖² + λ_0                                                                        (3)
by ``bounded``. Damping by the error itself makes it converge quadratically to a reachable target,
even where B loses rank, and keeps steps short far from it. A step is accepted if it decreases e_p
after higher levels are restored to e_h*, by steps like (2) for them alone; μ decreases after a step
that agrees with its model, and increases when a step is rejected. A level ends when its targets are
reached, or when no step within the limits would decrease its error: at the nearest point.

If a level is not reached, short trial runs start from other configurations within the limits,
always the same ones, until one reaches all targets or all have been aborted; from the best of them
levels are then solved completely.

References: Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method
(2011), of (3); Nielsen, Damping parameter in Marquardt's method (1999), of μ; Kanoun, Lamiraux,
Wieber, Kinematic control of redundant manipulators: generalizing the task-priority framework to
inequality tasks (2011), of (1).
"""

from math import isfinite, sqrt

from tabi.control.inverse_kinematics import bounded
from tabi.control.inverse_kinematics.errors import errors, rows
from tabi.control.inverse_kinematics.tables import POSTURE
from tabi.dynamics import kinematics
from tabi.jit import kernel
from tabi.model.arrays import FLOATING, SPHERICAL
from tabi.spatial import quaternion

# damping of fixed rows, and minimum damping of others
FIXED_ROW_DAMPING, MIN_DAMPING = 1e-12, 1e-8
# initial and maximum μ of (3)
INITIAL_MU, MAX_MU = 0.1, 1e12
# tolerance of fixed errors, relative to the tolerance of tasks, and its minimum; steps to restore
# them
FIXED_TOLERANCE_RATIO, MIN_FIXED_TOLERANCE, MAX_RESTORE_STEPS = 1e-3, 1e-13, 8
# a level is stationary: relative decrease of its cost by a step; largest step [rad or m]
MIN_DECREASE, MIN_STEP = 1e-12, 1e-12
# a trial run is aborted if its cost is more than this ratio of the cost so many steps before
MAX_COST_RATIO, PROGRESS_STEPS = 0.3, 5
MET, STANDS, STOPPED, BROKEN = 0, 1, 2, 3


@kernel
def solve(m, w, t, q_start):
    """Solve (1) into t.q; t.out: outcome, iterations, starts."""
    t.out[1], t.out[2] = 0, 0
    furthest, least, levels = -1, 0.0, t.levels.shape[0]
    for p in range(levels):
        t.ended[p] = MET
    for start in range(t.starts.shape[0] + 1):
        _copy(q_start, t.q)
        if start > 0:
            _start_from(m, t, t.starts[start - 1])
        _into_limits(m, t)
        t.out[2] += 1
        p = _levels(m, w, t, True)
        cost = 0.0 if p == levels else t.cost[p]
        if p > furthest or (p == furthest and cost < least):
            furthest, least = p, cost
            _copy(t.q, t.best)
        if p == levels:
            break
    # a trial run that reached all targets is final
    done = furthest == levels
    for p in range(levels):
        done = done and _met(t, p, True)
    if not done:
        _copy(t.best, t.q)
        _levels(m, w, t, False)
    t.out[0] = _outcome(t)
    return t.out[0]


@kernel
def _outcome(t):
    """Return the worst outcome of all levels."""
    outcome = MET
    for p in range(t.levels.shape[0]):
        if t.ended[p] == BROKEN:
            return BROKEN
        if not _met(t, p, False):
            outcome = max(outcome, t.ended[p] if t.ended[p] != MET else STANDS)
    return outcome


@kernel
def _levels(m, w, t, trial_run):
    """Solve the levels one after the other, from t.q; return the first that is not reached. A trial
    run only counts reachable levels; levels with a posture are not meant to be reached.
    """
    for k in range(t.state.shape[0]):
        t.state[k] = 0
    kinematics.positions(m, t.q, w)
    errors(m, w, t.q, t, t.e)
    first = t.levels.shape[0]
    for p in range(t.levels.shape[0]):
        begin, end = t.levels[p - 1] if p > 0 else 0, t.levels[p]
        if trial_run and _has_posture(t, p):
            break
        t.ended[p] = _level(m, w, t, p, trial_run)
        t.cost[p] = _cost(t.e, begin, end)
        met = _met(t, p, True)
        for i in range(begin, end):
            t.e_fixed[i] = 0.0 if met else t.e[i]
        if not _met(t, p, False):
            first = min(first, p)
            if trial_run:
                break
    return first


@kernel
def _level(m, w, t, p, trial_run):
    """Iterate (2) until the level is reached or stationary; bodies and errors are those of t.q
    before and after.
    """
    begin, end = t.levels[p - 1] if p > 0 else 0, t.levels[p]
    mu, growth, has_moved = INITIAL_MU, 2.0, False
    cost = _cost(t.e, begin, end)
    if _met(t, p, True):
        return MET
    rows(m, w, t.q, t, p + 1)
    outcome, earlier_cost, fixed_slack = (
        STOPPED,
        cost,
        (10.0 * _fixed_tolerance(t) if p > 0 else 0.0),
    )
    for count in range(int(t.settings[1])):
        if not isfinite(cost):
            return BROKEN
        if trial_run and count % PROGRESS_STEPS == PROGRESS_STEPS - 1:
            if cost > MAX_COST_RATIO * earlier_cost:
                break
            earlier_cost = cost
        t.out[1] += 1
        _set_up_step(m, t, begin, end, mu * cost + MIN_DAMPING)
        bounded.step(t, end)
        gain, longest = cost - _model_cost(t, begin, end), _apply_step(m, t, t.q, t.trial)
        if not (gain > MIN_DECREASE * cost and longest > MIN_STEP):
            outcome = STANDS
            break
        kinematics.positions(m, t.trial, w)
        errors(m, w, t.trial, t, t.e_trial)
        has_moved, restored = _restore_fixed(m, w, t, p)
        now = _cost(t.e_trial, begin, end)
        if restored and now < cost:
            share = (cost - now) / gain
            mu *= max(1.0 / 3.0, 1.0 - (2.0 * share - 1.0) ** 3)
            growth, cost = 2.0, now
            _copy(t.trial, t.q)
            _copy(t.e_trial, t.e)
            if _met(t, p, True):
                return MET
            rows(m, w, t.q, t, p + 1)
        else:
            mu, growth = mu * growth, 2.0 * growth
            # the remaining gain is within the tolerance of fixed errors
            if mu > MAX_MU or (restored and gain < fixed_slack * sqrt(cost)):
                outcome = STANDS
                break
            if has_moved:
                evaluate(m, w, t, t.q)
    evaluate(m, w, t, t.q)
    return outcome


@kernel(inline=True)
def _fixed_tolerance(t):
    """Return the tolerance of a fixed error."""
    return max(FIXED_TOLERANCE_RATIO * t.settings[0], MIN_FIXED_TOLERANCE)


@kernel
def _model_cost(t, begin, end):
    """Return ½‖e_p − B_p x‖², the cost of the linear model after a step."""
    left = 0.0
    for i in range(begin, end):
        left += 0.5 * (t.damping[i] * t.y[i]) * (t.damping[i] * t.y[i])
    return left


@kernel
def evaluate(m, w, t, q):
    """Compute bodies, errors and rows of all levels at q."""
    kinematics.positions(m, q, w)
    errors(m, w, q, t, t.e)
    rows(m, w, q, t, t.levels.shape[0])


@kernel
def _set_up_step(m, t, begin, end, damping):
    """Write right-hand side, damping and bounds of (2)."""
    for i in range(end):
        holds = i < begin
        t.r[i] = t.e[i] - t.e_fixed[i] if holds else t.e[i]
        t.damping[i] = FIXED_ROW_DAMPING if holds else damping
    _set_bounds(m, t, t.q)


@kernel
def _set_bounds(m, t, q):
    """Compute the bounds of each column, from q."""
    for f in range(t.free.shape[0]):
        k = t.free[f]
        at = m.dof[k].q
        if at >= 0:
            t.low[k], t.high[k] = t.lower[k] - q[at], t.upper[k] - q[at]


@kernel
def _restore_fixed(m, w, t, p):
    """Restore the errors of higher levels at t.trial to their fixed values; return whether bodies
    and rows have been updated to there, and whether it succeeded.
    """
    end, tolerance = (t.levels[p - 1] if p > 0 else 0), _fixed_tolerance(t)
    has_moved = False
    for tries in range(MAX_RESTORE_STEPS):
        worst = 0.0
        for i in range(end):
            error = abs(t.e_trial[i] - t.e_fixed[i])
            if not error <= worst:
                worst = error
        if worst <= tolerance:
            return has_moved, True
        if not worst < 1.0 or tries == MAX_RESTORE_STEPS - 1:
            break
        has_moved = True
        rows(m, w, t.trial, t, p)
        for i in range(end):
            t.r[i], t.damping[i] = t.e_trial[i] - t.e_fixed[i], FIXED_ROW_DAMPING
        _set_bounds(m, t, t.trial)
        bounded.step(t, end)
        _apply_step(m, t, t.trial, t.trial)
        kinematics.positions(m, t.trial, w)
        errors(m, w, t.trial, t, t.e_trial)
    return has_moved, False


@kernel
def _apply_step(m, t, q, out):
    """Compute out ← q ⊕ x, exactly within the limits; return the largest number of x."""
    _copy(q, out)
    longest = 0.0
    for f in range(t.free.shape[0]):
        k = t.free[f]
        if not abs(t.x[k]) <= longest:
            longest = abs(t.x[k])
        at = m.dof[k].q
        if at < 0:
            continue
        if t.state[k] > 0:
            out[at] = t.upper[k]
        elif t.state[k] < 0:
            out[at] = t.lower[k]
        else:
            out[at] = min(max(q[at] + t.x[k], t.lower[k]), t.upper[k])
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        if body.kind == SPHERICAL or body.kind == FLOATING:
            a, k = body.q_start, body.v_start
            if body.kind == FLOATING:
                for j in range(3):
                    out[a + j] += t.x[k + j]
                a, k = a + 3, k + 3
            phi = (t.x[k], t.x[k + 1], t.x[k + 2])
            Q = quaternion.rotated((out[a], out[a + 1], out[a + 2], out[a + 3]), phi)
            out[a], out[a + 1], out[a + 2], out[a + 3] = Q[0], Q[1], Q[2], Q[3]
    _follow(m, out)
    return longest


@kernel
def _follow(m, q):
    """Set followers from their leaders; as many rounds as a chain of them can be long."""
    for _ in range(m.mimic.shape[0]):
        changed = False
        for c in range(m.mimic.shape[0]):
            row = m.mimic[c]
            at, new = m.dof[row.follower].q, row.ratio * q[m.dof[row.leader].q] + row.offset
            changed = changed or q[at] != new
            q[at] = new
        if not changed:
            break


@kernel
def _into_limits(m, t):
    """Clip t.q to the limits of the free joints."""
    for f in range(t.free.shape[0]):
        k = t.free[f]
        at = m.dof[k].q
        if at >= 0:
            t.q[at] = min(max(t.q[at], t.lower[k]), t.upper[k])
    _follow(m, t.q)


@kernel
def _start_from(m, t, other):
    """Copy the free joints from another configuration; floating bases keep their poses."""
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        if body.parent == 0 and body.kind == FLOATING:
            continue
        for f in range(t.free.shape[0]):
            k = t.free[f]
            if body.v_start <= k < body.v_end:
                if m.dof[k].q >= 0:
                    t.q[m.dof[k].q] = other[m.dof[k].q]
                elif k == body.v_start and body.kind == SPHERICAL:
                    for j in range(4):
                        t.q[body.q_start + j] = other[body.q_start + j]


@kernel
def _copy(a, out):
    """Copy array a to out."""
    for i in range(a.shape[0]):
        out[i] = a[i]


@kernel
def _cost(e, begin, end):
    """Return ½‖e‖² of a level."""
    cost = 0.0
    for i in range(begin, end):
        cost += 0.5 * e[i] * e[i]
    return cost


@kernel
def _has_posture(t, p):
    """Check whether a posture is among the tasks of a level."""
    for b in range(t.block.shape[0]):
        if t.block[b].level == p and t.block[b].kind == POSTURE:
            return True
    return False


@kernel
def _met(t, p, postures):
    """Check whether every task of a level is within the tolerance; postures only count with
    ``postures``.
    """
    for b in range(t.block.shape[0]):
        block = t.block[b]
        if block.level != p or (block.kind == POSTURE and not postures):
            continue
        if not block.error <= t.settings[0]:
            return False
    return True


@kernel
def is_valid(m, q):
    """Check whether all numbers of q are finite and its quaternions of length one."""
    for i in range(q.shape[0]):
        if not isfinite(q[i]):
            return False
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        if body.kind == SPHERICAL or body.kind == FLOATING:
            a, square = body.q_start + (3 if body.kind == FLOATING else 0), 0.0
            for j in range(4):
                square += q[a + j] * q[a + j]
            if not abs(square - 1.0) < 2e-6:
                return False
    return True
