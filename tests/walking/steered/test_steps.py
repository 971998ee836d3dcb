"""Footsteps of a steered walk, without a robot: an ideal pendulum that follows its plan."""

import numpy as np
import pytest

import tabi
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.plan.footsteps import SIDES, overlap
from tabi.walking.steered.steps import (
    CATCH_LIFT_SHARE,
    LANDING_DEPTH,
    lift,
    next_phase,
    shift_to,
    shortest_swing,
    stop_range,
    swing_foot,
    touch_down,
)
from tabi.walking.steered.steps_ahead import (
    SHIFT,
    STAND,
    SWING,
    compose,
    in_frame,
    plan_motion,
    plan_steps,
)
from tabi.walking.steered.walker import MIN_CATCH_SWING_RATIO, MIN_SWING_RATIO, SteeredWalker


class Ideal:
    """Plans with a divergent component that is always as planned, and feet that land in time."""

    def __init__(self, **asked):
        self.walker = SteeredWalker(tabi.robots.hrp2(), adapts=False)
        self.plan, self.box = self.walker._walk.plan, self.walker._walk.loop.box
        self.landings, self.feet, self.time = [], [], 0.0
        self.tick(2.0)
        if asked:
            self.walker.steer(**asked)

    @property
    def phase(self):
        return self.plan.now["phase"][0]

    def tick(self, seconds=0.005):
        for _ in range(round(seconds / 0.005)):
            now = self.plan.now[0]
            # weight on the feet that stand
            load = [300.0, 300.0]
            if now["phase"] == SWING:
                load[1 - now["stance"]] = 50.0 if now["left"] <= 0.005 else 0.0
            if next_phase(self.plan, self.box, tuple(self.plan.xi), tuple(load)):
                side = 1 - int(now["stance"])
                self.landings.append((SIDES[side], self.plan.foot[side].copy(), self.time))
                touch_down(self.plan)
            plan_steps(self.plan)
            plan_motion(self.plan)
            self.feet.append(self.plan.foot.copy())
            self.time += 0.005


@pytest.mark.parametrize("forward", [0.25, -0.2, 0.1])
def test_it_goes_as_fast_as_it_is_steered(forward):
    ideal = Ideal(forward=forward)
    ideal.tick(12.0)
    (_, a, s), *_, (_, b, t) = ideal.landings[3:]
    # a swing ends within a tenth of a millimetre, of metres
    assert (b[0] - a[0]) / (t - s) == pytest.approx(forward, rel=1e-4)
    assert [foot for foot, *_ in ideal.landings[:4]] == ["left", "right", "left", "right"]


@pytest.mark.parametrize("turn", [0.2, -0.3])
def test_it_turns_as_fast_as_it_is_steered_and_the_inner_foot_makes_the_turn(turn):
    ideal = Ideal(turn=turn)
    ideal.tick(14.0)
    same = ideal.landings[3::2]
    (_, a, s), *_, (_, b, t) = same
    assert (b[3] - a[3]) / (t - s) == pytest.approx(turn, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [{"sideways": 0.12}, {"sideways": -0.12}, {"turn": 0.3}, {"forward": 0.2, "turn": -0.2}],
)
def test_soles_never_overlap(asked):
    ideal = Ideal(**asked)
    ideal.tick(8.0)
    outline = ideal.walker.biped.outline
    gaps = []
    for feet in ideal.feet:
        soles = [
            np.array([compose(X[[0, 1, 3]], *corner, 0.0)[:2] for corner in outline[side]])
            for side, X in zip(SIDES, feet, strict=True)
        ]
        gaps.append(-overlap(*soles))
    assert min(gaps) > 0.005


def test_it_stops_with_its_feet_together_and_the_weight_between_them():
    ideal = Ideal(forward=0.25, turn=0.1)
    ideal.tick(5.0)
    ideal.walker.stop()
    ideal.tick(4.0)
    assert ideal.walker.stands
    assert ideal.phase == STAND
    left, right = ideal.plan.foot
    before = ideal.walker.biped.stance
    apart = np.linalg.norm(before["left"].p - before["right"].p)
    assert in_frame(right[[0, 1, 3]], *left[:2]) == pytest.approx((0.0, apart), abs=1e-4)
    assert left[3] == pytest.approx(right[3], abs=1e-4)
    ahead = ideal.walker.gait.zmp[0]
    middle = 0.5 * (left + right)[:2] + ahead * np.array([np.cos(left[3]), np.sin(left[3])])
    assert ideal.plan.xi == pytest.approx(middle, abs=1e-4)
    assert ideal.plan.zmp[1] == pytest.approx(middle, abs=1e-4)


def test_another_command_changes_the_plan_in_the_next_tick():
    ideal = Ideal(forward=0.2)
    ideal.tick(4.0)
    before = ideal.plan.footstep.copy()
    ideal.walker.steer(forward=-0.2)
    ideal.tick(0.005)
    assert (ideal.plan.footstep[2:, 0] < before[2:, 0]).all()
    assert ideal.plan.step_velocity[0] < 0.2


def test_planned_zmp_and_divergent_component_go_together():
    """ξ̇ = ω (ξ − p), also from phase to phase."""
    ideal = Ideal(forward=0.2)
    ideal.tick(5.0)
    omega, rows = float(ideal.plan.settings["omega"][0]), []
    for _ in range(400):
        ideal.tick()
        rows.append((ideal.phase, *ideal.plan.xi, *ideal.plan.zmp[1]))
    rows = np.array(rows)
    phase, xi, p = rows[:, 0], rows[:, 1:3], rows[:, 3:]
    rate = np.gradient(xi, 0.005, axis=0)[1:-1]
    # a tick in which the phase changes counts twice, as it is seen before and after
    inside = (phase[2:] == phase[1:-1]) & (phase[:-2] == phase[1:-1])
    error = np.abs(rate - omega * (xi - p)[1:-1])[inside]
    # differences of second order over 5 ms, of a curve with ω ≈ 3.5 1/s: ω³ T²/6 of 0.1 m
    assert error.max() < 2e-4
    assert {SHIFT, SWING} == set(phase.astype(int))


def test_a_swing_ends_where_it_should_at_rest_and_lifts_as_told():
    ideal = Ideal(forward=0.25)
    ideal.tick(6.0)
    while ideal.phase != SHIFT:
        ideal.tick()
    while ideal.phase != SWING:
        ideal.tick()
    side, heights, goal = 1 - int(ideal.plan.now["stance"][0]), [], None
    begin = ideal.plan.foot[side, 2]
    speed = 1.0
    while ideal.phase == SWING:
        goal, speed = ideal.plan.footstep[1].copy(), np.abs(ideal.plan.swing[:, 1]).max()
        ideal.tick()
        heights.append(ideal.plan.foot[side, 2])
    assert ideal.plan.foot[side, [0, 1, 3]] == pytest.approx(goal, abs=1e-4)
    assert speed < 5e-3
    stance = ideal.plan.rise[1] + LANDING_DEPTH
    assert heights[-1] == pytest.approx(stance - LANDING_DEPTH, abs=1e-4)
    top = max(begin, stance - LANDING_DEPTH) + ideal.walker.gait.lift
    assert max(heights) == pytest.approx(top, abs=1e-4)


def test_a_walk_whose_step_misses_stops_in_double_support_and_says_why():
    ideal = Ideal(forward=0.2)
    ideal.tick(4.0)
    while ideal.phase != SWING:
        ideal.tick()
    ideal.plan.now["shortfall"] = 0.2
    while ideal.phase == SWING:
        ideal.tick()
    assert "out of reach" in ideal.walker.reason
    ideal.tick(4.0)
    assert ideal.walker.stands
    ideal.walker.steer(forward=0.1)
    assert ideal.walker.reason == ""


@pytest.mark.parametrize("stance", [LEFT, RIGHT])
def test_a_robot_can_stop_with_its_capture_point_between_its_feet_and_within_a_sole(stance):
    walker = SteeredWalker(tabi.robots.hrp2())
    plan, box, s = walker._walk.plan, walker._walk.loop.box, walker._settings[0]
    out = 1.0 if stance == RIGHT else -1.0
    landing = (0.0, out * 0.19)
    low_x, high_x, low_y, high_y = stop_range(plan, box, stance, (s["ahead"], 0.05), landing)
    # along the sole, less than as far as it reaches from the point under the ankle
    lands = 1 - stance
    assert box[lands, 0] < low_x < s["ahead"] < high_x < box[lands, 1]
    # from the point under the foot that stands towards the other one, and not as far as that
    assert (low_y if out > 0 else high_y) == pytest.approx(-out * s["outwards"])
    assert 0.5 * 0.19 < out * (high_y if out > 0 else low_y) < 0.19


@pytest.mark.parametrize(("walks", "height"), [(1, 1.0), (0, CATCH_LIFT_SHARE)])
def test_a_robot_that_stands_steps_lower_and_sooner_than_one_that_walks(walks, height):
    walker = SteeredWalker(tabi.robots.hrp2())
    plan, gait = walker._walk.plan, walker.gait
    plan.now["walk"][0] = walks
    shift_to(plan, LEFT, 0.0)
    lift(plan)
    assert plan.now["left"][0] == gait.swing_time
    # the height asks for the same acceleration, or less: h/t²
    quick, usual = (
        (MIN_SWING_RATIO, MIN_CATCH_SWING_RATIO)[1 - walks] * gait.step_time,
        MIN_SWING_RATIO * gait.step_time,
    )
    assert shortest_swing(plan) == pytest.approx(quick)
    assert height * gait.lift / quick**2 < 1.2 * gait.lift / usual**2
    top = 0.0
    while plan.now["left"][0] > 0.0:
        plan.now["left"][0] = max(plan.now["left"][0] - gait.tick, 0.0)
        plan.now["elapsed"][0] += gait.tick
        swing_foot(plan)
        top = max(top, plan.foot[RIGHT, 2] - plan.foot[LEFT, 2])
    # in ticks of 5 ms the top is met nearly
    assert top == pytest.approx(height * gait.lift, rel=0.01)
