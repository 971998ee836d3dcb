"""Joint velocities for tasks with priorities, one period at a time: resolved rates within limits.

For a share κ of each error, level by level,

    x_p = argmin ½‖κ e_p − B_p x‖²/λ + ½‖x‖²   with  B_h x = B_h x_{p−1},  h < p,
    l − q ≤ x ≤ u − q,   |x| ≤ h v_max                                                         (1)
by ``bounded``; v = x/h of the last level is the commanded velocity. λ grows with the error, so that
a target out of reach, at whose nearest point B loses rank, does not cause high velocities:

    λ = ½‖κ e_p‖² + λ_0                                                                        (2)

References: Whitney, Resolved motion rate control of manipulators and human prostheses (1969);
those of ``search``.
"""

from tabi.control.inverse_kinematics import bounded
from tabi.control.inverse_kinematics.errors import errors, rows
from tabi.dynamics import kinematics
from tabi.jit import kernel

# damping of fixed rows, and minimum damping of the first level and of lower levels: fixed rows
# yield to these by the ratio of the two
FIXED_ROW_DAMPING, MIN_DAMPING, MIN_DAMPING_BELOW = 1e-13, 1e-6, 1e-4


@kernel
def velocity(m, w, t, q, h, share):
    """Compute v of (1) at q, into t.v."""
    kinematics.positions(m, q, w)
    errors(m, w, q, t, t.e)
    levels = t.levels.shape[0]
    rows(m, w, q, t, levels)
    _bounds(m, t, q, h)
    for k in range(t.state.shape[0]):
        t.state[k] = 0
    begin = 0
    for p in range(levels):
        end, cost = t.levels[p], 0.0
        for i in range(begin, end):
            cost += 0.5 * share * share * t.e[i] * t.e[i]
        for i in range(end):
            if i < begin:
                t.r[i], t.damping[i] = t.e_fixed[i], FIXED_ROW_DAMPING
            else:
                t.r[i], t.damping[i] = (
                    share * t.e[i],
                    cost + (MIN_DAMPING if p == 0 else MIN_DAMPING_BELOW),
                )
        if p == 0:
            bounded.step(t, end)
        else:
            bounded.step_from_current_sets(t, end)
        # the changes by this step, which lower levels keep
        for i in range(end):
            t.e_fixed[i] = 0.0
        for f in range(t.free.shape[0]):
            k = t.free[f]
            for i in range(end):
                t.e_fixed[i] += t.B[k, i] * t.x[k]
        begin = end
    for f in range(t.free.shape[0]):
        t.v[t.free[f]] = t.x[t.free[f]] / h
    for f in range(t.fold.shape[0]):
        t.v[t.fold[f].follower] = t.fold[f].ratio * t.v[t.fold[f].leader]


@kernel
def _bounds(m, t, q, h):
    """Compute the limits of (1); a joint beyond its limit returns at full speed."""
    for f in range(t.free.shape[0]):
        k = t.free[f]
        max_step = h * t.speed[k]
        t.low[k], t.high[k] = -max_step, max_step
        at = m.dof[k].q
        if at >= 0:
            t.low[k] = min(max(t.lower[k] - q[at], -max_step), max_step)
            t.high[k] = min(max(t.upper[k] - q[at], -max_step), max_step)
