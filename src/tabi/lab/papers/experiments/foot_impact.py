"""The force on a foot from its first contact until it bears the robot.

HRP-2 steps on the spot; the curve of its left foot's force sensor has three marks, the peak
of the first bump, the dip after it, and the highest that follows (``lab.walking.foot_landing``),
and by when it first bears the weight after the dip. What the paper gives to one digit is held to
30 %: the landing speed, and how much the rubber damps, are not published. Both are in the scene,
and were chosen to fit (``lab.walking.first_contact`` tries a grid of them).
"""

from __future__ import annotations

import math

import numpy as np

from tabi.analysis.walk_measures import walkers
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    watch,
)
from tabi.lab.walking.foot_landing import TOUCH_FORCE_N, WATCHED_TIME_S, WEIGHT_SHARE, marks

# after the lift, the foot is surely in the air [s]; shown before the contact [s]
AIR_TIME_S, SHOWN_BEFORE_S = 0.2, 0.05
SENSOR = "left_foot_force"


def measure(trial: PaperTrial) -> PaperOutcome:
    """The first step, from its contact on."""
    scene = trial.load("duration_s=2.9") if trial.short else trial.load()
    (walker,) = walkers(scene.simulator()).values()
    plan, tick = walker.pattern.schedule, walker.pattern.gait.tick
    weight = 9.81 * walker.pattern.robot.mass
    rows = watch(
        scene,
        lambda sim: {
            "sensor": sim.data.sensor(SENSOR)[0][2],
            "ground": sim.data.foot_wrench("left").force[2],
        },
    )
    landed = np.flatnonzero(
        (rows.time > plan.lift[0] * tick + AIR_TIME_S) & (rows["ground"] > TOUCH_FORCE_N)
    )
    if not len(landed):
        return rows.outcome({"peak_n": math.nan})
    since = rows.time - rows.time[landed[0]]
    peak, dip, rise = marks(since, rows["sensor"])
    bears = since[(since > dip[0]) & (rows["sensor"] >= WEIGHT_SHARE * weight)]
    numbers = {
        "peak_n": peak[1],
        "dip_n": dip[1],
        "rise_n": rise[1],
        "borne_after_ms": 1e3 * float(bears[0]) if len(bears) else math.nan,
        "early_ms": 1e3 * (plan.land[0] * tick - rows.time[landed[0]]),
    }
    shown = (since > -SHOWN_BEFORE_S) & (since < WATCHED_TIME_S)
    curve = {"left foot": (1e3 * since[shown], rows["sensor"][shown])}
    figure = PaperFigure(
        "Fig. 11: force on the foot from its first contact on",
        "time after the contact [ms]",
        "force [N]",
        curve,
    )
    return rows.outcome(numbers, figure)


EXPERIMENTS = (
    Experiment(
        name="foot-impact",
        paper="H03",
        figure="fig. 11",
        scene="foot-impact",
        claim=(
            "The force on a foot that hits the floor goes up to about 500 N in simulation and "
            "experiment, down to about 100 N with the bound after it, and up to 550 N when the "
            "whole weight is put on the foot. This happens in about 250 ms."
        ),
        criteria=(
            Criterion("peak_n", "the first peak is 500 N, to 30 %", 350.0, 650.0),
            Criterion("dip_n", "the dip after it is 100 N, to 30 %", 70.0, 130.0),
            Criterion("rise_n", "then it rises to 550 N, to 30 %", 385.0, 715.0),
            Criterion("borne_after_ms", "and bears the weight within 250 ms", 0.0, 250.0),
        ),
        counters=(
            CounterRun(
                "the foot is put down gently", ("robots.0.motion.gait.landing_speed_m_s=0.02",)
            ),
            CounterRun(
                "a rope bears 400 N",
                ("pushes=[{body: chest, at_s: 0, duration_s: 60, force_n: [0, 0, 400]}]",),
            ),
        ),
        measure=measure,
        assumptions=(
            "Landing speed, 0.2 m/s, and damping of the rubber, 2000 N·s/m: out of a grid, what "
            "fits the first peak and the dip.",
        ),
        rests_on={"robots.0.robot": "hrp2", "robots.0.motion.gait.landing_speed_m_s": 0.2},
        laws=("penalty", "coulomb", "pyramid"),
        referees=("mujoco",),
        referee_changes=("simulation.contact=coulomb",),
    ),
)
