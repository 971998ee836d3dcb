"""HRP-1S: 30 joints, 1.60 m, 120 kg; the Honda P3 that AIST walked with its own software.

Sources of the numbers, cited as [S1] and so on:
    S1  Hirukawa et al. 2003: 1600 mm, 120 kg, a soft spring and damper in each foot
    S2  plasticpals.com, Honda's humanoid robot development 1993-1999: HRP-1S is a P3 with another
        computer; 30 joints, 2 × 6 in the legs, 2 × 7 in the arms, 2 × 1 in the hands, 2 in the
        neck, so none in the trunk; 2 kg a hand
    S3  tabi.robots.hrp2, with the sources named there
    S4  web-japan.org, Kids Web Japan, August 2000: P3 weighs 130 kg, 100 kg without its battery
The maker's model is not public, and no link, motor or gain of it was found: everything but these
numbers is ESTIMATED by dynamic similarity from HRP-2, the robot that followed it at the same
institute [S3], with its trunk in one piece. With λ = 1600/1540 of its lengths and μ = 120/58 of its
masses, see ``similar``. What that cannot know: the load of the
battery pack on the back (30 kg of P3's 130 [S4]), which would move the centre of mass backwards,
and proportions of its own.
Axes: x forward, y left, z up.
"""

from __future__ import annotations

import numpy as np

from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Shape
from tabi.robots.armour import mirrored
from tabi.robots.hrp1s_shapes import FINGERS, shapes_of
from tabi.robots.hrp2 import BUSH as SMALLER_BUSH
from tabi.robots.hrp2 import MASS as SMALLER_MASS
from tabi.robots.hrp2 import hrp2
from tabi.robots.hrp2_sensors import add_errors
from tabi.robots.similar import Similarity, similar
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import translation

# kg, m [S1]
MASS, HEIGHT = 120.0, 1.600
# m, of HRP-2 [S3]: where its head's shape ends with all joints at zero
SMALLER_HEIGHT = 1.540
SIMILARITY = Similarity(HEIGHT / SMALLER_HEIGHT, MASS / SMALLER_MASS)

# joints of HRP-2 that P3, in whose trunk is none, has not [S2]
WELDED = ("CHEST_Y", "CHEST_P")

# the hand's one joint [S2], ESTIMATED as HRP-2's grippers are: a box of fingers that turns about
# the hand's far end, positive closes. kg, taken off the hand; m in the right hand; rad
FINGERS_MASS = 0.3
KNUCKLES = (0.0, 0.0, -0.118)
TRAVEL = (-0.5, 1.2)
# N m, rad/s: 2 kg [S2] at 50 mm from the knuckles are 1 N m; five times that
GRIP_TORQUE, GRIP_SPEED = 5.0, 4.0
# rotor inertia [kg m2], gear ratio, kp [N m/rad], kd [N m s/rad]
GRIP_DRIVE = (1.1e-6, 100.0, 50.0, 1.0)

# the soft mechanism between ankle and sole [S1], whose numbers were not published; ESTIMATED by
# similarity from HRP-2's rubber: as soft against m g h. Roll and pitch [N m/rad, N m s/rad], along
# the sole's normal [N/m, N s/m]
BUSH = SIMILARITY.bush(SMALLER_BUSH)

# neighbours across a joint of two or three axes: their plain shapes meet inside the joints' limits
OVERLAPS = (
    ("trunk", "head"),
    ("trunk", "right_thigh"),
    ("right_forearm", "right_hand"),
    ("right_forearm", "right_fingers"),
)


def hrp1s(bush: bool = False, sensor_noise: bool = False) -> Robot:
    """Return HRP-1S in its half-sitting pose.

    Args:
        bush: adds the soft mechanism of each foot, ``robot.add_bush(*BUSH)``.
        sensor_noise: gives sensors the errors of HRP-2's, and joints encoders, see
            ``hrp2_sensors``; they are exact otherwise.

    Examples:
        >>> tabi.robots.hrp1s(bush=True).name
        'hrp1s'
    """
    robot = similar(hrp2(), "hrp1s", SIMILARITY, WELDED, {"waist": "trunk"}, _shapes)
    robot.excluded.clear()
    for side in robot.feet:
        for a, b in OVERLAPS:
            robot.excluded.add(frozenset((a.replace("right", side), b.replace("right", side))))
    _add_hands(robot)
    if bush:
        robot.add_bush(*BUSH)
    if sensor_noise:
        add_errors(robot)
    robot.stand_on_ground()
    return robot


def _shapes(body: str) -> list[Shape]:
    """Shapes of a body; those of the left side are mirror images."""
    right = body.replace("left", "right")
    return shapes_of(right) if right == body else [mirrored(shape) for shape in shapes_of(right)]


def _add_hands(robot: Robot) -> None:
    """Fingers on both hands, joints ``RARM_GRIPPER`` and ``LARM_GRIPPER``."""
    rotor, ratio, kp, kd = GRIP_DRIVE
    for side, letter, y in (("right", "R", 1.0), ("left", "L", -1.0)):
        hand, shapes = robot.body(f"{side}_hand"), shapes_of("right_fingers")
        hand.inertia = hand.inertia.scaled(1.0 - FINGERS_MASS / hand.inertia.mass)
        bounds = np.array(FINGERS)
        inertia = solid_box(FINGERS_MASS, bounds[:, 1] - bounds[:, 0])
        joint = Joint(
            f"{letter}ARM_GRIPPER",
            "revolute",
            translation(KNUCKLES),
            # the palms look at each other
            (y, 0.0, 0.0),
            lower=TRAVEL[0],
            upper=TRAVEL[1],
            velocity_limit=GRIP_SPEED,
            effort_limit=GRIP_TORQUE,
            motor=Motor(rotor, ratio, GRIP_TORQUE, kp, kd),
        )
        robot.add_body(
            f"{side}_fingers",
            joint,
            hand,
            inertia.transformed(translation(bounds.mean(axis=1) * (1.0, y, 1.0))),
            shapes if y > 0 else [mirrored(shape) for shape in shapes],
        )
