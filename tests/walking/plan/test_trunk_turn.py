"""The trunk turns against legs that swing, where soles could not bear that."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi.walking.plan import pattern
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import walk
from tabi.walking.plan.gait import gait_for
from tabi.walking.plan.pattern import _Solver, walking_pattern
from tabi.walking.plan.trunk_turn import CUTOFF_RATE, FRICTION, bearable, counter_turn

TICK = 0.005
TIMES = TICK * np.arange(2000)


def test_an_edge_bears_what_friction_along_all_of_it_bears():
    length, weight = 0.2, 500.0
    x = np.linspace(-0.5, 0.5, 20001) * length
    # the same force on each part
    assert bearable(weight, length) == pytest.approx(FRICTION * weight * np.mean(np.abs(x)), 1e-4)


@pytest.mark.parametrize("rate", [5.0, 20.0, 60.0])
def test_the_trunk_takes_all_of_a_moment_but_what_is_slow(rate):
    """Of M of one frequency Ω the share λ⁴/(Ω⁴ + λ⁴) is left."""
    inertia, window = 0.7, np.exp(-(((TIMES - 5.0) / 1.5) ** 2))
    moment = 40.0 * window * np.sin(rate * TIMES)
    turn = counter_turn(moment, inertia, TICK)
    left = moment + inertia * np.gradient(np.gradient(turn, TICK), TICK)
    middle = slice(900, 1100)
    share = CUTOFF_RATE**4 / (rate**4 + CUTOFF_RATE**4)
    # the window is of a second: its own frequencies are within 1 of Ω; differences of second order
    # are off by (Ω tick)²/3
    assert np.abs(left[middle]).max() == pytest.approx(40.0 * share, rel=0.25, abs=1.5)


def test_no_other_turn_is_better():
    """(2) is least: whatever is added costs more."""
    inertia, random = 0.7, np.random.default_rng(0)
    window = np.exp(-(((TIMES - 5.0) / 0.5) ** 2))
    moment = 40.0 * window * np.sin(20.0 * TIMES)

    def cost(turn):
        left = moment + inertia * np.gradient(np.gradient(turn, TICK), TICK)
        return float(np.sum(left**2 + (inertia * CUTOFF_RATE**2 * turn) ** 2))

    best = counter_turn(moment, inertia, TICK)
    for _ in range(5):
        more = 0.02 * window * np.sin(random.uniform(5.0, 40.0) * TIMES + random.uniform(0.0, 6.0))
        assert cost(best + more) > cost(best)


def test_it_begins_and_ends_at_rest():
    moment = np.where(np.abs(TIMES - 5.0) < 2.0, 40.0 * np.sin(20.0 * TIMES), 0.0)
    turn = counter_turn(moment, 0.7, TICK)
    assert np.abs(turn).max() > 0.1
    assert np.abs(turn[[0, 1, -2, -1]]).max() < 1e-6


@pytest.mark.parametrize(("turn", "bears"), [(0.0, True), (0.3, False)])
def test_a_quick_turn_asks_less_of_its_soles_and_what_they_bear_is_as_it_was(turn, bears):
    biped = Biped(tabi.robots.hrp2())
    gait = replace(gait_for(biped), step_time=0.5, double_support=0.1, lift=0.02)
    found = walking_pattern(biped, walk(biped.stance, 4, 0.15, turn=turn), gait)
    solver, alone = _Solver(biped, found.schedule, gait), found.schedule.support > 0
    mean = solver.yaw.copy()
    before = np.abs(solver.moment(*solver.solve(found.centre))[alone]).max()
    solver.yaw = found.yaw
    after = np.abs(solver.moment(*solver.solve(found.centre))[alone]).max()
    most = bearable(9.81 * biped.mass, np.ptp(biped.outline["left"][:, 0]))
    assert (before <= most) == bears
    assert np.array_equal(found.yaw, mean) == bears
    assert after <= most
    assert found.q[0] == pytest.approx(biped.q, abs=1e-7)


def test_a_turn_that_spares_the_soles_too_little_is_left(monkeypatch):
    biped = Biped(tabi.robots.hrp2())
    gait = replace(gait_for(biped), step_time=0.5, double_support=0.1, lift=0.02)
    steps = walk(biped.stance, 4, 0.15, turn=0.3)
    turned = walking_pattern(biped, steps, gait)
    # nothing spares that much
    monkeypatch.setattr(pattern, "MAX_MOMENT_SHARE", 0.0)
    straight = walking_pattern(biped, steps, gait)
    solver = _Solver(biped, straight.schedule, gait)
    assert np.array_equal(straight.yaw, solver.yaw)
    assert np.abs(turned.yaw - straight.yaw).max() > 0.02
    # its joints are those of that yaw
    expected, _, _ = solver.solve(straight.centre)
    assert np.abs(straight.q - expected).max() < 1e-9
