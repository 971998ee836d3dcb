"""Two HRP-2 carry a plank between them: Chardonnet (2006), fig. 1.

The figure shows robots and an object that touch each other, for what the paper solves at once: all
contacts of bodies that are connected by contacts are one problem (sec. II), here the feet of both
robots, four hands and the plank. Friction alone holds it: four hands that press with N each carry
m g where μ ≥ m g / (4 N).
"""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    watch,
)
from tabi.lab.papers.experiments.places import between
from tabi.simulation.simulator import Simulator

ROBOTS = ("near", "far")
HANDS = tuple(f"{robot}/{side}_hand" for robot in ROBOTS for side in ("right", "left"))
# for how long it has to be held at the end [s]
HOLD_TIME_S = 1.0


def _look(sim: Simulator) -> Mapping[str, ArrayLike]:
    hands = between(sim, HANDS, ("plank",))
    return {
        "plank": sim.position("plank"),
        "waist": [sim.position(f"{robot}/waist")[2] for robot in ROBOTS],
        "groups": int(sim.data.outcome.report[0]["groups"]),
        "contacts": len(sim.data.contact),
        "hands": hands.force,
    }


def measure(trial: PaperTrial) -> PaperOutcome:
    """One run, looked at after every second step."""
    rows = watch(trial.load(), _look, every=2)
    late = rows.time > rows.time[-1] - HOLD_TIME_S
    lift = 1e3 * (rows["plank"][:, 2] - rows["plank"][0, 2])
    numbers = {
        "held_lift_mm": float(lift[late].min()),
        "groups": float(rows["groups"][late].max()),
        "lowest_waist_m": float(rows["waist"].min()),
        "hand_force_n": float(rows["hands"][late].mean()) / len(HANDS),
        "most_contacts": float(rows["contacts"].max()),
    }
    figure = PaperFigure(
        "a plank between two robots", "time [s]", "lift [mm]", {"plank": (rows.time, lift)}
    )
    return rows.outcome(numbers, figure)


EXPERIMENTS = (
    Experiment(
        name="two-carry",
        paper="C06",
        figure="fig. 1",
        scene="two-carry",
        claim=(
            "Humanoids work together on one object (a picture, without numbers); bodies that touch "
            "each other make one group of contacts (Chardonnet 2012, sec. 3.3)."
        ),
        criteria=(
            # half of the commanded lift of the hands
            Criterion("held_lift_mm", "the plank is up, for a second", at_least=50.0),
            Criterion("groups", "while it is carried all contacts are one group", at_most=1.0),
            # a waist is at 0.649 m where the robot stands; three quarters of it is no standing
            Criterion("lowest_waist_m", "both robots stand", at_least=0.5),
        ),
        counters=(
            # below m g / (4 N) = 0.14
            CounterRun("a slippery plank", ("objects.plank.friction=0.1",)),
            CounterRun("one robot lets go of its joints", ("robots.far.motion={kind: limp}",)),
        ),
        measure=measure,
        rests_on={"objects.plank.mass_kg": 4},
        referees=("mujoco",),
    ),
)
