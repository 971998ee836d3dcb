"""Equation (1) of ``step``: all forces, and the velocities without contacts.

    M̂ a = τ₀ − b(q, v),   v_free = v + h a,   M̂ = M + h B                                       (1)
τ₀, h B: sums over the forces, of what they are at the velocity before the step and how they fall
with the one after it. Joints that a force holds have a velocity, and the force comes out.
"""

from tabi.dynamics import aba, forward, free
from tabi.jit import kernel
from tabi.simulation import corrections


def free_motion_on(load):
    """The free motion of a step, from the kernel that loads all forces."""

    @kernel(apart="boolean")
    def free_motion(t, d, s, h, guess):
        """s.v_free; False where a joint has no inertia. guess: of the active set."""
        m, w, count = t.model, s.dynamics, d.v.shape[0]
        for k in range(count):
            s.applied[k], s.added[k] = 0.0, m.dof[k].armature
            w.dof[k].fixed = m.dof[k].prescribed
            if m.dof[k].prescribed != 0:
                s.acceleration[k], s.held_velocity[k] = 0.0, d.v[k]
        load(t, d, s, h)
        for k in range(count):
            w.load[k] = s.applied[k]
            w.dof[k].added = s.added[k] if w.dof[k].fixed == 0 else m.dof[k].armature
        corrections.mark_near(t, d, s)
        free.measure(m, w.load, h, w)
        if aba.factor(m, w) != 0:
            return False
        forward.accelerations(m, w.load, w, s.acceleration)
        for k in range(count):
            # without rounding where a joint is held
            held = w.dof[k].fixed != 0
            s.v_free[k] = s.held_velocity[k] if held else d.v[k] + h * s.acceleration[k]
        corrections.keep_energy(t, d, s, h, guess)
        return True

    return free_motion
