"""The best guess of what joints do, for steps whose work ends before one of them is right.

Each guess of a step holds some joints at an end, or where they stick, and is checked afterwards.
The last one need not be the best: a joint that is held at an end that it is far from gets there
within the step. So the modes of the guess with the least error are stored, and where no guess was
right the step is solved once more with these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.contact import budget
from tabi.jit import kernel
from tabi.jit.structure import Structure


class Guesses(Structure):
    """Modes and errors of the current and the best guess.

    Attributes:
        modes, directions: of each joint in the current guess, and in the best one.
        joined: ``joined`` of the workspace in both. error: of the guess, and of the best one, below
            zero before there is one [m/s or rad/s].
    """

    modes: NDArray[np.int64]
    directions: NDArray[np.int64]
    joined: NDArray[np.int64]
    error: NDArray[np.float64]


def allocate(joints: int) -> Guesses:
    """Memory for a number of degrees of freedom."""
    shape = (2, joints)
    return Guesses(
        modes=np.zeros(shape, np.int64),
        directions=np.zeros(shape, np.int64),
        joined=np.zeros(2, np.int64),
        error=np.zeros(2),
    )


@kernel(inline=True)
def begin(s):
    """Begin a step without a guess."""
    s.guesses.error[0], s.guesses.error[1] = 0.0, -1.0


@kernel(inline=True)
def store_modes(d, s):
    """Store the modes of the current guess, before they change."""
    g = s.guesses
    for k in range(g.modes.shape[1]):
        g.modes[0, k], g.directions[0, k] = d.memory.joint[k].mode, d.memory.joint[k].direction
    g.joined[0] = s.joined[0]


@kernel(apart="none", rare=True)
def update_best(d, s):
    """Store the error of a wrong guess, and its modes if it is the best one so far."""
    g, report = s.guesses, d.outcome.report[0]
    error = report.joint_residual
    if report.missed > 0 and not report.residual <= error:
        error = report.residual
    g.error[0] = error
    # any finite error is better than NaN
    if g.error[1] < 0.0 or error < g.error[1] or g.error[1] != g.error[1]:
        g.error[1], g.joined[1] = error, g.joined[0]
        for k in range(g.modes.shape[1]):
            g.modes[1, k], g.directions[1, k] = g.modes[0, k], g.directions[0, k]


@kernel(apart="boolean", rare=True)
def restore_best(t, d, s):
    """Restore the modes of the best guess, with work to solve it again; False if that was the
    last.
    """
    g = s.guesses
    if not (g.error[1] < g.error[0] or g.error[0] != g.error[0]):
        return False
    for k in range(g.modes.shape[1]):
        d.memory.joint[k].mode, d.memory.joint[k].direction = g.modes[1, k], g.directions[1, k]
    s.joined[0] = g.joined[1]
    budget.extend(s.budget, t.limits)
    return True
