"""Closed forms of balls and cylinders that roll, slide and spin."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, radians, sin, sqrt, tan

import numpy as np

from tabi.lab.closed_forms.case import EXACT, Check, G, Register, after, order, tilted, with_ball
from tabi.model.shape import Sphere
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.spatial.inertia import Inertia

CASES = Register()


@CASES.case(
    "a sliding ball begins to roll",
    "rolls from t = 2v₀/7μg on, with 5v₀/7",
    "A05_sphere_slide_to_roll",
)
def slide_to_roll() -> Iterator[Check]:
    """5 m/s, μ = 0.3."""
    v0, mu = 5.0, 0.3
    world, ball = with_ball(0.0, mu)
    before, later = after(world, 0.48, v0), after(world, 0.6, v0)
    yield Check(
        "speed after 0.48 s, sliding", v0 - mu * G * 0.48, before.velocity(ball).linear[0], EXACT
    )
    yield Check("speed after 0.6 s, rolling", 5 / 7 * v0, later.velocity(ball).linear[0], EXACT)
    yield Check(
        "spin after 0.6 s", 5 / 7 * v0 / 0.1, later.velocity(ball).angular[1], 10 * EXACT, "rad/s"
    )
    t = 2 * v0 / (7 * mu * G)
    x = v0 * t - mu * G * t**2 / 2 + 5 / 7 * v0 * (0.6 - t)
    yield Check("distance after 0.6 s", x, later.position(ball)[0], 1e-3, "m")
    yield order(lambda dt: abs(after(world, 0.6, v0, dt).position(ball)[0] - x))


@CASES.case(
    "a spinning ball set down runs off",
    "v = μ g t until it rolls with 2Rω₀/7",
    "A06_sphere_spin_drop",
)
def spin_drop() -> Iterator[Check]:
    """20 rad/s, R = 0.1 m, μ = 0.2."""
    spin, mu, radius = 20.0, 0.2, 0.1
    world, ball = with_ball(0.0, mu, radius)
    sim = after(world, 0.25, (0, 0, 0, 0, spin, 0))
    yield Check("speed after 0.25 s, sliding", mu * G * 0.25, sim.velocity(ball).linear[0], EXACT)
    sim.run(0.15)
    yield Check(
        "speed after 0.4 s, rolling", 2 / 7 * radius * spin, sim.velocity(ball).linear[0], EXACT
    )


@CASES.case(
    "a ball rolls down an incline",
    "a = 5/7 g sin θ, friction 2/7 m g sin θ",
    "A07_sphere_incline_roll",
)
def ball_incline() -> Iterator[Check]:
    """15°, a tenth more friction than rolling needs."""
    angle, radius, mass = radians(15), 0.05, 0.1
    a = 5 / 7 * G * sin(angle)
    world, ball = with_ball(angle, 1.1 * 2 / 7 * tan(angle), radius, mass)
    sim = after(world, 1.0)
    yield Check("speed after 1 s", a, sim.velocity(ball).linear[0], EXACT)
    friction = 2 / 7 * mass * G * sin(angle)
    yield Check("friction", friction, -sum(c.force[0] for c in sim.contacts), 1e-5 * friction, "N")
    yield order(lambda dt: abs(after(world, 1.0, dt=dt).position(ball)[0] - a / 2))


@CASES.case("a cylinder rolls down an incline", "a = 2/3 g sin θ", "A08_cylinder_incline_roll")
def cylinder_incline() -> Iterator[Check]:
    """30°, a fifth more friction than rolling needs, its axis along y."""
    angle = radians(30)
    world = tilted(angle, 1.2 * tan(angle) / 3)
    roller = world.add_cylinder(
        0.1,
        0.3,
        1.0,
        friction=1.0,
        position=(0, 0, 0.1),
        quaternion=(cos(pi / 4), sin(pi / 4), 0, 0),
    )
    sim, a = after(world, 0.5), 2 / 3 * G * sin(angle)
    yield Check("speed after 0.5 s", 0.5 * a, sim.velocity(roller).linear[0], 10 * EXACT)
    yield Check("spin after 0.5 s", 5.0 * a, sim.velocity(roller).angular[1], 100 * EXACT, "rad/s")


@CASES.case(
    "a tray of 25 balls is pulled across the axes",
    "a_tray = (F − μ N − 25 f)/m, balls a = 2/7 a_tray",
    "A10_SimBenchmark_rolling",
)
def tray() -> Iterator[Check]:
    """150 N along (1, 1)/√2 on 10 kg with 25 balls of 1 kg; a pyramid's friction holds it."""
    world = World()
    world.add_ground(friction=0.4)
    plate = world.add_box((3.0, 3.0, 0.2), 10.0, friction=0.8, position=(0, 0, 0.1), name="tray")
    places = [(0.5 * i, 0.5 * k, 0.3) for i in range(-2, 3) for k in range(-2, 3)]
    balls = [
        world.add_sphere(0.1, 1.0, friction=0.8, position=p, name=f"ball{n}")
        for n, p in enumerate(places)
    ]
    sim = Simulator(world, dt=2e-3)
    sim.apply_force(plate, (150 / sqrt(2), 150 / sqrt(2), 0), duration=1.0, point=(0, 0, -0.1))
    sim.run(0.4)
    # a ball on an accelerated plate: f = 2/7 m a
    a = (150 - 0.4 * 35 * G) / (10 + 25 * 2 / 7)
    yield Check(
        "speed of the tray after 0.4 s",
        0.4 * a,
        float(np.linalg.norm(sim.velocity(plate).linear)),
        EXACT,
    )
    slowest, fastest = (
        pick(float(np.linalg.norm(sim.velocity(ball).linear)) for ball in balls)
        for pick in (min, max)
    )
    yield Check("slowest ball", 0.4 * 2 / 7 * a, slowest, EXACT)
    yield Check("fastest ball", 0.4 * 2 / 7 * a, fastest, EXACT)
    vx, vy, _ = sim.velocity(plate).linear
    yield Check("direction, v_y / v_x", 1.0, vy / vx, 1e-5, "")


@CASES.case(
    "a ball on a slope too smooth slides and turns",
    "v = g (sin θ − μ cos θ) t, ω = 5 μ g cos θ t / 2R",
)
def smooth_slope() -> Iterator[Check]:
    """40°, μ = 0.1 < 2/7 tan θ."""
    angle, mu, radius = radians(40), 0.1, 0.1
    world, ball = with_ball(angle, mu, radius)
    sim = after(world, 0.5)
    yield Check(
        "speed after 0.5 s",
        G * (sin(angle) - mu * cos(angle)) * 0.5,
        sim.velocity(ball).linear[0],
        EXACT,
    )
    yield Check(
        "spin after 0.5 s",
        2.5 * mu * G * cos(angle) / radius * 0.5,
        sim.velocity(ball).angular[1],
        100 * EXACT,
        "rad/s",
    )


@CASES.case("backspin is paid from the speed", "v = (5v₀ − 2Rω)/7: spin about the contact is kept")
def backspin() -> Iterator[Check]:
    """2 m/s with 30 rad/s backwards."""
    v0, back, radius = 2.0, 30.0, 0.1
    world, ball = with_ball(0.0, 0.4, radius)
    sim = after(world, 1.0, (v0, 0, 0, 0, -back, 0))
    yield Check(
        "speed after 1 s", (5 * v0 - 2 * radius * back) / 7, sim.velocity(ball).linear[0], EXACT
    )


@CASES.case("a hollow ball rolls slower than a solid one", "a = 3/5 g sin θ")
def hollow() -> Iterator[Check]:
    """θ = 20°: acceleration of both balls."""
    angle, radius = radians(20), 0.1
    world = tilted(angle, 0.8)
    ball = world.add_object(
        Sphere(radius),
        Inertia(1.0, np.zeros(3), 2 / 3 * radius**2 * np.eye(3)),
        position=(0, 0, radius),
    )
    yield Check(
        "speed after 0.5 s",
        3 / 5 * G * sin(angle) * 0.5,
        after(world, 0.5).velocity(ball).linear[0],
        EXACT,
    )


@CASES.case("a ball pushed at 7/5 of its radius rolls without friction", "a = F/m, friction 0")
def billiard() -> Iterator[Check]:
    """3 N, the point of the push turning with the ball: one step at a time."""
    radius, force = 0.1, 3.0
    world, ball = with_ball(0.0, 0.5, radius)
    sim = Simulator(world)
    for _ in range(100):
        sim.apply_force(
            ball, (force, 0, 0), point=sim.pose(ball).R.T @ np.array([0, 0, 0.4 * radius])
        )
        sim.step()
    yield Check("speed after 0.1 s", force * 0.1, sim.velocity(ball).linear[0], EXACT)
    yield Check("friction", 0.0, sum(c.force[0] for c in sim.contacts), 1e-4, "N")
