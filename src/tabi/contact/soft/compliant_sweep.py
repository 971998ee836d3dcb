"""Gauss–Seidel over contacts, some of them on soft pads: as ``body_sweep``, and with every impulse
the nodes of its pad move too.

    W_kk = that of the bodies + E R N c C Nᵀ Rᵀ Eᵀ                                             (1)
A contact on a pad of n nodes costs three columns of 3n numbers.
"""

from tabi.contact import body_sweep, gauss_seidel
from tabi.contact.algebra.products import add_rows
from tabi.contact.bodies import relative, twists, wrench
from tabi.contact.rows import bound_by, local
from tabi.contact.soft import compliance
from tabi.contact.soft.compliance import motion_at, velocities_with
from tabi.contact.soft.pad_frames import pad_turn
from tabi.contact.soft.pad_rows import compliance_between
from tabi.jit import kernel
from tabi.spatial.vector import load3, load6, load9, matmul, mul, mul_t, sub


@kernel
def local_blocks(p, work):
    """W_kk of each contact, for sweeps."""
    body_sweep.local_blocks(p, work)
    if work.pad_count[0] == 0:
        return
    for k in range(p.mu.shape[0]):
        if work.row[k].pad_a >= 0 or work.row[k].pad_b >= 0:
            Q = matmul(load9(p.contact[k].frame), pad_turn(work, k))
            transposed = (Q[0], Q[3], Q[6], Q[1], Q[4], Q[7], Q[2], Q[5], Q[8])
            M = matmul(matmul(Q, compliance_between(work, k, k)), transposed)
            out = work.block[k]
            out[0] += M[0]
            out[1] += M[1]
            out[2] += M[2]
            out[3] += M[4]
            out[4] += M[5]
            out[5] += M[8]


@kernel
def sweep(p, impulse, work):
    """Gauss–Seidel once over all contacts; needs ``local_blocks``."""
    V, soft = work.twist, work.pad_count[0] > 0
    twists(p, impulse, work.wrench, V)
    if soft:
        compliance.gather(p, impulse, work, work.force)
        for n in range(work.pad_count[0]):
            compliance.give_way(work, work.pad_list[n], work.force, work.motion)
    for k in range(p.mu.shape[0]):
        i, c = 3 * k, p.contact[k]
        E, W = load9(c.frame), load6(work.block[k])
        on_pad = soft and (work.row[k].pad_a >= 0 or work.row[k].pad_b >= 0)
        v = relative(V, c)
        if on_pad:
            w = motion_at(work, k, work.motion)
            v = (v[0] + w[0], v[1] + w[1], v[2] + w[2])
        u, l = mul(E, v), (impulse[i], impulse[i + 1], impulse[i + 2])
        x = p.q[i] + u[0] - (W[0] * l[0] + W[1] * l[1] + W[2] * l[2])
        y = p.q[i + 1] + u[1] - (W[1] * l[0] + W[3] * l[1] + W[4] * l[2])
        n = p.q[i + 2] + u[2] - (W[2] * l[0] + W[4] * l[1] + W[5] * l[2])
        if c.partner >= 0:
            p.bound[k] = bound_by(c.partner, impulse)
        new, work.alpha[k] = local(p.kind[k], W, p.mu[k], p.bound[k], (x, y, n), work.alpha[k])
        change = sub(new, l)
        if change[0] != 0.0 or change[1] != 0.0 or change[2] != 0.0:
            f = mul_t(E, change)
            body_sweep.kick(p, work.wrench, V, c.a, wrench(c.angular, load3(c.arm_a), f), 1.0)
            if c.b >= 0:
                body_sweep.kick(p, work.wrench, V, c.b, wrench(c.angular, load3(c.arm_b), f), -1.0)
            if on_pad:
                _move_nodes(work, k, f)
        impulse[i], impulse[i + 1], impulse[i + 2] = new[0], new[1], new[2]


@kernel
def _move_nodes(work, k, f):
    """Add the motion of a pad's nodes under a force f of a row, in world axes."""
    row, C = work.row[k], work.pads.compliance
    for side in range(2):
        i = row.pad_a if side == 0 else row.pad_b
        if i < 0:
            continue
        pad, g = work.pads.pad[i], mul_t(load9(work.turn[i]), f)
        size = 3 * (pad.end - pad.node)
        node, weight = (row.node_a, row.weight_a) if side == 0 else (row.node_b, row.weight_b)
        for c in range(3):
            if node[c] >= 0:
                part = work.give[i] * weight[c] * (1.0 if side == 0 else -1.0)
                at = pad.matrix + 3 * (node[c] - pad.node) * size
                x, y, z = part * g[0], part * g[1], part * g[2]
                add_rows(C, at, size, x, y, z, work.motion, 3 * pad.node)


@kernel(inline=True)
def price(p):
    """Work of a sweep with its residual: (1) of ``budget``, four times as much for pads."""
    return 4 * body_sweep.price(p)


accelerated = gauss_seidel.accelerated_on(velocities_with, sweep, local_blocks, price)
