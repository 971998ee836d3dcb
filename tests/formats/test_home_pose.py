"""The pose of a file in which a robot stands and that it holds."""

import math

import pytest

import tabi
from tabi.formats import home_pose
from tabi.robots import files

pytest.importorskip("mujoco")

THIGH = SHANK = 0.2
BALL = 0.02
# of a leg that is folded, hip and knee [rad]: its foot is under its hip
HIP, KNEE = 0.8, -1.6


def leg(name, x, y):
    bone = f'<geom type="capsule" fromto="0 0 0 0 0 -{THIGH}" size="0.01" mass="0.2"/>'
    hip = f'<joint name="{name}_hip" axis="0 1 0"/>{bone}'
    return f"""<body name="{name}_thigh" pos="{x} {y} 0">{hip}
      <body name="{name}_calf" pos="0 0 -{THIGH}"><joint name="{name}_knee" axis="0 1 0"/>{bone}
        <geom type="sphere" pos="0 0 -{SHANK}" size="{BALL}" mass="0.05" friction="1"/>
      </body></body>"""


def quadruped(folder, keys):
    """A trunk of 8 kg on four legs; keyframes of a name, a quaternion of the base, hip, knee."""
    ahead, aside = {"F": 0.2, "R": -0.2}, {"L": 0.1, "R": -0.1}
    names = [f"{end}{side}" for end in "FR" for side in "LR"]
    legs = "".join(leg(n, ahead[n[0]], aside[n[1]]) for n in names)
    servos = "".join(
        f'<position joint="{n}_{joint}" kp="300" kv="10"/>'
        for n in names
        for joint in ("hip", "knee")
    )
    frames = "".join(
        f'<key {name} qpos="0 0 0.4 {base} {f"{hip} {knee} " * 4}"/>'
        for name, base, hip, knee in keys
    )
    file = folder / "quadruped.xml"
    file.write_text(f"""<mujoco model="dog"><worldbody><body name="trunk" pos="0 0 0.5"><freejoint/>
      <geom type="box" size="0.25 0.08 0.03" mass="8"/>{legs}</body></worldbody>
      <actuator>{servos}</actuator><keyframe>{frames}</keyframe></mujoco>""")
    with files.quietly():
        return tabi.load(file)


LEVEL, ON_ITS_SIDE = "1 0 0 0", "0.7071 0.7071 0 0"


def test_a_quadruped_stands_in_its_home_keyframe_with_its_feet_on_the_ground(tmp_path):
    keys = [('name="low"', LEVEL, 1.2, -2.4), ('name="home"', LEVEL, HIP, KNEE)]
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(quadruped(tmp_path, keys))
    robot.stand_on_ground()
    # hips above their feet: thigh and shank lean by the same angle
    height = THIGH * math.cos(HIP) + SHANK * math.cos(HIP + KNEE) + BALL
    assert robot.base.joint.position[2] == pytest.approx(height, abs=1e-9)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(1.0)
    # it sinks into its motors: by torque/kp in each knee, less than a tenth
    assert not sim.fallen(robot)
    assert sim.pose(robot.base).p[2] == pytest.approx(height, rel=0.1)
    weight = sum(c.force[2] for c in sim.contacts)
    assert weight == pytest.approx(robot.mass * 9.81, rel=0.02)


@pytest.mark.parametrize(
    ("keys", "used"),
    [
        ([('name="low"', LEVEL, 1, -1), ('name="home"', LEVEL, 2, -2)], "home"),
        ([('name="low"', LEVEL, 1, -1), ('name="STAND_pose"', LEVEL, 2, -2)], "STAND_pose"),
        ([('name="stand"', LEVEL, 1, -1), ('name="Home"', LEVEL, 2, -2)], "Home"),
        ([("", LEVEL, 1, -1), ("", LEVEL, 2, -2)], "keyframe1"),
        ([('name="lying"', ON_ITS_SIDE, 1, -1), ('name="low"', LEVEL, 2, -2)], "low"),
    ],
)
def test_the_keyframe_to_stand_in_is_told(tmp_path, keys, used):
    robot = quadruped(tmp_path, keys)
    assert robot.half_sitting == robot.poses[used]
    (note,) = [note for note in robot.notes if "half_sitting" in note]
    assert f"keyframe {used!r} is also the robot's half_sitting" in note


def test_nobody_stands_in_a_keyframe_that_lies_on_its_side(tmp_path):
    robot = quadruped(tmp_path, [('name="home"', ON_ITS_SIDE, 1, -1)])
    assert "half_sitting" not in robot.poses


def test_a_keyframe_called_half_sitting_is_it_without_a_word(tmp_path):
    keys = [('name="home"', LEVEL, 1, -1), ('name="half_sitting"', LEVEL, 2, -2)]
    robot = quadruped(tmp_path, keys)
    assert robot.half_sitting["FL_hip"] == 2
    assert not any("half_sitting, in which" in note for note in robot.notes)


def test_a_pose_of_the_users_comes_before_the_keyframe(tmp_path):
    robot = quadruped(tmp_path, [('name="home"', LEVEL, HIP, KNEE)])
    robot.stand_on_ground({})
    straight = THIGH + SHANK + BALL
    assert robot.base.joint.position[2] == pytest.approx(straight, abs=1e-9)
    robot.poses["half_sitting"] = {}
    robot.stand_on_ground()
    assert robot.base.joint.position[2] == pytest.approx(straight, abs=1e-9)


def test_half_sitting_comes_before_home_and_home_before_the_rest():
    assert home_pose.named(["stand", "home", "half-sitting"]) == "half-sitting"
    assert home_pose.named(["stand", "home_pose"]) == "home_pose"
    assert home_pose.named(["squat", "Init"]) == "Init"
    assert home_pose.named(["standing_on_one_leg", "homework"]) is None


def test_the_a1_of_unitree_stands_on_its_feet(shared):
    world = tabi.World()
    world.add_ground()
    with files.quietly():
        robot = world.add_robot(shared / "data/robots/menagerie/unitree_a1/a1.xml")
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.run(2.0)
    assert not sim.fallen(robot)
    assert sim.pose(robot.base).R[2, 2] > 0.99
