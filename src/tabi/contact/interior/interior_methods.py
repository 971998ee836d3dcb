"""Three methods for the linear system of an interior-point step: in the common motions of the
bodies, by rows, or in the space of twists.

The method with the least work is taken. Where common motions leave too large a residual, the
cheaper one of the other two solves the step instead.
"""

from tabi.contact import common_motions as motions
from tabi.contact.bodies import relative, twists
from tabi.contact.common_motions import NO_MOTIONS
from tabi.contact.interior import interior_motions
from tabi.contact.interior import interior_system as system
from tabi.contact.interior.interior_system import NOTHING
from tabi.contact.row_mobility import fits
from tabi.contact.twist_newton import price
from tabi.jit import kernel
from tabi.spatial.vector import load9, mul, store3

TWISTS, ROWS, MOTIONS = 0, 1, 2


@kernel
def choose(p, work, common):
    """Choose the method with the least work for a problem, and prepare its data.

    Args:
        common: whether common motions are allowed.

    Returns:
        the method, its number of rows (0 except by rows), and its work per step as ``budget``
        counts.
    """
    w = work.interior
    _, cost = price(p, work)
    m, method = system.list_rows(p, w), TWISTS
    dense = m * m * (m + 14) // 270 + m
    if m > 0 and dense < cost and fits(p, work.rows):
        method, cost = ROWS, dense
    if common and motions.rank_of(p, work.motions) != NO_MOTIONS:
        squares = 0
        for k in range(p.mu.shape[0]):
            if w.does[k] != NOTHING:
                squares += motions.square(p, k, work.motions)
        common_cost = motions.work(work.motions, squares) + 3 * p.mu.shape[0]
        if common_cost < cost:
            return MOTIONS, 0, common_cost
    if method == ROWS:
        system.measure_mobility(p, m, work)
    return method, m, cost


@kernel
def factor(p, method, m, work):
    """Factor the system; False where that fails."""
    if method == MOTIONS:
        return interior_motions.factor(p, work)
    return system.factor_rows(p, m, work) if method == ROWS else system.factor_twists(p, work)


@kernel
def solve(p, method, m, work):
    """Compute Δλ and Δu from F; False where they are not exact enough."""
    w = work.interior
    if method == MOTIONS:
        return interior_motions.solve(p, work)
    if method == ROWS:
        system.solve_rows(m, w)
    else:
        system.solve_twists(p, work)
    twists(p, w.dl, work.wrench, work.twist)
    for k in range(p.mu.shape[0]):
        c = p.contact[k]
        store3(w.du[3 * k : 3 * k + 3], mul(load9(c.frame), relative(work.twist, c)))
    return True
