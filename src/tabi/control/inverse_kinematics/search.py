"""Inverse kinematics: the joints that bring every task as near to its target as those of higher
priority let it come.

    level 0:  min ½‖e_0(q)‖²,   level p:  min ½‖e_p(q)‖²  with  e_h(q) = e_h*,  h < p,
    all with  l ≤ q ≤ u                                                                        (1)
e: weighted errors of ``errors``; e_h*: what level h came to, zero where it is met. Levels are
solved one after the other, each by the method of Levenberg and Marquardt,

    x = argmin ½‖e_p − B_p x‖²/λ + ½‖x‖²   with  B_h x = e_h − e_h*,  l ≤ q ⊕ x ≤ u             (2)
    λ = μ ½‖e_p‖² + λ_0                                                                        (3)
by ``bounded``. Damping by the error itself makes it converge quadratically to a target that can be
reached, even where B loses rank, and keeps steps short far from it. A step is taken if it makes
e_p smaller after higher levels are back at e_h*, which is done by steps like (2) for them alone; μ
falls after a step that did what its model said, and grows when one is refused. A level ends when
it is met, or when no step within the limits would make it better: at the nearest point.

Where a level is not met, scouts start from other configurations within the limits, always the same
ones, until one meets all or all have turned back; from the best of them levels are then solved to
their end.

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

# damping of rows that hold, and least damping of others
HOLD, LEAST = 1e-12, 1e-8
# first μ of (3), and the largest
MU, MU_MOST = 0.1, 1e12
# what an error that is held may be off, of the tolerance and at least; steps to bring it back
LEEWAY, LEAST_LEEWAY, RESTORING = 1e-3, 1e-13, 8
# a level stands still: of its cost what a step would take off it; largest step [rad or m]
STILL, SHORTEST = 1e-12, 1e-12
# a scout turns back where the cost is more than this of what it was so many steps before
PROGRESS, PATIENCE = 0.3, 5
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
    # a scout that has met everything has nothing left to do
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
    """The worst of all levels."""
    outcome = MET
    for p in range(t.levels.shape[0]):
        if t.ended[p] == BROKEN:
            return BROKEN
        if not _met(t, p, False):
            outcome = max(outcome, t.ended[p] if t.ended[p] != MET else STANDS)
    return outcome


@kernel
def _levels(m, w, t, scouting):
    """Each level in turn, from t.q; a scout only looks how many of them can be met, which a level
    with a posture is not meant to be. Returns the first that is not.
    """
    for k in range(t.state.shape[0]):
        t.state[k] = 0
    kinematics.positions(m, t.q, w)
    errors(m, w, t.q, t, t.e)
    first = t.levels.shape[0]
    for p in range(t.levels.shape[0]):
        begin, end = t.levels[p - 1] if p > 0 else 0, t.levels[p]
        if scouting and _has_posture(t, p):
            break
        t.ended[p] = _level(m, w, t, p, scouting)
        t.cost[p] = _cost(t.e, begin, end)
        met = _met(t, p, True)
        for i in range(begin, end):
            t.held[i] = 0.0 if met else t.e[i]
        if not _met(t, p, False):
            first = min(first, p)
            if scouting:
                break
    return first


@kernel
def _level(m, w, t, p, scouting):
    """(2) until the level is met or stands still; bodies and errors are those of t.q before and
    after.
    """
    begin, end = t.levels[p - 1] if p > 0 else 0, t.levels[p]
    mu, growth, moved = MU, 2.0, False
    cost = _cost(t.e, begin, end)
    if _met(t, p, True):
        return MET
    rows(m, w, t.q, t, p + 1)
    outcome, mark, blur = STOPPED, cost, (10.0 * _leeway(t) if p > 0 else 0.0)
    for count in range(int(t.settings[1])):
        if not isfinite(cost):
            return BROKEN
        if scouting and count % PATIENCE == PATIENCE - 1:
            if cost > PROGRESS * mark:
                break
            mark = cost
        t.out[1] += 1
        _pose(m, t, begin, end, mu * cost + LEAST)
        bounded.step(t, end)
        gain, longest = cost - _left(t, begin, end), _moved(m, t, t.q, t.trial)
        if not (gain > STILL * cost and longest > SHORTEST):
            outcome = STANDS
            break
        kinematics.positions(m, t.trial, w)
        errors(m, w, t.trial, t, t.tried)
        moved, held = _restore(m, w, t, p)
        now = _cost(t.tried, begin, end)
        if held and now < cost:
            share = (cost - now) / gain
            mu *= max(1.0 / 3.0, 1.0 - (2.0 * share - 1.0) ** 3)
            growth, cost = 2.0, now
            _copy(t.trial, t.q)
            _copy(t.tried, t.e)
            if _met(t, p, True):
                return MET
            rows(m, w, t.q, t, p + 1)
        else:
            mu, growth = mu * growth, 2.0 * growth
            # what is left to gain is what the others' leeway is worth
            if mu > MU_MOST or (held and gain < blur * sqrt(cost)):
                outcome = STANDS
                break
            if moved:
                look(m, w, t, t.q)
    look(m, w, t, t.q)
    return outcome


@kernel(inline=True)
def _leeway(t):
    """What an error that is held may be off."""
    return max(LEEWAY * t.settings[0], LEAST_LEEWAY)


@kernel
def _left(t, begin, end):
    """½‖e_p − B_p x‖², what the model of a step leaves of the cost."""
    left = 0.0
    for i in range(begin, end):
        left += 0.5 * (t.damping[i] * t.y[i]) * (t.damping[i] * t.y[i])
    return left


@kernel
def look(m, w, t, q):
    """Bodies, errors and rows of all levels at q."""
    kinematics.positions(m, q, w)
    errors(m, w, q, t, t.e)
    rows(m, w, q, t, t.levels.shape[0])


@kernel
def _pose(m, t, begin, end, damping):
    """What (2) asks for, with its bounds."""
    for i in range(end):
        holds = i < begin
        t.r[i] = t.e[i] - t.held[i] if holds else t.e[i]
        t.damping[i] = HOLD if holds else damping
    _room(m, t, t.q)


@kernel
def _room(m, t, q):
    """How far each column can go from q."""
    for f in range(t.free.shape[0]):
        k = t.free[f]
        at = m.dof[k].q
        if at >= 0:
            t.low[k], t.high[k] = t.lower[k] - q[at], t.upper[k] - q[at]


@kernel
def _restore(m, w, t, p):
    """Bring the errors of higher levels at t.trial back to where they are held: whether bodies and
    rows have been moved to there, and whether it was done.
    """
    end, leeway = (t.levels[p - 1] if p > 0 else 0), _leeway(t)
    moved = False
    for tries in range(RESTORING):
        worst = 0.0
        for i in range(end):
            off = abs(t.tried[i] - t.held[i])
            if not off <= worst:
                worst = off
        if worst <= leeway:
            return moved, True
        if not worst < 1.0 or tries == RESTORING - 1:
            break
        moved = True
        rows(m, w, t.trial, t, p)
        for i in range(end):
            t.r[i], t.damping[i] = t.tried[i] - t.held[i], HOLD
        _room(m, t, t.trial)
        bounded.step(t, end)
        _moved(m, t, t.trial, t.trial)
        kinematics.positions(m, t.trial, w)
        errors(m, w, t.trial, t, t.tried)
    return moved, False


@kernel
def _moved(m, t, q, out):
    """out ← q ⊕ x, exactly within the limits; returns the largest number of x."""
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
            Q = quaternion.turned((out[a], out[a + 1], out[a + 2], out[a + 3]), phi)
            out[a], out[a + 1], out[a + 2], out[a + 3] = Q[0], Q[1], Q[2], Q[3]
    _follow(m, out)
    return longest


@kernel
def _follow(m, q):
    """Followers where their leaders put them; as many rounds as a chain of them can be long."""
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
    """t.q within the limits of what may move."""
    for f in range(t.free.shape[0]):
        k = t.free[f]
        at = m.dof[k].q
        if at >= 0:
            t.q[at] = min(max(t.q[at], t.lower[k]), t.upper[k])
    _follow(m, t.q)


@kernel
def _start_from(m, t, other):
    """Joints that may move as in another configuration; what hangs on the world stays."""
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
    """out ← a."""
    for i in range(a.shape[0]):
        out[i] = a[i]


@kernel
def _cost(e, begin, end):
    """½‖e‖² of a level."""
    cost = 0.0
    for i in range(begin, end):
        cost += 0.5 * e[i] * e[i]
    return cost


@kernel
def _has_posture(t, p):
    """Whether a posture is among the tasks of a level."""
    for b in range(t.block.shape[0]):
        if t.block[b].level == p and t.block[b].kind == POSTURE:
            return True
    return False


@kernel
def _met(t, p, postures):
    """Whether every task of a level is within the tolerance; postures are as near as they come,
    and count only if asked for.
    """
    for b in range(t.block.shape[0]):
        block = t.block[b]
        if block.level != p or (block.kind == POSTURE and not postures):
            continue
        if not block.error <= t.settings[0]:
            return False
    return True


@kernel
def sound(m, q):
    """Whether all numbers of q are finite and its quaternions of length one."""
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
