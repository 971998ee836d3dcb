"""From one posture into another: where it ends, that the feet stay, and what is refused."""

import numpy as np
import pytest

import tabi
from tabi import ModelError, walking
from tabi.lab.walking import walks
from tabi.robots import bipeds
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.posture import posture_pattern

ROBOTS = ["hrp2", "jvrc1", "talos", "g1"]


@pytest.fixture(scope="module")
def load(shared, example_robots):
    def loaded(name):
        if name == "hrp2":
            robot = tabi.robots.hrp2()
            bipeds.add_sensors(robot)
            return robot
        files = {
            "jvrc1": shared / "data" / "robots" / "jvrc1" / "jvrc1.urdf",
            "talos": tabi.robots.example_file("talos_reduced.urdf"),
            "g1": tabi.robots.example_file("g1_29dof_rev_1_0.urdf"),
        }
        return walks.stage(files[name])

    return loaded


def other_pose(robot, legs=0.6, others=0.1):
    """Half-sitting with straighter legs, whose pitch joints still sum up to level soles, and all
    else turned as far as its travel has room.
    """
    pose, moved = dict(robot.half_sitting), dict(robot.half_sitting)
    of_legs = {b.joint.name for side in ("left", "right") for b in _chain(robot, side)}
    for name in robot.joint_names:
        joint = robot.joint(name)
        if joint.q_count != 1 or joint.mimic is not None or joint.passive:
            continue
        if name in of_legs:
            moved[name] = legs * pose.get(name, 0.0)
        elif "waist" not in name.lower() and "torso" not in name.lower() and "chest" not in name:
            moved[name] = float(np.clip(pose.get(name, 0.0) + others, joint.lower, joint.upper))
    return moved


def _chain(robot, side):
    body, found = robot.feet[side].body, []
    while body is not None:
        found.append(body)
        body = body.parent
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_it_ends_in_the_posture_with_its_feet_where_they_were(name, load):
    robot = load(name)
    robot.place((0.3, -0.2, 0.0), (np.cos(0.4), 0, 0, np.sin(0.4)))
    robot.stand_on_ground(other_pose(robot))
    biped = Biped(robot)
    pattern = posture_pattern(robot)
    assert pattern.q[0] == pytest.approx(biped.q, abs=1e-7)
    wanted = robot.half_sitting
    for joint, column in zip(biped.joints, pattern.position.T, strict=True):
        assert column[-1] == pytest.approx(wanted.get(joint, 0.0), abs=1e-3), joint
    # the robot itself was not moved by asking
    assert robot.compile().initial() == pytest.approx(biped.q)
    # at rest in the end
    assert np.abs(np.diff(pattern.q[-20:], axis=0)).max() < 1e-9
    state = tabi.dynamics.Configuration(biped.model, pattern.q[0])
    for k in range(0, pattern.count, 20):
        state.update(pattern.q[k])
        for side in ("left", "right"):
            X = state.pose(robot.feet[side])
            # as far as inverse kinematics goes
            assert biped.stance[side].p == pytest.approx(X.p, abs=1e-8)
    # a quintic at two fifths of the motors' speeds
    v = np.abs(np.diff(pattern.position, axis=0)) / pattern.gait.tick
    fastest = [robot.joint(j).velocity_limit for j in biped.joints]
    assert (v <= 0.401 * np.array(fastest)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_a_simulated_robot_follows_and_its_feet_do_not_slip(name, load):
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(load(name))
    robot.stand_on_ground(other_pose(robot))
    pattern = posture_pattern(robot)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, walking.Walker(pattern, walking.Stabiliser()), rate=200)
    start = {side: sim.pose(foot).p for side, foot in robot.feet.items()}
    sim.run(pattern.duration + 0.5)
    assert sim.pose(robot.base).R[2, 2] > np.cos(np.radians(2.0))
    for side, foot in robot.feet.items():
        assert np.hypot(*(sim.pose(foot).p - start[side])[:2]) < 1e-3
    # knees give way to the weight by some hundredths of a radian; arms may stick in their gears
    legs = pattern.biped.legs.columns.ravel()
    wanted = np.array([robot.half_sitting.get(name, 0.0) for name in pattern.biped.joints])
    assert sim.measure(robot).position[legs] == pytest.approx(wanted[legs], abs=0.06)


@pytest.mark.slow
def test_stretched_knees_bend_the_way_the_posture_does():
    robot = tabi.robots.hrp2()
    robot.stand_on_ground({})
    pattern = posture_pattern(robot)
    knees = [pattern.biped.joints.index(name) for name in ("RLEG_KNEE_P", "LLEG_KNEE_P")]
    assert (np.diff(pattern.position[:, knees], axis=0) > -1e-9).all()
    back = posture_pattern(pattern.biped, "half_sitting", duration=2.0)
    assert back.duration == pytest.approx(2.5, abs=0.011)


@pytest.mark.slow
def test_what_cannot_be_is_refused():
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    with pytest.raises(ModelError, match="would fall on the way into the posture"):
        half = dict(robot.half_sitting)
        half["CHEST_P"] = half.get("CHEST_P", 0.0) + 0.9
        half["RARM_SHOULDER_P"] = half["LARM_SHOULDER_P"] = -1.8
        half["RARM_ELBOW_P"] = half["LARM_ELBOW_P"] = 0.0
        for leg in "RL":
            half[f"{leg}LEG_HIP_P"] += 0.15
            half[f"{leg}LEG_ANKLE_P"] -= 0.15
        posture_pattern(robot, half)
    arms = dict(robot.half_sitting) | {"HEAD_Y": 0.5}
    with pytest.raises(ModelError, match=r"joint 'HEAD_Y' .*it can go"):
        posture_pattern(robot, arms, duration=0.1)
    with pytest.raises(ModelError, match="duration of a posture is 0"):
        posture_pattern(robot, duration=0.0)
    robot.stand_on_ground()
    robot.joint("LLEG_ANKLE_P").position = robot.joint("LLEG_ANKLE_P").position + 0.2
    with pytest.raises(ModelError, match="foot 'left' of hrp2 is tilted by"):
        posture_pattern(robot)
    # one foot beside the other than in the posture, wider than straight legs reach
    robot.stand_on_ground()
    wide = dict(robot.half_sitting)
    for leg, sign in (("R", -1.0), ("L", 1.0)):
        wide[f"{leg}LEG_HIP_R"] = 0.45 * sign
        wide[f"{leg}LEG_ANKLE_R"] = -0.45 * sign
        wide[f"{leg}LEG_HIP_P"] = wide[f"{leg}LEG_ANKLE_P"] = wide[f"{leg}LEG_KNEE_P"] = 0.0
    robot.stand_on_ground(wide)
    with pytest.raises(ModelError, match="does not reach its sole during"):
        posture_pattern(robot, {})
