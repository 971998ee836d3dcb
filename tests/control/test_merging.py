"""Laws of several controllers at once: the later is heard, efforts add, what was told stays."""

import numpy as np
import pytest
from bipeds import biped
from tests.step.forces.test_motors import arm

import tabi
from tabi.control import hold, pd, together
from tabi.model.joint import Motor

SEEN = tabi.Measurement(np.zeros(10), np.zeros(10), np.zeros(10))


def says(*commands):
    """A controller that says these one after the other, the last for ever."""
    rest = list(commands)
    return lambda time, measurement: rest.pop(0) if len(rest) > 1 else rest[0]


def test_one_alone_says_what_it_says():
    robot, pose = biped(), {"l_hip": 0.3, "r_hip": -0.2}
    command = together(robot, hold(pose))(0.0, SEEN)
    assert dict(command.position) == pose
    assert command.velocity.tolist() == [0.0] * 10
    assert (command.effort, command.kp, command.kd) == (None, None, None)


def test_the_later_one_is_heard_and_efforts_add():
    robot = biped()
    first = tabi.Command(position=np.arange(10.0), effort=1.0, kp=5.0)
    second = tabi.Command(position={"l_hip": -1.0}, effort={"l_hip": 2.0}, kd=3.0)
    command = together(robot, says(first), says(second))(0.0, SEEN)
    k = robot.joint_names.index("l_hip")
    expected = np.arange(10.0)
    expected[k] = -1.0
    assert command.position.tolist() == expected.tolist()
    assert command.effort.tolist() == [3.0 if i == k else 1.0 for i in range(10)]
    assert (command.kp.tolist(), command.kd.tolist()) == ([5.0] * 10, [3.0] * 10)
    other = together(robot, says(second), says(first))(0.0, SEEN)
    assert other.position.tolist() == list(np.arange(10.0))
    assert other.effort.tolist() == command.effort.tolist()


def test_grouping_does_not_matter():
    robot = biped()
    parts = [
        tabi.Command(position={"l_hip": 1.0, "r_hip": 2.0}, effort={"l_hip": 1.0}),
        tabi.Command(position={"l_hip": 3.0}, velocity=1.0, effort={"l_hip": 2.0, "l_knee": 4.0}),
        tabi.Command(position={"r_knee": 4.0}, effort=8.0, kp={"r_knee": 9.0}),
    ]
    a, b, c = (says(part) for part in parts)
    flat = together(robot, a, b, c)(0.0, SEEN)
    for nested in (
        together(robot, together(robot, a, b), c),
        together(robot, a, together(robot, b, c)),
    ):
        command = nested(0.0, SEEN)
        for name in ("position", "velocity", "effort", "kp", "kd"):
            x, y = getattr(command, name), getattr(flat, name)
            assert (None if x is None else repr(x)) == (None if y is None else repr(y))


def test_what_a_part_told_stays_told():
    robot = biped()
    arms = says(tabi.Command(position={"l_hip": 1.0}, effort={"l_hip": 5.0}), tabi.Command())
    legs = says(tabi.Command(position=0.0, effort=1.0), tabi.Command(position=2.0))
    both = together(robot, legs, arms)
    both(0.0, SEEN)
    command = both(0.1, SEEN)
    k = robot.joint_names.index("l_hip")
    assert (command.position[k], command.position[k - 1]) == (1.0, 2.0)
    assert (command.effort[k], command.effort[k - 1]) == (6.0, 1.0)


def test_the_same_from_all_parts_is_the_same_object_and_a_reset_forgets():
    robot = biped()
    both = together(robot, hold({"l_hip": 1.0}), hold({"r_hip": 1.0}))
    first = both(0.0, SEEN)
    assert both(0.1, SEEN) is first
    both.reset()
    again = both(0.0, SEEN)
    assert again is not first
    assert dict(again.position) == {"l_hip": 1.0, "r_hip": 1.0}


def test_a_reset_reaches_the_parts():
    class Counting:
        asked = resets = 0

        def __call__(self, time, measurement):
            self.asked += 1
            return tabi.Command(position=0.0)

        def reset(self):
            self.resets += 1

    world, robot = arm(motor=Motor(kp=10.0, kd=1.0))
    part = Counting()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, together(robot, part))
    before = part.resets
    sim.run(0.01)
    sim.reset()
    assert (part.asked, part.resets) == (10, before + 1)


def test_gravity_by_effort_beside_a_pd_takes_its_sag_away():
    world, robot = arm()
    sim = tabi.Simulator(world)
    carried = says(tabi.Command(effort={"pivot": -2.0 * 9.81 * 0.5}))
    sim.set_controller(robot, together(robot, pd(robot, {"pivot": 0.0}, 100.0, 20.0), carried))
    sim.run(0.5)
    assert abs(sim.state.q[0]) < 1e-12


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (None, "part 0 of together, for biped, returned nothing at 0 s; expected a tabi.Command"),
        ({"l_hip": 1.0}, "returned a dict at 0 s"),
        (
            tabi.Command(position=[1.0, 2.0]),
            r"position in part 0 of together at 0 s has shape \(2,",
        ),
        (tabi.Command(position={"hip": 1.0}), "joint 'hip' not found in position in part 0"),
        (tabi.Command(effort={"l_hip": "much"}), "for joint 'l_hip', is 'much'; expected a number"),
    ],
)
def test_commands_that_cannot_be_are_refused(command, words):
    with pytest.raises(tabi.ModelError, match=words):
        together(biped(), says(command))(0.0, SEEN)


@pytest.mark.parametrize("told", [np.array([np.nan]), {"pivot": np.nan}])
def test_what_is_no_number_is_refused_where_it_is_commanded(told):
    world, robot = arm(motor=Motor(kp=10.0, kd=1.0))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, together(robot, says(tabi.Command(0.0)), says(tabi.Command(told))))
    with pytest.raises(tabi.ModelError, match="position in the command of arm at 0 s is nan for j"):
        sim.step()


def test_nothing_together_and_what_is_no_controller_are_refused():
    with pytest.raises(tabi.ModelError, match="together has no controller of biped; expected one"):
        together(biped())
    with pytest.raises(tabi.ModelError, match="part 1 is 5; expected a controller, a function"):
        together(biped(), hold({}), 5)
