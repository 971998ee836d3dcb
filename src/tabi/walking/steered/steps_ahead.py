"""Next footsteps of a steered walk, and the divergent component planned over them.

A step displaces the frame C between the feet by the steering, D = (v_x, v_y, ω) T, and the swing
foot lands beside it (``footsteps``); sideways and in turns the foot on that side takes the
displacement of two steps, so that legs never cross:

    X_landing = X_stance X_C,stance⁻¹ D X_C,foot                                                (1)
A walk that is to stop continues, without D, until the feet stand beside each other.
"""

from math import atan2

from tabi.jit import kernel
from tabi.spatial.trigonometry import sincos
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.plan.dcm_plan import at_landing, before
from tabi.walking.steered.step_choice import clip
from tabi.walking.steered.tables import FOOTSTEPS_AHEAD

# phases of a walk, see ``steps``
STAND, SHIFT, SWING, STOP = 0, 1, 2, 3
# tolerances of feet that stand together [m, rad]
POSITION_TOLERANCE, YAW_TOLERANCE = 0.01, 0.05


@kernel(inline=True)
def wrap_angle(angle):
    """Return the angle between −π and π [rad]."""
    s, c = sincos(angle)
    return atan2(s, c)


@kernel(inline=True)
def compose(X, x, y, yaw):
    """Return a pose (x, y, yaw) of the frame X, in the world."""
    s, c = sincos(X[2])
    return X[0] + c * x - s * y, X[1] + s * x + c * y, X[2] + yaw


@kernel(inline=True)
def in_frame(X, x, y):
    """Return a point of the world in the frame X: x, y, yaw."""
    s, c = sincos(X[2])
    return c * (x - X[0]) + s * (y - X[1]), -s * (x - X[0]) + c * (y - X[1])


@kernel(inline=True)
def ground_pose(plan, side):
    """Return x, y, yaw of a sole."""
    return plan.foot[side, 0], plan.foot[side, 1], plan.foot[side, 3]


@kernel(inline=True)
def point_under(plan, X, side):
    """Return the reference of the zero moment point under a sole at X."""
    s = plan.settings[0]
    x, y, _ = compose(X, s.ahead, s.outwards if side == LEFT else -s.outwards, 0.0)
    return x, y


@kernel
def centre_frame(plan, X, side):
    """Return the frame between the feet, from the pose of one of them."""
    x, y, yaw = plan.beside[side, 0], plan.beside[side, 1], plan.beside[side, 2]
    # X B⁻¹
    s, c = sincos(yaw)
    return compose(X, -c * x - s * y, s * x - c * y, -yaw)


@kernel
def next_landing(plan, X, side, moves):
    """Return the landing of the other foot after the foot at X, equation (1), with or without
    steering.
    """
    s, lands = plan.settings[0], 1 - side
    time = (s.single + s.double) if moves else 0.0
    C = centre_frame(plan, X, side)
    out = 1.0 if lands == LEFT else -1.0
    x, y, turn = (
        plan.step_velocity[0] * time,
        plan.step_velocity[1] * time,
        plan.step_velocity[2] * time,
    )
    # the foot on that side takes the displacement of both steps
    y = 2.0 * y if y * out > 0.0 else 0.0
    turn = 2.0 * turn if turn * out > 0.0 else 0.0
    C = compose(C, x, y, turn)
    return compose(C, plan.beside[lands, 0], plan.beside[lands, 1], plan.beside[lands, 2])


@kernel
def are_together(plan, X, side, Y):
    """Check whether the other foot, at Y, is beside the foot at X as in standing."""
    x, y, yaw = next_landing(plan, X, side, False)
    off = (x - Y[0]) ** 2 + (y - Y[1]) ** 2
    return (
        off < POSITION_TOLERANCE * POSITION_TOLERANCE
        and abs(wrap_angle(yaw - Y[2])) < YAW_TOLERANCE
    )


@kernel
def plan_steps(plan):
    """Plan the footsteps after the next landing, and the points under them."""
    now, hold, under = plan.now[0], plan.footstep, plan.under
    side, k = now.stance, 0
    for k in range(FOOTSTEPS_AHEAD + 2):
        X = (hold[k, 0], hold[k, 1], hold[k, 2])
        under[k, 0], under[k, 1] = point_under(plan, X, side)
        if k > 0 and now.walk == 0:
            B = (hold[k - 1, 0], hold[k - 1, 1], hold[k - 1, 2])
            if are_together(plan, B, 1 - side, X):
                break
        if k < FOOTSTEPS_AHEAD + 1:
            if k > 0:
                hold[k + 1, 0], hold[k + 1, 1], hold[k + 1, 2] = next_landing(
                    plan, X, side, now.walk != 0
                )
            side = 1 - side
    now.count, now.stops = k, 1 if now.walk == 0 else 0
    for i in range(2):
        under[k + 1, i] = 0.5 * (under[k - 1, i] + under[k, i])


@kernel
def plan_motion(plan):
    """Plan ξ and the zero moment point now, and ξ at the next landing."""
    s, now, zmp = plan.settings[0], plan.now[0], plan.zmp
    whole = now.elapsed + now.left
    for i in range(2):
        if now.phase == STAND or now.phase == STOP:
            a = point_under(plan, ground_pose(plan, LEFT), LEFT)
            b = point_under(plan, ground_pose(plan, RIGHT), RIGHT)
            middle = 0.5 * (a[i] + b[i])
            part = 1.0 if now.phase == STAND else clip(now.elapsed / whole, 0.0, 1.0)
            zmp[1, i] = zmp[0, i] + part * (middle - zmp[0, i])
            left = 0.0 if now.phase == STAND else now.left
            plan.xi[i] = before(s.omega, left, zmp[1, i], middle, middle)
            plan.at_landing[i] = middle
            continue
        end = at_landing(
            plan.under, now.count, now.stops != 0, s.omega, s.single, s.double, s.shift, i
        )
        plan.at_landing[i] = end
        here = plan.under[0, i]
        if now.phase == SWING:
            zmp[1, i] = here
            plan.xi[i] = before(s.omega, now.left, here, here, end)
        else:
            zmp[1, i] = zmp[0, i] + clip(now.elapsed / whole, 0.0, 1.0) * (here - zmp[0, i])
            end = before(s.omega, s.single, here, here, end)
            plan.xi[i] = before(s.omega, now.left, zmp[1, i], here, end)


@kernel
def limit_step_velocity(plan):
    """Let the velocity of the steps follow the steering, with limited acceleration."""
    s = plan.settings[0]
    for i in range(3):
        max_change = s.tick * (s.angular_acceleration if i == 2 else s.acceleration)
        target = plan.requested[i] if plan.now[0].walk != 0 else 0.0
        plan.step_velocity[i] += clip(target - plan.step_velocity[i], -max_change, max_change)
