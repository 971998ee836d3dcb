"""Choice of the next landing, in place and time, from the capture point.

After t seconds over a constant zero moment point p, the divergent component ξ is

    ξ_end = p + (ξ − p) e^(ωt)                                                                  (1)
The plan requires ξ* there, or any of a range of them for a walk that is to stop. The best p leads
to it; if it is outside the sole, the nearest point of the sole is used. The next footstep, and all
that follow it, are then displaced by

    δ = (ξ_end − ξ*) ωT_d/(1 − e^(−ωT_d))                                                        (2)
since in the double support T_d after it the zero moment point is still moving to the new foot. The
reach of the legs is a box beside the stance foot, within which they do not cross, limited by a
circle, and by the remaining travel of the foot. A shorter swing leaves less time to diverge: of all
remaining times t, the one with the smallest

    |landing − planned|² + α |missed|² + β (t − planned)²                                        (3)
is chosen, missed being the part of (2) out of reach.

Reference: Khadiv et al. (2020), Walking control based on step timing adaptation, which solves it as
a quadratic programme; with one time it is a line search.
"""

from math import exp, sqrt

from tabi.jit import kernel

# α, β of (3), the latter [m²/s²]
SHORTFALL_WEIGHT, TIME_WEIGHT = 100.0, 0.04
# resolution of the search over t [s]
TIME_STEP_S = 0.01
# smallest displacement of a landing [m]
MIN_DISPLACEMENT = 0.01


@kernel(inline=True)
def clip(x, least, most):
    """Return x limited to bounds."""
    return min(max(x, least), most)


@kernel
def divergence_error(s, box, xi, wanted, t, axis):
    """Return the distance of ξ_end of (1) from the desired range along x or y of the stance foot,
    with the best p [m].

    Args:
        box: bounds of x and y of the zero moment point.
        xi: ξ, in axes of the stance foot. wanted: bounds of x and y of ξ*.
    """
    grown = exp(s.omega * t)
    # over the largest p and over the smallest one
    least = box[2 * axis + 1] + (xi[axis] - box[2 * axis + 1]) * grown
    most = box[2 * axis] + (xi[axis] - box[2 * axis]) * grown
    if least > wanted[2 * axis + 1]:
        return least - wanted[2 * axis + 1]
    if most < wanted[2 * axis]:
        return most - wanted[2 * axis]
    return 0.0


@kernel
def within_reach(s, side, x, y):
    """Return the nearest landing that a leg can reach.

    Args:
        side: 1 for a left landing foot, −1 for a right one. x, y: in the frame of the stance foot
            [m].
    """
    x, y = clip(x, -s.back, s.forward), side * clip(side * y, s.near, s.far)
    far = sqrt(x * x + y * y)
    if far > s.reach:
        x *= s.reach / far
        y = side * max(side * y * s.reach / far, s.near)
    return x, y


@kernel
def choose(s, side, box, xi, wanted, planned, now, planned_time, least, most):
    """Choose the next landing.

    Args:
        s: settings of the walk. side: of the landing foot, as above.
        box, xi, wanted: as in ``divergence_error``, for the planned landing.
        planned: landing. now: position of the swing foot. planned_time: left of the swing [s].
        least, most: bounds of it [s].

    Returns:
        x and y of the landing in the frame of the stance foot [m], time left [s], displacement
        beyond reach [m], and the cost (3).
    """
    lag = s.omega * s.double
    gain = lag / (1.0 - exp(-lag))
    best, x, y, time, shortfall = 1e300, planned[0], planned[1], planned_time, 0.0
    # the planned time first: without an error the plan is kept
    count = int((most - least) / TIME_STEP_S) + 1 if most > least else 0
    for i in range(count + 1):
        t = planned_time if i == 0 else least + (i - 1) * TIME_STEP_S
        dx = gain * divergence_error(s, box, xi, wanted, t, 0)
        dy = gain * divergence_error(s, box, xi, wanted, t, 1)
        far = sqrt(dx * dx + dy * dy)
        if i == 0 and not far > MIN_DISPLACEMENT:
            return planned[0], planned[1], planned_time, 0.0, 0.0
        keep = 1.0 - MIN_DISPLACEMENT / far if far > MIN_DISPLACEMENT else 0.0
        a, b = planned[0] + keep * dx, planned[1] + keep * dy
        u, v = within_reach(s, side, a, b)
        # limited by the speed of the foot
        travel = sqrt((u - now[0]) ** 2 + (v - now[1]) ** 2)
        max_travel = s.foot_speed * t
        if travel > max_travel:
            u, v = (
                now[0] + (u - now[0]) * max_travel / travel,
                now[1] + (v - now[1]) * max_travel / travel,
            )
        excess = sqrt((u - a) ** 2 + (v - b) ** 2)
        away = (u - planned[0]) ** 2 + (v - planned[1]) ** 2
        cost = away + SHORTFALL_WEIGHT * excess * excess + TIME_WEIGHT * (t - planned_time) ** 2
        if cost < best:
            best, x, y, time, shortfall = cost, u, v, t, excess
    return x, y, time, shortfall, best
