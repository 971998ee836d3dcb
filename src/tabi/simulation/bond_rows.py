"""Bodies held together: the rows of welds, balls and hinges, which stand among the contacts of a step.

    ball    u = ẋ_a − ẋ_b + (x_a − x_b)/h + h/2 (κ_a − κ_b) = 0     at the two places x that belong together     (1)
    weld    (1), and u = ω_a − ω_b + θ/h + h/2 (κ_a − κ_b) = 0      θ: the turn from b's frame to a's            (2)
    hinge   (1), and the two parts of (2) across the axis z_b, with θ = z_b × z_a                                (3)
κ = J̇ v: how fast velocities turn while the joints keep theirs. Without it a crank would open its chain by h² κ/2 in each
step; with it what is left is of third order. What has drifted apart comes back within the step, or with a given speed at
most. Bonded bodies do not collide.
"""

from math import atan2, sqrt

from tabi._jit import kernel
from tabi.contact.cone import HELD, HELD_TWO
from tabi.spatial.vector import add, add6, cross, dot, load3, load6, load9, matmul, mul, scale, store3, store9, sub

BALL, WELD, HINGE = 0, 1, 2
# shapes of points that are rows of bonds count from here on
BONDS = 1 << 40
# what has drifted apart comes back with this speed at most [m/s or rad/s]
CLOSING = 1.0


@kernel(inline=True)
def leave_out(bond, s, count):
    """Contact points less those of bonded bodies; returns how many there are."""
    if bond.shape[0] == 0:
        return count
    kept = 0
    for e in range(count):
        p, bonded = s.points[e], False
        for k in range(bond.shape[0]):
            bonded = bonded or (p.a == bond[k].a and p.b == bond[k].b) or (p.a == bond[k].b and p.b == bond[k].a)
        if not bonded:
            s.points[kept] = s.points[e]
            kept += 1
    return kept


@kernel(inline=True)
def add_points(bond, s, count):
    """Behind ``count`` points one for each three rows of a bond; returns how many there are then, also if too many."""
    total = count
    for k in range(bond.shape[0]):
        for part in range(1 if bond[k].kind == BALL else 2):
            if total < s.points.shape[0]:
                p = s.points[total]
                p.a, p.b, p.shape_a, p.shape_b, p.feature, p.gap = bond[k].a, bond[k].b, BONDS + k, 0, part, 0.0
            total += 1
    return total


@kernel(inline=True)
def fill(m, bond, part, base, h, s, x):
    """Rows (1), or those of (2) and (3), of one bond, at the place x of the problem; bodies count from ``base``."""
    w, p, a, b, i = s.dynamics, s.problem, bond.a, bond.b, 3 * x
    row, number, shift = p.contact[x], s.number, s.shift
    R_A, R_B = load9(w.body[a].rotation), load9(w.body[b].rotation)
    row.a, row.b = number[a] - base, number[b] - base if b > 0 else -1
    V_A, V_B = load6(w.body[a].velocity), load6(w.body[b].velocity)
    row.turns, p.mu[x] = part, HELD
    if part == 0:
        r, t = add(load3(w.body[a].position), mul(R_A, load3(bond.place_a))), add(load3(w.body[b].position), mul(R_B, load3(bond.place_b)))
        store3(row.arm_a, r)
        store3(row.arm_b, t)
        store9(row.frame, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
        u = sub(_speed(V_A, r), _speed(V_B, t))
        curve = sub(_curve(m, w, a, V_A, r), _curve(m, w, b, V_B, t))
        apart = sub(add(r, load3(w.body[m.body[a].root].origin)), add(t, load3(w.body[m.body[b].root].origin)))
    else:
        F_A, F_B = matmul(R_A, load9(bond.frame_a)), matmul(R_B, load9(bond.frame_b))
        u, A_A, A_B = (V_A[0] - V_B[0], V_A[1] - V_B[1], V_A[2] - V_B[2]), _bias(m, w, a), _bias(m, w, b)
        curve = (A_A[0] - A_B[0], A_A[1] - A_B[1], A_A[2] - A_B[2])
        if bond.kind == HINGE:
            p.mu[x] = HELD_TWO
            apart = cross((F_B[2], F_B[5], F_B[8]), (F_A[2], F_A[5], F_A[8]))
        else:
            F_B = (F_B[0], F_B[3], F_B[6], F_B[1], F_B[4], F_B[7], F_B[2], F_B[5], F_B[8])
            apart = _turn(matmul(F_A, F_B))
        # rows across the axis, and along it
        F_B = matmul(R_B, load9(bond.frame_b))
        store9(row.frame, (F_B[0], F_B[3], F_B[6], F_B[1], F_B[4], F_B[7], F_B[2], F_B[5], F_B[8]))
    fast = sqrt(dot(apart, apart)) / h
    apart = add(scale(1.0 / h if fast <= CLOSING else CLOSING / (fast * h), apart), scale(0.5 * h, curve))
    apart = mul(load9(row.frame), apart)
    u = mul(load9(row.frame), u)
    shift[i], shift[i + 1], shift[i + 2] = apart[0], apart[1], apart[2]
    p.q[i], p.q[i + 1], p.q[i + 2] = u[0] + apart[0], u[1] + apart[1], u[2] + apart[2]


@kernel(inline=True)
def _speed(V, r):
    return add((V[3], V[4], V[5]), cross((V[0], V[1], V[2]), r))


@kernel
def _bias(m, w, i):
    """J̇ v of a body as an acceleration about its tree's origin, from the velocities before the step."""
    A = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    while i != 0:
        A = add6(A, load6(w.body[i].product))
        i = m.body[i].parent
    return A


@kernel(inline=True)
def _curve(m, w, i, V, r):
    """κ of a place r of body i."""
    A = _bias(m, w, i)
    return add(_speed(A, r), cross((V[0], V[1], V[2]), _speed(V, r)))


@kernel
def _turn(R):
    """Rotation vector of a matrix, for turns well below π."""
    v = (0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1]))
    s = sqrt(dot(v, v))
    angle = atan2(s, 0.5 * (R[0] + R[4] + R[8] - 1.0))
    return scale(angle / s if s > 1e-12 else 1.0, v)
