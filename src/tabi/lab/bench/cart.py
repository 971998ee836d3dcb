"""``tabi bench cart``: a humanoid with its hands on a loaded cart, held and pushing;
time per step and what the contacts do.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tabi.control import hold
from tabi.lab.bench.step import Marching
from tabi.lab.bench.timing import Blocks, microseconds
from tabi.lab.study import DEFAULTS, Benchmark, BenchPart, head
from tabi.scenes import cart
from tabi.simulation.simulator import Simulator


class CartBench(Benchmark, name="cart"):
    """HRP-2 with its hands on a cart that carries a box."""

    blocks: Blocks = 31
    duration_s: float = 2.0

    constants = DEFAULTS

    def parts(self) -> Iterator[BenchPart]:
        """The cart is held, then pushed."""
        yield BenchPart("hold", "holding", holding, (self.duration_s, self.blocks))
        yield BenchPart("push", "pushing", pushing, (self.duration_s,))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield head(result)
        hold = result["hold"]
        points = ", ".join(f"{name} {count}" for name, count in hold["points"].items())
        yield (
            f"hold: {hold['microseconds']:.0f} µs a step (fastest block "
            f"{hold['least_microseconds']:.0f} µs), {hold['contacts']} points ({points})"
        )
        yield (
            f"  {hold['missed']} of {hold['steps']} steps did not converge, "
            f"worst {hold['worst_residual']:.1e} m/s; hands press {hold['hands_press_N']:.1f} N, "
            f"cart moved {hold['cart_moved_m']:.1e} m, load {hold['load_moved_m']:.1e} m"
            + ("; FALLEN" if hold["fallen"] else "")
        )
        push = result["push"]
        yield (
            f"push: {push['microseconds_from_python']:.0f} µs a step from Python, "
            f"slowest {push['slowest_microseconds']:.0f} µs, "
            f"at most {push['most_iterations']} iterations; {push['missed']} missed, "
            f"worst {push['worst_residual']:.1e} m/s"
        )
        yield (
            f"  cart moved {1e3 * push['cart_moved_m']:.1f} mm, "
            f"load slid {1e3 * push['load_slid_m']:.2f} mm on it"
            + ("; FALLEN" if push["fallen"] else "")
        )


def holding(duration: float, blocks: int) -> dict[str, Any]:
    """The hands rest on the cart."""
    world, robot, body, load = cart.build()
    sim = Simulator(world)
    sim.set_controller(robot, hold(cart.pose(robot)))
    start = sim.position(body), sim.position(load)
    sim.run(duration)
    c = sim.certificate
    displacement = [
        float(np.linalg.norm(sim.position(b) - p)) for b, p in zip((body, load), start, strict=True)
    ]
    points = Counter(" on ".join((x.body_a.name, x.body_b.name)) for x in sim.contacts)
    hands = sum(-float(x.force[2]) for x in sim.contacts if x.body_b.name.endswith("hand"))
    run = Marching(sim)
    times = microseconds({"step": run}, blocks, 0.02)["step"]
    return {
        "contacts": c.contacts,
        "points": dict(points),
        "groups": c.groups,
        "microseconds": round(float(np.median(times)), 1),
        "least_microseconds": round(float(times.min()), 1),
        "steps": round(duration / sim.dt) + run.steps,
        "missed": c.missed + run.missed,
        "worst_residual": float(f"{max(c.worst_residual, run.worst):.3g}"),
        "cart_moved_m": displacement[0],
        "load_moved_m": displacement[1],
        "hands_press_N": round(hands, 2),
        "fallen": sim.fallen(robot),
    }


def pushing(duration: float) -> dict[str, Any]:
    """The arms stretch: every step is clocked from Python, its controller included."""
    world, robot, body, load = cart.build()
    sim = Simulator(world)
    sim.set_controller(robot, cart.push(robot, 0.25 * duration, 0.5 * duration))
    start, slid = sim.position(body), sim.position(load) - sim.position(body)
    times, most = [], 0
    for _ in range(round(duration / sim.dt)):
        begin = time.perf_counter()
        sim.step()
        times.append(1e6 * (time.perf_counter() - begin))
        most = max(most, int(sim.data.outcome.report[0]["iterations"]))
    c = sim.certificate
    return {
        "contacts": c.contacts,
        "microseconds_from_python": round(float(np.median(times)), 1),
        "slowest_microseconds": round(max(times), 1),
        "most_iterations": most,
        "missed": c.missed,
        "first_missed": sim.missed[:5],
        "worst_residual": float(f"{c.worst_residual:.3g}"),
        "cart_moved_m": round(float((sim.position(body) - start)[0]), 5),
        "load_slid_m": round(
            float(np.linalg.norm(sim.position(load) - sim.position(body) - slid)), 6
        ),
        "fallen": sim.fallen(robot),
    }
