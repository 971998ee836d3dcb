"""Limits of the joints: dry friction that truly sticks, the ends of travel, and top speeds.

The force f of each law belongs to the velocity v⁺ at the end of the step:

    dry friction    f = −μ sign(v⁺) while it moves,   |f| ≤ μ at v⁺ = 0                         (1)
    ends of travel  f ≥ 0 ⊥ q + h v⁺ − q_lower ≥ 0,   and the mirror image at the upper end      (2)
    top speed       f ≤ 0 ⊥ v⁺ ≤ v_max,   and its mirror image                                  (3)
So a joint either moves, under a force that is known, or is *held*: its velocity is known and the
force comes out, as in hybrid dynamics. Held joints drop out of M̂, contacts see that, and a robot
whose joints all stick is cheaper to step than one whose joints swing. This is an active set: which
joints are held is known at the end of the step only, the last step's answer is the guess, ``judge``
finds wrong guesses, and the step is solved again, as for motors that saturate. Joints that
are still wrong then are solved together with the contacts (``rows.joints``).

Held in the same way are joints that a command moves exactly (``exact`` of MOTOR), as far as (2) and
(3) let them:

    v⁺ = (q_d − q)/h   by position,   v⁺ = v_d   by velocity                                    (4)
The motor overcomes their friction too while they move; at rest that is taken for none. Followers of
such joints are held likewise, at their ratio of the leader's velocity, so that what they bear comes
out and can be handed on to the leader (``motors.finish``).

Of a held joint f is what M̂ a + b, the contacts and all other forces leave: τ − B (v⁺ − v) with τ
and B the sums of the other forces' (2) of ``motors``. So this force is loaded behind all others.

Reference: Featherstone (2008), sec. 9.2 and 11.7.
"""

from tabi.jit import kernel
from tabi.model.arrays import table
from tabi.step.forces.motors import has_given_motion
from tabi.step.parts import worse
from tabi.step.tables import JOINT

# modes of a degree of freedom; FOLLOWS: follows another one, or leads it, without laws; JOINED: its
# laws are rows beside those of contacts
FOLLOWS, MOVES, STUCK, LOWER, UPPER, JOINED = range(-1, 5)
INFINITY = float("inf")
# values of ``exact`` of MOTOR: a joint reaches the commanded position, or velocity, exactly
BY_POSITION, BY_VELOCITY = 1, 2
# a joint outside of its travel comes back with this speed [rad/s or m/s]
RETURN_SPEED = 1.0
# guesses in which all wrong joints change their modes at once; after which they do one by one
SIMULTANEOUS_GUESS_COUNT, SEQUENTIAL_GUESS_COUNT = 3, 100
# relative rounding of a force or velocity, within which no mode changes
ROUNDING = 1e-12


@kernel(inline=True)
def min_velocity(par, place, h):
    """Return the least v⁺ that (2) and (3) allow [rad/s or m/s]."""
    return max(min((par.lower - place) / h, RETURN_SPEED), -par.velocity_limit)


@kernel(inline=True)
def max_velocity(par, place, h):
    """Return the largest v⁺ that (2) and (3) allow [rad/s or m/s]."""
    return min(max((par.upper - place) / h, -RETURN_SPEED), par.velocity_limit)


@kernel(inline=True)
def commanded_velocity(par, motor, place, h):
    """Return v⁺ of (4) within the limits [rad/s or m/s]."""
    velocity = motor.velocity
    if motor.exact == BY_POSITION:
        velocity = (motor.position - place) / h
    return min(max(velocity, min_velocity(par, place, h)), max_velocity(par, place, h))


@kernel(inline=True)
def min_row_velocity(par, place, h):
    """Return the least v⁺ of a joint whose ends are solved with the contacts: beyond an end it must
    not go on, and need not come back, which contacts could prevent.
    """
    return min(min_velocity(par, place, h), 0.0)


@kernel(inline=True)
def max_row_velocity(par, place, h):
    """Return the largest v⁺ of such a joint, the mirror image of ``min_row_velocity``."""
    return max(max_velocity(par, place, h), 0.0)


@kernel(inline=True)
def load(part_memory, t, d, s, h):
    """Add friction of moving joints to s.applied; mark held joints and set their velocity."""
    m, w = t.model, s.dynamics
    for k in range(d.v.shape[0]):
        par, mode, exact = m.dof[k], d.memory.joint[k].mode, d.command.motor[k].exact
        if exact != 0 or (par.prescribed == 0 and MOVES < mode < JOINED):
            place = d.q[par.q] if par.q >= 0 else 0.0
            velocity = 0.0
            if exact != 0:
                velocity = commanded_velocity(par, d.command.motor[k], place, h)
            elif mode == LOWER:
                velocity = min_velocity(par, place, h)
            elif mode == UPPER:
                velocity = max_velocity(par, place, h)
            w.dof[k].fixed = 1
            s.held_velocity[k] = velocity
            s.acceleration[k] = (velocity - d.v[k]) / h
        elif mode == MOVES:
            s.applied[k] -= par.friction * d.memory.joint[k].direction
    # a chain of followers needs as many passes as it has joints
    for _ in range(m.mimic.shape[0]):
        for c in range(m.mimic.shape[0]):
            k, leader = m.mimic[c].follower, m.mimic[c].leader
            if w.dof[k].fixed == 0 and w.dof[leader].fixed != 0:
                w.dof[k].fixed = 1
                s.held_velocity[k] = m.mimic[c].ratio * s.held_velocity[leader]
                s.acceleration[k] = (s.held_velocity[k] - d.v[k]) / h


@kernel(inline=True)
def judge(part_memory, t, d, s, h, tolerance, guess):
    """Compute forces of (1) to (3), and change the modes of joints that were guessed wrong.

    Args:
        tolerance: of contacts [m/s]; errors of half of it may be theirs.
        guess: number of earlier guesses; at first all wrong joints change, then every third of them
            in turn, and in the end one by one, so that guesses do not cycle where joints cannot be
            solved with the contacts (older laws).

    Returns:
        the number of wrong guesses, and the largest error as a change of velocity [rad/s or m/s].
    """
    m, wrong, worst = t.model, 0, 0.0
    for k in range(d.v.shape[0]):
        par, joint = m.dof[k], d.memory.joint[k]
        s.wrong[k] = 0
        if joint.mode == FOLLOWS:
            continue
        if has_given_motion(par, d.command.motor[k]):
            u = s.v_next[k]
            drag = -par.friction if u > 0.0 else par.friction
            d.outcome.effort[k].constraint = drag if u != 0.0 else 0.0
            continue
        place = d.q[par.q] if par.q >= 0 else 0.0
        if joint.mode == JOINED:
            # what its rows say is certified with the contacts; an end may have had none
            low, high = min_row_velocity(par, place, h), max_row_velocity(par, place, h)
            beyond = max(low - s.v_next[k], s.v_next[k] - high)
            worst = worse(worst, max(0.0, beyond))
            s.wrong[k] = beyond > tolerance
            wrong += beyond > tolerance
            continue
        mu, u, f = par.friction, s.v_next[k], -par.friction * joint.direction
        mode, direction, error = joint.mode, 0, 0.0
        if joint.mode == MOVES:
            low, high = min_velocity(par, place, h), max_velocity(par, place, h)
            if u < low - ROUNDING:
                mode, error = LOWER, low - u
            elif u > high + ROUNDING:
                mode, error = UPPER, u - high
            elif mu > 0.0 and not joint.direction * u > 0.0:
                mode, error = STUCK, abs(u)
        else:
            other_efforts = s.applied[k] - (s.added[k] - par.armature) / h * (u - d.v[k])
            f = s.dynamics.load[k] + s.reaction[k] / h - other_efforts
            # what friction may add where it moves, and where it does not
            weakest, strongest = -mu if u >= 0.0 else mu, mu if u <= 0.0 else -mu
            if joint.mode == LOWER:
                strongest = INFINITY
            elif joint.mode == UPPER:
                weakest = -INFINITY
            small = ROUNDING * (abs(f) + mu)
            if f < weakest - small or f > strongest + small:
                mode, error = MOVES, h * s.dynamics.dof[k].pivot * max(weakest - f, f - strongest)
                direction = 1 if u > 0.0 or (u == 0.0 and f < weakest) else -1
        d.outcome.effort[k].constraint = f
        worst = worse(worst, error)
        if error > 0.5 * tolerance:
            if (
                guess < SIMULTANEOUS_GUESS_COUNT
                or (guess < SEQUENTIAL_GUESS_COUNT and (k + guess) % 3 == 0)
                or (guess >= SEQUENTIAL_GUESS_COUNT and wrong == 0)
            ):
                joint.mode, joint.direction = mode, direction
            s.wrong[k] = 1
            wrong += 1
    return wrong, worst


@kernel(inline=True)
def finish(part_memory, t, d, s, h):
    """Do nothing after the step."""


def initial_modes(model):
    """Return the initial table of JOINT: joints that follow others, or lead, have no laws."""
    joint = table(model.v_count, JOINT)
    for end in ("follower", "leader"):
        joint["mode"][model.arrays.mimic[end]] = FOLLOWS
    return joint
