"""Measurement by sensors: within a step, after it, and without one.

Gyroscopes, encoders and orientation are those of the end of the step; forces and accelerations
those within it (``motion``). ``kinds`` has a kernel for each; ``sampling`` makes readings of their
values.
"""

from tabi.dynamics import free
from tabi.jit import kernel
from tabi.step.parts import no_action as load
from tabi.step.parts import no_judge as judge
from tabi.step.sensors import sampling
from tabi.step.sensors.kinds import measure
from tabi.step.sensors.motion import move

__all__ = ["NAME", "finish", "judge", "load"]

# name of this part of a step
NAME = "sensors"


# ---- within a step ------------------------------------------------------------------------------


@kernel(inline=True)
def finish(part_memory, t, d, s, h):
    """Compute motion and forces of sensed bodies, if a sensor needs them in this step."""
    if t.sensors.body.shape[0] > 0 and _needs_motion(t, d):
        move(t, d, s, h, d.v, s.v_next)


@kernel
def _needs_motion(t, d):
    """Whether a sensor of motion or forces takes a sample, or filters, in this step."""
    for i in range(t.sensors.row.shape[0]):
        row = t.sensors.row[i]
        if d.command.active_sensors[i] != 0 and row.sensed >= 0:
            late = sampling.is_due(row, d.memory.sensors.sample[i].count, d.memory.clock[0])
            if late or row.bandwidth > 0.0:
                return True
    return False


# ---- after a step -------------------------------------------------------------------------------


@kernel(inline=True)
def sample(t, d, s, h):
    """Compute true values and readings of all active sensors."""
    for i in range(t.sensors.row.shape[0]):
        if d.command.active_sensors[i] != 0:
            _sample_sensor(t, d, s, i, h)


@kernel(apart="none", rare=True)
def _sample_sensor(t, d, s, i, h):
    sensors, memory = t.sensors, d.memory.sensors
    row = sensors.row[i]
    late = sampling.is_due(row, memory.sample[i].count, d.memory.clock[0])
    if late or row.bandwidth > 0.0:
        measure(t, d, s, i, h)
        sampling.filter_truth(row, memory, h)
    if late:
        sampling.take(sensors, memory, i)
    if late or row.delay > 0.0:
        sampling.release(row, memory, i, d.memory.clock[0])


@kernel
def sample_again(t, d, s, h):
    """Sample after a step that was solved in parts, from the sum of these."""
    _compute_motion_again(t, d, s, h)
    sample(t, d, s, h)


@kernel
def _compute_motion_again(t, d, s, h):
    """Compute motion of sensed bodies after the step, as ``move`` does within it."""
    m, w = t.model, s.dynamics
    for k in range(d.v.shape[0]):
        s.v_next[k] = d.v[k]
    free.prepare(m, d.outcome.q_before, d.outcome.v_before, w)
    if t.sensors.body.shape[0] > 0:
        move(t, d, s, h, d.outcome.v_before, d.v)
    free.prepare(m, d.q, d.v, w)


# ---- without a step -----------------------------------------------------------------------------


@kernel
def catch_up(t, d, s, h, restart):
    """Compute readings of the last step for sensors that were not active, which have no memory; or,
    with ``restart``, first samples of the active ones. Kinematics are those of the step's beginning
    afterwards.
    """
    _compute_motion_again(t, d, s, h)
    sensors, memory = t.sensors, d.memory.sensors
    for i in range(sensors.row.shape[0]):
        # with restart those that are active, else those that are not
        if sensors.row[i].end == sensors.row[i].first or restart != (
            d.command.active_sensors[i] != 0
        ):
            continue
        measure(t, d, s, i, h)
        sampling.begin(sensors, memory, i, d.memory.clock[0])
