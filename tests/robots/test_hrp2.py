"""HRP-2 against the published numbers it was built from, and against its own mirror image."""

import numpy as np
import pytest

from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.robots import hrp2
from tabi.spatial.inertia import Inertia

GRAVITY = 9.81
FLIP = np.diag([1.0, -1.0, 1.0])
# moved by thirty joints, and the one that nothing moves
BODIES = 31

# rad, rad, N m, rad/s: the JSK description of HRP-2, right side, to its four digits
LIMITS = {
    "RLEG_HIP_Y": (-0.7854, 0.5236, 86.2, 3.54),
    "RLEG_HIP_R": (-0.6109, 0.3491, 175.4, 3.81),
    "RLEG_HIP_P": (-2.1817, 0.7330, 151.4, 4.42),
    "RLEG_KNEE_P": (-0.0349, 2.6180, 168.3, 3.98),
    "RLEG_ANKLE_P": (-1.2217, 0.7330, 131.6, 5.08),
    "RLEG_ANKLE_R": (-0.3491, 0.6109, 73.1, 9.14),
    "CHEST_Y": (-0.7854, 0.7854, 151.8, 4.40),
    "CHEST_P": (-0.0873, 1.0472, 278.9, 2.40),
    "HEAD_Y": (-0.7854, 0.7854, 9.6, 6.88),
    "HEAD_P": (-0.5236, 0.7592, 9.6, 6.88),
    "RARM_SHOULDER_P": (-3.1416, 1.0472, 160.3, 4.17),
    "RARM_SHOULDER_R": (-1.6581, 0.1745, 100.4, 2.42),
    "RARM_SHOULDER_Y": (-1.6057, 1.6057, 48.7, 4.16),
    "RARM_ELBOW_P": (-2.3911, 0.0349, 108.5, 2.24),
    "RARM_WRIST_Y": (-1.85005, 1.85005, 13.9, 4.73),
    "RARM_WRIST_R": (-1.6057, 1.6057, 18.7, 6.64),
    "RARM_WRIST_P": (-1.6057, 1.6057, 16.0, 2.77),
}
# kg: the same description, before scaling
MASSES = {"waist": 15.0295, "spine": 0.7864, "chest": 11.5246, "neck": 0.3622, "head": 0.9215}
ARM = (0.8101, 1.0345, 1.5993, 0.7773, 0.3285, 0.4608, 1.3326)
LEG = (1.1685, 0.8055, 2.0763, 1.7476, 0.6538, 1.6388 + 0.5092)


@pytest.fixture
def robot() -> Robot:
    return hrp2()


def centre_of_mass(robot: Robot) -> np.ndarray:
    return (
        sum(b.inertia.mass * (X @ b.inertia.centre) for b, X in robot.placements().items())
        / robot.mass
    )


def other_side(name: str) -> str:
    if name.startswith(("right_", "left_")):
        return (
            name.replace("right", "left")
            if name.startswith("right")
            else name.replace("left", "right")
        )
    return {"R": "L", "L": "R"}[name[0]] + name[1:] if name[1:4] in ("LEG", "ARM") else name


def chain(robot: Robot, last: str) -> list[Body]:
    body, bodies = robot.body(last), []
    while body is not None:
        bodies.append(body)
        body = body.parent
    return bodies[::-1]


# ---- what it is ---------------------------------------------------------------------------------


def test_it_has_thirty_joints_six_per_leg_seven_per_arm_two_in_chest_and_head(robot):
    names = robot.joint_names
    counts = {
        limb: sum(n.startswith(limb) for n in names)
        for limb in ("RLEG", "LLEG", "RARM", "LARM", "CHEST", "HEAD")
    }
    assert len(names) == 30
    assert counts == {"RLEG": 6, "LLEG": 6, "RARM": 7, "LARM": 7, "CHEST": 2, "HEAD": 2}


def test_it_weighs_58_kg(robot):
    assert robot.mass == pytest.approx(58.0, abs=1e-9)


def test_link_masses_are_the_published_ones_times_one_factor(robot):
    published = dict(MASSES)
    for side in ("right", "left"):
        published |= {b.name: m for b, m in zip(chain(robot, f"{side}_hand")[3:], ARM, strict=True)}
        published |= {b.name: m for b, m in zip(chain(robot, f"{side}_foot")[1:], LEG, strict=True)}
    factor = 58.0 / sum(published.values())
    assert len(published) == 31
    for name, mass in published.items():
        # published to four decimals: half a unit of the last, twice in the foot
        assert robot.body(name).inertia.mass == pytest.approx(factor * mass, abs=1.1e-4), name


def test_centres_and_moments_of_links_are_the_published_ones(robot):
    published = {
        "waist": ((-0.01435, 0, 0.22008), (0.1610, 0.0953, 0.1919)),
        "chest": ((-0.0290, 0, 0.1210), (0.1605, 0.1368, 0.1817)),
        "right_thigh": ((0.0035, -0.0779, -0.1517), (0.02620, 0.02492, 0.00376)),
        "right_shank": ((0.0180, -0.0579, -0.1384), (0.02233, 0.02251, 0.00455)),
    }
    factor = 58.0 / 58.50945
    for name, (centre, moments) in published.items():
        inertia = robot.body(name).inertia
        assert inertia.centre == pytest.approx(centre, abs=6e-5), name
        assert np.diag(inertia.tensor) == pytest.approx(factor * np.array(moments), abs=6e-5), name


def test_foot_is_the_published_foot_and_its_toe_in_one_piece(robot):
    foot = np.array([-0.0007, -0.0047, -0.0654])
    toe = np.array([0.115 + 0.0199, -0.0139, -0.074 - 0.0104])
    m, n = 1.6388, 0.5092
    inertia = robot.body("right_foot").inertia
    assert inertia.centre == pytest.approx((m * foot + n * toe) / (m + n), abs=6e-5)
    # Steiner with the reduced mass, pitch axis; the toe's own moment is 0.00036 kg m2
    d = toe - foot
    pitch = 0.00688 + 0.00036 + m * n / (m + n) * (d[0] ** 2 + d[2] ** 2)
    assert inertia.tensor[1, 1] == pytest.approx(58.0 / 58.50945 * pitch, abs=2e-5)


def test_it_is_1540_mm_tall_with_all_joints_at_zero(robot):
    robot.stand_on_ground("zero")
    assert robot.extent((0, 0, 1)) == pytest.approx(1.540, abs=1e-9)
    assert robot.extent((0, 0, -1)) == pytest.approx(0.0, abs=1e-9)


def test_half_sitting_waist_stands_where_the_leg_angles_put_it(robot):
    robot.stand_on_ground("half_sitting")
    height = 0.105 + 0.3 * np.cos(np.radians(26)) + 0.3 * np.cos(np.radians(24))
    assert robot.base.joint.position[2] == pytest.approx(height, abs=1e-12)
    # the published number, to its six digits
    assert robot.base.joint.position[2] == pytest.approx(0.648702, abs=1e-6)


def test_half_sitting_is_the_published_pose(robot):
    published = {
        "LEG_HIP_P": -0.453786,
        "LEG_KNEE_P": 0.872665,
        "LEG_ANKLE_P": -0.418879,
        "ARM_SHOULDER_P": 0.261799,
    }
    published |= {"ARM_SHOULDER_R": -0.17453, "ARM_ELBOW_P": -0.523599, "ARM_WRIST_P": 0.1}
    for name, angle in published.items():
        assert robot.half_sitting["R" + name] == pytest.approx(angle, abs=5e-6)
        assert robot.half_sitting["L" + name] == pytest.approx(
            -angle if name.endswith("_R") else angle, abs=5e-6
        )
    assert len(robot.half_sitting) == 14


def test_it_is_made_standing_in_half_sitting(robot):
    assert robot.joint("LLEG_KNEE_P").position[0] == pytest.approx(np.radians(50))
    assert robot.extent((0, 0, -1)) == pytest.approx(0.0, abs=1e-12)


def test_legs_are_600_mm_from_hip_to_ankle_and_the_ankles_190_mm_apart(robot):
    robot.stand_on_ground("zero")
    X = robot.placements()
    hip, ankle = X[robot.body("left_thigh")].p, X[robot.body("left_foot")].p
    assert hip[2] - ankle[2] == pytest.approx(0.600, abs=1e-12)
    assert ankle[1] == pytest.approx(0.06 + 0.035, abs=1e-12)
    assert X[robot.body("right_foot")].p[1] == pytest.approx(-0.095, abs=1e-12)
    assert ankle[2] == pytest.approx(0.105, abs=1e-12)


def test_arms_are_250_mm_to_the_elbow_and_250_mm_on_to_the_wrist(robot):
    robot.stand_on_ground("zero")
    X = robot.placements()
    shoulder, elbow, wrist = (
        X[robot.body(f"right_{n}")].p for n in ("shoulder", "forearm", "hand")
    )
    assert shoulder - elbow == pytest.approx([0, 0, 0.25], abs=1e-12)
    assert elbow - wrist == pytest.approx([0, 0, 0.25], abs=1e-12)


def test_limits_torques_and_speeds_are_the_published_ones(robot):
    for name, (lower, upper, torque, speed) in LIMITS.items():
        joint = robot.joint(name)
        assert (joint.lower, joint.upper) == pytest.approx((lower, upper), abs=6e-5), name
        assert joint.effort_limit == pytest.approx(torque, abs=0.05), name
        assert joint.velocity_limit == pytest.approx(speed, abs=0.006), name
        assert joint.motor.torque_limit == joint.effort_limit


def test_every_named_pose_lies_within_the_limits(robot):
    assert {"zero", "half_sitting"} <= set(robot.poses)
    assert robot.poses["half_sitting"]
    for pose in robot.poses.values():
        for name, angle in pose.items():
            assert robot.joint(name).lower <= angle <= robot.joint(name).upper, name


# ---- feet and balance ---------------------------------------------------------------------------


def test_feet_are_240_by_138_mm_rectangles_around_the_published_centre(robot):
    for side, y in (("right", -0.010), ("left", 0.010)):
        foot = robot.feet[side]
        assert foot.area == pytest.approx(0.240 * 0.138, rel=1e-12)
        assert np.ptp(foot.polygon, axis=0) == pytest.approx([0.240, 0.138], abs=1e-12)
        assert foot.polygon.mean(axis=0) == pytest.approx([0.015, y], abs=1e-12)
        assert foot.placement.p == pytest.approx([0, 0, -0.105])


def test_the_sole_is_the_bottom_of_what_the_foot_touches_with(robot):
    for side in ("right", "left"):
        foot = robot.feet[side]
        sole = foot.body.collision_shapes()[0]
        bottom = sole.placement @ sole.geometry.points()
        bottom = bottom[bottom[:, 2] < -0.1]
        assert {tuple(np.round(p, 9)) for p in bottom} == {
            tuple(np.round(p, 9)) for p in foot.corners()
        }
        assert sole.material.friction == 0.983


def test_centre_of_mass_is_over_the_soles_and_near_the_one_of_published_walks(robot):
    robot.stand_on_ground()
    com = centre_of_mass(robot)
    X = robot.placements()
    corners = np.concatenate([X[f.body] @ f.corners() for f in robot.feet.values()])
    assert corners[:, 0].min() + 0.05 < com[0] < corners[:, 0].max() - 0.05
    assert com[1] == pytest.approx(0.0, abs=1e-12)
    # walking references for HRP-2 start at x 0.0136 m, height 0.8077 m,
    # with another robot's head and hands
    assert com[0] == pytest.approx(0.0136, abs=0.01)
    assert com[2] == pytest.approx(0.8077, abs=0.025)


# ---- left and right -----------------------------------------------------------------------------


def test_left_bodies_have_the_mirrored_inertia_of_the_right(robot):
    assert len(robot.bodies) == BODIES
    for body in robot.bodies:
        twin = robot.body(other_side(body.name))
        assert twin.inertia.mass == body.inertia.mass
        assert twin.inertia.centre == pytest.approx(FLIP @ body.inertia.centre, abs=1e-15), (
            body.name
        )
        assert twin.inertia.tensor == pytest.approx(FLIP @ body.inertia.tensor @ FLIP, abs=1e-18), (
            body.name
        )


def test_left_joints_have_the_mirrored_places_limits_and_motors_of_the_right(robot):
    assert len(robot.bodies) == BODIES
    for body in robot.bodies[1:]:
        joint, twin = body.joint, robot.joint(other_side(body.joint.name))
        assert twin.placement.p == pytest.approx(FLIP @ joint.placement.p, abs=1e-15)
        assert tuple(twin.axis) == tuple(joint.axis)
        limits = (joint.lower, joint.upper) if joint.axis[1] else (-joint.upper, -joint.lower)
        assert (twin.lower, twin.upper) == limits
        assert (twin.velocity_limit, twin.effort_limit, twin.motor) == (
            joint.velocity_limit,
            joint.effort_limit,
            joint.motor,
        )


# ---- physics ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bush", [False, True])
def test_inertias_could_belong_to_bodies(bush):
    # the two joints between ankle and sole carry nothing
    heavy = [
        body for body in hrp2(bush).bodies if not body.name.endswith(("bush_roll", "bush_pitch"))
    ]
    # with rubber in its ankles, each sole is a body of its own
    assert len(heavy) == BODIES + 2 * bush
    for body in heavy:
        moments = np.linalg.eigvalsh(body.inertia.tensor)
        assert body.inertia.mass > 0
        assert moments[0] > 0, body.name
        assert moments[2] <= moments[0] + moments[1], body.name


def test_gear_ratios_turn_joint_limits_into_a_few_motors(robot):
    """Speed and torque limits come from one source, gear ratios from another;
    they agree on what motors there are.
    """
    motors: dict[float, list[tuple[float, float]]] = {}
    for name in LIMITS:
        if name in ("RARM_WRIST_R", "RARM_WRIST_P"):  # estimated ratios
            continue
        joint = robot.joint(name)
        n = joint.motor.gear_ratio
        motors.setdefault(joint.motor.rotor_inertia, []).append(
            (joint.velocity_limit * n, joint.motor.torque_limit / n)
        )
    assert len(motors) == 6
    for values in motors.values():
        speeds, torques = np.array(values).T
        assert speeds == pytest.approx(speeds[0], rel=1e-4)
        assert torques == pytest.approx(torques[0], rel=1e-2)


def test_armatures_are_positive_and_below_what_the_limbs_themselves_weigh(robot):
    """A rotor felt through its gear should be of the size of the limb it moves,
    not of the whole robot.
    """
    robot.stand_on_ground("zero")
    X = robot.placements()
    assert len(robot.bodies) == BODIES
    for body in robot.bodies[1:]:
        armature = body.joint.motor.armature
        total = Inertia()
        for other in robot.bodies:
            if body in chain(robot, other.name):
                total = total + other.inertia.transformed(X[other])
        axis = X[body].R @ np.array(body.joint.axis)
        arm = np.cross(axis, total.centre - X[body].p)
        limb = axis @ total.tensor @ axis + total.mass * arm @ arm
        assert 0.01 <= armature <= 1.1, body.joint.name
        # wrists and ankles turn little mass through high gears;
        # everything else stays within a few limbs
        assert armature <= 3.0 * limb or body.joint.name[1:].startswith(
            ("ARM_WRIST", "LEG_ANKLE", "LEG_HIP_Y", "ARM_SHOULDER_Y")
        ), body.joint.name


def test_gains_hold_the_robot_upright_on_one_foot(robot):
    """Stiffness at the ankle has to beat the inverted pendulum: kp > m g h."""
    robot.stand_on_ground()
    pendulum = robot.mass * GRAVITY * centre_of_mass(robot)[2]
    parts = ("ANKLE", "HIP_R", "HIP_P", "KNEE")
    legs = [name for name in robot.joint_names if any(part in name for part in parts)]
    # of each leg two at the hip, the knee, and two at the ankle
    assert len(legs) == 2 * 5
    for name in robot.joint_names:
        motor = robot.joint(name).motor
        assert motor.kp > 0
        assert motor.kd > 0
        assert motor.kp > (5 * pendulum if name in legs else 0), name


def test_sensors_are_at_their_published_places(robot):
    assert robot.sensors["imu"].body.name == "chest"
    assert robot.sensors["imu"].placement.p == pytest.approx([-0.13, 0, 0.118])
    for side in ("left", "right"):
        assert robot.sensors[f"{side}_foot_force"].body is robot.feet[side].body
        assert robot.sensors[f"{side}_foot_force"].placement.p == pytest.approx([0, 0, -0.105])
        assert robot.sensors[f"{side}_wrist_force"].body.name == f"{side}_hand"


# ---- ankle bush ---------------------------------------------------------------------------------


def test_bush_adds_three_springs_per_ankle_and_leaves_the_thirty_motors():
    """The numbers are those of HRP2JSK's simulation."""
    robot = hrp2(bush=True)
    springs = {
        b.joint.name: (b.joint.kind, b.joint.stiffness, b.joint.damping)
        for b in robot.bodies
        if b.joint.passive
    }
    assert robot.joint_names == hrp2().joint_names
    for side in ("right", "left"):
        assert springs[f"{side}_bush_z"] == ("prismatic", 1e5, 1e2)
        assert springs[f"{side}_bush_roll"] == ("revolute", 500.0, 5.0)
        assert springs[f"{side}_bush_pitch"] == ("revolute", 500.0, 5.0)
    assert len(springs) == 6


def test_published_sinks_count_the_whole_weight():
    robot = hrp2(bush=True)
    stiffness = robot.joint("left_bush_z").stiffness
    assert robot.mass * GRAVITY / (2 * stiffness) == pytest.approx(2.845e-3, abs=5e-7)
    assert robot.mass * GRAVITY / stiffness == pytest.approx(5.690e-3, abs=5e-7)


def test_soft_bush_alone_barely_holds_the_robot_on_one_foot():
    """500 N m/rad against m g h of about 450:
    an inclination is amplified many times, as reported for this robot.
    """
    robot = hrp2(bush=True)
    robot.stand_on_ground()
    X = robot.placements()
    height = centre_of_mass(robot)[2] - X[robot.body("left_foot")].p[2]
    pendulum = robot.mass * GRAVITY * height
    stiffness = robot.joint("left_bush_roll").stiffness
    assert pendulum < stiffness < 1.5 * pendulum
