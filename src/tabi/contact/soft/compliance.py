"""Contacts on soft pads: points that give way, each by what all forces on its pad do.

A pad has nodes in the frame of its body, and a compliance C between all of them. A contact lies on
one node, or between three of them with weights N; with R the body's rotation and E the contact's
frame, impulses λ of the step make the nodes move against their body with

    w = c C Σ Nᵀ Rᵀ Eᵀ λ,   and   u = (J Ω Jᵀ λ + q) + E R N w                                   (1)
c [1/s²] is one over the square of the step, less where the pad is viscous. A contact between two
pads has both parts. What law a contact obeys is the same as without: only u is another one.

Pads that touch each other are one *cluster*; all others are a cluster alone.

References: Chardonnet (2008), sec. II (its eq. 4 has the time indices of U swapped).
"""

from tabi.contact import bodies
from tabi.contact.algebra import block_lu
from tabi.contact.algebra.products import add_rows
from tabi.contact.rows import CONTACT, IDLE
from tabi.contact.weights import weights
from tabi.jit import kernel
from tabi.spatial.vector import add, load9, mul, mul_t, scale, sub

# ---- before a group is solved -------------------------------------------------------------------


@kernel
def prepare(p, work):
    """Prepare as ``bodies.prepare``, with ρ of rows on pads and the bodies that pads couple."""
    _list_pads(p, work)
    weights(p)
    for k in range(p.mu.shape[0]):
        if _soft(work, k):
            _soften(p, k, work)
    bodies.touch_bodies(p, work)
    for n in range(work.pad_count[0]):
        if work.cluster[work.pad_list[n]] == work.pad_list[n]:
            _couple(work, list_bodies(p, work, work.pad_list[n]))
    return bodies.arrange(p, work)


@kernel(inline=True)
def _soft(work, k):
    """Whether a row lies on a pad."""
    return work.pad_count[0] > 0 and (work.row[k].pad_a >= 0 or work.row[k].pad_b >= 0)


@kernel
def _list_pads(p, work):
    """Pads of the group and their clusters; none where no contact is left, as in problems that
    only part what overlaps.
    """
    any_contact = False
    for k in range(p.kind.shape[0]):
        any_contact = any_contact or p.kind[k] == CONTACT
    work.pad_count[0] = 0
    if not any_contact:
        return
    for i in range(work.cluster.shape[0]):
        work.cluster[i], work.known_braced[i] = -1, 0
    for k in range(p.mu.shape[0]):
        row = work.row[k]
        for side in range(2):
            i = row.pad_a if side == 0 else row.pad_b
            if i >= 0 and work.cluster[i] < 0:
                work.cluster[i] = i
                work.pad_list[work.pad_count[0]] = i
                work.pad_count[0] += 1
    for k in range(p.mu.shape[0]):
        row = work.row[k]
        if row.pad_a >= 0 and row.pad_b >= 0:
            i, j = work.cluster[row.pad_a], work.cluster[row.pad_b]
            if i != j:
                for n in range(work.pad_count[0]):
                    e = work.pad_list[n]
                    if work.cluster[e] == max(i, j):
                        work.cluster[e] = min(i, j)


@kernel
def _soften(p, k, work):
    """ρ = 3/tr(W_kk + E R N c C Nᵀ Rᵀ Eᵀ): the trace needs no rotation."""
    row = work.row[k]
    mobility = 0.0
    if row.pad_a >= 0:
        mobility += own_trace(work, row.pad_a, row.node_a, row.weight_a)
    if row.pad_b >= 0:
        mobility += own_trace(work, row.pad_b, row.node_b, row.weight_b)
    if p.kind[k] == IDLE:
        # nothing but the pad gives way
        p.kind[k], p.weight[k] = CONTACT, 3.0 / mobility
    else:
        p.weight[k] = 3.0 / (3.0 / p.weight[k] + mobility)


@kernel
def own_trace(work, i, node, weight):
    """Trace of c N C Nᵀ of one contact on pad i."""
    total = 0.0
    for a in range(3):
        for b in range(3):
            if node[a] >= 0 and node[b] >= 0:
                at, size = entry(work, i, node[a], node[b])
                C = work.pads.compliance
                total += weight[a] * weight[b] * (C[at] + C[at + size + 1] + C[at + 2 * size + 2])
    return work.give[i] * total


@kernel(inline=True)
def entry(work, i, a, b):
    """Start of the 3×3 block of two nodes in the matrices of pad i, and the length of a
    row of them.
    """
    pad = work.pads.pad[i]
    size = 3 * (pad.end - pad.node)
    return pad.matrix + 3 * (a - pad.node) * size + 3 * (b - pad.node), size


@kernel
def list_bodies(p, work, cluster):
    """Bodies that a cluster touches into work.touched; returns how many."""
    count = 0
    for k in range(p.mu.shape[0]):
        if in_cluster(work, k, cluster):
            for side in range(2):
                i, known = p.contact[k].a if side == 0 else p.contact[k].b, False
                for n in range(count):
                    known = known or work.touched[n] == i
                if i >= 0 and not known:
                    work.touched[count] = i
                    count += 1
    return count


@kernel(inline=True)
def in_cluster(work, k, cluster):
    """Whether a row lies on a pad of a cluster."""
    a, b = work.row[k].pad_a, work.row[k].pad_b
    return (a >= 0 and work.cluster[a] == cluster) or (b >= 0 and work.cluster[b] == cluster)


@kernel
def _couple(work, count):
    """All bodies of a cluster act on each other."""
    slot = work.lu.slot
    for m in range(count):
        for n in range(m):
            i, j = work.touched[m], work.touched[n]
            if slot[i, j] == block_lu.NO_BLOCK:
                slot[i, j], slot[j, i] = 0, 0
                work.touch[i, work.touches[i]] = j
                work.touch[j, work.touches[j]] = i
                work.touches[i] += 1
                work.touches[j] += 1


# ---- velocities ---------------------------------------------------------------------------------


@kernel
def velocities(p, impulse, u, F, V, work):
    """u of (1); F and V are memory of the size of the twists."""
    bodies.velocities(p, impulse, u, F, V)
    if work.pad_count[0] == 0:
        return
    gather(p, impulse, work, work.force)
    for n in range(work.pad_count[0]):
        give_way(work, work.pad_list[n], work.force, work.motion)
    for k in range(p.mu.shape[0]):
        if _soft(work, k):
            w = mul(load9(p.contact[k].frame), motion_at(work, k, work.motion))
            u[3 * k] += w[0]
            u[3 * k + 1] += w[1]
            u[3 * k + 2] += w[2]


@kernel(inline=True)
def velocities_with(p, impulse, u, work):
    """Compute ``velocities`` with memory from ``work``."""
    velocities(p, impulse, u, work.wrench, work.twist, work)


@kernel
def gather(p, impulse, work, force):
    """Σ Nᵀ Rᵀ Eᵀ λ over all rows of the group, into the nodes of its pads."""
    for n in range(work.pad_count[0]):
        pad = work.pads.pad[work.pad_list[n]]
        for i in range(3 * pad.node, 3 * pad.end):
            force[i] = 0.0
    for k in range(p.mu.shape[0]):
        if _soft(work, k):
            l = (impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2])
            if l[0] != 0.0 or l[1] != 0.0 or l[2] != 0.0:
                load(work, k, mul_t(load9(p.contact[k].frame), l), force)


@kernel
def load(work, k, f, force):
    """Add the force f of a row, in the world's axes, to the nodes that it lies between."""
    row = work.row[k]
    if row.pad_a >= 0:
        g = mul_t(load9(work.turn[row.pad_a]), f)
        _spread(row.node_a, row.weight_a, g, 1.0, force)
    if row.pad_b >= 0:
        g = mul_t(load9(work.turn[row.pad_b]), f)
        _spread(row.node_b, row.weight_b, g, -1.0, force)


@kernel(inline=True)
def _spread(node, weight, g, sign, force):
    """Add ± a force to three nodes by their weights."""
    for c in range(3):
        if node[c] >= 0:
            i, part = 3 * node[c], sign * weight[c]
            force[i] += part * g[0]
            force[i + 1] += part * g[1]
            force[i + 2] += part * g[2]


@kernel
def give_way(work, i, force, motion):
    """Motion = c C force of the nodes of pad i; nodes without force cost nothing."""
    pad, C, c = work.pads.pad[i], work.pads.compliance, work.give[i]
    size, first = 3 * (pad.end - pad.node), 3 * pad.node
    for r in range(size):
        motion[first + r] = 0.0
    for b in range(pad.end - pad.node):
        x, y, z = force[first + 3 * b], force[first + 3 * b + 1], force[first + 3 * b + 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            add_rows(C, pad.matrix + 3 * b * size, size, c * x, c * y, c * z, motion, first)


@kernel
def motion_at(work, k, motion):
    """R N w of a row, in the world's axes: how its points move against their bodies."""
    row = work.row[k]
    v = (0.0, 0.0, 0.0)
    if row.pad_a >= 0:
        v = mul(load9(work.turn[row.pad_a]), between(row.node_a, row.weight_a, motion))
    if row.pad_b >= 0:
        w = between(row.node_b, row.weight_b, motion)
        v = sub(v, mul(load9(work.turn[row.pad_b]), w))
    return v


@kernel(inline=True)
def between(node, weight, values):
    """Interpolate vectors at nodes to a point between them."""
    v = (0.0, 0.0, 0.0)
    for c in range(3):
        if node[c] >= 0:
            i = 3 * node[c]
            v = add(v, scale(weight[c], (values[i], values[i + 1], values[i + 2])))
    return v
