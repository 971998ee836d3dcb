"""Capture margin: the distance of a steered walk from falling.

The capture point ξ is caught if the soles can press beyond it, or if the next step lands in time
(``steps``). The margin is the smallest displacement of ξ, over all directions, that is still
caught: a push of F for T displaces it by F T/(m ω).
"""

from math import pi

from tabi.jit import kernel
from tabi.spatial.trigonometry import sincos
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.steered.steps import (
    CATCH_TOLERANCE,
    catch,
    catch_from_stance,
    is_outside_soles,
    times_left,
)
from tabi.walking.steered.steps_ahead import SWING

# number of directions, and largest margin [m]
DIRECTIONS, MAX_MARGIN = 16, 0.5


@kernel
def is_caught(plan, box, xi):
    """Check whether the soles, or the next step, would catch ξ."""
    s, now = plan.settings[0], plan.now[0]
    if now.phase == SWING:
        _, _, shortfall, _ = catch(plan, box, xi, plan.xi_planned, now.stance, times_left(plan))
        return not shortfall > CATCH_TOLERANCE
    if not is_outside_soles(plan, box, xi):
        return True
    if s.adapts == 0.0:
        return False
    left, _ = catch_from_stance(plan, box, xi, LEFT)
    right, _ = catch_from_stance(plan, box, xi, RIGHT)
    return not min(left, right) > CATCH_TOLERANCE


@kernel
def capture_margin(plan, box, xi):
    """Return the largest displacement of ξ that is caught in all directions [m]; 0: the robot
    falls.
    """
    least = MAX_MARGIN
    for i in range(DIRECTIONS):
        sn, c = sincos(2.0 * pi * i / DIRECTIONS)
        low, high = 0.0, least
        if is_caught(plan, box, (xi[0] + high * c, xi[1] + high * sn)):
            continue
        if not is_caught(plan, box, xi):
            return 0.0
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            if is_caught(plan, box, (xi[0] + middle * c, xi[1] + middle * sn)):
                low = middle
            else:
                high = middle
        least = low
    return least
