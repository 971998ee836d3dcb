"""Energy at a device's port against its closed form, and the bound of the next force."""

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.energy import MAX_ENERGY_J, EnergyMonitor, PassivityController

STILL = (0.0, 0.0, 0.0)


def at(x: float) -> tuple[float, float, float]:
    return (x, 0.0, 0.0)


def test_work_of_held_forces_is_exact_whatever_the_path():
    rng = np.random.default_rng(2)
    monitor, true = EnergyMonitor(), 0.0
    x, force = rng.normal(size=3), np.zeros(3)
    monitor.see(tuple(x), STILL, 1e-3)
    for _ in range(50):
        monitor.hold(tuple(force))
        # any wandering between two readings
        for _ in range(7):
            step = rng.normal(size=3)
            true, x = true + force @ step, x + step
        monitor.see(tuple(x), STILL, 1e-3)
        assert monitor.energy == pytest.approx(true, abs=1e-11)
        force = rng.normal(size=3)
    assert monitor.worst >= monitor.energy


def test_a_late_force_is_counted_where_it_does_most():
    monitor = EnergyMonitor(delay=1e-3)
    monitor.see(at(0.0), at(1.0), 1e-3)
    monitor.hold(at(10.0))
    monitor.see(at(1e-3), at(1.0), 1e-3)
    # from 0 to 10 N somewhere on the way out: at once is the worst
    assert monitor.energy == pytest.approx(10 * 1e-3)
    monitor.hold(at(4.0))
    monitor.see(at(2e-3), at(1.0), 1e-3)
    # from 10 to 4 N on the way out: at the end is the worst
    assert monitor.energy == pytest.approx(20 * 1e-3)


def test_a_late_force_counts_the_turn_within_the_period():
    monitor = EnergyMonitor(delay=2e-3)
    # x = ½ a t (T − t): out and back, with its velocity
    a, T = 100.0, 2e-3
    monitor.see(at(0.0), at(0.5 * a * T), T)
    monitor.hold(at(8.0))
    monitor.see(at(0.0), at(-0.5 * a * T), T)
    before = monitor.energy
    monitor.velocity = at(0.5 * a * T)
    monitor.hold(at(2.0))
    monitor.see(at(0.0), at(-0.5 * a * T), T)
    # 8 N out to the turn, 2 N back from there
    assert monitor.energy - before == pytest.approx((8 - 2) * a * T * T / 8)


@pytest.mark.parametrize("mass", [0.05, 0.5])
@pytest.mark.parametrize("longest", [1e-3, 6e-3])
def test_no_motion_that_a_hand_can_make_gets_more_than_allowed(mass, longest):
    rng = np.random.default_rng(4)
    pull, controller = 5.0, PassivityController(mass, 5.0, longest)
    x, v, dt = 0.01, 0.0, 0.0
    for _ in range(4000):
        wanted = max(0.0, -1000.0 * x)
        force = controller.limited((at(x), at(v), dt), at(wanted), 500.0 * min(x, 0.0) ** 2, 0.0)
        assert 0.0 <= force[0] <= wanted + 1e-12
        # the hand does its worst: any force up to its strength, in any of the periods
        dt = float(rng.choice([longest, rng.uniform(1e-4, longest)]))
        hand = float(rng.choice([-pull, pull])) if abs(x) < 0.02 else -pull * np.sign(x)
        a = (force[0] + hand) / mass
        x, v = x + v * dt + 0.5 * a * dt * dt, v + a * dt
    assert controller.monitor.worst <= MAX_ENERGY_J + 1e-12
    assert controller.monitor.worst > 0.0


@pytest.mark.parametrize(("mass", "longest"), [(0.05, 2e-3), (0.1, 3e-3), (0.5, 6e-3)])
def test_a_wall_at_rest_is_felt_exactly(mass, longest):
    controller, k, d = PassivityController(mass, 5.0, longest), 1000.0, 0.0
    # slowly in, a micrometre each time, and rest there
    for depth in (1e-4, 1e-3, 1e-2):
        while d < depth - 1e-9:
            d += 1e-6
            force = controller.limited((at(-d), at(-1e-3), 1e-3), at(k * d), 0.5 * k * d * d, 0.0)
            assert force[0] == pytest.approx(k * d, rel=1e-12)
        for _ in range(100):
            force = controller.limited((at(-d), STILL, 1e-3), at(k * d), 0.5 * k * d * d, 0.0)
            assert force[0] == pytest.approx(k * d, rel=1e-12)


def test_what_was_dissipated_is_not_paid_back():
    controller = PassivityController()
    # a damper takes energy for a while: a force against the motion
    for i in range(100):
        controller.limited((at(-1e-3 * i), at(-1.0), 1e-3), at(1.0), 0.0, 0.0)
    assert controller.monitor.energy == pytest.approx(0.0, abs=1e-12)


def test_energy_that_the_simulation_gives_may_pass_and_what_bodies_take_is_no_debt():
    controller = PassivityController(allowed=1e-3)
    controller.limited((at(0.0), STILL, 1e-3), STILL, 1.0, -0.5)
    assert controller.monitor.energy == pytest.approx(-0.5)
    # moved along by a robot: 10 N over 1 cm
    force = controller.limited((at(0.0), at(0.1), 1e-3), at(10.0), 1.0, 0.0)
    assert force == at(10.0)
    controller.limited((at(0.01), at(0.1), 1e-3), STILL, 1.0, 0.0)
    assert controller.monitor.energy == pytest.approx(-0.4)
    controller.limited((at(0.01), STILL, 1e-3), STILL, 1.0, 7.0)
    assert controller.monitor.energy == pytest.approx(0.0)


def test_a_lost_reading_counts_what_the_force_may_have_done_until_then():
    controller = PassivityController()
    force = controller.limited((at(0.0), STILL, 1e-3), at(1.0), 0.0, 0.0)
    controller.lose()
    controller.limited((at(1e-4), STILL, 2e-3), STILL, 0.0, 0.0)
    assert controller.monitor.energy == pytest.approx(force[0] * 1e-4)
    back = controller.limited((at(1e-4), STILL, 2e-3), at(1.0), 0.0, 0.0)
    controller.lose()
    before = controller.monitor.energy
    controller.limited((at(0.0), STILL, 2e-3), STILL, 1.0, 0.0)
    # the way back may have been made without it
    assert back[0] > 0
    assert controller.monitor.energy == before


@pytest.mark.parametrize(
    "given",
    [{"mass": 0.0}, {"longest": -1.0}, {"allowed": np.nan}, {"pull": -1.0}, {"delay": np.inf}],
)
def test_controllers_that_cannot_be_are_refused(given):
    with pytest.raises(ModelError, match="passivity controller"):
        PassivityController(**given)
