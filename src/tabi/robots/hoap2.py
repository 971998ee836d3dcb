"""HOAP-2, Fujitsu's small humanoid: 0.5 m, 7 kg, 25 joints, of which 23 are here.

Sources of the numbers, cited as [S1] and so on:
    S1  Fujitsu Automation's own figures, as Webots' guide and model state them: 25 joints, 7 kg,
        48 to 50 cm; legs of 0.100 and 0.100 m, hips 0.039 m from the middle, a sole of 0.094 by
        0.062 m around 0.011 m ahead of the ankle; 9 N m and 5 rad/s at most
    S2  tabi.robots.hrp2, with the sources named there
    S3  Moraud et al. 2008: friction of its plastic soles on a force plate 0.13
Masses of single links, ranges of joints, gains, rotors and looks are not public: ESTIMATED by
dynamic similarity from HRP-2 [S2], see ``similar``, with λ = 1/3, the ratio of their legs, and μ =
7/58. It then is 0.513 m tall, 3 % more than published. Without a yaw joint in the trunk and without
wrists; the joints that open its hands are left out.
Axes: x forward, y left, z up.
"""

from __future__ import annotations

from dataclasses import replace

from tabi.model.joint import Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Material, Shape
from tabi.robots.hrp2 import MASS as LARGER_MASS
from tabi.robots.hrp2 import SOLE_BELOW_ANKLE, hrp2
from tabi.robots.hrp2_shapes import BLUE
from tabi.robots.similar import Similarity, repaint, similar
from tabi.spatial.transform import translation

# kg [S1]
MASS = 7.0
# of HRP-2's thigh and shank, 0.300 m [S2]
SIMILARITY = Similarity(0.100 / 0.300, MASS / LARGER_MASS)
# joints of HRP-2 that it has not
WELDED = ("CHEST_Y", *(f"{side}ARM_WRIST_{axis}" for side in "RL" for axis in "YRP"))
# m [S1]: of a hip from the middle; of the sole, length, width, and its centre ahead of the ankle
HIP, SOLE, SOLE_OFFSET = 0.039, (0.094, 0.062), 0.011
# N m, rad/s, of every joint [S1]
TORQUE, SPEED = 9.0, 5.0
# [S3]
PLASTIC = Material("hoap2 sole", friction=0.13)
# m, ESTIMATED
PLATE = 0.006
ORANGE = (0.80, 0.42, 0.10, 1.0)
CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def hoap2() -> Robot:
    """Return HOAP-2 in its half-sitting pose.

    Examples:
        >>> tabi.robots.hoap2().name
        'hoap2'
    """
    robot = similar(hrp2(), "hoap2", SIMILARITY, WELDED)
    repaint(robot, {BLUE: ORANGE})
    for side in ("right", "left"):
        # it has no wrist force sensors
        del robot.sensors[f"{side}_wrist_force"]
    for name in robot.joint_names:
        joint = robot.joint(name)
        assert isinstance(joint.motor, Motor)
        joint.effort_limit, joint.velocity_limit = TORQUE, SPEED
        joint.motor = replace(joint.motor, torque_limit=TORQUE)
    below = SIMILARITY.length * SOLE_BELOW_ANKLE
    for side, y in (("right", -1.0), ("left", 1.0)):
        letter = side[0].upper()
        # HRP-2's ankles are outside of its hips, these are below them
        robot.joint(f"{letter}LEG_HIP_Y").placement = translation((0.0, y * HIP, 0.0))
        robot.joint(f"{letter}LEG_ANKLE_P").placement = translation(
            (0.0, 0.0, robot.joint(f"{letter}LEG_ANKLE_P").placement.p[2])
        )
        foot = robot.body(f"{side}_foot")
        at = translation((SOLE_OFFSET, 0.0, 0.5 * PLATE - below))
        sole = Shape(Box((*SOLE, PLATE)), at, PLASTIC, (0.1, 0.1, 0.1, 1.0), name="sole")
        # HRP-2's narrower foot is seen above it, and touches nothing
        seen = [replace(shape, collides=False) for shape in foot.shapes if shape.visible]
        foot.shapes = [sole, *seen]
        del robot.feet[side]
        half = 0.5 * SOLE[0], 0.5 * SOLE[1]
        outline = [(SOLE_OFFSET + sx * half[0], sy * half[1]) for sx, sy in CORNERS]
        robot.add_foot(side, foot, outline, (0.0, 0.0, -below))
    robot.stand_on_ground()
    return robot
