"""Equation (1) of ``step``: all forces, and the velocities without contacts.

    M̂ a = τ₀ − b(q, v),   v_free = v + h a,   M̂ = M + h B                                       (1)
τ₀, h B: sums over the forces, at the velocity before the step, and of their slopes by the one after
it. Joints that a force holds have a fixed velocity, and the force follows.
"""

from tabi.dynamics import aba, forward, free
from tabi.jit import kernel
from tabi.step import corrections


def free_motion_on(load):
    """Make ``free_motion`` from the kernel that loads all forces."""

    @kernel(apart="boolean")
    def free_motion(t, d, s, h, guess):
        """Compute s.v_free; False if a joint has no inertia. guess: number of the active set."""
        m, w = t.model, s.dynamics
        clear_forces(m, d, s)
        load(t, d, s, h)
        pass_forces(m, s)
        corrections.mark_near(t, d, s)
        free.measure(m, w.load, h, w)
        if aba.factor(m, w) != 0:
            return False
        forward.accelerations(m, w.load, w, s.acceleration)
        store_velocities(d, s, h)
        corrections.keep_energy(t, d, s, h, guess)
        return True

    return free_motion


@kernel(inline=True)
def clear_forces(m, d, s):
    """Clear forces; set the inertia of rotors, and joints with a prescribed velocity."""
    for k in range(d.v.shape[0]):
        s.applied[k], s.added[k] = 0.0, m.dof[k].armature
        s.dynamics.dof[k].fixed = m.dof[k].prescribed
        if m.dof[k].prescribed != 0:
            s.acceleration[k], s.held_velocity[k] = 0.0, d.v[k]


@kernel(inline=True)
def pass_forces(m, s):
    """Pass forces, and their addition to the inertia of joints, to articulated-body dynamics."""
    w = s.dynamics
    for k in range(s.applied.shape[0]):
        w.load[k] = s.applied[k]
        w.dof[k].added = s.added[k] if w.dof[k].fixed == 0 else m.dof[k].armature


@kernel(inline=True)
def store_velocities(d, s, h):
    """Compute s.v_free from the accelerations, without rounding where a joint is held."""
    for k in range(d.v.shape[0]):
        is_fixed = s.dynamics.dof[k].fixed != 0
        s.v_free[k] = s.held_velocity[k] if is_fixed else d.v[k] + h * s.acceleration[k]
