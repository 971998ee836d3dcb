"""Several steps in one compiled loop: commands, controllers that are kernels, and the step.

``rollout`` returns the number of steps that were done; the status of the last one, which is done
only if that is OK; how many groups of it did not converge; and the worst residual [m/s],
joint_residual [rad/s or m/s] and penetration [m] of all.
"""

from typing import Any

from tabi.jit import kernel
from tabi.step import parts
from tabi.step.commands import pilots
from tabi.step.status import INVALID_COMMAND, OK


def rollout_on(step: Any) -> Any:
    """Make the loop around the kernel of a step."""

    @kernel(nogil=True)
    def rollout(t, d, s, program, h, tolerance, count):
        """Advance up to ``count`` steps, with the commands of ``program`` as far as it goes; stops
        at a step that has to be reported.
        """
        done, status, missed, worst = 0, OK, 0, (0.0, 0.0, 0.0)
        while done < count and missed == 0 and has_room_for_events(t, d):
            write_commands(program, done, d)
            if not pilots.call_controllers(t, d, h):
                status = INVALID_COMMAND
                break
            move_targets(d, h)
            status = step(t, d, s, h, tolerance)
            if status != OK:
                break
            done += 1
            pilots.count_step(t)
            missed, worst = d.outcome.report[0].missed, worst_of(worst, d.outcome.report[0])
        return done, status, missed, worst

    return rollout


@kernel(inline=True)
def write_commands(program, done, d):
    """Write the commands of a step: position, velocity and effort of every motor, of shape (steps,
    motors, 3); beyond the end of the program the last ones stay.
    """
    if done < program.shape[0]:
        for k in range(d.v.shape[0]):
            motor, targets = d.command.motor[k], program[done, k]
            motor.position, motor.velocity, motor.effort = targets[0], targets[1], targets[2]
            motor.until = 0.0


@kernel(inline=True)
def move_targets(d, h):
    """Interpolate commanded positions towards their targets over the step."""
    for k in range(d.v.shape[0]):
        motor = d.command.motor[k]
        left = motor.until - d.memory.clock[0]
        if left > 0.0:
            motor.position += (motor.target - motor.position) * min(1.0, h / left)


@kernel(inline=True)
def worst_of(worst, report):
    """Return the worst residual, joint_residual and penetration, including those of a report."""
    residual, joint_residual = parts.worse(worst[0], report.residual), report.joint_residual
    return residual, parts.worse(worst[1], joint_residual), max(worst[2], -report.gap)


@kernel(inline=True)
def has_room_for_events(t, d):
    """Whether there is memory for changes of all feet in a step."""
    return d.outcome.event_count[0] + t.foot.shape[0] <= d.outcome.event.shape[0]
