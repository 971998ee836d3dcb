"""Assembly of the contact problem from points: bodies, groups, inverse inertia, rows.

Bodies that touch through a chain of contacts make a group (trees are one), and each group is a
problem of its own. A tree that touches with many links brings the factors of its joints instead of
a block for every two of them (``tree_inertia``), and so does all of its group. Each row is filled
by its kind (``rows``), and starts with the impulse it had in the last step, found by its identity.

References: Chardonnet (2012), sec. 3.3.
"""

from tabi.contact import bodies as bodies_of
from tabi.contact import groups
from tabi.contact.bonds import bond_closing, bond_elimination, bond_rows, bond_work
from tabi.dynamics import kinematics
from tabi.dynamics.inverse_inertia import body_inertia
from tabi.dynamics.inverse_inertia.body_inertia import BLOCKS, BLOCKS_AND_ROWS, ROWS
from tabi.dynamics.inverse_inertia.tree_inertia import BLOCKS as IN_BLOCKS
from tabi.dynamics.inverse_inertia.tree_inertia import ROOT
from tabi.jit import kernel
from tabi.step.tables import BONDS

# number of contacting bodies of a family from which on factors cost less than blocks
MIN_FACTORED_BODIES = 24


def assemble_on(k):
    """Make ``assemble`` from the kernels of a step's parts (``parts.Assembled``)."""
    fill, warm_start, tie = k.fill, k.warm_start, k.tie

    @kernel(apart="boolean")
    def assemble(t, d, s, h):
        """Fill s.problem, with a warm start in s.impulse; False if memory is exceeded."""
        m, w, p, report = t.model, s.dynamics, s.problem, d.outcome.report[0]
        tie(s, report.points)
        bond_work.clear(s.bonds, report.points)
        # groups of points, and the inverse inertia of their bodies
        report.groups, bodies, reduced = number_bodies(t, s, report.points)
        blocks = body_inertia.omega(m, w, s.chains, s.body, bodies, p.start, p.column, p.omega)
        report.blocks = max(blocks, reduced)
        if report.blocks > p.omega.shape[0]:
            return False
        kinematics.twists(m, s.v_free, w)
        for g in range(report.groups):
            count_from_group(s, p, g)
            # rows, each filled by its kind
            for x in range(s.groups.start[g], s.groups.start[g + 1]):
                e = s.groups.order[x]
                s.approach[e] = 0.0
                fill(t, d, e, s, x, g, h)
            add_bonds(t, s, g, h)
        # impulses of the last step
        for x in range(report.points):
            e = s.groups.order[x]
            warm_start(t, d, e, s, x, find_previous(d.memory, s.kind[e], s.points[e], e))
        return True

    return assemble


@kernel(inline=True)
def count_from_group(s, p, g):
    """Number columns and parents of a group's bodies from the first one of them."""
    for e in range(p.start[s.first[g]], p.start[s.first[g + 1]]):
        p.column[e] -= s.first[g]
    for i in range(s.first[g], s.first[g + 1]):
        above = s.chains.above[i]
        p.parent[i] = above - s.first[g] if above >= 0 else above


@kernel(inline=True)
def add_bonds(t, s, g, h):
    """Eliminate the bonds of a group, or let its law close them."""
    p, w, c, e = s.problem, s.bonds, s.groups.start[g], s.groups.start[g + 1]
    if w.scale.shape[0] == 0:
        return
    first = s.first[g]
    part = bodies_of.part(p, first, s.first[g + 1], c, e)
    if w.end[g] < e:
        mass = 0.0
        for i in range(first, s.first[g + 1]):
            mass += t.model.body[s.body[i]].mass / (s.first[g + 1] - first)
        bond_rows.respond(t.model, s.chains, s.body[first:], part, w, g, c, first)
        bond_elimination.eliminate(part, w, g, c, first, w.inner[g], mass, h)
    else:
        bond_closing.close_plainly(part, s.shift[3 * c : 3 * e], w.offset[3 * c : 3 * e], h)


@kernel(inline=True)
def number_bodies(t, s, count):
    """Find groups of the first ``count`` points, and list their bodies in the order of the groups.

    s.body lists the bodies, with those that carry them where Ω gets factors; s.number of a body is
    its place there; s.first[g] is the place of the first one of group g.

    Returns:
        the number of groups, of bodies, and of blocks that groups take whose bonds are eliminated.
    """
    group_count = groups.find(t.chain.family, s.points.a, s.points.b, count, s.groups)
    for i in range(s.number.shape[0]):
        s.number[i] = -1
    bodies, reduced, any_bonds = 0, 0, s.bonds.scale.shape[0] > 0
    if any_bonds:
        move_bonds_last(s, group_count)
    for g in range(group_count):
        s.first[g] = bodies
        end = s.groups.start[g + 1]
        middle = s.bonds.end[g] if any_bonds else end
        bodies = list_bodies(s, s.groups.start[g], middle, bodies, BLOCKS)
        inner = bodies - s.first[g]
        bodies = list_bodies(s, middle, end, bodies, ROWS)
        if bodies - s.first[g] >= MIN_FACTORED_BODIES and _needs_factors(
            s.chains, s.body, s.first[g], bodies
        ):
            bodies = _add_carriers(t.model, s, s.first[g], bodies)
            # bonds would fill all of Ω: they are left to the law
            if middle < end:
                s.bonds.end[g] = end
        elif middle < end:
            s.bonds.inner[g], s.bonds.start[s.first[g]] = inner, reduced
            reduced += inner * inner
    s.first[group_count] = bodies
    return group_count, bodies, reduced


@kernel(inline=True)
def list_bodies(s, begin, end, bodies, has):
    """List bodies of rows that are not listed yet; returns their number.

    Args:
        has: parts of the inverse inertia that these bodies have (``body_inertia``); ROWS for those
            of bonds that are eliminated.
    """
    for x in range(begin, end):
        p = s.points[s.groups.order[x]]
        for side in range(2):
            i = p.a if side == 0 else p.b
            if i > 0 and s.number[i] < 0:
                s.number[i], s.body[bodies] = bodies, i
                s.chains.above[bodies], s.chains.has[bodies] = IN_BLOCKS, has
                bodies += 1
            elif i > 0 and has == ROWS and s.chains.has[s.number[i]] == BLOCKS:
                s.chains.has[s.number[i]] = BLOCKS_AND_ROWS
    return bodies


@kernel(apart="none", rare=True)
def move_bonds_last(s, count):
    """Move points of bonds behind all others of their group, where they can be eliminated."""
    order, w, rows = s.groups.order, s.bonds, 0
    for g in range(count):
        begin, end = s.groups.start[g], s.groups.start[g + 1]
        low = begin
        while low < end and s.kind[order[low]] != BONDS:
            low += 1
        high = low
        while high < end and s.kind[order[high]] == BONDS:
            high += 1
        n = 3 * (high - low)
        w.end[g], w.first[g] = end, rows
        if n == 0 or n > w.T.shape[0] or rows + n > w.scale.shape[0]:
            continue
        # two blocks change places
        _reverse(order, low, high)
        _reverse(order, high, end)
        _reverse(order, low, end)
        w.end[g], rows = end - (high - low), rows + n


@kernel(inline=True)
def _reverse(order, begin, end):
    """Reverse a part of a list in place."""
    for k in range((end - begin) // 2):
        a, b = begin + k, end - 1 - k
        order[a], order[b] = order[b], order[a]


@kernel(apart="boolean", rare=True)
def _needs_factors(c, body, begin, end):
    """Whether one family has so many bodies in a group that factors cost less than blocks."""
    most = 0
    for x in range(begin, end):
        c.contacting[c.body[body[x]].family].tally = 0
    for x in range(begin, end):
        if c.body[body[x]].geared != 0:
            return False
        family = c.contacting[c.body[body[x]].family]
        family.tally += 1
        most = max(most, family.tally)
    return most >= MIN_FACTORED_BODIES


@kernel(apart="int64", rare=True)
def _add_carriers(m, s, begin, end):
    """List all bodies that carry those of a group, parents before children.

    Returns:
        the end of the list.
    """
    count, touching = end - begin, s.chains.previous
    for x in range(count):
        touching[x] = s.body[begin + x]
        s.number[touching[x]] = -1
    end = begin
    for x in range(count):
        # up to a body that is listed already, then in reverse
        i, low = touching[x], end
        while i != 0 and s.number[i] < 0:
            s.number[i], s.body[end] = 0, i
            end += 1
            i = m.body[i].parent
        for k in range((end - low) // 2):
            s.body[low + k], s.body[end - 1 - k] = s.body[end - 1 - k], s.body[low + k]
        for k in range(low, end):
            s.number[s.body[k]] = k
            parent = m.body[s.body[k]].parent
            s.chains.above[k] = s.number[parent] if parent != 0 else ROOT
            s.chains.has[k] = BLOCKS
    return end


@kernel(inline=True)
def _is_same(row, kind, point):
    """Whether a contact of the last step and a point are the same."""
    return (
        row.feature == point.feature
        and row.shape_a == point.shape_a
        and row.shape_b == point.shape_b
        and row.kind == kind
    )


@kernel(inline=True)
def _is_before(row, kind, point):
    """Whether a contact stands before a point: by kind, then by shapes."""
    if row.kind != kind:
        return row.kind < kind
    return row.shape_a < point.shape_a or (
        row.shape_a == point.shape_a and row.shape_b < point.shape_b
    )


@kernel(inline=True)
def find_previous(memory, kind, point, e):
    """Return the row of the point e in the last step, −1 if it is new."""
    old, known = memory.contact, memory.count[0]
    # mostly the same points in the same order
    same = e < known and _is_same(old[e], kind, point)
    return e if same else _search_previous(old, known, kind, point)


@kernel(inline=True)
def _search_previous(old, known, kind, point):
    """Search the row of a point in the last step, −1 if it is new."""
    low, high = 0, known
    while low < high:
        middle = (low + high) // 2
        if _is_before(old[middle], kind, point):
            low = middle + 1
        else:
            high = middle
    while (
        low < known
        and old[low].kind == kind
        and old[low].shape_a == point.shape_a
        and old[low].shape_b == point.shape_b
    ):
        if old[low].feature == point.feature:
            return low
        low += 1
    return -1
