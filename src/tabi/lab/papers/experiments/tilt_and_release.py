"""The robot is tilted on the rubber of its feet and let go: a damped oscillation about the pitch
axis, from which stiffness and damping of the rubber are identified.

The paper adjusts both until simulation and robot oscillate alike; no number is published but the
way it is done. So the way is what is judged: what ``identification.tilt_identification`` finds from
the torque of the feet has to be the rubber that the scene has, by the frequency the stiffness, by
the decay the damping. (The paper says "K is adjusted by the magnitude of the oscillation, and C by
its frequency", which is the other way round.)
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tabi.identification import tilt_identification as tilt
from tabi.identification.damped_oscillation import IdentificationError
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
)
from tabi.recording.recorded import read


def measure(trial: PaperTrial) -> PaperOutcome:
    """Record the scene, and identify the rubber."""
    scene = trial.load()
    sim = scene.simulator()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tilt.h5"
        with sim.record(path):
            sim.run(scene.duration)
        run = read(path)
        torque = tilt.recorded(run, "torque", 0, "the run")
        try:
            result = tilt.identify(run).to_dict()
        except IdentificationError as fault:
            result, notes = {}, (str(fault),)
        else:
            notes = ()
    identified = ("stiffness_nm_rad", "damping_nms_rad", "frequency_rad_s", "damping_ratio")
    figure = PaperFigure(
        "Fig. 4: torque of a foot about the pitch axis",
        "time [s]",
        "torque [N·m]",
        {"mean of both feet": (torque.time, torque.values)},
    )
    return PaperOutcome(
        {name: result[name] for name in identified if name in result},
        (figure,),
        notes,
        sim.data.steps,
        sim.missed_count,
        sim.data.worst["residual"],
    )


EXPERIMENTS = (
    Experiment(
        name="tilt-and-release",
        paper="H03",
        figure="fig. 4",
        scene="tilt-and-release",
        claim=(
            "A robot that is inclined slightly and let go shows a damped oscillation along the "
            "pitch axis, from which the spring and the damper of its feet are identified."
        ),
        criteria=(
            # intervals of such a fit are 2 % and 10 % wide with the noise of a force sensor
            Criterion(
                "stiffness_nm_rad", "the rubber's stiffness is found, to 2 %", 4900.0, 5100.0
            ),
            Criterion("damping_nms_rad", "and its damping, to 10 %", 45.0, 55.0),
        ),
        counters=(
            CounterRun(
                "rubber half as stiff, and half as damped",
                ("robots.0.bush.stiffness_nm_rad=2500", "robots.0.bush.damping_nms_rad=25"),
            ),
        ),
        measure=measure,
        assumptions=(
            "Stiffness and damping of the rubber, 5000 N·m/rad and 50 N·m·s/rad: those with which "
            "others simulate HRP-2. What is judged is whether they are identified.",
        ),
        rests_on={"robots.0.bush.stiffness_nm_rad": 5000, "robots.0.bush.damping_nms_rad": 50},
        laws=("coulomb", "penalty", "pyramid"),
        referees=("mujoco", "pinocchio"),
    ),
)
