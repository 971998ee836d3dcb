"""Contact points become a contact problem: which bodies, in which groups, how fast without impulse.

    q = E (ẋ_a − ẋ_b) + (σ, β gap/h),   or for an impact   q = E (ẋ_a − ẋ_b) + (σ, ε u_n⁻)                    (1)
ẋ: velocities of the free motion at the point; σ: how fast the surfaces run over their bodies (conveyors). A contact that
is still open may close within the step, one that overlaps has to part: the whole gap on both sides, with one factor β for
all points of two bodies, so that a rigid sole sees a plane and not four opinions. β is 1 unless the overlap would be left
faster than a given speed.

An impact is a contact with restitution ε that closes within the step, and was closing faster than gravity makes it in
two steps: it leaves with −ε times the speed u_n⁻ < 0 it came with. Slower ones land as if ε were 0, so that a bouncing
ball comes to rest, from a height of 2 g h².

Bodies that touch through a chain of contacts make a group (trees are one), and each group is a problem of its own.
References: Chardonnet (2012), sec. 3.3.
"""

from math import sqrt

from tabi._jit import kernel
from tabi.contact import groups
from tabi.simulation import bond_rows, moments
from tabi.spatial.vector import add, cross, dot, load3, load6, load9, mul, store3, store9, sub

# a contact slides where it is so many times faster than the tolerance
SLIPS = 100.0
# how often a group is solved at most, until friction, limits and restitution are the right ones; how often restitution is halved
REVISIONS, HALVINGS = 30, 7


@kernel(inline=True)
def number_bodies(s, count):
    """Groups of the first ``count`` points, and their bodies in the order of the groups.

    s.body lists the bodies; s.number of a body is its place there; s.first[g] is the place of the first one of group g.

    Returns:
        the number of groups, and of bodies.
    """
    found = groups.find(s.chains.body.family, s.points.a, s.points.b, count, s.groups)
    for i in range(s.number.shape[0]):
        s.number[i] = -1
    bodies = 0
    for g in range(found):
        s.first[g] = bodies
        for x in range(s.groups.start[g], s.groups.start[g + 1]):
            p = s.points[s.groups.order[x]]
            for side in range(2):
                i = p.a if side == 0 else p.b
                if i > 0 and s.number[i] < 0:
                    s.number[i], s.body[bodies] = bodies, i
                    bodies += 1
    s.first[found] = bodies
    return found, bodies


@kernel(inline=True)
def remember_approach(scene, s, count, h):
    """s.bounce, from the twists before the step."""
    m, w = scene.model, s.dynamics
    g = load3(m.gravity)
    slow = 2.0 * h * sqrt(dot(g, g))
    for e in range(count):
        point = s.points[e]
        s.bounce[e] = 0.0
        elasticity = scene.pair[scene.shapes.shape[point.shape_a].material, scene.shapes.shape[point.shape_b].material].restitution
        if elasticity > 0.0:
            position, u = load3(point.position), (0.0, 0.0, 0.0)
            if point.a > 0:
                u = _speed(w.body[point.a].velocity, sub(position, load3(w.body[m.body[point.a].root].origin)))
            if point.b > 0:
                u = sub(u, _speed(w.body[point.b].velocity, sub(position, load3(w.body[m.body[point.b].root].origin))))
            before = dot(load3(point.normal), u)
            if before < -slow:
                s.bounce[e] = elasticity * before


@kernel(inline=True)
def fill_problem(scene, bond, s, count, h):
    """Equation (1) and the rows of the contact problem, of all ``count`` groups one after the other; needs twists of the free motion."""
    m, w, p = scene.model, s.dynamics, s.problem
    for g in range(count):
        base = s.first[g]
        for x in range(s.groups.start[g], s.groups.start[g + 1]):
            e, i = s.groups.order[x], 3 * x
            point, row = s.points[e], p.contact[x]
            if point.shape_a >= moments.MOMENTS:
                if point.shape_a >= bond_rows.BONDS:
                    bond_rows.fill(m, bond[point.shape_a - bond_rows.BONDS], point.feature, base, h, s, x)
                else:
                    moments.fill(scene, e, base, s.groups.start[g], s, x)
                continue
            s.place[e] = x
            a, b = point.a, point.b
            row.turns = 0
            normal, position = load3(point.normal), load3(point.position)
            t, o = tangents(normal)
            store9(row.frame, (t[0], t[1], t[2], o[0], o[1], o[2], normal[0], normal[1], normal[2]))
            r = sub(position, load3(w.body[m.body[a].root].origin))
            store3(row.arm_a, r)
            row.a, row.b = s.number[a] - base, -1
            u = _speed(w.body[a].velocity, r)
            if b > 0:
                r = sub(position, load3(w.body[m.body[b].root].origin))
                store3(row.arm_b, r)
                row.b = s.number[b] - base
                u = sub(u, _speed(w.body[b].velocity, r))
            runs = sub(_running(w.body[a].rotation, scene.belt[point.shape_a]), _running(w.body[b].rotation, scene.belt[point.shape_b]))
            approach = dot(normal, u)
            if s.bounce[e] < 0.0 and point.gap + h * approach > 0.0:
                # does not close within the step
                s.bounce[e] = 0.0
            s.shift[i], s.shift[i + 1], s.shift[i + 2] = dot(t, runs), dot(o, runs), s.bounce[e] if s.bounce[e] < 0.0 else point.gap / h
            p.q[i], p.q[i + 1], p.q[i + 2] = dot(t, u) + s.shift[i], dot(o, u) + s.shift[i + 1], approach + s.shift[i + 2]
            p.mu[x] = scene.pair[scene.shapes.shape[point.shape_a].material, scene.shapes.shape[point.shape_b].material].friction


@kernel(inline=True)
def revise(scene, s, first, end, tolerance, turn):
    """After a group is solved: what slides under static friction gets the other one, viscous friction follows the speed;
    restitution that brings energy is halved, or dropped.

    Args:
        turn: how often it was done before.

    Returns:
        how many contacts were changed; then the group has to be solved again; and how far its friction is from its speeds [m/s].
    """
    p, changed, energy, bounces, total, off = s.problem, 0, 0.0, 0, 0.0, 0.0
    # in the end nothing is changed, and before that by halves, where it goes to and fro
    part = 1.0 if turn < HALVINGS else 0.5 if turn < REVISIONS - 1 else 0.0
    for x in range(first, end):
        e, i = s.groups.order[x], 3 * x
        u, point = (s.u[i], s.u[i + 1], s.u[i + 2]), s.points[e]
        if p.mu[x] < 0.0:
            continue
        slip = u[0] * u[0] + u[1] * u[1]
        if slip > SLIPS * SLIPS * tolerance * tolerance:
            pair = scene.pair[scene.shapes.shape[point.shape_a].material, scene.shapes.shape[point.shape_b].material]
            if pair.viscous_friction > 0.0:
                off = max(off, moments.thicken(pair, s, x, sqrt(slip), part))
            elif p.mu[x] > pair.friction:
                p.mu[x] = pair.friction
                changed += 1
        # work of the impulses on the mean of the velocities before and after; what conveyors bring is not counted
        energy += 0.5 * s.impulse[i] * (u[0] + p.q[i]) + 0.5 * s.impulse[i + 1] * (u[1] + p.q[i + 1])
        energy += 0.5 * s.impulse[i + 2] * (u[2] + p.q[i + 2] - 2.0 * s.shift[i + 2])
        bounces += s.bounce[e] < 0.0
        total += s.impulse[i + 2]
    # velocities are as good as the tolerance
    if bounces > 0 and energy > 10.0 * tolerance * total:
        s.report[0].lowered += 1
        for x in range(first, end):
            e = s.groups.order[x]
            if s.bounce[e] < 0.0:
                less = 0.5 * s.bounce[e] if turn < HALVINGS else s.bounce[e]
                s.bounce[e] -= less
                s.shift[3 * x + 2] -= less
                p.q[3 * x + 2] -= less
                changed += 1
    return changed + (off > tolerance), off


@kernel(inline=True)
def slow_parting(s, count, h, parting):
    """Where overlaps would be left faster than ``parting`` [m/s], all points of the two bodies use a part of their gaps."""
    x = 0
    while x < count:
        first, a, b = x, s.points[s.groups.order[x]].a, s.points[s.groups.order[x]].b
        least = 0.0
        while x < count and s.points[s.groups.order[x]].a == a and s.points[s.groups.order[x]].b == b:
            least = min(least, s.points[s.groups.order[x]].gap)
            x += 1
        if -least > parting * h:
            part = 1.0 - parting * h / -least
            for y in range(first, x):
                s.problem.q[3 * y + 2] -= part * s.points[s.groups.order[y]].gap / h


@kernel(inline=True)
def _speed(V, r):
    """Velocity of the point r under a twist."""
    V = load6(V)
    return add((V[3], V[4], V[5]), cross((V[0], V[1], V[2]), r))


@kernel(inline=True)
def _running(R, belt):
    """Velocity of a surface over its body, in the world's axes."""
    runs = load3(belt)
    if runs[0] != 0.0 or runs[1] != 0.0 or runs[2] != 0.0:
        runs = mul(load9(R), runs)
    return runs


@kernel
def tangents(n):
    """Two unit vectors across n: the world's x and y where n is upwards."""
    # the part across n of x, or of y where x is along n
    x, y = (1.0, 0.0) if abs(n[0]) < 0.9 else (0.0, 1.0)
    along = x * n[0] + y * n[1]
    t = (x - along * n[0], y - along * n[1], -along * n[2])
    f = 1.0 / sqrt(dot(t, t))
    t = (f * t[0], f * t[1], f * t[2])
    return t, cross(n, t)


@kernel(inline=True)
def recall(scene, s, old, known, count):
    """Warm start: impulses of the last step, by identity, in the frames of this one; and static friction for what stuck, or is new."""
    for x in range(count):
        e, i = s.groups.order[x], 3 * x
        point = s.points[e]
        # mostly the same points in the same order
        found = e if e < known and _same(old[e], point) else _find(old, known, point)
        if point.shape_a >= moments.MOMENTS and point.shape_a < bond_rows.BONDS:
            moments.recall(s, x, found >= 0, old[max(found, 0)].impulse)
            continue
        if found < 0:
            s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = 0.0, 0.0, 0.0
            sticks = True
        else:
            f, E = load3(old[found].impulse), load9(s.problem.contact[x].frame)
            l = mul(E, f)
            s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = l[0], l[1], l[2]
            sticks = old[found].sticks != 0
        if sticks and point.shape_a < bond_rows.BONDS:
            s.problem.mu[x] = scene.pair[scene.shapes.shape[point.shape_a].material, scene.shapes.shape[point.shape_b].material].static_friction


@kernel(inline=True)
def _same(row, point):
    return row.feature == point.feature and row.shape_a == point.shape_a and row.shape_b == point.shape_b


@kernel(inline=True)
def _find(old, known, point):
    """Where a point was in the last step, −1 where it is new; rows are sorted by their shapes."""
    low, high = 0, known
    while low < high:
        middle = (low + high) // 2
        row = old[middle]
        if row.shape_a < point.shape_a or (row.shape_a == point.shape_a and row.shape_b < point.shape_b):
            low = middle + 1
        else:
            high = middle
    while low < known and old[low].shape_a == point.shape_a and old[low].shape_b == point.shape_b:
        if old[low].feature == point.feature:
            return low
        low += 1
    return -1
