"""Errors of tasks, and their derivatives with respect to the joints.

With p, R the place and rotation of a frame on a body, c a centre of mass, t the target:

    position:     e = p_t − p                                                                  (1)
    orientation:  e = log(R_t Rᵀ), the rotation vector to the target                           (2)
    centre:       e = c_t − c,   c = Σ m_i c_i / Σ m_i                                         (3)
    gaze:         e = (θ/ρ) (x, y),   (x, y, z) = Rᵀ(t − p),  ρ² = x² + y²,  θ = atan2(ρ, z)   (4)
    posture:      e = q_t − q, and (2) of the quaternions of spherical joints                  (5)
in the world's axes; of (4), z along the axis that looks and θ the angle [rad] it is off. B is the
derivative −∂e/∂q: B x = e is what a step x is asked for. A column S = (s, s_o) of a joint moves a
point at r by s_o + s × r and turns its body by s, so that

    (1), (3): s_o + s × r      (2): J_r⁻¹(e) s,  J_r⁻¹ s = s + ½ e × s + κ e × (e × s),
    κ = (1 − (θ/2) cot(θ/2))/θ²,  θ = |e|                                                      (6)
and of (4) by the chain rule, as the point of the body that is at t moves. Of a joint that others
follow the columns of these are added, times their ratios.

References: Solà, Deray, Atchuthan, A micro Lie theory for state estimation in robotics (2018), of
(6); Chaumette and Hutchinson, Visual servo control (2006), of features like (4).
"""

from math import atan2, pi, sqrt, tan

from tabi.control.inverse_kinematics.tables import CENTRE, GAZE, ORIENTATION, POSITION
from tabi.jit import kernel
from tabi.spatial import quaternion
from tabi.spatial.vector import (
    add,
    angular,
    cross,
    dot,
    linear,
    load3,
    load6,
    load9,
    matmul,
    mul,
    scale,
    store3,
    sub,
)


@kernel
def errors(m, w, q, t, e):
    """Compute weighted e of (1) to (5), and the norm of each block's own error; needs the bodies'
    positions.
    """
    for b in range(t.block.shape[0]):
        block = t.block[b]
        if block.kind == POSITION or block.kind == GAZE:
            error = sub(load3(block.target), _place(m, w, block))
            if block.kind == GAZE:
                error = _gaze(mul(_looking(w, block), error))
        elif block.kind == ORIENTATION:
            error = rotation_vector(
                load9(block.target_rotation),
                matmul(load9(w.body[block.body].rotation), load9(block.rotation)),
            )
            store3(block.seen, error)
        elif block.kind == CENTRE:
            error = sub(load3(block.target), _centre(m, w, block.body))
        else:
            _posture(m, q, t, block, e)
            continue
        _put(block, error, e, block.row)
        block.error = _size(block, error)


@kernel(inline=True)
def _put(block, error, e, row):
    """Write the weighted numbers of an error to its rows."""
    s = block.scale
    e[row], e[row + 1], e[row + 2] = s[0] * error[0], s[1] * error[1], s[2] * error[2]


@kernel(inline=True)
def _size(block, error):
    """Return the norm of an error along its weighted axes."""
    s, square = block.scale, 0.0
    square += error[0] * error[0] if s[0] > 0.0 else 0.0
    square += error[1] * error[1] if s[1] > 0.0 else 0.0
    square += error[2] * error[2] if s[2] > 0.0 else 0.0
    return sqrt(square)


@kernel
def rotation_vector(R_t, R):
    """Return the rotation vector (2) between rotations given row by row."""
    turn = matmul(R_t, (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]))
    return _log(quaternion.of_matrix(turn))


@kernel
def _log(Q):
    """Return the rotation vector of a unit quaternion."""
    v = (Q[1], Q[2], Q[3]) if Q[0] >= 0.0 else (-Q[1], -Q[2], -Q[3])
    sine = sqrt(dot(v, v))
    if sine < 1e-12:
        return scale(2.0, v)
    return scale(2.0 * atan2(sine, abs(Q[0])) / sine, v)


@kernel
def _place(m, w, block):
    """Return a block's frame in the world."""
    body = w.body[block.body]
    p = add(load3(body.position), mul(load9(body.rotation), load3(block.place)))
    return add(p, load3(w.body[m.body[block.body].root].origin))


@kernel
def _looking(w, block):
    """Return Rᵀ of (4): rows are the axes x, y and z in the world."""
    R, a = load9(w.body[block.body].rotation), load9(block.rotation)
    x, y = mul(R, (a[0], a[1], a[2])), mul(R, (a[3], a[4], a[5]))
    z = mul(R, (a[6], a[7], a[8]))
    return (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@kernel
def _gaze(d):
    """Return the error (4), with a third number of zero."""
    rho = sqrt(d[0] * d[0] + d[1] * d[1])
    if rho < 1e-12 * abs(d[2]) or rho == 0.0:
        # straight away: any way round is as good
        if d[2] < 0.0:
            return (pi, 0.0, 0.0)
        return (d[0] / d[2], d[1] / d[2], 0.0) if d[2] > 0.0 else (0.0, 0.0, 0.0)
    f = atan2(rho, d[2]) / rho
    return (f * d[0], f * d[1], 0.0)


@kernel
def _centre(m, w, root):
    """Return the centre of mass c of (3), of one tree or of all."""
    mass, first = 0.0, (0.0, 0.0, 0.0)
    for i in range(1, m.body.shape[0]):
        if root == 0 or m.body[i].root == root:
            mass += m.body[i].mass
            c = add(load3(w.body[i].centre), load3(w.body[m.body[i].root].origin))
            first = add(first, scale(m.body[i].mass, c))
    return scale(1.0 / mass, first)


@kernel
def _posture(m, q, t, block, e):
    """Compute the posture error of equation (5)."""
    target, row, size = t.postures[block.posture], block.row, 0.0
    end = row + block.count
    while row < end:
        k = t.posture_dof[row]
        at = m.dof[k].q
        if at >= 0:
            error = target[at] - q[at]
            e[row] = block.scale[0] * error
            size += error * error
            row += 1
        else:
            phi = _turn_to(target, q, -2 - t.posture_dof[row + 1])
            size += dot(phi, phi)
            store3(e[row : row + 3], scale(block.scale[0], phi))
            row += 3
    block.error = sqrt(size)


@kernel
def _turn_to(target, q, i):
    """Return the rotation vector between two quaternions that begin at i."""
    here = (q[i], -q[i + 1], -q[i + 2], -q[i + 3])
    there = (target[i], target[i + 1], target[i + 2], target[i + 3])
    return _log(quaternion.product(there, here))


# ---- derivatives --------------------------------------------------------------------------------


@kernel
def rows(m, w, q, t, levels):
    """Compute B of the first levels, for the configuration of ``errors``, with followers
    folded in.
    """
    for f in range(t.fold.shape[0]):
        for i in range(t.B.shape[1]):
            t.B[t.fold[f].leader, i] = 0.0
    for b in range(t.block.shape[0]):
        block = t.block[b]
        if block.level >= levels:
            break
        if block.kind == CENTRE:
            _centre_rows(m, w, t, block)
        elif block.kind == POSITION or block.kind == ORIENTATION or block.kind == GAZE:
            _body_rows(m, w, t, block)
        else:
            _posture_rows(m, q, t, block)
    for f in range(t.fold.shape[0]):
        fold = t.fold[f]
        for i in range(t.B.shape[1]):
            t.B[fold.leader, i] += fold.ratio * t.B[fold.follower, i]


@kernel
def _body_rows(m, w, t, block):
    """Compute the rows of (1), (2) and (4)."""
    origin = load3(w.body[m.body[block.body].root].origin)
    R, r, e, f, g = _looking(w, block), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)
    if block.kind == POSITION:
        r = sub(_place(m, w, block), origin)
    elif block.kind == GAZE:
        r = sub(load3(block.target), origin)
        e = mul(R, sub(load3(block.target), _place(m, w, block)))
        f, g = _gaze_slopes(e)
    else:
        e = load3(block.seen)
        f = _curl(dot(e, e))
    i = block.body
    while i != 0:
        for k in range(m.body[i].v_start, m.body[i].v_end):
            S = load6(w.dof[k].motion)
            if block.kind == ORIENTATION:
                s = angular(S)
                u = cross(e, s)
                d = add(add(s, scale(0.5, u)), scale(f, cross(e, u)))
            else:
                d = add(linear(S), cross(angular(S), r))
                if block.kind == GAZE:
                    d = mul(R, d)
                    change = dot(g, d)
                    d = (f * d[0] + e[0] * change, f * d[1] + e[1] * change, 0.0)
            _put(block, d, t.B[k], block.row)
        i = m.body[i].parent


@kernel
def _curl(square):
    """Return κ of (6) as a function of θ²."""
    if square < 1e-4:
        return 1.0 / 12.0 + square / 720.0
    half = 0.5 * sqrt(square)
    return (1.0 - half / tan(half)) / square


@kernel
def _gaze_slopes(d):
    """Return f = θ/ρ of (4), and its gradient by x, y, z; by their series for small ρ."""
    rho2, all2 = d[0] * d[0] + d[1] * d[1], dot(d, d)
    if rho2 < 1e-6 * all2 and d[2] > 0.0:
        s = rho2 / (d[2] * d[2])
        f = (1.0 - s / 3.0 + 0.2 * s * s) / d[2]
        slope = (-2.0 / 3.0 + 0.8 * s) / (d[2] * d[2] * d[2])
    else:
        rho = sqrt(rho2) if rho2 > 1e-24 * all2 else 1e-12 * sqrt(all2)
        f = atan2(rho, d[2]) / rho
        # (df/dρ)/ρ
        slope = (d[2] / all2 - f) / (rho * rho)
    return f, (slope * d[0], slope * d[1], -1.0 / all2)


@kernel
def _centre_rows(m, w, t, block):
    """Compute the rows of (3), from the mass that each joint carries."""
    mass = 0.0
    for i in range(m.body.shape[0]):
        t.share[i] = 0.0
        store3(t.first[i], (0.0, 0.0, 0.0))
        if i > 0 and (block.body == 0 or m.body[i].root == block.body):
            mass += m.body[i].mass
    for i in range(m.body.shape[0] - 1, 0, -1):
        body = m.body[i]
        if block.body != 0 and body.root != block.body:
            continue
        t.share[i] += body.mass / mass
        first = add(load3(t.first[i]), scale(body.mass / mass, load3(w.body[i].centre)))
        store3(t.first[i], first)
        if body.parent != 0:
            t.share[body.parent] += t.share[i]
            store3(t.first[body.parent], add(load3(t.first[body.parent]), first))
        for k in range(body.v_start, body.v_end):
            S = load6(w.dof[k].motion)
            d = add(scale(t.share[i], linear(S)), cross(angular(S), first))
            _put(block, d, t.B[k], block.row)


@kernel
def _posture_rows(m, q, t, block):
    """Compute the posture error of equation (5)."""
    target, row = t.postures[block.posture], block.row
    end = row + block.count
    while row < end:
        k = t.posture_dof[row]
        if m.dof[k].q >= 0:
            t.B[k, row] = block.scale[0]
            row += 1
            continue
        e = _turn_to(target, q, -2 - t.posture_dof[row + 1])
        f = _curl(dot(e, e))
        for j in range(3):
            s = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            u = cross(e, s)
            d = add(add(s, scale(0.5, u)), scale(f, cross(e, u)))
            store3(t.B[k + j, row : row + 3], scale(block.scale[0], d))
        row += 3
