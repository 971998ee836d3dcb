"""State of each foot after a step, for every law of contact.

From the points in which a foot meets other bodies, by their gaps at the end of the step, and from
the sum of their forces; never from the forces of single corners, which are not unique.

    wrench   f = Σ ±λ/h,   τ = Σ ±((p − p_F) × λ/h + λ_τ/h)                                     (1)
    pressure point, in the foot's frame:   x = −τ_y/f_z,   y = τ_x/f_z                          (2)
    state    none without a load; by where the pressure point is in the convex hull of the points
             that touch (gap < TOUCH_GAP_M): inside of it a face, on a side of it an edge. In a
             corner of it the load, which is not unique, does not say whether the other end of an
             edge rests
             beside it: an edge if it does, a vertex if it leaves                               (3)
    motion   slide where a point that touches moves and friction is used up; also where it moves
             fast and the force is no evidence, as it turns on the spot or a pyramid's facet is
             reached; not on springs, which creep under any load                                (4)
    signal   on after DEBOUNCE_S with more than ON_LOAD_SHARE of the robot's weight on the foot,
             off after as long with less than OFF_LOAD_SHARE
             (5)
    margin   distance of the pressure point from the edge of the sole, negative outside         (6)

A part of every step: it adds no force, and is evaluated after the step.
"""

from tabi.dynamics import loads
from tabi.jit import kernel
from tabi.recording.foot_words import EDGE, FACE, NONE, SLIDES, VERTEX
from tabi.spatial.vector import add, cross, dot, load3, load9, mul, mul_t, scale, store3, sub
from tabi.step.parts import no_action as load
from tabi.step.parts import no_judge as judge
from tabi.step.rows.contacts import SPRINGS
from tabi.step.tables import CONTACTS, MOMENTS

__all__ = ["finish", "judge", "load"]

# points with a smaller gap touch; a pressure point nearer to a side of their hull is on it [m]
TOUCH_GAP_M, EDGE_DISTANCE_M = 1e-5, 1e-5
# speed of a point that moves, and of one that moves fast [m/s]; share of the friction limit from
# which on friction is used up
MIN_SLIP_SPEED, FAST_SLIP_SPEED, FULL_FRICTION_SHARE = 1e-5, 1e-3, 0.999
# speed at which a point above its plane lifts off [m/s]: ten times the usual tolerance
LIFT_OFF_SPEED = 1e-7
# of (5): time [s], shares of the weight
DEBOUNCE_S, ON_LOAD_SHARE, OFF_LOAD_SHARE = 5e-3, 0.02, 0.01


# ---- after a step -------------------------------------------------------------------------------


@kernel(inline=True)
def finish(part_memory, t, d, s, h):
    """Update all feet after a step."""
    d.memory.clock[0] += h
    for k in range(t.foot.shape[0]):
        if t.foot[k].body > 0:
            update_foot(t, d, s, k, h)


@kernel
def update_foot(t, d, s, k, h):
    """Update the foot k by equations (1) to (6)."""
    sole, foot, w, m = t.foot[k], d.memory.foot[k], s.dynamics, t.model
    body = w.body[sole.body]
    turn, before = load9(body.rotation), foot.state
    origin = load3(w.body[m.body[sole.body].root].origin)
    origin = add(origin, add(load3(body.position), mul(turn, load3(sole.position))))
    force, torque, normal = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    touching, slip, friction, springs = 0, 0.0, 0.0, False
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        if row.kind > MOMENTS or (row.a != sole.body and row.b != sole.body):
            continue
        sign = 1.0 if row.a == sole.body else -1.0
        l, n = scale(sign / h, load3(row.impulse)), load3(row.normal)
        if row.kind != CONTACTS:
            torque = add(torque, l)
            continue
        r = sub(load3(row.position), origin)
        force, torque = add(force, l), add(torque, cross(r, l))
        v = load3(row.velocity)
        away = dot(n, v)
        if row.gap + h * away > TOUCH_GAP_M:
            continue
        # it touches: position in the foot's frame
        r = mul_t(load9(sole.rotation), mul_t(turn, r))
        s.foot_x[touching], s.foot_y[touching] = r[0], r[1]
        touching += 1
        normal = add(normal, scale(sign, n))
        v = sub(v, scale(away, n))
        slip = max(slip, dot(v, v))
        shape = t.shapes.shape
        pair = t.pair[shape[row.shape_a].material, shape[row.shape_b].material]
        friction = max(friction, pair.friction)
        springs = springs or s.soft[e] == SPRINGS
    store3(foot.force, force)
    store3(foot.torque, torque)
    store3(foot.local_force, mul_t(load9(sole.rotation), mul_t(turn, force)))
    store3(foot.local_torque, mul_t(load9(sole.rotation), mul_t(turn, torque)))
    _store_support_forces(foot, normal, slip**0.5, friction, force)
    _store_pressure(t, d, s, k, touching, springs)
    if foot.state % SLIDES == VERTEX:
        # the points that stay instead of all that touch
        staying = _gather_staying(d, s, sole, origin, turn, h)
        if staying > 0:
            foot.state += min(_dimension(s, staying), EDGE) - VERTEX
    _update_switch(sole, foot, h)
    out = d.outcome
    if foot.state != before:
        if out.event_count[0] < out.event.shape[0]:
            event = out.event[out.event_count[0]]
            event.time, event.foot = d.memory.clock[0], k
            event.before, event.after = before, foot.state
        out.event_count[0] += 1


@kernel(inline=True)
def _store_support_forces(foot, normal, slip, friction, force):
    """Store normal and tangential force of a support, from the sum of its normals."""
    size = dot(normal, normal) ** 0.5
    normal = scale(1.0 / size, normal) if size > 0.0 else (0.0, 0.0, 0.0)
    store3(foot.normal, normal)
    foot.normal_force, foot.slip, foot.friction = dot(normal, force), slip, friction
    along = sub(force, scale(foot.normal_force, normal))
    foot.tangential_force = dot(along, along) ** 0.5


@kernel(inline=True)
def _gather_staying(d, s, sole, origin, turn, h):
    """Store positions, in the foot's frame, of points that touch and stay; returns their number."""
    count = 0
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        if row.kind != CONTACTS or (row.a != sole.body and row.b != sole.body):
            continue
        away = dot(load3(row.normal), load3(row.velocity))
        gap = row.gap + h * away
        if gap <= TOUCH_GAP_M and not (gap > 0.0 and away > LIFT_OFF_SPEED):
            r = sub(load3(row.position), origin)
            r = mul_t(load9(sole.rotation), mul_t(turn, r))
            s.foot_x[count], s.foot_y[count] = r[0], r[1]
            count += 1
    return count


@kernel
def _dimension(s, n):
    """Return whether n points are a vertex, an edge or a face, within EDGE_DISTANCE_M."""
    x, y, far, across = s.foot_x, s.foot_y, 0, 0.0
    for i in range(1, n):
        if _squared_norm(x[i] - x[0], y[i] - y[0]) > _squared_norm(x[far] - x[0], y[far] - y[0]):
            far = i
    ux, uy = x[far] - x[0], y[far] - y[0]
    length = _squared_norm(ux, uy)
    if length <= EDGE_DISTANCE_M * EDGE_DISTANCE_M:
        return VERTEX
    for i in range(1, n):
        across = max(across, abs(ux * (y[i] - y[0]) - uy * (x[i] - x[0])))
    return FACE if across > EDGE_DISTANCE_M * length**0.5 else EDGE


@kernel(inline=True)
def _squared_norm(x, y):
    return x * x + y * y


@kernel(inline=True)
def _store_pressure(t, d, s, k, touching, springs):
    """Store pressure point, margin and state, as far as forces determine them."""
    sole, foot = t.foot[k], d.memory.foot[k]
    fz = foot.local_force[2]
    foot.state, foot.margin = NONE, 0.0
    foot.pressure[0], foot.pressure[1] = 0.0, 0.0
    if not (foot.normal_force > 0.0 and fz > 0.0 and touching > 0):
        return
    x, y = loads.centre_of_pressure(load3(foot.local_force), load3(foot.local_torque))
    foot.pressure[0], foot.pressure[1] = x, y
    foot.margin = margin(t.corner, sole.first, sole.end, x, y)
    foot.state = _hull_state(s, touching, x, y)
    used = foot.tangential_force >= FULL_FRICTION_SHARE * foot.friction * foot.normal_force
    if (foot.slip > MIN_SLIP_SPEED and used) or (foot.slip > FAST_SLIP_SPEED and not springs):
        foot.state += SLIDES


@kernel
def margin(corner, first, end, x, y):
    """Return the signed distance [m] of a point from the nearest edge of a convex polygon,
    anticlockwise; outside of it minus its distance from the polygon.
    """
    least = 0.0
    for i in range(first, end):
        j = i + 1 if i + 1 < end else first
        ux, uy = corner[j, 0] - corner[i, 0], corner[j, 1] - corner[i, 1]
        depth = ux * (y - corner[i, 1]) - uy * (x - corner[i, 0])
        depth /= (ux * ux + uy * uy) ** 0.5
        if i == first or depth < least:
            least = depth
    return least if least >= 0.0 else -_distance(corner, first, end, x, y)


@kernel
def _distance(corner, first, end, x, y):
    """Return the distance of a point from the sides of a polygon [m]."""
    nearest = -1.0
    for i in range(first, end):
        j = i + 1 if i + 1 < end else first
        ux, uy = corner[j, 0] - corner[i, 0], corner[j, 1] - corner[i, 1]
        rx, ry = x - corner[i, 0], y - corner[i, 1]
        part = min(max((rx * ux + ry * uy) / (ux * ux + uy * uy), 0.0), 1.0)
        dx, dy = rx - part * ux, ry - part * uy
        away = dx * dx + dy * dy
        if nearest < 0.0 or away < nearest:
            nearest = away
    return nearest**0.5


@kernel
def _hull_state(s, n, px, py):
    """Return the state by the place of a point in the hull of the points that touch.

    The hull is traversed from its lowest point on (Jarvis), in as many iterations as it has
    corners.
    """
    x, y, start = s.foot_x, s.foot_y, 0
    for i in range(1, n):
        if y[i] < y[start] or (y[i] == y[start] and x[i] < x[start]):
            start = i
    here, there, sides, corners, area = start, -1, 0, 0, 0.0
    for _ in range(n):
        there = -1
        for i in range(n):
            ux, uy = x[i] - x[here], y[i] - y[here]
            if ux * ux + uy * uy <= EDGE_DISTANCE_M * EDGE_DISTANCE_M:
                continue
            if there >= 0:
                vx, vy = x[there] - x[here], y[there] - y[here]
                turn = vx * uy - vy * ux
                u, v = ux * ux + uy * uy, vx * vx + vy * vy
                tolerance = 1e-9 * max(u, v)
                if turn > tolerance or (turn > -tolerance and u <= v):
                    continue
            there = i
        if there < 0:
            break
        ux, uy, rx, ry = x[there] - x[here], y[there] - y[here], px - x[here], py - y[here]
        size = (ux * ux + uy * uy) ** 0.5
        area += (x[here] - x[start]) * uy - (y[here] - y[start]) * ux
        sides += ux * ry - uy * rx <= EDGE_DISTANCE_M * size
        corners += rx * rx + ry * ry <= EDGE_DISTANCE_M * EDGE_DISTANCE_M
        here = there
        if here == start:
            break
    flat = area > EDGE_DISTANCE_M * EDGE_DISTANCE_M
    if there < 0:
        # one point; the load of a soft sole may be elsewhere
        dx, dy = px - x[start], py - y[start]
        return VERTEX if dx * dx + dy * dy <= EDGE_DISTANCE_M * EDGE_DISTANCE_M else FACE
    if corners > 0 or (flat and sides > 1):
        return VERTEX
    # a line has two sides, and a pressure point on it is on both
    return EDGE if sides == (1 if flat else 2) else FACE


@kernel(inline=True)
def _update_switch(sole, foot, h):
    """Update the contact switch of a foot by (5)."""
    limit = OFF_LOAD_SHARE if foot.signal == 1 else ON_LOAD_SHARE
    loaded = 1 if foot.normal_force > limit * sole.weight else 0
    foot.since = foot.since + h if loaded != foot.signal else 0.0
    if foot.since >= DEBOUNCE_S - 1e-9:
        foot.signal, foot.since = loaded, 0.0
