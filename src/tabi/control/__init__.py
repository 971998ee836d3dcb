"""Control laws: functions (time, measurement) → command, which could drive a real robot as well."""

from tabi._renamed import renamed_in_module
from tabi.control import ros2
from tabi.control.complying import compliance
from tabi.control.computed_torque import torque
from tabi.control.filters import Butterworth, zero_phase
from tabi.control.gazing import gaze
from tabi.control.gripping import grip
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.control.joint_pd import pd
from tabi.control.logs import ControlLog, Logged, read_log, replay
from tabi.control.merging import together
from tabi.control.motions import hold, keyframes, lean, squat, sway
from tabi.control.pattern_dynamics import PatternDynamics, pattern_dynamics
from tabi.control.pattern_files import read_pattern
from tabi.control.pattern_writing import write_pattern
from tabi.control.patterns import Pattern, pattern
from tabi.control.playing import playback
from tabi.control.processes.external import ControllerWarning, External, external
from tabi.control.processes.serving import serve
from tabi.control.sequencing import sequence
from tabi.control.touch_detection import attend, touch_detector
from tabi.estimation.estimator import Estimator, EstimatorGains, StateEstimate
from tabi.model.controllers.controller import Controller

__all__ = [
    "Butterworth",
    "ControlLog",
    "Controller",
    "ControllerWarning",
    "Estimator",
    "EstimatorGains",
    "External",
    "InverseKinematics",
    "Logged",
    "Pattern",
    "PatternDynamics",
    "StateEstimate",
    "attend",
    "compliance",
    "external",
    "gaze",
    "grip",
    "hold",
    "keyframes",
    "lean",
    "pattern",
    "pattern_dynamics",
    "pd",
    "playback",
    "read_log",
    "read_pattern",
    "replay",
    "ros2",
    "sequence",
    "serve",
    "squat",
    "sway",
    "together",
    "torque",
    "touch_detector",
    "write_pattern",
    "zero_phase",
]

__getattr__ = renamed_in_module(__name__, {"notices": "tabi.control.touch_detector"})
