"""Pushes of a robot that stands, steps and walks, against a pendulum that is pushed."""

from math import exp

import numpy as np
import pytest

from tabi.lab.walking import pushes
from tabi.lab.walking.rough_robots import rough_robot


@pytest.fixture(scope="module")
def standing():
    return pushes.stand(rough_robot("hrp2"), adapts=False)


@pytest.fixture(scope="module")
def stepping():
    return pushes.stand(rough_robot("hrp2"), adapts=True)


@pytest.mark.slow
def test_without_a_step_it_survives_what_a_blow_allows_and_no_multiple_of_it(standing):
    bound = pushes.bounds(standing, 180).without
    assert standing.survives(bound, 180)
    # feet that answer at once: x/(1 − e⁻ˣ), 1.19; and a tenth more for a trunk that turns
    x = pushes.PUSH_TIME_S * np.sqrt(9.81 / standing.walker.gait.centre_height)
    assert not standing.survives(1.1 * x / (1.0 - exp(-x)) * bound, 180)


@pytest.mark.slow
def test_a_pendulum_with_a_step_at_the_bound_is_caught_at_the_farthest_edge(stepping):
    """(2), forwards in time: over the edge until the foot lands, which then is under ξ."""
    found, s = pushes.bounds(stepping, 0), stepping.walker.reach
    swing = pushes.SWING * stepping.walker.gait.step_time
    omega, mass = s.omega, stepping.walker.biped.mass
    xi = found.with_step * pushes.PUSH_TIME_S / (mass * omega)
    n = 100_000
    for _ in range(n):
        xi += omega * (xi - found.edge) * swing / n
    # Euler's error of first order: ω² t²/(2 n)
    assert xi == pytest.approx(found.edge + found.reach, rel=1e-4)


@pytest.mark.slow
def test_reach_is_the_box_of_the_walkers_settings(stepping):
    s = stepping.walker.reach
    stance = stepping.walker.biped.stance
    width = stance["left"].p[1] - stance["right"].p[1]
    ahead, left = (pushes.bounds(stepping, degrees) for degrees in (0, 90))
    assert ahead.reach == pytest.approx(s.forward)
    assert left.reach == pytest.approx(s.far - width)
    # from a circle about the foot that stands, along a slanted line
    slanted = pushes._reach(s, width, np.array([1.0, 1.0]) / np.sqrt(2.0), 1.0)
    landing = np.array([slanted, slanted]) / np.sqrt(2.0) + (0.0, width)
    assert np.hypot(*landing) <= s.farthest + 1e-9
    assert landing[1] <= s.far + 1e-9
    assert not ahead.crosses
    assert left.crosses


@pytest.mark.slow
def test_steps_survive_what_standing_does_not(standing, stepping):
    """Ahead and to the side, where the foot on that side steps out."""
    most = standing.limit(45, 50.0, 600.0, 0)
    assert stepping.survives(most + 50.0, 45)
    assert not standing.survives(most + 50.0, 45)


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [0, 180])
def test_a_step_ahead_or_back_survives_seven_tenths_of_the_bound(stepping, degrees):
    bound = pushes.bounds(stepping, degrees)
    assert not bound.crosses
    assert stepping.survives(pushes.MIN_STEPPING_RATIO * bound.with_step, degrees)
    # the feet moved, and stand beside each other again
    assert stepping.walker.landed >= 2
    assert stepping.walker.stands


@pytest.mark.slow
def test_quick_low_steps_ahead_survive_all_of_the_bound_and_the_robot_stands_again(stepping):
    assert stepping.survives(pushes.bounds(stepping, 0).with_step, 0)
    assert stepping.walker.stands


@pytest.mark.slow
def test_a_state_is_brought_back_with_what_its_controller_remembers(stepping):
    assert [stepping.survives(150.0, 0) for _ in range(2)] == [True, True]
    assert not stepping.survives(5000.0, 0)
    assert stepping.survives(150.0, 0)


@pytest.mark.slow
def test_a_walk_is_pushed_at_moments_of_one_step():
    moments = pushes.walk_on(rough_robot("hrp2"), 4)
    times = []
    for moment in moments:
        moment.sim.restore(moment.moment)
        times.append(moment.sim.time)
    gait = moments[0].walker.gait
    # a walk makes ticks of 5 ms
    assert np.diff(times) == pytest.approx(gait.step_time / 4, abs=gait.tick)
    # 100 N move ξ by 100 N · 0.1 s/(58 kg · 3.5 1/s) = 5 cm, which a step makes up for
    assert moments[2].survives(100.0, 180)
    assert not moments[2].survives(5000.0, 180)


class Yielding:
    """Falls from a force on."""

    def __init__(self, force):
        self.force, self.tried = force, []

    def survives(self, force, degrees):
        self.tried.append(force)
        return force <= self.force


@pytest.mark.parametrize(("force", "wanted"), [(237.0, 225.0), (10.0, 0.0), (9e9, 500.0)])
def test_a_limit_is_below_the_first_fall(force, wanted):
    assert pushes.Pushed.limit(Yielding(force), 0, 50.0, 500.0, 1) == pytest.approx(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("stops", [False, True])
def test_limits_are_told_and_an_interrupt_keeps_them(monkeypatch, stops):
    def limit(self, degrees, rung, most, halvings):
        if stops and self.walker.adapts and degrees == 90:
            raise KeyboardInterrupt
        return most

    monkeypatch.setattr(pushes.Pushed, "limit", limit)
    found = pushes.Pushes(quick=True).run()
    assert len(found["standing"]) == 4
    assert len(found["stepping"]) == (1 if stops else 4)
    assert found["interrupted"] is stops
    assert found["within"] is not stops
    told = pushes.Pushes().text(found)
    assert "200%" in told
    assert ("interrupted" in told) == stops
    assert ("8 of 8" in told) != stops


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("standing", {"share": 0.9, "crosses": False}),
        ("stepping", {"share": 0.6, "crosses": False}),
        ("walking", {"limit_N": 150.0}),
    ],
)
def test_what_falls_short_is_not_within(key, row):
    good = {"share": 1.0, "crosses": False, "limit_N": 200.0}
    rows = [(kind, good) for kind in ("standing", "stepping", "walking")]
    crossing = ("stepping", {"share": 0.6, "crosses": True})
    assert pushes.Pushes().result([*rows, crossing])["within"]
    assert not pushes.Pushes().result([*rows, (key, row)])["within"]
