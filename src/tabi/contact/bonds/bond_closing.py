"""Bonds that have drifted apart by e are closed in the configuration alone, so that nothing gains
speed by it: that follows v⁺ and besides

    v̄ = −M̂⁻¹ J_bᵀ W⁺ e/h                                                                       (1)
with W⁺ of ``bond_elimination``, of its leading pivots only: as many as take no more energy than a
bonded body that moves LEVERAGE times as far as the offset. Near a singular configuration links may
have to move by a metre to close a millimetre: that stays open and counts as a mismatch, as a robot
must not be lifted to close it. v̄ is limited to the energy that the bonded masses have at the speed
CLOSING.
"""

from math import sqrt

from tabi.contact.algebra.pseudo_inverse import complement, down, subtract_pseudo_inverse, up
from tabi.contact.rows import BILATERAL, BILATERAL_TWO
from tabi.jit import kernel
from tabi.spatial.vector import dot, load3

# largest ratio of a mass's motion to the offset that it closes, and largest speed of closing
MAX_LEVERAGE, MAX_CLOSING_SPEED = 10.0, 0.5  # m/s
# offsets below this are not closed, nor reported [m or rad]
MIN_OFFSET = 1e-9


@kernel(apart="none", rare=True)
def close_plainly(p, shift, offset, h):
    """Close bonds that are left to the law of their group, each at MAX_CLOSING_SPEED at most."""
    for k in range(p.kind.shape[0]):
        if p.kind[k] in (BILATERAL, BILATERAL_TWO):
            i, e = 3 * k, load3(offset[3 * k : 3 * k + 3])
            fast = sqrt(dot(e, e)) / h
            part = 1.0 / h if fast <= MAX_CLOSING_SPEED else MAX_CLOSING_SPEED / (fast * h)
            for q in range(3):
                p.q[i + q] += part * e[q]
                shift[i + q] += part * e[q]


@kernel
def close(w, W, f, rank, sizes, mass, h):
    """Impulses of (1); and what of the offset cannot be closed, into mismatch.

    Args:
        w, W, f, rank: of ``bond_elimination``. mass: of a bonded body, on the mean [kg].
        sizes: offset, mismatch and closing, over the rows of the bonds.
    """
    (offset, mismatch, closing), y, z, scale = sizes, w.y, w.z, f.scale
    n, largest = offset.shape[0], 0.0
    for r in range(n):
        mismatch[r] = 0.0
        largest = max(largest, abs(offset[r]))
    if largest < MIN_OFFSET:
        return
    w.closes[0], closable, energy = 1, rank, 0.0
    while True:
        for r in range(n):
            y[r], z[r] = scale[r] * offset[r], 0.0
        subtract_pseudo_inverse(f, closable, n, y, w.x, z)
        energy = 0.0
        for r in range(n):
            for j in range(n):
                energy += z[r] * W[r, j] * z[j]
        if closable == 0 or not energy > mass * (MAX_LEVERAGE * largest) ** 2:
            break
        closable -= 1
        complement(f.L, n, closable, f.K, f.S)
    limit, energy = 0.0, energy / (h * h)
    for r in range(n):
        limit += scale[r] * scale[r] / 3.0 * MAX_CLOSING_SPEED * MAX_CLOSING_SPEED
    part = sqrt(limit / energy) if energy > limit else 1.0
    for r in range(n):
        closing[r] = part * scale[r] * z[r] / h
        z[r] = 0.0
    down(f, closable, n, y, w.x)
    up(f, closable, n, w.x, z, 1.0)
    for r in range(n):
        mismatch[r] = offset[r] - z[r] / scale[r] if scale[r] > 0.0 else offset[r]
    if closable < rank:
        complement(f.L, n, rank, f.K, f.S)
