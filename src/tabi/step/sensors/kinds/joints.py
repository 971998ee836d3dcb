"""Sensors of single joints: encoders, torque of the joint, effort of its motor."""

from tabi.jit import kernel
from tabi.model.arrays import PRISMATIC
from tabi.spatial.vector import angular, cross, dot, linear, load3, load9, sub
from tabi.step.sensors.motion import joint_wrench


@kernel
def encoder(t, d, s, i, h):
    """Measure position and velocity at the end of the step, or one of them."""
    row, value = t.sensors.row[i], d.memory.sensors.value
    if row.part == 0:
        value[row.first].truth = d.q[t.model.dof[row.dof].q]
    if row.part + row.end - row.first == 2:
        value[row.end - 1].truth = d.v[row.dof]


@kernel
def torque(t, d, s, i, h):
    """Measure the torque a joint transmits, beyond gear and rotor [N·m or N]."""
    row = t.sensors.row[i]
    d.memory.sensors.value[row.first].truth = _torque(t, d, s, row, h)


@kernel
def effort(t, d, s, i, h):
    """Measure the effort of a joint's motor [N·m or N]."""
    row = t.sensors.row[i]
    d.memory.sensors.value[row.first].truth = d.outcome.effort[row.dof].motor


@kernel
def _torque(t, d, s, row, h):
    """Return the torque a joint transmits along its axis, z of its body [N·m or N]."""
    motion, F = s.motion[row.sensed], joint_wrench(t, d, s, row, h)
    R, p, f = load9(motion.rotation), load3(motion.position), linear(F)
    z = (R[2], R[5], R[8])
    if t.model.body[row.body].kind == PRISMATIC:
        return dot(z, f)
    return dot(z, sub(angular(F), cross(p, f)))


MEASURE = {"encoder": encoder, "torque": torque, "effort": effort}
