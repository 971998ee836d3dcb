"""Where and when the next foot lands, from the capture point.

In t seconds, over a zero moment point p that stays, the divergent component ξ becomes

    ξ_end = p + (ξ − p) e^(ωt)                                                                  (1)
The plan wants ξ* there, or any of a range of them where a walk is to stop. The best p leads to it,
and where that is outside of the sole the nearest point of the sole is; the next foot, and all that
follow it, then have to land elsewhere by

    δ = (ξ_end − ξ*) ωT_d/(1 − e^(−ωT_d))                                                        (2)
since in the double support T_d after it the zero moment point is still on its way to the new foot.
What legs can reach is a box beside the foot that stands, within which they do not cross, cut by a
circle, and by how far the foot can still go. A shorter swing leaves less time to diverge: of all
times t that are left, that with the least

    |landing − planned|² + α |missed|² + β (t − planned)²                                        (3)
is taken, missed being what of (2) is out of reach.

Reference: Khadiv et al. (2020), Walking control based on step timing adaptation, who solve it as a
quadratic programme; with one time it is a search along a line.
"""

from math import exp, sqrt

from tabi.jit import kernel

# α, β of (3), the latter [m²/s²]
MISSED, TIME = 100.0, 0.04
# times that are tried are so far apart [s]
APART = 0.01
# a foot is not led elsewhere for less [m]
LITTLE = 0.01


@kernel(inline=True)
def clip(x, least, most):
    """x within bounds."""
    return min(max(x, least), most)


@kernel
def beyond(s, box, xi, wanted, t, axis):
    """How far ξ_end of (1) is from what is wanted along x or y of the foot that stands, with the
    best p [m].

    Args:
        box: least and largest x and y of where the zero moment point may be.
        xi: ξ, in axes of the foot that stands. wanted: least and largest x and y of ξ*.
    """
    grown = exp(s.omega * t)
    # over the largest p and over the least one
    least = box[2 * axis + 1] + (xi[axis] - box[2 * axis + 1]) * grown
    most = box[2 * axis] + (xi[axis] - box[2 * axis]) * grown
    if least > wanted[2 * axis + 1]:
        return least - wanted[2 * axis + 1]
    if most < wanted[2 * axis]:
        return most - wanted[2 * axis]
    return 0.0


@kernel
def within_reach(s, side, x, y):
    """The nearest landing that a leg can reach.

    Args:
        side: 1 for a left foot that lands, −1 for a right one. x, y: from the foot that stands [m].
    """
    x, y = clip(x, -s.back, s.forward), side * clip(side * y, s.near, s.far)
    far = sqrt(x * x + y * y)
    if far > s.reach:
        x *= s.reach / far
        y = side * max(side * y * s.reach / far, s.near)
    return x, y


@kernel
def choose(s, side, box, xi, wanted, planned, now, planned_time, least, most):
    """Landing, from the foot that stands [m], time that is left [s], how much of what is needed is
    out of reach [m], and (3).

    Args:
        s: settings of the walk. side: of the foot that lands, as above.
        box, xi, wanted: as in ``beyond``, for the planned landing.
        planned: landing. now: place of the foot that swings. planned_time: left of the swing.
        least, most: bounds of it [s].
    """
    lag = s.omega * s.double
    gain = lag / (1.0 - exp(-lag))
    best, x, y, time, missed = 1e300, planned[0], planned[1], planned_time, 0.0
    # the planned time first: where nothing has to be done, nothing is
    count = int((most - least) / APART) + 1 if most > least else 0
    for i in range(count + 1):
        t = planned_time if i == 0 else least + (i - 1) * APART
        dx = gain * beyond(s, box, xi, wanted, t, 0)
        dy = gain * beyond(s, box, xi, wanted, t, 1)
        far = sqrt(dx * dx + dy * dy)
        if i == 0 and not far > LITTLE:
            return planned[0], planned[1], planned_time, 0.0, 0.0
        keep = 1.0 - LITTLE / far if far > LITTLE else 0.0
        a, b = planned[0] + keep * dx, planned[1] + keep * dy
        u, v = within_reach(s, side, a, b)
        # as far as the foot comes
        go = sqrt((u - now[0]) ** 2 + (v - now[1]) ** 2)
        most_go = s.foot_speed * t
        if go > most_go:
            u, v = now[0] + (u - now[0]) * most_go / go, now[1] + (v - now[1]) * most_go / go
        miss = sqrt((u - a) ** 2 + (v - b) ** 2)
        away = (u - planned[0]) ** 2 + (v - planned[1]) ** 2
        cost = away + MISSED * miss * miss + TIME * (t - planned_time) ** 2
        if cost < best:
            best, x, y, time, missed = cost, u, v, t, miss
    return x, y, time, missed, best
