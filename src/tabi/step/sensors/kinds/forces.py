"""Force sensors, force plates, touch sensors and contact switches."""

from tabi.jit import kernel
from tabi.spatial.vector import (
    add,
    angular,
    cross,
    dot,
    linear,
    load3,
    load9,
    mul,
    mul_t,
    pair,
    scale,
    sub,
)
from tabi.step.sensors.motion import joint_wrench
from tabi.step.tables import CONTACTS, MOMENTS


@kernel
def force(t, d, s, i, h):
    """Measure force and torque of the far side on the near one [N, N·m], or one of them."""
    row, value = t.sensors.row[i], d.memory.sensors.value
    F = _wrench(t, d, s, row, h)
    for c in range(row.end - row.first):
        value[row.first + c].truth = F[row.part + c]


@kernel
def plate(t, d, s, i, h):
    """Measure force and torque of a plate on bodies that touch it [N, N·m], or one of them."""
    row, value = t.sensors.row[i], d.memory.sensors.value
    F = _on_plate(t, d, i, h)
    for c in range(row.end - row.first):
        value[row.first + c].truth = F[row.part + c]


@kernel
def touch(t, d, s, i, h):
    """Measure the normal force of all contacts on a body [N]."""
    row = t.sensors.row[i]
    d.memory.sensors.value[row.first].truth = _normal_force(d, row.body, h)


@kernel
def switch(t, d, s, i, h):
    """Measure 1 while the normal force is above the threshold, else 0."""
    row = t.sensors.row[i]
    on = _normal_force(d, row.body, h) > row.threshold
    d.memory.sensors.value[row.first].truth = 1.0 if on else 0.0


@kernel
def _wrench(t, d, s, row, h):
    """Return force and torque of the far side on the near one, in the sensor's frame [N, N·m]."""
    motion, F = s.motion[row.sensed], joint_wrench(t, d, s, row, h)
    R, f = load9(motion.rotation), scale(-1.0, linear(F))
    r = add(load3(motion.position), mul(R, load3(row.position)))
    n = sub(scale(-1.0, angular(F)), cross(r, f))
    E = load9(row.rotation)
    # force first, as the values of a force sensor
    return pair(mul_t(E, mul_t(R, f)), mul_t(E, mul_t(R, n)))


@kernel
def _normal_force(d, body, h):
    """Return the normal force of all contacts on a body [N]."""
    total = 0.0
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        if row.kind == CONTACTS and (row.a == body or row.b == body):
            total += dot(load3(row.impulse), load3(row.normal))
    return total / h


@kernel
def _on_plate(t, d, i, h):
    """Return force and torque of a plate on bodies that touch it, in its frame [N, N·m]."""
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


MEASURE = {"force": force, "plate": plate, "touch": touch, "switch": switch}
