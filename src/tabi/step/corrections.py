"""Corrections of Moreau's scheme that conserve energy and momentum where nothing acts.

Trees in flight keep their momentum (``free``), bodies and trees that turn fast keep their energy
(``gyroscopic``). Both have to know which trees something acts on: contacts, bonds, external forces.
"""

from math import sqrt

from tabi.contact.workspace import copy
from tabi.dynamics import free, gyroscopic, integration, kinematics
from tabi.jit import kernel
from tabi.model.arrays import FLOATING
from tabi.spatial.vector import angular, dot, load3, load6
from tabi.step.depenetration import COUPLED

# loads of a tree: none; points are near; contacts press on it, or external forces act
FREE, NEAR, DRIVEN = 0, 1, 2
# guesses of the active set after which velocity products are no longer updated
MAX_UPDATES = 3


@kernel(inline=True)
def measure_turning(t, s):
    """Store the highest angular speed of all bodies in s.turning [rad/s]."""
    m, w, square = t.model, s.dynamics, 0.0
    for i in range(1, m.body.shape[0]):
        turn = angular(load6(w.body[i].velocity))
        square = max(square, dot(turn, turn))
    s.turning[0] = sqrt(square)


@kernel(inline=True)
def mark_near(t, d, s):
    """Mark trees with points or forces, before contacts are solved."""
    m, body = t.model, s.dynamics.body
    for i in range(1, m.body.shape[0]):
        body[i].acted_on = FREE
        # forces on a floating base that follow its velocity
        if m.body[i].kind == FLOATING:
            for k in range(m.body[i].v_start, m.body[i].v_end):
                if s.added[k] != m.dof[k].armature:
                    body[m.body[i].root].acted_on = DRIVEN
    if d.command.pushed[0] > 0:
        for i in range(1, m.body.shape[0]):
            for c in range(6):
                if d.command.wrench[i, c] != 0.0:
                    body[m.body[i].root].acted_on = DRIVEN
    for e in range(d.outcome.report[0].points):
        p = s.points[e]
        _mark(body[m.body[p.a].root], NEAR)
        if p.b > 0:
            _mark(body[m.body[p.b].root], NEAR)


@kernel(inline=True)
def mark_pressed(t, d, s, h):
    """Mark trees whose contacts press, after contacts are solved; the rest keep their momentum."""
    m, w, memory, any_free = t.model, s.dynamics, d.memory, False
    if d.outcome.report[0].apart != COUPLED:
        # bodies that leave an overlap are moved without impulses
        return
    for e in range(memory.count[0]):
        row, f = memory.contact[e], load3(memory.contact[e].impulse)
        if dot(f, f) > 0.0:
            _mark(w.body[m.body[row.a].root], DRIVEN)
            if row.b > 0:
                _mark(w.body[m.body[row.b].root], DRIVEN)
    for i in range(1, m.body.shape[0]):
        if w.body[i].acted_on == NEAR:
            w.body[i].acted_on, any_free = FREE, True
    if any_free:
        kinematics.velocities(m, d.v, w)
        free.measure(m, w.load, h, w)


@kernel(inline=True)
def _mark(row, what):
    """Raise the load mark of a tree, in the row of its root."""
    if row.acted_on < what:
        row.acted_on = what


@kernel(inline=True)
def keep_energy(t, d, s, h, guess):
    """Correct v_free of bodies and trees that turn fast, so that they gain no energy.

    Args:
        guess: number of the guess of the active set.
    """
    m, w = t.model, s.dynamics
    if t.free_body_count[0] > 0 and h * s.turning[0] > gyroscopic.MIN_BODY_TURN_RAD:
        gyroscopic.keep_energy(m, h, w, s.v_free)
    if h * s.turning[0] > gyroscopic.MIN_TREE_TURN_RAD and gyroscopic.fast(m, h, w):
        reuse = guess >= MAX_UPDATES
        gyroscopic.settle(m, d.v, h, s.applied, w, s.acceleration, reuse, s.v_free)


@kernel(inline=True)
def advance_configuration(t, d, s, h):
    """Advance q and v to the end of the step, from s.v_next and s.v_configuration."""
    m, w, q, v = t.model, s.dynamics, d.q, d.v
    copy(d.outcome.q_before, q, q.shape[0])
    copy(d.outcome.v_before, v, v.shape[0])
    apart = d.outcome.report[0].apart != COUPLED
    if not apart:
        for k in range(v.shape[0]):
            s.v_configuration[k] = s.v_next[k]
    if apart or t.free_body_count[0] > 0:
        gyroscopic.turn(m, v, s.v_next, w, h, apart, s.v_configuration)
    for k in range(v.shape[0]):
        v[k] = s.v_next[k]
        # close bonds that have drifted open
        if s.bonds.closes[0] != 0:
            s.v_configuration[k] += s.v_closing[k]
    integration.advance(m, q, s.v_configuration, h)
    for c in range(m.mimic.shape[0]):
        row = m.mimic[c]
        if m.dof[row.follower].prescribed == 0:
            v[row.follower] = row.ratio * v[row.leader]
    kinematics.positions(m, q, w)
    kinematics.velocities(m, v, w)
    # free bodies follow their parabola
    free.conserve(m, q, v, h, free.SECOND, w)
