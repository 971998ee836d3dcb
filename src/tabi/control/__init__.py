"""Control laws: functions (time, measurement) → command, which could drive a real robot as well."""

from tabi.control.estimator import Estimator, EstimatorGains, StateEstimate
from tabi.control.filters import Butterworth, zero_phase
from tabi.control.gripping import grip
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.control.motions import hold, keyframes, lean, squat, sway

__all__ = [
    "Butterworth",
    "Estimator",
    "EstimatorGains",
    "InverseKinematics",
    "StateEstimate",
    "grip",
    "hold",
    "keyframes",
    "lean",
    "squat",
    "sway",
    "zero_phase",
]
