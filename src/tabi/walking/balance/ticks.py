"""A tick of a walk as a kernel: what motors are told until the next one.

They are told where to be at the next tick, how fast to go there, and the efforts of the pattern:
position loops alone would lag behind.
"""

import numpy as np
from numpy.typing import NDArray

from tabi.estimation.kernels import EstimatorState, estimate
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import ModelArrays
from tabi.model.controllers.pilot import EFFORT, POSITION, VELOCITY, Channel
from tabi.walking.balance.halt import must_halt, stand_as_at
from tabi.walking.balance.stabiliser import stabilise
from tabi.walking.balance.stabiliser_tables import StabiliserLoop

# of a period: so much before its time a tick is told, as clocks of real robots are not exact
EARLY = 0.25
# cosine of the inclination beyond which a robot has fallen: 60°
FALLEN_COSINE = 0.5
# bits of position, velocity and effort
GIVEN = 1 << POSITION | 1 << VELOCITY | 1 << EFFORT


class Progress(Structure):
    """How far a walk has come.

    Attributes:
        start: its time [s]; infinite before the first tick. tick: that was told last, counted on
            beyond the end of the pattern; −1 before the first. period: of ticks [s]. span: from the
            tick before that to it [s]. All of shape (1,).
        position, effort: of the pattern, in the order of commands, shape (ticks, n).
        last: positions that were told last.
        bounds: of each joint, least and largest position, speed and effort of its motor,
            shape (n, 4).
        up: the vertical in the frame of the base, as the robot stands, shape (3,).
        fell: tick at which it was found to have fallen, −1 before, shape (1,).
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
    """A walk that follows its pattern blindly."""

    channel: Channel
    progress: Progress


class StabilisedWalk(Structure):
    """A walk with a stabiliser.

    Attributes:
        place: where in the readings the gyro and the accelerometer begin, and then of each foot's
            sensor the first value and how many there are.
        foot: of the left and the right foot among those of the estimator, shape (2,).
        q_at: of the joints of a command in q.
        halted: the same stabiliser, with a reference of its own to stand by.
        stop: tick at which the walk was given up, −1 before, shape (1,). gap: ξ − ξ_planned at the
            last lift of a foot [m], shape (2,).
    """

    channel: Channel
    progress: Progress
    model: ModelArrays
    estimator: EstimatorState
    loop: StabiliserLoop
    place: NDArray[np.int64]
    foot: NDArray[np.int64]
    q_at: NDArray[np.int64]
    halted: StabiliserLoop
    stop: NDArray[np.int64]
    gap: NDArray[np.float64]


@kernel
def next_tick(progress, time):
    """The tick of the pattern at a time [s], −1 where it was told already; the first time begins
    the walk.
    """
    if not progress.start[0] <= time:
        progress.start[0] = time
    T, before = progress.period[0], progress.tick[0]
    k = int((time - progress.start[0]) / T + EARLY)
    if k == before:
        return -1
    # one that was left out makes the way to the next one longer
    progress.tick[0], progress.span[0] = k, T * (k - before) if before >= 0 else T
    return min(k, progress.position.shape[0] - 1)


@kernel(inline=True)
def load4(a):
    """Four numbers."""
    return a[0], a[1], a[2], a[3]


@kernel
def tell(channel, progress, j, q, effort):
    """Of joint j: its position at the next tick and its effort, within what its motor can do."""
    least, most, speed, strength = load4(progress.bounds[j])
    far = speed * progress.span[0]
    q = min(max(q, progress.last[j] - far), progress.last[j] + far)
    q = min(max(q, least), most)
    channel.told[POSITION, j] = q
    channel.told[EFFORT, j] = min(max(effort, -strength), strength)
    channel.told[VELOCITY, j] = (q - progress.last[j]) / progress.span[0]
    progress.last[j] = q
    channel.given[0], channel.over[0] = GIVEN, progress.period[0]


@kernel
def planned_tick(walk):
    """A tick of a walk without a stabiliser."""
    channel, progress = walk.channel, walk.progress
    k = next_tick(progress, channel.time[0])
    if k < 0:
        channel.given[0] = 0
        return
    n = min(k + 1, progress.position.shape[0] - 1)
    for j in range(progress.last.shape[0]):
        tell(channel, progress, j, progress.position[n, j], progress.effort[k, j])


@kernel
def sense(walk):
    """What the stabiliser is told of the robot, from readings and the estimate."""
    channel, e, loop = walk.channel, walk.estimator, walk.loop
    felt, place = e.felt, walk.place
    for j in range(felt.position.shape[0]):
        felt.position[j], felt.velocity[j] = channel.position[j], channel.velocity[j]
    for i in range(3):
        felt.gyro[i] = channel.reading[place[0] + i]
        felt.acceleration[i] = channel.reading[place[1] + i]
    for k in range(felt.reading.shape[0]):
        for i in range(place[3 + 2 * k]):
            felt.reading[k, i] = channel.reading[place[2 + 2 * k] + i]
    estimate(walk.model, e, channel.time[0])
    for i in range(9):
        loop.attitude[i] = e.base[i]
    for i in range(3):
        loop.turning[i] = e.base[15 + i]
        loop.course.base[i] = e.base[9 + i]
    for i in range(felt.q.shape[0]):
        loop.joint[i] = felt.q[i]
    for i in range(felt.v.shape[0]):
        loop.joint_velocity[i] = felt.v[i]
    for side in range(2):
        for i in range(6):
            loop.wrench[side, i] = felt.wrench[walk.foot[side], i]


@kernel
def has_fallen(walk):
    """Whether the base leans, or has leant, by more than a robot on its feet can."""
    R, progress = walk.loop.attitude, walk.progress
    cosine = R[6] * progress.up[0] + R[7] * progress.up[1] + R[8] * progress.up[2]
    if progress.fell[0] < 0 and cosine < FALLEN_COSINE:
        progress.fell[0] = progress.tick[0]
    return progress.fell[0] >= 0


@kernel
def hold_still(channel, progress):
    """Motors stay where they were told to be last: what has fallen does not walk on."""
    for j in range(progress.last.shape[0]):
        tell(channel, progress, j, progress.last[j], 0.0)


@kernel
def stabilised_tick(walk):
    """A tick of a walk with one: readings, estimate, stabiliser."""
    channel, loop = walk.channel, walk.loop
    tick = next_tick(walk.progress, channel.time[0])
    if tick < 0:
        channel.given[0] = 0
        return
    sense(walk)
    if has_fallen(walk):
        hold_still(channel, walk.progress)
        return
    if walk.stop[0] < 0 and must_halt(loop, tick, walk.gap):
        walk.stop[0] = tick
        stand_as_at(loop, walk.halted.reference, tick)
    if walk.stop[0] >= 0:
        tick = walk.stop[0]
        stabilise(walk.model, walk.halted, 0)
    else:
        stabilise(walk.model, loop, tick)
    for j in range(walk.q_at.shape[0]):
        effort = walk.progress.effort[tick, j] + loop.effort[j]
        tell(channel, walk.progress, j, loop.answer[walk.q_at[j]], effort)
