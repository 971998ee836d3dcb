"""Impacts and inclinations that are known, and a walk in the simulator."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi import walking
from tabi.analysis.impact_measures import (
    CUTOFF,
    ORDER,
    ImpactWatch,
    inclinations,
    peaks,
    smoothed,
    touchdowns,
)
from tabi.recording.foot_words import FACE, NONE, VERTEX
from tabi.spatial.transform import about
from tabi.walking.plan.footsteps import SIDES

SPEED, LANDS = 0.2, 0.5


def landing(dt: float) -> np.ndarray:
    """A foot that comes down at a constant speed and stops within one step at its touchdown."""
    n = round(1.0 / dt)
    return np.where(np.arange(n + 1) * dt < LANDS - 0.5 * dt, -SPEED, 0.0)


@pytest.mark.parametrize("dt", [1e-3, 5e-4, 2.5e-4])
def test_a_rigid_stop_has_the_peak_of_the_low_pass_whatever_the_step(dt):
    # a jump of v is an impulse of a; forwards and backwards it has the gain |H|² of the low-pass,
    # whose value at the middle is its integral over all frequencies:
    # Δv ∫ df / (1 + (f/f_c)²ⁿ) = Δv 2 f_c (π/2n)/sin(π/2n)
    shape = np.pi / (2 * ORDER)
    expected = SPEED * 2 * CUTOFF * shape / np.sin(shape)
    acceleration = smoothed(landing(dt), dt)
    assert acceleration is not None
    (found,) = peaks(acceleration, dt, [LANDS])
    # the bilinear transform bends the scale of frequencies above the cut-off: (π f_c dt)²
    assert found == pytest.approx(expected, rel=(np.pi * CUTOFF * dt) ** 2)


def test_only_the_time_after_a_touchdown_counts():
    dt = 1e-3
    t = np.arange(1, 1001) * dt
    # bumps long before, just within and just after the window from 0.5 to 0.55 s
    bump = {0.45: 9.0, 0.548: -3.0, 0.60: 7.0}
    acceleration = sum(
        (size * (np.abs(t - at) < 0.5 * dt) for at, size in bump.items()), np.zeros(1000)
    )
    assert peaks(acceleration, dt, [0.5]) == [3.0]
    assert peaks(acceleration, dt, [0.4, 0.55]) == [9.0, 7.0]
    # of one after the end of what is kept nothing is known
    assert peaks(acceleration, dt, [2.0]) == []


def test_a_touchdown_comes_after_time_in_the_air():
    events = [
        # put onto the ground at the start
        (0.001, 0, NONE, FACE),
        (0.001, 1, NONE, FACE),
        # the other foot swings, lands, and bounces
        (1.0, 1, FACE, VERTEX),
        (1.1, 1, VERTEX, NONE),
        (1.8, 1, NONE, VERTEX),
        (1.81, 1, VERTEX, NONE),
        (1.83, 1, NONE, FACE),
        (2.0, 0, FACE, NONE),
        (2.06, 0, NONE, FACE),
        (2.5, 0, FACE, NONE),
        (3.0, 0, NONE, FACE),
    ]
    assert touchdowns(events, 1) == [1.8]
    assert touchdowns(events, 0) == [2.06, 3.0]
    assert touchdowns(events, 0, until=2.6) == [2.06]


def test_steps_too_long_for_the_low_pass_have_no_impact():
    assert smoothed(np.zeros(100), 5e-3) is None
    assert smoothed(np.zeros(2), 1e-3) is None


@pytest.mark.parametrize("yaw", [0.0, 0.7, -3.0])
def test_roll_and_pitch_do_not_depend_on_where_a_robot_faces(yaw):
    roll, pitch = 0.11, -0.23
    Z, Y, X = about((0, 0, 1), yaw).R, about((0, 1, 0), pitch).R, about((1, 0, 0), roll).R
    found = inclinations((Z @ Y @ X)[None])
    assert found[0] == pytest.approx([0.11, 0.23], abs=1e-12)


# ---- in the simulator ---------------------------------------------------------------------------


@pytest.fixture
def walk():
    world, robot = hrp2_on_ground()
    biped = walking.Biped(robot)
    pattern = walking.walking_pattern(biped, walking.walk(biped.stance, 2, 0.1))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, walking.Walker(pattern), rate=1 / pattern.gait.tick)
    return sim, robot, pattern


@pytest.mark.slow
def test_what_is_followed_is_what_the_simulator_says(walk):
    sim, robot, pattern = walk
    watch = ImpactWatch(sim)
    velocity, turns = [[0.0, 0.0]], [sim.pose(robot.base).R]

    def look(data):
        velocity.append([sim.velocity(robot.feet[side]).linear[2] for side in SIDES])
        turns.append(sim.pose(robot.base).R)

    sim.every(1, look)
    sim.run(pattern.duration)
    found = watch.measured({})["hrp2"]
    assert found.touchdowns == 2
    acceleration = smoothed(np.array(velocity), sim.dt)
    assert acceleration is not None
    expected = []
    for i, side in enumerate(SIDES):
        # the one touchdown after it has swung
        lifts = [e.time for e in sim.foot_events if e.foot == side and e.after == "none"]
        lands = [
            e.time
            for e in sim.foot_events
            if e.foot == side and e.before == "none" and e.time > min(lifts) + 0.05
        ]
        expected += peaks(acceleration[:, i], sim.dt, lands[:1])
    assert found.impact_m_s2 == pytest.approx(max(expected), rel=1e-9)
    assert found.median_impact_m_s2 == pytest.approx(np.median(expected), rel=1e-9)
    upright = pattern.biped.base_rotation
    worst = np.degrees(inclinations(np.array(turns) @ upright.T).max(axis=0))
    assert [found.roll_deg, found.pitch_deg] == pytest.approx(worst, rel=1e-6)
    assert found.inclination_deg == max(found.roll_deg, found.pitch_deg)


def test_after_a_fall_nothing_is_counted(walk):
    sim, robot, _ = walk
    watch = ImpactWatch(sim)
    sim.apply_force(robot.body("chest"), (400.0, 0.0, 0.0), duration=0.3)
    sim.run(1.5)
    assert watch.measured({})["hrp2"].inclination_deg > 45
    assert watch.measured({"hrp2": 0.05})["hrp2"].inclination_deg < 20
    assert watch.measured({"hrp2": 0.05})["hrp2"].touchdowns == 0
    assert watch.measured({"hrp2": 0.05})["hrp2"].impact_m_s2 is None


def test_robots_that_do_not_walk_are_left_out():
    world = tabi.World()
    world.add_ground()
    world.add_robot(tabi.robots.hrp2()).stand_on_ground()
    assert ImpactWatch(tabi.Simulator(world)).measured({}) == {}
