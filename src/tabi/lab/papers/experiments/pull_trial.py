"""Friction from pulls: a loaded foot is pulled through a spring and a dynamometer until it slips.

Each weight is simulated once; its curve of force and displacement is what a pull would give without
errors. A pull then has the noise of a dynamometer on every sample, and a scatter of its own on its
force, as surfaces are never twice the same. The force at which it slipped is found from the curve
(``identification.friction_identification``), and of all pulls the line f = μ f_n and its r².

The papers give the scatter by r² alone. For forces f_i = μ n_i + e, n_i of variance V,

    r² ≈ 1 − σ²/(μ² V + σ²),    σ = μ √(V (1 − r²)/r²)                                           (1)
With it, the r² of a run has to be that of the paper, and the interval of 95 % around the μ that is
found has to hold the μ of the scene: does the method find what is there? One paper makes 50 pulls
with one weight and gives their mean, without r²; a scatter of 3 % is assumed there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.friction_identification import from_pulls, from_record
from tabi.identification.regression import fit
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    value_at,
)

Array = NDArray[np.float64]
GRAVITY = 9.81
# of the samples: every so many steps; noise of a dynamometer [N] and of a displacement [m]
SAMPLE_PERIOD_STEPS, FORCE_NOISE_N, DISPLACEMENT_NOISE_M = 1, 0.05, 2e-6
# scatter of pulls with one weight, where no r² is given
SCATTER = 0.03
SEED = 1


def pull(trial: PaperTrial, mass: float, end: float) -> tuple[Array, PaperOutcome]:
    """Time [s], force [N] and displacement [m] of a pull, without errors; shape (n, 3)."""
    scene = trial.load(f"objects.foot.mass_kg={mass:g}", "simulation.step_s=0.002")
    sim = scene.simulator(plays=False)
    session = scene.hand(sim, "scripted")
    rows, start = [], sim.position("foot")[0]
    for k in range(round(end / sim.dt)):
        sim.step()
        if k % SAMPLE_PERIOD_STEPS == 0:
            rows.append((sim.time, session.hand.force[0], sim.position("foot")[0] - start))
    session.close()
    outcome = PaperOutcome({}, (), (), sim.data.steps, sim.missed_count, sim.data.worst["residual"])
    return np.array(rows), outcome


def measure(
    trial: PaperTrial,
    masses: tuple[float, ...],
    pulls: int,
    r_squared: float | None,
    published: float,
) -> PaperOutcome:
    """So many pulls of each weight."""
    rng, runs = np.random.default_rng(SEED), PaperOutcome({})
    friction = float(value_at(trial.load(), "objects.foot.static_friction"))
    spread = GRAVITY * float(np.std(masses))
    # (1), with the friction that is published
    scatter = (
        published * spread * np.sqrt((1.0 - r_squared) / r_squared)
        if r_squared
        else SCATTER * published * GRAVITY * masses[0]
    )
    forces, normals, curves, notes = [], [], {}, []
    for mass in masses:
        curve, outcome = pull(trial, mass, 2.4)
        runs = runs.plus(outcome)
        curves[f"{mass:g} kg"] = (1e3 * curve[:, 2], curve[:, 1])
        for _ in range(pulls):
            t, f, x = curve.T.copy()
            f *= 1.0 + rng.normal() * scatter / f.max()
            f, x = (
                f + FORCE_NOISE_N * rng.normal(size=len(f)),
                x + DISPLACEMENT_NOISE_M * rng.normal(size=len(x)),
            )
            try:
                estimate = from_record(t, f, x, GRAVITY * mass, f"the pull of {mass:g} kg")
            except IdentificationError as fault:
                notes.append(str(fault))
                continue
            forces.append(estimate.friction.value * GRAVITY * mass)
            normals.append(GRAVITY * mass)
    if len(forces) < 2:
        return PaperOutcome({}, (), tuple(notes[:1]), runs.steps, runs.missed, runs.residual)
    # scatter is alike for all weights, so the line is better than the mean of f/f_n
    line = fit({"friction": np.array(normals)}, np.array(forces), "the pulls").estimate("friction")
    numbers = {
        "friction": line.value,
        "published_is_in_the_interval": float(line.holds(published)),
        "interval_half_width": 0.5 * (line.high - line.low),
        "friction_of_the_scene": friction,
    }
    if r_squared:
        numbers["r_squared"] = from_pulls(forces, normals).r_squared
    figures = _figures(curves, normals, forces, line.value)
    return PaperOutcome(numbers, figures, (), runs.steps, runs.missed, runs.residual)


def _figures(
    curves: dict[str, tuple[Array, Array]],
    normals: list[float],
    forces: list[float],
    friction: float,
) -> tuple[PaperFigure, ...]:
    """Curves of pulls, and the line through all of them."""
    return (
        PaperFigure("Pulls without errors", "displacement [mm]", "force [N]", curves),
        PaperFigure(
            "Force at which the foot slips",
            "normal force [N]",
            "force [N]",
            {
                "pulls": (normals, forces),
                "line": ([0, max(normals)], [0, friction * max(normals)]),
            },
        ),
    )


def _rough(friction: float, sliding: float) -> tuple[str, ...]:
    """Settings of the scene: static and dynamic friction of foot and ground."""
    return (
        f"ground={{friction: {sliding}, static_friction: {friction}}}",
        f"objects.foot.friction={sliding}",
        f"objects.foot.static_friction={friction}",
    )


def _experiment(
    name: str,
    paper: str,
    figure: str,
    friction: float,
    sliding: float,
    r_squared: float | None,
    claim: str,
) -> Experiment:
    masses, pulls = ((2.0, 4.0, 6.0, 8.0), 5) if r_squared else ((8.0,), 50)

    def run(trial: PaperTrial) -> PaperOutcome:
        return measure(trial, masses, pulls, r_squared, friction)

    criteria = (
        Criterion("published_is_in_the_interval", "95 % interval holds the friction", 1.0, 1.0),
    )
    if r_squared:
        # twenty pulls give 1 - r² to a factor of two
        criteria += (
            Criterion(
                "r_squared",
                "r² is the paper's",
                1.0 - 2.0 * (1.0 - r_squared),
                1.0 - 0.5 * (1.0 - r_squared),
            ),
        )
    return Experiment(
        name=name,
        paper=paper,
        figure=figure,
        scene="pull-test",
        claim=claim,
        criteria=criteria,
        counters=(CounterRun("friction halved", _rough(friction / 2, sliding / 2)),),
        measure=run,
        assumptions=(
            "Friction of the scene: the published one; judged is whether pulls find it again.",
            "Scatter of the pulls: so that r² is the paper's, or 3 % where none is given.",
        ),
        settings=_rough(friction, sliding),
        rests_on={"objects.foot.static_friction": friction},
        # a single thing on the ground: laws of feet are the exact one for it
        laws=("coulomb", "pyramid"),
    )


EXPERIMENTS = (
    _experiment(
        "pull-foot",
        "C12",
        "eq. 17, fig. 9",
        0.983,
        0.9,
        None,
        "The mean of 50 pulls of a loaded foot of HRP-2 gives 0.983 between foot and floor.",
    ),
    _experiment(
        "pull-plastic",
        "M08",
        "sec. V-C",
        0.13,
        0.11,
        0.9583,
        "Pulls with several weights give 0.13 for the plastic feet of HOAP-2 on a force plate, "
        "with r² = 95.83 %.",
    ),
    _experiment(
        "pull-shoe",
        "M08",
        "sec. V-C",
        0.45,
        0.4,
        0.9925,
        "Pulls with several weights give 0.45 for the soles of CB on a force plate, with r² = "
        "99.25 %.",
    ),
)
