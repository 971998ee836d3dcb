"""Contact points become a contact problem: which bodies, in which groups, how fast without impulse.

    q = E (ẋ_a − ẋ_b) + (0, 0, β gap/h)                                                                     (1)
ẋ: velocities of the free motion at the point. A contact that is still open may close within the step, one that overlaps
has to part: the whole gap on both sides, with one factor β for all points of two bodies, so that a rigid sole sees a
plane and not four opinions. β is 1 unless the overlap would be left faster than a given speed.

Bodies that touch through a chain of contacts make a group (trees are one), and each group is a problem of its own.
References: Chardonnet (2012), sec. 3.3.
"""

from math import sqrt

from tabi._jit import kernel
from tabi.contact import groups
from tabi.spatial.vector import add, cross, dot, load3, load6, load9, mul, store3, store9, sub


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
def fill_problem(scene, s, count, h):
    """Equation (1) and the rows of the contact problem, of all ``count`` groups one after the other; needs twists of the free motion."""
    m, w, p = scene.model, s.dynamics, s.problem
    for g in range(count):
        base = s.first[g]
        for x in range(s.groups.start[g], s.groups.start[g + 1]):
            point, row = s.points[s.groups.order[x]], p.contact[x]
            a, b = point.a, point.b
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
            p.q[3 * x], p.q[3 * x + 1], p.q[3 * x + 2] = dot(t, u), dot(o, u), dot(normal, u) + point.gap / h
            s.shift[x] = point.gap / h
            p.mu[x] = scene.friction[scene.shapes.shape[point.shape_a].material, scene.shapes.shape[point.shape_b].material]


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
def recall(s, old, known, count):
    """Warm start: impulses of the last step, by identity, in the frames of this one."""
    for x in range(count):
        e, i = s.groups.order[x], 3 * x
        point = s.points[e]
        # mostly the same points in the same order
        found = e if e < known and _same(old[e], point) else _find(old, known, point)
        if found < 0:
            s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = 0.0, 0.0, 0.0
        else:
            f, E = load3(old[found].impulse), load9(s.problem.contact[x].frame)
            l = mul(E, f)
            s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = l[0], l[1], l[2]


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
