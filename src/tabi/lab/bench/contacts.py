"""``tabi bench contacts``: a thousand contact points, in many small groups and in one large one,
a tree that touches with all of its links, and balls that fall into a pit, on one core.

Stacks: pairs of boxes, one on the other, 8 points each. Wall: bricks in running bond with open
joints between neighbours, each on two of the row below, half bricks at the ends of every other row:
with n bricks in each of r rows, 4 n (2 r − 1) points in one group. Crawler: balls in a row on
hinges, each on the ground. Pit: balls of 10 cm, 4 × 4 to a layer, fall between four walls 60 cm
apart and roll on each other until they lie (``falling``). A sweep is one of Gauss–Seidel over all
contacts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from tabi.contact import bodies, body_sweep, solve_bodies
from tabi.contact.bodies import BodyProblem
from tabi.jit import decorator
from tabi.lab.bench import falling, loops
from tabi.lab.bench.step import Marching
from tabi.lab.bench.timing import Blocks, microseconds
from tabi.lab.study import DEFAULTS, Benchmark, BenchPart, Option, head
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape, Sphere
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.spatial.inertia import solid_sphere
from tabi.spatial.transform import translation

# of the wall: a brick with its joint, and the joint alone [m]; mass of a brick [kg]
BRICK, JOINT, BRICK_MASS = (0.20, 0.10, 0.06), 0.01, 2.4
# of the crawler: radius of a ball, and from one to the next [m]
BALL, PITCH = 0.03, 0.08
# longest time for repetitions of one solution
MAX_REPETITION_TIME_S = 2.0
TOLERANCES = (1e-6, 1e-8)
# of the pit: radius [m] and mass [kg] of a ball, friction, half its width and its depth [m]
PIT_BALL, PIT_MASS, PIT_FRICTION, PIT_HALF, PIT_DEPTH = 0.05, 0.5, 0.5, 0.3, 2.0


class ContactsBench(Benchmark, name="contacts"):
    """A thousand contact points: 128 stacks of boxes, one brick wall, and a pit of balls."""

    blocks: Blocks = 15
    balls: Annotated[int, Option(min=1, help="Balls that fall into the pit.")] = 200
    seconds: Annotated[float, Option(min=0.01, help="How long they fall and roll.")] = 1.5
    stacks: int = 128
    # bricks in a row, and rows
    wall: tuple[int, int] = (17, 8)
    links: int = 96

    constants = DEFAULTS

    def parts(self) -> Iterator[BenchPart]:
        """World by world, and sweeps over walls that are less and less wide."""
        (bricks, rows), links = self.wall, self.links
        yield BenchPart("stacks", f"{self.stacks} stacks", self._stacks)
        yield BenchPart("wall", f"a wall of {bricks} × {rows} bricks", self._wall)
        yield BenchPart(
            "crawler",
            f"a crawler of {links} links",
            lambda: {"links": links} | stepped(Simulator(crawler_world(links)), self.blocks)[0],
        )
        yield BenchPart("pit", f"a pit of {self.balls} balls, for {self.seconds:g} s", self._pit)
        widths = sorted({max(1, bricks // k) for k in (1, 2, 4, 8)})
        yield BenchPart(
            "sweeps",
            "sweeps",
            lambda: [sweep(first_problem(wall_world(n, rows)), self.blocks) for n in widths],
        )

    def _stacks(self) -> dict[str, Any]:
        result, _ = stepped(Simulator(stacks_world(self.stacks)), self.blocks)
        return {"stacks": self.stacks} | result

    def _wall(self) -> dict[str, Any]:
        result, problem = stepped(Simulator(wall_world(*self.wall)), self.blocks)
        size = dict(zip(("bricks_in_a_row", "rows"), self.wall, strict=True))
        return size | result | {"cold": cold(problem)}

    def _pit(self) -> dict[str, Any]:
        result = falling.measure(pit_world(self.balls), self.seconds)
        return {"balls": self.balls, "seconds": self.seconds} | result

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """World by world as sentences."""
        yield head(result)
        yield ""
        for key, title in (
            ("stacks", "{stacks} stacks"),
            ("wall", "a wall of {bricks_in_a_row} × {rows} bricks"),
            ("crawler", "a crawler of {links} links"),
        ):
            f = result[key]
            yield (
                f"{title.format_map(f)}: {f['contacts']} points, {f['groups']} groups, "
                f"{f['bodies']} bodies"
            )
            yield (
                f"  {f['microseconds']:.0f} µs a step, "
                f"warm (fastest block {f['least_microseconds']:.0f} µs), by {f['attempt']}"
            )
            yield (
                f"  {f['missed']} of {f['steps']} steps did not converge, worst "
                f"{f['worst_residual']:.1e} m/s; weight off by {f['weight_error']:.0e}"
            )
            first = f["first_step"]
            yield (
                f"  first step {1e3 * first['seconds']:.1f} ms, {first['iterations']} iterations, "
                f"{first['residual']:.1e} m/s"
            )
        yield from _pit_lines(result["pit"])
        for row in result["wall"]["cold"]:
            state = "" if row["converged"] else " NOT SOLVED"
            yield (
                f"  cold to {row['tolerance']:.0e} m/s by {row['by']}: "
                f"{1e3 * row['seconds']:.1f} ms, {row['iterations']} iterations{state}, "
                f"{row['residual']:.1e} m/s"
            )
        for row in result["sweeps"]:
            yield (
                f"  a sweep of {row['contacts']} points: {row['microseconds']:.1f} µs, "
                f"{row['nanoseconds_per_contact']:.0f} ns a point"
            )


# ---- worlds -------------------------------------------------------------------------------------


def stacks_world(count: int) -> World:
    """Pairs of boxes, one on the other, on a grid."""
    world = World()
    world.add_ground()
    for k in range(count):
        x, y = 0.3 * (k % 16), 0.3 * (k // 16)
        for level in range(2):
            world.add_box(
                (0.1, 0.1, 0.1), 1.0, position=(x, y, 0.05 + 0.1 * level), name=f"box{k}_{level}"
            )
    return world


def wall_world(bricks: int, rows: int) -> World:
    """A wall in running bond."""
    world = World()
    world.add_ground()
    pitch, depth, height = BRICK
    for row in range(rows):
        z = (row + 0.5) * height
        if row % 2 == 0:
            places = [((k + 0.5) * pitch, pitch) for k in range(bricks)]
        else:
            ends = [(0.25 * pitch, 0.5 * pitch), ((bricks - 0.25) * pitch, 0.5 * pitch)]
            places = [ends[0], *((k * pitch, pitch) for k in range(1, bricks)), ends[1]]
        for k, (x, width) in enumerate(places):
            world.add_box(
                (width - JOINT, depth, height),
                BRICK_MASS * width / pitch,
                position=(x, 0.0, z),
                name=f"brick{row}_{k}",
            )
    return world


def crawler_world(links: int) -> World:
    """Balls in a row, on hinges that turn up and sideways by turns."""
    world, robot, solid = World(), Robot("crawler"), solid_sphere(0.2, BALL)
    world.add_ground()
    joint = Joint("base", "floating", translation((0.0, 0.0, BALL)))
    for k in range(links):
        parent = f"link {k - 1}" if k else None
        robot.add_body(f"link {k}", joint, parent, solid, [Shape(Sphere(BALL))])
        axis = (0.0, 0.0, 1.0) if k % 2 else (0.0, 1.0, 0.0)
        joint = Joint(f"hinge {k}", "revolute", translation((PITCH, 0.0, 0.0)), axis)
    world.add_robot(robot)
    return world


def pit_world(count: int, seed: int = 0) -> World:
    """Balls above the floor of a pit, layer by layer, each up to 1 cm off its place."""
    world, rng, half = World(), np.random.default_rng(seed), PIT_HALF
    world.add_ground(friction=PIT_FRICTION)
    length, middle = 2.0 * half + 0.4, half + 0.1
    for side in (-middle, middle):
        for size, place in (((0.2, length), (side, 0.0)), ((length, 0.2), (0.0, side))):
            shape = Box((*size, PIT_DEPTH))
            world.add_fixed(shape, (*place, 0.5 * PIT_DEPTH), friction=PIT_FRICTION)
    for k in range(count):
        layer, row, column = k // 16, k // 4 % 4, k % 4
        place = np.array((0.13 * column - 0.195, 0.13 * row - 0.195, 0.08 + 0.13 * layer))
        place += rng.uniform(-0.01, 0.01, 3)
        world.add_sphere(PIT_BALL, PIT_MASS, position=place, friction=PIT_FRICTION, name=f"ball{k}")
    return world


# ---- figures ------------------------------------------------------------------------------------


def stepped(sim: Simulator, blocks: int) -> tuple[dict[str, Any], BodyProblem]:
    """A world at rest: time per step with warm contacts, and the problem of its first step,
    when they were cold.
    """
    run = Marching(sim)
    start = time.perf_counter()
    run(1)
    first = {
        "seconds": round(time.perf_counter() - start, 4),
        "iterations": int(sim.data.outcome.report[0]["iterations"]),
    }
    problem = sim.problem()
    assert problem is not None
    first |= {"residual": float(f"{sim.certificate.residual:.3g}"), "missed": run.missed}
    run(50)
    run.missed, run.worst, begin = 0, 0.0, run.steps
    times = microseconds({"step": run}, blocks, 0.05)["step"]
    c = sim.certificate
    moving = [*sim.world.objects, *(body for robot in sim.world.robots for body in robot.bodies)]
    weight = sum(body.inertia.mass for body in moving) * 9.81
    ground = sum(float(x.force[2]) for x in sim.contacts if x.body_b.name == "world")
    return {
        "contacts": c.contacts,
        "groups": c.groups,
        "bodies": len(moving),
        "microseconds": round(float(np.median(times)), 1),
        "least_microseconds": round(float(times.min()), 1),
        "steps": run.steps - begin,
        "missed": run.missed,
        "worst_residual": float(f"{run.worst:.3g}"),
        "attempt": c.attempt,
        "weight_error": float(f"{ground / weight - 1:.2g}"),
        "first_step": first,
    }, problem


def first_problem(world: World) -> BodyProblem:
    """The contact problem of a world's first step."""
    sim = Simulator(world)
    Marching(sim)(1)
    problem = sim.problem()
    assert problem is not None
    return problem


def cold(problem: BodyProblem) -> list[dict[str, Any]]:
    """Time from zero impulses to each tolerance [m/s], by every solver that is asked for."""
    # solve_bodies measures by the largest free velocity
    scale = float(np.abs(problem.q).max()) or 1.0
    rows = []
    for solver in ("auto", "accelerated gauss-seidel"):
        for tolerance in TOLERANCES:
            times: list[float] = []
            begin = time.perf_counter()
            while True:
                compiling = decorator.first_run.seconds
                s = solve_bodies(problem, tolerance / scale, solver=solver)
                # a run that had to compile something says nothing
                if decorator.first_run.seconds == compiling:
                    times.append(s.seconds)
                    if len(times) == 5 or time.perf_counter() - begin > MAX_REPETITION_TIME_S:
                        break
            row = {
                "solver": solver,
                "by": s.solver,
                "tolerance": tolerance,
                "converged": s.converged,
                "iterations": s.iterations,
            }
            rows.append(
                row
                | {
                    "seconds": float(f"{np.median(times):.4g}"),
                    "residual": float(f"{s.certificate.residual:.3g}"),
                }
            )
    return rows


def sweep(problem: BodyProblem, blocks: int) -> dict[str, Any]:
    """Microseconds of one sweep."""
    count = len(problem.mu)
    work, impulse = bodies.allocate(count, len(problem.start) - 1, 0), np.zeros(3 * count)
    body_sweep.local_blocks(problem, work)
    zero = np.zeros(3 * count)
    times = microseconds(
        {"sweep": lambda n: loops.sweeps(n, problem, zero, impulse, work)}, blocks
    )["sweep"]
    # the fastest block: the cost of a contact is small, and so are its differences
    least = float(times.min())
    return {
        "contacts": count,
        "microseconds": round(least, 2),
        "nanoseconds_per_contact": round(1e3 * least / count, 1),
    }


def _pit_lines(pit: dict[str, Any]) -> list[str]:
    theirs = pit["microseconds"].get("mujoco")
    beside = "" if theirs is None else f" (MuJoCo {1e-3 * theirs:.2f})"
    return [
        f"a pit of {pit['balls']} balls, {pit['seconds']:g} s: {pit['most_points']} points",
        f"  a step takes {1e-3 * pit['median_microseconds']:.2f} ms in the median, "
        f"{1e-3 * pit['microseconds']['tabi']:.2f} in the mean{beside}, "
        f"{pit['longest_ms']:.0f} at most; {pit['missed']} of {pit['steps']} missed",
    ]
