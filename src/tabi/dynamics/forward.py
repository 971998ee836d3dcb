"""Forward dynamics: the accelerations that joint forces cause, O(n).

RNEA gives the forces of the motion as far as it is known (velocities, gravity, prescribed
accelerations), the articulated-body algorithm the accelerations on top of it, and couplings are
closed last.
"""

from tabi.dynamics import aba, coupling, kinematics, rnea
from tabi.jit import kernel


@kernel
def accelerations(m, tau, w, a):
    """a from τ, with kinematics and ``aba.factor`` at hand;
    prescribed accelerations are read from a.
    """
    for j in range(a.shape[0]):
        a[j] = a[j] if w.dof[j].fixed != 0 else 0.0
        w.dof[j].known = a[j]
    rnea.forces(m, a, w)
    aba.gather(m, tau, w)
    aba.spread(m, w, a, tau)
    if m.mimic.shape[0] > 0:
        coupling.close(m, w, a, tau)


@kernel
def forward_dynamics(m, q, v, tau, w, a):
    """a [rad/s² or m/s²] caused by the joint forces τ in the state q, v.

    Args:
        tau: joint forces [N·m or N]; written where the motion is prescribed.
        a: accelerations; read where the motion is prescribed, written elsewhere.

    Returns:
        0, or 1 + a degree of freedom whose articulated inertia is not positive.
    """
    kinematics.positions(m, q, w)
    kinematics.velocities(m, v, w)
    for j in range(a.shape[0]):
        w.dof[j].added, w.dof[j].fixed = m.dof[j].armature, m.dof[j].prescribed
    status = aba.factor(m, w)
    accelerations(m, tau, w, a)
    return status
