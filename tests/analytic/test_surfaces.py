"""Restitution, static friction and conveyors against closed forms."""

import json
from math import cos, radians, sin, sqrt, tan

import numpy as np
import pytest

import tabi
from tabi.model.shape import HalfSpace
from tabi.spatial.transform import from_quaternion

G = 9.81


def ball_on_ground(restitution, height, dt=1e-3, friction=0.0):
    world = tabi.World()
    world.add_ground(friction=friction, restitution=restitution)
    ball = world.add_sphere(radius=0.1, mass=1.0, position=(0, 0, 0.1 + height), friction=friction)
    return tabi.Simulator(world, dt=dt), ball


def slope(degrees, **surface):
    """A box at rest on an inclined plane."""
    world, half = tabi.World(), radians(degrees) / 2
    tilt = (cos(half), 0.0, sin(half), 0.0)
    world.add_fixed(HalfSpace(), quaternion=tilt, name="slope", **surface)
    box = world.add_box(
        size=(0.2, 0.2, 0.1),
        mass=2.0,
        position=from_quaternion(tilt, (0, 0, 0)).R @ (0, 0, 0.05),
        quaternion=tilt,
        friction=10.0,
    )
    return world, box


# ---- restitution --------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.3, 0.7, 1.0])
def test_ball_leaves_with_restitution_times_the_speed_it_came_with(restitution):
    sim, _ = ball_on_ground(restitution, 0.5)
    last = 0.0
    for _ in range(600):
        before = sim.state.v[2]
        sim.step()
        if before < 0 < sim.state.v[2]:
            last = before
            break
    assert sim.state.v[2] == pytest.approx(-restitution * last, abs=1e-8)
    # symplectic Euler falls g h more or less
    assert last == pytest.approx(-sqrt(2 * G * 0.5), abs=2 * G * 1e-3)


def test_bounces_fall_by_restitution_squared_and_errors_by_the_step():
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        sim, ball = ball_on_ground(0.8, 0.5, dt)
        tops, high = [], 0.0
        while len(tops) < 3:
            rising = sim.state.v[2] > 0
            sim.step()
            high = max(high, sim.position(ball)[2] - 0.1) if rising else 0.0
            if rising and sim.state.v[2] <= 0:
                tops.append(high)
        errors.append(max(abs(top - 0.5 * 0.64 ** (k + 1)) for k, top in enumerate(tops)))
    # a bounce is early or late by up to a step: speed times step
    assert all(
        error < 3 * sqrt(2 * G * 0.5) * dt
        for error, dt in zip(errors, (2e-3, 1e-3, 5e-4), strict=True)
    )


def impacts_of(sim, count):
    """Times of the first bounces [s] and the peaks after them [m] of a ball of 0.1 m,
    from its flight, which is exact.
    """
    times, peaks, down = [], [], True
    while len(times) < count and sim.time < 10.0:
        sim.step()
        height, speed = sim.state.q[2] - 0.1, sim.state.v[2]
        if down and speed > 0:
            # back along the parabola to the ground
            times.append(sim.time - (np.sqrt(speed**2 + 2 * G * max(height, 0.0)) - speed) / G)
            peaks.append(height + speed**2 / (2 * G))
        down = speed <= 0
    return times, peaks


@pytest.mark.parametrize(
    "key", [pytest.param("A09_bounce_e0.9", marks=pytest.mark.slow), "A09_bounce_e0.5"]
)
def test_bounces_are_those_of_the_reference_cases_at_their_moments(key, shared):
    case = json.loads((shared / "data" / "analytic_cases.json").read_text())[key]
    world = tabi.World()
    world.add_ground(friction=0.0, restitution=case["e"])
    world.add_sphere(radius=0.1, mass=1.0, position=(0, 0, 0.1 + case["h"]), friction=0.0)
    sim = tabi.Simulator(world, scheme="event-driven")
    times, peaks = impacts_of(sim, len(case["impact_times"]))
    np.testing.assert_allclose(times, case["impact_times"], atol=1e-6)
    np.testing.assert_allclose(peaks, case["peak_n"], atol=1e-6)
    # infinitely many of them end in rest
    sim.run(case["T_total"] + 0.1 - sim.time)
    assert abs(sim.state.v[2]) < 1e-6
    assert sim.state.q[2] == pytest.approx(0.1, abs=1e-6)


def test_time_stepping_bounces_as_late_or_early_as_first_order_allows_and_so_does_the_reference(
    shared,
):
    case = json.loads((shared / "data" / "analytic_cases.json").read_text())[
        "A09b_siconos_BouncingBallTS"
    ]
    e, count = case["e"], len(case["impact_times_in_ref"])
    exact = np.sqrt(2 / G) * (1 + 2 * np.cumsum([0.0, *(e**n for n in range(1, count))]))
    # an impact up to a step early or late is off by g δ in speed, so the flights after it by 2 e δ,
    # 2 e² δ, …
    steps = np.array(
        [
            sum(1 + 2 * sum(e**k for k in range(1, n - m + 1)) for m in range(n + 1))
            for n in range(count)
        ]
    )
    assert np.all(np.abs(np.array(case["impact_times_in_ref"]) - exact) <= case["dt"] * steps)
    for dt in (case["dt"], 0.1 * case["dt"]):
        times, _ = impacts_of(ball_on_ground(e, case["h_fall"], dt)[0], count)
        assert np.all(np.abs(times - exact) <= dt * steps)


def test_bouncing_ball_comes_to_rest_and_stays():
    sim, ball = ball_on_ground(0.5, 0.2)
    sim.run(3.0)
    # the closed form: all bounces are over after √(2H/g) (1 + ε)/(1 − ε) = 0.6 s
    assert sim.position(ball)[2] == pytest.approx(0.1, abs=1e-9)
    # to the tolerance
    assert sim.state.v[2] == pytest.approx(0.0, abs=1e-8)
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(G, abs=2e-5)


def test_elastic_head_on_collision_exchanges_velocities():
    world = tabi.World(gravity=(0.0, 0.0, 0.0))
    a = world.add_sphere(
        radius=0.1, mass=2.0, position=(0, 0, 0), restitution=1.0, friction=0.0, name="a"
    )
    b = world.add_sphere(
        radius=0.1, mass=1.0, position=(0.35, 0, 0), restitution=1.0, friction=0.0, name="b"
    )
    sim = tabi.Simulator(world)
    v = np.zeros(12)
    v[sim.model.v_index("a")] = 3.0
    sim.set_state(sim.model.initial(), v)
    sim.run(0.2)
    # (m₁ − m₂)/(m₁ + m₂) v and 2 m₁/(m₁ + m₂) v
    assert sim.velocity(a).linear[0] == pytest.approx(1.0, rel=1e-9)
    assert sim.velocity(b).linear[0] == pytest.approx(4.0, rel=1e-9)


def test_touching_cradle_shares_the_impact():
    # Newton's law at both contacts at once: −1/3, 2/3, 2/3
    world = tabi.World(gravity=(0.0, 0.0, 0.0))
    for k in range(3):
        world.add_sphere(
            radius=0.1,
            mass=1.0,
            position=(0.2 * k, 0, 0),
            restitution=1.0,
            friction=0.0,
            name=f"ball{k}",
        )
    sim = tabi.Simulator(world)
    v = np.zeros(18)
    v[sim.model.v_index("ball0")] = 1.0
    sim.set_state(sim.model.initial(), v)
    sim.step()
    speeds = [sim.state.v[sim.model.v_index(f"ball{k}")] for k in range(3)]
    assert speeds == pytest.approx([-1 / 3, 2 / 3, 2 / 3], abs=1e-8)


@pytest.mark.slow
def test_kanes_rod_gains_no_energy():
    # a slanted rod that slides fast: with friction Newton's restitution would make energy
    gained = []
    for slide in np.linspace(-10, 10, 41):
        for tilt in (20, 40, 60, 75):
            world, half = tabi.World(gravity=(0.0, 0.0, 0.0)), radians(90 - tilt) / 2
            world.add_ground(friction=0.9, restitution=0.9)
            turn = (cos(half), 0.0, sin(half), 0.0)
            lowest = 0.5 * cos(2 * half) + 0.005
            world.add_capsule(
                radius=0.005,
                length=1.0,
                mass=1.0,
                position=(0, 0, lowest + 1e-9),
                quaternion=turn,
                friction=0.9,
            )
            sim = tabi.Simulator(world)
            sim.set_state(sim.model.initial(), np.array([slide, 0.0, -1.0, 0, 0, 0]))
            before = sim.energy.kinetic
            sim.step()
            assert sim.contacts
            gained.append(sim.energy.kinetic - before)
    assert max(gained) <= 1e-12
    # and something bounced
    assert min(gained) < -1e-3


@pytest.mark.parametrize("seed", range(5))
def test_random_impacts_with_friction_gain_no_energy(seed):
    rng = np.random.default_rng(seed)
    for _ in range(8):
        world = tabi.World(gravity=(0.0, 0.0, 0.0))
        world.add_ground(friction=float(rng.uniform(0, 1.5)), restitution=float(rng.uniform(0, 1)))
        quaternion = rng.normal(size=4)
        for k in range(2):
            where = {
                "position": (0, 0, 0.3 + 0.5 * k),
                "quaternion": quaternion,
                "friction": 1.0,
                "restitution": 0.9,
                "name": f"thing{k}",
            }
            if rng.integers(2):
                world.add_box(
                    size=tuple(rng.uniform(0.05, 0.4, 3)), mass=float(rng.uniform(0.2, 5)), **where
                )
            else:
                world.add_capsule(radius=0.03, length=0.4, mass=float(rng.uniform(0.2, 5)), **where)
        sim = tabi.Simulator(world)
        v = rng.normal(size=12) * np.tile([1, 1, 1, 5, 5, 5], 2)
        v[[2, 8]] = -3.0
        sim.set_state(sim.model.initial(), v)
        last, hits = sim.energy.kinetic, 0
        for _ in range(150):
            sim.step()
            if sim.contacts:
                # what contacts bring; the scheme itself brings a little where things tumble,
                # of first order in the step
                assert sim.balance.contacts <= 1e-8 * last
                last, hits = sim.energy.kinetic, hits + 1
        assert hits


# ---- static friction ----------------------------------------------------------------------------


@pytest.mark.parametrize(("degrees", "slides"), [(28.0, False), (32.0, True)])
def test_box_on_a_slope_slips_at_the_static_angle_and_slides_with_the_other(degrees, slides):
    # tan 30° = 0.577 sticks, 0.3 slides
    world, box = slope(degrees, friction=0.3, static_friction=tan(radians(30)))
    sim = tabi.Simulator(world)
    start = sim.position(box)
    sim.run(0.5)
    moved = np.linalg.norm(sim.position(box) - start)
    expected = (
        0.5 * G * (sin(radians(degrees)) - 0.3 * cos(radians(degrees))) * 0.5**2 if slides else 0.0
    )
    assert moved == pytest.approx(expected, rel=0.01, abs=1e-6)


def test_sliding_box_stops_with_the_sliding_coefficient_and_then_sticks_with_the_static_one():
    world = tabi.World()
    world.add_ground(friction=0.3, static_friction=0.6)
    box = world.add_box(
        size=(0.2, 0.2, 0.1), mass=2.0, position=(0, 0, 0.05), friction=0.3, static_friction=0.6
    )
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), np.array([1.5, 0, 0, 0, 0, 0]))
    sim.run(1.0)
    assert sim.position(box)[0] == pytest.approx(1.5**2 / (2 * 0.3 * G), rel=2e-3)
    # 0.5 of the weight holds now, 0.7 does not
    before = sim.position(box)[0]
    sim.apply_force(box, force=(0.5 * 2.0 * G, 0, 0), duration=0.5)
    sim.run(0.5)
    assert sim.position(box)[0] == pytest.approx(before, abs=1e-7)
    sim.apply_force(box, force=(0.7 * 2.0 * G, 0, 0), duration=0.5)
    sim.run(0.5)
    # it slides under 0.3 then
    assert sim.position(box)[0] - before == pytest.approx(0.5 * (0.7 - 0.3) * G * 0.5**2, rel=0.01)


# ---- conveyors ----------------------------------------------------------------------------------


def test_box_on_a_conveyor_is_dragged_along_and_then_rides():
    from tabi.model.shape import Box

    world = tabi.World()
    world.add_fixed(
        Box((4.0, 1.0, 0.2)),
        (0, 0, -0.1),
        friction=0.5,
        surface_velocity=(0.8, 0.0, 0.0),
        name="belt",
    )
    box = world.add_box(size=(0.2, 0.2, 0.1), mass=2.0, position=(-1.0, 0, 0.05), friction=1.0)
    sim = tabi.Simulator(world)
    sim.run(0.1)
    assert sim.velocity(box).linear[0] == pytest.approx(0.5 * G * 0.1, rel=1e-6)
    sim.run(0.9)
    assert sim.velocity(box).linear[0] == pytest.approx(0.8, abs=1e-8)
    # v²/(2 μ g) behind the belt
    assert sim.position(box)[0] == pytest.approx(
        -1.0 + 0.8 * 1.0 - 0.8**2 / (2 * 0.5 * G), abs=2e-3
    )
