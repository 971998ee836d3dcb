"""Newton's system of contacts on soft pads.

Rows on pads are coupled by the compliance c C of their pad. With ΔV the change of the twists, and
A, B, F of each three rows as in ``newton``, in the frame of their pad,

    (A + B c C) Δλ = −F − B J ΔV                                                               (1)
is solved for F and for the six columns of each body that the pad touches: then the pad is, to the
bodies, a wrench and a block of S like the rigid rows of ``twist_newton``, and Δλ follows from ΔV.

(1) is of the size of the rows that press. Where most nodes of a pad stick, as under a foot that
stands, the other way round is smaller: with w = c C Δλ, known where a node sticks (F = u, B = 1,
A = 0), unknown in the set Z of all others,

    (A K_ZZ/c + B) w_Z = −F − B J ΔV − A (K_ZS/c) w_S,   Δλ = K w/c,   K = C⁻¹                  (2)
K never changes, so that a foot whose nodes all stick costs two products with matrices.
"""

from tabi.contact import twist_newton
from tabi.contact.bodies import set_bounds
from tabi.contact.newton import newton_on
from tabi.contact.point_newton import OPENS, STICKS
from tabi.contact.rows import CONTACT
from tabi.contact.soft import compliance, pad_nodes, pad_rows
from tabi.contact.soft.compliance import in_cluster, velocities_with
from tabi.contact.soft.pads import MAX_BODIES
from tabi.jit import kernel

# forms of a cluster's system: (1), (2)
BY_ROWS, BY_NODES = 0, 1


@kernel
def direction(p, form, factor, eps, u, l, work):
    """Δλ in work.delta; needs ``compliance.prepare``. False where it cannot be found."""
    n = p.mu.shape[0]
    set_bounds(p, l)
    twist_newton.linearise(p, form, factor, eps, u, l, work)
    twist_newton.clear(p, work)
    for k in range(n):
        if work.row[k].pad_a < 0 and work.row[k].pad_b < 0:
            twist_newton.add_row(p, k, factor, eps, u, l, work)
    first = 0
    for e in range(work.pad_count[0]):
        i = work.pad_list[e]
        if work.cluster[i] == i:
            row_count = _add_cluster(p, i, first, work)
            if row_count < 0:
                return False
            first += row_count
    if not twist_newton.solve_twists(p, work):
        return False
    for k in range(n):
        if work.row[k].pad_a < 0 and work.row[k].pad_b < 0:
            twist_newton.step_row(p, k, work)
    for e in range(work.pad_count[0]):
        i = work.pad_list[e]
        if work.cluster[i] == i:
            _step_cluster(p, i, work)
    if n > 0 and p.kind[n - 1] != CONTACT:
        twist_newton.add_follow(p, work)
    return True


@kernel
def _list_rows(p, cluster, work):
    """Rows of a cluster into work.listed; returns how many, and how many of them press."""
    count, pressing = 0, 0
    for k in range(p.mu.shape[0]):
        if in_cluster(work, k, cluster):
            work.listed[count] = k
            count += 1
            pressing += work.does[k] != OPENS
    return count, pressing


@kernel
def _add_cluster(p, cluster, first, work):
    """Wrench and S of a cluster, whose rows are kept from ``first`` on; returns how many are, −1
    where its system is singular.
    """
    count, pressing = _list_rows(p, cluster, work)
    touched = compliance.list_bodies(p, work, cluster)
    if touched > MAX_BODIES:
        return -1
    work.form[cluster], work.first[cluster], work.row_count[cluster] = BY_ROWS, first, 0
    if touched == 1 and _at_nodes(p, cluster, count, work):
        pad, sticking = work.pads.pad[cluster], 0
        for n in range(count):
            sticking += work.does[work.listed[n]] == STICKS
        if pad.end - pad.node - sticking < pressing:
            work.form[cluster] = BY_NODES
            return 0 if pad_nodes.add_pad(p, cluster, work) else -1
    row_count = pad_rows.add_cluster(p, cluster, count, touched, first, work)
    work.row_count[cluster] = row_count
    return row_count


@kernel
def _at_nodes(p, cluster, count, work):
    """Whether all rows of a cluster are at nodes of one pad, against what does not move, and no
    two at the same; work.at_node says where.
    """
    pad = work.pads.pad[cluster]
    for i in range(pad.node, pad.end):
        work.at_node[i] = -1
    for n in range(count):
        k = work.listed[n]
        row = work.row[k]
        if row.pad_a != cluster or row.pad_b >= 0 or p.contact[k].b >= 0 or row.node_a[1] >= 0:
            return False
        if work.at_node[row.node_a[0]] >= 0:
            return False
        work.at_node[row.node_a[0]] = k
    return True


@kernel
def _step_cluster(p, cluster, work):
    """Δλ of the rows of a cluster, from ΔV."""
    touched = compliance.list_bodies(p, work, cluster)
    if work.form[cluster] == BY_NODES:
        pad_nodes.step_pad(p, cluster, work.touched[0], work)
    else:
        pad_rows.step_cluster(p, work.first[cluster], work.row_count[cluster], touched, work)


@kernel(inline=True)
def price(p, work):
    """Work of a trial and of a direction: (1) of ``budget``, and for m rows on pads of n nodes
    products of m n, and an elimination of m³.
    """
    looks, steps = twist_newton.price(p, work)
    nodes, rows = 0, 0
    for e in range(work.pad_count[0]):
        pad = work.pads.pad[work.pad_list[e]]
        nodes = max(nodes, pad.end - pad.node)
    if nodes > 0:
        for k in range(p.mu.shape[0]):
            rows += work.row[k].pad_a >= 0 or work.row[k].pad_b >= 0
    most = min(rows, nodes)
    return looks + rows * nodes // 40, steps + rows * nodes // 10 + most * most * most // 20


solve = newton_on(velocities_with, direction, price)
