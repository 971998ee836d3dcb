"""Logs: a fresh controller on a log says the same to the last bit, from memory and from a file."""

import numpy as np
import pytest
from tests.step.forces.test_motors import arm

import tabi
from tabi.control import (
    ControlLog,
    Estimator,
    Logged,
    hold,
    pd,
    read_log,
    replay,
    sequence,
    sway,
    together,
)
from tabi.model.joint import Motor


def standing(controller_of, seconds=0.2, **options):
    """A log of HRP-2 with noisy sensors, on the ground."""
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2(sensor_noise=True))
    sim = tabi.Simulator(world, seed=3)
    logged = Logged(controller_of(robot))
    sim.set_controller(robot, logged, **options)
    sim.run(seconds)
    return robot, sim, logged


def balancing(robot):
    """A controller with a memory: an estimator, and hips that answer to it."""
    estimator, motion = Estimator(robot), sway(robot)

    class Balance:
        def __call__(self, time, measurement):
            told = motion(time, measurement)
            lean = float(estimator(time, measurement).base.R[0, 2])
            return tabi.Command(told.position, told.velocity, {"CHEST_P": 5.0 * lean}, kd=None)

        def reset(self):
            estimator.reset()

    arms = pd(robot, {"RARM_ELBOW_P": -0.5}, 50.0, 5.0)
    return sequence(robot, [(0.1, together(robot, Balance(), arms)), (None, Balance())])


@pytest.mark.parametrize("truth", [False, True])
def test_a_fresh_controller_on_a_saved_log_says_the_same_to_the_bit(tmp_path, truth):
    robot, _, logged = standing(balancing, rate=200.0, truth=truth)
    assert len(logged.log) == 40
    logged.log.save(tmp_path / "run.npz")
    loaded = read_log(tmp_path / "run.npz")
    assert loaded.first_difference(logged.log.commands) == ""
    for (time, seen), (then, was) in zip(loaded, logged.log, strict=True):
        assert time == then
        for name in ("position", "velocity", "effort"):
            assert getattr(seen, name).tobytes() == getattr(was, name).tobytes()
        assert {n: x.tobytes() for n, x in seen.sensors.items()} == {
            n: x.tobytes() for n, x in was.sensors.items()
        }
        assert bool(seen.truth) is truth
    again = replay(balancing(robot), tmp_path / "run.npz")
    assert logged.log.first_difference(again.commands) == ""
    # and so does the one that ran: replay begins it anew
    assert logged.log.first_difference(replay(logged.controller, loaded).commands) == ""


def test_the_truth_of_a_log_is_kept(tmp_path):
    _, _, logged = standing(lambda robot: hold(robot.half_sitting), 0.02, truth=True)
    logged.log.save(tmp_path / "run.npz")
    kept = read_log(tmp_path / "run.npz").measurements
    # one in each of twenty steps of a millisecond
    assert len(kept) == 20
    for seen, was in zip(kept, logged.log.measurements, strict=True):
        assert np.array_equal(seen.base.R, was.base.R)
        assert np.array_equal(seen.base.p, was.base.p)
        assert np.array_equal(seen.base_velocity.linear, was.base_velocity.linear)
        assert np.array_equal(seen.base_velocity.angular, was.base_velocity.angular)
        assert seen.forces.keys() == was.forces.keys()
        assert all(np.array_equal(seen.forces[n], was.forces[n]) for n in was.forces)


def test_another_controller_is_found_out_by_its_first_command(tmp_path):
    world, robot = arm(motor=Motor(kp=10.0, kd=1.0))
    sim, logged = tabi.Simulator(world), Logged(pd(robot, {"pivot": 0.3}, 50.0, 5.0))
    sim.set_controller(robot, logged)
    sim.run(0.01)
    other = replay(pd(robot, {"pivot": 0.3}, 50.0, 5.001), logged.log)
    # at rest in the first step, so the gains differ from the second one on
    assert logged.log.first_difference(other.commands).startswith("effort at 0.001 s was ")
    assert logged.log.first_difference(other.commands[:1]) == "there were 10 commands and are 1"


def test_every_way_to_tell_a_command_is_kept(tmp_path):
    told = [
        tabi.Command(),
        tabi.Command(position={"a": -0.0, "b": 1e-300}, velocity=-0.0, kp=[1.0, 2.0]),
        tabi.Command(position=np.array([np.pi, 1 / 3]), effort={"b": 2}, kd={"b": 1.0}),
    ]
    seen = tabi.Measurement(np.zeros(2), np.zeros(2), np.zeros(2))
    log = ControlLog([0.0, 0.1, 0.2], [seen] * 3, told)
    log.save(tmp_path / "log.npz")
    loaded = read_log(tmp_path / "log.npz")
    assert loaded.first_difference(told) == ""
    assert np.signbit(loaded.commands[1].velocity)
    assert dict(loaded.commands[1].position) == {"a": 0.0, "b": 1e-300}


def test_a_reset_begins_a_new_log():
    _, sim, logged = standing(lambda robot: hold(robot.half_sitting), 0.01)
    assert len(logged.log) == 10
    sim.reset()
    assert len(logged.log) == 0


def test_files_that_are_no_logs_are_refused(tmp_path):
    with pytest.raises(tabi.ModelError, match="no such file; expected a log"):
        read_log(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello", encoding="utf-8")
    with pytest.raises(tabi.ModelError, match=r"text\.npz: is no log; expected an \.npz file"):
        read_log(tmp_path / "text.npz")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(tabi.ModelError, match="has no array 'time', so it is no log"):
        read_log(tmp_path / "other.npz")
    with pytest.raises(tabi.ModelError, match="the log is empty; run its controller before"):
        ControlLog().save(tmp_path / "empty.npz")
    log = ControlLog([0.0], [tabi.Measurement(*np.zeros((3, 1)))], [tabi.Command()])
    with pytest.raises(tabi.ModelError, match=r"saved as 'log\.txt'; expected a name that ends"):
        log.save(tmp_path / "log.txt")
    with pytest.raises(tabi.ModelError, match=r"entry 0 of the log is int; expected \(time, Mea"):
        replay(hold({}), [1])
    with pytest.raises(tabi.ModelError, match="what is logged is 3; expected a controller"):
        Logged(3)


class Counting:
    """A controller with a state."""

    def __init__(self):
        self.count = 0

    def __call__(self, time, measurement):
        self.count += 1
        return tabi.Command(effort={"HEAD_Y": 0.01 * self.count})

    def save_state(self):
        return self.count

    def restore_state(self, state):
        self.count = state


def test_a_restored_moment_has_the_log_and_the_controller_of_then():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    sim, logged = tabi.Simulator(world), Logged(Counting())
    sim.set_controller(robot, logged)
    sim.run(0.005)
    moment = sim.save()
    sim.run(0.005)
    end = sim.q.copy()
    sim.restore(moment)
    assert (len(logged.log), logged.controller.count) == (5, 5)
    sim.run(0.005)
    assert (sim.q == end).all()
    assert [c.effort["HEAD_Y"] for c in logged.log.commands] == [0.01 * k for k in range(1, 11)]
