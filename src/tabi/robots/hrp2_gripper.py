"""One-joint grippers for HRP-2's hands: a jaw that turns against a fixed one.

HRP-2 has a hand of one degree of freedom; neither its drawings nor its motor are public, so ALL
NUMBERS HERE ARE ESTIMATED: made for things of a can's size, and of a strength that such a hand is
reported to have. The right hand is tabulated in its own frame, fingers along −z, the palm towards
+y; the left is its mirror image. At zero the jaws are parallel and a can of 66 mm just fits between
them; positive angles close.

The jaw's mass is taken off the hand, evenly, so that the robot keeps its own.
"""

from __future__ import annotations

import numpy as np

from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Material, Shape
from tabi.robots.armour import box, invisible, mirrored
from tabi.robots.hrp2_shapes import DARK, HAND, SILVER
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import translation

# rubber on common things
PAD = Material("hrp2 gripper pad", friction=0.8)
# kg
JAW_MASS = 0.15
# m, of the jaw's hinge in the hand; from there it is 57 mm to the middle of the pads
HINGE = (0.0, 0.042, -0.100)
# rad, from wide open to where the pads meet
TRAVEL = (-0.6, 0.7)
# N m, rad/s: 5 N m are 87 N between the pads
TORQUE, SPEED = 5.0, 4.0
# rotor inertia [kg m2], gear ratio, kp [N m/rad], kd [N m s/rad]
DRIVE = (1.1e-6, 100.0, 50.0, 1.0)

# bounds in x, y, z [m]: palm and fixed finger with its pad in the hand's frame
PALM = ((-0.044, 0.044), (-0.028, 0.028), (-0.112, -0.030))
FINGER = ((-0.025, 0.025), (-0.052, -0.038), (-0.195, -0.085))
FIXED_PAD = ((-0.025, 0.025), (-0.038, -0.033), (-0.195, -0.120))
# in the jaw's frame, which is at its hinge
JAW = ((-0.025, 0.025), (-0.004, 0.010), (-0.095, 0.010))
MOVING_PAD = ((-0.025, 0.025), (-0.009, -0.004), (-0.095, -0.020))


def add_grippers(robot: Robot) -> None:
    """Put a gripper on both hands, joints ``RARM_GRIPPER`` and ``LARM_GRIPPER``, bodies
    ``right_jaw`` and ``left_jaw``; the hands' shapes become palm and fixed finger.
    """
    for side, letter, y in (("right", "R", 1.0), ("left", "L", -1.0)):
        hand = robot.body(f"{side}_hand")
        place = translation((HINGE[0], y * HINGE[1], HINGE[2]))
        hand.inertia = hand.inertia.scaled(1.0 - JAW_MASS / hand.inertia.mass)
        # what was touched with is the gripper's; palm and back stay drawn, fingers and thumb go
        drawn = [shape for shape in hand.shapes if not shape.collides][:2]
        hand.shapes[:] = drawn + _sided(
            [invisible(_part(PALM, HAND)), *_finger(FINGER, FIXED_PAD)], y
        )
        rotor, ratio, kp, kd = DRIVE
        joint = Joint(
            f"{letter}ARM_GRIPPER",
            "revolute",
            place,
            (-y, 0.0, 0.0),
            lower=TRAVEL[0],
            upper=TRAVEL[1],
            velocity_limit=SPEED,
            effort_limit=TORQUE,
            motor=Motor(rotor, ratio, TORQUE, kp, kd),
        )
        robot.add_body(
            f"{side}_jaw", joint, hand, _jaw_inertia(y), _sided(_finger(JAW, MOVING_PAD), y)
        )
        robot.excluded.add(frozenset((f"{side}_jaw", f"{side}_forearm")))


def _jaw_inertia(y: float) -> Inertia:
    """A box of the jaw's size, in its frame."""
    bounds = np.array(JAW)
    middle = bounds.mean(axis=1) * (1.0, y, 1.0)
    return solid_box(JAW_MASS, bounds[:, 1] - bounds[:, 0]).transformed(translation(middle))


def _finger(bone: tuple, pad: tuple) -> list[Shape]:
    """A finger, and the pad on it."""
    return [_part(bone, HAND, SILVER), _part(pad, PAD)]


def _part(bounds: tuple, material: Material, color: tuple = DARK) -> Shape:
    return box(*bounds, material=material, color=color)


def _sided(shapes: list[Shape], y: float) -> list[Shape]:
    """Return the shapes of the right hand, or mirrored for the left."""
    return shapes if y > 0 else [mirrored(shape) for shape in shapes]
