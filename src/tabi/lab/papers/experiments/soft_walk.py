"""A walk on elastic pads, of several stiffnesses: landings and the waist.

The pads are finite elements that are condensed onto their surface (``tabi.soles``). Peaks of the
foot's acceleration at touchdown, and the inclination of the waist, are as in
``analysis.impact_measures``, for pads that are each about three times as stiff as the one before.
The paper's graphs have no scale that could be read; what it says of them is judged.
"""

from __future__ import annotations

from tabi.analysis.impact_measures import ImpactWatch
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
)

# Young's modulus of the pads [Pa], softest first; the short form has the ends
MODULI = (8e5, 2e6, 6e6)
# a waist that is lower has fallen [m]; end of the short form [s], after two landings
MIN_WAIST_HEIGHT_M, SHORT_DURATION_S = 0.4, 3.5


def walk(trial: PaperTrial, modulus: float) -> PaperOutcome:
    """One walk: peak [m/s²] and inclination [°]."""
    sim = trial.load(f"robots.0.soles.young_modulus_pa={modulus:g}").simulator()
    watch, (robot,) = ImpactWatch(sim), sim.world.robots
    fallen: dict[str, float] = {}
    end = SHORT_DURATION_S if trial.short else trial.load().duration
    while sim.time < end and not fallen:
        sim.run(0.05)
        if sim.position(robot.base)[2] < MIN_WAIST_HEIGHT_M:
            fallen[robot.name] = sim.time
    result = watch.measured(fallen)[robot.name]
    return PaperOutcome(
        {
            "peak_m_s2": result.impact_m_s2 or float("nan"),
            "inclination_deg": result.inclination_deg,
            "fell": float(bool(fallen)),
        },
        steps=sim.data.steps,
        missed=sim.missed_count,
        residual=sim.data.worst["residual"],
    )


def measure(trial: PaperTrial) -> PaperOutcome:
    """Walk with all pads."""
    moduli = (MODULI[0], MODULI[-1]) if trial.short else MODULI
    walks = [walk(trial, modulus) for modulus in moduli]
    peaks = [walked.numbers["peak_m_s2"] for walked in walks]
    leans = [walked.numbers["inclination_deg"] for walked in walks]
    steps = range(len(walks) - 1)
    numbers = {
        # smallest gain from one pad to the next: all of them have to be gains
        "peak_ratio": min(peaks[k + 1] / peaks[k] for k in steps),
        "inclination_ratio": min(leans[k] / leans[k + 1] for k in steps),
        "falls": sum(walked.numbers["fell"] for walked in walks),
        "softest_peak_m_s2": peaks[0],
        "hardest_peak_m_s2": peaks[-1],
        "softest_inclination_deg": leans[0],
        "hardest_inclination_deg": leans[-1],
    }
    mega = [1e-6 * modulus for modulus in moduli]
    figures = (
        PaperFigure(
            "Fig. 5, left: peaks of acceleration at touchdown",
            "Young's modulus [MPa]",
            "acceleration [m/s²]",
            {"largest of all touchdowns": (mega, peaks)},
        ),
        PaperFigure(
            "Fig. 5, right: inclination of the waist",
            "Young's modulus [MPa]",
            "inclination [°]",
            {"largest": (mega, leans)},
        ),
    )
    total = walks[0]
    for walked in walks[1:]:
        total = total.plus(walked)
    return PaperOutcome(numbers, figures, (), total.steps, total.missed, total.residual)


EXPERIMENTS = (
    Experiment(
        name="soft-walk",
        paper="S08",
        figure="fig. 5",
        scene="soft-walk",
        claim=(
            "The more compliant the sole, the smaller are the peaks of acceleration at impacts, "
            "but the larger is the inclination of the waist."
        ),
        criteria=(
            # more than a tenth, so that no step of the simulation makes it
            Criterion("peak_ratio", "stiffer pads, higher peaks", 1.1),
            Criterion("inclination_ratio", "softer pads, a waist that leans more", 1.1),
            Criterion("falls", "and no fall on any of them", 0.0, 0.0),
        ),
        counters=(
            CounterRun(
                "feet set down at rest: nothing is left to soften",
                ("robots.0.motion.gait.landing_speed_m_s=0",),
            ),
            CounterRun(
                "a blow of 120 N·s from the side",
                ("pushes=[{body: chest, at_s: 2.5, duration_s: 0.2, force_n: [0, 600, 0]}]",),
            ),
        ),
        measure=measure,
        rests_on={"robots.0.motion.stabiliser": False, "robots.0.soles.thickness_m": 0.02},
        # other laws have no deformable soles
        laws=("coulomb",),
    ),
)
