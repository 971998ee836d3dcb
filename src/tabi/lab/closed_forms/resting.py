"""Closed forms of things at rest: towers, ladders, planks;
more contact points than equilibrium determines.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, radians, sin

import numpy as np

from tabi.lab.closed_forms.case import (
    ABOVE_THRESHOLD,
    BELOW_THRESHOLD,
    Check,
    G,
    Register,
    after,
    stands,
)
from tabi.model.body import Body
from tabi.model.shape import Capsule, HalfSpace
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

CASES = Register()


@CASES.case("in a tower each joint carries what is above", "N = g Σ m above")
def tower() -> Iterator[Check]:
    """5, 1, 3 and 2 kg, 16 points."""
    world, masses = World(), (5.0, 1.0, 3.0, 2.0)
    world.add_ground()
    for k, mass in enumerate(masses):
        world.add_box(
            (0.3 - 0.05 * k, 0.3 - 0.05 * k, 0.2),
            mass,
            position=(0, 0, 0.1 + 0.2 * k),
            name=f"box{k}",
        )
    sim = after(world, 0.3)
    for k in range(len(masses)):
        below = "world" if k == 0 else f"box{k - 1}"
        carried = sum(
            abs(c.force[2])
            for c in sim.contacts
            if {c.body_a.name, c.body_b.name} == {f"box{k}", below}
        )
        yield Check(f"force under box {k + 1}", G * sum(masses[k:]), carried, 1e-4, "N")


def ladder(
    angle: float, mu: float, radius: float = 0.02, length: float = 2.0, mass: float = 5.0
) -> tuple[World, Body, float, float]:
    """A capsule against a smooth wall; the push of the wall by moments about its lower centre,
    the floor's friction below it.
    """
    world = World()
    world.add_ground(friction=mu)
    phi, wall = pi / 2 - angle, length * cos(angle) + radius
    world.add_fixed(
        HalfSpace(), (wall, 0, 0), (cos(pi / 4), 0, -sin(pi / 4), 0), friction=0.0, name="wall"
    )
    middle = np.array([0.0, 0.0, radius]) + length / 2 * np.array([cos(angle), 0, sin(angle)])
    body = world.add_capsule(
        radius,
        length,
        mass,
        friction=1.0,
        position=middle,
        quaternion=(cos(phi / 2), 0, sin(phi / 2), 0),
        name="ladder",
    )
    return (
        world,
        body,
        mass * G * length * cos(angle) / (2 * (length * sin(angle) + radius)),
        mass * G,
    )


@CASES.case("a ladder leans on a smooth wall", "N_wall = m g L cos θ / 2(L sin θ + r)")
def leaning() -> Iterator[Check]:
    """θ = 60°: force on the wall."""
    world, body, push, weight = ladder(radians(60), 0.6)
    sim = after(world, 0.3, tolerance=1e-10)
    floor = sum((c.force for c in sim.contacts if c.normal[2] > 0.9), np.zeros(3))
    yield Check(
        "push of the wall",
        push,
        sum(-c.force[0] for c in sim.contacts if abs(c.normal[0]) > 0.9),
        1e-4 * push,
        "N",
    )
    yield Check("friction of the floor", push, floor[0], 1e-4 * push, "N")
    yield Check("weight on the floor", weight, floor[2], 1e-4 * weight, "N")
    yield Check("speed", 0.0, float(np.abs(sim.velocity(body).linear).max()), 1e-7)


@CASES.case("a ladder stands as long as friction carries the push of the wall", "μ ≥ N_wall / m g")
def ladder_threshold() -> Iterator[Check]:
    """2 % to both sides."""
    _, _, push, weight = ladder(radians(60), 1.0)
    for share in (ABOVE_THRESHOLD, BELOW_THRESHOLD):
        world, body, _, _ = ladder(radians(60), share * push / weight)
        speed = float(np.linalg.norm(after(world, 0.4, tolerance=1e-10).velocity(body).linear))
        yield stands(f"stands at {share:g} of that friction", share > 1, speed)


@CASES.case(
    "a cupboard pushed high up tips over its edge",
    "tips when F z > m g w/2, and then ω̇ ≥ (F z − m g w/2) / (m (w² + h²)/3)",
)
def cupboard() -> Iterator[Check]:
    """0.2 m wide, 0.6 m high, pushed at 0.5 m, 2 % to both sides."""
    width, height, mass, at = 0.2, 0.6, 3.0, 0.5
    for share in (BELOW_THRESHOLD, ABOVE_THRESHOLD):
        world = World()
        world.add_ground(friction=0.8)
        box = world.add_box((width, 0.4, height), mass, friction=0.8, position=(0, 0, height / 2))
        sim = Simulator(world, tolerance=1e-10)
        sim.apply_force(
            box,
            (share * mass * G * width / 2 / at, 0, 0),
            duration=1.0,
            point=(0, 0, at - height / 2),
        )
        if share < 1:
            sim.run(0.2)
            pressing = [c for c in sim.contacts if c.pressing]
            pressure = sum(c.point[0] * c.force[2] for c in pressing) / sum(
                c.force[2] for c in pressing
            )
            yield Check(
                "turns below the threshold", 0.0, sim.velocity(box).angular[1], 1e-7, "rad/s"
            )
            yield Check("centre of pressure below it", share * width / 2, pressure, 1e-6, "m")
        else:
            sim.step()
            start = (share - 1) * mass * G * width / 2 / (mass * (width**2 + height**2) / 3)
            yield Check(
                "ω̇ at the start above it",
                start,
                sim.velocity(box).angular[1] / sim.dt,
                1e-5,
                "rad/s²",
            )


@CASES.case("a plank on two rails shares a load by the lever rule", "N = g (m/2 + M (s/2 ± x)/s)")
def plank() -> Iterator[Check]:
    """4 kg with 6 kg at a quarter of the span."""
    mass, load, span, at = 4.0, 6.0, 2.0, 0.5
    world = World()
    for x in (-span / 2, span / 2):
        world.add_fixed(
            Capsule(0.05, 0.6), (x, 0, -0.05), (cos(pi / 4), sin(pi / 4), 0, 0), name=f"rail{x:g}"
        )
    world.add_box((2.6, 0.4, 0.1), mass, position=(0, 0, 0.05), name="plank")
    world.add_box((0.2, 0.2, 0.2), load, position=(at, 0, 0.2), name="load")
    sim = after(world, 0.2)
    for side, sign in (("right", 1.0), ("left", -1.0)):
        carried = sum(
            c.force[2] for c in sim.contacts if c.body_b.name == "world" and sign * c.point[0] > 0
        )
        yield Check(
            f"force on the {side} rail",
            G * (mass / 2 + load * (span / 2 + sign * at) / span),
            carried,
            1e-3,
            "N",
        )
