"""Robots as they are on a bad day: soft feet, and sensors that err and are late.

Rubber in the feet is HRP-2's, 500 N·m/rad, and for others scaled by what their weight asks of it,

    K = 500 N·m/rad · m g z_c/(m g z_c of HRP-2)                                                (1)
and along the sole by the mass, with HRP-2's ratios of damping to stiffness. Sensors get HRP-2's
errors (``hrp2_sensors``): its IMU's noise, bias and drift, and the noise of its force sensors,
scaled by the mass; IMU and force sensors have a delay of 5 ms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tabi._errors import ModelError
from tabi.lab.walking.walks import stage
from tabi.model.robot import Robot
from tabi.robots import hrp2_sensors
from tabi.robots.examples import example_file
from tabi.robots.hrp1s import hrp1s
from tabi.robots.hrp2 import BUSH, hrp2
from tabi.walking import Biped

RobotName = Annotated[
    str, typer.Option(help="hrp2, hrp1s, g1, or a path to a URDF, MJCF, .wrl or .body file.")
]
BUILT_IN = {"hrp2": hrp2, "hrp1s": hrp1s}
# of example-robot-data
EXAMPLES = {"g1": "g1_29dof_rev_1_0.urdf"}
# of IMU and force sensors [s]
DELAY = 0.005
# of HRP-2: mass [kg], and height of its centre of mass above the soles [m]
HRP2_MASS, HRP2_HEIGHT = 58.0, 0.791


def rough_robot(name: str | Path) -> Robot:
    """A robot by its name or from a file, on rubber, with sensors that err, standing."""
    robot = plain_robot(name)
    add_rubber(robot)
    add_errors(robot)
    robot.stand_on_ground()
    return robot


def plain_robot(name: str | Path) -> Robot:
    """A robot by its name or from a file, on rigid feet, with exact sensors."""
    if str(name) in BUILT_IN:
        return BUILT_IN[str(name)]()
    if str(name) in EXAMPLES:
        return stage(example_file(EXAMPLES[str(name)]))
    if not Path(name).is_file():
        raise ModelError(
            f"robot {str(name)!r} is neither {', '.join([*BUILT_IN, *EXAMPLES])} nor a file; "
            "give a path to a URDF, MJCF, .wrl or .body file"
        )
    return stage(Path(name))


def add_rubber(robot: Robot) -> None:
    """Rubber of (1) in both feet, where there is none."""
    if robot.bush is not None:
        return
    biped = Biped(robot)
    height = biped.centre[2] - min(X.p[2] for X in biped.stance.values())
    heavy = robot.mass / HRP2_MASS
    turning, along = heavy * height / HRP2_HEIGHT, heavy
    robot.add_bush(turning * BUSH[0], turning * BUSH[1], along * BUSH[2], along * BUSH[3])


def add_errors(robot: Robot, delay: float = DELAY) -> None:
    """Give sensors of the base and the feet their errors; HRP-2 gets its encoders as well."""
    if robot.name == "hrp2":
        hrp2_sensors.add_errors(robot)
    heavy, feet = robot.mass / HRP2_MASS, [foot.body for foot in robot.feet.values()]
    for name, sensor in robot.sensors.items():
        if sensor.kind == "imu":
            robot.set_sensor(
                name,
                rate=hrp2_sensors.IMU_RATE,
                noise=hrp2_sensors.IMU_NOISE,
                bias=hrp2_sensors.IMU_BIAS,
                drift=hrp2_sensors.IMU_DRIFT,
                delay=delay,
            )
        elif sensor.kind == "force" and sensor.body in feet:
            noise = tuple(heavy * x for x in hrp2_sensors.FORCE_NOISE)
            robot.set_sensor(name, noise=noise, delay=delay)
