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

# friction of the ground under a pattern; simulated seconds between two checks for a fall
FRICTION, CHECK_PERIOD_S = 0.8, 0.05
PATTERNS = (".pos", ".seq")
# progress callback: index of the run and its simulated time [s]; returns whether to stop
Look = Callable[[int, float], bool]


@dataclass(frozen=True)
class CheckedMotion:
    """A motion that can be started repeatedly.

    Attributes:
        name, robot: names in the result. duration: of one run [s].
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
    pattern = read_pattern(file, _unlimited(robot))
    pattern = pattern if cutoff is None else pattern.smoothed(cutoff)
    try:
        pattern.check(robot)
        refused = ""
    except ModelError as problem:
        refused = str(problem)
    # once for all runs: of the nominal robot
    dynamics = None if refused else pattern_dynamics(robot, pattern)

    def begin() -> tuple[Simulator, Robot]:
        world = World()
        world.add_ground(friction=FRICTION)
        walking = world.add_robot(robot)
        walking.stand_on_ground(_pose(pattern, 0))
        period = pattern.duration / (len(pattern.times) - 1)
        sim = Simulator(world, dt=period / int(np.ceil(period / STEP - 1e-6)))
        sim.set_controller(walking, playback(walking, pattern, feed_forward=dynamics or False))
        return sim, walking

    return CheckedMotion(file.name, robot.name, pattern.duration, begin, refused)


def of_scene(scene: Scene, name: str | None = None) -> CheckedMotion:
    """Return the motion of a robot of a scene.

    Args:
        name: of the robot in the scene; default: its only robot.
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
    robot_name = name or names[0]

    def begin() -> tuple[Simulator, Robot]:
        sim = scene.simulator()
        return sim, sim.world.robot(robot_name)

    jaws = tuple(scene.contents.robots[names.index(robot_name)].grip_nm)
    return CheckedMotion(scene.name, robot_name, scene.duration, begin, jaws=jaws)


def _unlimited(robot: Robot) -> Robot:
    """A copy whose joints go anywhere: limits are judged, and are no fault of the file."""
    free = copy.deepcopy(robot)
    for name in free.joint_names:
        joint = free.joint(name)
        joint.lower, joint.upper, joint.velocity_limit = -np.inf, np.inf, np.inf
    return free


def _pose(pattern: Pattern, k: int) -> dict[str, float]:
    return dict(zip(pattern.joints, pattern.position[k].tolist(), strict=True))


# ---- runs ---------------------------------------------------------------------------------------


def check(
    motion: CheckedMotion,
    variations: Sequence[MotionVariation] = VARIATIONS,
    look: Look = lambda run, time: False,
) -> dict[str, Any]:
    """Run a motion with all variations and check its margins; return plain data, of the runs done
    so far if it is interrupted.
    """
    runs: list[dict[str, Any]] = []
    interrupted = False
    for k, how in enumerate(() if motion.refused else variations):
        result = run(motion, how, lambda time, k=k: look(k, time))
        if result is None:
            interrupted = True
            break
        runs.append(result)
    return {
        "motion": motion.name,
        "robot": motion.robot,
        "duration_s": motion.duration,
        "refused": motion.refused,
        "feasible": bool(runs) and all(row["feasible"] for row in runs) and not interrupted,
        "runs": runs,
        "least": least(runs),
        "interrupted": interrupted,
    }


def run(
    motion: CheckedMotion, how: MotionVariation, look: Callable[[float], bool]
) -> dict[str, Any] | None:
    """Run a motion to its end or to a fall; return None if it was interrupted."""
    sim, robot = motion.begin()
    vary(sim, how)
    watch, fault = MarginWatch(sim, robot, motion.jaws), ""
    walks = WalkWatch(sim), SteeredWatch(sim)
    steps, chunk = round(motion.duration / sim.dt), max(1, round(CHECK_PERIOD_S / sim.dt))
    try:
        for done in range(0, steps, chunk):
            # steps that do not converge are counted and reported
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
    margins = [asdict(margin) for margin in watch.margins()]
    missed = sim.missed_count
    fell = {} if watch.fell is None else {robot.name: watch.fell}
    unfinished = [
        walk.stopped
        for walk_watch in walks
        for walk in walk_watch.measured(fell).values()
        if walk.stopped
    ]
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
        "feasible": all(margin["within"] for margin in margins) and not (missed or fault),
    }


def least(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the smallest margin of each kind over all runs, with the run."""
    margins: dict[str, dict[str, Any]] = {}
    for row in runs:
        for margin in row["margins"]:
            best = margins.get(margin["name"])
            if best is None or _size(margin) < _size(best):
                margins[margin["name"]] = margin | {"run": row["run"]}
    return list(margins.values())


def _size(margin: dict[str, Any]) -> float:
    return np.inf if margin["margin"] is None else margin["margin"]
