"""A person leads HRP-2 by its hand to a can, and both carry it: Chardonnet (2012), sec. 4, figs. 7
and 8.

The paper's arm gives way to the person's hand (eq. 16), its gripper shuts on the can, both move the
can; and the robot "always looks at the haptic probe". Numbers are not given. Here the person is a
script, which moves as arms of people do. The gaze is judged while the robot is led, from when the
person takes its hand until the can is put down: later the hand goes back beside the robot, lower
than its head can nod.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from tabi.interaction.session import HapticSession
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    watch,
)
from tabi.lab.papers.experiments.places import tilt
from tabi.scenes import Scene
from tabi.simulation.simulator import Simulator

# between two looks [s]
CHECK_PERIOD_S = 0.05
# of the short form [s]: a step for each of the controller's ticks
SHORT_STEP_S = 0.005


def _look(sim: Simulator, session: HapticSession) -> Mapping[str, ArrayLike]:
    X, probe = sim.pose("head"), np.asarray(session.hand.band().target)
    to = (probe - X.p) / np.linalg.norm(probe - X.p)
    return {
        "can": sim.position("can"),
        # the head looks along its x axis
        "gaze": math.degrees(math.acos(np.clip(X.R[:, 0] @ to, -1.0, 1.0))),
        "force": float(np.linalg.norm(session.hand.force)),
        "tilt": tilt(sim, "can"),
        "waist": sim.position("waist"),
    }


def _led(scene: Scene) -> tuple[float, float]:
    """Return the times at which the hand first holds and the button is last released [s]."""
    hand = scene.contents.hand
    frames = hand.frames if hand else ()
    grasp_times = [frame.at_s for frame in frames if frame.holds]
    open_after = [b.at_s for a, b in pairwise(frames) if a.grips]
    return grasp_times[0], open_after[-1]


def measure(trial: PaperTrial) -> PaperOutcome:
    """One run with the scripted hand; with steps of 5 ms in the short form."""
    scene = trial.load(*((f"simulation.step_s={SHORT_STEP_S}",) if trial.short else ()))
    sessions: list[HapticSession] = []

    def look(sim: Simulator) -> Mapping[str, ArrayLike]:
        if not sessions:
            sessions.append(scene.hand(sim, "scripted"))
        return _look(sim, sessions[0])

    rows = watch(scene, look, every=round(CHECK_PERIOD_S / scene.contents.simulation.step_s))
    sessions[0].close()
    begin, end = _led(scene)
    led = (rows.time > begin + CHECK_PERIOD_S) & (rows.time < end)
    can = rows["can"]
    # while it is in the air: as far as it is lifted by more than 20 mm
    aloft = can[:, 2] > can[0, 2] + 0.02
    numbers = {
        "object_lift_mm": 1e3 * float(can[:, 2].max() - can[0, 2]),
        "carried_mm": 1e3 * float(np.ptp(can[aloft, 1])) if aloft.any() else 0.0,
        "end_height_mm": 1e3 * float(can[-1, 2] - can[0, 2]),
        "end_tilt_deg": float(rows["tilt"][-1]),
        "gaze_error_deg": float(rows["gaze"][led].max()),
        "mean_gaze_error_deg": float(rows["gaze"][led].mean()),
        "strongest_force_n": sessions[0].strongest,
        "waist_shift_mm": 1e3
        * float(np.linalg.norm(rows["waist"] - rows["waist"][0], axis=1).max()),
    }
    figure = PaperFigure(
        "led by the hand: force of the person, gaze of the robot",
        "time [s]",
        "force [N], error of the gaze [°]",
        {name: (rows.time, rows[name]) for name in ("force", "gaze")},
    )
    return rows.outcome(numbers, figure)


EXPERIMENTS = (
    Experiment(
        name="carry",
        paper="C12",
        figure="figs. 7 and 8",
        scene="carry",
        claim="a person leads the robot's hand to an object, its gripper shuts, and both move the "
        "object; the robot always looks at the haptic probe",
        criteria=(
            Criterion("object_lift_mm", "the can is lifted by 50 mm or more", at_least=50.0),
            Criterion("carried_mm", "and carried by 100 mm or more", at_least=100.0),
            # it starts 1 mm above the table; lying it would be 27 mm lower
            Criterion("end_height_mm", "it ends on the table", -2.0, 2.0),
            Criterion("end_tilt_deg", "and upright", at_most=2.0),
            # the probe fills 10° at 0.5 m if it is as large as a fist
            Criterion("gaze_error_deg", "the head looks at the probe", at_most=10.0),
            # an arm that does not give way takes 500 N/m over the 120 mm to the can: a third of it
            Criterion("strongest_force_n", "a light hand is enough", at_most=20.0),
            # the arm gives way, not the body: a twentieth of the hand's 120 mm to the can is 6 mm
            Criterion("waist_shift_mm", "and the robot stands still", at_most=5.0),
        ),
        counters=(
            CounterRun("a slippery can", ("objects.can.friction=0.02",)),
            CounterRun("a robot that does not look", ("robots.0.notices=null",)),
            CounterRun("an arm that does not give way", ("robots.0.complies=[]",)),
            CounterRun(
                # its end is at y = −0.13 m, and the can's middle is put down beyond it
                "a table that ends under the can",
                ("fixed.table.size_m.1=0.26", "fixed.table.position_m.1=-0.26"),
            ),
        ),
        measure=measure,
        rests_on={"objects.can.friction": 0.5, "hand.stiffness_n_m": 500},
        # other engines have no hand of a person, and no robot that gives way to it
    ),
)
