"""A sway of the hips on two plates: the weight goes to one foot, the other ends on an edge."""

from __future__ import annotations

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

# the robot stands at rest for so long [s], and has come to rest again when it is half a second to
# the end
REST_TIME_S, SETTLED_TIME_S = 1.0, 0.5
EDGE = "edge"


def measure(trial: PaperTrial) -> PaperOutcome:
    """Loads before and after, sideways forces, and the state of the right foot at the end."""
    scene = trial.load()
    rows = watch(
        scene,
        lambda sim: {
            "left": sim.data.sensor("left plate", truth=True)[0][:3],
            "right": sim.data.sensor("right plate", truth=True)[0][:3],
            "on_edge": sim.foot("right").contact == EDGE,
            "tilt": np.degrees(np.arccos(np.clip(sim.pose("waist").R[2, 2], -1.0, 1.0))),
        },
        every=5,
    )
    t = rows.time
    before, after = (t > 0.5 * REST_TIME_S) & (t < REST_TIME_S), t > t[-1] - SETTLED_TIME_S
    vertical = rows["left"][:, 2] + rows["right"][:, 2]
    left = rows["left"][1:, 2] / vertical[1:]
    sideways = rows["left"][:, 1], rows["right"][:, 1]
    numbers = {
        "left_share_at_first_percent": 100 * float(left[before[1:]].mean()),
        "left_share_at_last_percent": 100 * float(left[after[1:]].mean()),
        "right_foot_on_edge_percent": 100 * float(rows["on_edge"][after].mean()),
        "sideways_at_first_n": float(np.abs(sideways[0][before]).mean()),
        # both plates push the feet, in opposite senses: their sum is small beside either
        "sideways_sum_of_parts": float(
            np.abs(sideways[0][before] + sideways[1][before]).max()
            / np.abs(sideways[0][before]).mean()
        ),
        "waist_tilt_deg": float(rows["tilt"][after].max()),
    }
    figures = tuple(
        PaperFigure(
            f"Fig. 9, {words}: forces of the plates on the feet",
            "time [s]",
            "force [N]",
            {side: (t[1:], rows[side][1:, k]) for side in ("left", "right")},
        )
        for k, words in ((1, "top, sideways"), (0, "middle, ahead"), (2, "bottom, vertical"))
    )
    return rows.outcome(numbers, *figures)


EXPERIMENTS = (
    Experiment(
        name="hip-sway",
        paper="M08",
        figure="fig. 9",
        scene="hip-sway",
        claim=(
            "A human in robot shoes and CB in simulation shift their weight from both feet, where "
            "it is equal, to the left one, while the right foot comes to rest on its edge. "
            "Sideways friction forces prevent the legs from separating."
        ),
        criteria=(
            Criterion(
                "left_share_at_first_percent", "loads are equal at first, to 2 %", 49.0, 51.0
            ),
            Criterion("left_share_at_last_percent", "then nine tenths are on the left foot", 90.0),
            Criterion("right_foot_on_edge_percent", "and the right one is on an edge", 100.0),
            Criterion("sideways_at_first_n", "friction holds the legs together", 20.0),
            Criterion("sideways_sum_of_parts", "with opposite forces, to 2 %", 0.0, 0.02),
            Criterion("waist_tilt_deg", "and the robot stands", 0.0, 10.0),
        ),
        counters=(
            CounterRun("plates of ice", tuple(f"force_plates.{k}.friction=0.02" for k in (0, 1))),
            CounterRun(
                "legs not apart",
                ("robots.0.joints_deg={}", "robots.0.motion.frames.0.joints_deg={}"),
            ),
            CounterRun(
                "a push to the left of 400 N",
                ("pushes=[{body: waist, at_s: 0, duration_s: 60, force_n: [0, 400, 0]}]",),
            ),
        ),
        measure=measure,
        rests_on={"robots.0.robot": "cb", "force_plates.0.friction": 0.45},
        referees=("mujoco",),
        referee_changes=("simulation.contact=coulomb",),
    ),
)
