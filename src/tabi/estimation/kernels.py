"""The estimator's equations as kernels, numbered as in ``estimator``."""

from math import cos, exp, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.estimation.body_state import (
    ANGULAR_VELOCITY,
    FLAT,
    LINEAR_VELOCITY,
    LOAD,
    POINT,
    POSITION,
    BodyState,
    update_body_state,
)
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial.vector import (
    add,
    cross,
    dot,
    load3,
    load9,
    matmul,
    mul,
    mul_t,
    scale,
    store3,
    store9,
    sub,
)

# largest gains at the start, where they are 1/t: of the vertical, and of the bias [1/s]
MAX_VERTICAL_GAIN, MAX_BIAS_GAIN = 2.0, 10.0
# share of g by which a reading may differ from gravity in size to measure its direction
GRAVITY_TOLERANCE = 0.2
# angular velocity between IMU and foot above which the foot may rotate on the ground, or with it
# [rad/s]; share of the gain of (6) that is then used
MAX_STILL_RATE, MOVING_SHARE = 0.05, 0.02
UP = (0.0, 0.0, 1.0)

SETTINGS = np.dtype(
    [
        (name, float)
        for name in (
            "gravity",
            "bias",
            "stance",
            "level",
            "bandwidth",
            "least_load",
            "weight",
            "g",
            "delay",
        )
    ],
    align=True,
)
# time of the estimate; time for which the feet have measured gravity, and the bias; 1 once started,
# and once the IMU's velocity is known
CLOCK = np.dtype(
    [
        (name, float)
        for name in ("time", "gravity_time", "bias_time", "has_started", "has_velocity")
    ],
    align=True,
)


class EstimatorState(Structure):
    """State of an estimator, of a robot with f feet.

    Attributes:
        settings: row of SETTINGS, shape (1,). clock: row of CLOCK, shape (1,). g: gravity [m/s²].
        start: specified pose of the base, rotation row by row and position, shape (12,); ground:
            its height [m], shape (1,).
        R_WI, bias, n, imu_velocity: of (2) to (5).
        past_time, past: times of past samples, newest last, and their frames of the IMU and the
            feet, shape (k, 1 + f, 18); past_count: number of samples, shape (1,).
        landed: position of each foot, shape (f, 3); has_landed: 1 where there is one.
        corner: of the soles in their frames, shape (f, ·, 2); corner_count: of each.
        share: of the load on each foot.
        base: rotation row by row, position, velocity, angular velocity, shape (18,).
        centre: of mass, and its velocity, shape (6,).
    """

    settings: NDArray[np.void]
    clock: NDArray[np.void]
    g: NDArray[np.float64]
    start: NDArray[np.float64]
    ground: NDArray[np.float64]
    R_WI: NDArray[np.float64]
    bias: NDArray[np.float64]
    n: NDArray[np.float64]
    imu_velocity: NDArray[np.float64]
    past_time: NDArray[np.float64]
    past: NDArray[np.float64]
    past_count: NDArray[np.int64]
    landed: NDArray[np.float64]
    has_landed: NDArray[np.int64]
    corner: NDArray[np.float64]
    corner_count: NDArray[np.int64]
    share: NDArray[np.float64]
    base: NDArray[np.float64]
    centre: NDArray[np.float64]
    body_state: BodyState


@kernel
def estimate(m, e, time):
    """Estimate the state at a time [s], from the readings in ``e.body_state``."""
    clock, body = e.clock[0], e.body_state
    dt = time - clock.time if clock.has_started != 0.0 else 0.0
    if clock.has_started != 0.0 and dt == 0.0:
        # same time as before
        return
    update_body_state(m, body, dt)
    share_loads(e)
    gyro = mul(load9(body.to_imu), load3(body.gyro))
    if clock.has_started == 0.0:
        initialise(e, gyro)
    else:
        store_sample(e, time)
        integrate_attitude(e, dt, gyro, e.past[0])
    clock.time, clock.has_started = time, 1.0
    update_base(e, dt, gyro)


@kernel
def share_loads(e):
    """Compute the load shares of the feet, 0 for those with little load."""
    s, total = e.settings[0], 0.0
    for k in range(e.share.shape[0]):
        e.share[k] = max(0.0, e.body_state.pressure[k, LOAD] - s.least_load * s.weight)
        total += e.share[k]
    for k in range(e.share.shape[0]):
        e.share[k] = e.share[k] / total if total > 0.0 else 0.0


@kernel
def initialise(e, gyro):
    """Initialise the base on the ground, with the tilt of the accelerometer; all feet are at
    rest.
    """
    body, s, f = e.body_state, e.settings[0], load3(e.body_state.acceleration)
    R, R_BI = load9(e.start), load9(body.frame[0])
    size = sqrt(dot(f, f))
    if abs(size - s.g) < GRAVITY_TOLERANCE * s.g:
        R = matmul(upright_rotation(scale(1.0 / size, mul(matmul(R, R_BI), f))), R)
    store9(e.R_WI, matmul(R, R_BI))
    predicted, count = (0.0, 0.0, 0.0), e.share.shape[0]
    for k in range(count):
        limb = sub(
            load3(body.frame[0, ANGULAR_VELOCITY:]), load3(body.frame[1 + k, ANGULAR_VELOCITY:])
        )
        predicted = add(predicted, scale(1.0 / count, mul_t(R_BI, limb)))
    store3(e.bias, sub(gyro, predicted))
    lowest = 1e300
    for k in range(count):
        for c in range(e.corner_count[k]):
            corner = (e.corner[k, c, 0], e.corner[k, c, 1], 0.0)
            p = add(load3(body.frame[1 + k, POSITION:]), mul(load9(body.frame[1 + k]), corner))
            lowest = min(lowest, mul(R, p)[2])
    p = (e.start[9], e.start[10], e.ground[0] - lowest)
    for k in range(count):
        store3(e.landed[k], add(p, mul(R, load3(body.frame[1 + k, POSITION:]))))
        e.has_landed[k] = 1
    store9(e.base, R)
    store3(e.base[9:], p)
    store3(e.base[12:], (0.0, 0.0, 0.0))


@kernel
def upright_rotation(a):
    """Return the smallest rotation that takes a unit vector to the vertical, row by row."""
    x, y, z = a
    if z < -1.0 + 1e-12:
        return (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)
    k = 1.0 / (1.0 + z)
    return (1.0 - k * x * x, -k * x * y, -x, -k * x * y, 1.0 - k * y * y, -y, x, y, z)


@kernel
def store_sample(e, time):
    """Store the limbs of this time; the oldest stored sample is that of the IMU's measurement."""
    if e.past_count[0] == e.past.shape[0]:
        drop_samples(e, 1)
    count = e.past_count[0]
    e.past_time[count] = time
    for i in range(e.past.shape[1]):
        for c in range(e.past.shape[2]):
            e.past[count, i, c] = e.body_state.frame[i, c]
    e.past_count[0] = count + 1
    drop, late = 0, time - e.settings[0].delay + 1e-9
    while drop < count and e.past_time[drop + 1] <= late:
        drop += 1
    if drop > 0:
        drop_samples(e, drop)


@kernel
def drop_samples(e, count):
    """Remove the oldest stored samples."""
    e.past_count[0] -= count
    for k in range(e.past_count[0]):
        e.past_time[k] = e.past_time[k + count]
        for i in range(e.past.shape[1]):
            for c in range(e.past.shape[2]):
                e.past[k, i, c] = e.past[k + count, i, c]


@kernel
def integrate_attitude(e, dt, gyro, frame):
    """Integrate attitude and bias, (2) to (6), at the time of the IMU's sample, with the limbs of
    that time.
    """
    s, clock, body = e.settings[0], e.clock[0], e.body_state
    R, R_BI = load9(e.R_WI), load9(frame[0])
    R_WB = matmul(R, transposed(R_BI))
    omega = sub(gyro, load3(e.bias))
    spin, bias = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if update_gravity(e, dt, R_WB, omega, frame):
        clock.gravity_time += dt
        n = load3(e.n)
        size = sqrt(dot(n, n))
        weight = max(0.0, 1.0 - abs(size - s.g) / (GRAVITY_TOLERANCE * s.g))
        tilt = scale(weight / size, cross(n, UP))
        spin = scale(initial_gain(s.gravity, clock.gravity_time, MAX_VERTICAL_GAIN), tilt)
        bias = scale(-s.bias, mul_t(R, tilt))
    for k in range(e.share.shape[0]):
        clock.bias_time += dt * e.share[k]
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0:
            limb = sub(load3(frame[0, ANGULAR_VELOCITY:]), load3(frame[1 + k, ANGULAR_VELOCITY:]))
            foot_rate = sub(omega, mul_t(R_BI, limb))
            flat = body.pressure[k, FLAT] != 0.0
            gain = initial_gain(s.stance, clock.bias_time, MAX_BIAS_GAIN)
            if not flat or dot(limb, limb) > MAX_STILL_RATE * MAX_STILL_RATE:
                up = (R[6], R[7], R[8])
                foot_rate, gain = scale(dot(up, foot_rate), up), MOVING_SHARE * s.stance
            bias = add(bias, scale(gain * e.share[k], foot_rate))
            if flat:
                F = load9(frame[1 + k])
                normal = mul(R_WB, (F[2], F[5], F[8]))
                spin = add(spin, scale(s.level * e.share[k], cross(normal, UP)))
    R = matmul(matmul(rotation(scale(dt, spin)), R), rotation(scale(dt, omega)))
    store9(e.R_WI, orthogonal(R))
    store3(e.bias, add(load3(e.bias), scale(dt, bias)))


@kernel(inline=True)
def initial_gain(gain, time, max_gain):
    """Return a gain that averages the readings while their time [s] is short."""
    return max(gain, min(max_gain, 1.0 / time)) if time > 0.0 else max(gain, max_gain)


@kernel
def update_gravity(e, dt, R_WB, omega, frame):
    """Update n of (5); return whether a stance foot measures it."""
    body, v_B, stands = e.body_state, (0.0, 0.0, 0.0), False
    w_B = sub(mul(load9(frame[0]), omega), load3(frame[0, ANGULAR_VELOCITY:]))
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0:
            v_B = add(v_B, scale(e.share[k], base_velocity(w_B, frame[1 + k], body.pressure[k])))
            stands = True
    v = add(add(v_B, cross(w_B, load3(frame[0, POSITION:]))), load3(frame[0, LINEAR_VELOCITY:]))
    v, before, known = mul(R_WB, v), load3(e.imu_velocity), e.clock[0].has_velocity != 0.0
    store3(e.imu_velocity, v)
    e.clock[0].has_velocity = 1.0 if stands else 0.0
    if not (stands and known):
        return False
    low = 1.0 - exp(-2.0 * pi * e.settings[0].bandwidth * dt)
    f = mul(load9(e.R_WI), load3(body.acceleration))
    raw = sub(f, scale(1.0 / dt, sub(v, before)))
    store3(e.n, add(load3(e.n), scale(low, sub(raw, load3(e.n)))))
    return True


@kernel
def base_velocity(w_B, frame, pressure):
    """Return v_B of (4), in the base's axes, from the point at rest of a foot."""
    arm = mul(load9(frame), load3(pressure[POINT:]))
    r = add(load3(frame[POSITION:]), arm)
    foot_velocity = add(load3(frame[LINEAR_VELOCITY:]), cross(load3(frame[ANGULAR_VELOCITY:]), arm))
    return scale(-1.0, add(cross(w_B, r), foot_velocity))


@kernel
def update_base(e, dt, gyro):
    """Compute base and centre of mass by (7) at the present time: the gyro integrates the attitude
    since its sample.
    """
    body, s = e.body_state, e.settings[0]
    frame, omega = body.frame, sub(gyro, load3(e.bias))
    R_WI = matmul(load9(e.R_WI), rotation(scale(s.delay, omega)))
    R_BI = load9(frame[0])
    R = matmul(R_WI, transposed(R_BI))
    w_B = sub(mul(R_BI, omega), load3(frame[0, ANGULAR_VELOCITY:]))
    v, stands = (0.0, 0.0, 0.0), False
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0:
            foot_velocity = base_velocity(w_B, frame[1 + k], body.pressure[k])
            v, stands = add(v, scale(e.share[k], mul(R, foot_velocity))), True
    if not stands:
        v = load3(e.base[12:])
        if dt > 0.0:
            acceleration = add(mul(R_WI, load3(body.acceleration)), load3(e.g))
            v = add(v, scale(dt, acceleration))
    p = base_position(e, dt, add(load3(e.base[9:]), scale(dt, v)), R, w_B)
    c, w = load3(body.centre), mul(R, w_B)
    store9(e.base, R)
    store3(e.base[9:], p)
    store3(e.base[12:], v)
    store3(e.base[15:], w)
    store3(e.centre, add(p, mul(R, c)))
    centre_velocity = add(cross(w_B, c), load3(body.centre[3:]))
    store3(e.centre[3:], add(v, mul(R, centre_velocity)))


@kernel
def base_position(e, dt, p, R, w_B):
    """Return p_WB of (7), or p without a previous stance foot; newly landed feet are placed
    here.
    """
    body, position, total = e.body_state, (0.0, 0.0, 0.0), 0.0
    for k in range(e.share.shape[0]):
        share, frame = e.share[k], body.frame[1 + k]
        if share > 0.0 and e.has_landed[k] != 0:
            landed = load3(e.landed[k])
            if body.pressure[k, FLAT] == 0.0:
                arm = mul(load9(frame), load3(body.pressure[k, POINT:]))
                spin = add(w_B, load3(frame[ANGULAR_VELOCITY:]))
                landed = sub(landed, scale(dt, mul(R, cross(spin, arm))))
                store3(e.landed[k], landed)
            position = add(position, scale(share, sub(landed, mul(R, load3(frame[POSITION:])))))
            total += share
    p = scale(1.0 / total, position) if total > 0.0 else p
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0 and e.has_landed[k] == 0:
            store3(e.landed[k], add(p, mul(R, load3(body.frame[1 + k, POSITION:]))))
            e.has_landed[k] = 1
        # before the first step forces are unknown: all feet keep their positions
        elif e.share[k] == 0.0 and dt > 0.0:
            e.has_landed[k] = 0
    return p


@kernel(inline=True)
def transposed(R):
    """Return Rᵀ, row by row."""
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@kernel
def rotation(phi):
    """Return the rotation by |phi| [rad] about phi, after Rodrigues, row by row."""
    x, y, z = phi
    angle = sqrt(x * x + y * y + z * z)
    a = sin(angle) / angle if angle > 1e-8 else 1.0
    b = (1.0 - cos(angle)) / (angle * angle) if angle > 1e-8 else 0.0
    return (
        1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y,
        b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x,
        b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y),
    )  # fmt: skip


@kernel
def orthogonal(R):
    """Orthonormalise a product of many rotations by a step of Newton's method, 1.5 R − 0.5 R
    Rᵀ R.
    """
    S = matmul(R, matmul(transposed(R), R))
    return (
        1.5 * R[0] - 0.5 * S[0], 1.5 * R[1] - 0.5 * S[1], 1.5 * R[2] - 0.5 * S[2],
        1.5 * R[3] - 0.5 * S[3], 1.5 * R[4] - 0.5 * S[4], 1.5 * R[5] - 0.5 * S[5],
        1.5 * R[6] - 0.5 * S[6], 1.5 * R[7] - 0.5 * S[7], 1.5 * R[8] - 0.5 * S[8],
    )  # fmt: skip
