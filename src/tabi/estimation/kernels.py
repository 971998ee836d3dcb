"""The estimator's equations as kernels, numbered as in ``estimator``."""

from math import cos, exp, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.estimation.felt import FLAT, LOAD, MOVES, PLACE, POINT, TURNS, Felt, feel
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

# 1/s: no gain is larger at the start, where 1/t is: of the vertical, and of the bias
FASTEST_VERTICAL, FASTEST_BIAS = 2.0, 10.0
# of g: readings that differ so much from gravity in size tell nothing about its direction
DOUBTFUL = 0.2
# rad/s: limbs that turn faster between the IMU and a foot may make the ground under it give way, or
# turn the foot on it; 1: share of the gain of (6) then
STILL, MOVING = 0.05, 0.02
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
# of the estimate: when; how long the feet have told of gravity, and of the bias; 1 where it has
# begun, and where the IMU's velocity is known
CLOCK = np.dtype(
    [(name, float) for name in ("time", "stood", "still", "begun", "moving")], align=True
)


class EstimatorState(Structure):
    """What an estimator remembers, of a robot with f feet.

    Attributes:
        settings: of SETTINGS, shape (1,). clock: of CLOCK, shape (1,). g: gravity [m/s²].
        start: of the base as told, rotation row by row and place, shape (12,); ground: its height
            [m], shape (1,).
        R_WI, bias, n, imu_velocity: of (2) to (5).
        past_time, past: moments before, newest last, and the frames of the IMU and the feet then,
            shape (k, 1 + f, 18); past_count: how many there are, shape (1,).
        landed: place of each foot, shape (f, 3); has_landed: 1 where there is one.
        corner: of the soles in their frames, shape (f, ·, 2); corner_count: of each.
        share: of the load on each foot.
        base: rotation row by row, place, velocity, angular velocity, shape (18,).
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
    felt: Felt


@kernel
def estimate(m, e, time):
    """The estimate at a time [s], from the readings in ``e.felt``."""
    clock, felt = e.clock[0], e.felt
    dt = time - clock.time if clock.begun != 0.0 else 0.0
    if clock.begun != 0.0 and dt == 0.0:
        # the same moment again
        return
    feel(m, felt, dt)
    share_loads(e)
    gyro = mul(load9(felt.to_imu), load3(felt.gyro))
    if clock.begun == 0.0:
        begin(e, gyro)
    else:
        remember(e, time)
        turn(e, dt, gyro, e.past[0])
    clock.time, clock.begun = time, 1.0
    follow(e, dt, gyro)


@kernel
def share_loads(e):
    """Shares of the feet; those with little load have none."""
    s, total = e.settings[0], 0.0
    for k in range(e.share.shape[0]):
        e.share[k] = max(0.0, e.felt.pressed[k, LOAD] - s.least_load * s.weight)
        total += e.share[k]
    for k in range(e.share.shape[0]):
        e.share[k] = e.share[k] / total if total > 0.0 else 0.0


@kernel
def begin(e, gyro):
    """The base on the ground, leaning as the accelerometer says; all feet are at rest."""
    felt, s, f = e.felt, e.settings[0], load3(e.felt.acceleration)
    R, R_BI = load9(e.start), load9(felt.frame[0])
    size = sqrt(dot(f, f))
    if abs(size - s.g) < DOUBTFUL * s.g:
        R = matmul(turned_upright(scale(1.0 / size, mul(matmul(R, R_BI), f))), R)
    store9(e.R_WI, matmul(R, R_BI))
    told, count = (0.0, 0.0, 0.0), e.share.shape[0]
    for k in range(count):
        limb = sub(load3(felt.frame[0, TURNS:]), load3(felt.frame[1 + k, TURNS:]))
        told = add(told, scale(1.0 / count, mul_t(R_BI, limb)))
    store3(e.bias, sub(gyro, told))
    lowest = 1e300
    for k in range(count):
        for c in range(e.corner_count[k]):
            corner = (e.corner[k, c, 0], e.corner[k, c, 1], 0.0)
            p = add(load3(felt.frame[1 + k, PLACE:]), mul(load9(felt.frame[1 + k]), corner))
            lowest = min(lowest, mul(R, p)[2])
    p = (e.start[9], e.start[10], e.ground[0] - lowest)
    for k in range(count):
        store3(e.landed[k], add(p, mul(R, load3(felt.frame[1 + k, PLACE:]))))
        e.has_landed[k] = 1
    store9(e.base, R)
    store3(e.base[9:], p)
    store3(e.base[12:], (0.0, 0.0, 0.0))


@kernel
def turned_upright(a):
    """The smallest rotation that takes a unit vector to the vertical, row by row."""
    x, y, z = a
    if z < -1.0 + 1e-12:
        return (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)
    k = 1.0 / (1.0 + z)
    return (1.0 - k * x * x, -k * x * y, -x, -k * x * y, 1.0 - k * y * y, -y, x, y, z)


@kernel
def remember(e, time):
    """The limbs at this moment; the first of those that are kept is when the IMU measured."""
    if e.past_count[0] == e.past.shape[0]:
        forget(e, 1)
    count = e.past_count[0]
    e.past_time[count] = time
    for i in range(e.past.shape[1]):
        for c in range(e.past.shape[2]):
            e.past[count, i, c] = e.felt.frame[i, c]
    e.past_count[0] = count + 1
    drop, late = 0, time - e.settings[0].delay + 1e-9
    while drop < count and e.past_time[drop + 1] <= late:
        drop += 1
    if drop > 0:
        forget(e, drop)


@kernel
def forget(e, drop):
    """The oldest moments that are kept."""
    e.past_count[0] -= drop
    for k in range(e.past_count[0]):
        e.past_time[k] = e.past_time[k + drop]
        for i in range(e.past.shape[1]):
            for c in range(e.past.shape[2]):
                e.past[k, i, c] = e.past[k + drop, i, c]


@kernel
def turn(e, dt, gyro, frame):
    """Attitude and bias, (2) to (6), at the time of the IMU's sample, with limbs as then."""
    s, clock, felt = e.settings[0], e.clock[0], e.felt
    R, R_BI = load9(e.R_WI), load9(frame[0])
    R_WB = matmul(R, transposed(R_BI))
    omega = sub(gyro, load3(e.bias))
    spin, bias = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if find_gravity(e, dt, R_WB, omega, frame):
        clock.stood += dt
        n = load3(e.n)
        size = sqrt(dot(n, n))
        trust = max(0.0, 1.0 - abs(size - s.g) / (DOUBTFUL * s.g))
        tilt = scale(trust / size, cross(n, UP))
        spin = scale(at_first(s.gravity, clock.stood, FASTEST_VERTICAL), tilt)
        bias = scale(-s.bias, mul_t(R, tilt))
    for k in range(e.share.shape[0]):
        clock.still += dt * e.share[k]
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0:
            limb = sub(load3(frame[0, TURNS:]), load3(frame[1 + k, TURNS:]))
            turns = sub(omega, mul_t(R_BI, limb))
            flat = felt.pressed[k, FLAT] != 0.0
            gain = at_first(s.stance, clock.still, FASTEST_BIAS)
            if not flat or dot(limb, limb) > STILL * STILL:
                up = (R[6], R[7], R[8])
                turns, gain = scale(dot(up, turns), up), MOVING * s.stance
            bias = add(bias, scale(gain * e.share[k], turns))
            if flat:
                F = load9(frame[1 + k])
                normal = mul(R_WB, (F[2], F[5], F[8]))
                spin = add(spin, scale(s.level * e.share[k], cross(normal, UP)))
    R = matmul(matmul(rotation(scale(dt, spin)), R), rotation(scale(dt, omega)))
    store9(e.R_WI, orthogonal(R))
    store3(e.bias, add(load3(e.bias), scale(dt, bias)))


@kernel(inline=True)
def at_first(gain, time, fastest):
    """A gain that makes a mean of what was seen, while the time [s] of it is short."""
    return max(gain, min(fastest, 1.0 / time)) if time > 0.0 else max(gain, fastest)


@kernel
def find_gravity(e, dt, R_WB, omega, frame):
    """n of (5); whether a foot tells."""
    felt, v_B, stands = e.felt, (0.0, 0.0, 0.0), False
    w_B = sub(mul(load9(frame[0]), omega), load3(frame[0, TURNS:]))
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0:
            v_B = add(v_B, scale(e.share[k], base_velocity(w_B, frame[1 + k], felt.pressed[k])))
            stands = True
    v = add(add(v_B, cross(w_B, load3(frame[0, PLACE:]))), load3(frame[0, MOVES:]))
    v, before, known = mul(R_WB, v), load3(e.imu_velocity), e.clock[0].moving != 0.0
    store3(e.imu_velocity, v)
    e.clock[0].moving = 1.0 if stands else 0.0
    if not (stands and known):
        return False
    low = 1.0 - exp(-2.0 * pi * e.settings[0].bandwidth * dt)
    f = mul(load9(e.R_WI), load3(felt.acceleration))
    raw = sub(f, scale(1.0 / dt, sub(v, before)))
    store3(e.n, add(load3(e.n), scale(low, sub(raw, load3(e.n)))))
    return True


@kernel
def base_velocity(w_B, frame, pressed):
    """v_B of (4), in the base's axes, with the point of a foot that is at rest."""
    arm = mul(load9(frame), load3(pressed[POINT:]))
    r = add(load3(frame[PLACE:]), arm)
    moves = add(load3(frame[MOVES:]), cross(load3(frame[TURNS:]), arm))
    return scale(-1.0, add(cross(w_B, r), moves))


@kernel
def follow(e, dt, gyro):
    """(7) and what follows from it, now: the gyro takes the attitude from its sample to here."""
    felt, s = e.felt, e.settings[0]
    frame, omega = felt.frame, sub(gyro, load3(e.bias))
    R_WI = matmul(load9(e.R_WI), rotation(scale(s.delay, omega)))
    R_BI = load9(frame[0])
    R = matmul(R_WI, transposed(R_BI))
    w_B = sub(mul(R_BI, omega), load3(frame[0, TURNS:]))
    v, stands = (0.0, 0.0, 0.0), False
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0:
            here = base_velocity(w_B, frame[1 + k], felt.pressed[k])
            v, stands = add(v, scale(e.share[k], mul(R, here))), True
    if not stands:
        v = load3(e.base[12:])
        if dt > 0.0:
            fall = add(mul(R_WI, load3(felt.acceleration)), load3(e.g))
            v = add(v, scale(dt, fall))
    p = find_place(e, dt, add(load3(e.base[9:]), scale(dt, v)), R, w_B)
    c, w = load3(felt.centre), mul(R, w_B)
    store9(e.base, R)
    store3(e.base[9:], p)
    store3(e.base[12:], v)
    store3(e.base[15:], w)
    store3(e.centre, add(p, mul(R, c)))
    moves = add(cross(w_B, c), load3(felt.centre[3:]))
    store3(e.centre[3:], add(v, mul(R, moves)))


@kernel
def find_place(e, dt, p, R, w_B):
    """p_WB of (7), or p where no foot stood before; what lands is there from now on."""
    felt, told, total = e.felt, (0.0, 0.0, 0.0), 0.0
    for k in range(e.share.shape[0]):
        share, frame = e.share[k], felt.frame[1 + k]
        if share > 0.0 and e.has_landed[k] != 0:
            landed = load3(e.landed[k])
            if felt.pressed[k, FLAT] == 0.0:
                arm = mul(load9(frame), load3(felt.pressed[k, POINT:]))
                spin = add(w_B, load3(frame[TURNS:]))
                landed = sub(landed, scale(dt, mul(R, cross(spin, arm))))
                store3(e.landed[k], landed)
            told = add(told, scale(share, sub(landed, mul(R, load3(frame[PLACE:])))))
            total += share
    p = scale(1.0 / total, told) if total > 0.0 else p
    for k in range(e.share.shape[0]):
        if e.share[k] > 0.0 and e.has_landed[k] == 0:
            store3(e.landed[k], add(p, mul(R, load3(felt.frame[1 + k, PLACE:]))))
            e.has_landed[k] = 1
        # before the first step forces are not known: all feet are where they were put
        elif e.share[k] == 0.0 and dt > 0.0:
            e.has_landed[k] = 0
    return p


@kernel(inline=True)
def transposed(R):
    """Rᵀ, row by row."""
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@kernel
def rotation(phi):
    """The rotation by |phi| [rad] about phi, after Rodrigues, row by row."""
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
    """A product of many rotations slowly ceases to be one: a step of Newton's method mends it,
    1.5 R − 0.5 R Rᵀ R.
    """
    S = matmul(R, matmul(transposed(R), R))
    return (
        1.5 * R[0] - 0.5 * S[0], 1.5 * R[1] - 0.5 * S[1], 1.5 * R[2] - 0.5 * S[2],
        1.5 * R[3] - 0.5 * S[3], 1.5 * R[4] - 0.5 * S[4], 1.5 * R[5] - 0.5 * S[5],
        1.5 * R[6] - 0.5 * S[6], 1.5 * R[7] - 0.5 * S[7], 1.5 * R[8] - 0.5 * S[8],
    )  # fmt: skip
