"""PD control by torque: the loop is computed here, at the controller's rate.

    τ = k_p (q_d − q) − k_d q̇                                                                   (1)
from what was measured, and held until the controller is asked again; the motors' own loops are told
to do nothing, k_p = k_d = 0. This is what ``<motor>`` with a controller in Python does in MuJoCo.

``hold`` tells the same q_d to the motors' loops, which a simulation takes implicitly within its
step, at the end of which (1) is satisfied: these are stable with any gains. A loop that is computed
from the past is not: with the period T and the inertia I that the joint feels,

    k_d T < 2 I,   and about   k_p T² < 4 I − 2 k_d T                                           (2)
are necessary. Stiff gains of geared motors do not satisfy (2) at 1 kHz; those belong into ``hold``.
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
        pose: {joint: position [rad or m]}, a name of a pose, or an array of all joints. Joints that
            are not named are left alone.
        kp, kd: gains of (1), one number, an array or by joint [N·m/rad or N/m, N·m·s/rad or N·s/m];
            those of the motors unless given.
    """
    choice, goal = posed(robot, pose)
    stiffness = choice.motors("kp") if kp is None else choice.values("kp", kp, least=0.0)
    damping = choice.motors("kd") if kd is None else choice.values("kd", kd, least=0.0)
    off = choice.told(np.zeros(len(goal)))
    at = slice(None) if choice.every else choice.at

    def controller(time: float, measurement: Measurement) -> Command:
        # (1)
        q, v = measurement.position[at], measurement.velocity[at]
        return Command(effort=choice.told(stiffness * (goal - q) - damping * v), kp=off, kd=off)

    return controller
