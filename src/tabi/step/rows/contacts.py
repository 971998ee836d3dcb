"""Contacts: points of two surfaces that may press on each other, with friction and restitution.

    q = E (ẋ_a − ẋ_b) + (σ, β gap/h),   or for an impact   q = E (ẋ_a − ẋ_b) + (σ, ε u_n⁻)      (1)
ẋ: velocities of the free motion at the point; σ: velocity of the surfaces over their bodies
(conveyors). A contact that is still open may close within the step, one that overlaps has to part:
the whole gap on both sides, with one factor β for all points of two bodies, so that a rigid sole
meets one plane. β is 1 unless the overlap is deep (``depenetration``).

Points are found where the step starts; those within a band, as wide as the two bodies may close in
the step with the velocities they have and gravity, take part before they touch.

An impact is a contact with restitution ε that closes within the step, and was closing faster than
gravity makes it in two steps: it leaves with −ε times the speed u_n⁻ < 0 it came with. Slower ones
land as if ε were 0, so that a bouncing ball comes to rest, from a height of 2 g h².

With viscous friction the coefficient follows the speed,

    μ = μ_d + κ ‖u_t‖,   κ [s/m]                                                                (2)
and the group is solved again until its impulses obey the law with the μ that their own speeds make,
within the tolerance. So it is with static friction that gives way, and with impacts that friction
would let gain energy.

References: Chardonnet (2012), sec. 3.3; (2006), sec. II-B.
"""

from math import sqrt

from tabi.collision.detect import detect
from tabi.contact.bonds.bond_work import added
from tabi.contact.certificate import defect
from tabi.contact.rows import CONTACT
from tabi.jit import kernel
from tabi.spatial.vector import (
    add as plus,
)
from tabi.spatial.vector import (
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    store3,
    store9,
    sub,
)
from tabi.step.parts import withhold_none as withhold
from tabi.step.tables import STICK

__all__ = ["add", "fill", "revise", "warm_start", "withhold"]

# margin of the band, for velocities that motors and impacts may add [m]
MARGIN = 1e-3
# ratio of its velocity to the tolerance from which on a contact slides
SLIPS = 100.0
# how often a group is solved at most, until friction, limits and restitution are consistent; how
# often restitution is halved
REVISIONS, HALVINGS = 30, 7
# points that may overlap: under a law of springs; on a pad, which overlaps press flat
SPRINGS, PAD = 1, 2


@kernel(inline=True)
def pair_of(t, point):
    """Return the coefficients of the two materials at a point."""
    shape = t.shapes.shape
    return t.pair[shape[point.shape_a].material, shape[point.shape_b].material]


@kernel(inline=True)
def slides(u, v, tolerance):
    """Whether a tangential velocity (u, v) exceeds errors within the tolerance."""
    return u * u + v * v > SLIPS * SLIPS * tolerance * tolerance


@kernel(inline=True)
def add(part_memory, t, d, count, s, h):
    """Add all points within the band; they come first. Impacts store their closing velocity."""
    m, w = t.model, s.dynamics
    g = load3(m.gravity)
    slow = 2.0 * h * sqrt(dot(g, g))
    total = detect(m, t.shapes, w, MARGIN + h * slow, h, s.collision, s.points)
    if total > s.points.shape[0]:
        # the step is done again with more memory; rows may be of another kind, from an earlier step
        return total
    for e in range(total):
        point = s.points[e]
        s.source[e], s.soft[e], s.closing[e] = e, 0, 0.0
        restitution = pair_of(t, point).restitution
        if restitution > 0.0:
            position, u = load3(point.position), (0.0, 0.0, 0.0)
            if point.a > 0:
                origin = load3(w.body[m.body[point.a].root].origin)
                u = point_velocity(w.body[point.a].velocity, sub(position, origin))
            if point.b > 0:
                origin = load3(w.body[m.body[point.b].root].origin)
                u = sub(u, point_velocity(w.body[point.b].velocity, sub(position, origin)))
            before = dot(load3(point.normal), u)
            if before < -slow:
                s.closing[e] = restitution * before
    return total


@kernel(inline=True)
def move(s, to, e):
    """Move a point to another row, for kinds of rows that withhold some; its source stays."""
    copy_point(s.points[to], s.points[e])
    s.source[to], s.closing[to], s.soft[to] = s.source[e], s.closing[e], s.soft[e]


@kernel(inline=True)
def copy_point(out, p):
    """Copy the point p to the row out."""
    out.a, out.b, out.shape_a, out.shape_b = p.a, p.b, p.shape_a, p.shape_b
    out.feature, out.gap = p.feature, p.gap
    store3(out.position, load3(p.position))
    store3(out.normal, load3(p.normal))


@kernel(inline=True)
def place_row(t, s, e, x, group):
    """Set bodies, arms and axes of the point e in the row x.

    Returns:
        its axes, tangent, tangent, normal; the velocity of the bodies there, and that of the
        surfaces over them, of a against b.
    """
    m, w, base = t.model, s.dynamics, s.first[group]
    point, row = s.points[e], s.problem.contact[x]
    a, b = point.a, point.b
    s.place[e] = x
    normal, position = load3(point.normal), load3(point.position)
    tx, ty = tangents(normal, load9(w.body[a].rotation))
    store9(row.frame, (tx[0], tx[1], tx[2], ty[0], ty[1], ty[2], normal[0], normal[1], normal[2]))
    r = sub(position, load3(w.body[m.body[a].root].origin))
    store3(row.arm_a, r)
    row.angular, row.partner = 0, -1
    row.a, row.b = s.number[a] - base, -1
    u = point_velocity(w.body[a].velocity, r)
    if b > 0:
        r = sub(position, load3(w.body[m.body[b].root].origin))
        store3(row.arm_b, r)
        row.b = s.number[b] - base
        u = sub(u, point_velocity(w.body[b].velocity, r))
    runs = sub(
        belt_velocity(w.body[a].rotation, t.belt[point.shape_a]),
        belt_velocity(w.body[b].rotation, t.belt[point.shape_b]),
    )
    return tx, ty, normal, u, runs


@kernel(inline=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill the row x by (1); needs twists of the free motion."""
    p, i = s.problem, 3 * x
    point = s.points[e]
    tx, ty, normal, u, runs = place_row(t, s, e, x, group)
    approach = dot(normal, u)
    # points that may overlap under a law of springs need not part
    gap = point.gap if s.soft[e] != SPRINGS else max(point.gap, 0.0)
    # an impact closes within the step
    s.approach[e] = 0.0
    if s.closing[e] < 0.0 and point.gap + h * approach <= 0.0:
        s.approach[e], report = s.closing[e], d.outcome.report[0]
        report.moment = min(report.moment, -point.gap / approach if point.gap > 0.0 else 0.0)
    s.shift[i], s.shift[i + 1] = dot(tx, runs), dot(ty, runs)
    s.shift[i + 2] = s.approach[e] if s.approach[e] < 0.0 else gap / h
    p.q[i], p.q[i + 1] = dot(tx, u) + s.shift[i], dot(ty, u) + s.shift[i + 1]
    p.q[i + 2] = approach + s.shift[i + 2]
    p.kind[x], p.mu[x], p.bound[x] = CONTACT, pair_of(t, point).friction, 0.0


@kernel(inline=True)
def warm_start(part_memory, t, d, e, s, x, previous):
    """Start with the last step's impulse in the frame of this one, and with static friction for
    points that stuck or are new.
    """
    i = 3 * x
    if previous < 0:
        s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = 0.0, 0.0, 0.0
        stuck = True
    else:
        old = d.memory.contact[previous]
        l = mul(load9(s.problem.contact[x].frame), load3(old.impulse))
        s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = l[0], l[1], l[2]
        stuck = old.status == STICK
    if stuck:
        s.problem.mu[x] = pair_of(t, s.points[e]).static_friction


@kernel(inline=True)
def revise(part_memory, t, d, s, group, tolerance, turn):
    """Drop static friction of sliding contacts, update viscous friction by the speed, and halve or
    drop restitution that adds energy.

    Args:
        turn: number of earlier revisions.

    Returns:
        the number of contacts that were changed, and the error of their friction [m/s].
    """
    if t.surfaces[1] == 0:
        return 0, 0.0
    p, changed, energy, bounces, total, friction_error = s.problem, 0, 0.0, 0, 0.0, 0.0
    first, end = s.groups.start[group], s.groups.start[group + 1]
    # damped by halves, and in the end not changed, against cycles
    part = 1.0 if turn < HALVINGS else 0.5 if turn < REVISIONS - 1 else 0.0
    for x in range(first, end):
        e, i = s.groups.order[x], 3 * x
        if p.kind[x] != CONTACT:
            continue
        u = (s.u[i], s.u[i + 1], s.u[i + 2])
        if slides(u[0], u[1], tolerance):
            pair = pair_of(t, s.points[e])
            if pair.viscous_friction > 0.0:
                slip = sqrt(u[0] * u[0] + u[1] * u[1])
                friction_error = max(friction_error, _update_friction(pair, s, x, slip, part))
            elif p.mu[x] > pair.friction:
                p.mu[x] = pair.friction
                changed += 1
        # work of the impulses on the mean of the velocities before and after, without that of
        # conveyors
        energy += 0.5 * s.impulse[i] * (u[0] + p.q[i] + added(s.bonds, i))
        energy += 0.5 * s.impulse[i + 1] * (u[1] + p.q[i + 1] + added(s.bonds, i + 1))
        before = p.q[i + 2] + added(s.bonds, i + 2) - 2.0 * s.shift[i + 2]
        energy += 0.5 * s.impulse[i + 2] * (u[2] + before)
        bounces += s.approach[e] < 0.0
        total += s.impulse[i + 2]
    # velocities are within the tolerance
    if bounces > 0 and energy > 10.0 * tolerance * total:
        d.outcome.report[0].lowered += 1
        for x in range(first, end):
            e = s.groups.order[x]
            if p.kind[x] == CONTACT and s.approach[e] < 0.0:
                reduction = 0.5 * s.approach[e] if turn < HALVINGS else s.approach[e]
                s.approach[e] -= reduction
                s.shift[3 * x + 2] -= reduction
                p.q[3 * x + 2] -= reduction
                changed += 1
    return changed + (friction_error > tolerance), friction_error


@kernel(inline=True)
def _update_friction(pair, s, x, slip, part):
    """Move the friction of a sliding contact towards (2), by a share ``part``.

    Returns:
        the error of its friction before that [m/s].
    """
    p, i, right = s.problem, 3 * x, pair.friction + pair.viscous_friction * slip
    u = (s.u[i], s.u[i + 1], s.u[i + 2])
    l = (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])
    error = defect(CONTACT, right, 0.0, p.weight[x], u, l) / p.weight[x]
    p.mu[x] += part * (right - p.mu[x])
    return error


@kernel(inline=True)
def point_velocity(V, r):
    """Return the velocity of the point r under a twist."""
    V = load6(V)
    return plus((V[3], V[4], V[5]), cross((V[0], V[1], V[2]), r))


@kernel(inline=True)
def belt_velocity(R, belt):
    """Return the velocity of a surface over its body, in the world's axes [m/s]."""
    runs = load3(belt)
    if runs[0] != 0.0 or runs[1] != 0.0 or runs[2] != 0.0:
        runs = mul(load9(R), runs)
    return runs


@kernel
def tangents(n, R):
    """Return two unit vectors across n: along the first axis of a body, whose axes are the columns
    of R, or along its second where the first is nearly along n.

    Axes of a body and not of the world: a world that is turned as a whole has the same rows, so
    that no law, and no order in which a solver looks at them, depends on the heading.
    """
    x = (R[0], R[3], R[6])
    if abs(dot(x, n)) > 0.9:
        x = (R[1], R[4], R[7])
    along = dot(x, n)
    t = (x[0] - along * n[0], x[1] - along * n[1], x[2] - along * n[2])
    f = 1.0 / sqrt(dot(t, t))
    t = (f * t[0], f * t[1], f * t[2])
    return t, cross(n, t)
