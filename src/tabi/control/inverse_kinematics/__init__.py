"""Inverse kinematics with priorities: ``InverseKinematics``, and what it is put together from."""

from tabi.control.inverse_kinematics.solver import InverseKinematics as InverseKinematics
