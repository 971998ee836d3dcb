"""OpenHRP's law of contact: springs and dampers between a polygonal foot and its plane.

The part of a polygon that is below its plane has a middle c, a mean depth ΔX there, and a tilt Ω
about the two tangents. About c, in the foot's axes,

    f_z = K_z ΔX − λ_z ΔX ṽ_z,   τ = −K_r Ω − λ_r |Ω| ω̃,   λ = 3/2 α K                          (1)
    f_t = −C v_t,   τ_z = −C_z ω_z,   both made smaller by one factor until ‖f_t‖ ≤ μ f_z        (2)
(ṽ, ω̃): the twist nearest to that of the polygon among those with which every corner of that part
goes deeper, lengths in half diagonals of the sole; nothing where it leaves. The pressure point is
kept within the part that is below the plane: K_r Ω may not pull. There is no spring along the
plane: a loaded foot creeps with f_t/C.

Forces are taken at the end of the step, so that any stiffness is stable:

    w = w₀ − D ξ,   ξ = A w + b                                                                (3)
in the space of ``polygons``; nonlinear terms are found by iteration.

References: Hirukawa (2003), sec. 2.1.2, eqs. 1 to 6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.contact.algebra import linear
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial.vector import dot, sub
from tabi.step.laws.polygons.deeper_twists import deeper
from tabi.step.laws.polygons.polygons import Polygons

Floats = NDArray[np.float64]
# iterations of the forces, and their relative tolerance
MAX_ITERATIONS, FRICTION_TOLERANCE = 100, 1e-9
# relative tolerance of friction before other terms are revised; depth of a negligible force [m]
ROUGH_FRICTION_TOLERANCE, MIN_FORCE_DEPTH = 0.01, 1e-12
SPRING = np.dtype(
    [
        # moving body of the foot, root of its tree, x axis in the body's frame
        ("body", np.int64),
        ("root", np.int64),
        ("axis", float, 3),
        # along the normal, about the foot's x and y axes [N/m, N·m/rad]; α [s/m]
        ("stiffness", float, 3),
        ("alpha", float),
        # along the plane [N·s/m], about the normal [N·m·s/rad]; half diagonal of the sole [m]
        ("damping", float),
        ("yaw_damping", float),
        ("half_diagonal", float),
    ],
    align=True,
)


class PenaltyWork(Structure):
    """Memory of the penalty law, over polygons.

    Attributes:
        middle, depth, tilt: c [m], ΔX [m] and Ω [rad] of each.
        region: corners of the part below the plane, about the polygon's middle, shape (·, m, 2);
            sides: how many.
        scale: factor of (2). damped: whether (1) is taken with its damper at the end of the step.
        damper: its force otherwise. held_point: where the pressure point is held, from c, and
            whether it is.
        rest, D: of (3) about c: load of a polygon without motion, and its slope by the twist.
        S, w, twist: the system, wrenches about the middles of polygons, and ξ.
        correction: of the projection.
    """

    middle: Floats
    depth: Floats
    tilt: Floats
    region: Floats
    sides: NDArray[np.int64]
    scale: Floats
    damped: NDArray[np.int64]
    damper: Floats
    held_point: Floats
    rest: Floats
    D: Floats
    S: Floats
    w: Floats
    twist: Floats
    correction: Floats


def allocate(P: Polygons, points: int) -> PenaltyWork:
    """Allocate memory for polygons of so many corners."""
    most, m = len(P.first), points + 2
    return PenaltyWork(
        middle=np.zeros((most, 2)),
        depth=np.zeros(most),
        tilt=np.zeros((most, 2)),
        region=np.zeros((most, m, 2)),
        sides=np.zeros(most, np.int64),
        scale=np.zeros(most),
        damped=np.zeros(most, np.int64),
        damper=np.zeros((most, 3)),
        held_point=np.zeros((most, 3)),
        rest=np.zeros((most, 6)),
        D=np.zeros((most, 6, 6)),
        S=np.zeros((6 * most, 6 * most)),
        w=np.zeros(6 * most),
        twist=np.zeros(6 * most),
        correction=np.zeros((m, 3)),
    )


@kernel
def solve(P, spring, foot, axis, added_velocity, k, h):
    """Solve wrenches k.w of all polygons, impulses about their middles; False if not converged.

    Args:
        spring: table of SPRING. foot: row of it of each polygon. axis: the foot's x axis in the
            frame of each polygon, shape (·, 2). added_velocity: added to the normal velocity
            of each row [m/s]. h: the step [s].
    """
    n = 6 * P.count[0]
    for f in range(P.count[0]):
        sink(P, k, f)
        k.damped[f], k.held_point[f, 2] = 1, 0.0
        k.scale[f] = _first_scale(P, spring[foot[f]], k, f, h)
        for c in range(3):
            k.damper[f, c] = 0.0
        _subtract_added(P, added_velocity, f)
    converged = False
    for _ in range(MAX_ITERATIONS):
        for f in range(P.count[0]):
            load_springs(P, spring[foot[f]], axis[f], k, f, h)
        _solve(P, k, n)
        converged = True
        for f in range(P.count[0]):
            if k.sides[f] > 0:
                converged = _revise(P, spring[foot[f]], axis[f], k, f, h) and converged
        if converged:
            break
    return converged


@kernel(inline=True)
def _first_scale(P, spring, k, f, h):
    """Return the initial factor of (2), for the free motion."""
    i, most = 6 * f, P.mu[f] * spring.stiffness[0] * max(k.depth[f], 0.0)
    vx, vy = P.b[i + 3], P.b[i + 4]
    force = spring.damping * (vx * vx + vy * vy) ** 0.5
    return min(1.0, max(most, 1e-9) / force) if force > 0.0 else 1.0


@kernel
def sink(P, k, f):
    """Compute the part of a polygon below its plane: corners, middle, mean depth and tilt."""
    first, n = P.start[f], P.start[f + 1] - P.start[f]
    g, gx, gy = _plane(P, f, P.gap[first : first + n])
    k.tilt[f, 0], k.tilt[f, 1] = gy, -gx
    m = 0
    for i in range(n):
        a, b = first + i, first + (i + 1) % n
        here, there = g + gx * P.x[a] + gy * P.y[a], g + gx * P.x[b] + gy * P.y[b]
        if here <= 0.0:
            k.region[f, m, 0], k.region[f, m, 1] = P.x[a], P.y[a]
            m += 1
        if (here < 0.0 < there) or (there < 0.0 < here):
            part = here / (here - there)
            k.region[f, m, 0] = P.x[a] + part * (P.x[b] - P.x[a])
            k.region[f, m, 1] = P.y[a] + part * (P.y[b] - P.y[a])
            m += 1
    area, cx, cy = 0.0, 0.0, 0.0
    for i in range(m):
        j = (i + 1) % m
        ax, ay, bx, by = k.region[f, i, 0], k.region[f, i, 1], k.region[f, j, 0], k.region[f, j, 1]
        piece = ax * by - ay * bx
        area += piece
        cx, cy = cx + piece * (ax + bx) / 3.0, cy + piece * (ay + by) / 3.0
    if n > 2 and not area > 0.0:
        m = 0
    if m == 0:
        k.sides[f], k.depth[f], k.middle[f, 0], k.middle[f, 1] = 0, 0.0, 0.0, 0.0
        return
    if n > 2:
        cx, cy = cx / area, cy / area
    else:
        # points on a line: the middle of those that are below
        cx, cy = 0.0, 0.0
        for i in range(m):
            cx, cy = cx + k.region[f, i, 0] / m, cy + k.region[f, i, 1] / m
    k.sides[f], k.middle[f, 0], k.middle[f, 1] = m, cx, cy
    k.depth[f] = -(g + gx * cx + gy * cy)


@kernel(inline=True)
def _plane(P, f, value):
    """Return the plane through values at the corners: value at their middle, and slopes."""
    first, end, g, xx, xy, yy, gx, gy = P.start[f], P.start[f + 1], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(first, end):
        x, y, here = P.x[c], P.y[c], value[c - first]
        g += here / (end - first)
        xx, xy, yy = xx + x * x, xy + x * y, yy + y * y
        gx, gy = gx + x * here, gy + y * here
    little = 1e-12 * (xx + yy) + 1e-30
    xx, yy = xx + little, yy + little
    D = 1.0 / (xx * yy - xy * xy)
    return g, D * (yy * gx - xy * gy), D * (xx * gy - xy * gx)


@kernel(inline=True)
def _subtract_added(P, added_velocity, f):
    """Subtract from b the velocities that were added to the rows, so that gaps close."""
    first, end = P.start[f], P.start[f + 1]
    for c in range(first, end):
        P.free[c] = added_velocity[P.row[c]]
    g, gx, gy = _plane(P, f, P.free[first:end])
    P.b[6 * f] -= gy
    P.b[6 * f + 1] += gx
    P.b[6 * f + 5] -= g


@kernel(inline=True)
def _rotated_diagonal(axis, a, b):
    """Return a diagonal matrix (a, b) of the foot's axes in the polygon's frame: xx, xy, yy.

    Args:
        axis: the foot's x axis in the polygon's frame.
    """
    c, s = axis[0], axis[1]
    return c * c * a + s * s * b, c * s * (a - b), s * s * a + c * c * b


@kernel(inline=True)
def _rotational_damping(spring, axis, tilt):
    """Return λ_r |Ω| of (1) in the polygon's frame: xx, xy, yy. |Ω| is taken about each of the
    foot's axes, as K_r is: about others the law would depend on the heading of the foot.
    """
    c, s, rate = axis[0], axis[1], 1.5 * spring.alpha
    along, across = abs(c * tilt[0] + s * tilt[1]), abs(c * tilt[1] - s * tilt[0])
    return _rotated_diagonal(
        axis, rate * spring.stiffness[1] * along, rate * spring.stiffness[2] * across
    )


@kernel
def load_springs(P, spring, axis, k, f, h):
    """Compute rest and D of a polygon about its c: impulses at rest, and slopes by its twist."""
    for i in range(6):
        k.rest[f, i] = 0.0
        for j in range(6):
            k.D[f, i, j] = 0.0
    if k.sides[f] == 0:
        return
    K, rest, D = spring.stiffness[0], k.rest[f], k.D[f]
    xx, xy, yy = _rotated_diagonal(axis, spring.stiffness[1], spring.stiffness[2])
    ox, oy, d = k.tilt[f, 0], k.tilt[f, 1], k.depth[f]
    rest[0], rest[1] = -h * (xx * ox + xy * oy), -h * (xy * ox + yy * oy)
    rest[5] = h * K * d
    D[0, 0], D[0, 1], D[1, 0], D[1, 1] = h * h * xx, h * h * xy, h * h * xy, h * h * yy
    D[5, 5] = h * h * K
    if k.damped[f] == 1:
        xx, xy, yy = _rotational_damping(spring, axis, k.tilt[f])
        D[0, 0] += h * xx
        D[0, 1] += h * xy
        D[1, 0] += h * xy
        D[1, 1] += h * yy
        D[5, 5] += 1.5 * spring.alpha * h * K * d
    else:
        for i in range(3):
            rest[i if i < 2 else 5] += h * k.damper[f, i]
    if k.held_point[f, 2] > 0.0:
        # the pressure point is held: moments follow the normal force
        x, y = k.held_point[f, 0], k.held_point[f, 1]
        rest[0], rest[1] = y * rest[5], -x * rest[5]
        for j in range(6):
            D[0, j], D[1, j] = y * D[5, j], -x * D[5, j]
    part = h * k.scale[f]
    D[3, 3], D[4, 4] = part * spring.damping, part * spring.damping
    D[2, 2] = part * spring.yaw_damping


@kernel
def _solve(P, k, n):
    """Solve w and ξ of (3)."""
    # D and rest about the middles of the polygons: a twist moves c along with them
    for f in range(P.count[0]):
        x, y, D = k.middle[f, 0], k.middle[f, 1], k.D[f]
        for i in range(6):
            # columns: velocities at c from those of the middle
            D[i, 2] += -y * D[i, 3] + x * D[i, 4]
            D[i, 0] += y * D[i, 5]
            D[i, 1] -= x * D[i, 5]
        for j in range(6):
            # rows: moments about the middle from forces at c
            D[2, j] += -y * D[3, j] + x * D[4, j]
            D[0, j] += y * D[5, j]
            D[1, j] -= x * D[5, j]
        k.rest[f, 0] += y * k.rest[f, 5]
        k.rest[f, 1] -= x * k.rest[f, 5]
    for f in range(P.count[0]):
        for r in range(6):
            i, total = 6 * f + r, k.rest[f, r]
            for j in range(6):
                total -= k.D[f, r, j] * P.b[6 * f + j]
            k.w[i] = total
            for c in range(n):
                total = 1.0 if i == c else 0.0
                for j in range(6):
                    total += k.D[f, r, j] * P.A[6 * f + j, c]
                k.S[i, c] = total
    if not linear.solve(k.S, k.w, n):
        for i in range(n):
            k.w[i] = 0.0
    for i in range(n):
        total = P.b[i]
        for j in range(n):
            total += P.A[i, j] * k.w[j]
        k.twist[i] = total


@kernel
def _revise(P, spring, axis, k, f, h):
    """Revise damper, pressure point and friction of a polygon; returns whether they converged."""
    i, w, x, y = 6 * f, k.w, k.middle[f, 0], k.middle[f, 1]
    fz, force = w[i + 5], (w[i + 3] * w[i + 3] + w[i + 4] * w[i + 4]) ** 0.5
    # friction first: too much of it would tip or lift the foot
    wanted = 0.1 * k.scale[f]
    if fz > 0.0:
        # force = F s / (1 + a s) of a factor s, were the polygon alone
        most, s = P.mu[f] * fz, k.scale[f]
        a = 0.5 * h * spring.damping * (P.A[i + 3, i + 3] + P.A[i + 4, i + 4])
        full = force * (1.0 + a * s) / s - a * most
        wanted = min(1.0, most / full) if full > 0.0 else 1.0
    elif not force > MIN_FORCE_DEPTH * spring.stiffness[0] * h:
        # it would pull: the polygon lifts off
        k.sides[f] = 0
        return False
    off = abs(wanted - k.scale[f])
    converged, k.scale[f] = off <= FRICTION_TOLERANCE * k.scale[f], wanted
    if off > ROUGH_FRICTION_TOLERANCE * wanted or not fz > 0.0:
        return False
    converged = _update_damper(P, spring, axis, k, f) and converged
    # the pressure point, from c
    px, py = -w[i + 1] / fz - x, w[i] / fz - y
    part = _share_inside(k, f, px, py)
    if part < 1.0 - 1e-12 and k.held_point[f, 2] == 0.0:
        k.held_point[f, 0], k.held_point[f, 1], k.held_point[f, 2] = part * px, part * py, 1.0
        converged = False
    return converged


@kernel
def _share_inside(k, f, px, py):
    """Return the share of the path from c to a point that lies below the plane, 1 for all."""
    m, cx, cy, part = k.sides[f], k.middle[f, 0], k.middle[f, 1], 1.0
    for a in range(m):
        b = (a + 1) % m
        ax, ay = k.region[f, a, 0] - cx, k.region[f, a, 1] - cy
        ux, uy = k.region[f, b, 0] - cx - ax, k.region[f, b, 1] - cy - ay
        # distances inside of the side, of c and of the place
        size = (ux * ux + uy * uy) ** 0.5
        if size > 0.0:
            here = (uy * ax - ux * ay) / size
            there = here + (ux * py - uy * px) / size
            if there < 0.0:
                part = min(part, here / (here - there) if here > there else 0.0)
    return max(part, 0.0)


@kernel
def _update_damper(P, spring, axis, k, f):
    """Update the twist of the damper: all of it at the end of the step, nothing, or its projection
    on the cone; returns whether that is unchanged.
    """
    i, t, x, y = 6 * f, k.twist, k.middle[f, 0], k.middle[f, 1]
    L = spring.half_diagonal
    # lengths in half diagonals; v_z is that of c
    vz = t[i + 5] + t[i] * y - t[i + 1] * x
    u = (vz, L * t[i], L * t[i + 1])
    p = deeper(k.region[f], k.sides[f], k.middle[f], u, L, k.correction)
    # lengths of vectors, which do not change with the heading
    off = sub(p, u)
    if dot(off, off) <= 1e-18 * dot(u, u):
        same = k.damped[f] == 1
        k.damped[f] = 1
        return same
    xx, xy, yy = _rotational_damping(spring, axis, k.tilt[f])
    fx = -(xx * p[1] + xy * p[2]) / L
    fy = -(xy * p[1] + yy * p[2]) / L
    fz = -1.5 * spring.alpha * spring.stiffness[0] * k.depth[f] * p[0]
    dx, dy, dz = fx - k.damper[f, 0], fy - k.damper[f, 1], fz - k.damper[f, 2]
    change = abs(dz) + (dx * dx + dy * dy) ** 0.5 / L
    same = k.damped[f] == 0 and change <= 1e-6 * spring.stiffness[0] * k.depth[f]
    # halfway, against cycles
    half = 0.5 if k.damped[f] == 0 else 1.0
    k.damped[f] = 0
    k.damper[f, 0] += half * dx
    k.damper[f, 1] += half * dy
    k.damper[f, 2] += half * dz
    return same
