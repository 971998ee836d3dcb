"""HRP-1S against its published numbers, the law of similarity it is estimated by, its own mirror
image, and its weight where it stands.
"""

import numpy as np
import pytest

import tabi
from tabi.model.robot import Robot
from tabi.robots import hrp1s, hrp2

G = 9.81
FLIP = np.diag([1.0, -1.0, 1.0])
# moved by thirty joints, and the one that nothing moves
BODIES = 31
# published: 1600 mm and 120 kg against 1540 mm and 58 kg
LENGTH, WEIGHT = 1600 / 1540, 120 / 58


@pytest.fixture
def robot() -> Robot:
    return hrp1s()


def other_side(name: str) -> str:
    if name.startswith(("right_", "left_")):
        pair = ("right", "left") if name.startswith("right") else ("left", "right")
        return name.replace(*pair)
    return {"R": "L", "L": "R"}[name[0]] + name[1:] if name[1:4] in ("LEG", "ARM") else name


def centre_of_mass(robot: Robot) -> np.ndarray:
    places = robot.placements().items()
    return sum(b.inertia.mass * (X @ b.inertia.centre) for b, X in places) / robot.mass


# ---- what it is ---------------------------------------------------------------------------------


def test_it_has_thirty_joints_and_none_in_the_trunk(robot):
    limbs = ("RLEG", "LLEG", "RARM", "LARM", "HEAD")
    counts = {limb: sum(n.startswith(limb) for n in robot.joint_names) for limb in limbs}
    assert counts == {"RLEG": 6, "LLEG": 6, "RARM": 8, "LARM": 8, "HEAD": 2}
    assert len(robot.joint_names) == 30
    leg = [name for name in robot.joint_names if name.startswith("RLEG")]
    assert [n.removeprefix("RLEG_") for n in leg] == [
        "HIP_Y",
        "HIP_R",
        "HIP_P",
        "KNEE_P",
        "ANKLE_P",
        "ANKLE_R",
    ]


@pytest.mark.parametrize("bush", [False, True])
def test_it_weighs_120_kg(bush):
    assert hrp1s(bush).mass == pytest.approx(120.0, abs=1e-9)


def test_it_is_1600_mm_tall_with_all_joints_at_zero(robot):
    robot.stand_on_ground("zero")
    assert robot.extent((0, 0, 1)) == pytest.approx(1.600, abs=1e-9)
    assert robot.extent((0, 0, -1)) == pytest.approx(0.0, abs=1e-9)


def test_legs_and_head_have_the_mass_matrix_of_a_similar_robot(robot):
    """Inertias of similar bodies go with mass × length², at any angles, rotors included."""
    small = hrp2()
    legs = [n for n in small.joint_names if n[1:4] == "LEG"] + ["HEAD_Y", "HEAD_P"]
    large_model, small_model = robot.compile(), small.compile()
    rng = np.random.default_rng(4)
    angles = {name: rng.uniform(-1.0, 1.0) for name in legs}

    def matrix(model):
        q = model.initial()
        for name, angle in angles.items():
            q[model.q_index(name)] = angle
        rows = [model.v_index(name) for name in legs]
        return tabi.dynamics.mass_matrix(model, q)[np.ix_(rows, rows)]

    expected = WEIGHT * LENGTH**2 * matrix(small_model)
    assert matrix(large_model) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_centre_of_mass_is_where_that_of_the_similar_robot_is(robot):
    small = hrp2()
    robot.stand_on_ground()
    small.stand_on_ground()
    # fingers of 0.3 kg on either hand, a few cm from where the hand's own mass was
    moved = 2 * 0.3 * 0.1 / 120
    assert centre_of_mass(robot) == pytest.approx(LENGTH * centre_of_mass(small), abs=moved)


def test_what_hangs_on_the_trunk_is_where_the_chest_had_it(robot):
    small = hrp2()
    robot.stand_on_ground("zero")
    small.stand_on_ground("zero")
    here, there = robot.placements(), small.placements()
    for body in small.bodies:
        if body.name not in ("waist", "spine", "chest"):
            p = here[robot.body(body.name)].p
            assert p == pytest.approx(LENGTH * there[body].p, abs=1e-12), body.name
    imu, other = robot.sensors["imu"], small.sensors["imu"]
    assert imu.body.name == "trunk"
    assert here[imu.body] @ imu.placement.p == pytest.approx(
        LENGTH * (there[other.body] @ other.placement.p), abs=1e-12
    )


def test_motors_are_those_of_a_similar_robot_in_the_same_gravity(robot):
    """Torque mass × length; time √length: stiffness as torque, damping torque × time."""
    small = hrp2()
    torque = WEIGHT * LENGTH
    names = [name for name in small.joint_names if not name.startswith("CHEST")]
    # all but yaw and pitch of the chest
    assert len(names) == 30 - 2
    for name in names:
        a, b = robot.joint(name), small.joint(name)
        assert (a.lower, a.upper) == (b.lower, b.upper)
        assert a.effort_limit == pytest.approx(torque * b.effort_limit)
        assert a.velocity_limit == pytest.approx(b.velocity_limit / LENGTH**0.5)
        assert a.motor.torque_limit == a.effort_limit
        assert a.motor.gear_ratio == b.motor.gear_ratio
        assert a.motor.armature == pytest.approx(torque * LENGTH * b.motor.armature)
        assert a.motor.kp == pytest.approx(torque * b.motor.kp)
        assert a.motor.kd == pytest.approx(torque * LENGTH**0.5 * b.motor.kd)


LEG = ("ANKLE", "HIP_R", "HIP_P", "KNEE")


def test_gains_hold_the_robot_upright_on_one_foot(robot):
    """Stiffness of a leg's joints has to beat the inverted pendulum: kp > m g h."""
    robot.stand_on_ground()
    pendulum = robot.mass * G * centre_of_mass(robot)[2]
    legs = [n for n in robot.joint_names if any(part in n for part in LEG)]
    # of each leg two at the hip, the knee, and two at the ankle
    assert len(legs) == 2 * 5
    for name in robot.joint_names:
        motor = robot.joint(name).motor
        assert motor.kp > 0
        assert motor.kd > 0
        assert motor.rotor_inertia > 0
        assert motor.kp > (3 * pendulum if name in legs else 0), name


def test_bush_is_as_soft_against_the_pendulum_as_that_of_the_similar_robot():
    ratios = []
    for robot in (hrp1s(bush=True), hrp2(bush=True)):
        robot.stand_on_ground()
        height = centre_of_mass(robot)[2] - robot.placements()[robot.body("left_foot")].p[2]
        pendulum = robot.mass * G * height
        ratios.append(robot.joint("left_bush_roll").stiffness / pendulum)
        # it stands on one foot, and barely
        assert 1.0 < ratios[-1] < 1.5
        sink = robot.mass * G / (2 * robot.joint("left_bush_z").stiffness)
        assert 1e-3 < sink < 5e-3
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-3)


def test_fingers_turn_towards_the_other_hand_when_they_close(robot):
    for side, y in (("right", 1.0), ("left", -1.0)):
        robot.stand_on_ground("zero")
        tip = np.array([0.0, 0.0, -0.07])
        before = robot.placements()[robot.body(f"{side}_fingers")] @ tip
        robot.set_pose({f"{side[0].upper()}ARM_GRIPPER": 0.5})
        after = robot.placements()[robot.body(f"{side}_fingers")] @ tip
        assert y * (after - before)[1] > 0.02


def test_inertias_could_belong_to_bodies(robot):
    assert len(robot.bodies) == BODIES
    for body in robot.bodies:
        moments = np.linalg.eigvalsh(body.inertia.tensor)
        assert body.inertia.mass > 0
        assert moments[0] > 0, body.name
        assert moments[2] <= moments[0] + moments[1], body.name


def test_every_named_pose_lies_within_the_limits(robot):
    assert set(robot.poses) == {"zero", "half_sitting"}
    for pose in robot.poses.values():
        for name, angle in pose.items():
            assert robot.joint(name).lower <= angle <= robot.joint(name).upper, name


# ---- left and right -----------------------------------------------------------------------------


def test_left_bodies_have_the_mirrored_inertia_of_the_right(robot):
    assert len(robot.bodies) == BODIES
    for body in robot.bodies:
        twin = robot.body(other_side(body.name)).inertia
        assert twin.mass == body.inertia.mass
        assert twin.centre == pytest.approx(FLIP @ body.inertia.centre, abs=1e-15), body.name
        mirror = FLIP @ body.inertia.tensor @ FLIP
        assert twin.tensor == pytest.approx(mirror, abs=1e-17), body.name


def test_left_joints_have_the_mirrored_places_limits_and_motors_of_the_right(robot):
    assert len(robot.bodies) == BODIES
    for body in robot.bodies[1:]:
        joint, twin = body.joint, robot.joint(other_side(body.joint.name))
        assert twin.placement.p == pytest.approx(FLIP @ joint.placement.p, abs=1e-15)
        assert (twin.velocity_limit, twin.effort_limit) == (
            joint.velocity_limit,
            joint.effort_limit,
        )
        assert twin.motor == joint.motor
        # a mirror turns the sense of rotations about x and z, by the limits or by the axis
        same = tuple(twin.axis) == tuple(joint.axis)
        keeps = bool(joint.axis[1]) == same
        limits = (joint.lower, joint.upper) if keeps else (-joint.upper, -joint.lower)
        assert (twin.lower, twin.upper) == limits, joint.name


# ---- it stands ----------------------------------------------------------------------------------


def test_half_sitting_has_its_centre_of_mass_over_the_soles(robot):
    robot.stand_on_ground()
    com, X = centre_of_mass(robot), robot.placements()
    corners = np.concatenate([X[f.body] @ f.corners() for f in robot.feet.values()])
    assert corners[:, 0].min() + 0.05 < com[0] < corners[:, 0].max() - 0.05
    assert com[1] == pytest.approx(0.0, abs=1e-12)


# m in the last of five seconds: rigid laws hold soles to rounding; OpenHRP's law has no spring
# along the ground and creeps by the force of what still swings on the rubber, over its damping
CREEP = {("penalty", True): 1e-4}


@pytest.mark.slow
@pytest.mark.parametrize("bush", [False, True])
@pytest.mark.parametrize("contact", ["coulomb", "penalty", "selection"])
def test_it_stands_for_five_seconds_on_feet_that_bear_its_weight(contact, bush):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(hrp1s(bush))
    sim = tabi.Simulator(world, contact=contact)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))

    def soles():
        return np.array([tabi.dynamics.pose(sim.model, sim.state.q, s).p for s in robot.feet])

    sim.run(4.0)
    before = soles()
    sim.run(1.0)
    assert not sim.fallen(robot)
    assert sim.certificate.missed == 0
    assert np.abs(soles() - before).max() < CREEP.get((contact, bush), 1e-6)
    forces = [sim.foot_wrench(foot).force[2] for foot in robot.feet.values()]
    # what still swings on the rubber has accelerations of 1e-5 m/s²
    assert sum(forces) == pytest.approx(robot.mass * G, rel=2e-5)
    assert forces[0] == pytest.approx(forces[1], rel=1e-4)
    # only soles touch
    assert {c.body_a.name for c in sim.contacts if c.pressing} <= {
        foot.body.name for foot in robot.feet.values()
    }


def test_sensors_feel_half_the_weight_and_gravity_and_have_errors_when_asked():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(hrp1s())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(2.0)
    read = sim.measure(robot).sensors
    # half of all but what is below the sensors: the feet
    above = robot.mass / 2 - robot.body("left_foot").inertia.mass
    assert read["left_foot_force"][2] == pytest.approx(above * G, rel=1e-6)
    assert np.linalg.norm(read["imu"][3:]) == pytest.approx(G, rel=1e-6)
    noisy = hrp1s(sensor_noise=True).sensors.values()
    assert {s.body.joint.name for s in noisy if s.kind == "encoder"} == set(robot.joint_names)
    assert all(np.any(s.each("noise")) for s in noisy if s.kind != "encoder")


def test_a_scene_has_it_by_its_name_with_its_soft_feet():
    bush = "{stiffness_nm_rad: 1075, damping_nms_rad: 11, vertical_stiffness_n_m: 1.99e5}"
    text = f"title: t\nduration_s: 0.1\nground: {{}}\nrobots: [{{robot: hrp1s, bush: {bush}}}]\n"
    sim = tabi.scenes.loads(text).simulator()
    sim.run(0.1)
    robot = sim.world.robots[0]
    assert robot.mass == pytest.approx(120.0)
    assert robot.bush is not None
    assert sim.certificate.missed == 0
