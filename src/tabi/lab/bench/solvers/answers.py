"""The answers of every law to one contact problem, each checked by the exact law and timed.

Friction pyramids and no friction at all by Lemke; the round cone by Gauss–Seidel and by tabi's list
of attempts. W is at hand for all of them, as a matrix. The tangents of every contact are turned at
random: the exact law does not see it, a pyramid does. The motion of an answer λ is compared with
that of the exact solution λ* which tabi finds from there (sliding things can have several):
√(Δλᵀ W Δλ) against √(λ*ᵀ W λ*). Impulses that only press bodies together do not count in it, they
are not unique. Times are of the processor, medians of blocks, all laws by turns, in compiled loops,
from zero impulses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi.contact import BodyProblem, Problem, gauss_seidel, judge, ladder, solve_problem, workspace
from tabi.contact.lemke import lemke, pyramid
from tabi.contact.matrix_form import sparse
from tabi.lab.bench import loops
from tabi.lab.family.case import STEP

Floats = NDArray[np.float64]

FACETS = (4, 8, 16, 32)
TOLERANCE, SWEEPS = 1e-8, 5000
EXACT, COARSE = "Gauss–Seidel", "Gauss–Seidel, as near as 8 facets"
LIST, NONE = "list of attempts", "no friction"
PYRAMIDS = {k: f"{k} facets" for k in FACETS}
# larger tableaus than this do not fit into a processor's caches, and take seconds;
# the cart's are measured all the same
MOST_ROWS = 1100
# timing: a block and all blocks of one law together [s], and maximum number of blocks
BLOCK, MAX_TIMING_S, BLOCKS = 0.004, 0.3, 15


class LawProblem(NamedTuple):
    """A problem for all laws, and its W as a dense matrix; tangents first."""

    W: Floats
    problem: Problem


class Answer(NamedTuple):
    """Result of a contact law: impulses, rows, iterations, whether its own problem is solved,
    and how to do it again so many times.
    """

    impulse: Floats
    rows: int
    iterations: int
    solved: bool
    again: Callable[[int], object]


def law_problem(p: BodyProblem, seed: int | None) -> LawProblem:
    """The problem with its tangents turned, each by an angle of its own; None leaves them."""
    W, q = sparse(p).toarray(), p.q.copy()
    if seed is not None:
        Q = np.zeros_like(W)
        for k, angle in enumerate(
            np.random.default_rng([seed, 9]).uniform(0, 2 * np.pi, len(p.mu))
        ):
            c, s = np.cos(angle), np.sin(angle)
            Q[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = [[c, s, 0], [-s, c, 0], [0, 0, 1]]
        W, q = Q @ W @ Q.T, Q @ q
    return LawProblem(W, Problem(W, q, p.mu, order="ttn"))


def by_all(g: LawProblem, most_rows: int = MOST_ROWS, timed: bool = True) -> dict[str, Any]:
    """Figures of every law; a pyramid of more than so many rows is left out."""
    count, q = g.problem.contact_count, g.problem.blocks.q
    goal = TOLERANCE * (float(np.abs(q).max()) or 1.0)
    answers = {LIST: climb(g, goal), EXACT: sweep(g, goal, SWEEPS)}
    for k in (0, *FACETS):
        if pyramid.rows_of(count, k) <= most_rows:
            answers[PYRAMIDS.get(k, NONE)] = pivot(g, k)
    figures = {name: checked(g, answer) for name, answer in answers.items()}
    near = figures.get(PYRAMIDS[8], {"motion_error": None})["motion_error"]
    if near is not None:
        # where a pyramid happens to be exact, a thousandth of a percent is as near
        sweeps = sweeps_until(g, max(near, 1e-5), nearest(g, answers[EXACT].impulse))
        if sweeps is not None:
            answers[COARSE] = sweep(g, 0.0, sweeps)
            figures[COARSE] = checked(g, answers[COARSE]) | {"solved": True}
    for name, seconds in (
        clock({name: answer.again for name, answer in answers.items()}) if timed else {}
    ).items():
        figures[name]["seconds"] = float(f"{seconds:.3g}")
    return {"contacts": count, "laws": figures}


def climb(g: LawProblem, goal: float) -> Answer:
    """The round cone by the list of attempts."""
    p, n = g.problem.blocks, g.problem.contact_count
    impulse, work = np.zeros(3 * n), workspace.allocate(n)
    done, rung, _ = loops.climbs(1, p, goal, impulse, work)
    return Answer(
        impulse,
        3 * n,
        int(done),
        rung < len(ladder.ATTEMPTS),
        lambda count: loops.climbs(count, p, goal, impulse, work),
    )


def sweep(g: LawProblem, goal: float, sweeps: int) -> Answer:
    """The round cone by Gauss–Seidel."""
    p, n = g.problem.blocks, g.problem.contact_count
    impulse, work = np.zeros(3 * n), workspace.allocate(n, newton=False)
    done, error = loops.sweepings(1, p, goal, sweeps, impulse, work)
    return Answer(
        impulse,
        3 * n,
        int(done),
        bool(error <= goal),
        lambda count: loops.sweepings(count, p, goal, sweeps, impulse, work),
    )


def pivot(g: LawProblem, facets: int) -> Answer:
    """A pyramid, or no friction, by Lemke."""
    p, n = g.problem.blocks, g.problem.contact_count
    impulse, work = np.zeros(3 * n), pyramid.allocate(n, facets)
    end, done = loops.pivotings(1, g.W, p.q, p.mu, impulse, work)
    solved, rows = end == lemke.SOLVED, pyramid.rows_of(n, facets)
    return Answer(
        impulse,
        rows,
        int(done),
        solved,
        lambda count: loops.pivotings(count, g.W, p.q, p.mu, impulse, work),
    )


def sweeps_until(g: LawProblem, near: float, exact: Floats) -> int | None:
    """Sweeps of Gauss–Seidel from zero until its motion is as near to an exact one;
    None where there are never enough.
    """
    p, n = g.problem.blocks, g.problem.contact_count
    impulse, work, check = np.zeros(3 * n), workspace.allocate(n, newton=False), 1
    for done in range(1, SWEEPS + 1):
        gauss_seidel.sweep(p, impulse, work)
        # ever more rarely, as its own loop does
        if done == check:
            if distance(g, impulse, exact) <= near:
                return done
            check = done + 1 + done // 16
    return None


def nearest(g: LawProblem, impulse: Floats) -> Floats:
    """The exact impulses that tabi finds from some others."""
    return solve_problem(g.problem, 1e-11, impulse).impulse


def distance(g: LawProblem, impulse: Floats, exact: Floats) -> float:
    """Error of the motion, relative to what the exact impulses do;
    0 where they do nothing and neither do these.
    """
    change = impulse - exact
    error, motion = (float(np.sqrt(max(0.0, x @ g.W @ x))) for x in (change, exact))
    return error / motion if motion > 0 else 0.0 if error == 0 else 1.0


def checked(g: LawProblem, answer: Answer) -> dict[str, Any]:
    """Return errors and certificate of an answer by the exact law."""
    certificate, exact = judge(g.problem.blocks, answer.impulse), nearest(g, answer.impulse)
    return {
        "rows": answer.rows,
        "solved": bool(answer.solved),
        "iterations": answer.iterations,
        "seconds": None,
        "residual": float(f"{certificate.residual:.3g}"),
        "force_residual_N": float(f"{certificate.impulse_residual / STEP:.3g}"),
        "motion_error": float(f"{distance(g, answer.impulse, exact):.3g}"),
        "velocity_error": float(f"{np.abs(g.W @ (answer.impulse - exact)).max(initial=0.0):.3g}"),
    }


def clock(runs: dict[str, Callable[[int], object]]) -> dict[str, float]:
    """Median time of one call [s], in blocks by turns; what takes long has fewer of them.
    Of the processor: others may be at work.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    counts = {}
    for name, run in runs.items():
        start = time.thread_time()
        run(1)
        once = time.thread_time() - start
        counts[name] = max(1, int(BLOCK / once))
        if once > BLOCK:
            times[name].append(once)
    for _ in range(BLOCKS):
        for name, run in runs.items():
            if sum(times[name]) * counts[name] < MAX_TIMING_S:
                start = time.thread_time()
                run(counts[name])
                times[name].append((time.thread_time() - start) / counts[name])
    return {name: float(np.median(result)) for name, result in times.items()}
