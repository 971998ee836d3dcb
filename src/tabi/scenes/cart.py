"""A humanoid with both hands on a cart that carries a box, ``library/cart.yaml``:
a scene of many contacts at once.

Contact points of the scene at rest, each face's corners:

    2 soles × 4 + 4 feet of the cart × 12 + the box's bottom 4 + 2 hands × 4 = 68            (1)
The cart is one rigid body: a deck on four round feet, two posts and a rail under the hands. It
slides on its feet, which press with their whole rims all the time. The hands lie level on the rail
by the pose alone, and the sag of the arms presses them on it. Here is what the file cannot say:
hands that push along a level line.

Reference: Chardonnet (2006), fig. 4: a cart with a box of 3 kg, up to 67 contacts.
"""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, radians, sin

from tabi.model.body import Body
from tabi.model.controllers.signals import Command, ControlLaw, Measurement
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.scenes.scene import load

# the arms: shoulder and forearm from the vertical about y [rad],
# length of upper arm and forearm [m]; the hands are level
SHOULDER, FOREARM, ARM = radians(10.0), radians(-70.0), 0.25


def build() -> tuple[World, Robot, Body, Body]:
    """The world, the robot in the pose to hold, the cart and the box on it."""
    world = load("cart").world()
    cart, box = world.objects
    return world, world.robots[0], cart, box


def pose(robot: Robot) -> dict[str, float]:
    """Half-sitting, with the hands level in front."""
    return (
        dict(robot.half_sitting)
        | {"RARM_SHOULDER_R": 0.0, "LARM_SHOULDER_R": 0.0}
        | _both(_arm(SHOULDER, FOREARM))
    )


def push(
    robot: Robot, start: float = 0.5, duration: float = 1.0, distance: float = 0.05
) -> ControlLaw:
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
        rates = _both(
            {"SHOULDER_P": m_rate + d_rate, "ELBOW_P": -2 * d_rate, "WRIST_P": d_rate - m_rate}
        )
        return Command(first | _both(_arm(m + d, m - d)), rates)

    return controller


def _arm(shoulder: float, forearm: float) -> dict[str, float]:
    """Joints of an arm from the angles of its bones, the hand level."""
    return {"SHOULDER_P": shoulder, "ELBOW_P": forearm - shoulder, "WRIST_P": -0.5 * pi - forearm}


def _both(arm: dict[str, float]) -> dict[str, float]:
    return {f"{side}ARM_{name}": value for side in "RL" for name, value in arm.items()}
