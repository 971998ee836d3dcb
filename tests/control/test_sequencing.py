"""Laws of one controller after the other: when each begins, its own time, nothing that stays."""

import numpy as np
import pytest
from bipeds import biped
from tests.step.forces.test_motors import arm

import tabi
from tabi.control import hold, pd, sequence
from tabi.model.joint import Motor

SEEN = tabi.Measurement(np.zeros(10), np.zeros(10), np.zeros(10))


class Clock:
    """Keeps the times it is asked at."""

    def __init__(self):
        self.times, self.resets = [], 0

    def __call__(self, time, measurement):
        self.times.append(time)
        return tabi.Command(position=1.0)

    def reset(self):
        self.resets += 1


def test_each_part_sees_its_own_time_and_the_last_goes_on():
    a, b = Clock(), Clock()
    both = sequence(biped(), [(0.3, a), (0.2, b)])
    # begins when it is first asked, at a time of the simulation
    for k in range(10):
        both(5.0 + 0.1 * k, SEEN)
    assert a.times == pytest.approx([0.0, 0.1, 0.2])
    assert b.times == pytest.approx(0.1 * np.arange(7), abs=1e-12)
    assert (a.resets, b.resets) == (1, 1)
    assert both.playing == 1


def test_a_sequence_of_sequences_is_the_flat_one():
    robot = biped()
    flat, nested = [Clock() for _ in range(3)], [Clock() for _ in range(3)]
    one = sequence(robot, [(0.2, flat[0]), (0.3, flat[1]), (None, flat[2])])
    inner = sequence(robot, [(0.2, nested[0]), (0.3, nested[1])])
    two = sequence(robot, [(0.5, inner), (None, nested[2])])
    for k in range(12):
        one(0.07 * k, SEEN)
        two(0.07 * k, SEEN)
    for x, y in zip(flat, nested, strict=True):
        assert x.times == pytest.approx(y.times, abs=1e-12)


def test_a_reset_and_a_time_that_is_past_begin_anew():
    a = Clock()
    again = sequence(biped(), [(0.3, a), (None, hold({}))])
    for time in (1.0, 1.5, 0.25, 0.5):
        again(time, SEEN)
    again.reset()
    again(7.0, SEEN)
    assert a.times == pytest.approx([0.0, 0.0, 0.25, 0.0])


def test_nothing_of_the_part_before_stays():
    # after a torque PD with a velocity, a hold with the motors' own gains
    world, robot = arm(gravity=False, motor=Motor(kp=200.0, kd=40.0))
    pushing = lambda t, m: tabi.Command(effort=3.0, velocity=2.0, kp=0.0, kd=1.0)  # noqa: E731
    sim = tabi.Simulator(world)
    parts = [
        (0.1, pd(robot, {"pivot": 0.5}, 50.0, 5.0)),
        (0.1, pushing),
        (None, hold({"pivot": 0.2})),
    ]
    sim.set_controller(robot, sequence(robot, parts))
    sim.run(4.0)
    assert sim.state.q[0] == pytest.approx(0.2, abs=1e-9)
    assert abs(sim.measure(robot).effort[0]) < 1e-6


def test_positions_that_a_part_does_not_name_stay():
    robot = biped()
    parts = [(0.1, hold(dict.fromkeys(robot.joint_names, 1.0))), (None, hold({"l_hip": 2.0}))]
    both = sequence(robot, parts)
    both(0.0, SEEN)
    assert dict(both(0.1, SEEN).position) == {"l_hip": 2.0}
    assert both(0.1, SEEN).kp is None


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (
            [],
            r"a sequence of biped has no part; expected one or more: \(duration \[s\], controller",
        ),
        ([(0.0, hold({}))], "duration of part 0 of a sequence is 0 s; expected a positive number"),
        ([(-1.0, hold({}))], "duration of part 0 of a sequence is -1 s"),
        ([(np.nan, hold({}))], "duration of part 0 of a sequence is nan s"),
        ([(None, hold({})), (1.0, hold({}))], "duration of part 0 of a sequence is None"),
        ([(1.0, "walk")], "controller of part 0 of a sequence is 'walk'; expected a controller"),
        (
            [hold({})],
            r"part 0 of a sequence is <function .*; expected \(duration \[s\], controller",
        ),
    ],
)
def test_parts_that_cannot_be_are_refused(parts, words):
    with pytest.raises(tabi.ModelError, match=words):
        sequence(biped(), parts)


def test_a_controller_that_steps_its_own_simulator_is_told_so_in_one_sentence():
    world, robot = arm(motor=Motor(kp=10.0, kd=1.0))
    sim = tabi.Simulator(world)

    def ahead(time, measurement):
        sim.step()
        return tabi.Command()

    sim.set_controller(robot, sequence(robot, [(None, ahead)]))
    with pytest.raises(tabi.SimulationError) as told:
        sim.run(0.1)
    assert str(told.value).count("a step was asked for within a step") == 1
    assert len(str(told.value)) < 250
