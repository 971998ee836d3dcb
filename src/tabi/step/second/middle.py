"""Configuration of the second stage: the middle of the step that the first stage predicts.

    v_θ = v + θ (v₁ − v),   q_e = q ⊕ h v_θ,   q_m = q ⊕ h/2 v_θ                                 (1)
v₁: velocities after the first stage. θ = 1/(2 − ρ) of each degree of freedom, with ρ the share of
dampers and loops in its inertia M̂: ½ where there are none. With z = ρ/(1 − ρ), the product of
the step and the rate at which a damper slows the joint, this is e^{−z} to second order, and goes to
zero with z → ∞, where ½ would let velocities change their signs for ever.

Forces act at q_m, in the middle x_m between the points where two surfaces touch before and after
the step. There the velocity of a point is J_m v; the law of contact applies to the one at the end,

    u = J_m v⁺ + δ,   δ = R u_e(v₁) − J_m v₁                                                     (2)
u_e: at q_e, of the point that is found there; R: the least turn of its normal to that of the
middle. δ includes all rotation within the step, of the bodies and of the point on them, so that
rolling holds at the end; as an approximation of (J_e − J_m) v₁ its error is h² times a rotation of
size h.
"""

from math import sqrt

from tabi.collision.detect import detect
from tabi.contact.rows import CONTACT
from tabi.contact.workspace import copy
from tabi.dynamics import free, integration, kinematics
from tabi.jit import kernel
from tabi.spatial.vector import (
    add,
    cross,
    dot,
    load3,
    load9,
    mul_t,
    scale,
    store3,
    sub,
)
from tabi.step.assembly import find_previous
from tabi.step.corrections import DRIVEN, FREE, NEAR
from tabi.step.depenetration import COUPLED
from tabi.step.parts import worse
from tabi.step.rows.contacts import (
    MARGIN,
    SLIPS,
    belt_velocity,
    copy_point,
    pair_of,
    point_velocity,
    slides,
)
from tabi.step.second import moments
from tabi.step.tables import BONDS, MOMENTS, OPEN, SLIP

# cosine of the largest rotation of normals within the step
MIN_NORMAL_COSINE = 0.5


@kernel(inline=True)
def rotated(v, a, b):
    """Rotate a vector by the least rotation from the unit vector a to b, less than a right
    angle.
    """
    axis = cross(a, b)
    once = cross(axis, v)
    return add(add(v, once), scale(1.0 / (1.0 + dot(a, b)), cross(axis, once)))


@kernel(inline=True)
def surface_speed(t, w, point, p):
    """Return the velocity of surface a against b at the point p, for the twists in w [m/s]."""
    m, a, b = t.model, point.a, point.b
    u = point_velocity(w.body[a].velocity, sub(p, load3(w.body[m.body[a].root].origin)))
    u = add(u, belt_velocity(w.body[a].rotation, t.belt[point.shape_a]))
    if b > 0:
        r = sub(p, load3(w.body[m.body[b].root].origin))
        u = sub(u, point_velocity(w.body[b].velocity, r))
    return sub(u, belt_velocity(w.body[b].rotation, t.belt[point.shape_b]))


@kernel(inline=True)
def rests(row, slow):
    """Whether a contact presses at the end of the last step, and does not still close."""
    return row.status != OPEN and dot(load3(row.normal), load3(row.velocity)) > -slow


@kernel(inline=True)
def store_first_stage(t, d, s, slow, tolerance):
    """Store results of the first stage: velocities, friction, impulses, θ; and velocities before
    it.

    Args:
        slow: closing velocity below which a point that presses does not land [m/s].
    """
    m, w, second, memory = t.model, s.dynamics, s.second, d.memory
    apart = d.outcome.report[0].apart != COUPLED
    for k in range(d.v.shape[0]):
        share = (s.added[k] - m.dof[k].armature) * w.dof[k].pivot
        second.v_flight[k] = second.v_first[k] = s.v_next[k]
        second.share[k] = 1.0 / (2.0 - min(max(share, 0.0), 1.0))
        if w.dof[k].fixed != 0:
            # a joint with exact commands reaches them
            second.share[k] = 1.0 if d.command.motor[k].exact != 0 else 0.5
        second.after[k] = second.share[k]
        second.parting[k] = s.v_configuration[k] - s.v_next[k] if apart else 0.0
    kinematics.velocities(m, d.v, w)
    # rows of all kinds
    for x in range(d.outcome.report[0].points):
        s.place[s.groups.order[x]] = x
    for e in range(d.outcome.report[0].points):
        x, point = s.place[e], s.points[e]
        i = 3 * x
        second.slid[e] = 0
        if e >= d.outcome.report[0].contacts:
            if s.kind[e] == BONDS:
                copy(second.open[i:], s.bonds.offset[i:], 3)
            continue
        E, n = load9(s.problem.contact[x].frame), load3(point.normal)
        l = (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])
        copy_point(second.start[e], point)
        second.mu[e] = s.problem.mu[x]
        old = find_previous(memory, s.kind[e], point, e)
        second.pressing[e] = l[2] > 0.0
        second.lasting[e] = old >= 0 and rests(memory.contact[old], slow)
        store3(second.impulse[3 * e :], mul_t(E, l))
        before = surface_speed(t, w, point, load3(point.position))
        store3(second.before[3 * e :], before)
        after = mul_t(E, (s.u[i], s.u[i + 1], 0.0))
        along = sub(before, scale(dot(n, before), n))
        if (
            l[2] > 0.0
            and s.problem.kind[x] == CONTACT
            and slides(s.u[i], s.u[i + 1], tolerance)
            and dot(along, after) > 0.0
            and pair_of(t, point).viscous_friction == 0.0
            and (old < 0 or memory.contact[old].status == SLIP)
        ):
            second.slid[e] = 1


@kernel(inline=True)
def store_next_iterate(d, s, tolerance):
    """Store velocities of the second stage for another prediction; returns whether they changed by
    more than the speed of sliding.
    """
    s.second.change[0] = prediction_error(d, s)
    for k in range(d.v.shape[0]):
        s.second.v_first[k] = s.v_next[k]
    return not s.second.change[0] <= SLIPS * tolerance


@kernel(inline=True)
def prediction_error(d, s):
    """Return the largest error of the predicted velocities [m/s or rad/s]."""
    most = 0.0
    for k in range(d.v.shape[0]):
        most = worse(most, abs(s.v_next[k] - s.second.v_first[k]))
    return most


@kernel(inline=True)
def mark_free_trees(t, d, s, h):
    """Mark trees with points of which none presses: these keep their momentum."""
    m, w, any_free = t.model, s.dynamics, False
    if d.outcome.report[0].apart != COUPLED:
        # bodies that leave an overlap are moved without impulses
        return
    for e in range(d.outcome.report[0].points):
        i = 3 * s.place[e]
        l = (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])
        if dot(l, l) > 0.0:
            w.body[m.body[s.points[e].a].root].acted_on = DRIVEN
            if s.points[e].b > 0:
                w.body[m.body[s.points[e].b].root].acted_on = DRIVEN
    for i in range(1, m.body.shape[0]):
        if w.body[i].acted_on == NEAR:
            w.body[i].acted_on, any_free = FREE, True
    if any_free:
        free.measure(m, w.load, h, w)


@kernel(inline=True)
def predict_end(t, d, s, h, part):
    """Find the points at q_e, with their gaps and velocities; False where they are others.

    Args:
        part: share of v₁ in the velocity that leads there.
    """
    m, w, second = t.model, s.dynamics, s.second
    _set_velocities(d, s)
    integration.advance(m, second.q, s.v_configuration, h)
    kinematics.positions(m, second.q, w)
    kinematics.twists(m, second.v_first, w)
    total = low = int(0.0)
    if d.outcome.report[0].contacts > 0:
        total = detect(m, t.shapes, w, MARGIN, h, s.collision, second.end)
    if total > second.end.shape[0]:
        return False
    for e in range(d.outcome.report[0].contacts):
        point = s.points[e]
        while low < total and _is_before(second.end[low], point):
            low += 1
        j = low
        while (
            j < total
            and _is_of_pair(second.end[j], point)
            and second.end[j].feature != point.feature
        ):
            j += 1
        second.matched[e] = j < total and _is_of_pair(second.end[j], point)
        if second.matched[e] == 0:
            i = 3 * s.place[e]
            if s.impulse[i + 2] > 0.0:
                return False
            continue
        end = second.end[j]
        p, n = load3(end.position), load3(end.normal)
        if dot(n, load3(second.start[e].normal)) < MIN_NORMAL_COSINE:
            return False
        u = surface_speed(t, w, end, p)
        second.gap[e] = end.gap - part * h * dot(n, u)
        store3(second.place[3 * e :], p)
        store3(second.normal[3 * e :], n)
        store3(second.drift[3 * e :], u)
    for e in range(d.outcome.report[0].contacts, d.outcome.report[0].points):
        turns = moments.measure(w, s.points[e]) if s.kind[e] == MOMENTS else (0.0, 0.0, 0.0)
        store3(second.drift[3 * e :], turns)
    return True


@kernel(inline=True)
def _set_velocities(d, s):
    """Set the velocities of configurations, and q to that of the state."""
    second = s.second
    copy(second.q, d.q, d.q.shape[0])
    for k in range(d.v.shape[0]):
        second.v_mean[k] = d.v[k] + second.after[k] * (second.v_first[k] - d.v[k])
        s.v_configuration[k] = second.v_mean[k] + second.parting[k]


@kernel(inline=True)
def _is_of_pair(end, point):
    """Whether two points are of the same two shapes."""
    return end.shape_a == point.shape_a and end.shape_b == point.shape_b


@kernel(inline=True)
def _is_before(end, point):
    """Whether a point comes before those of another one's shapes."""
    return end.shape_a < point.shape_a or (
        end.shape_a == point.shape_a and end.shape_b < point.shape_b
    )


@kernel(inline=True)
def go_to_middle(t, d, s, h):
    """Compute kinematics at q_m with v_θ, points there, and δ of (2)."""
    m, w, second = t.model, s.dynamics, s.second
    _set_velocities(d, s)
    integration.advance(m, second.q, s.v_configuration, 0.5 * h)
    kinematics.positions(m, second.q, w)
    kinematics.twists(m, second.v_first, w)
    for e in range(d.outcome.report[0].contacts):
        point, i = s.points[e], 3 * e
        start = second.start[e]
        n = load3(start.normal)
        if second.matched[e] == 0:
            # it leaves: no point at the end
            second.gap[e] = max(point.gap, MARGIN)
            copy_point(point, start)
            store3(second.place[i:], load3(start.position))
            store3(second.normal[i:], n)
            store3(second.drift[i:], (0.0, 0.0, 0.0))
            continue
        n_end = load3(second.normal[i:])
        middle = add(n, n_end)
        middle = scale(1.0 / sqrt(dot(middle, middle)), middle)
        p = scale(0.5, add(load3(start.position), load3(second.place[i:])))
        store3(point.position, p)
        store3(point.normal, middle)
        end = rotated(load3(second.drift[i:]), n_end, middle)
        store3(second.drift[i:], sub(end, surface_speed(t, w, point, p)))
    for e in range(d.outcome.report[0].contacts, d.outcome.report[0].points):
        if s.kind[e] == MOMENTS:
            c, i = s.source[e], 3 * e
            n, turns = load3(second.normal[3 * c :]), load3(second.drift[i:])
            end = rotated(turns, n, load3(s.points[c].normal))
            store3(second.drift[i:], sub(end, moments.measure(w, s.points[e])))
