"""A jump on feet of 4 to 64 corners, by exact constraint selection and by one step of it.

The paper compares the times of both over a jump, which grow with the corners for the exact method
and hardly for the one-step method. What is counted here are the states that the search tries, which
no other work of the machine disturbs; the one-step method tries one by its nature.
"""

from __future__ import annotations

import warnings

import numpy as np

from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
)
from tabi.lab.validate.dense_soles import resole
from tabi.scenes.builder import Builder
from tabi.scenes.reader import Reader

CORNERS, FEWER = (4, 8, 16, 32, 64), (4, 64)
EXACT, ONE_STEP = "exact", "one-step"
# height of the waist at which a robot has fallen [m]
MIN_WAIST_HEIGHT_M = 0.4


def jump(trial: PaperTrial, corners: int, mode: str) -> PaperOutcome:
    """One jump: time in the air, states tried in a step, and how it ends."""
    scene = trial.load(f"simulation.contact={{law: selection, mode: {mode}}}")
    builder = Builder(scene.contents, Reader())
    robot = builder.robots[0]
    resole(robot, corners)
    sim = builder.simulator()
    tried, flight = [], 0
    with warnings.catch_warnings():
        # a step that the one-step method misses is counted
        warnings.simplefilter("ignore")
        for _ in range(round(scene.duration / sim.dt)):
            sim.step()
            tried.append(int(sim.data.outcome.report[0]["iterations"]))
            flight += not any(sim.data.memory.foot["normal_force"])
    return PaperOutcome(
        {
            "flight_ms": 1e3 * flight * sim.dt,
            "states": float(np.mean(tried)),
            "most_states": float(max(tried)),
            "height_m": float(sim.position(robot.base)[2]),
        },
        steps=sim.data.steps,
        missed=sim.missed_count,
        residual=sim.data.worst["residual"],
    )


def measure(trial: PaperTrial) -> PaperOutcome:
    """Both methods on all soles."""
    corners = FEWER if trial.short else CORNERS
    exact = [jump(trial, n, EXACT) for n in corners]
    quick = [jump(trial, n, ONE_STEP) for n in corners]
    total = exact[0]
    for outcome in (*exact[1:], *quick):
        total = total.plus(outcome)
    air = [outcome.numbers["flight_ms"] for outcome in (*exact, *quick)]
    numbers = {
        "flight_ms": air[0],
        "flight_spread_ms": float(np.ptp(air)),
        "lowest_end_m": min(outcome.numbers["height_m"] for outcome in (*exact, *quick)),
        "states_tried_with_most_corners": exact[-1].numbers["states"],
        "most_states_tried": max(outcome.numbers["most_states"] for outcome in exact),
        "missed_by_one_step": float(sum(outcome.missed for outcome in quick)),
    }
    figure = PaperFigure(
        "Fig. 8: states tried in a step, exact method",
        "corners of each foot",
        "states",
        {
            "mean": (corners, [outcome.numbers["states"] for outcome in exact]),
            "most": (corners, [outcome.numbers["most_states"] for outcome in exact]),
        },
        log=True,
    )
    return PaperOutcome(numbers, (figure,), (), total.steps, total.missed, total.residual)


ONE_STATE = (
    "The search begins with the state of the step before and takes the candidates of both feet "
    "together, so that it tries one state in almost every step, also with 64 corners: nothing is "
    "left for the one-step method to save. With six feet it does (tabi bench foot)."
)
EXPERIMENTS = (
    Experiment(
        name="bend-and-jump",
        paper="M08",
        figure="fig. 8",
        scene="bend-and-jump",
        claim=(
            "In a motion in which the robot bends and then jumps, the exact method takes longer "
            "the more complex the feet, as it tries more states; the one-step method does not."
        ),
        criteria=(
            Criterion("flight_ms", "the robot leaves the ground", 20.0),
            Criterion("flight_spread_ms", "alike on all soles, by both methods", 0.0, 30.0),
            Criterion("lowest_end_m", "and lands on its feet", MIN_WAIST_HEIGHT_M),
            Criterion(
                "states_tried_with_most_corners", "the exact method tries several states", 1.5
            ),
        ),
        counters=(
            CounterRun("it does not jump", ("robots.0.motion={kind: squat, depth_deg: 20}",)),
            CounterRun(
                "a blow of 120 N·s from behind",
                ("pushes=[{body: chest, at_s: 1.3, duration_s: 0.2, force_n: [600, 0, 0]}]",),
            ),
        ),
        measure=measure,
        rests_on={"robots.0.robot": "hrp2"},
        # no other law has states to try
        laws=("selection",),
        referees=("mujoco",),
        referee_changes=("simulation.contact=coulomb",),
        because={"states_tried_with_most_corners": ONE_STATE},
    ),
)
