"""Two squats on a force plate, the second one faster: what inertia adds to the weight.

The same joint motion q(t/T) has accelerations that go with 1/T², and so has the plate's F_z − m g:
from 1.25 s to 1 s it grows by 1.25² = 1.5625. Open loop: key frames, no feedback but the servos'.
The force is filtered as in the paper, by a Butterworth low-pass of 20 Hz and order 5. The plate's
steps of 1 N are a tenth of what is looked for: numbers are of the force before it is rounded, the
figure has both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.control.filters import Butterworth
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    value_at,
    watch,
)

Array = NDArray[np.float64]
CUTOFF, ORDER = 20.0, 5
# of the filter's delay and the servos' lag, after the end of a squat [s]
TIME_AFTER_SQUAT_S = 0.15
RATIO = (1.25 / 1.0) ** 2


def measure(trial: PaperTrial) -> PaperOutcome:
    """Peak to peak of F_z − m g in both squats."""
    scene = trial.load()
    rows = watch(
        scene,
        lambda sim: {
            "force": sim.data.sensor("plate", truth=True)[0][2],
            "told": sim.data.sensor("plate")[0][2],
            "x": sim.position("left_foot")[0],
        },
    )
    weight = 9.81 * sum(robot.mass for robot in scene.world().robots)
    force, reading = (_filtered(rows.time, rows[name]) for name in ("force", "told"))
    at = [float(value_at(scene, f"robots.0.motion.frames.{k}.at_s")) for k in range(6)]
    slow, fast = (
        _span(rows.time[1:], force, at[k], at[k + 2] + TIME_AFTER_SQUAT_S) for k in (0, 3)
    )
    numbers = {
        "slow_peak_to_peak_n": slow,
        "fast_peak_to_peak_n": fast,
        "growth": fast / slow,
        "mean_force_of_weight": float(rows["force"][1:].mean() / weight),
        "foot_slip_mm": 1e3 * float(np.ptp(rows["x"])),
    }
    figure = PaperFigure(
        "Fig. 11: force of the plate in a squat of 1.25 s and one of 1 s",
        "time [s]",
        "F_z − m g [N]",
        {
            "reading of the plate": (rows.time[1:], reading - weight),
            "before it is rounded": (rows.time[1:], force - weight),
        },
    )
    return rows.outcome(numbers, figure)


def _filtered(time: Array, force: Array) -> Array:
    """Without the row before the first step, which has no force yet."""
    low_pass = Butterworth(CUTOFF, 1.0 / (time[1] - time[0]), ORDER)
    return np.array([float(low_pass(x)) for x in force[1:]])


def _span(time: Array, force: Array, begin: float, end: float) -> float:
    within = (time >= begin) & (time <= end)
    return float(np.ptp(force[within]))


EXPERIMENTS = (
    Experiment(
        name="hoap-squat",
        paper="M08",
        figure="fig. 11",
        scene="hoap-squat",
        claim=(
            "HOAP-2 squats on a force plate in 1.25 s and in 1 s by the same open-loop controller "
            "as in simulation; faster motion scales the effect of inertia on the ground's force, "
            "in both alike."
        ),
        criteria=(
            Criterion(
                "growth",
                "the force beside the weight grows by (1.25/1)², to 5 %",
                RATIO * 0.95,
                RATIO * 1.05,
            ),
            Criterion("mean_force_of_weight", "the plate bears the weight, to 1 %", 0.99, 1.01),
            Criterion("foot_slip_mm", "and the feet stay where they are", 0.0, 0.5),
        ),
        counters=(
            CounterRun(
                "the second squat as slow as the first",
                ("robots.0.motion.frames.4.at_s=3.375", "robots.0.motion.frames.5.at_s=4"),
            ),
            CounterRun(
                "a rope bears 10 N and pulls ahead",
                ("pushes=[{body: hoap2, at_s: 0, duration_s: 60, force_n: [8, 0, 10]}]",),
            ),
        ),
        measure=measure,
        rests_on={"robots.0.robot": "hoap2", "force_plates.0.friction": 0.13},
        referees=("mujoco",),
    ),
)
