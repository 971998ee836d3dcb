"""Joint velocities for tasks with priorities, one period at a time: resolved rates within limits.

Of a share κ of each error, level by level,

    x_p = argmin ½‖κ e_p − B_p x‖²/λ + ½‖x‖²   with  B_h x = B_h x_{p−1},  h < p,
    l − q ≤ x ≤ u − q,   |x| ≤ h v_max                                                         (1)
by ``bounded``; v = x/h of the last level is what is asked of the joints. λ grows with the error, so
that a target out of reach, at whose nearest point B loses rank, makes no joint fast:

    λ = ½‖κ e_p‖² + λ_0                                                                        (2)

References: Whitney, Resolved motion rate control of manipulators and human prostheses (1969);
those of ``search``.
"""

from tabi.control.inverse_kinematics import bounded
from tabi.control.inverse_kinematics.errors import errors, rows
from tabi.dynamics import kinematics
from tabi.jit import kernel

# damping of rows that hold, and least damping of the first level and of others: what is held gives
# way to these by the ratio of the two
HOLD, LEAST, LEAST_BELOW = 1e-13, 1e-6, 1e-4


@kernel
def velocity(m, w, t, q, h, share):
    """v of (1) into t.v, at q."""
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
                t.r[i], t.damping[i] = t.held[i], HOLD
            else:
                t.r[i], t.damping[i] = share * t.e[i], cost + (LEAST if p == 0 else LEAST_BELOW)
        if p == 0:
            bounded.step(t, end)
        else:
            bounded.onwards(t, end)
        # what the step brings about, for lower levels to hold
        for i in range(end):
            t.held[i] = 0.0
        for f in range(t.free.shape[0]):
            k = t.free[f]
            for i in range(end):
                t.held[i] += t.B[k, i] * t.x[k]
        begin = end
    for f in range(t.free.shape[0]):
        t.v[t.free[f]] = t.x[t.free[f]] / h
    for f in range(t.fold.shape[0]):
        t.v[t.fold[f].follower] = t.fold[f].ratio * t.v[t.fold[f].leader]


@kernel
def _bounds(m, t, q, h):
    """Limits of (1); a joint beyond its limit comes back as fast as it may."""
    for f in range(t.free.shape[0]):
        k = t.free[f]
        most = h * t.speed[k]
        t.low[k], t.high[k] = -most, most
        at = m.dof[k].q
        if at >= 0:
            t.low[k] = min(max(t.lower[k] - q[at], -most), most)
            t.high[k] = min(max(t.upper[k] - q[at], -most), most)
