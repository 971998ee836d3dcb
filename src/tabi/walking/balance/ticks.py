"""One tick of a walk as a kernel: the joint commands until the next tick.

Motors are commanded the position at the next tick, the velocity to reach it, and the efforts of the
pattern: position loops alone would lag behind.
"""

import numpy as np
from numpy.typing import NDArray

from tabi.estimation.kernels import EstimatorState, estimate
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import ModelArrays
from tabi.model.controllers.pilot import EFFORT, POSITION, VELOCITY, Channel
from tabi.walking.balance.halt import hold_reference, must_halt
from tabi.walking.balance.stabiliser import stabilise
from tabi.walking.balance.stabiliser_tables import StabiliserLoop

# a tick may come early by this share of a period, as clocks of real robots are not exact
EARLY_TICK_SHARE = 0.25
# cosine of the inclination beyond which a robot has fallen: 60°
FALLEN_COSINE = 0.5
# bits of position, velocity and effort commands
COMMAND_MASK = 1 << POSITION | 1 << VELOCITY | 1 << EFFORT


class Progress(Structure):
    """Progress of a walk along its reference.

    Attributes:
        start: time of the first tick [s]; infinite before it. tick: last commanded tick, counted on
            beyond the end of the pattern; −1 before the first. period: of ticks [s]. span: time
            from the previous commanded tick [s]. All of shape (1,).
        position, effort: of the pattern, in the order of commands, shape (ticks, n).
        last: last commanded positions.
        bounds: of each joint: lower and upper position limit, velocity and effort limit of its
            motor, shape (n, 4).
        up: the vertical in the frame of the base, as the robot stands, shape (3,).
        fell: tick at which the fall was detected, −1 before, shape (1,).
    """

    start: NDArray[np.float64]
    tick: NDArray[np.int64]
    period: NDArray[np.float64]
    span: NDArray[np.float64]
    position: NDArray[np.float64]
    effort: NDArray[np.float64]
    last: NDArray[np.float64]
    bounds: NDArray[np.float64]
    up: NDArray[np.float64]
    fell: NDArray[np.int64]


class PlannedWalk(Structure):
    """A walk that follows its pattern without feedback."""

    channel: Channel
    progress: Progress


class BalancedWalk(Structure):
    """Sensors, estimator and stabiliser, which planned and steered walks share.

    Attributes:
        sensor_slices: start of gyro and accelerometer in the readings, then start and width of each
            foot sensor.
        foot_index: of the left and the right foot among the feet of the estimator, shape (2,).
        q_at: index of each commanded joint in q.
    """

    channel: Channel
    progress: Progress
    model: ModelArrays
    estimator: EstimatorState
    loop: StabiliserLoop
    sensor_slices: NDArray[np.int64]
    foot_index: NDArray[np.int64]
    q_at: NDArray[np.int64]


class StabilisedWalk(BalancedWalk):
    """A walk along a pattern, with a stabiliser.

    Attributes:
        halted: the same stabiliser with the reference that it holds after an emergency stop.
        stop: tick at which the walk was aborted, −1 before, shape (1,). gap: ξ − ξ_planned at the
            last lift of a foot [m], shape (2,).
    """

    halted: StabiliserLoop
    stop: NDArray[np.int64]
    gap: NDArray[np.float64]


@kernel
def next_tick(progress, time):
    """Return the tick of the pattern at a time [s], −1 if its command was computed already; the
    first time begins the walk.
    """
    if not progress.start[0] <= time:
        progress.start[0] = time
    T, before = progress.period[0], progress.tick[0]
    k = int((time - progress.start[0]) / T + EARLY_TICK_SHARE)
    if k == before:
        return -1
    # after a skipped tick the next one spans more time
    progress.tick[0], progress.span[0] = k, T * (k - before) if before >= 0 else T
    return min(k, progress.position.shape[0] - 1)


@kernel(inline=True)
def load_row4(a):
    """Return a row of four numbers."""
    return a[0], a[1], a[2], a[3]


@kernel
def command_joint(channel, progress, j, q, effort):
    """Write the command of joint j: position at the next tick and effort, within the limits of its
    motor.
    """
    lower, upper, speed, effort_limit = load_row4(progress.bounds[j])
    max_change = speed * progress.span[0]
    q = min(max(q, progress.last[j] - max_change), progress.last[j] + max_change)
    q = min(max(q, lower), upper)
    channel.command[POSITION, j] = q
    channel.command[EFFORT, j] = min(max(effort, -effort_limit), effort_limit)
    channel.command[VELOCITY, j] = (q - progress.last[j]) / progress.span[0]
    progress.last[j] = q
    channel.command_mask[0], channel.over[0] = COMMAND_MASK, progress.period[0]


@kernel
def planned_tick(walk):
    """Compute the command of a walk without a stabiliser."""
    channel, progress = walk.channel, walk.progress
    k = next_tick(progress, channel.time[0])
    if k < 0:
        channel.command_mask[0] = 0
        return
    n = min(k + 1, progress.position.shape[0] - 1)
    for j in range(progress.last.shape[0]):
        command_joint(channel, progress, j, progress.position[n, j], progress.effort[k, j])


@kernel
def read_sensors(walk):
    """Fill the stabiliser's inputs from the readings and the state estimate."""
    channel, e, loop = walk.channel, walk.estimator, walk.loop
    body_state, slices = e.body_state, walk.sensor_slices
    for j in range(body_state.position.shape[0]):
        body_state.position[j], body_state.velocity[j] = channel.position[j], channel.velocity[j]
    for i in range(3):
        body_state.gyro[i] = channel.reading[slices[0] + i]
        body_state.acceleration[i] = channel.reading[slices[1] + i]
    for k in range(body_state.reading.shape[0]):
        for i in range(slices[3 + 2 * k]):
            body_state.reading[k, i] = channel.reading[slices[2 + 2 * k] + i]
    estimate(walk.model, e, channel.time[0])
    for i in range(9):
        loop.attitude[i] = e.base[i]
    for i in range(3):
        loop.angular_velocity[i] = e.base[15 + i]
        loop.course.base[i] = e.base[9 + i]
    for i in range(body_state.q.shape[0]):
        loop.joint[i] = body_state.q[i]
    for i in range(body_state.v.shape[0]):
        loop.joint_velocity[i] = body_state.v[i]
    for side in range(2):
        for i in range(6):
            loop.wrench[side, i] = body_state.wrench[walk.foot_index[side], i]


@kernel
def has_fallen(walk):
    """Check whether the base leans, or has leant, by more than a robot on its feet can."""
    R, progress = walk.loop.attitude, walk.progress
    cosine = R[6] * progress.up[0] + R[7] * progress.up[1] + R[8] * progress.up[2]
    if progress.fell[0] < 0 and cosine < FALLEN_COSINE:
        progress.fell[0] = progress.tick[0]
    return progress.fell[0] >= 0


@kernel
def hold_joints(channel, progress):
    """Command the last positions again: a fallen robot stops walking."""
    for j in range(progress.last.shape[0]):
        command_joint(channel, progress, j, progress.last[j], 0.0)


@kernel
def begin_tick(walk):
    """Read the sensors, estimate the state and hold the joints of a robot that has fallen.

    Returns:
        the tick to compute a command for; −1 where it has one already or has fallen.
    """
    tick = next_tick(walk.progress, walk.channel.time[0])
    if tick < 0:
        walk.channel.command_mask[0] = 0
        return -1
    read_sensors(walk)
    if has_fallen(walk):
        hold_joints(walk.channel, walk.progress)
        return -1
    return tick


@kernel
def command_joints(walk, row):
    """Write the joint commands: the stabiliser's positions, with its efforts added to those of a
    row of the reference.
    """
    loop, progress = walk.loop, walk.progress
    for j in range(walk.q_at.shape[0]):
        effort = progress.effort[row, j] + loop.effort[j]
        command_joint(walk.channel, progress, j, loop.q_desired[walk.q_at[j]], effort)


@kernel
def stabilised_tick(walk):
    """Compute the command of a planned walk with a stabiliser."""
    loop, tick = walk.loop, begin_tick(walk)
    if tick < 0:
        return
    if walk.stop[0] < 0 and must_halt(loop, tick, walk.gap):
        walk.stop[0] = tick
        hold_reference(loop, walk.halted.reference, tick)
    if walk.stop[0] >= 0:
        tick = walk.stop[0]
        stabilise(walk.model, walk.halted, 0)
    else:
        stabilise(walk.model, loop, tick)
    command_joints(walk, tick)
