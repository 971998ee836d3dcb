"""HRP-2 lifts 8.4 kg and 23.4 kg over its head: Chardonnet (2012), sec. 5.2 and fig. 14.

The paper shows six phases, as of weight lifting: (a) initial state, (b) accelerating the object
upward, (c) switching motion, (d) sliding into under the object, (e) crouching, (f) final state.
The robot holds the object by its grippers alone, and the motion has to be one that the real robot
can do: what it asks for is within the torques and speeds of the motors, and the robot stands.

Key frames of the scenes end phases (a) to (d); (e) goes through one more to the last frame, from
where on the robot is in (f). Margins are those of ``motion_margins``; of torques without the jaws,
which press with their commanded force.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.analysis.motion_margins import MarginWatch
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    RunRows,
)
from tabi.model.robot import Robot
from tabi.scenes import Scene
from tabi.scenes.motions.keyframes import Keyframes
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
PHASES = ("initial", "accelerating", "switching", "sliding", "crouching", "final")
# key frames that end the first five phases
ENDS = (1, 2, 3, 4, 6)
LOAD, HAND, GRAVITY = "load", "right_hand", 9.81
# of HRP-2's head above the frame of its head, in the zero pose of 1.54 m [m]
CROWN = 0.187
# rows of the run, in steps: 5 ms are a tenth of what a motor's loop takes
RECORD_PERIOD_STEPS = 5
# height of a load that lies on the ground, on discs of 0.1 and 0.16 m [m]
LYING_HEIGHT_M = 0.2
# share of the weight from which the centre of pressure of a foot counts
STANCE_LOAD_SHARE = 0.1


def measure(trial: PaperTrial) -> PaperOutcome:
    """Lift it once; in the long form once more with feet on springs and dampers, of which the paper
    says that they diverge.
    """
    result = lifted(trial.load())
    if trial.short or trial.changes or trial.law:
        return result
    springs = lifted(replace(trial, law="penalty").load())
    numbers = springs.numbers
    diverged = (
        "lifts it, too" if numbers["stands"] and numbers["load_above_head_m"] > 0 else "fails"
    )
    note = (
        f"with feet by penalty at the same step it {diverged}: {springs.missed} steps did not "
        f"converge, "
        f"{springs.notes[0]}; those springs are taken at the end of the step, and no stiffness "
        "makes them diverge"
    )
    return replace(result, notes=(*result.notes, note))


def lifted(scene: Scene) -> PaperOutcome:
    """One lift, until the end, the robot falls, or the load lies on the ground."""
    times = phase_times(scene)
    sim = scene.simulator()
    robot = sim.world.robots[0]
    limits = MarginWatch(sim, robot, tuple(scene.contents.robots[0].grip_nm), STANCE_LOAD_SHARE)
    rows, moments = [_row(sim, robot)], [sim.time]
    steps = round(scene.duration / sim.dt)
    for done in range(0, steps, RECORD_PERIOD_STEPS):
        for _ in range(min(RECORD_PERIOD_STEPS, steps - done)):
            sim.step()
        rows.append(_row(sim, robot))
        moments.append(sim.time)
        if limits.fell is not None or rows[-1]["load"][2] < LYING_HEIGHT_M:
            break
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    residual = sim.data.worst["residual"]
    run = RunRows(np.array(moments), columns, len(limits.times), sim.missed_count, residual)
    numbers = {**_of_load(run, times), **_of_feet(run, times, sim)}
    shares, words = _of_limits(limits)
    notes = (*phase_words(run, times), *words)
    return run.outcome(numbers | shares, *_figures(run, times), notes=notes)


def _row(sim: Simulator, robot: Robot) -> dict[str, Array]:
    load, hand = sim.pose(LOAD), sim.pose(HAND)
    feet = robot.feet.values()
    return {
        "load": load.p,
        "head": sim.position("head"),
        "held": hand.R.T @ (load.p - hand.p),
        "feet": np.array([sim.position(foot) for foot in feet]),
        "force": np.array([sim.foot_wrench(foot).force[2] for foot in feet]),
    }


def phase_times(scene: Scene) -> Array:
    """Return the times at which the phases begin, and the last one ends [s]."""
    motion = scene.contents.robots[0].motion
    if not isinstance(motion, Keyframes) or len(motion.frames) <= ENDS[-1]:
        raise ModelError(f"scene {scene.name} has not the key frames of a lift in six phases")
    return np.array([0.0, *(motion.frames[k].at_s for k in ENDS), scene.duration])


def _of_load(rows: RunRows, times: Array) -> dict[str, float]:
    """Return where it ends, how fast it was thrown, how far it moved in the closed hand."""
    height, load_in_hand = rows["load"][:, 2], rows["held"]
    closed = rows.time >= min(times[1], rows.time[-1])
    rises = np.diff(height) / np.diff(rows.time)
    # along the bar a hand may be anywhere
    displacement = np.linalg.norm((load_in_hand - load_in_hand[closed][0])[closed][:, 1:], axis=1)
    return {
        "load_height_m": float(height[-1]),
        "load_above_head_m": float(height[-1] - rows["head"][-1, 2] - CROWN),
        "load_rise_m_s": float(rises.max()),
        "load_slip_m": float(displacement.max()),
    }


def _of_feet(rows: RunRows, times: Array, sim: Simulator) -> dict[str, float]:
    """Forces of the phases, of both feet together, and how far these were moved."""
    force, places = rows["force"].sum(axis=1), rows["feet"]
    result = {"feet_slip_m": float(np.linalg.norm((places - places[0])[..., :2], axis=-1).max())}
    for name, (start, end) in zip(PHASES, pairwise(times), strict=True):
        phase = force[(rows.time > start) & (rows.time <= end)]
        result[f"feet_{name}_n"] = float(phase.mean()) if len(phase) else np.nan
    # the last tenth of a second: it is at rest there
    rest = float(force[rows.time > rows.time[-1] - 0.1].mean())
    mass = float(sim.model.arrays.body["mass"].sum())
    return result | {"carried_share": rest / (GRAVITY * mass)}


def _of_limits(limits: MarginWatch) -> tuple[dict[str, float], list[str]]:
    """Return shares of what motors and joints can do, the pressure's way to the edge, and notes."""
    numbers, notes = {"stands": float(limits.fell is None)}, []
    jaws = [name for name in limits.of_joints("torque") if "GRIPPER" in name]
    for kind in ("torque", "speed"):
        margins = limits.of_joints(kind)
        arms = {name: x for name, x in margins.items() if name not in jaws}
        nearest = min(arms, key=lambda name: arms[name])
        numbers[f"{kind}_share"] = 1.0 - arms[nearest]
        largest = sorted(arms, key=lambda name: arms[name])[:6:2]
        words = ", ".join(f"{name} {100 * (1 - arms[name]):.0f} %" for name in largest)
        notes.append(f"largest shares of {kind}: {words}")
    words = ", ".join(
        f"{name} {100 * (1 - limits.of_joints('torque')[name]):.0f} %" for name in jaws
    )
    notes.append(f"jaws, commanded to press: {words}")
    by_kind = {margin.name: margin for margin in limits.margins()}
    pressure = by_kind["pressure"].margin
    numbers["sole_margin_m"] = 0.0 if pressure is None else pressure
    return numbers, notes


def phase_words(rows: RunRows, times: Array) -> list[str]:
    """One sentence for each phase: when, and the least and largest force of both feet."""
    force, notes = rows["force"].sum(axis=1), []
    for letter, name, (start, end) in zip("abcdef", PHASES, pairwise(times), strict=True):
        phase = force[(rows.time > start) & (rows.time <= end)]
        if len(phase):
            notes.append(
                f"({letter}) {name}, {start:.2f} to {end:.2f} s: feet press with "
                f"{phase.min():.0f} to {phase.max():.0f} N"
            )
    return notes


def _figures(rows: RunRows, times: Array) -> tuple[PaperFigure, PaperFigure]:
    forces = {
        "both feet": (rows.time, rows["force"].sum(axis=1)),
        "phases": (times, np.full(len(times), 0.0)),
    }
    heights = {
        "load": (rows.time, rows["load"][:, 2]),
        "top of the head": (rows.time, rows["head"][:, 2] + CROWN),
    }
    return (
        PaperFigure("feet in the six phases", "time [s]", "vertical force [N]", forces),
        PaperFigure("the load goes over the head", "time [s]", "height [m]", heights),
    )


# ---- what the paper says ------------------------------------------------------------------------

CRITERIA = (
    Criterion("load_above_head_m", "the load ends over the head", at_least=0.0),
    # both feet carry robot and load in the end: it is held, and at rest; 2 % is what a load that is
    # not quite at rest adds
    Criterion("carried_share", "the feet carry robot and load", at_least=0.98, at_most=1.02),
    Criterion("stands", "the robot does not fall", at_least=1.0),
    # the motion is one that the real robot can do: no motor at its limit, no joint at its top speed
    Criterion("torque_share", "no motor is at its limit", at_most=0.99),
    Criterion("speed_share", "no joint is at its top speed", at_most=0.99),
    # soles stay flat, and where they are: 5 mm are a fiftieth of a sole
    Criterion("sole_margin_m", "the pressure stays inside of the soles", at_least=0.001),
    Criterion("feet_slip_m", "the feet stay where they are", at_most=0.005),
    # half a bar's radius: further, and it is on its way out of the jaws
    Criterion("load_slip_m", "the bar stays where the jaws closed on it", at_most=0.009),
)

FRAMES, PARTS = "robots.0.motion.frames", "objects.0.parts"
# joints that carry the load, and what their motors give at most [N·m]
MOTORS = {
    "LEG_HIP_P": 151.4,
    "LEG_KNEE_P": 168.3,
    "LEG_ANKLE_P": 131.6,
    "ARM_SHOULDER_P": 160.3,
    "ARM_ELBOW_P": 108.5,
    "ARM_WRIST_R": 18.74,
}


def heavier(disc: float) -> CounterRun:
    """Discs of another mass [kg]."""
    changes = tuple(f"{PARTS}.{k}.mass_kg={disc:g}" for k in (1, 2))
    return CounterRun(f"discs of {disc:g} kg each: too much for wrists and jaws", changes)


def faster(*times: float) -> CounterRun:
    """Key frames from the second phase on at other times [s]."""
    changes = tuple(f"{FRAMES}.{k}.at_s={t:g}" for k, t in enumerate(times, 2))
    return CounterRun("the same poses in half the time: it falls", changes)


def weaker(share: float) -> CounterRun:
    """Motors of legs and arms with a share of their torques."""
    changes = tuple(
        f"robots.0.motors.{side}{joint}.torque_limit_nm={share * limit:g}"
        for side in "RL"
        for joint, limit in MOTORS.items()
    )
    return CounterRun(f"motors with {share:g} of their torques: they are at their limits", changes)


def smoother(grip: float) -> CounterRun:
    """A bar with next to no friction, in jaws that press with some torque [N·m]."""
    jaws = tuple(f"robots.0.grip_nm.{side}ARM_GRIPPER={grip:g}" for side in "RL")
    words = f"a bar of friction 0.05 in jaws that press with {grip:g} N·m: it slips out"
    return CounterRun(words, (f"{PARTS}.0.friction=0.05", *jaws))


def _lift(mass: float, name: str, claim: str, *counters: CounterRun) -> Experiment:
    return Experiment(
        name=name,
        paper="C12",
        figure="fig. 14",
        scene=name,
        claim=claim,
        criteria=CRITERIA,
        counters=counters,
        measure=measure,
        rests_on={
            "ground.friction": 0.983,
            "robots.0.robot": "hrp2",
            "robots.0.motors": {},
            **{f"{PARTS}.{k}.mass_kg": m for k, m in enumerate(MASSES[mass])},
        },
        referees=("mujoco",),
    )


# bar and discs [kg]
MASSES = {8.4: (2.4, 3.0, 3.0), 23.4: (3.4, 10.0, 10.0)}
EXPERIMENTS = (
    _lift(
        8.4,
        "lift-8kg",
        "HRP-2 lifts an object of 8.4 kg over its head by its grippers, in six phases, in "
        "simulation and in the experiment.",
        heavier(20.0),
        faster(0.86, 1.22, 1.48, 1.84, 2.16),
        weaker(0.3),
        smoother(1.0),
    ),
    _lift(
        23.4,
        "lift-23kg",
        "HRP-2 lifts an object of 23.4 kg in the same way, a high performance considering the "
        "robot's specifications.",
        heavier(15.0),
        faster(1.11, 1.58, 1.98, 2.4, 2.8),
        weaker(0.5),
        smoother(4.9),
    ),
)
