"""Steered walk: stance foot, swing foot and landing, tick by tick.

The phases are: STAND on both feet; SHIFT of the weight to the next stance foot; SWING of the other
foot; after the last step STOP, in which the weight returns between the feet.

1. **Footsteps** are those of ``steps_ahead``.
2. **Landing.** In every tick of a swing ``step_choice`` adapts its position and time to the
   measured ξ. A foot with early contact stands there; one without contact at the planned time moves
   on downwards while the weight is shifted to it.
3. **Standing.** When ξ leaves the soles, the foot whose step catches it best is lifted at once: to
   shift the weight first would take time, in which ξ grows. It lands where the robot can stop, with
   ξ anywhere between the feet and within the sole's length, less a margin. Its swing may be shorter
   than that of a walk, and is half as high: covering a height in the time t takes an acceleration
   proportional to 1/t², which the other leg bears.
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
    centre_frame,
    compose,
    ground_pose,
    in_frame,
    limit_step_velocity,
    next_landing,
    plan_motion,
    plan_steps,
    point_under,
    wrap_angle,
)

# the landing is fixed for the last part of a swing [s]
FIXED_LANDING_S = 0.08
# early contact: progress of the swing and share of the weight that detect it; share of the weight
# on a foot that stands; an early contact by more than this ends the swing [s]
EARLY_CONTACT_PROGRESS, CONTACT_LOAD, SUPPORT_LOAD, EARLY_CONTACT_MARGIN_S = 0.6, 0.08, 0.03, 0.12
# share of the weight on the stance foot before the other foot lifts, and timeout of the transfer
# [s]
TRANSFER_LOAD, TRANSFER_TIMEOUT_S = 0.5, 0.15
# error of the landing within which ξ counts as caught [m]
CATCH_TOLERANCE = 0.03
# share of a sole's length to both sides that ξ may use when the robot stops
SOLE_SHARE = 0.4
# share of the distance between the feet that ξ may have moved when the robot stops
STANCE_SHARE = 0.7
# timeout of waiting on two feet for a feasible step [s]; reasons of a stop
STEP_TIMEOUT_S = 1.5
OUT_OF_REACH, TIMEOUT = 1, 2
# search for the ground below the planned landing: speed and depth [m/s, m]
SEARCH_SPEED, SEARCH_DEPTH = 0.1, 0.04
# depth of a planned landing below the stance foot [m], and time constant at which a landed foot
# approaches its measured pose [s]
LANDING_DEPTH, LANDING_TIME_S = 0.003, 0.1
# share of a swing for the ascent
ASCENT_SHARE = 0.3
# share of the gait's lift in steps that catch a standing robot
CATCH_LIFT_SHARE = 0.5
# share of a swing after the end of the level motion
LEVEL_END_SHARE = 0.1


@kernel(inline=True)
def smooth_step(s):
    """Return the quintic from 0 to 1, at rest at both ends."""
    x = clip(s, 0.0, 1.0)
    return x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)


@kernel(inline=True)
def shortest_swing(plan):
    """Return the shortest swing of a robot that walks, or is to stand [s]."""
    s = plan.settings[0]
    return s.min_swing if plan.now[0].walk != 0 else s.min_catch_swing


@kernel
def enter_phase(plan, phase, seconds):
    """Begin a phase with its duration [s]."""
    now = plan.now[0]
    now.phase, now.elapsed, now.left = phase, 0.0, seconds
    now.swing_progress, now.search_time, now.shortfall, now.in_contact = 0.0, 0.0, 0.0, 0
    for i in range(2):
        plan.zmp[0, i] = plan.zmp[1, i]


@kernel
def shift_to(plan, stance, seconds):
    """Begin to shift the weight to a foot within ``seconds``."""
    plan.now[0].stance = stance
    enter_phase(plan, SHIFT, seconds)
    X = ground_pose(plan, stance)
    for i in range(3):
        plan.footstep[0, i] = X[i]
    plan_landing(plan)


@kernel
def plan_landing(plan):
    """Plan the next landing by the steering alone."""
    now = plan.now[0]
    X = (plan.footstep[0, 0], plan.footstep[0, 1], plan.footstep[0, 2])
    plan.footstep[1, 0], plan.footstep[1, 1], plan.footstep[1, 2] = next_landing(
        plan, X, now.stance, True
    )


@kernel
def lift(plan):
    """Lift the swing foot off the ground."""
    now = plan.now[0]
    side, seconds = 1 - now.stance, plan.settings[0].single
    enter_phase(plan, SWING, seconds)
    X = ground_pose(plan, side)
    for i in range(3):
        plan.swing[i, 0], plan.swing[i, 1], plan.swing[i, 2] = X[i], 0.0, 0.0
    # slightly below the ground: late contact is worse than early contact
    plan.rise[0], plan.rise[1] = plan.foot[side, 2], plan.foot[now.stance, 2] - LANDING_DEPTH
    plan.rise[2] = plan.settings[0].lift * (CATCH_LIFT_SHARE if now.walk == 0 else 1.0)
    for i in range(2):
        plan.xi_planned[i] = plan.at_landing[i]


@kernel
def stop_range(plan, box, stance, wanted, landing):
    """Return the bounds of x and y of ξ at a landing from which a robot can stop on its feet, in
    axes of the stance foot.

    Args:
        wanted: ξ at a landing as planned.
    """
    s, lands = plan.settings[0], 1 - stance
    out = s.outwards if lands == LEFT else -s.outwards
    here = -out
    there = here + STANCE_SHARE * (landing[1] + out - here)
    return (
        wanted[0] + SOLE_SHARE * (box[lands, 0] - s.ahead),
        wanted[0] + SOLE_SHARE * (box[lands, 1] - s.ahead),
        min(here, there),
        max(here, there),
    )


@kernel
def catch(plan, box, xi, wanted, stance, times):
    """Choose a landing of the swing foot by ``choose``, in the world.

    Args:
        wanted: ξ when the swing foot lands as planned [m].
        times: left of its swing: planned, shortest, longest [s].

    Returns:
        x, y, yaw of the landing, time [s], displacement beyond reach [m], and cost.
    """
    s, lands = plan.settings[0], 1 - stance
    X = ground_pose(plan, stance)
    L = next_landing(plan, X, stance, True)
    work = (
        box[stance, 0] + s.margin,
        box[stance, 1] - s.margin,
        box[stance, 2] + s.margin,
        box[stance, 3] - s.margin,
    )
    planned, here = in_frame(X, L[0], L[1]), ground_pose(plan, lands)
    a, b = in_frame(X, wanted[0], wanted[1])
    ends = a, a, b, b
    if plan.now[0].walk == 0:
        ends = stop_range(plan, box, stance, (a, b), planned)
    x, y, time, shortfall, cost = choose(
        s,
        1.0 if lands == LEFT else -1.0,
        work,
        in_frame(X, xi[0], xi[1]),
        ends,
        planned,
        in_frame(X, here[0], here[1]),
        times[0],
        times[1],
        times[2],
    )
    x, y, _ = compose(X, x, y, 0.0)
    return (x, y, L[2]), time, shortfall, cost


@kernel(inline=True)
def times_left(plan):
    """Return the time left of a swing: planned, shortest and longest [s]."""
    s, now = plan.settings[0], plan.now[0]
    planned = max(s.single - now.elapsed, FIXED_LANDING_S)
    return planned, max(shortest_swing(plan) - now.elapsed, FIXED_LANDING_S), planned


@kernel
def adapt_landing(plan, box, xi):
    """Adapt the next landing, in position and time, to the measured ξ."""
    s, now = plan.settings[0], plan.now[0]
    if now.left < FIXED_LANDING_S:
        return
    # the landing of the plan, without earlier adaptations
    plan_landing(plan)
    plan_steps(plan)
    plan_motion(plan)
    if s.adapts == 0.0:
        return
    for i in range(2):
        plan.xi_planned[i] = plan.at_landing[i]
    Y, time, shortfall, _ = catch(plan, box, xi, plan.xi_planned, now.stance, times_left(plan))
    now.left, now.shortfall = time, shortfall
    for i in range(3):
        plan.footstep[1, i] = Y[i]


@kernel
def is_outside_soles(plan, box, xi):
    """Check whether ξ has left the soles of a standing robot, less a margin."""
    C = centre_frame(plan, ground_pose(plan, LEFT), LEFT)
    x, y = in_frame(C, xi[0], xi[1])
    least_x, most_x, least_y, most_y = 1e300, -1e300, 1e300, -1e300
    for side in range(2):
        X = ground_pose(plan, side)
        for i in range(4):
            a, b, _ = compose(X, box[side, i // 2], box[side, 2 + i % 2], 0.0)
            a, b = in_frame(C, a, b)
            least_x, most_x = min(least_x, a), max(most_x, a)
            least_y, most_y = min(least_y, b), max(most_y, b)
    m = plan.settings[0].margin
    inside = least_x + m < x < most_x - m and least_y + m < y < most_y - m
    return not inside


@kernel
def catch_from_stance(plan, box, xi, side):
    """Return the distance [m] by which a quick step from two feet misses ξ, with one of them in
    stance, and its cost.
    """
    s, t = plan.settings[0], shortest_swing(plan)
    X = ground_pose(plan, side)
    L = next_landing(plan, X, side, False)
    a, b = point_under(plan, X, side), point_under(plan, L, 1 - side)
    # after that step ξ is between the feet
    x, y = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])
    wanted = (before(s.omega, s.double, a[0], x, x), before(s.omega, s.double, a[1], y, y))
    _, _, shortfall, cost = catch(plan, box, xi, wanted, side, (t, t, t))
    return shortfall, cost


@kernel
def select_stance(plan, box, xi):
    """Select the stance foot from which a step of the other one catches ξ best."""
    best, stance = 1e300, LEFT
    for side in range(2):
        _, cost = catch_from_stance(plan, box, xi, side)
        if cost < best:
            best, stance = cost, side
    if not (plan.now[0].phase == SHIFT and stance == plan.now[0].stance):
        shift_to(plan, stance, 0.0)


@kernel
def lift_if_ready(plan, box, xi, load):
    """Lift the swing foot once the stance foot bears the weight and a step can still catch ξ: two
    feet can hold more than one. If ξ has left both soles, the better foot steps.
    """
    s, now = plan.settings[0], plan.now[0]
    if not (load > TRANSFER_LOAD * s.weight or now.elapsed > s.double + TRANSFER_TIMEOUT_S):
        return
    if s.adapts != 0.0:
        times = s.single, shortest_swing(plan), s.single
        _, _, shortfall, _ = catch(plan, box, xi, plan.at_landing, now.stance, times)
        if shortfall > CATCH_TOLERANCE:
            if not is_outside_soles(plan, box, xi):
                if now.elapsed > STEP_TIMEOUT_S:
                    abort_walk(plan, TIMEOUT)
                return
            select_stance(plan, box, xi)
    lift(plan)


@kernel
def swing_foot(plan):
    """Advance the swing foot by a tick: minimum jerk to its landing, and a lift."""
    s, now = plan.settings[0], plan.now[0]
    side, T = 1 - now.stance, s.tick
    # shorter times would be unstable with this tick
    t = max(now.left - LEVEL_END_SHARE * (now.elapsed + now.left), 12.0 * T)
    for i in range(3):
        x, v, a = plan.swing[i, 0], plan.swing[i, 1], plan.swing[i, 2]
        goal = plan.footstep[1, i]
        if i == 2:
            goal = x + wrap_angle(goal - x)
        jerk = 60.0 * (goal - x) / t**3 - 36.0 * v / t**2 - 9.0 * a / t
        plan.swing[i, 0] = x + T * (v + T * (a / 2.0 + T * jerk / 6.0))
        plan.swing[i, 1] = v + T * (a + T * jerk / 2.0)
        plan.swing[i, 2] = a + T * jerk
    foot = plan.foot[side]
    foot[0], foot[1], foot[3] = plan.swing[0, 0], plan.swing[1, 0], plan.swing[2, 0]
    now.swing_progress += (1.0 - now.swing_progress) * min(T / max(now.left + T, T), 1.0)
    begin, end = plan.rise[0], plan.rise[1]
    top = max(begin, end) + plan.rise[2]
    if now.swing_progress < ASCENT_SHARE:
        foot[2] = begin + smooth_step(now.swing_progress / ASCENT_SHARE) * (top - begin)
    else:
        foot[2] = end + smooth_step((1.0 - now.swing_progress) / (1.0 - ASCENT_SHARE)) * (top - end)


@kernel
def has_landed(plan, load):
    """Check whether the swing foot has landed: in time, or by contact much earlier; a foot with
    slightly early contact waits there.

    Args:
        load: of the swing foot [N].
    """
    s, now = plan.settings[0], plan.now[0]
    if now.swing_progress > EARLY_CONTACT_PROGRESS and load > CONTACT_LOAD * s.weight:
        now.in_contact = 1
    return now.left < 0.5 * s.tick or (now.in_contact != 0 and now.left > EARLY_CONTACT_MARGIN_S)


@kernel
def seek_ground(plan, load):
    """Lower a stance foot while it bears no load; then move it to its measured landing."""
    s, now, foot = plan.settings[0], plan.now[0], plan.foot[plan.now[0].stance]
    if load > SUPPORT_LOAD * s.weight:
        foot[2] += min(s.tick / LANDING_TIME_S, 1.0) * (plan.level[now.stance] - foot[2])
    elif SEARCH_SPEED * now.search_time < SEARCH_DEPTH:
        now.search_time += s.tick
        foot[2] -= SEARCH_SPEED * s.tick


@kernel
def abort_walk(plan, reason):
    """Stop a walk that cannot continue as steered, with its feet together."""
    now = plan.now[0]
    if now.walk != 0:
        now.walk, now.stop_reason = 0, reason


@kernel(apart="none", rare=True)
def touch_down(plan):
    """Continue after a landing: with the next step, or a stop."""
    s, now = plan.settings[0], plan.now[0]
    now.landed += 1
    side = 1 - now.stance
    if now.shortfall > CATCH_TOLERANCE:
        abort_walk(plan, OUT_OF_REACH)
    X, Y = ground_pose(plan, side), ground_pose(plan, now.stance)
    if now.walk == 0 and are_together(plan, X, side, Y):
        enter_phase(plan, STOP, s.shift)
    else:
        shift_to(plan, side, s.double)


@kernel
def first_stance(plan):
    """Return the first stance foot: the other foot is on the side to which the robot walks or
    turns.
    """
    y, turn = plan.requested[1], plan.requested[2]
    to_the_right = y < 0.0 or (y == 0.0 and turn < 0.0)
    return LEFT if to_the_right else RIGHT


@kernel
def next_phase(plan, box, xi, load):
    """Advance the phase by a tick; return whether a foot has just landed.

    Args:
        box: bounds of the soles. xi: measured ξ [m]. load: of each foot [N].
    """
    s, now = plan.settings[0], plan.now[0]
    now.elapsed += s.tick
    now.left = max(now.left - s.tick, 0.0)
    limit_step_velocity(plan)
    if now.phase == STAND or now.phase == STOP:
        if s.adapts != 0.0 and is_outside_soles(plan, box, xi):
            select_stance(plan, box, xi)
            lift(plan)
        elif now.walk != 0:
            shift_to(plan, first_stance(plan), s.shift)
        elif now.phase == STOP and now.left == 0.0:
            enter_phase(plan, STAND, 0.0)
    elif now.phase == SHIFT:
        seek_ground(plan, load[now.stance])
        if now.left == 0.0:
            lift_if_ready(plan, box, xi, load[now.stance])
    if now.phase == SHIFT:
        plan_landing(plan)
    elif now.phase == SWING:
        if now.in_contact == 0:
            adapt_landing(plan, box, xi)
            swing_foot(plan)
        return has_landed(plan, load[1 - now.stance])
    return False
