"""Control laws: functions (time, measurement) → command, which could drive a real robot as well."""

from tabi.control import ros2
from tabi.control.estimator import Estimator, EstimatorGains, StateEstimate
from tabi.control.filters import Butterworth, zero_phase
from tabi.control.gripping import grip
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.control.motions import hold, keyframes, lean, squat, sway
from tabi.control.processes.external import ControllerWarning, External, external
from tabi.control.processes.serving import serve

__all__ = [
    "Butterworth",
    "ControllerWarning",
    "Estimator",
    "EstimatorGains",
    "External",
    "InverseKinematics",
    "StateEstimate",
    "external",
    "grip",
    "hold",
    "keyframes",
    "lean",
    "ros2",
    "serve",
    "squat",
    "sway",
    "zero_phase",
]
