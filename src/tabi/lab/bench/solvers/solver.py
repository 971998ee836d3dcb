"""``tabi bench solver``: tabi's own seeded family of contact problems,
and four closer looks at the default solver.

Sweeps: what one costs against the number of contacts. Warm: foot contacts of a robot that stands,
squats and slides, each step from the impulses of the step before. Walls: 976 contacts, at rest and
in motion. Convergence: error against time, from zero impulses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.contact import (
    bodies,
    body_sweep,
    gauss_seidel,
    judge,
    ladder,
    matrix_form,
    solve_bodies,
    twist_newton,
    workspace,
)
from tabi.contact.bodies import BodyProblem
from tabi.contact.maps import ALART_CURNIER
from tabi.lab.bench import loops
from tabi.lab.bench.solvers import race
from tabi.lab.bench.solvers.race import Entry, Race
from tabi.lab.bench.timing import microseconds
from tabi.lab.family import cases, everything, holding, humanoid, plates, walls
from tabi.lab.family.case import STEP
from tabi.lab.family.stances import CORNERS, soles, standing_robot
from tabi.lab.study import Benchmark, BenchPart, Column, Option, table
from tabi.model.compiled import Model

Floats = NDArray[np.float64]

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
# beyond this the blocks of a matrix over contacts are more than a processor's caches hold
MATRIX_SIZES = SIZES[:6]
# speed of the bricks [m/s] and friction: at rest, and from slow to violent
WALLS = ((0.0, 0.5), (0.001, 0.5), (0.005, 0.8), (0.02, 0.5), (0.2, 0.3))
STEPS, SETTLING_STEPS = 60, 20
DEPTH, FREQUENCY = 0.1, 1.0  # m, Hz: of the squat
BUDGETS = tuple(2**k for k in range(13))
MIN_RUN_TIME_S = 0.02  # s: short runs are timed again


class SolverRace(Race, Benchmark, name="solver"):
    """tabi's own family of contact problems by every solver, against Siconos."""

    count: Annotated[
        int, Option(min=1, help="About so many problems; at least one of every kind.")
    ] = 100
    seed: Annotated[int, Option(help="Seed of the problems.")] = 0

    what = "problems of the family"

    def members(self) -> Iterator[Any]:
        """About so many cases in the proportions of the family, which has a thousand; at least one
        of every kind.
        """
        return everything(self.seed, self.count / 1000)

    def entries(self) -> Iterator[Entry]:
        """All of them, each in the form a user would give too."""
        for c in self.members():
            yield Entry(c.name, c.kind, c.problem(), c.bodies or c.problem())

    def parts(self) -> Iterator[BenchPart]:
        """The race, and four closer looks at the default solver."""
        yield from super().parts()
        yield BenchPart("sweep", "", sweep_cost)
        yield BenchPart("warm_stances", "", lambda: warm_stances(tolerance=self.tolerance))
        yield BenchPart("walls", "", large_walls, (self.tolerance,))
        for name, problem in (
            ("squatting, 8 contacts", squatting()),
            ("wall at rest, 976 contacts", brick_wall(*WALLS[0])),
        ):
            yield BenchPart(("convergence", name), "", convergence, (problem,))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """The race, and the closer looks where it got so far."""
        yield from super().lines(result)
        if "sweep" in result:
            yield ""
            yield "one sweep of Gauss–Seidel over one plate [µs]"
            yield from _sweeps(result["sweep"])
        if "warm_stances" in result:
            yield ""
            yield (
                "from the impulses of the step before [µs]: median, mean, largest; "
                "iterations in the median; solved"
            )
            rows = [{"kind": kind} | row for kind, row in result["warm_stances"].items()]
            yield from table(WARM, rows)
        if "walls" in result:
            yield ""
            yield "brick wall of 976 contacts, from zero impulses"
            for row in result["walls"]:
                yield (
                    f"  bricks at {row['speed']:<5g} m/s, μ {row['mu']:g}: {race.cell(row)}, "
                    f"{row['by']}"
                )
        for name, methods in result.get("convergence", {}).items():
            yield ""
            yield f"error against time, {name}, from zero impulses"
            yield from (f"  {method:<26} {_budget(rows)}" for method, rows in methods.items())


WARM = (
    Column("", "kind"),
    *(Column("", name, ".2f") for name in ("median", "mean", "largest")),
    Column("", "median_iterations", "g"),
    Column("", lambda row: f"{row['solved']:g} of {row['problems']:g}"),
)


# ---- sweeps ---------------------------------------------------------------------------------


def sweep_cost(sizes: tuple[int, ...] = SIZES) -> dict[str, dict[str, Any]]:
    """Cost of a sweep over one plate on more and more points, all loaded;
    and with W formed, where every point meets every other.
    """
    runs = {("space of bodies", n): _sweep(plate(n)) for n in sizes}
    runs |= {("W formed", n): _matrix_sweep(plate(n)) for n in sizes if n in MATRIX_SIZES}
    # all by turns, so that a slow moment of the machine is no bend in a line
    times = microseconds({f"{form} {n}": run for (form, n), run in runs.items()}, 61, 0.002)
    result: dict[str, list[dict[str, float]]] = {}
    for form, n in runs:
        result.setdefault(form, []).append(
            {"contacts": float(n), "microseconds": float(times[f"{form} {n}"].min())}
        )
    return {
        "space of bodies": linear(result["space of bodies"]),
        "W formed": {"rows": result["W formed"]},
    }


def plate(count: int) -> BodyProblem:
    """A plate that turns and slides on a ring of ``count`` points."""
    return plates.plate(
        count, 0.5, np.array([0.0, 0.0, 0.3, 0.1, 0.0, 0.0]), np.random.default_rng(3)
    )


def _sweep(p: BodyProblem) -> Callable[[int], object]:
    count = len(p.mu)
    impulse, work = np.zeros(3 * count), bodies.allocate(count, len(p.start) - 1)
    body_sweep.local_blocks(p, work)
    return _eleventh(impulse, lambda n, first: loops.sweeps(n, p, first, impulse, work))


def _matrix_sweep(p: BodyProblem) -> Callable[[int], object]:
    count, blocks = len(p.mu), matrix_form.blocks(p)
    impulse, work = np.zeros(3 * count), workspace.allocate(count, newton=False)
    return _eleventh(impulse, lambda n, first: loops.matrix_sweeps(n, blocks, first, impulse, work))


def _eleventh(impulse: Floats, run: Callable[[int, Floats], object]) -> Callable[[int], object]:
    """The sweep after ten from zero, as often as wanted: it still moves all contacts."""
    first = np.zeros_like(impulse)
    for _ in range(10):
        run(1, first)
        first = impulse.copy()
    return lambda n: run(n, first)


def linear(rows: list[dict[str, float]]) -> dict[str, Any]:
    """The straight line t = fixed + slope · contacts nearest to the times, each weighed by itself,
    and the largest distance from it.
    """
    n, t = (np.array([row[name] for row in rows]) for name in ("contacts", "microseconds"))
    slope, fixed = np.polyfit(n, t, 1, w=1 / t)
    deviation = float(np.abs(t / (fixed + slope * n) - 1).max())
    return {
        "rows": rows,
        "microseconds_per_contact": float(slope),
        "microseconds_fixed": float(fixed),
        "largest_deviation": deviation,
    }


# ---- warm -----------------------------------------------------------------------------------


def squat(model: Model, seconds: float) -> tuple[Floats, Floats]:
    """Configuration and velocity of a squat of 1 Hz and 10 cm, feet on the ground."""
    q, down, angle = model.initial(), np.zeros(model.v_count), 2 * np.pi * FREQUENCY * seconds
    q[2] -= DEPTH / 2 * (1 - np.cos(angle))
    down[2] = -np.pi * FREQUENCY * DEPTH * np.sin(angle)
    goal = humanoid.planted(model, q)
    return goal, humanoid.follow(model, goal, down)


def settled(
    kind: str, steps: int = STEPS, skipped: int = SETTLING_STEPS
) -> Iterator[tuple[BodyProblem, Floats]]:
    """Problems of a run of HRP-2, its joints held implicitly,
    and the impulses of the step before each.

    Args:
        kind: "standing" (from a pose off by 1e-4 rad, settling),
            "squatting" (around its fastest) or "sliding" (at 0.5 m/s, μ = 0.15).
        skipped: steps before the first problem given.
    """
    robot, model = standing_robot()
    mu = np.full(CORNERS, 0.15 if kind == "sliding" else 0.8)
    rng = np.random.default_rng(0)
    begin = 0.2 if kind == "squatting" else 0.0
    goal, speed = squat(model, begin)
    q, v, warm = goal.copy(), speed.copy(), None
    if kind == "sliding":
        v[:2] += (0.5, 0.2)
    else:
        q[7:] += 1e-4 * rng.normal(size=len(q) - 7)
        v += 1e-2 * rng.normal(size=len(v))
    for k in range(steps):
        if kind == "squatting":
            goal, speed = squat(model, begin + STEP * k)
        tau = holding.bearing(model, goal, soles(robot))
        step = holding.prepare(
            model, holding.HoldingState(q, v, goal, speed), tau, holding.IMPLICIT, soles(robot), mu
        )
        if k >= skipped and warm is not None:
            yield step.problem, warm
        warm = solve_bodies(step.problem, 1e-10, warm).impulse
        v = step.free + step.response @ warm
        q = dynamics.integrate(model, q, v, STEP)


def warm_stances(count: int = 60, tolerance: float = 1e-8) -> dict[str, dict[str, float]]:
    """Foot contacts from the impulses of the step before, in a compiled loop:
    median, mean and largest time of a problem [µs].

    First settled runs of ``count`` steps; then as many members of the family,
    whose step before was their first.
    """
    result = {
        kind: _warm(settled(kind, count, count // 3), tolerance)
        for kind in ("standing", "squatting", "sliding")
    }
    for kind in ("stance", "slide", "fall"):
        family = (
            (c.bodies, c.warm)
            for c in cases(kind, count, 0)
            if c.bodies is not None and c.warm is not None
        )
        result[f"family, {kind}"] = _warm(family, tolerance)
    return result


def _warm(problems: Iterable[tuple[BodyProblem, Floats]], tolerance: float) -> dict[str, float]:
    """Figures over problems with warm starts;
    each is timed three times, far apart, so that what disturbs one spares another.
    """
    drawn, iterations, solved = list(problems), [], 0
    times = np.full(len(drawn), np.inf)
    for turn in range(3):
        for k, (p, warm) in enumerate(drawn):
            impulse, goal = warm.copy(), tolerance * float(np.abs(p.q).max())
            work = bodies.allocate(len(p.mu), len(p.start) - 1)
            runs = {
                "solve": lambda n, p=p, l=warm, g=goal, x=impulse, w=work: loops.warm_solves(
                    n, p, l, g, x, w
                )
            }
            times[k] = min(times[k], microseconds(runs, 5, 3e-4)["solve"].min())
            if turn == 0:
                solved += judge(p, impulse).converged(tolerance)
                iterations.append(
                    ladder.solve_bodies(p, goal, warm.copy(), work, ladder.SETTINGS)[0]
                )
    figures = {
        "median": float(np.median(times)),
        "mean": float(times.mean()),
        "largest": float(times.max()),
    }
    return {
        "problems": len(times),
        "solved": solved,
        "median_iterations": float(np.median(iterations)),
        **figures,
    }


# ---- many contacts, and error against time --------------------------------------------------


def brick_wall(speed: float, mu: float) -> BodyProblem:
    """133 bricks and 976 contacts."""
    return walls.wall(*walls.LARGE, speed, mu, np.random.default_rng(1))


def large_walls(tolerance: float = 1e-8) -> list[dict[str, Any]]:
    """The brick wall at rest and with random velocities of its bricks, from zero impulses."""
    return [
        {"speed": v, "mu": mu, "contacts": 976, **race.ours(brick_wall(v, mu), "auto", tolerance)}
        for v, mu in WALLS
    ]


def squatting() -> BodyProblem:
    """The eight foot contacts of the squatting robot."""
    return next(settled("squatting", SETTLING_STEPS + 1))[0]


def convergence(p: BodyProblem, tolerance: float = 1e-12) -> dict[str, list[dict[str, float]]]:
    """Error by the certificate, relative to ‖q‖∞, after ever more sweeps or iterations from zero
    impulses, and the seconds they took.
    """
    count, goal = len(p.mu), tolerance * float(np.abs(p.q).max())
    work = bodies.allocate(count, len(p.start) - 1)
    bodies.prepare(p, work)
    methods: dict[str, tuple[Iterable[int], Callable[[int, Floats], Any]]] = {
        "Gauss–Seidel": (BUDGETS, lambda n, x: gauss_seidel.solve_bodies(p, x, goal, n, work)),
        "Gauss–Seidel, accelerated": (
            BUDGETS,
            lambda n, x: gauss_seidel.accelerated_bodies(p, x, goal, n, work),
        ),
        "Newton": (
            range(1, 61),
            lambda n, x: twist_newton.solve(p, ALART_CURNIER, 1.0, 1e-6, goal, n, x, work),
        ),
    }
    result: dict[str, list[dict[str, float]]] = {}
    for name, (budgets, run) in methods.items():
        run(1, np.zeros(3 * count))
        result[name] = []
        for budget in budgets:
            seconds, done, impulse = _clocked(run, budget, count, work)
            error = judge(p, impulse).relative
            result[name].append(
                {
                    "iterations": done,
                    "seconds": float(f"{seconds:.4g}"),
                    "residual": float(f"{error:.3g}"),
                }
            )
            if done < budget or error <= tolerance:
                break
    return result


def _clocked(
    run: Callable[[int, Floats], Any], budget: int, count: int, work: bodies.BodyWork
) -> tuple[float, int, Floats]:
    """Return the shortest time of a few runs from zero [s], the number of iterations, and the
    impulses.
    """
    least, spent, done, impulse = np.inf, 0.0, 0, np.zeros(3 * count)
    while spent < MIN_RUN_TIME_S:
        impulse, work.alpha[:] = np.zeros(3 * count), 0.0
        start = time.perf_counter()
        done = int(run(budget, impulse)[0])
        spent += time.perf_counter() - start
        least = min(least, time.perf_counter() - start)
    return least, done, impulse


# ---- words ----------------------------------------------------------------------------------


def _sweeps(errors: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield f"  {'contacts':<22}" + "".join(f"{size:>9}" for size in SIZES)
    for name, row in errors.items():
        yield f"  {name:<22}" + "".join(f"{r['microseconds']:9.2f}" for r in row["rows"])
        if "largest_deviation" in row:
            line = (
                f"{row['microseconds_fixed']:.2f} + {row['microseconds_per_contact']:.3f} per "
                "contact"
            )
            yield f"  {'':<22} {line}, off by at most {100 * row['largest_deviation']:.0f} %"


def _budget(rows: list[dict[str, float]]) -> str:
    """Return the first run within 1e-8, or the best one, as text."""
    row = next((r for r in rows if r["residual"] <= 1e-8), min(rows, key=lambda r: r["residual"]))
    return f"{row['residual']:.0e} after {row['iterations']:g}, {race.duration(row['seconds'])}"
