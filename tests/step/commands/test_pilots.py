"""Controllers that are kernels, against the same asked from Python."""

import numpy as np
import pytest

import tabi
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.controllers.pilot import Channel, Pilot, channel


class Copying(Structure):
    channel: Channel
    gain: np.ndarray


@kernel
def push_back(own):
    """Each joint is told the negative of its position, and as its effort what the IMU felt."""
    talk = own.channel
    for j in range(talk.position.shape[0]):
        talk.command[0, j] = -own.gain[0] * talk.position[j]
        talk.command[1, j] = 0.1 * talk.velocity[j]
        talk.command[2, j] = 0.01 * talk.reading[5] + 1e-3 * talk.effort[j] + talk.time[0]
    talk.command_mask[0], talk.over[0] = 7, 0.004


class Both:
    """A controller as a kernel, and as a function."""

    def __init__(self, robot, gain=0.5):
        n = len(robot.joint_names)
        self.own = Copying(channel(n, 6), np.array([gain]))
        self.resets = 0

    def pilot(self):
        return Pilot(push_back, self.own, self.own.channel, ("imu",), 0.004)

    def reset(self):
        self.resets += 1
        self.own.channel.time[0] = -np.inf

    def __call__(self, time, seen):
        effort = 0.01 * seen.sensors["imu"][5] + 1e-3 * seen.effort + time
        return tabi.Command(
            -self.own.gain[0] * seen.position, 0.1 * seen.velocity, effort, over=0.004
        )


def world_of(**kind):
    world = tabi.World()
    world.add_ground()
    return world, world.add_robot(tabi.robots.hrp2(**kind))


@pytest.mark.parametrize("noise", [False, True])
def test_what_a_kernel_sees_and_says_is_what_a_function_does(noise):
    ends = []
    for compiled in (True, False):
        world, robot = world_of(sensor_noise=noise)
        sim, both = tabi.Simulator(world, seed=3), Both(robot)
        sim.set_controller(robot, both if compiled else (lambda t, m, b=both: b(t, m)), rate=250)
        assert sim.drivers[robot.name].compiled is compiled
        sim.run(0.1)
        ends.append(sim.q.copy())
    # sums may be done in another order, and contacts are solved to 1e-8 m/s
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_single_steps_runs_and_steps_without_asking():
    world, robot = world_of()
    sim, both = tabi.Simulator(world), Both(robot)
    sim.set_controller(robot, both, rate=250)
    times = []
    for _ in range(9):
        sim.step()
        times.append(both.own.channel.time[0])
    # asked at 0, 4 and 8 ms
    assert times == pytest.approx([0.0] * 4 + [0.004] * 4 + [0.008])
    for _ in range(8):
        sim.step(ask=False)
    assert both.own.channel.time[0] == pytest.approx(0.008)
    sim.run(0.004)
    assert both.own.channel.time[0] == pytest.approx(0.020)


def test_going_back_begins_anew():
    world, robot = world_of()
    sim, both = tabi.Simulator(world), Both(robot)
    sim.set_controller(robot, both, rate=250)
    sim.run(0.02)
    moment = sim.save()
    sim.run(0.02)
    end = sim.q.copy()
    sim.restore(moment)
    sim.run(0.02)
    assert both.resets >= 1
    assert sim.q == pytest.approx(end, abs=1e-12)
    sim.reset()
    sim.run(0.008)
    assert both.own.channel.time[0] == pytest.approx(0.004)


def test_what_is_no_number_stops_the_run():
    world, robot = world_of()
    sim, both = tabi.Simulator(world), Both(robot, np.nan)
    sim.set_controller(robot, both, rate=250)
    with pytest.raises(tabi.SimulationError, match="commanded a value that is not finite at 0"):
        sim.run(0.1)


def test_who_wants_the_truth_or_divided_steps_is_asked_from_python():
    world, robot = world_of()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, Both(robot), rate=250, truth=True)
    assert not sim.drivers[robot.name].compiled
    world, robot = world_of()
    sim = tabi.Simulator(world, scheme="event-driven")
    sim.set_controller(robot, Both(robot), rate=250)
    assert not sim.drivers[robot.name].compiled
    sim.run(0.01)
    assert sim.time == pytest.approx(0.01)
