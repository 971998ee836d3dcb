"""What sensors feel in a step: accelerations of bodies, wrenches across joints, contacts.

With a = (v⁺ − v)/h of the solved step, everything at the configuration it began with,

    A_i = A_p + c_i + S_i a_i,   A_world = (0, −g)                                              (1)
    F_i = I_i A_i + V_i ×* I_i V_i − E_i + Σ_children F_j                                       (2)
    accelerometer: the acceleration (1) at its place; force sensor: −F_i at its place           (3)
A: spatial acceleration less gravity; F_i: what the parent exerts on body i across its joint; E_i:
contacts, bonds and pushes on it. (3) is in the sensor's axes. An impact within a step is there with
its impulse over h.

A tree in flight keeps its momentum exactly (``free``): the velocity that gains is known after (3),
and shifts all accelerations of the tree by those of a rigid body,

    ΔA = S_base Δv/h,   ΔF_i = I_i^composite ΔA                                                 (4)

Gyroscopes, encoders and orientation are those of the end of the step. ``sampling`` makes readings
of all of these.

References: Featherstone (2008), ch. 5; Chardonnet (2012), sec. 5.1.
"""

from tabi.dynamics import free
from tabi.dynamics.kinematics import velocity_product
from tabi.dynamics.rnea import newton_euler
from tabi.jit import kernel
from tabi.model.arrays import FLOATING, PRISMATIC
from tabi.spatial import quaternion
from tabi.spatial.vector import (
    accumulate6,
    add,
    add6,
    angular,
    axpy6,
    cross,
    dot,
    linear,
    load3,
    load6,
    load9,
    matmul,
    mul,
    mul_t,
    pair,
    scale,
    store3,
    store6,
    store9,
    sub,
    sym_mul,
)
from tabi.step.parts import nothing as load
from tabi.step.parts import right as judge
from tabi.step.sensors import sampling
from tabi.step.sensors.tables import KIND
from tabi.step.tables import BONDS, CONTACTS, MOMENTS

__all__ = ["finish", "judge", "load"]

FORCE, IMU, GYRO, ACCELEROMETER = KIND["force"], KIND["imu"], KIND["gyro"], KIND["accelerometer"]
ORIENTATION, ENCODER, TORQUE = KIND["orientation"], KIND["encoder"], KIND["torque"]
EFFORT, TOUCH, SWITCH, PLATE = KIND["effort"], KIND["touch"], KIND["switch"], KIND["plate"]


# ---- within a step ------------------------------------------------------------------------------


@kernel(inline=True)
def finish(own, t, d, s, h):
    """Motion and forces of sensed bodies, where a sensor wants them in this step."""
    if t.sensors.body.shape[0] > 0 and _wanted(t, d):
        move(t, d, s, h, d.v, s.v_next)


@kernel
def _wanted(t, d):
    """Whether a sensor that feels motion takes a sample, or filters, in this step."""
    for i in range(t.sensors.row.shape[0]):
        row = t.sensors.row[i]
        if d.command.heard[i] != 0 and row.sensed >= 0:
            late = sampling.due(row, d.memory.sensors.sample[i].count, d.memory.clock[0])
            if late or row.bandwidth > 0.0:
                return True
    return False


@kernel(apart="none", rare=True)
def move(t, d, s, h, v, v_end):
    """Equations (1) and (2), from velocities before and after the step; the workspace holds the
    kinematics of its beginning.
    """
    m, w, sensed = t.model, s.dynamics, t.sensors.body
    up = (0.0, 0.0, 0.0, -m.gravity[0], -m.gravity[1], -m.gravity[2])
    for j in range(sensed.shape[0]):
        row, out, b = sensed[j], s.motion[j], sensed[j].body
        body, above = m.body[b], row.parent
        V_P = load6(s.motion[above].velocity) if above >= 0 else (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        A = load6(s.motion[above].acceleration) if above >= 0 else up
        V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for k in range(body.v_start, body.v_end):
            S = load6(w.dof[k].motion)
            V, A = axpy6(v[k], S, V), axpy6((v_end[k] - v[k]) / h, S, A)
        A = add6(A, velocity_product(body, w, v, V_P, V))
        V = add6(V_P, V)
        store9(out.rotation, load9(w.body[b].rotation))
        store3(out.position, load3(w.body[b].position))
        store6(out.velocity, V)
        store6(out.acceleration, A)
        if row.weighed != 0:
            _weigh(m, w, b, out, V, A)
    _take_outside(t, d, s, h)
    for j in range(sensed.shape[0] - 1, -1, -1):
        above = sensed[j].parent
        if sensed[j].weighed != 0 and above >= 0 and sensed[above].weighed != 0:
            _carry(s.motion[above], s.motion[j])


@kernel
def _weigh(m, w, b, out, V, A):
    """I A + V ×* I V of a body, and its inertia about the tree's origin."""
    mass, c, J = m.body[b].mass, load3(w.body[b].centre), load6(w.body[b].tensor)
    store6(out.force, newton_euler(mass, c, J, V, A))
    out.mass = mass
    store3(out.moment, scale(mass, c))
    x, y, z = c
    out.tensor[0], out.tensor[1] = J[0] + mass * (y * y + z * z), J[1] - mass * x * y
    out.tensor[2], out.tensor[3] = J[2] - mass * x * z, J[3] + mass * (x * x + z * z)
    out.tensor[4], out.tensor[5] = J[4] - mass * y * z, J[5] + mass * (x * x + y * y)


@kernel(inline=True)
def _carry(out, row):
    """What is beyond a joint, onto the body that carries it."""
    accumulate6(out.force, load6(row.force))
    accumulate6(out.tensor, load6(row.tensor))
    out.mass += row.mass
    store3(out.moment, add(load3(out.moment), load3(row.moment)))


@kernel
def _take_outside(t, d, s, h):
    """E of (2): impulses of the step over h, and pushes."""
    m, w, place = t.model, s.dynamics, t.sensors.place
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        if row.kind > BONDS:
            continue
        f = scale(-1.0 / h, load3(row.impulse))
        if dot(f, f) == 0.0:
            continue
        couple = row.kind == MOMENTS or (row.kind == BONDS and row.feature != 0)
        for side in range(2):
            b = row.a if side == 0 else row.b
            j = place[b]
            if j >= 0:
                own = f if side == 0 else scale(-1.0, f)
                r = sub(load3(row.position), load3(w.body[m.body[b].root].origin))
                zero = (0.0, 0.0, 0.0)
                F = pair(own, zero) if couple else pair(cross(r, own), own)
                accumulate6(s.motion[j].force, F)
    if d.command.pushed[0] > 0:
        for j in range(t.sensors.body.shape[0]):
            F = load6(d.command.wrench[t.sensors.body[j].body])
            if t.sensors.body[j].weighed != 0:
                store6(s.motion[j].force, axpy6(-1.0, F, load6(s.motion[j].force)))


# ---- after a step -------------------------------------------------------------------------------


@kernel(inline=True)
def sample(t, d, s, h):
    """True values of all sensors that are on, and their readings."""
    for i in range(t.sensors.row.shape[0]):
        if d.command.heard[i] != 0:
            _sample_one(t, d, s, i, h)


@kernel(apart="none", rare=True)
def _sample_one(t, d, s, i, h):
    sensors, memory = t.sensors, d.memory.sensors
    row = sensors.row[i]
    late = sampling.due(row, memory.sample[i].count, d.memory.clock[0])
    if late or row.bandwidth > 0.0:
        measure(t, d, s, i, h)
        sampling.filter_truth(row, memory, h)
    if late:
        sampling.take(sensors, memory, i)
    if late or row.delay > 0.0:
        sampling.tell(row, memory, i, d.memory.clock[0])


@kernel(apart="none")
def measure(t, d, s, i, h):
    """The true values of a sensor."""
    row, first = t.sensors.row[i], t.sensors.row[i].first
    kind, w, value, count = row.kind, s.dynamics, d.memory.sensors.value, row.end - row.first
    if kind in (FORCE, PLATE):
        F = _wrench(t, d, s, row, h) if kind == FORCE else _on_plate(t, d, i, h)
        for c in range(count):
            value[first + c].truth = F[row.part + c]
    elif kind in (IMU, ACCELEROMETER, GYRO):
        R = matmul(load9(w.body[row.body].rotation), load9(row.rotation))
        turn = mul_t(R, angular(load6(w.body[row.body].velocity)))
        felt = pair(turn, _acceleration(t, d, s, row, h) if kind != GYRO else turn)
        begin = 3 if kind == ACCELEROMETER else row.part
        for c in range(count):
            value[first + c].truth = felt[begin + c]
    elif kind == ORIENTATION:
        Q = quaternion.of_matrix(matmul(load9(w.body[row.body].rotation), load9(row.rotation)))
        for c in range(4):
            value[first + c].truth = Q[c]
    elif kind == ENCODER:
        if row.part == 0:
            value[first].truth = d.q[t.model.dof[row.dof].q]
        if row.part + count == 2:
            value[row.end - 1].truth = d.v[row.dof]
    elif kind == TORQUE:
        value[first].truth = _torque(t, d, s, row, h)
    elif kind == EFFORT:
        value[first].truth = d.outcome.effort[row.dof].motor
    elif kind == TOUCH:
        value[first].truth = _normal_force(d, row.body, h)
    elif kind == SWITCH:
        value[first].truth = 1.0 if _normal_force(d, row.body, h) > row.threshold else 0.0


@kernel
def _gained(t, d, s, b, h):
    """ΔA of (4) of the tree of body b."""
    base = t.model.body[t.model.body[b].root]
    zero = (0.0, 0.0, 0.0)
    if base.kind != FLOATING:
        return pair(zero, zero)
    k, R = base.v_start, load9(base.rotation)
    push = (d.v[k] - s.v_next[k], d.v[k + 1] - s.v_next[k + 1], d.v[k + 2] - s.v_next[k + 2])
    k += 3
    turn = (d.v[k] - s.v_next[k], d.v[k + 1] - s.v_next[k + 1], d.v[k + 2] - s.v_next[k + 2])
    return pair(scale(1.0 / h, mul(R, turn)), scale(1.0 / h, mul(R, push)))


@kernel
def _acceleration(t, d, s, row, h):
    """Of the place of a sensor, less gravity, in its axes."""
    if row.sensed < 0:
        # in what is fixed to the world
        return mul_t(load9(row.rotation), scale(-1.0, load3(t.model.gravity)))
    motion = s.motion[row.sensed]
    A = add6(load6(motion.acceleration), _gained(t, d, s, row.body, h))
    V, R = load6(motion.velocity), load9(motion.rotation)
    r = add(load3(motion.position), mul(R, load3(row.position)))
    v = add(linear(V), cross(angular(V), r))
    a = add(add(linear(A), cross(angular(A), r)), cross(angular(V), v))
    return mul_t(load9(row.rotation), mul_t(R, a))


@kernel
def _across(t, d, s, row, h):
    """F of (2), with (4)."""
    motion, A = s.motion[row.sensed], _gained(t, d, s, row.body, h)
    c, J, F = load3(motion.moment), load6(motion.tensor), load6(motion.force)
    f = add(scale(motion.mass, linear(A)), cross(angular(A), c))
    n = add(sym_mul(J, angular(A)), cross(c, linear(A)))
    return add6(F, pair(n, f))


@kernel
def _wrench(t, d, s, row, h):
    """Force and torque of the far side on the near one, in the sensor's axes at its place."""
    motion, F = s.motion[row.sensed], _across(t, d, s, row, h)
    R, f = load9(motion.rotation), scale(-1.0, linear(F))
    r = add(load3(motion.position), mul(R, load3(row.position)))
    n = sub(scale(-1.0, angular(F)), cross(r, f))
    E = load9(row.rotation)
    # force first, as the values of a force sensor
    return pair(mul_t(E, mul_t(R, f)), mul_t(E, mul_t(R, n)))


@kernel
def _torque(t, d, s, row, h):
    """What a joint transmits along its axis, z of its body."""
    motion, F = s.motion[row.sensed], _across(t, d, s, row, h)
    R, p, f = load9(motion.rotation), load3(motion.position), linear(F)
    z = (R[2], R[5], R[8])
    if t.model.body[row.body].kind == PRISMATIC:
        return dot(z, f)
    return dot(z, sub(angular(F), cross(p, f)))


@kernel
def _normal_force(d, body, h):
    """Of all contacts on a body."""
    total = 0.0
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        if row.kind == CONTACTS and (row.a == body or row.b == body):
            total += dot(load3(row.impulse), load3(row.normal))
    return total / h


@kernel
def _on_plate(t, d, i, h):
    """Force and torque of a plate on what touches it, at its origin in its axes."""
    plate, row = t.sensors.plate, t.sensors.row[i]
    f, n = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for e in range(d.memory.count[0]):
        touch = d.memory.contact[e]
        if touch.kind > MOMENTS or plate[touch.shape_b] != i:
            continue
        l = scale(1.0 / h, load3(touch.impulse))
        if touch.kind == CONTACTS:
            f = add(f, l)
            n = add(n, cross(sub(load3(touch.position), load3(row.position)), l))
        else:
            n = add(n, l)
    R = load9(row.rotation)
    return pair(mul_t(R, f), mul_t(R, n))


@kernel
def sample_again(t, d, s, h):
    """``sample`` of a step that was done in parts, from what they did together."""
    _move_again(t, d, s, h)
    sample(t, d, s, h)


@kernel
def _move_again(t, d, s, h):
    """``move`` of a step that is over."""
    m, w = t.model, s.dynamics
    for k in range(d.v.shape[0]):
        s.v_next[k] = d.v[k]
    free.prepare(m, d.outcome.q_before, d.outcome.v_before, w)
    if t.sensors.body.shape[0] > 0:
        move(t, d, s, h, d.outcome.v_before, d.v)
    free.prepare(m, d.q, d.v, w)


# ---- without a step -----------------------------------------------------------------------------


@kernel
def catch_up(t, d, s, h, anew):
    """Readings of the last step for sensors that nobody has listened to, which have no memory; or,
    anew, of all, as those of the first sample. Kinematics are those of the step's beginning after
    this.
    """
    _move_again(t, d, s, h)
    sensors, memory = t.sensors, d.memory.sensors
    for i in range(sensors.row.shape[0]):
        # anew those that are heard, else those that are not
        if sensors.row[i].end == sensors.row[i].first or anew != (d.command.heard[i] != 0):
            continue
        measure(t, d, s, i, h)
        sampling.begin(sensors, memory, i, d.memory.clock[0])
