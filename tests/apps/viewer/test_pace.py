"""A loop keeps the pace of the clock, by a clock that the test itself moves."""

import pytest

from tabi.apps.viewer import pace
from tabi.apps.viewer.pace import MAX_LAG_S, Pace


class Clock:
    """Time that passes only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now, self.slept = self.now + seconds, self.slept + seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(pace, "clock", clock)
    return clock


def run(paced: Pace, clock: Clock, steps: int, dt: float, work: float, start: float = 0.0) -> None:
    for k in range(1, steps + 1):
        clock.now += work
        paced.wait(start + k * dt, dt)


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 0.01])
def test_fast_loop_takes_as_long_as_it_simulates(clock, dt):
    steps = round(1.0 / dt)
    run(Pace(), clock, steps, dt, 0.2 * dt)
    # the first step is not waited for, and the last waits are too short
    assert clock.now - 100.0 == pytest.approx(1.0, abs=2 * dt + pace.MIN_WAIT_S)


def test_slow_loop_is_not_held_back(clock):
    run(Pace(), clock, 1000, 1e-3, 1.5e-3)
    assert clock.slept == 0.0


def test_time_that_was_lost_is_let_go_and_a_hiccup_is_made_up_for(clock):
    paced = Pace()
    run(paced, clock, 100, 1e-3, 1e-4)
    slept = clock.slept
    clock.now += 0.5 * MAX_LAG_S
    run(paced, clock, 100, 1e-3, 1e-4, 0.1)
    # half of the next tenth of a second was caught up with
    assert clock.slept - slept == pytest.approx(0.1 - 0.01 - 0.5 * MAX_LAG_S, abs=2e-3)
    slept = clock.slept
    clock.now += 100.0
    run(paced, clock, 100, 1e-3, 1e-4, 0.2)
    assert clock.slept - slept == pytest.approx(0.1 - 0.01, abs=2e-3)


@pytest.mark.parametrize("leap", [-0.05, 1000.0])
def test_time_that_leaps_is_not_waited_for(clock, leap):
    paced = Pace()
    run(paced, clock, 100, 1e-3, 1e-4)
    slept = clock.slept
    run(paced, clock, 10, 1e-3, 1e-4, 0.1 + leap)
    assert clock.slept - slept == pytest.approx(0.01 - 0.001, abs=1.5e-3)


def test_pace_that_rested_counts_from_the_next_step(clock):
    paced = Pace()
    run(paced, clock, 10, 1e-3, 1e-4)
    paced.rest()
    slept, now = clock.slept, clock.now
    clock.now += 0.05
    run(paced, clock, 1, 1e-3, 1e-4, 0.01)
    assert clock.slept - slept <= 1e-3
    assert clock.now - now < 0.06
