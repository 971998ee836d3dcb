"""Walking of any biped: footsteps, patterns, a stabiliser; it knows no simulator.

biped = tabi.walking.Biped(robot)
steps = tabi.walking.walk(biped.stance, 20, length=0.2)
pattern = tabi.walking.walking_pattern(biped, steps)
sim.set_controller(robot, tabi.walking.Walker(pattern, tabi.walking.Stabiliser()), rate=200)
"""

from tabi.walking.balance.stabiliser_tables import DcmStabiliser, Stabiliser, StabiliserGains
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import Footstep, arc, on_ground, stairs, stones, walk
from tabi.walking.plan.friction_gait import friction_demand, gait_for_friction
from tabi.walking.plan.gait import Gait, gait_for
from tabi.walking.plan.pattern import WalkingPattern, walking_pattern
from tabi.walking.plan.pendulum import LinearPendulum
from tabi.walking.plan.posture import posture_pattern
from tabi.walking.plan.preview import Preview
from tabi.walking.steered.led_walker import LedWalker
from tabi.walking.steered.walker import SteeredWalker, Steering
from tabi.walking.walker import Walker

__all__ = [
    "Biped",
    "DcmStabiliser",
    "Footstep",
    "Gait",
    "LedWalker",
    "LinearPendulum",
    "Preview",
    "Stabiliser",
    "StabiliserGains",
    "SteeredWalker",
    "Steering",
    "Walker",
    "WalkingPattern",
    "arc",
    "friction_demand",
    "gait_for",
    "gait_for_friction",
    "on_ground",
    "posture_pattern",
    "stairs",
    "stones",
    "walk",
    "walking_pattern",
]
