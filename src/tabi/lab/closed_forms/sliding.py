"""Closed forms of sliding and sticking blocks."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, cos, degrees, hypot, pi, radians, sin, sqrt, tan

import numpy as np

from tabi.lab.closed_forms.case import EXACT, Check, G, Register, after, order, with_box
from tabi.simulation.simulator import Simulator

CASES = Register()


@CASES.case(
    "a block slides down an incline", "v = g (sin θ − μ cos θ) t", "A01_block_slides_incline"
)
def incline() -> Iterator[Check]:
    """30°, μ = 0.3."""
    angle, mu = radians(30), 0.3
    a = G * (sin(angle) - mu * cos(angle))
    world, box = with_box(angle, mu)
    sim = after(world, 1.0)
    yield Check("speed after 1 s", a, sim.velocity(box).linear[0], EXACT)
    yield Check(
        "distance after 1 s, a t²/2 + a h t/2",
        a / 2 + a * 1e-3 / 2,
        sim.position(box)[0],
        EXACT,
        "m",
    )
    yield order(lambda dt: abs(after(world, 1.0, dt=dt).position(box)[0] - a / 2))


@CASES.case(
    "a block sticks above μ = tan θ and slides below",
    "v = max(0, g (sin θ − μ cos θ) t)",
    "A02_block_sticks_incline",
)
def sticking() -> Iterator[Check]:
    """30°, a thousandth to both sides of the threshold."""
    angle = radians(30)
    for share in (1.001, 0.999):
        mu = share * tan(angle)
        world, box = with_box(angle, mu)
        speed = after(world, 1.0, tolerance=1e-10).velocity(box).linear[0]
        yield Check(
            f"speed after 1 s at {share:g} tan θ",
            max(0.0, G * (sin(angle) - mu * cos(angle))),
            speed,
            1e-7,
        )


@CASES.case("a block brakes", "v = v₀ − μ g t, stops after v₀²/2μg", "A03_block_brakes")
def braking() -> Iterator[Check]:
    """From 2 m/s, μ = 0.5."""
    v0, mu = 2.0, 0.5
    world, box = with_box(0.0, mu)
    yield Check(
        "speed after 0.4 s", v0 - mu * G * 0.4, after(world, 0.4, v0).velocity(box).linear[0], EXACT
    )
    yield Check("speed after 0.5 s", 0.0, after(world, 0.5, v0).velocity(box).linear[0], 1e-7)
    distance = v0**2 / (2 * mu * G)
    yield Check(
        "stopping distance", distance, after(world, 0.5, v0).position(box)[0], v0 * 1e-3, "m"
    )
    yield order(lambda dt: abs(after(world, 0.5, v0, dt).position(box)[0] - distance))


@CASES.case(
    "friction is the same in all directions",
    "slips when F > μ m g, and then a = (F − μ m g)/m along F",
    "A04_cone_isotropy",
)
def isotropy() -> Iterator[Check]:
    """10 kg, μ = 0.4, five directions, 0.1 % below the threshold and 1 % above."""
    mass, mu = 10.0, 0.4
    slip = mu * mass * G
    for share in (0.999, 1.01):
        worst = 0.0
        for a in np.radians([0, 20, 45, 70, 90]):
            world, box = with_box(0.0, mu, mass)
            sim, direction = Simulator(world, tolerance=1e-10), np.array([cos(a), sin(a), 0.0])
            sim.apply_force(box, share * slip * direction, duration=1.0)
            sim.run(0.2)
            expected = max(0.0, (share - 1.0) * slip / mass * 0.2) * direction
            worst = max(worst, float(np.linalg.norm(sim.velocity(box).linear - expected)))
        yield Check(
            f"worst error of velocity, five directions, F = {share:g} μ m g", 0.0, worst, 1e-7
        )


@CASES.case("a block thrown across the axes goes straight and stops", "path v₀²/2μg along v₀")
def across() -> Iterator[Check]:
    """1.5 m/s at 37°."""
    mu, v0, a = 0.3, 1.5, radians(37)
    world, box = with_box(0.0, mu)
    sim = after(world, 0.7, (v0 * cos(a), v0 * sin(a)))
    x, y, _ = sim.position(box)
    yield Check("path", v0**2 / (2 * mu * G), hypot(x, y), v0 * 1e-3, "m")
    yield Check("its direction", 37.0, degrees(atan2(y, x)), 5e-4, "°")
    yield Check("speed at the end", 0.0, float(np.abs(sim.velocity(box).linear).max()), 1e-7)


@CASES.case(
    "a block thrown uphill stops and stays there", "v₀²/(2 g (sin θ + μ cos θ)), as μ > tan θ"
)
def uphill() -> Iterator[Check]:
    """2 m/s, 15°, μ = 0.4."""
    mu, angle, v0 = 0.4, radians(15), 2.0
    world, box = with_box(angle, mu)
    distance = v0**2 / (2 * G * (sin(angle) + mu * cos(angle)))
    yield Check("distance", distance, -after(world, 0.6, -v0).position(box)[0], v0 * 1e-3, "m")
    yield order(lambda dt: abs(after(world, 0.6, -v0, dt).position(box)[0] + distance))
    yield Check("speed at the end", 0.0, after(world, 0.6, -v0).velocity(box).linear[0], 1e-7)


@CASES.case(
    "a spinning block is slowed by its four corners",
    "ω̇ = −μ g d / (side²/6), corners at d = side/√2",
)
def spinning() -> Iterator[Check]:
    """10 rad/s, μ = 0.2."""
    mu, side, spin, t = 0.2, 0.4, 10.0, 0.2
    world, box = with_box(0.0, mu, size=(side, side, 0.1))
    expected = spin - mu * G * (side / sqrt(2)) / (side**2 / 6) * t
    sim = after(world, t, (0, 0, 0, 0, 0, spin))
    yield Check(
        "spin after 0.2 s",
        expected,
        sim.velocity(box).angular[2],
        EXACT / (side / sqrt(2)),
        "rad/s",
    )
    yield Check("speed of its centre", 0.0, float(np.abs(sim.velocity(box).linear).max()), EXACT)
    sim.run(0.5)
    yield Check("speed and spin at the end", 0.0, float(np.abs(sim.state.v).max()), 1e-6)


@CASES.case(
    "a block pulled up and forward weighs less and slides sooner", "a = (F_x − μ (m g − F_z))/m"
)
def pulled() -> Iterator[Check]:
    """2 kg, μ = 0.5, pulled by (12, 0, 8) N at the height of the ground,
    below the tipping moment.
    """
    mass, mu, (fx, fz) = 2.0, 0.5, (12.0, 8.0)
    world, box = with_box(0.0, mu, mass)
    sim = Simulator(world)
    sim.apply_force(box, (fx, 0, fz), duration=1.0, point=(0, 0, -0.05))
    sim.run(0.3)
    yield Check(
        "speed after 0.3 s",
        (fx - mu * (mass * G - fz)) / mass * 0.3,
        sim.velocity(box).linear[0],
        EXACT,
    )
    yield Check(
        "force of the ground", mass * G - fz, sum(c.force[2] for c in sim.contacts), 1e-4, "N"
    )


@CASES.case("a block at rest on a slope does not creep", "v = 0, as μ > tan θ")
def creep() -> Iterator[Check]:
    """10°, μ = 0.5, ten seconds: mean speed below the tolerance that was asked for."""
    world, box = with_box(radians(10), 0.5)
    for tolerance in (1e-8, 1e-10):
        sim = after(world, 10.0, tolerance=tolerance)
        yield Check(
            f"mean speed in 10 s, solved to {tolerance:g} m/s".replace("e-0", "e-"),
            0.0,
            sim.position(box)[0] / 10.0,
            tolerance,
        )


@CASES.case("a fast cube does not lift", "z = side/2 while it slides")
def fast() -> Iterator[Check]:
    """6 m/s, μ = 0.3: friction as a convex problem, without Φ(u) in the law,
    would let it rise with μ v = 1.8 m/s.
    """
    world, box = with_box(0.0, 0.3, size=(0.2, 0.2, 0.2))
    sim, highest = after(world, 0.0, 6.0), 0.0
    for _ in range(400):
        sim.run(1e-3)
        highest = max(highest, float(sim.position(box)[2]) - 0.1)
    yield Check("how far it lifts in 0.4 s", 0.0, highest, 1e-9, "m")
    yield Check("speed after 0.4 s", 6.0 - 0.3 * G * 0.4, sim.velocity(box).linear[0], EXACT)


@CASES.case(
    "a block lies on a slope that grows steeper", "v = ∫ g (sin θ − μ cos θ) dt from tan θ = μ on"
)
def turning() -> Iterator[Check]:
    """θ grows by 0.5 rad/s from zero; it slips at θ = arctan μ."""
    mu, rate, t = 0.3, 0.5, 1.5
    world, box = with_box(0.0, mu)
    sim = Simulator(world)
    # gravity is a parameter of the model: (g sin θ, 0, −g cos θ) at the middle of each step
    for k in range(round(t / sim.dt)):
        angle = rate * (k + 0.5) * sim.dt
        sim.model.arrays.gravity[:] = G * sin(angle), 0.0, -G * cos(angle)
        sim.step()
    start, end = np.arctan(mu), rate * t
    expected = G / rate * ((cos(start) - cos(end)) - mu * (sin(end) - sin(start)))
    # the midpoint rule, and the step in which it breaks loose
    yield Check(f"speed at θ = {end / pi * 180:.0f}°", expected, sim.velocity(box).linear[0], 1e-5)
