"""Cost of many contacts: Chardonnet (2006), sec. II-D, fig. 5, and its comparison with Miller's
linear complementarity problem.

Fig. 5: time grows roughly with m², m contacts, as a sweep of Gauss–Seidel reads the matrix W of all
of them. That is so where all contacts act on each other, as those of one robot do: here a bench on
1 to 25 feet of four corners, 4 to 100 contacts. The work, sweeps times blocks of W, is counted and
has the criterion; times are reported. tabi's own step keeps twists of bodies instead of W, and
grows with m.

Sizes: 3 rows a contact against 1 + 8 + 1 of a pyramid with 8 sides, on the step of the cart with
about the paper's 67 contacts. A pivot of Lemke reads all of rows², a sweep all of W.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from tabi.contact import BodyProblem, solve, solve_pyramid
from tabi.contact.matrix_form import sparse
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
)
from tabi.simulation.simulator import Simulator

# feet of the bench, and those of the short form
FEET, FEW = (1, 2, 3, 4, 6, 9, 12, 16, 20, 25), (1, 4, 9, 25)
# until it rests [s]; steps of a block that is timed, and how many blocks
REST, STEPS, BLOCKS = 0.05, 200, 5
# of a problem relative to its free velocities, of both methods; sweeps at most
TOLERANCE, SWEEPS = 1e-6, 20000
# contacts from which on a call's own 20 µs do not hide the growth of times
MIN_CONTACTS = 30
# when the cart is pushed: feet, casters, hands and box touch [s]
PUSH_TIME_S = 1.0
SIDES = 8


def bench(feet: int) -> str:
    """A setting of a scene: its only object is a bench with so many feet, in a square."""
    side = math.ceil(math.sqrt(feet))
    size, middle = 0.12 * side, (side - 1) / 2
    parts = [
        f"{{shape: box, size_m: [{size:g}, {size:g}, 0.05], mass_kg: 5, friction: 0.6, "
        "position_m: [0, 0, 0.075]}"
    ]
    for k in range(feet):
        x, y = 0.12 * (k % side - middle), 0.12 * (k // side - middle)
        parts.append(
            "{shape: box, size_m: [0.04, 0.04, 0.05], mass_kg: 0.1, friction: 0.6, "
            f"position_m: [{x:g}, {y:g}, 0.025]}}"
        )
    return f"objects=[{{shape: compound, name: bench, parts: [{', '.join(parts)}]}}]"


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of log y over log x, by least squares; NaN where there is no line."""
    if len(set(x)) < 2 or min(y) <= 0:
        return math.nan
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _late_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """From MIN_CONTACTS contacts on."""
    late = [k for k, count in enumerate(x) if count >= MIN_CONTACTS]
    return slope([x[k] for k in late], [y[k] for k in late])


def _swept(p: BodyProblem) -> tuple[float, float]:
    """Gauss–Seidel from zero on the matrix W: sweeps times its blocks, and the time [s]."""
    W = sparse(p).toarray()
    runs = [
        solve(W, p.q, p.mu, order="ttn", tolerance=TOLERANCE, solver="gauss-seidel", sweeps=SWEEPS)
        for _ in range(BLOCKS)
    ]
    # 3 × 3 blocks of W that are not zero
    blocks = int((W.reshape(len(p.mu), 3, len(p.mu), 3) != 0).any(axis=(1, 3)).sum())
    return float(runs[0].iterations * blocks), float(np.median([run.seconds for run in runs]))


def _step_time(sim: Simulator) -> float:
    """Time of the processor for a whole step, median of blocks [s]."""
    result = []
    for _ in range(BLOCKS):
        began = time.thread_time()
        sim.rollout(STEPS)
        result.append((time.thread_time() - began) / STEPS)
    return float(np.median(result))


def measure_growth(trial: PaperTrial) -> PaperOutcome:
    """Benches of growing size."""
    counts, work, swept, steps = [], [], [], []
    done = missed = 0
    residual = 0.0
    for feet in FEW if trial.short else FEET:
        sim = trial.load(bench(feet)).simulator()
        sim.run(REST)
        step, p = _step_time(sim), sim.problem()
        if p is not None:
            both = _swept(p)
            for column, x in zip(
                (counts, work, swept, steps), (len(p.mu), *both, step), strict=True
            ):
                column.append(float(x))
        done, missed = done + sim.data.steps, missed + sim.missed_count
        residual = max(residual, sim.data.worst["residual"])
    numbers = {
        "most_contacts": max(counts, default=0.0),
        "work_slope": slope(counts, work),
        "gauss_seidel_time_slope": _late_slope(counts, swept),
        "step_time_slope": _late_slope(counts, steps),
        "largest_gauss_seidel_ms": 1e3 * max(swept, default=math.nan),
        "largest_step_ms": 1e3 * max(steps, default=math.nan),
    }
    figure = PaperFigure(
        "time against contacts",
        "contacts",
        "time [ms]",
        {
            "Gauss–Seidel over W": (counts, [1e3 * x for x in swept]),
            "whole step of tabi": (counts, [1e3 * x for x in steps]),
        },
        log=True,
    )
    return PaperOutcome(numbers, (figure,), (), done, missed, residual)


def measure_sizes(trial: PaperTrial) -> PaperOutcome:
    """Both methods on one step of the cart that is pushed."""
    sim = trial.load().simulator()
    sim.run(PUSH_TIME_S)
    p = sim.problem()
    if p is None:
        return PaperOutcome({}, steps=sim.data.steps)
    W = sparse(p).toarray()
    work, seconds = _swept(p)
    pyramid = [solve_pyramid(W, p.q, p.mu, order="ttn", facets=SIDES) for _ in range(2)][-1]
    numbers = {
        "contacts": float(len(p.mu)),
        "cone_rows": 3.0 * len(p.mu),
        "pyramid_rows": float(pyramid.rows),
        "pivots": float(pyramid.pivots),
        # entries read: rows² a pivot, 9 a block
        "work_ratio": pyramid.pivots * pyramid.rows**2 / (9 * work),
        "gauss_seidel_ms": 1e3 * seconds,
        "lemke_ms": 1e3 * pyramid.seconds,
    }
    worst = sim.data.worst["residual"]
    return PaperOutcome(numbers, (), (), sim.data.steps, sim.missed_count, worst)


EXPERIMENTS = (
    Experiment(
        name="fig5",
        paper="C06",
        figure="fig. 5",
        scene="stack",
        claim="computation time grows roughly with the square of the number of contacts",
        criteria=(
            # "roughly in m²": nearer to 2 than to 1 or 3, with room for sweeps that grow a little
            Criterion("work_slope", "the work grows roughly with m²", 1.5, 2.3),
            Criterion("most_contacts", "up to 100 contacts", at_least=100.0),
        ),
        counters=(CounterRun("without weight nothing presses", ("gravity_m_s2=[0, 0, 1]",)),),
        measure=measure_growth,
        # the law of the simulator does not matter to Gauss–Seidel on its problem; laws of feet
        # need a robot
        laws=("coulomb",),
        # a time, not a motion: nothing for a referee to say
    ),
    Experiment(
        name="lemke",
        paper="C06",
        figure="sec. IV-A",
        scene="cart-lift",
        claim="67 contacts are 201 rows, and many more as a linear complementarity problem with "
        "8-sided cones (1734 in the paper, 670 by Stewart and Trinkle)",
        criteria=(
            Criterion("pyramid_rows", "67 contacts or more, 10 rows each", at_least=670.0),
            # ten times fewer would be within what a better pivoting might save
            Criterion("work_ratio", "Lemke does far more than Gauss–Seidel", at_least=20.0),
        ),
        counters=(
            CounterRun("a robot that stands still", ("robots.0.motion={kind: hold}",)),
            CounterRun("a robot without a cart", ("objects=[]",)),
        ),
        measure=measure_sizes,
        # the exact law's problem is given to both methods
        laws=("coulomb",),
    ),
)
