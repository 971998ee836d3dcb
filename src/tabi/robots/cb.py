"""CB, the humanoid of ATR and SARCOS: 1.575 m, 92 kg, 50 joints, of which 30 are here.

Sources of the numbers, cited as [S1] and so on:
    S1  Cheng et al. 2007, CB: a humanoid research platform for exploring neuroscience: 50 degrees
        of freedom, 157.5 cm, 92 kg
    S2  tabi.robots.hrp2, with the sources named there
    S3  Moraud et al. 2008: rectangular soles, friction of them on a force plate 0.45
Nothing else of it was found: all is ESTIMATED by dynamic similarity from HRP-2 [S2], see
``similar``, whose 30 joints it has. What is missing are fingers, eyes, a third joint of the trunk
and one more of the neck and of each leg.
Axes: x forward, y left, z up.
"""

from __future__ import annotations

from dataclasses import replace

from tabi.model.robot import Robot
from tabi.model.shape import Material
from tabi.robots.hrp2 import MASS as SMALLER_MASS
from tabi.robots.hrp2 import hrp2
from tabi.robots.hrp2_shapes import BLUE
from tabi.robots.similar import Similarity, repaint, similar

# kg, m [S1]
MASS, HEIGHT = 92.0, 1.575
# m, of HRP-2 [S2]
SMALLER_HEIGHT = 1.540
SIMILARITY = Similarity(HEIGHT / SMALLER_HEIGHT, MASS / SMALLER_MASS)
# [S3]
SHOE = Material("cb sole", friction=0.45)
GRAPHITE = (0.28, 0.30, 0.33, 1.0)


def cb() -> Robot:
    """Return the robot CB in its half-sitting pose.

    Examples:
        >>> tabi.robots.cb().name
        'cb'
    """
    robot = similar(hrp2(), "cb", SIMILARITY)
    repaint(robot, {BLUE: GRAPHITE})
    for side in robot.feet:
        foot = robot.body(f"{side}_foot")
        foot.shapes = [
            replace(shape, material=SHOE) if shape.collides else shape for shape in foot.shapes
        ]
    robot.stand_on_ground()
    return robot
