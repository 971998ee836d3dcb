"""Limits of the joints: dry friction that truly sticks, the ends of travel, and top speeds.

The force f of each law belongs to the velocity v⁺ at the end of the step:

    dry friction    f = −μ sign(v⁺) while it moves,   |f| ≤ μ at v⁺ = 0                         (1)
    ends of travel  f ≥ 0 ⟂ q + h v⁺ − q_lower ≥ 0,   and the mirror image at the upper end      (2)
    top speed       f ≤ 0 ⟂ v⁺ ≤ v_max,   and its mirror image                                  (3)
So a joint either moves, under a force that is known, or is *held*: its velocity is known and the
force comes out, as in hybrid dynamics. Held joints drop out of M̂, contacts see that, and a robot
whose joints all stick is cheaper to step than one whose joints swing. This is an active set: which
joints are held shows at the end of the step only, the last step's answer is the guess, ``judge``
tells which were guessed wrong, and the step is done again, as for motors that saturate. Joints that
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
from tabi.step.forces.motors import given
from tabi.step.parts import worse
from tabi.step.tables import JOINT

# modes of a degree of freedom; FOLLOWS: moves as another one tells it, or tells another,
# without laws; JOINED: its laws are rows beside those of contacts
FOLLOWS, MOVES, STUCK, LOWER, UPPER, JOINED = -1, 0, 1, 2, 3, 4
INFINITY = float("inf")
# what ``exact`` of MOTOR says: a joint goes where, or as fast as, it is told
BY_POSITION, BY_VELOCITY = 1, 2
# a joint outside of its travel comes back with this speed [rad/s or m/s]
RETURN = 1.0
# guesses after which not all joints change their modes at once any more, and only one by one
BOLD, SHY = 3, 100
# of a force or velocity: rounding, no reason to change
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
def told(par, motor, place, h):
    """v⁺ of (4)."""
    velocity = motor.velocity
    if motor.exact == BY_POSITION:
        velocity = (motor.position - place) / h
    return min(max(velocity, lowest(par, place, h)), highest(par, place, h))


@kernel(inline=True)
def least(par, place, h):
    """The least v⁺ of a joint whose ends are solved with the contacts: beyond an end it need not
    come back, which contacts could forbid, but not go on.
    """
    return min(lowest(par, place, h), 0.0)


@kernel(inline=True)
def most(par, place, h):
    """The largest one."""
    return max(highest(par, place, h), 0.0)


@kernel(inline=True)
def load(own, t, d, s, h):
    """Friction of joints that move into s.applied; held ones are marked, with their velocity."""
    m, w = t.model, s.dynamics
    for k in range(d.v.shape[0]):
        par, mode, exact = m.dof[k], d.memory.joint[k].mode, d.command.motor[k].exact
        if exact != 0 or (par.prescribed == 0 and MOVES < mode < JOINED):
            place = d.q[par.q] if par.q >= 0 else 0.0
            velocity = 0.0
            if exact != 0:
                velocity = told(par, d.command.motor[k], place, h)
            elif mode == LOWER:
                velocity = lowest(par, place, h)
            elif mode == UPPER:
                velocity = highest(par, place, h)
            w.dof[k].fixed = 1
            s.held_velocity[k] = velocity
            s.acceleration[k] = (velocity - d.v[k]) / h
        elif mode == MOVES:
            s.applied[k] -= par.friction * d.memory.joint[k].direction
    # a chain of followers needs as many turns as it is long
    for _ in range(m.mimic.shape[0]):
        for c in range(m.mimic.shape[0]):
            k, leader = m.mimic[c].follower, m.mimic[c].leader
            if w.dof[k].fixed == 0 and w.dof[leader].fixed != 0:
                w.dof[k].fixed = 1
                s.held_velocity[k] = m.mimic[c].ratio * s.held_velocity[leader]
                s.acceleration[k] = (s.held_velocity[k] - d.v[k]) / h


@kernel(inline=True)
def judge(own, t, d, s, h, tolerance, guess):
    """Forces of (1) to (3), and which joints were guessed wrong: they get another mode, or some do.

    Args:
        tolerance: of contacts [m/s]; errors of half of it may be theirs.
        guess: how often the step was done before; the first times all that are wrong change, then
            every third of them by turns, and in the end one by one, so that no circle is run
            through for ever where joints cannot join the contacts (older laws).

    Returns:
        how many were wrong, and the largest error as a change of velocity [rad/s or m/s].
    """
    m, wrong, worst = t.model, 0, 0.0
    for k in range(d.v.shape[0]):
        par, joint = m.dof[k], d.memory.joint[k]
        s.wrong[k] = 0
        if joint.mode == FOLLOWS:
            continue
        if given(par, d.command.motor[k]):
            u = s.v_next[k]
            drag = -par.friction if u > 0.0 else par.friction
            d.outcome.effort[k].constraint = drag if u != 0.0 else 0.0
            continue
        place = d.q[par.q] if par.q >= 0 else 0.0
        if joint.mode == JOINED:
            # what its rows say is certified with the contacts; an end may have had none
            low, high = least(par, place, h), most(par, place, h)
            beyond = max(low - s.v_next[k], s.v_next[k] - high)
            worst = worse(worst, max(0.0, beyond))
            s.wrong[k] = beyond > tolerance
            wrong += beyond > tolerance
            continue
        mu, u, f = par.friction, s.v_next[k], -par.friction * joint.direction
        mode, direction, error = joint.mode, 0, 0.0
        if joint.mode == MOVES:
            low, high = lowest(par, place, h), highest(par, place, h)
            if u < low - ROUNDING:
                mode, error = LOWER, low - u
            elif u > high + ROUNDING:
                mode, error = UPPER, u - high
            elif mu > 0.0 and not joint.direction * u > 0.0:
                mode, error = STUCK, abs(u)
        else:
            others = s.applied[k] - (s.added[k] - par.armature) / h * (u - d.v[k])
            f = s.dynamics.load[k] + s.reaction[k] / h - others
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
                guess < BOLD
                or (guess < SHY and (k + guess) % 3 == 0)
                or (guess >= SHY and wrong == 0)
            ):
                joint.mode, joint.direction = mode, direction
            s.wrong[k] = 1
            wrong += 1
    return wrong, worst


@kernel(inline=True)
def finish(own, t, d, s, h):
    """Nothing is left to do."""


def first_modes(model):
    """Table of JOINT as a simulation begins: joints that follow others, or lead, have no laws."""
    joint = table(model.v_count, JOINT)
    for end in ("follower", "leader"):
        joint["mode"][model.arrays.mimic[end]] = FOLLOWS
    return joint
