"""External wrenches on bodies: pushes from Python, the mouse, another program.

    τ = Σ J_iᵀ F_i   by one pass from the leaves to the roots                                   (1)
F: about the origin of the body's tree, in the world's axes, angular first, in d.command.wrench.
"""

from tabi.jit import kernel
from tabi.spatial.vector import accumulate6, dot6, load6
from tabi.step.parts import no_action as finish
from tabi.step.parts import no_judge as judge

__all__ = ["finish", "judge", "load"]


@kernel(inline=True)
def load(part_memory, t, d, s, h):
    """Add joint forces of external wrenches by (1)."""
    if d.command.pushed[0] == 0:
        return
    m, w = t.model, s.dynamics
    for i in range(1, m.body.shape[0]):
        for c in range(6):
            s.carried[i, c] = d.command.wrench[i, c]
    for i in range(m.body.shape[0] - 1, 0, -1):
        F = load6(s.carried[i])
        for j in range(m.body[i].v_start, m.body[i].v_end):
            s.applied[j] += dot6(load6(w.dof[j].motion), F)
        if m.body[i].parent != 0:
            accumulate6(s.carried[m.body[i].parent], F)
