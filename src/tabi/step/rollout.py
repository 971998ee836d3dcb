"""Several steps in one compiled loop: commands, controllers that are kernels, and the step.

``rollout`` returns how many steps were done; the status of the last one, which is done only if that
is FINE; what the last that was done missed; and of those that were done the worst residual [m/s],
joint_residual [rad/s or m/s] and penetration [m].
"""

from typing import Any

from tabi.jit import kernel
from tabi.step import parts
from tabi.step.commands import pilots
from tabi.step.status import FINE, MISLED


def rollout_on(step: Any) -> Any:
    """The loop around the kernel of a step."""

    @kernel(nogil=True)
    def rollout(t, d, s, program, h, tolerance, count):
        """Up to ``count`` steps, with the commands of ``program`` as far as it goes; stops where
        something has to be reported.
        """
        done, status, missed, worst = 0, FINE, 0, (0.0, 0.0, 0.0)
        while done < count and missed == 0 and room_for_events(t, d):
            follow(program, done, d)
            if not pilots.ask(t, d, h):
                status = MISLED
                break
            move_targets(d, h)
            status = step(t, d, s, h, tolerance)
            if status != FINE:
                break
            done += 1
            pilots.count(t)
            missed, worst = d.outcome.report[0].missed, worse_of(worst, d.outcome.report[0])
        return done, status, missed, worst

    return rollout


@kernel(inline=True)
def follow(program, done, d):
    """Commands of a step: position, velocity and effort of every motor, of shape (steps, motors,
    3); beyond the end of the program the last ones stay.
    """
    if done < program.shape[0]:
        for k in range(d.v.shape[0]):
            motor, told = d.command.motor[k], program[done, k]
            motor.position, motor.velocity, motor.effort = told[0], told[1], told[2]
            motor.until = 0.0


@kernel(inline=True)
def move_targets(d, h):
    """Positions that motors are told, on their way over the step."""
    for k in range(d.v.shape[0]):
        motor = d.command.motor[k]
        left = motor.until - d.memory.clock[0]
        if left > 0.0:
            motor.position += (motor.target - motor.position) * min(1.0, h / left)


@kernel(inline=True)
def worse_of(worst, report):
    """The worst residual, joint_residual and penetration, those of one step more among them."""
    residual, joint_residual = parts.worse(worst[0], report.residual), report.joint_residual
    return residual, parts.worse(worst[1], joint_residual), max(worst[2], -report.gap)


@kernel(inline=True)
def room_for_events(t, d):
    """Whether all feet may change their states in a step."""
    return d.outcome.event_count[0] + t.foot.shape[0] <= d.outcome.event.shape[0]
