"""Inverse kinematics with priorities: see ``solver``."""

from tabi.control.inverse_kinematics.solver import InverseKinematics as InverseKinematics
