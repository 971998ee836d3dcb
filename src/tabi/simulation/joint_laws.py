"""What a joint does by itself: the ends of its travel, its top speed, and dry friction that truly sticks.

The force f of each law stands beside the motor's, and belongs to the velocity v⁺ at the end of the step:

    dry friction    f = −μ sign(v⁺) while it moves,   |f| ≤ μ at v⁺ = 0                                        (1)
    ends of travel  f ≥ 0 ⟂ q + h v⁺ − q_lower ≥ 0,   and the mirror image at the upper end                     (2)
    top speed       f ≤ 0 ⟂ v⁺ ≤ v_max,   and its mirror image                                                (3)
So a joint either moves, under a force that is known, or is *held*: its velocity is known and the force comes out, as in
hybrid dynamics. Held joints drop out of M̂, contacts see that, and a robot whose joints all stick is cheaper to step than
one whose joints swing. Who is held shows at the end of the step only: the last step's answer is the guess, ``judge`` tells
who was guessed wrong, and the step is done again, as for motors at their limits.

Reference: Featherstone (2008), sec. 9.2 and 11.7.
"""

from tabi._jit import kernel

# what a degree of freedom does; FOLLOWS: as another one tells it, or it tells another, without laws of its own
FOLLOWS, MOVES, STUCK, LOWER, UPPER = -1, 0, 1, 2, 3
INFINITY = float("inf")
# a joint outside of its travel comes back with this speed [rad/s or m/s]
RETURN = 1.0
# after so many turns velocity products stay as they are, not all change at once any more, and they do so one by one
SURE, BOLD, SHY = 3, 8, 100
# of a force or velocity: rounding, no reason to do something else
ROUNDING = 1e-12


@kernel(inline=True)
def lowest(par, place, h):
    """The least v⁺ that (2) and (3) allow."""
    return max(min((par.lower - place) / h, RETURN), -par.velocity_limit)


@kernel(inline=True)
def highest(par, place, h):
    """The largest one."""
    return min(max((par.upper - place) / h, -RETURN), par.velocity_limit)


@kernel(inline=True)
def load(m, q, v, target, h, w, a):
    """After ``actuation.load``: friction into w.load, and for those that are held their acceleration into a."""
    for k in range(v.shape[0]):
        par, goal, dof = m.dof[k], target[k], w.dof[k]
        dof.fixed = par.prescribed
        if par.prescribed == 0 and goal.doing > MOVES:
            place = q[par.q] if par.q >= 0 else 0.0
            goal.pace = 0.0
            if goal.doing == LOWER:
                goal.pace = lowest(par, place, h)
            elif goal.doing == UPPER:
                goal.pace = highest(par, place, h)
            dof.fixed, dof.added = 1, par.armature
            a[k] = (goal.pace - v[k]) / h
        elif goal.doing == MOVES:
            w.load[k] -= par.friction * goal.slides


@kernel(inline=True)
def judge(m, q, v, free, reaction, target, h, tolerance, w, turn):
    """Forces of the laws into target.law, and who was guessed wrong by (1) to (3): they do something else from now on, or some of them.

    Args:
        v, free: velocities before and after the step. reaction: impulse of contacts that each held joint bears.
        tolerance: of contacts [m/s]; errors of half of it may be theirs.
        turn: how often the step was done before; the first times all who are wrong change, then every third of them by turns, and in the
            end one by one, so that no circle is run through for ever.

    Returns:
        how many were wrong, and the largest error as a change of velocity [rad/s or m/s].
    """
    wrong, worst = 0, 0.0
    for k in range(free.shape[0]):
        par, goal = m.dof[k], target[k]
        if par.prescribed != 0 or goal.doing == FOLLOWS:
            continue
        place, mu, u, f = q[par.q] if par.q >= 0 else 0.0, par.friction, free[k], -par.friction * goal.slides
        following, slides, error = goal.doing, 0, 0.0
        if goal.doing == MOVES:
            low, high = lowest(par, place, h), highest(par, place, h)
            if u < low - ROUNDING:
                following, error = LOWER, low - u
            elif u > high + ROUNDING:
                following, error = UPPER, u - high
            elif mu > 0.0 and not goal.slides * u > 0.0:
                following, error = STUCK, abs(u)
        else:
            f = w.load[k] + reaction[k] / h - _others(par, goal, place, v[k], u, h)
            # what friction may add where it moves, and where it does not
            least, most = -mu if u >= 0.0 else mu, mu if u <= 0.0 else -mu
            if goal.doing == LOWER:
                most = INFINITY
            elif goal.doing == UPPER:
                least = -INFINITY
            small = ROUNDING * (abs(f) + mu)
            if f < least - small or f > most + small:
                following, error = MOVES, h * w.dof[k].pivot * max(least - f, f - most)
                slides = 1 if u > 0.0 or (u == 0.0 and f < least) else -1
        goal.law = f
        worst = max(worst, error)
        if error > 0.5 * tolerance:
            if turn < BOLD or (turn < SHY and (k + turn) % 3 == 0) or (turn >= SHY and wrong == 0):
                goal.doing, goal.slides = following, slides
            wrong += 1
    return wrong, worst


@kernel(inline=True)
def _others(par, goal, place, v, u, h):
    """Force of motor, damper and spring at the end of the step."""
    force = goal.given - par.damping * u
    kp = goal.kp if par.q >= 0 else 0.0
    if goal.saturated == 0:
        force -= (h * kp + goal.kd) * (u - v)
    if par.q >= 0:
        force -= par.stiffness * (place - par.rest + h * u)
    return force
