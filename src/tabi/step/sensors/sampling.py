"""From true values to readings: low-pass, calibration, bias, noise, limits, resolution, delay.

See (1) to (4) of ``tabi.model.sensors``. Sample k of a sensor is due at k times its period, and is
released a delay later. Its noise depends on the seed, the world, the sensor and k alone
(``noise``).
"""

from math import exp, floor, sqrt

from tabi.jit import kernel
from tabi.step.sensors.noise import four_normals
from tabi.step.sensors.tables import KIND

# tolerance of the clock, as a share of a period
SLACK = 1e-6
# draws of wandering biases are numbered from here, those of noise from 0
WANDER = 1 << 16
ENCODER = KIND["encoder"]


@kernel(inline=True)
def is_due(row, count, clock):
    """Whether the sample ``count`` is taken now."""
    return clock >= (count - SLACK) * row.period


@kernel(inline=True)
def filter_truth(row, memory, h):
    """Apply the analogue low-pass over h, exact for a constant value."""
    share = 1.0 - exp(-row.bandwidth * h) if row.bandwidth > 0.0 else 1.0
    for c in range(row.first, row.end):
        value = memory.value[c]
        value.smooth = (1.0 - share) * value.smooth + share * value.truth


@kernel
def take(sensors, memory, i):
    """Take a sample and store it in the ring."""
    row, sample = sensors.row[i], memory.sample[i]
    k, width, last = sample.count, row.end - row.first, memory.value[row.first].sample
    drawn, draws = -1, (0.0, 0.0, 0.0, 0.0)
    walked, steps = -1, (0.0, 0.0, 0.0, 0.0)
    for c in range(width):
        value, channel = memory.value[row.first + c], sensors.channel[row.first + c]
        x = _raw(sensors, memory, row, c) + channel.bias - channel.offset
        if channel.drift > 0.0:
            if walked != c // 4:
                walked = c // 4
                steps = four_normals(sensors.seed[0], sensors.seed[1], i, k, WANDER + walked)
            value.wander += channel.drift * sqrt(row.period) * steps[c % 4]
            x += value.wander
        if channel.noise > 0.0:
            if drawn != c // 4:
                drawn = c // 4
                draws = four_normals(sensors.seed[0], sensors.seed[1], i, k, drawn)
            x += channel.noise * draws[c % 4]
        if row.kind == ENCODER and c == 1:
            # from readings, not from true values
            x = (memory.value[row.first].sample - last) / row.period
        x = min(max(x, -channel.limit), channel.limit)
        if channel.resolution > 0.0:
            x = channel.resolution * floor(x / channel.resolution + 0.5)
        value.sample = x
        memory.ring[row.ring + width * (k % row.room) + c] = x
    sample.count = k + 1


@kernel(inline=True)
def _raw(sensors, memory, row, c):
    """Return value c of G⁻¹ y."""
    if row.matrix < 0:
        return memory.value[row.first + c].smooth
    width, x = row.end - row.first, 0.0
    for j in range(width):
        x += sensors.matrix[row.matrix + width * c + j] * memory.value[row.first + j].smooth
    return x


@kernel
def release(row, memory, i, clock):
    """Release the newest sample whose delay is over."""
    sample, width, k = memory.sample[i], row.end - row.first, memory.sample[i].count - 1
    if row.delay > 0.0:
        k = min(k, floor((clock - row.delay) / row.period + SLACK))
    if k > sample.released:
        sample.released = k
        for c in range(width):
            memory.value[row.first + c].reading = memory.ring[row.ring + width * (k % row.room) + c]


@kernel
def begin(sensors, memory, i, clock):
    """Take the first sample of a sensor, as if its value had always been constant."""
    row, sample = sensors.row[i], memory.sample[i]
    width = row.end - row.first
    for c in range(row.first, row.end):
        memory.value[c].smooth = memory.value[c].truth
    sample.count = floor(clock / row.period + SLACK)
    sample.released = sample.count
    if row.kind == ENCODER and width == 2:
        # so that its first velocity is the true one
        at, speed = memory.value[row.first], memory.value[row.first + 1].truth
        at.sample = at.truth + sensors.channel[row.first].bias - row.period * speed
    take(sensors, memory, i)
    for c in range(width):
        x = memory.value[row.first + c].sample
        memory.value[row.first + c].reading = x
        for k in range(row.room):
            memory.ring[row.ring + width * k + c] = x
