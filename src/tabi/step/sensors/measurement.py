"""Sensors are measured within a step, after it, and without one.

Gyroscopes, encoders and orientation are those of the end of the step; forces and accelerations
those within it (``motion``). ``kinds`` measures each; ``sampling`` makes readings of all of these.
"""

from tabi.dynamics import free
from tabi.jit import kernel
from tabi.step.parts import nothing as load
from tabi.step.parts import right as judge
from tabi.step.sensors import sampling
from tabi.step.sensors.kinds import measure
from tabi.step.sensors.motion import move

__all__ = ["NAME", "finish", "judge", "load"]

# of this part of a step
NAME = "sensors"


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
