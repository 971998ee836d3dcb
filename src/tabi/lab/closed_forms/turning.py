"""Closed forms of surfaces that resist turning and rolling,
and of friction that grows with speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import atan, cos, exp, pi, sin

import numpy as np

from tabi.lab.closed_forms.case import (
    ABOVE_THRESHOLD,
    BELOW_THRESHOLD,
    EXACT,
    Check,
    G,
    Register,
    after,
    order,
    stands,
    tilted,
)
from tabi.model.body import Body
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

CASES = Register()
RADIUS, MASS = 0.1, 1.0


def resisting_ball(
    angle: float = 0.0, friction: float = 0.8, **surface: float
) -> tuple[World, Body]:
    """A ball on a slope, whose own surface resists."""
    world = tilted(angle, friction)
    return world, world.add_sphere(
        RADIUS, MASS, friction=friction, position=(0, 0, RADIUS), **surface
    )


@CASES.case(
    "torsional friction stops a spinning ball", "ω = ω₀ − τ m g t/I, I = 2mR²/5, and then it stands"
)
def spinning_top() -> Iterator[Check]:
    """20 rad/s, τ = 2 mm."""
    spin, torsion, inertia = 20.0, 2e-3, 0.4 * MASS * RADIUS**2
    world, ball = resisting_ball(torsional_friction=torsion)
    rate = torsion * MASS * G / inertia
    sim = after(world, 2.0, (0, 0, 0, 0, 0, spin))
    yield Check(
        "spin after 2 s", spin - 2.0 * rate, sim.velocity(ball).angular[2], 100 * EXACT, "rad/s"
    )
    yield Check("moment", -torsion * MASS * G, sim.contacts[0].moment[2], 1e-6, "N·m")
    sim.run(spin / rate - 2.0 + 0.1)
    yield Check("spin in the end", 0.0, sim.velocity(ball).angular[2], 1e-5, "rad/s")
    rotation = sim.pose(ball).R.copy()
    sim.run(1.0)
    yield Check(
        "turned in the second after that",
        0.0,
        float(np.abs(sim.pose(ball).R - rotation).max()),
        1e-5,
        "rad",
    )
    yield order(
        lambda dt: abs(
            _angle(after(world, 0.1, (0, 0, 0, 0, 0, spin), dt), ball) - (0.1 * spin - 0.005 * rate)
        ),
        "order in h of the angle's error",
    )


def _angle(sim: Simulator, ball: Body) -> float:
    R = sim.pose(ball).R
    return float(np.arctan2(R[1, 0], R[0, 0]))


@CASES.case("rolling friction stops a rolling ball", "a = −5 ρ g/7R, and then it stands")
def rolling_ball() -> Iterator[Check]:
    """1 m/s, ρ = 5 mm."""
    speed, resistance = 1.0, 5e-3
    world, ball = resisting_ball(rolling_friction=resistance)
    a = 5 / 7 * resistance * G / RADIUS
    start = (speed, 0, 0, 0, speed / RADIUS, 0)
    yield Check(
        "speed after 1 s", speed - a, after(world, 1.0, start).velocity(ball).linear[0], EXACT
    )
    sim = after(world, speed / a + 0.2, start)
    yield Check("speed in the end", 0.0, sim.velocity(ball).linear[0], 1e-7)
    yield Check("distance", speed**2 / (2 * a), sim.position(ball)[0], 1e-3, "m")
    yield order(lambda dt: abs(after(world, 1.0, start, dt).position(ball)[0] - (speed - a / 2)))


@CASES.case(
    "rolling friction holds a ball on a slope",
    "stands while tan θ ≤ ρ/R, else a = 5/7 g (sin θ − ρ cos θ/R)",
)
def ball_on_slope() -> Iterator[Check]:
    """ρ = 10 mm, a little less and a little more than the slope that it holds."""
    resistance = 0.01
    limit = atan(resistance / RADIUS)
    for angle, holds in ((BELOW_THRESHOLD * limit, True), (1.5 * limit, False)):
        world, ball = resisting_ball(angle, rolling_friction=resistance)
        sim = after(world, 1.0)
        yield stands(
            f"at {angle / limit:g} of the angle it {'stands' if holds else 'rolls'}",
            holds,
            abs(sim.velocity(ball).linear[0]),
        )
        if not holds:
            a = 5 / 7 * G * (sin(angle) - resistance * cos(angle) / RADIUS)
            yield Check("speed after 1 s", a, sim.velocity(ball).linear[0], EXACT)


@CASES.case(
    "torsional friction bears a torque up to τ m g", "stands below, ω̇ = (T − τ m g)/I above"
)
def torque() -> Iterator[Check]:
    """τ = 3 mm."""
    torsion, inertia = 3e-3, 0.4 * MASS * RADIUS**2
    world, ball = resisting_ball(torsional_friction=torsion)
    for part in (BELOW_THRESHOLD, ABOVE_THRESHOLD):
        sim, moment = Simulator(world), part * torsion * MASS * G
        sim.apply_force(ball, (0, 0, 0), torque=(0, 0, moment), duration=1.0)
        sim.run(1.0)
        expected = max(0.0, (moment - torsion * MASS * G) / inertia)
        yield Check(
            f"spin after 1 s with {part:g} of it",
            expected,
            sim.velocity(ball).angular[2],
            1e-4,
            "rad/s",
        )


@CASES.case("a cylinder rolls to a stop, whatever its length", "a = −2 ρ g/3R")
def rolling_cylinder() -> Iterator[Check]:
    """ρ = 5 mm, pressing with both ends of a line."""
    resistance, speed = 5e-3, 1.0
    a = 2 / 3 * resistance * G / RADIUS
    for length in (0.1, 0.4):
        world = tilted(0.0, 0.8)
        lying = (cos(pi / 4), sin(pi / 4), 0, 0)
        roller = world.add_cylinder(
            RADIUS,
            length,
            MASS,
            friction=0.8,
            rolling_friction=resistance,
            position=(0, 0, RADIUS),
            quaternion=lying,
        )
        # its own axis lies along −y of the world
        sim = after(world, 0.5, (speed, 0, 0, 0, speed / RADIUS, 0))
        yield Check(
            f"speed of {length:g} m after 0.5 s",
            speed - 0.5 * a,
            sim.velocity(roller).linear[0],
            10 * EXACT,
        )


@CASES.case(
    "viscous friction slows a block the more the faster it is", "v = (v₀ + μ/κ) e^(−κ g t) − μ/κ"
)
def viscous_block() -> Iterator[Check]:
    """3 m/s, μ = 0.1, κ = 0.2 s/m."""
    speed, mu, growth, t = 3.0, 0.1, 0.2, 0.5
    world = World()
    world.add_ground(friction=mu)
    box = world.add_box(
        (0.4, 0.4, 0.1), MASS, friction=mu, viscous_friction=growth, position=(0, 0, 0.05)
    )
    expected = (speed + mu / growth) * exp(-growth * G * t) - mu / growth
    sim = after(world, t, (speed,))
    # of first order: v̇ h/2 times κ g t
    yield Check("speed after 0.5 s", expected, sim.velocity(box).linear[0], 4e-3)
    yield Check(
        "friction",
        (mu + growth * sim.velocity(box).linear[0]) * MASS * G,
        -sum(c.force[0] for c in sim.contacts),
        1e-4,
        "N",
    )
    yield order(
        lambda dt: abs(after(world, t, (speed,), dt).velocity(box).linear[0] - expected),
        "order in h of the speed's error",
    )
