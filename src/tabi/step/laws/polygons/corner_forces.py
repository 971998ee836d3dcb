"""Forces of the corners of a polygon, from its wrench.

They are not unique. Those that are reported have the wrench of the polygon, press where the
pressure point is inside (Wachspress's coordinates c_i of that point), and resist rotation about it:

    λ_n,i = c_i f_z,   λ_t,i = c_i (f_t + κ ẑ × (p_i − p)),   κ = τ_z / Σ c_i ‖p_i − p‖²        (1)
"""

from tabi.jit import kernel


@kernel
def spread(P, f, w, begin, count, impulse):
    """Compute impulses of the rows of a polygon by (1), from its wrench w (from 6 f on).

    Args:
        begin, count: corners that bear it; after the last one comes the first. All of them, two
            neighbours, one or none.
    """
    first, n, i = P.start[f], P.start[f + 1] - P.start[f], 6 * f
    for c in range(first, first + n):
        k = 3 * P.row[c]
        impulse[k], impulse[k + 1], impulse[k + 2] = 0.0, 0.0, 0.0
    if count == 0:
        return
    _press(P, first, n, begin, count, (w[i], w[i + 1], w[i + 5]), impulse)
    # shares of the tangential force: those of the normal one, where that presses everywhere
    fx, fy, fz, presses = w[i + 3], w[i + 4], w[i + 5], w[i + 5] > 0.0
    for j in range(count):
        presses = presses and impulse[3 * P.row[first + (begin + j) % n] + 2] >= 0.0
    px, py, size = 0.0, 0.0, 0.0
    for j in range(count):
        c = first + (begin + j) % n
        share = impulse[3 * P.row[c] + 2] / fz if presses else 1.0 / count
        px, py = px + share * P.x[c], py + share * P.y[c]
        size += share * (P.x[c] * P.x[c] + P.y[c] * P.y[c])
    turn, size = w[i + 2] - px * fy + py * fx, size - px * px - py * py
    turn = turn / size if size > 1e-12 * P.span[f] * P.span[f] else 0.0
    for j in range(count):
        c = first + (begin + j) % n
        k = 3 * P.row[c]
        share = impulse[k + 2] / fz if presses else 1.0 / count
        impulse[k] = share * (fx - turn * (P.y[c] - py))
        impulse[k + 1] = share * (fy + turn * (P.x[c] - px))


@kernel
def _press(P, first, n, begin, count, load, impulse):
    """Compute normal impulses with a sum f_z and moments τ_x, τ_y: load = (τ_x, τ_y, f_z)."""
    tx, ty, fz = load
    a, b = first + begin % n, first + (begin + 1) % n
    if count == 1:
        impulse[3 * P.row[a] + 2] = fz
    elif count == 2:
        ux, uy = P.x[b] - P.x[a], P.y[b] - P.y[a]
        far = (-ty - fz * P.x[a]) * ux + (tx - fz * P.y[a]) * uy
        far /= ux * ux + uy * uy
        impulse[3 * P.row[a] + 2], impulse[3 * P.row[b] + 2] = fz - far, far
    elif not (fz > 0.0 and _wachspress(P, first, n, -ty / fz, tx / fz, fz, impulse)):
        # the least forces, some of them negative
        gx, gy = gradient(P, first, n, tx, ty)
        for c in range(first, first + n):
            impulse[3 * P.row[c] + 2] = fz / n + gx * P.x[c] + gy * P.y[c]


@kernel(inline=True)
def gradient(P, first, n, tx, ty):
    """Return the slope of forces that change linearly over the corners, with moments τ_x, τ_y."""
    xx, xy, yy = 0.0, 0.0, 0.0
    for c in range(first, first + n):
        xx, xy, yy = xx + P.x[c] * P.x[c], xy + P.x[c] * P.y[c], yy + P.y[c] * P.y[c]
    D = 1.0 / (xx * yy - xy * xy)
    return D * (-yy * ty - xy * tx), D * (xx * tx + xy * ty)


@kernel
def _wachspress(P, first, n, px, py, fz, impulse):
    """Store shares of a force at a point inside, or on an edge; False if it is outside."""
    size, least, near = 0.0, 0.0, 0
    for j in range(n):
        area = _area(P, first, n, j, px, py)
        size = max(size, area)
        if j == 0 or area < least:
            least, near = area, j
    if least < -1e-12 * size:
        return False
    total = 0.0
    for j in range(n):
        share = 0.0
        if least > 1e-12 * size:
            left, right = _area(P, first, n, j + n - 1, px, py), _area(P, first, n, j, px, py)
            share = _corner(P, first, n, j) / (left * right)
        impulse[3 * P.row[first + j] + 2] = share
        total += share
    if total == 0.0:
        # on an edge, whose two corners bear it
        a, b = first + near, first + (near + 1) % n
        ux, uy = P.x[b] - P.x[a], P.y[b] - P.y[a]
        along = ((px - P.x[a]) * ux + (py - P.y[a]) * uy) / (ux * ux + uy * uy)
        along = min(max(along, 0.0), 1.0)
        impulse[3 * P.row[a] + 2], impulse[3 * P.row[b] + 2] = 1.0 - along, along
        total = 1.0
    for j in range(n):
        impulse[3 * P.row[first + j] + 2] *= fz / total
    return True


@kernel(inline=True)
def _area(P, first, n, j, px, py):
    """Return twice the area between a point and the edge that begins at a corner."""
    a, b = first + j % n, first + (j + 1) % n
    return (P.x[a] - px) * (P.y[b] - py) - (P.y[a] - py) * (P.x[b] - px)


@kernel(inline=True)
def _corner(P, first, n, j):
    """Return twice the area of a corner and its two neighbours."""
    return _area(P, first, n, j, P.x[first + (j + n - 1) % n], P.y[first + (j + n - 1) % n])
