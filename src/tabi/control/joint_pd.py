"""PD control by torque: the loop is computed here, at the controller's rate.

    τ = k_p (q_d − q) − k_d q̇                                                                   (1)
from the measurement, held until the next call; the motors' servo loops are switched off,
k_p = k_d = 0. This is what ``<motor>`` with a controller in Python does in MuJoCo.

``hold`` commands the same q_d to the motors' servo loops, which a simulation integrates implicitly:
(1) is satisfied at the end of the step, which is stable with any gains. A loop computed from past
measurements is not: with the period T and the effective inertia I of the joint,

    k_d T < 2 I,   and about   k_p T² < 4 I − 2 k_d T                                           (2)
are necessary. Stiff gains of geared motors violate (2) at 1 kHz; use ``hold`` for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabi.control.joint_values import posed
from tabi.model.controllers.signals import Command, ControlLaw, Measurement
from tabi.model.robot import Robot


def pd(robot: Robot, pose: Any, kp: Any = None, kd: Any = None) -> ControlLaw:
    """Hold a pose by torques that are computed at the controller's rate.

    Args:
        pose: {joint: position [rad or m]}, a name of a pose, or an array of all joints. Joints
            that are not named get no command.
        kp, kd: gains of (1), one number, an array or by joint [N·m/rad or N/m, N·m·s/rad or N·s/m];
            default: those of the motors.

    Examples:
        >>> sim.set_controller(robot, tabi.control.pd(robot, robot.half_sitting), rate=1000)
    """
    choice, goal = posed(robot, pose)
    stiffness = choice.motors("kp") if kp is None else choice.values("kp", kp, least=0.0)
    damping = choice.motors("kd") if kd is None else choice.values("kd", kd, least=0.0)
    off = choice.command_values(np.zeros(len(goal)))
    at = slice(None) if choice.every else choice.at

    def controller(time: float, measurement: Measurement) -> Command:
        # (1)
        q, v = measurement.position[at], measurement.velocity[at]
        return Command(
            effort=choice.command_values(stiffness * (goal - q) - damping * v), kp=off, kd=off
        )

    return controller
