"""A humanoid with both hands on a cart that carries a box: a scene of many contacts at once.

Contact points of the scene at rest, each face's corners:

    2 soles × 4 + 4 feet of the cart × 12 + the box's bottom 4 + 2 hands × 4 = 68                            (1)
The cart is one rigid body: a deck on four round feet, two posts and a rail under the hands. It slides on its feet,
which press with their whole rims all the time. The hands lie level on the rail by the pose alone, and the sag of the arms
presses them on it.

Reference: Chardonnet (2006), fig. 4: a cart with a box of 3 kg, up to 67 contacts.
"""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, radians, sin

import numpy as np

from tabi.model.body import Body
from tabi.model.readers.mesh import convex_hull
from tabi.model.robot import Robot
from tabi.model.shape import Box, Convex, Material, Shape
from tabi.model.signals import Command, Controller, Measurement
from tabi.model.world import World
from tabi.robots import hrp2
from tabi.spatial.inertia import Inertia, solid_box, solid_cylinder
from tabi.spatial.transform import translation

# the feet stand for casters, which resist little: the hands' friction has to be enough to move the cart
FEET = Material("cart feet", friction=0.03)
STEEL = Material("cart", friction=0.6)
SIDES = 12
FOOT_RADIUS, FOOT_HEIGHT = 0.04, 0.05
# deck and rail: lengths along x, y, z [m]
DECK, RAIL = (0.60, 0.70, 0.03), (0.10, 0.80, 0.03)
POST = 0.04
# kg: deck, rail, one post, one foot
MASSES = (8.0, 2.0, 1.0, 0.5)
BOX, BOX_MASS = (0.3, 0.3, 0.2), 3.0
# the arms: shoulder and forearm from the vertical about y [rad], length of upper arm and forearm [m]; the hands are level
SHOULDER, FOREARM, ARM = radians(10.0), radians(-70.0), 0.25


def build() -> tuple[World, Robot, Body, Body]:
    """The world, the robot in the pose to hold, the cart and the box on it."""
    world = World()
    world.add_ground(friction=1.0)
    robot = world.add_robot(hrp2())
    robot.stand_on_ground(pose(robot))
    X = robot.placements()[robot.body("right_hand")]
    hand = next(s for s in robot.body("right_hand").shapes if s.collides)
    # the rail's top is where the hands' lower sides are, its middle at their middle
    top = float(X.p[2]) - hand.support(X.R.T @ (0.0, 0.0, -1.0))
    middle = float((X @ hand.placement.p)[0])
    cart = _add_cart(world, middle, top)
    deck_top = FOOT_HEIGHT + DECK[2]
    box = world.add_box(BOX, BOX_MASS, position=(middle + 0.5 * DECK[0], 0.0, deck_top + 0.5 * BOX[2]), friction=0.6, name="load")
    return world, robot, cart, box


def pose(robot: Robot) -> dict[str, float]:
    """Half-sitting, with the hands level in front."""
    return dict(robot.half_sitting) | {"RARM_SHOULDER_R": 0.0, "LARM_SHOULDER_R": 0.0} | _both(_arm(SHOULDER, FOREARM))


def push(robot: Robot, start: float = 0.5, duration: float = 1.0, distance: float = 0.05) -> Controller:
    """Move the hands forwards on a level line by a distance [m], from a time on [s], and stay."""
    first = pose(robot)
    x0, z = -ARM * (sin(SHOULDER) + sin(FOREARM)), -ARM * (cos(SHOULDER) + cos(FOREARM))

    def controller(time: float, measurement: Measurement) -> Command:
        s = min(max((time - start) / duration, 0.0), 1.0)
        # a cubic, at rest at both ends
        x, speed = x0 + distance * s * s * (3 - 2 * s), distance * 6 * s * (1 - s) / duration
        # two bones of one length: the wrist is at the angle m, each bone turned by d from it
        r = hypot(x, z)
        m, d = atan2(-x, -z), acos(0.5 * r / ARM)
        m_rate, d_rate = z * speed / r**2, -x * speed / (2 * ARM * r * sin(d))
        rates = _both({"SHOULDER_P": m_rate + d_rate, "ELBOW_P": -2 * d_rate, "WRIST_P": d_rate - m_rate})
        return Command(first | _both(_arm(m + d, m - d)), rates)

    return controller


def _arm(shoulder: float, forearm: float) -> dict[str, float]:
    """Joints of an arm from the angles of its bones, the hand level."""
    return {"SHOULDER_P": shoulder, "ELBOW_P": forearm - shoulder, "WRIST_P": -0.5 * pi - forearm}


def _both(arm: dict[str, float]) -> dict[str, float]:
    return {f"{side}ARM_{name}": value for side in "RL" for name, value in arm.items()}


def _add_cart(world: World, rail_x: float, top: float) -> Body:
    """The cart with the middle of its rail at ``rail_x`` and the rail's upper side at ``top`` [m]."""
    deck_z, rail_z = FOOT_HEIGHT + 0.5 * DECK[2], top - 0.5 * RAIL[2]
    post_low, post_high = FOOT_HEIGHT + DECK[2], top - RAIL[2]
    # the origin is on the ground below the rail; the deck reaches forwards from it
    boxes = [((0.5 * DECK[0], 0.0, deck_z), DECK, MASSES[0]), ((0.0, 0.0, rail_z), RAIL, MASSES[1])]
    for y in (-0.3, 0.3):
        boxes.append(((0.5 * POST, y, 0.5 * (post_low + post_high)), (POST, POST, post_high - post_low), MASSES[2]))
    shapes = [Shape(Box(size), translation(p), STEEL, color=(0.55, 0.58, 0.62, 1.0)) for p, size, _ in boxes]
    total = sum((solid_box(mass, size).moved(translation(p)) for p, size, mass in boxes), Inertia())
    for x in (0.06, DECK[0] - 0.06):
        for y in (-0.29, 0.29):
            X = translation((x, y, 0.5 * FOOT_HEIGHT))
            shapes.append(Shape(_foot(), X, FEET, color=(0.14, 0.15, 0.17, 1.0)))
            total = total + solid_cylinder(MASSES[3], FOOT_RADIUS, FOOT_HEIGHT).moved(X)
    cart = world.add_object(Box(DECK), total, position=(rail_x, 0.0, 0.0), name="cart")
    cart.shapes[:] = shapes
    return cart


def _foot() -> Convex:
    """A round foot as a prism of SIDES sides, its axis upwards."""
    angle = 2 * np.pi * (np.arange(SIDES) + 0.5) / SIDES
    rim = FOOT_RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ends = [np.column_stack([rim, np.full(SIDES, z)]) for z in (-0.5 * FOOT_HEIGHT, 0.5 * FOOT_HEIGHT)]
    return convex_hull(np.concatenate(ends))
