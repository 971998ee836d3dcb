"""The twist nearest to a given one by which every corner of a polygon moves deeper.

    min ‖p − u‖,   p = (v_z, L ω_x, L ω_y),   v_z + ω_x y_i − ω_y x_i ≤ 0 for every corner i     (1)
v_z: velocity of the middle along the normal; x, y: corners from there. The projection on this
polyhedral cone is found by projections on its half-spaces in turn (Dykstra), as many at a time as
there are corners.

References: Hirukawa (2003), sec. 2.1.2, eq. 2; Boyle and Dykstra (1986).
"""

from tabi.jit import kernel

# largest number of sweeps over all corners
SWEEPS = 200


@kernel
def deeper(corner, m, middle, u, L, correction):
    """Return the projection p of (1).

    Args:
        corner: places of the corners [m], the first m of them. middle: c [m].
        u: (v_z, L ω_x, L ω_y). L: the length that turning is measured with [m].
        correction: memory, shape (m, 3).
    """
    cx, cy = middle[0], middle[1]
    for a in range(m):
        correction[a, 0], correction[a, 1], correction[a, 2] = 0.0, 0.0, 0.0
    x, y, z = u
    for _ in range(SWEEPS):
        change = 0.0
        for a in range(m):
            # the rise of the corner: v_z + ω_x y − ω_y x ≤ 0
            ny, nz = (corner[a, 1] - cy) / L, -(corner[a, 0] - cx) / L
            x0, y0, z0 = x + correction[a, 0], y + correction[a, 1], z + correction[a, 2]
            rise = (x0 + ny * y0 + nz * z0) / (1.0 + ny * ny + nz * nz)
            rise = max(rise, 0.0)
            dx, dy, dz = x0 - rise, y0 - rise * ny, z0 - rise * nz
            correction[a, 0], correction[a, 1], correction[a, 2] = x0 - dx, y0 - dy, z0 - dz
            change = max(change, (dx - x) ** 2 + (dy - y) ** 2 + (dz - z) ** 2)
            x, y, z = dx, dy, dz
        if change <= 1e-24 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]):
            break
    return x, y, z
