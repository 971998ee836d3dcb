"""A fall over the toes: pressure goes to the front edge, and the foot tips over it, once."""

from __future__ import annotations

import math

import numpy as np

from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    watch,
)
from tabi.simulation.simulator import Simulator

# the first steps, in which the pressure point finds its place, are left out [s]
SKIPPED_TIME_S = 0.01
# it lies by then [s]
LYING_TIME_S = 2.0
STATES = {"none": 0.0, "vertex": 1.0, "edge": 2.0, "face": 4.0}


def measure(trial: PaperTrial) -> PaperOutcome:
    """Changes of the left foot until it lies, and where its pressure point was at the first."""
    changes: list[tuple[float, str, str]] = []

    def look(sim: Simulator) -> dict[str, float]:
        changes[:] = [
            (event.time, event.before, event.after)
            for event in sim.foot_events
            if event.foot == "left" and event.time > SKIPPED_TIME_S
        ]
        foot = sim.foot("left")
        point = foot.centre_of_pressure
        return {
            "force": foot.wrench.force[2],
            "state": STATES[foot.contact],
            "x": math.nan if point is None else point[0],
            "y": math.nan if point is None else point[1],
            "margin": math.nan if foot.margin is None else foot.margin,
            "slip": foot.slip,
        }

    rows = watch(trial.load(f"duration_s={LYING_TIME_S}"), look)
    times = rows.time
    tips = next((at for at, before, _ in changes if before.startswith("face")), math.nan)
    just_before = np.flatnonzero(times < tips - 1e-9)
    k = int(just_before[-1]) if len(just_before) and not math.isnan(tips) else 0
    clean = [a.split(",")[0] + " to " + b.split(",")[0] for _, a, b in changes]
    numbers = {
        "changes": float(len([change for change in clean if change != "face to face"])),
        "face_to_edge": float(clean.count("face to edge")),
        "margin_when_it_tips_mm": 1e3 * float(rows["margin"][k]) if k else math.nan,
        "tips_at_s": tips,
    }
    shown = times > SKIPPED_TIME_S
    figures = (
        PaperFigure(
            "Fig. 6: centre of pressure in the sole",
            "time [s]",
            "position [mm]",
            {
                "ahead": (times[shown], 1e3 * rows["x"][shown]),
                "sideways": (times[shown], 1e3 * rows["y"][shown]),
            },
        ),
        PaperFigure(
            "Fig. 6: corners that touch (4 face, 2 edge, 1 vertex)",
            "time [s]",
            "state",
            {"left foot": (times[shown], rows["state"][shown])},
        ),
        PaperFigure(
            "Fig. 6: force of the ground",
            "time [s]",
            "force [N]",
            {"left foot": (times[shown], rows["force"][shown])},
        ),
    )
    return rows.outcome(numbers, *figures)


EXPERIMENTS = (
    Experiment(
        name="toes",
        paper="M08",
        figure="fig. 6",
        scene="toes",
        claim=(
            "A humanoid bends forwards until it falls over its toes. With the rule of the centre "
            "of pressure there is one clean transition of the feet from face to edge, when the "
            "centre of pressure reaches the front edge; without it the state changes several "
            "times."
        ),
        criteria=(
            Criterion("changes", "the foot changes its state once", 1.0, 1.0),
            Criterion("face_to_edge", "from face to edge", 1.0, 1.0),
            # where it would be in the next step: it moves by some tenths of a millimetre in each
            Criterion(
                "margin_when_it_tips_mm", "when the pressure is within 1 mm of the edge", -1.0, 1.0
            ),
        ),
        counters=(
            CounterRun(
                "without the rule of pressure",
                ("simulation.contact={law: selection, pressure_rule: false}",),
            ),
            CounterRun("it leans by 3° only", ("robots.0.motion.angle_deg=3",)),
        ),
        measure=measure,
        rests_on={"robots.0.motion.angle_deg": 17},
        referees=("mujoco", "pinocchio"),
        referee_changes=("simulation.contact=coulomb",),
    ),
)
