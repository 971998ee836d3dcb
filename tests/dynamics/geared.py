"""Arms on one base that move together."""

import numpy as np
from worlds import random_inertia

from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.spatial.transform import from_quaternion


def geared_arms():
    """Two arms on one fixed base, so two trees, the second following the first."""
    rng, robot = np.random.default_rng(8), Robot("arms")
    robot.add_body("base", Joint("base", "fixed"))
    for side in ("left", "right"):
        parent = "base"
        for i in range(3):
            placement = from_quaternion(rng.normal(size=4), rng.normal(size=3) * 0.3)
            robot.add_body(
                f"{side}{i}",
                Joint(f"{side}_joint{i}", "revolute", placement, tuple(rng.normal(size=3))),
                parent,
                random_inertia(rng),
            )
            parent = f"{side}{i}"
    robot.joint("right_joint0").mimic = Mimic("left_joint1", -1.5)
    return robot
