"""Where and when a foot lands, against the pendulum."""

from math import cosh, exp, sinh

import pytest

import tabi
from tabi.walking.steered.step_choice import (
    MIN_DISPLACEMENT,
    choose,
    divergence_error,
    within_reach,
)
from tabi.walking.steered.walker import SteeredWalker

LEFT, RIGHT = 1.0, -1.0


@pytest.fixture(scope="module")
def settings():
    return SteeredWalker(tabi.robots.hrp2())._walk.plan.settings[0]


BOX = (-0.08, 0.12, -0.05, 0.05)


def at(x, y):
    """A point as a range."""
    return x, x, y, y


def test_what_is_beyond_is_the_pendulums_end_over_the_best_point_of_the_sole(settings):
    s, t = settings, 0.4
    w = s["omega"]
    # within the sole the zero moment point leads where it should
    assert divergence_error(s, BOX, (0.03, 0.0), at(0.06, 0.0), t, 0) == 0.0
    # else it is at the edge, and a mass there moves by cosh and sinh
    for sign, p in ((1, BOX[1]), (-1, BOX[0])):
        xi = 0.2 * sign
        x, v = xi - 0.05, 0.05 * w
        there = p + (x - p) * cosh(w * t) + v / w * sinh(w * t)
        speed = (x - p) * w * sinh(w * t) + v * cosh(w * t)
        end = there + speed / w
        assert divergence_error(s, BOX, (xi, 0.0), at(0.06, 0.0), t, 0) == pytest.approx(end - 0.06)
        # a range is as good as its nearest point
        wide = (0.06 - 0.1, 0.06 + 0.1, 0.0, 0.0)
        assert divergence_error(s, BOX, (xi, 0.0), wide, t, 0) == pytest.approx(
            end - 0.06 - 0.1 * sign
        )


def test_without_a_push_nothing_changes(settings):
    planned, t = (0.2, 0.19), 0.5
    wanted = (0.1, 0.1)
    xi = tuple(p * exp(-settings["omega"] * t) for p in wanted)
    x, y, time, missed, _ = choose(
        settings, LEFT, BOX, xi, at(*wanted), planned, (0.0, 0.19), t, 0.2, t
    )
    assert (x, y, time, missed) == (*planned, t, 0.0)


@pytest.mark.parametrize("push", [(0.15, 0.02), (-0.2, 0.0), (0.0, 0.12), (0.12, 0.1)])
def test_after_a_push_the_foot_lands_where_the_walk_can_go_on(settings, push):
    s, planned, t = settings, (0.2, 0.19), 0.5
    w, wanted = s["omega"], (0.1, 0.1)
    xi = tuple(p * exp(-w * t) + d for p, d in zip(wanted, push, strict=True))
    x, y, time, missed, _ = choose(s, LEFT, BOX, xi, at(*wanted), planned, (0.0, 0.19), t, 0.2, t)
    assert (x, y) != planned
    assert 0.2 <= time <= t
    if missed == 0.0:
        # ξ is as far from the new landing as from the planned one, but for the double support on
        # the way to it
        rest = (1 - exp(-w * s["double"])) / (w * s["double"])
        for axis, to in enumerate((x, y)):
            end = divergence_error(s, BOX, xi, at(*wanted), time, axis)
            assert end == pytest.approx(rest * (to - planned[axis]), abs=1.01 * MIN_DISPLACEMENT)


def test_legs_do_not_cross_and_stay_in_reach(settings):
    s = settings
    for side in (LEFT, RIGHT):
        for x in (-2.0, 0.0, 0.3, 2.0):
            for y in (-2.0, 0.0, 0.2, 2.0):
                a, b = within_reach(s, side, x, y)
                assert s["near"] - 1e-12 <= side * b <= s["far"] + 1e-12
                assert -s["back"] <= a <= s["forward"]
                assert within_reach(s, side, a, b) == pytest.approx((a, b))
    # towards the foot that stands, what is needed is missed
    *_, missed, _ = choose(
        s, LEFT, BOX, (0.0, -0.3), at(0.0, 0.1), (0.0, 0.19), (0.0, 0.19), 0.3, 0.3, 0.3
    )
    assert missed > 0.1
