"""HRP-2 takes a can off a table while it leans on its left hand: Chardonnet (2006), sec. IV-A and
fig. 3, with friction 0.4 everywhere.

Its claims: heels leave the platform and feet slip on it; the table retains the robot as its legs
collide with it; because of the left hand the robot "does not tip out to the side". The paper gives
no numbers but the friction. Ours has its centre of mass about 10 mm outside of the left sole, so
that the hand is needed by the laws of statics, not by a threshold.
"""

from __future__ import annotations

import math
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
from tabi.lab.papers.experiments.places import FEET, HEEL, LEGS, TOE, between, feet_slip, point
from tabi.simulation.simulator import Simulator

# of the end in which forces and tilts are means [s]
END = 0.1
LEFT_HAND, GRIPPER = ("left_hand", "left_jaw"), ("right_hand", "right_jaw")
# key frames in which the left hand is on the table
SUPPORTED = range(1, 5)


def _look(sim: Simulator) -> Mapping[str, ArrayLike]:
    return {
        "toes": [point(sim, foot, TOE) for foot in FEET],
        "heels": [point(sim, foot, HEEL) for foot in FEET],
        # how far soles are tipped to a side [°]: the angle of their y axes with the ground
        "side": max(abs(math.degrees(math.asin(sim.pose(foot).R[2, 1]))) for foot in FEET),
        "legs": between(sim, LEGS, ("table",)).force,
        "hand": between(sim, LEFT_HAND, ("table",)).force,
        "grip": between(sim, GRIPPER, ("can",)).force,
        "can": sim.position("can"),
    }


def measure(trial: PaperTrial) -> PaperOutcome:
    """One run, looked at after every second step."""
    rows = watch(trial.load(), _look, every=2)
    late = rows.time > rows.time[-1] - END
    numbers = {
        "heel_lift_mm": 1e3 * float(rows["heels"][:, :, 2].max()),
        "feet_slip_mm": 1e3 * feet_slip(rows["toes"]),
        "side_tilt_deg": float(rows["side"][late].mean()),
        "leg_force_n": float(rows["legs"][late].mean()),
        "hand_force_n": float(rows["hand"][late].mean()),
        "grip_force_n": float(rows["grip"][late].mean()) / 2,
        "object_lift_mm": 1e3 * float((rows["can"][late] - rows["can"][0])[:, 2].mean()),
    }
    figure = PaperFigure(
        "what holds HRP-2 over the table",
        "time [s]",
        "force [N]",
        {name: (rows.time, rows[name]) for name in ("legs", "hand", "grip")},
    )
    return rows.outcome(numbers, figure)


EXPERIMENTS = (
    Experiment(
        name="table",
        paper="C06",
        figure="fig. 3",
        scene="table",
        claim="bent over a table with friction 0.4, the heels lift and the feet slip until the "
        "legs are against the table; the hand that supports it keeps it from tipping sideways",
        criteria=(
            # seen from beside the robot
            Criterion("heel_lift_mm", "the heels lift", at_least=1.0),
            # what counts as no slip in the experiment of fig. 6
            Criterion("feet_slip_mm", "the feet slip", at_least=1.0),
            Criterion("leg_force_n", "the legs lean on the table in the end", at_least=1.0),
            Criterion("hand_force_n", "the left hand carries load", at_least=1.0),
            # 1° lifts one side of a sole, 138 mm wide, by 2.4 mm
            Criterion("side_tilt_deg", "it does not tip to the side", at_most=1.0),
            Criterion("object_lift_mm", "the can is lifted", at_least=10.0),
        ),
        counters=(
            CounterRun(
                "without the hand that supports it",
                tuple(
                    f"robots.0.motion.frames.{k}.joints_deg.LARM_SHOULDER_P=-150" for k in SUPPORTED
                ),
            ),
            CounterRun("a table 0.3 m further away", ("fixed.table.position_m.0=1.018",)),
            CounterRun(
                "a robot that stands still",
                ("robots.0.motion={kind: hold}",),
            ),
        ),
        measure=measure,
        rests_on={"ground.friction": 0.4, "materials.wood.friction": 0.4},
        referees=("mujoco",),
    ),
)
