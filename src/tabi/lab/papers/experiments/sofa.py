"""HRP-2 sits down on a sofa and takes a can: Chardonnet (2012), sec. 4 and fig. 6.

The paper shows the scene for its "robust multi-contact resolution" without numbers. What it
shows is checked: the robot ends seated and at rest, carried by seat and back, with the can in its
gripper; and many contacts are there at once. Each of them obeys the exact law: all steps converge.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
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
from tabi.lab.papers.experiments.places import LEGS, between
from tabi.simulation.simulator import Simulator
from tabi.step.tables import OPEN

# steps from one look to the next
RECORD_PERIOD_STEPS = 5
# of the end in which forces are means and nothing may move [s]
END = 0.2
TRUNK, GRIPPER = ("waist", "chest", "head"), ("right_hand", "right_jaw")


def _look(sim: Simulator) -> Mapping[str, ArrayLike]:
    return {
        "contacts": np.count_nonzero(sim.data.contact["status"] != OPEN),
        # the seat is level: its normal forces are all vertical
        "seat": between(sim, LEGS, ("seat",)).force,
        "back": between(sim, TRUNK, ("back",)).force,
        "grip": between(sim, GRIPPER, ("can",)).force,
        "can": sim.position("can"),
        "waist": sim.position("waist"),
    }


def measure(trial: PaperTrial) -> PaperOutcome:
    """Run the scene and measure its end."""
    scene = trial.load()
    rows = watch(scene, _look, every=RECORD_PERIOD_STEPS)
    weight = 9.81 * sum(robot.mass for robot in scene.world().robots)
    late = rows.time > rows.time[-1] - END
    motion = [float(np.ptp(rows[name][late], axis=0).max()) for name in ("waist", "can")]
    numbers = {
        "most_contacts": float(rows["contacts"].max()),
        "waist_height_m": float(rows["waist"][-1, 2]),
        "end_speed_mm_s": 1e3 * max(motion) / END,
        "seat_of_weight": float(rows["seat"][late].mean()) / weight,
        "back_force_n": float(rows["back"][late].mean()),
        "object_lift_mm": 1e3 * float(rows["can"][-1, 2] - rows["can"][0, 2]),
        "grip_force_n": float(rows["grip"][late].mean()) / 2,
    }
    figure = PaperFigure(
        "contacts while HRP-2 sits down and takes a can",
        "time [s]",
        "contacts that press",
        {"contacts": (rows.time, rows["contacts"])},
    )
    return rows.outcome(numbers, figure)


EXPERIMENTS = (
    Experiment(
        name="sofa",
        paper="C12",
        figure="fig. 6",
        scene="sofa",
        claim="HRP-2 sits in a sofa and takes a can: a realistic scenario in a complex "
        "environment with robust multi-contact resolution",
        criteria=(
            # feet 8, thighs 2, back 2, and as many again of arms and can
            Criterion("most_contacts", "20 contacts or more at once", at_least=20.0),
            # where thighs lie on the seat, of 0.34 m, hips are 46 mm above it; standing at 0.65 m
            Criterion("waist_height_m", "it ends seated", 0.37, 0.41),
            Criterion("end_speed_mm_s", "and at rest", at_most=1.0),
            Criterion("seat_of_weight", "the seat carries most of it", at_least=0.5),
            # more than rounding: forces are certified to some 1e-5 N
            Criterion("back_force_n", "it leans on the back", at_least=1.0),
            Criterion("object_lift_mm", "the can is lifted", at_least=10.0),
        ),
        counters=(
            CounterRun("no sofa", ("fixed=[]",)),
            # the pads press with N of about 90 N: they hold it down to μ = m g/(2 N) = 0.019
            CounterRun("a slippery can", ("objects.can.friction=0.005",)),
            CounterRun(
                "a sofa and a floor of ice",
                ("materials.fabric.friction=0.01", "ground.friction=0.01"),
            ),
        ),
        measure=measure,
        rests_on={"materials.fabric.friction": 0.6, "objects.can.friction": 0.5},
        # by the pyramid it differs: a basic solution of Lemke leaves out points it does not need
        referees=("mujoco",),
    ),
)
