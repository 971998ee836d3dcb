"""HRP-2: 30 joints, 1.54 m, 58 kg, standing on 0.24 m x 0.138 m feet.

Sources of the numbers, cited as [S1] and so on:
    S1  start-jsk/rtmros_tutorials, hrpsys_ros_bridge_tutorials/models:
        HRP2JSKNTS_customHEAD.urdf, hrp2jsk.yaml, HRP2JSK.PDgain.dat,
        HRP2JSK_bush_customizer_param.conf (an HRP-2 with toe joints and seven-joint arms)
    S2  stack-of-tasks/sot-hrp2, hrp2.py (HRP-2 number 14): half-sitting pose, places of the sensors
    S3  Hirukawa et al. 2003: 58 kg, and 1540 mm, where the head's shape ends
        with all joints at zero
    S4  Chardonnet et al. 2012: friction of the foot on the floor (in the file of the shapes)
    S5  andreadelprete/sot-torque-control, balance_ctrl_conf.py (HRP-2 number 14): gear ratios,
        rotor inertias
Axes: x forward, y left, z up. The right side is tabulated; the left is its mirror image in y.
"""

from __future__ import annotations

import numpy as np

from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.robots.armour import mirrored
from tabi.robots.hrp2_gripper import add_grippers
from tabi.robots.hrp2_sensors import add_errors
from tabi.robots.hrp2_shapes import shapes_of
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

# kg [S3]; the links below sum to 58.51 kg and are all scaled by the one factor that makes 58
MASS = 58.0
# m [S1 yaml, S2]; S1's Gazebo box, 0.07 m high around -0.08, would reach 0.115: not taken
SOLE_BELOW_ANKLE = 0.105
FOOT_X = (-0.105, 0.135)  # m from the ankle, 0.240 long: S1's Gazebo box, 0.24 around 0.015
FOOT_Y = (-0.079, 0.059)  # m from the right ankle, 0.138 wide around -0.010 [S1]

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

# body, parent, joint, axis, joint's place in the parent [m] [S1]
# Shoulders at 0.28 m are S1's; the LAAS robot may be narrower, no public number was found.
JOINTS = (
    ("spine", "waist", "CHEST_Y", Z, (0.032, 0.0, 0.3507)),
    ("chest", "spine", "CHEST_P", Y, (0.0, 0.0, 0.0)),
    ("neck", "chest", "HEAD_Y", Z, (-0.007, 0.0, 0.2973)),
    ("head", "neck", "HEAD_P", Y, (0.0, 0.0, 0.0)),
    ("right_shoulder", "chest", "RARM_SHOULDER_P", Y, (0.008, -0.28, 0.181)),
    ("right_shoulder_yoke", "right_shoulder", "RARM_SHOULDER_R", X, (0.0, 0.0, 0.0)),
    ("right_upper_arm", "right_shoulder_yoke", "RARM_SHOULDER_Y", Z, (0.0, 0.0, 0.0)),
    ("right_forearm", "right_upper_arm", "RARM_ELBOW_P", Y, (0.0, 0.0, -0.25)),
    ("right_wrist", "right_forearm", "RARM_WRIST_Y", Z, (0.0, 0.0, -0.25)),
    ("right_wrist_yoke", "right_wrist", "RARM_WRIST_R", X, (0.0, 0.0, 0.0)),
    ("right_hand", "right_wrist_yoke", "RARM_WRIST_P", Y, (0.0, 0.0, 0.0)),
    ("right_hip", "waist", "RLEG_HIP_Y", Z, (0.0, -0.06, 0.0)),
    ("right_hip_yoke", "right_hip", "RLEG_HIP_R", X, (0.0, 0.0, 0.0)),
    ("right_thigh", "right_hip_yoke", "RLEG_HIP_P", Y, (0.0, 0.0, 0.0)),
    ("right_shank", "right_thigh", "RLEG_KNEE_P", Y, (0.0, 0.0, -0.3)),
    ("right_ankle", "right_shank", "RLEG_ANKLE_P", Y, (0.0, -0.035, -0.3)),
    ("right_foot", "right_ankle", "RLEG_ANKLE_R", X, (0.0, 0.0, 0.0)),
)
# joint: limits [deg], torque [N m], speed [rad/s] [S1]
LIMITS = {
    "CHEST_Y": ((-45.0, 45.0), 151.8, 4.40217),
    "CHEST_P": ((-5.0, 60.0), 278.9, 2.3963),
    "HEAD_Y": ((-45.0, 45.0), 9.6, 6.87679),
    "HEAD_P": ((-30.0, 43.5), 9.6, 6.87679),
    "RARM_SHOULDER_P": ((-180.0, 60.0), 160.3, 4.17044),
    "RARM_SHOULDER_R": ((-95.0, 10.0), 100.4, 2.4192),
    "RARM_SHOULDER_Y": ((-92.0, 92.0), 48.7, 4.15699),
    "RARM_ELBOW_P": ((-137.0, 2.0), 108.5, 2.23776),
    "RARM_WRIST_Y": ((-106.0, 106.0), 13.9, 4.72794),
    "RARM_WRIST_R": ((-92.0, 92.0), 18.74, 6.63609),
    "RARM_WRIST_P": ((-92.0, 92.0), 16.02, 2.77088),
    "RLEG_HIP_Y": ((-45.0, 30.0), 86.2, 3.54108),
    "RLEG_HIP_R": ((-35.0, 20.0), 175.4, 3.80952),
    "RLEG_HIP_P": ((-125.0, 42.0), 151.4, 4.42233),
    "RLEG_KNEE_P": ((-2.0, 150.0), 168.3, 3.9801),
    "RLEG_ANKLE_P": ((-70.0, 42.0), 131.6, 5.07937),
    "RLEG_ANKLE_R": ((-20.0, 35.0), 73.1, 9.14286),
}

# body: mass [kg], centre of mass [m] [S1]
# Waist, chest and head: what breaks the symmetry in S1 (the chest's centre is 7 mm to the left,
# the robot's 1.4 mm) is left out, so that left and right are mirror images throughout.
LINKS = {
    "waist": (15.0295, (-0.0143514, 0.0, 0.220077)),
    "spine": (0.786369, (-0.0158016, 0.0, -0.0251963)),
    "chest": (11.5246, (-0.0290496, 0.0, 0.121025)),
    "neck": (0.362181, (-9.0801e-4, 0.0, -8.25901e-3)),
    "head": (0.921545, (9.00923e-3, 0.0, 0.0888815)),
    "right_shoulder": (0.810076, (-9.89448e-3, 0.0464526, -1.5316e-4)),
    "right_shoulder_yoke": (1.03448, (-0.0105646, -0.0120429, -9.48156e-3)),
    "right_upper_arm": (1.59929, (-5.43072e-3, -4.79797e-3, -0.166872)),
    "right_forearm": (0.77725, (-9.27e-6, -0.0161684, -0.0627015)),
    "right_wrist": (0.328543, (-8.40122e-3, 1.406e-5, 0.0472199)),
    "right_wrist_yoke": (0.460767, (3.61678e-3, -1.80569e-3, -6.56872e-3)),
    "right_hand": (1.33256, (6.7085e-4, -7.38842e-3, -0.085722)),
    "right_hip": (1.16852, (-0.0103793, 4.84329e-3, 0.0649015)),
    "right_hip_yoke": (0.80553, (-3.9826e-4, -0.0261287, -2.92156e-3)),
    "right_thigh": (2.07632, (3.45946e-3, -0.0779422, -0.151684)),
    "right_shank": (1.74762, (0.0179878, -0.0579164, -0.13839)),
    "right_ankle": (0.65375, (8.27083e-3, -1.33301e-3, -2.418e-3)),
    "right_foot": (1.63877, (-6.6419e-4, -4.68922e-3, -0.0653813)),
}
# body: tensor about the centre of mass [kg m2] as xx, yy, zz, xy, xz, yz [S1]
TENSORS = {
    "waist": (0.161026, 0.09528, 0.191914, 0.0, 7.06962e-4, 0.0),
    "spine": (1.81617e-3, 1.85079e-3, 2.33207e-3, 0.0, -2.7731e-4, 0.0),
    "chest": (0.160476, 0.136846, 0.181669, 0.0, -4.14493e-3, 0.0),
    "neck": (3.8285e-4, 2.1609e-4, 3.473e-4, 0.0, 2.24e-6, 0.0),
    "head": (3.93357e-3, 4.13822e-3, 5.24469e-3, 0.0, 7.928e-5, 0.0),
    "right_shoulder": (2.21115e-3, 1.84189e-3, 3.44772e-3, -3.0424e-4, 1.47e-6, 4.667e-5),
    "right_shoulder_yoke": (1.22098e-3, 1.72216e-3, 1.61319e-3, 2.8119e-4, 9.407e-5, 1.2041e-4),
    "right_upper_arm": (9.73049e-3, 9.70372e-3, 1.35331e-3, -5.13304e-5, -1.99167e-4, 1.37469e-4),
    "right_forearm": (2.32668e-3, 2.12476e-3, 5.6363e-4, 7e-8, -3.1e-7, 1.5097e-4),
    "right_wrist": (8.4438e-4, 1.05692e-3, 3.4468e-4, -4e-8, -1.3812e-4, -2.3e-7),
    "right_wrist_yoke": (2.6432e-4, 2.938e-4, 2.986e-4, -3.17e-6, -1.177e-5, 1.08e-5),
    "right_hand": (2.27076e-3, 2.14173e-3, 6.7255e-4, -6.3e-7, 3.217e-5, 3.72e-6),
    "right_hip": (2.85998e-3, 3.52974e-3, 1.45427e-3, -1.43424e-5, -5.55819e-4, 8.84038e-6),
    "right_hip_yoke": (1.26683e-3, 5.0656e-4, 1.32021e-3, 1.211e-5, 1.64e-6, 6.938e-5),
    "right_thigh": (0.0261976, 0.0249235, 3.76439e-3, -3.95406e-5, 5.73517e-4, 6.70077e-4),
    "right_shank": (0.0223269, 0.022506, 4.5544e-3, -9.39152e-5, -2.24766e-3, -7.45178e-4),
    "right_ankle": (2.7773e-4, 7.8966e-4, 8.6039e-4, -5.26e-6, 1.354e-5, -3.59e-6),
    "right_foot": (4.00076e-3, 6.87611e-3, 7.11516e-3, 9.983e-5, 7.9295e-4, -1.8541e-4),
}
# S1's toe link, here one with the foot; its joint is at TOE_JOINT in the foot. The left toe's
# centre is not the mirror image of the right one's in S1 (y 0.006 for 0.014 m): an error there, the
# right side is taken.
TOE = (
    0.509152,
    (0.0199389, -0.0138546, -0.0104375),
    (7.6266e-4, 3.5733e-4, 9.5164e-4, 2.741e-5, 2.69e-6, 1.182e-5),
)
TOE_JOINT = (0.115, 0.0, -0.074)

# motor: rotor inertia [kg m2]. ESTIMATED. S5 gives mantissas with a power of ten (1e-4) that no
# motor of this size has, a sister file gives 1e-6. S1's speed limit x gear ratio is one speed per
# motor, which gives its size: 796 rad/s is the no-load speed of a 40 mm, 150 W coreless motor,
# whose rotor has 134 to 142 g cm2 in catalogues; 35 mm motors have about 68 g cm2, 25 mm motors
# about 10 g cm2. The mantissas fit those, the power of ten is set so. Pulleys and the wave
# generators of the harmonic drives are not in it: the armature is rather too small.
ROTORS = {
    "d40": 1.34e-5,  # 796 rad/s, 0.84 N m
    "d35": 6.96e-6,  # 914 rad/s, 0.73 N m
    "d35 slow": 6.60e-6,  # 559 rad/s, 0.43 N m
    "d25": 1.01e-6,  # 1360 rad/s, 0.22 N m
    "d25 long": 1.00e-6,  # 1109 rad/s, 0.18 N m
    "d25 slow": 1.10e-6,  # 688 rad/s, 0.096 N m
}
# joint without its side: motor, gear ratio [S5], kp [N m/rad], kd [N m s/rad]
# Gains: S1's table for its simulation of the position loop, read as joint-side; measured
# equivalents on number 14 (1550 to 11100 N m/rad in the legs, S5's sister file) are of the same
# size. Such a kd needs the implicit PD: an explicit one is stable only below 2 x armature / step.
# Wrist roll and pitch differ between S1 and S5: their ratio is ESTIMATED so that the motor "d25
# long" reaches S1's speed limit.
DRIVES = {
    "CHEST_Y": ("d35", 207.69, 8000.0, 500.0),
    "CHEST_P": ("d35", 381.54, 13080.0, 500.0),
    "HEAD_Y": ("d25 slow", 100.0, 1320.0, 100.0),
    "HEAD_P": ("d25 slow", 100.0, 1320.0, 100.0),
    "ARM_SHOULDER_P": ("d35", 219.23, 5400.0, 100.0),
    "ARM_SHOULDER_R": ("d35 slow", 231.25, 5550.0, 100.0),
    "ARM_SHOULDER_Y": ("d25 long", 266.67, 430.0, 100.0),
    "ARM_ELBOW_P": ("d35 slow", 250.0, 8700.0, 100.0),
    "ARM_WRIST_Y": ("d25 slow", 145.45, 1400.0, 100.0),
    "ARM_WRIST_R": ("d25 long", 167.0, 460.0, 100.0),
    "ARM_WRIST_P": ("d25 long", 400.0, 1870.0, 100.0),
    "LEG_HIP_Y": ("d25", 384.0, 1800.0, 500.0),
    "LEG_HIP_R": ("d35", 240.0, 21500.0, 500.0),
    "LEG_HIP_P": ("d40", 180.0, 8250.0, 500.0),
    "LEG_KNEE_P": ("d40", 200.0, 18450.0, 500.0),
    "LEG_ANKLE_P": ("d35", 180.0, 4840.0, 500.0),
    "LEG_ANKLE_R": ("d35", 100.0, 3750.0, 500.0),
}

# rad [S2]; waist 0.648702 m above the soles = 0.105 + 0.3 cos 26 deg + 0.3 cos 24 deg
HALF_SITTING = {
    "LEG_HIP_P": np.radians(-26.0),
    "LEG_KNEE_P": np.radians(50.0),
    "LEG_ANKLE_P": np.radians(-24.0),
    "ARM_SHOULDER_P": np.radians(15.0),
    "ARM_SHOULDER_R": np.radians(-10.0),
    "ARM_ELBOW_P": np.radians(-30.0),
    "ARM_WRIST_P": 0.1,
}

# the rubber bush between ankle and sole [S1, HRP2JSK]. Other HRP-2 models in S1 are up to ten times
# stiffer. Its centre is not public: it is put at the ankle's. Roll and pitch [N m/rad, N m s/rad],
# along the sole's normal [N/m, N s/m]
BUSH = (5.0e2, 5.0, 1.0e5, 1.0e2)

IMU = (-0.13, 0.0, 0.118)  # m in the chest [S1, S2]

# neighbours across a joint of two or three axes:
# their plain shapes meet inside the joints' limits, the robot's do not
OVERLAPS = (
    ("waist", "chest"),
    ("chest", "head"),
    ("waist", "right_thigh"),
    ("right_forearm", "right_hand"),
)


def hrp2(bush: bool = False, grippers: bool = False, sensor_noise: bool = False) -> Robot:
    """Return HRP-2 in its half-sitting pose.

    Args:
        bush: adds the rubber bush of each ankle, ``robot.add_bush(*BUSH)``.
        grippers: adds a jaw with a joint of its own to each hand, see ``hrp2_gripper``.
        sensor_noise: gives sensors their errors, and joints encoders, see ``hrp2_sensors``; they
            are exact otherwise.

    Examples:
        >>> world.add_robot(tabi.robots.hrp2(grippers=True), name="second").name
        'second'
    """
    robot = Robot("hrp2")
    robot.add_body("waist", Joint("WAIST", "floating"), None, _inertia("waist"), shapes_of("waist"))
    # OpenHRP's order: legs, trunk, head, arms, the right side first
    for limb, mirror in (
        ("RLEG", False),
        ("RLEG", True),
        ("CHEST", False),
        ("HEAD", False),
        ("RARM", False),
        ("RARM", True),
    ):
        for row in JOINTS:
            if row[2].startswith(limb):
                _add(robot, row, mirror)
    for side, y in (("right", 1.0), ("left", -1.0)):
        (back, front), (inner, outer) = FOOT_X, (y * edge for edge in FOOT_Y)
        outline = [(back, inner), (front, inner), (front, outer), (back, outer)]
        robot.add_foot(side, f"{side}_foot", outline, (0.0, 0.0, -SOLE_BELOW_ANKLE))
        # [S2]
        sole = (0.0, 0.0, -SOLE_BELOW_ANKLE)
        robot.add_sensor(f"{side}_foot_force", "force", f"{side}_foot", sole)
        # place not public: at the joint
        robot.add_sensor(f"{side}_wrist_force", "force", f"{side}_hand")
        for a, b in OVERLAPS:
            robot.excluded.add(frozenset((a.replace("right", side), b.replace("right", side))))
    robot.add_sensor("imu", "imu", "chest", IMU)
    robot.poses["zero"] = {}
    robot.poses["half_sitting"] = _both_sides(HALF_SITTING)
    if grippers:
        add_grippers(robot)
    if bush:
        robot.add_bush(*BUSH)
    if sensor_noise:
        add_errors(robot)
    robot.stand_on_ground()
    return robot


def _inertia(body: str) -> Inertia:
    """A link of the right side or the middle, scaled so that the whole robot has its mass."""
    inertia = _tabulated(*LINKS[body], TENSORS[body])
    if body == "right_foot":
        inertia = inertia + _tabulated(*TOE).transformed(translation(TOE_JOINT))
    return inertia.scaled(MASS / _table_mass())


def _table_mass() -> float:
    """Mass of the whole robot as the table has it [kg]."""
    side = sum(mass for body, (mass, _) in LINKS.items() if body.startswith("right_")) + TOE[0]
    middle = sum(mass for body, (mass, _) in LINKS.items() if not body.startswith("right_"))
    return middle + 2 * side


def _tabulated(mass: float, centre: tuple[float, ...], tensor: tuple[float, ...]) -> Inertia:
    xx, yy, zz, xy, xz, yz = tensor
    return Inertia(mass, np.array(centre), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _add(robot: Robot, row: tuple, mirror: bool) -> None:
    """Add the body of one row of JOINTS, or of its mirror image on the left."""
    body, parent, name, axis, place = row
    degrees, torque, speed = LIMITS[name]
    inertia, shapes = _inertia(body), shapes_of(body)
    rotor, ratio, kp, kd = DRIVES[name.removeprefix("R")]
    lower, upper = np.radians(degrees)
    if mirror:
        flip = np.diag([1.0, -1.0, 1.0])
        body, parent = body.replace("right", "left"), parent.replace("right", "left")
        name, place = "L" + name[1:], flip @ place
        # a mirror turns the sense of rotations about x and z
        lower, upper = (lower, upper) if axis is Y else (-upper, -lower)
        inertia = Inertia(inertia.mass, flip @ inertia.centre, flip @ inertia.tensor @ flip)
        shapes = [mirrored(shape) for shape in shapes]
    motor = Motor(ROTORS[rotor], ratio, torque, kp, kd)
    joint = Joint(
        name,
        "revolute",
        translation(place),
        axis,
        lower=float(lower),
        upper=float(upper),
        velocity_limit=speed,
        effort_limit=torque,
        motor=motor,
    )
    robot.add_body(body, joint, parent, inertia, shapes)


def _both_sides(pose: dict[str, float]) -> dict[str, float]:
    """A symmetric pose of both sides from the right side's joints."""
    right = {f"R{name}": value for name, value in pose.items()}
    left = {f"L{name}": value if name.endswith("_P") else -value for name, value in pose.items()}
    return {joint: float(value) for joint, value in (right | left).items()}
