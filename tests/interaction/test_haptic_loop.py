"""Periods of the loop, one by one, with a clock of the test's own."""

import numpy as np
import pytest

from tabi.interaction.devices.protocol import DeviceError, DeviceInfo, HandReading
from tabi.interaction.force_guard import HapticLimits
from tabi.interaction.haptic_loop import STATES, HapticLoop
from tabi.interaction.shared_link import SharedLink, field

K, LIMITS = 50.0, HapticLimits(ramp=0.01, slew=1e6)


class Pen:
    """A device that goes where it is told, and notes what it is given."""

    def __init__(self, world):
        self.world, self.info, self.closed = world, DeviceInfo("pen", force_limit=5.0), False

    def read(self):
        if self.world.broken:
            raise self.world.broken
        time = self.world.now - self.world.late
        return HandReading(self.world.place.copy(), buttons=(True, False, True), time=time)

    def write(self, force, torque):
        self.world.felt.append(force.copy())

    def close(self):
        self.closed = True


class World:
    """A loop, its device, and the time."""

    def __init__(self, law=None, limits=LIMITS):
        self.now, self.late, self.broken, self.opens = 10.0, 0.0, None, True
        self.place, self.felt, self.resets = np.array([0.01, 0.0, 0.0]), [], 0
        self.link, self.pens = SharedLink(3), []
        self.loop = HapticLoop(self.open, law or self, self.link, limits, lambda: self.now)

    def __call__(self, reading, model, dt):
        self.dt = dt
        return K * (model - reading.position), np.zeros(3), (7.0, 8.0)

    def reset(self):
        self.resets += 1

    def open(self):
        if not self.opens:
            raise DeviceError("nobody is there")
        self.pens.append(Pen(self))
        return self.pens[-1]

    def periods(self, count, beat=True, dt=1e-3):
        for _ in range(count):
            self.now += dt
            if beat:
                self.link.publish_model(self.now, np.zeros(3))
            self.loop.period()

    @property
    def state(self):
        return STATES[int(field(self.link.read_hand(), "state")[0])]


@pytest.fixture
def world():
    one = World()
    yield one
    one.link.close(unlink=True)


def test_a_spring_is_felt_and_published(world):
    world.periods(50)
    assert world.state == "running"
    np.testing.assert_allclose(world.felt[-1], [-K * 0.01, 0.0, 0.0])
    told = world.link.read_hand()
    np.testing.assert_array_equal(field(told, "force"), world.felt[-1])
    np.testing.assert_array_equal(field(told, "position"), world.place)
    assert field(told, "buttons")[0] == 0b101
    assert field(told, "numbers")[:3].tolist() == [7.0, 8.0, 0.0]
    assert field(told, "time")[0] == world.now
    assert world.dt == pytest.approx(1e-3)
    assert world.link.status() == ""


def test_it_comes_slowly_at_first(world):
    world.periods(5)
    sizes = [abs(f[0]) for f in world.felt]
    np.testing.assert_allclose(np.diff(sizes), K * 0.01 * 0.1, atol=1e-9)


def test_no_heartbeat_no_force(world):
    world.periods(20)
    world.periods(40, beat=False)
    assert world.felt[-1].any()
    world.periods(2, beat=False)
    assert world.state == "waiting"
    assert not world.felt[-1].any()
    assert "simulation" in world.link.status()
    world.periods(2)
    assert world.state == "running"
    assert 0.0 < abs(world.felt[-1][0]) < 0.2 * K * 0.01
    assert world.resets == 2


def test_before_the_first_heartbeat_there_is_no_force(world):
    world.periods(10, beat=False)
    assert world.state == "waiting"
    assert not np.any(world.felt)


def test_a_reading_that_is_old_gives_no_force(world):
    world.periods(20)
    world.late = 0.041
    world.periods(1)
    assert world.state == "late"
    assert not world.felt[-1].any()
    world.late = 0.0
    world.periods(30)
    np.testing.assert_allclose(world.felt[-1], [-K * 0.01, 0.0, 0.0])


@pytest.mark.parametrize("error", [DeviceError("gone away"), OSError("gone away"), KeyError("x")])
def test_a_lost_device_is_opened_anew_without_end(world, error):
    world.periods(20)
    world.broken, world.opens = error, False
    world.periods(1)
    assert world.state == "lost"
    assert world.pens[-1].closed
    assert not world.felt[-1].any()
    assert not field(world.link.read_hand(), "force").any()
    world.periods(2000)
    assert world.state == "lost"
    assert "nobody is there" in world.link.status()
    world.broken, world.opens = None, True
    world.periods(505)
    assert world.state == "running"
    assert len(world.pens) == 2
    assert field(world.link.read_hand(), "connections")[0] == 2


@pytest.mark.parametrize(
    "wrench",
    [
        (np.array([np.nan, 0.0, 0.0]), np.zeros(3), ()),
        (np.array([np.inf, 0.0, 0.0]), np.zeros(3), ()),
        (np.zeros(2), np.zeros(3), ()),
        (np.zeros(3), None, ()),
        None,
    ],
)
def test_a_law_that_fails_gives_no_force(wrench):
    world = World(law=lambda reading, model, dt: wrench)
    world.periods(20)
    assert world.state == "failed"
    assert not np.any(world.felt)
    assert "the law of the force failed" in world.link.status()
    world.link.close(unlink=True)


@pytest.mark.parametrize("bad", [[np.nan, 0.0, 0.0], [0.0, 1e300, 0.0], [0.0, 0.0, np.inf]])
def test_a_place_that_cannot_be_gives_no_force(world, bad):
    world.periods(20)
    world.place = np.array(bad)
    world.periods(1)
    assert world.state == "lost"
    assert not world.felt[-1].any()


def test_no_force_is_larger_than_the_devices(world):
    world.place = np.array([-9.0, 0.0, 0.0])
    world.periods(50)
    np.testing.assert_allclose(world.felt[-1], [5.0, 0.0, 0.0])


def test_energy_round_a_spring_is_none_and_half_the_way_is_the_springs():
    # a force is held over a period: the energy is off by half a step of the spring
    world = World(limits=HapticLimits(ramp=1e-9, slew=1e9))
    a, n = 0.02, 4000
    for k in range(n + 1):
        world.place = np.array([a * np.sin(2 * np.pi * k / n), 0.0, 0.0])
        world.periods(1)
        if k == n // 4:
            np.testing.assert_allclose(world.loop.energy, -0.5 * K * a * a, rtol=2e-3)
    assert 0.0 < world.loop.energy < 5e-3 * 0.5 * K * a * a
    world.link.close(unlink=True)


def test_periods_are_counted(world):
    world.periods(101)
    world.periods(1, dt=0.004)
    world.periods(1, dt=0.3)
    told = world.link.read_hand()
    # the first opens the device, and the second has none before it
    assert field(told, "periods").tolist() == [99, 0, 0, 1, 0, 0, 1]
    np.testing.assert_allclose(field(told, "worst"), 0.3)


def test_it_ends_without_force(world):
    world.periods(20)
    world.loop.run(lambda: False)
    assert world.state == "ended"
    assert not world.felt[-1].any()
    assert world.pens[-1].closed


def test_it_ends_when_it_is_told_to(world):
    world.periods(3)
    world.link.publish_model(world.now, np.zeros(3), end=True)
    assert not world.loop.period()
