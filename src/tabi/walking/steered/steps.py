"""A walk that is steered: which foot stands, which one swings, where it will land, tick by tick.

Phases follow each other: STAND on both feet; SHIFT of the weight to the foot that will stand; SWING
of the other one; after the last step STOP, in which the weight goes back between the feet.

1. **Footsteps** are those of ``steps_ahead``.
2. **Landing.** In every tick of a swing ``step_choice`` moves it, in place and time, to where the
   measured ξ asks for. A foot that meets the ground early stands there; one that does not find it
   in time goes on downwards while the weight is shifted to it.
3. **Standing.** Where ξ leaves the soles, the foot whose step catches it best is lifted at once: to
   shift the weight first would take time, in which ξ grows. It lands where the robot can stop, with
   ξ anywhere between the feet and within the sole's length, less a margin. Its swing may be shorter
   than that of a walk, and is half as high: a height that is gone through in the time t takes an
   acceleration with 1/t², which the other leg bears.
"""

from tabi.jit import kernel
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.plan.dcm_plan import before
from tabi.walking.steered.step_choice import choose, clip
from tabi.walking.steered.steps_ahead import (
    SHIFT,
    STAND,
    STOP,
    SWING,
    are_together,
    compose,
    following,
    ground_pose,
    place_between,
    plan_motion,
    plan_steps,
    point_under,
    seen_from,
    steer,
    wrapped,
)

# a landing does not change any more in the last moment of a swing [s]
SETTLED = 0.08
# of its way, after which a foot may meet the ground; of the weight, that it then bears, and that it
# has to bear in the end; how much earlier than planned is much [s]
EARLY, BEARS, LANDS, MUCH = 0.6, 0.08, 0.03, 0.12
# of the weight, that it bears before the other foot lifts, unless that takes so much longer [s]
TAKES, PATIENCE = 0.5, 0.15
# a step has caught ξ within this [m]
CAUGHT = 0.03
# of a sole's length to both sides, that a robot which stops may use
USED = 0.4
# of the way from one foot to the other, that it may have gone
INWARDS = 0.7
# so long it waits on two feet for a step that could be made [s]; why a walk was given up
WAITS = 1.5
PUSHED, WAITED = 1, 2
# how fast a foot looks for the ground, and how far down [m/s, m]
SEEKS, DEEPEST = 0.1, 0.04
# how much below the foot that stands a landing is planned [m], and how fast a foot that landed is
# led to where it did [s]
DEEPER, SETTLES = 0.003, 0.1
# share of a swing on the way up
TOP = 0.3
# of the gait's lift, in steps of a robot that is to stand
LOW = 0.5
# a level motion ends so much before the swing, of its time
LEVEL = 0.1


@kernel(inline=True)
def smooth_step(s):
    """Quintic from 0 to 1, at rest at both ends."""
    x = clip(s, 0.0, 1.0)
    return x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)


@kernel(inline=True)
def shortest_swing(plan):
    """Of a robot that walks, or is to stand [s]."""
    s = plan.settings[0]
    return s.least if plan.now[0].walk != 0 else s.quickest


@kernel
def enter(plan, phase, seconds):
    """Begin a phase of so many seconds."""
    now = plan.now[0]
    now.phase, now.elapsed, now.left = phase, 0.0, seconds
    now.phi, now.late, now.missed, now.met = 0.0, 0.0, 0.0, 0
    for i in range(2):
        plan.zmp[0, i] = plan.zmp[1, i]


@kernel
def shift_to(plan, stance, seconds):
    """Begin to shift the weight to a foot."""
    plan.now[0].stance = stance
    enter(plan, SHIFT, seconds)
    X = ground_pose(plan, stance)
    for i in range(3):
        plan.hold[0, i] = X[i]
    new_landing(plan)


@kernel
def new_landing(plan):
    """The next landing, as it is steered."""
    now = plan.now[0]
    X = (plan.hold[0, 0], plan.hold[0, 1], plan.hold[0, 2])
    plan.hold[1, 0], plan.hold[1, 1], plan.hold[1, 2] = following(plan, X, now.stance, True)


@kernel
def lift(plan):
    """The foot leaves the ground."""
    now = plan.now[0]
    side, seconds = 1 - now.stance, plan.settings[0].single
    enter(plan, SWING, seconds)
    X = ground_pose(plan, side)
    for i in range(3):
        plan.swing[i, 0], plan.swing[i, 1], plan.swing[i, 2] = X[i], 0.0, 0.0
    # a little deeper than the ground: a foot that comes late is worse than one that comes early
    plan.rise[0], plan.rise[1] = plan.foot[side, 2], plan.foot[now.stance, 2] - DEEPER
    plan.rise[2] = plan.settings[0].lift * (LOW if now.walk == 0 else 1.0)
    for i in range(2):
        plan.wanted[i] = plan.at_landing[i]


@kernel
def where_it_can_stop(plan, box, stance, wanted, landing):
    """Least and largest x and y of ξ at a landing from which a robot can stop on its feet, in axes
    of the foot that stands.

    Args:
        wanted: where it should be for a landing as planned.
    """
    s, lands = plan.settings[0], 1 - stance
    out = s.outwards if lands == LEFT else -s.outwards
    here = -out
    there = here + INWARDS * (landing[1] + out - here)
    return (
        wanted[0] + USED * (box[lands, 0] - s.ahead),
        wanted[0] + USED * (box[lands, 1] - s.ahead),
        min(here, there),
        max(here, there),
    )


@kernel
def catch(plan, box, xi, wanted, stance, times):
    """``choose`` for the foot other than the one that stands, in the world: x, y, yaw of the
    landing, time, what is out of reach, and the cost.

    Args:
        wanted: ξ when that foot lands where it is planned [m].
        times: that are left of its swing: planned, least, most [s].
    """
    s, lands = plan.settings[0], 1 - stance
    X = ground_pose(plan, stance)
    L = following(plan, X, stance, True)
    work = (
        box[stance, 0] + s.margin,
        box[stance, 1] - s.margin,
        box[stance, 2] + s.margin,
        box[stance, 3] - s.margin,
    )
    planned, here = seen_from(X, L[0], L[1]), ground_pose(plan, lands)
    a, b = seen_from(X, wanted[0], wanted[1])
    ends = a, a, b, b
    if plan.now[0].walk == 0:
        ends = where_it_can_stop(plan, box, stance, (a, b), planned)
    x, y, time, missed, cost = choose(
        s,
        1.0 if lands == LEFT else -1.0,
        work,
        seen_from(X, xi[0], xi[1]),
        ends,
        planned,
        seen_from(X, here[0], here[1]),
        times[0],
        times[1],
        times[2],
    )
    x, y, _ = compose(X, x, y, 0.0)
    return (x, y, L[2]), time, missed, cost


@kernel(inline=True)
def times_left(plan):
    """Of a swing: planned, least and most [s]."""
    s, now = plan.settings[0], plan.now[0]
    planned = max(s.single - now.elapsed, SETTLED)
    return planned, max(shortest_swing(plan) - now.elapsed, SETTLED), planned


@kernel
def lead_landing(plan, box, xi):
    """Move the next landing, in place and time, to where ξ asks for."""
    s, now = plan.settings[0], plan.now[0]
    if now.left < SETTLED:
        return
    # what it is planned for, without what was chosen before
    new_landing(plan)
    plan_steps(plan)
    plan_motion(plan)
    if s.adapts == 0.0:
        return
    for i in range(2):
        plan.wanted[i] = plan.at_landing[i]
    Y, time, missed, _ = catch(plan, box, xi, plan.wanted, now.stance, times_left(plan))
    now.left, now.missed = time, missed
    for i in range(3):
        plan.hold[1, i] = Y[i]


@kernel
def outside(plan, box, xi):
    """Whether ξ has left the soles of a robot that stands, less a margin."""
    C = place_between(plan, ground_pose(plan, LEFT), LEFT)
    x, y = seen_from(C, xi[0], xi[1])
    least_x, most_x, least_y, most_y = 1e300, -1e300, 1e300, -1e300
    for side in range(2):
        X = ground_pose(plan, side)
        for i in range(4):
            a, b, _ = compose(X, box[side, i // 2], box[side, 2 + i % 2], 0.0)
            a, b = seen_from(C, a, b)
            least_x, most_x = min(least_x, a), max(most_x, a)
            least_y, most_y = min(least_y, b), max(most_y, b)
    m = plan.settings[0].margin
    inside = least_x + m < x < most_x - m and least_y + m < y < most_y - m
    return not inside


@kernel
def catch_from(plan, box, xi, side):
    """How much of ξ a quick step from two feet, with one of them standing, does not catch [m], and
    its cost.
    """
    s, t = plan.settings[0], shortest_swing(plan)
    X = ground_pose(plan, side)
    L = following(plan, X, side, False)
    a, b = point_under(plan, X, side), point_under(plan, L, 1 - side)
    # after that step it stands between its feet
    x, y = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])
    wanted = (before(s.omega, s.double, a[0], x, x), before(s.omega, s.double, a[1], y, y))
    _, _, missed, cost = catch(plan, box, xi, wanted, side, (t, t, t))
    return missed, cost


@kernel
def stand_to_catch(plan, box, xi):
    """Let that foot stand from which a step of the other one catches ξ best."""
    best, stance = 1e300, LEFT
    for side in range(2):
        _, cost = catch_from(plan, box, xi, side)
        if cost < best:
            best, stance = cost, side
    if not (plan.now[0].phase == SHIFT and stance == plan.now[0].stance):
        shift_to(plan, stance, 0.0)


@kernel
def lift_when_ready(plan, box, xi, load):
    """Lift once the other foot bears the weight, and not while a step would not catch ξ: two feet
    can hold more than one. What has left them both is caught by the better foot.
    """
    s, now = plan.settings[0], plan.now[0]
    if not (load > TAKES * s.weight or now.elapsed > s.double + PATIENCE):
        return
    if s.adapts != 0.0:
        times = s.single, shortest_swing(plan), s.single
        _, _, missed, _ = catch(plan, box, xi, plan.at_landing, now.stance, times)
        if missed > CAUGHT:
            if not outside(plan, box, xi):
                if now.elapsed > WAITS:
                    give_up(plan, WAITED)
                return
            stand_to_catch(plan, box, xi)
    lift(plan)


@kernel
def swing_foot(plan):
    """The next place of the foot that swings: least jerk to where it lands, and a lift."""
    s, now = plan.settings[0], plan.now[0]
    side, T = 1 - now.stance, s.tick
    # a shorter one would not be stable in ticks
    t = max(now.left - LEVEL * (now.elapsed + now.left), 12.0 * T)
    for i in range(3):
        x, v, a = plan.swing[i, 0], plan.swing[i, 1], plan.swing[i, 2]
        goal = plan.hold[1, i]
        if i == 2:
            goal = x + wrapped(goal - x)
        jerk = 60.0 * (goal - x) / t**3 - 36.0 * v / t**2 - 9.0 * a / t
        plan.swing[i, 0] = x + T * (v + T * (a / 2.0 + T * jerk / 6.0))
        plan.swing[i, 1] = v + T * (a + T * jerk / 2.0)
        plan.swing[i, 2] = a + T * jerk
    foot = plan.foot[side]
    foot[0], foot[1], foot[3] = plan.swing[0, 0], plan.swing[1, 0], plan.swing[2, 0]
    now.phi += (1.0 - now.phi) * min(T / max(now.left + T, T), 1.0)
    begin, end = plan.rise[0], plan.rise[1]
    top = max(begin, end) + plan.rise[2]
    if now.phi < TOP:
        foot[2] = begin + smooth_step(now.phi / TOP) * (top - begin)
    else:
        foot[2] = end + smooth_step((1.0 - now.phi) / (1.0 - TOP)) * (top - end)


@kernel
def has_landed(plan, load):
    """Whether the foot that swings stands: in time, or where it meets the ground much earlier; one
    that meets it a little early waits there.

    Args:
        load: on it [N].
    """
    s, now = plan.settings[0], plan.now[0]
    if now.phi > EARLY and load > BEARS * s.weight:
        now.met = 1
    return now.left < 0.5 * s.tick or (now.met != 0 and now.left > MUCH)


@kernel
def seek_ground(plan, load):
    """A foot that is to stand goes down while it bears nothing, and then to where it landed."""
    s, now, foot = plan.settings[0], plan.now[0], plan.foot[plan.now[0].stance]
    if load > LANDS * s.weight:
        foot[2] += min(s.tick / SETTLES, 1.0) * (plan.level[now.stance] - foot[2])
    elif SEEKS * now.late < DEEPEST:
        now.late += s.tick
        foot[2] -= SEEKS * s.tick


@kernel
def give_up(plan, why):
    """A walk that cannot go on as it is steered stops, with its feet together."""
    now = plan.now[0]
    if now.walk != 0:
        now.walk, now.why = 0, why


@kernel(apart="none", rare=True)
def touch_down(plan):
    """After a landing: on to the next step, or to a stop."""
    s, now = plan.settings[0], plan.now[0]
    now.landed += 1
    side = 1 - now.stance
    if now.missed > CAUGHT:
        give_up(plan, PUSHED)
    X, Y = ground_pose(plan, side), ground_pose(plan, now.stance)
    if now.walk == 0 and are_together(plan, X, side, Y):
        enter(plan, STOP, s.shift)
    else:
        shift_to(plan, side, s.double)


@kernel
def first_stance(plan):
    """The foot that stands first: the other one is on the side to which it goes or turns."""
    y, turn = plan.asked[1], plan.asked[2]
    to_the_right = y < 0.0 or (y == 0.0 and turn < 0.0)
    return LEFT if to_the_right else RIGHT


@kernel
def next_phase(plan, box, xi, load):
    """Go on by a tick; tells whether a foot has just landed.

    Args:
        box: bounds of the soles. xi: measured ξ [m]. load: on each foot [N].
    """
    s, now = plan.settings[0], plan.now[0]
    now.elapsed += s.tick
    now.left = max(now.left - s.tick, 0.0)
    steer(plan)
    if now.phase == STAND or now.phase == STOP:
        if s.adapts != 0.0 and outside(plan, box, xi):
            stand_to_catch(plan, box, xi)
            lift(plan)
        elif now.walk != 0:
            shift_to(plan, first_stance(plan), s.shift)
        elif now.phase == STOP and now.left == 0.0:
            enter(plan, STAND, 0.0)
    elif now.phase == SHIFT:
        seek_ground(plan, load[now.stance])
        if now.left == 0.0:
            lift_when_ready(plan, box, xi, load[now.stance])
    if now.phase == SHIFT:
        new_landing(plan)
    elif now.phase == SWING:
        if now.met == 0:
            lead_landing(plan, box, xi)
            swing_foot(plan)
        return has_landed(plan, load[1 - now.stance])
    return False
