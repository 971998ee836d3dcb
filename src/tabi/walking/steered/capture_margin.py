"""How far a steered walk is from falling.

The capture point ξ is held where soles can press beyond it, or where the next step lands in time
(``steered``). The margin is the least distance, over all directions, by which ξ could be moved and
still be held: a push of F for T moves it by F T/(m ω).
"""

from math import pi

from tabi.jit import kernel
from tabi.spatial.trigonometry import sincos
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.steered.steps import CAUGHT, catch, catch_from, outside, times_left
from tabi.walking.steered.steps_ahead import SWING

# directions that are tried, and how far [m]
DIRECTIONS, FARTHEST = 16, 0.5


@kernel
def is_caught(plan, box, xi):
    """Whether soles, or the next step, would hold ξ."""
    s, now = plan.settings[0], plan.now[0]
    if now.phase == SWING:
        _, _, missed, _ = catch(plan, box, xi, plan.wanted, now.stance, times_left(plan))
        return not missed > CAUGHT
    if not outside(plan, box, xi):
        return True
    if s.adapts == 0.0:
        return False
    left, _ = catch_from(plan, box, xi, LEFT)
    right, _ = catch_from(plan, box, xi, RIGHT)
    return not min(left, right) > CAUGHT


@kernel
def find_margin(plan, box, xi):
    """How far ξ could be moved, whatever the direction, and still be held [m]; 0: it falls."""
    least = FARTHEST
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
