"""Errors of HRP-2's sensors: noise, bias, rate, delay and resolution.

The noise of the IMU and its rate are those of a record of a real HRP-2 at rest over 26 s, of
laas/hrp2-imu-data. All other numbers are ESTIMATED, each with its reason beside it.
"""

from __future__ import annotations

import numpy as np

from tabi.model.robot import Robot

# Hz; the record has 200.1
IMU_RATE = 200.0
# standard deviations: rad/s, then m/s2
IMU_NOISE = (1.45e-3, 1.42e-3, 2.23e-3, 8.0e-3, 4.7e-3, 10.2e-3)
# s, ESTIMATED: one sample, for filter and bus
IMU_DELAY = 0.005
# rad/s, ESTIMATED: half a degree a second, what is left of such a gyro's bias after its maker's
# calibration
GYRO_BIAS = float(np.radians(0.5))
# rad/s/√s, ESTIMATED: in an hour 0.34 degrees a second, as a gyro's bias changes while it warms up;
# in the 26 s of the record it is hidden in the noise
GYRO_DRIFT = 1e-4
# both, in the order of IMU_NOISE
IMU_BIAS = (GYRO_BIAS, -GYRO_BIAS, GYRO_BIAS, 0.0, 0.0, 0.0)
IMU_DRIFT = (GYRO_DRIFT, GYRO_DRIFT, GYRO_DRIFT, 0.0, 0.0, 0.0)
# N and N m, ESTIMATED: a thousandth of what the sensors of the ankles have to bear, 1 kN and 50 N m
# and more; at the wrists a tenth of it
FORCE_NOISE = (1.0, 1.0, 1.0, 0.05, 0.05, 0.05)
WRIST_SHARE = 0.1
# lines of the optical disc on a motor's shaft, ESTIMATED: usual for motors of this size; four edges
# a line
ENCODER_LINES = 500


def add_errors(robot: Robot) -> None:
    """Give HRP-2's sensors their errors, and its joints encoders, ``<joint>_encoder``, on the
    motors' side of the gears.
    """
    robot.set_sensor(
        "imu",
        rate=IMU_RATE,
        delay=IMU_DELAY,
        noise=IMU_NOISE,
        bias=IMU_BIAS,
        drift=IMU_DRIFT,
    )
    for side in ("right", "left"):
        robot.set_sensor(f"{side}_foot_force", noise=FORCE_NOISE)
        robot.set_sensor(f"{side}_wrist_force", noise=tuple(WRIST_SHARE * x for x in FORCE_NOISE))
    for body in robot.bodies:
        joint = body.joint
        if joint.motor is not None and not joint.passive:
            resolution = 2 * np.pi / (4 * ENCODER_LINES * joint.motor.gear_ratio)
            # the velocity is a difference of positions, which are rounded already
            robot.add_sensor(f"{joint.name}_encoder", "encoder", body, resolution=(resolution, 0.0))
