"""Commands on their way to the motors: by number, array and name;
what is wrong with one is said in a sentence, and nothing of it is taken.
"""

from dataclasses import replace

import numpy as np
import pytest
from model.test_lookup import ROWS, limb

import tabi
from tabi.model.arrays import table
from tabi.model.lookup import joint_rows
from tabi.step.commands.driver import holding, write_command
from tabi.step.tables import MOTOR


def followed(**command):
    target = table(11, MOTOR)
    write_command(limb(), ROWS, tabi.Command(**command), target, 0.25)
    return target


def test_a_number_is_for_all_joints_an_array_in_their_order_and_names_for_those_named():
    target = followed(position=0.5, velocity=np.arange(5.0), effort={"wrist": 3.0})
    assert np.array_equal(target["position"], [0] * 6 + [0.5] * 5)
    assert np.array_equal(target["velocity"][6:], np.arange(5.0))
    assert np.array_equal(target["effort"][6:], [0, 0, 0, 0, 3.0])


def test_names_find_their_joint_behind_one_of_three_degrees_of_freedom():
    assert np.array_equal(followed(effort={"elbow": 2.0})["effort"][6:], [0, 0, 0, 2.0, 0])


def test_what_a_command_does_not_say_stays():
    target = table(11, MOTOR)
    target["kp"] = 7.0
    write_command(limb(), ROWS, tabi.Command(position=1.0), target, 0.0)
    assert (target["kp"] == 7.0).all()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            {"position": np.zeros(3)},
            r"position in the command of limb at 0.25 s has shape \(3,\); expected \(5,\)",
        ),
        (
            {"velocity": [0, 0, 0, 0, np.nan]},
            (
                r"velocity in the command of limb at 0.25 s is nan for joint 'wrist'; "
                r"expected a finite number"
            ),
        ),
        ({"effort": np.inf}, "effort in the command of limb at 0.25 s is inf for joint 'ball'"),
        (
            {"kp": {"elbow": -1.0}},
            "kp in the command of limb at 0.25 s is -1 for joint 'elbow'; expected gains ≥ 0",
        ),
        ({"kd": -2.0}, "kd in the command of limb at 0.25 s is -2 .* expected gains ≥ 0"),
        (
            {"position": {"elbwo": 1.0}},
            "joint 'elbwo' not found in position in the command of limb at 0.25 s; .*'elbow'",
        ),
        (
            {"position": {"elbow": "up"}},
            "position of joint 'elbow' in the command of limb at 0.25 s is 'up'; expected a number",
        ),
        (
            {"position": {"elbow": None}},
            "position of joint 'elbow' in the command of limb at 0.25 s is None; expected a number",
        ),
        (
            {"position": "up"},
            "a value of a command is 'up'; expected numbers",
        ),
        ({"position": [[1.0], [2.0, 3.0]]}, "expected 5 numbers, one per joint"),
    ],
)
def test_a_wrong_command_is_named_with_robot_time_and_joint(command, words):
    with pytest.raises(tabi.ModelError, match=words):
        followed(**command)


def test_of_a_wrong_command_nothing_is_taken():
    target = table(11, MOTOR)
    with pytest.raises(tabi.ModelError, match="kd"):
        write_command(limb(), ROWS, tabi.Command(position=1.0, kd=-1.0), target, 0.0)
    assert (target["position"] == 0.0).all()


@pytest.mark.parametrize("answer", [None, np.zeros(5), {"elbow": 1.0}])
def test_what_is_no_command_is_refused(answer):
    with pytest.raises(
        tabi.ModelError,
        match=r"controller of limb returned (nothing|a \w+) at 0.5 s; expected a tabi.Command",
    ):
        write_command(limb(), ROWS, answer, table(11, MOTOR), 0.5)


def test_at_rest_every_motor_holds_its_joint_where_it_is():
    world = tabi.World()
    robot = world.add_robot(limb())
    robot.set_pose({"elbow": 0.7})
    model = world.compile()
    target = holding(model, model.initial())
    assert target["position"][9] == pytest.approx(0.7)
    assert (target["kp"][9], target["kd"][9]) == (100.0, 1.0)
    assert not target["kp"][:9].any()


def test_joints_that_are_not_named_keep_what_they_were_told_last():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    robot.set_pose("half_sitting")
    sim = tabi.Simulator(world)
    start = sim.data.command.motor.copy()
    knee, head = (robot.joint_names.index(name) for name in ("RLEG_KNEE_P", "HEAD_Y"))
    rows = joint_rows(sim.model, robot)
    sim.set_controller(robot, lambda t, m: tabi.Command(position={"HEAD_Y": 0.3}, kp={"HEAD_Y": 7}))
    sim.step()
    motor = sim.data.command.motor
    assert motor["position"][rows[head]] == 0.3
    assert motor["kp"][rows[head]] == 7.0
    for field in ("position", "velocity", "effort", "kp", "kd"):
        assert motor[field][rows[knee]] == start[field][rows[knee]]
    assert start["position"][rows[knee]] > 0.5


def test_a_pose_told_to_motors_without_gains_is_refused():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    for name in robot.joint_names:
        motor = robot.joint(name).motor
        if motor is not None:
            robot.joint(name).motor = replace(motor, kp=0.0, kd=0.0)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({}))
    with pytest.raises(tabi.ModelError, match=r"no motor of hrp2 has gains.*gains=True"):
        sim.step()
    # gains in the command, or efforts, will do
    for command in (tabi.Command(position=0.0, kp=10.0, kd=1.0), tabi.Command(effort=1.0)):
        sim.set_controller(robot, lambda t, m, command=command: command)
        sim.step()
    assert sim.data.steps == 2


def test_passive_joints_are_neither_seen_nor_commanded():
    """One number for all joints is for those with motors, as arrays and measurements are."""
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2(bush=True))
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, lambda time, seen: tabi.Command(effort=1.0, kp=50.0, kd=5.0))
    sim.step()
    assert len(sim.measure(robot).position) == 30
    rubber = [sim.model.v_index(b.joint.name) for b in robot.bodies if b.joint.passive]
    assert len(rubber) == 6
    for field in ("effort", "kp", "kd"):
        told = sim.data.command.motor[field]
        assert (told[rubber] == 0).all()
        assert (told[joint_rows(sim.model, robot)] > 0).all()
    target = table(sim.model.v_count, MOTOR)
    with pytest.raises(tabi.ModelError) as fault:
        command = tabi.Command(position={"left_bush_pitch": 0.1})
        write_command(robot, joint_rows(sim.model, robot), command, target, 0.5)
    assert str(fault.value) == (
        "position in the command of hrp2 at 0.5 s names joint 'left_bush_pitch', "
        "which is passive: nothing drives it; leave it out"
    )


def swinging(command, dt=1e-3):
    """Positions of a joint that goes exactly where it is told."""
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    sim = tabi.Simulator(world, dt=dt)
    sim.prescribe(robot)
    sim.set_controller(robot, command, rate=200)
    seen = []
    for _ in range(12):
        sim.step()
        seen.append(sim.measure(robot).position[robot.joint_names.index("HEAD_Y")])
    return np.array(seen)


def test_over_a_time_a_position_is_reached_evenly():
    turned = swinging(lambda t, m: tabi.Command({"HEAD_Y": 0.005 * (t > 0)}, 0.0, over=0.005))
    # told at 5 ms, on its way from then on, there at 10 ms, and it stays
    wanted = np.concatenate([np.zeros(5), 0.001 * np.arange(1, 6), [0.005, 0.005]])
    assert turned == pytest.approx(wanted, abs=1e-12)
    at_once = swinging(lambda t, m: tabi.Command({"HEAD_Y": 0.005 * (t > 0)}, 0.0))
    assert at_once == pytest.approx(0.005 * (np.arange(1, 13) > 5), abs=1e-12)


def test_arrays_and_names_go_the_same_way_and_a_new_command_begins_where_the_last_one_was():
    robot = tabi.robots.hrp2()
    names, pose = robot.joint_names, tabi.World()
    pose = pose.add_robot(tabi.robots.hrp2())
    start = np.array([pose.half_sitting.get(name, 0.0) for name in names])
    head = names.index("HEAD_Y")

    def by_array(t, m):
        q = start.copy()
        q[head] = 0.1 if t < 0.004 else -0.1
        return tabi.Command(position=q, velocity=np.zeros(len(q)), over=0.02)

    def by_name(t, m):
        return tabi.Command({"HEAD_Y": 0.1 if t < 0.004 else -0.1}, 0.0, over=0.02)

    turned = swinging(by_array)
    assert turned == pytest.approx(swinging(by_name), abs=1e-12)
    # a quarter of the way there, then evenly towards the other side
    way = np.concatenate([0.005 * np.arange(1, 6), 0.025 - 0.125 / 20 * np.arange(1, 6)])
    assert turned[:10] == pytest.approx(way, abs=1e-12)


@pytest.mark.parametrize("over", [0.0, -1.0, float("nan"), float("inf"), "soon"])
def test_over_is_a_positive_time(over):
    with pytest.raises(
        (tabi.ModelError, tabi.SimulationError), match="over in the command of hrp2"
    ):
        swinging(lambda t, m: tabi.Command(np.zeros(30), over=over))
