"""``tabi check``: is this motion safe for the robot? Chardonnet (2012), sec. 5.2.

A pattern is played on flat ground with its efforts fed forward, as in ``pattern_playback``, but
with all shapes of the robot; a scene runs as it is. What is watched is in ``motion_margins``. All
of it is repeated with friction ±20 %, with all masses ±5 %, and with commands that come 2 and 5 ms
late, one at a time: ``motion_variation``.

A motion is feasible if in every one of these runs every limit is kept, the robot does not fall,
every step of the simulation is certified, and the simulation gets to the end. A pattern that asks
joints for more than their travel or speed is not feasible before it is played.

Reference: Chardonnet (2012), Interactive dynamic simulator for multibody systems, sec. 5.2.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError, SimulationError, TabiError, unknown
from tabi.analysis.motion_margins import MarginWatch
from tabi.analysis.motion_variation import VARIATIONS, MotionVariation, vary
from tabi.analysis.pattern_playback import STEP
from tabi.analysis.steered_measures import SteeredWatch
from tabi.analysis.walk_measures import WalkWatch
from tabi.control.pattern_dynamics import pattern_dynamics
from tabi.control.pattern_files import read_pattern
from tabi.control.patterns import Pattern
from tabi.control.playing import playback
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.scenes.scene import Scene
from tabi.simulation.faults import MissedStepWarning
from tabi.simulation.simulator import Simulator

# friction of the ground under a pattern; simulated seconds between two looks
FRICTION, LOOK = 0.8, 0.05
PATTERNS = (".pos", ".seq")
# what is told of a run that is under way: which, and how far it is [s]; says whether to stop
Look = Callable[[int, float], bool]


@dataclass(frozen=True)
class CheckedMotion:
    """A motion that can be begun again and again.

    Attributes:
        name, robot: as they are told. duration: of one run [s].
        begin: makes a simulation, and says which robot of it is watched.
        refused: why the robot cannot follow it at all; "" if it may.
        jaws: joints of those that grip.
    """

    name: str
    robot: str
    duration: float
    begin: Callable[[], tuple[Simulator, Robot]]
    refused: str = ""
    jaws: tuple[str, ...] = ()


# ---- motions ------------------------------------------------------------------------------------


def of_pattern(file: Path, robot: Robot, cutoff: float | None = None) -> CheckedMotion:
    """A motion from a file of a pattern.

    Args:
        robot: that should move so. cutoff: of a low-pass over the file's digits [Hz]; none unless
            given.
    """
    if robot.base.joint.kind != "floating" or not robot.feet:
        raise ModelError(
            f"{robot.name} has {'no feet' if not robot.feet else 'a fixed base'}; expected a robot "
            "that stands on feet: declare them with --foot, or --base floating"
        )
    told = read_pattern(file, _unlimited(robot))
    told = told if cutoff is None else told.smoothed(cutoff)
    try:
        told.check(robot)
        refused = ""
    except ModelError as problem:
        refused = str(problem)
    # once for all runs: of the nominal robot
    asked = None if refused else pattern_dynamics(robot, told)

    def begin() -> tuple[Simulator, Robot]:
        world = World()
        world.add_ground(friction=FRICTION)
        own = world.add_robot(robot)
        own.stand_on_ground(_pose(told, 0))
        period = told.duration / (len(told.times) - 1)
        sim = Simulator(world, dt=period / int(np.ceil(period / STEP - 1e-6)))
        sim.set_controller(own, playback(own, told, feed_forward=asked or False))
        return sim, own

    return CheckedMotion(file.name, robot.name, told.duration, begin, refused)


def of_scene(scene: Scene, name: str | None = None) -> CheckedMotion:
    """What a robot of a scene does.

    Args:
        name: of the robot in the scene; its only one unless given.
    """
    names = [robot.name for robot in scene.world().robots]
    if not names:
        raise TabiError(f"scene {scene.name} has no robot; expected one whose motion is checked")
    if name is None and len(names) > 1:
        raise TabiError(
            f"scene {scene.name} has the robots {', '.join(names)}; say which with --robot"
        )
    if name is not None and name not in names:
        raise unknown("robot", name, f"scene {scene.name}", names)
    chosen = name or names[0]

    def begin() -> tuple[Simulator, Robot]:
        sim = scene.simulator()
        return sim, sim.world.robot(chosen)

    jaws = tuple(scene.contents.robots[names.index(chosen)].grip_nm)
    return CheckedMotion(scene.name, chosen, scene.duration, begin, jaws=jaws)


def _unlimited(robot: Robot) -> Robot:
    """A copy whose joints go anywhere: limits are judged, and are no fault of the file."""
    free = copy.deepcopy(robot)
    for name in free.joint_names:
        joint = free.joint(name)
        joint.lower, joint.upper, joint.velocity_limit = -np.inf, np.inf, np.inf
    return free


def _pose(told: Pattern, k: int) -> dict[str, float]:
    return dict(zip(told.joints, told.position[k].tolist(), strict=True))


# ---- runs ---------------------------------------------------------------------------------------


def check(
    motion: CheckedMotion,
    variations: Sequence[MotionVariation] = VARIATIONS,
    look: Look = lambda run, time: False,
) -> dict[str, Any]:
    """Run a motion with all variations and judge it, as plain data; told to stop, what is done."""
    runs: list[dict[str, Any]] = []
    interrupted = False
    for k, how in enumerate(() if motion.refused else variations):
        found = run(motion, how, lambda time, k=k: look(k, time))
        if found is None:
            interrupted = True
            break
        runs.append(found)
    return {
        "motion": motion.name,
        "robot": motion.robot,
        "duration_s": motion.duration,
        "refused": motion.refused,
        "feasible": bool(runs) and all(one["feasible"] for one in runs) and not interrupted,
        "runs": runs,
        "least": least(runs),
        "interrupted": interrupted,
    }


def run(
    motion: CheckedMotion, how: MotionVariation, look: Callable[[float], bool]
) -> dict[str, Any] | None:
    """One run, to its end or to a fall; None where it was told to stop."""
    sim, robot = motion.begin()
    vary(sim, how)
    watch, fault = MarginWatch(sim, robot, motion.jaws), ""
    walks = WalkWatch(sim), SteeredWatch(sim)
    steps, chunk = round(motion.duration / sim.dt), max(1, round(LOOK / sim.dt))
    try:
        for done in range(0, steps, chunk):
            # steps that miss are counted and told
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MissedStepWarning)
                sim.run(min(chunk, steps - done) * sim.dt)
            if look(sim.time):
                return None
            # what lies on the ground breaks every other limit too
            if watch.fell is not None:
                break
    except SimulationError as problem:
        fault = str(problem)
    margins = [asdict(one) for one in watch.margins()]
    missed = sim.missed_count
    fell = {} if watch.fell is None else {robot.name: watch.fell}
    unfinished = [w.stopped for one in walks for w in one.measured(fell).values() if w.stopped]
    fault = fault or "; ".join(unfinished)
    return {
        "run": how.name,
        "friction": how.friction,
        "mass": how.mass,
        "delay_s": how.delay,
        "time_s": round(sim.time, 9),
        "fallen_at_s": watch.fell,
        "margins": margins,
        "missed_steps": missed,
        "stopped": fault,
        "feasible": all(one["within"] for one in margins) and not (missed or fault),
    }


def least(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each kind the least margin of all runs, with the run."""
    found: dict[str, dict[str, Any]] = {}
    for one in runs:
        for margin in one["margins"]:
            best = found.get(margin["name"])
            if best is None or _size(margin) < _size(best):
                found[margin["name"]] = margin | {"run": one["run"]}
    return list(found.values())


def _size(margin: dict[str, Any]) -> float:
    return np.inf if margin["margin"] is None else margin["margin"]
