"""Gains: the caller's before the file's, and none for joints that nothing drives."""

import math

import pytest

import tabi
from tabi.robots import files

pytest.importorskip("mujoco")

STIFFNESS, INERTIA = 8.0, 0.02
ACTUATORS = '<actuator><position name="servo" joint="{}" kp="75" kv="5"/></actuator>'


def mjcf(actuators, tail=""):
    """Two bars side by side on a mast that is bolted to the world, one of them on a spring."""
    bar = f'<inertial pos="0 0 0" mass="1" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
    return f"""<mujoco model="bars"><option gravity="0 0 0"/>
    <default><joint axis="0 1 0"/></default><worldbody><body name="mast">
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body name="left" pos="0 1 0"><joint name="arm"/>{bar}</body>
      <body name="right" pos="0 -1 0"><joint name="leaf" stiffness="{STIFFNESS}"/>{bar}</body>
    </body></worldbody>{actuators}{tail}</mujoco>"""


def loaded(folder, text, **settings):
    file = folder / "bars.xml"
    file.write_text(text)
    with files.quietly():
        return tabi.load(file, **settings)


def pair(robot, name):
    motor = robot.joint(name).motor
    return motor and (motor.kp, motor.kd)


@pytest.mark.parametrize("given", [(750.0, 50.0), {"arm": (750.0, 50.0)}])
def test_gains_of_the_caller_come_before_those_of_the_file(tmp_path, given):
    robot = loaded(tmp_path, mjcf(ACTUATORS.format("arm")), gains=given)
    assert pair(robot, "arm") == (750.0, 50.0)
    (note,) = [note for note in robot.notes if "the caller's" in note]
    assert "'arm' 75, 5" in note
    # and without them the file's are there
    assert pair(loaded(tmp_path, mjcf(ACTUATORS.format("arm"))), "arm") == (75.0, 5.0)


@pytest.mark.parametrize("asked", [True, False, None])
def test_gains_of_the_file_stay_where_none_are_given(tmp_path, asked):
    robot = loaded(tmp_path, mjcf(ACTUATORS.format("arm")), gains=asked)
    assert pair(robot, "arm") == (75.0, 5.0)
    assert not any("the caller's" in note for note in robot.notes)


@pytest.mark.parametrize("given", [True, None, (750.0, 50.0)])
def test_a_spring_beside_actuators_swings_with_its_own_period(tmp_path, given):
    # a motor without gains, so that gains are made up unless given
    motor = '<actuator><motor name="m" joint="arm"/></actuator>'
    robot = loaded(tmp_path, mjcf(motor), gains=given)
    assert pair(robot, "leaf") is None
    assert robot.joint("arm").motor.kp > 0
    (note,) = [note for note in robot.notes if "without an actuator" in note]
    assert note.endswith("(1): 'leaf'")
    robot.set_pose({"leaf": 0.1})
    world = tabi.World(gravity=(0, 0, 0))
    robot = world.add_robot(robot)
    dt = 1e-3
    sim = tabi.Simulator(world, dt=dt)
    # half a period: 0.1 rad on the other side, but for a damping of the step of order dt
    sim.run(math.pi * math.sqrt(INERTIA / STIFFNESS))
    row = robot.joint_names.index("leaf")
    assert sim.state.q[row] == pytest.approx(-0.1, abs=0.1 * 0.05)


def test_a_file_without_actuators_describes_a_robot_whose_joints_all_have_motors(tmp_path):
    robot = loaded(tmp_path, mjcf(""))
    assert robot.joint("arm").motor.kp > 0
    assert robot.joint("leaf").motor.kp > 0


def test_joints_of_tendons_are_no_springs(tmp_path):
    text = mjcf(
        ACTUATORS.format("arm"),
        '<tendon><fixed name="t"><joint joint="leaf" coef="1"/></fixed></tendon>',
    )
    assert loaded(tmp_path, text).joint("leaf").driven


def test_who_names_a_spring_gives_it_a_motor(tmp_path):
    robot = loaded(tmp_path, mjcf(ACTUATORS.format("arm")), gains={"leaf": (30.0, 1.0)})
    assert pair(robot, "leaf") == (30.0, 1.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("arms", "not there: joint 'arms' not found in bars; joints near that name: 'arm'"),
        ("bars_base", "which is fixed; expected joints with a motor of their own"),
        ("leaf", "which follows joint 'arm', whose motor moves both"),
    ],
)
def test_gains_of_joints_that_no_motor_holds_are_refused(tmp_path, name, words):
    coupled = '<equality><joint joint1="leaf" joint2="arm"/></equality>'
    with pytest.raises(tabi.ModelError) as refused:
        loaded(tmp_path, mjcf(ACTUATORS.format("arm"), coupled), gains={name: (1.0, 1.0)})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_booster_t1_gets_the_gains_that_are_asked_for(shared):
    file = shared / "data/robots/menagerie/booster_t1/t1.xml"
    with files.quietly():
        robot = tabi.load(file, gains=(750.0, 50.0))
    assert {pair(robot, name) for name in robot.joint_names} == {(750.0, 50.0)}


def test_cassie_has_ten_motors_and_loose_rods_and_springs(shared):
    file = shared / "data/robots/menagerie/agility_cassie/cassie.xml"
    for given in (None, True, (300.0, 10.0)):
        with files.quietly():
            robot = tabi.load(file, gains=given)
        driven = [name for name in robot.joint_names if robot.joint(name).motor]
        assert len(driven) == 10
        assert not any("rod" in name or "spring" in name or "shin" in name for name in driven)
