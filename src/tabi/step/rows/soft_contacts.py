"""Contacts of a world with soft soles or pads: those of rigid shapes, and points of the pads.

A pad's nodes stand at rest + U in the frame of their body; contacts are found on that surface. In
a step of h its nodes go from U to U⁺, with f the forces on them and η the viscosity

    f = K (U⁺ + η (U⁺ − U)/h),   U̇ = (U⁺ − U)/h = C f/(h + η) − U/(h + η)                        (1)
which adds E R N U̇ to the velocity of a contact: the first part is that of
``contact.compliance``, with c = 1/(h (h + η)), the second is known when the step begins. Where
layers differ in viscosity, K + D/h and its inverse stand for these, made once for the step.

A pad that overlaps is pressed flat by that much: no impact, and nothing has to part.
"""

from tabi.collision import broad
from tabi.collision.surfaces.points import surface_points
from tabi.contact.soft.compliance import between
from tabi.jit import kernel
from tabi.spatial.vector import (
    add as plus,
)
from tabi.spatial.vector import (
    dot,
    load3,
    load9,
    mul,
    scale,
    store3,
    store9,
    sub,
)
from tabi.step.rows import contacts
from tabi.step.rows.contacts import MARGIN, PAD, copy_point, revise, warm_start, withhold

NAME = "contacts"
__all__ = ["NAME", "add", "fill", "revise", "warm_start", "withhold"]


@kernel(inline=True)
def add(part_memory, t, d, count, s, h):
    """Add points of rigid shapes, and of pads, in the order of their shapes."""
    total = contacts.add(part_memory, t, d, count, s, h)
    if total > s.points.shape[0]:
        return total
    place_nodes(t, d, s, h)
    return add_points(t, d, total, s, h)


@kernel
def place_nodes(t, d, s, h):
    """Compute positions of all nodes, and the velocities at which they would return to rest."""
    m, w, soft = t.model, s.dynamics, s.law
    for i in range(soft.surfaces.row.shape[0]):
        row, eta = soft.surfaces.row[i], soft.viscosity[i]
        body = w.body[row.body]
        R, p = load9(body.rotation), (0.0, 0.0, 0.0)
        if row.body > 0:
            p = plus(load3(w.body[m.body[row.body].root].origin), load3(body.position))
        else:
            R = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        store9(soft.solver.turn[i], R)
        soft.solver.give[i] = 1.0 / (h * (h + eta))
        for n in range(row.node, row.node_end):
            U = load3(d.memory.sole[n])
            store3(soft.place[n], plus(p, mul(R, plus(load3(soft.surfaces.rest[n]), U))))
            store3(soft.back[n], scale(-1.0 / (h + eta), U))
        if soft.relax_at[i] >= 0:
            _relax(d.memory.sole, soft, row, soft.relax_at[i])


@kernel
def _relax(U, soft, row, at):
    """Compute return velocities where layers differ in viscosity: −(K + D/h)⁻¹ K U/h."""
    size = 3 * (row.node_end - row.node)
    for r in range(size):
        total = 0.0
        for j in range(size):
            total -= soft.relax[at + r * size + j] * U[row.node + j // 3, j % 3]
        soft.back[row.node + r // 3, r % 3] = total


@kernel
def add_points(t, d, total, s, h):
    """Add points of pads and sort them into the order of shapes; returns the number of points."""
    m, w, soft, cw, g = t.model, s.dynamics, s.law, s.collision, load3(t.model.gravity)
    margin, first = MARGIN + 2.0 * h * h * dot(g, g) ** 0.5, total
    for n in range(cw.start[cw.start.shape[0] - 1]):
        i, k = cw.sorted_pair[n, 0], cw.sorted_pair[n, 1]
        if soft.surfaces.of_shape[i] >= 0 or soft.surfaces.of_shape[k] >= 0:
            speed, _ = broad.relative(m, t.shapes, w, cw, i, k)
            band = margin + h * speed
            total = surface_points(
                t.shapes, cw, soft.surfaces, soft.place, i, k, band, s.points, soft.where, total
            )
            if total > s.points.shape[0]:
                return total
    for e in range(first, total):
        s.source[e], s.soft[e], s.closing[e] = e, PAD, 0.0
    if 0 < first < total and _comes_after(s.points[first - 1], s.points[first]):
        _merge(s, first, total)
    return total


@kernel(inline=True)
def _comes_after(p, q):
    """Whether the pair of p comes after that of q."""
    return p.shape_a > q.shape_a or (p.shape_a == q.shape_a and p.shape_b > q.shape_b)


@kernel
def _merge(s, first, total):
    """Merge two lists of points, each in the order of its pairs; the nodes of a point stay in
    the row of ``where`` that its source names.
    """
    soft = s.law
    for e in range(total):
        copy_point(soft.spare[e], s.points[e])
        soft.spare_closing[e] = s.closing[e]
    a, b = 0, first
    for e in range(total):
        take = b
        if b == total or (a < first and not _comes_after(soft.spare[a], soft.spare[b])):
            take, a = a, a + 1
        else:
            b += 1
        copy_point(s.points[e], soft.spare[take])
        s.source[e], s.closing[e] = take, soft.spare_closing[take]
        s.soft[e] = PAD if take >= first else 0


@kernel(inline=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill the row of a contact, with the return of its pads: the second part of (1)."""
    contacts.fill(part_memory, t, d, e, s, x, group, h)
    if s.soft[e] == PAD:
        add_relaxation(t, s, e, x)


@kernel
def add_relaxation(t, s, e, x):
    """Add the velocity at which the pads of a point return to rest."""
    soft, point, q, i = s.law, s.points[e], s.problem.q, 3 * x
    a, b = soft.surfaces.of_shape[point.shape_a], soft.surfaces.of_shape[point.shape_b]
    where, v = soft.where[s.source[e]], (0.0, 0.0, 0.0)
    if a >= 0:
        back = between(where.node_a, where.weight_a, soft.back_flat)
        v = mul(load9(soft.solver.turn[a]), back)
    if b >= 0:
        back = between(where.node_b, where.weight_b, soft.back_flat)
        v = sub(v, mul(load9(soft.solver.turn[b]), back))
    u = mul(load9(s.problem.contact[x].frame), v)
    q[i], q[i + 1], q[i + 2] = q[i] + u[0], q[i + 1] + u[1], q[i + 2] + u[2]
