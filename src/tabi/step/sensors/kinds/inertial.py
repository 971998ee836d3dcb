"""Inertial sensors: gyroscopes, accelerometers, both in one, and orientation.

Angular velocity and orientation are those of the end of the step, acceleration less gravity that
within it (``motion``), all in the sensor's axes.
"""

from tabi.jit import kernel
from tabi.spatial import quaternion
from tabi.spatial.vector import (
    add,
    add6,
    angular,
    cross,
    linear,
    load3,
    load6,
    load9,
    matmul,
    mul,
    mul_t,
    pair,
    scale,
)
from tabi.step.sensors.motion import momentum_correction


@kernel
def imu(t, d, s, i, h):
    """Measure angular velocity [rad/s] and acceleration less gravity [m/s²], or one of them."""
    row, value = t.sensors.row[i], d.memory.sensors.value
    measured = pair(_turn(t, d, s, row), _acceleration(t, d, s, row, h))
    for c in range(row.end - row.first):
        value[row.first + c].truth = measured[row.part + c]


@kernel
def gyro(t, d, s, i, h):
    """Measure the angular velocity [rad/s]."""
    row, value = t.sensors.row[i], d.memory.sensors.value
    turn = _turn(t, d, s, row)
    for c in range(row.end - row.first):
        value[row.first + c].truth = turn[c]


@kernel
def accelerometer(t, d, s, i, h):
    """Measure the acceleration less gravity [m/s²]."""
    row, value = t.sensors.row[i], d.memory.sensors.value
    measured = _acceleration(t, d, s, row, h)
    for c in range(row.end - row.first):
        value[row.first + c].truth = measured[c]


@kernel
def orientation(t, d, s, i, h):
    """Measure the quaternion of the sensor in the world."""
    row, value, w = t.sensors.row[i], d.memory.sensors.value, s.dynamics
    Q = quaternion.of_matrix(matmul(load9(w.body[row.body].rotation), load9(row.rotation)))
    for c in range(row.end - row.first):
        value[row.first + c].truth = Q[c]


@kernel
def _turn(t, d, s, row):
    """Return the angular velocity of a sensor, in its axes [rad/s]."""
    w = s.dynamics
    R = matmul(load9(w.body[row.body].rotation), load9(row.rotation))
    return mul_t(R, angular(load6(w.body[row.body].velocity)))


@kernel
def _acceleration(t, d, s, row, h):
    """Return the acceleration of a sensor less gravity, in its axes [m/s²]."""
    if row.sensed < 0:
        # on a link that is fixed to the world
        return mul_t(load9(row.rotation), scale(-1.0, load3(t.model.gravity)))
    motion = s.motion[row.sensed]
    A = add6(load6(motion.acceleration), momentum_correction(t, d, s, row.body, h))
    V, R = load6(motion.velocity), load9(motion.rotation)
    r = add(load3(motion.position), mul(R, load3(row.position)))
    v = add(linear(V), cross(angular(V), r))
    a = add(add(linear(A), cross(angular(A), r)), cross(angular(V), v))
    return mul_t(load9(row.rotation), mul_t(R, a))


MEASURE = {
    "imu": imu,
    "gyro": gyro,
    "accelerometer": accelerometer,
    "orientation": orientation,
}
