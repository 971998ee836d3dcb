"""A robot that walks by itself, straight on or turning: ``robot.walk(…)`` and ``tabi walk``.

Before the walk begins, two of its steps are tried in a world of their own, and all of them where
its motors are too soft to hold it, or its legs cannot roll their soles: a robot that falls there is
rejected with the reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabi._errors import ModelError, expect, real, users_level
from tabi.analysis.walk_measures import walkers
from tabi.analysis.walk_trial import FRICTION, Walked, follow
from tabi.model import standing_gains
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.bipeds import add_sensors, apart, bend_knees, fitted_pattern
from tabi.robots.files import RobotFileWarning, quietly
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking import Biped, Stabiliser, Walker, WalkingPattern, gait_for, walk

# steps that are tried before the walk, and the most that may be asked for
TRIAL_STEPS, MOST_STEPS = 2, 1000
# after the last step [s]
REST = 1.0
# a walk that turns by less is straight [rad]
TURNING = 1e-3
# a motor at its limit for more than this share of the trial is reported as the reason of a fall
MAX_SATURATED_SHARE = 0.05
# damping over stiffness of gains that are advised, or set by a stiffness alone [s]
DAMPING_TIME = 0.05


@dataclass(frozen=True)
class Advice:
    """Words for the arguments of a walk in messages.

    Attributes:
        length: how to give the length of a step. gains: how to give a stiffness of all motors.
        stiffness: the same, with the stiffness ``{0:g}`` [N·m/rad] and damping ``{1:g}``
            [N·m·s/rad].
    """

    length: str
    gains: str
    stiffness: str


IN_PYTHON = Advice(
    "robot.walk(length=…)",
    "tabi.load(path, gains=(kp, kd))",
    "tabi.load(path, gains=({0:g}, {1:g}))",
)


def walk_alone(
    robot: Robot,
    steps: int = 10,
    length: float | None = None,
    turn: float = 0.0,
    run: bool = True,
) -> Simulator:
    """Let a robot walk on level ground, see ``Robot.walk``."""
    _check(steps, length, turn)

    def stage(count: int) -> Simulator:
        return _staged(robot, count, length, turn)

    tried_first(stage, steps, IN_PYTHON)
    sim = stage(steps)
    (walking,) = sim.world.robots
    if new_notes := [note for note in walking.notes if note not in robot.notes]:
        message = f"{walking.name} walks: {'; '.join(new_notes)}"
        warnings.warn(message, RobotFileWarning, stacklevel=users_level())
    if run:
        tried(sim, IN_PYTHON)
    return sim


def _check(steps: Any, length: Any, turn: Any) -> None:
    """Refuse what is no walk."""
    if (
        isinstance(steps, bool)
        or not isinstance(steps, int | np.integer)
        or not 1 <= steps <= MOST_STEPS
    ):
        raise ModelError(
            f"steps of a walk are {steps!r}; expected a whole number from 1 to {MOST_STEPS}"
        )
    if length is not None and not abs(real("length of a walk's steps", length)) < np.inf:
        raise ModelError(f"length of a walk's steps is {length}; expected metres, or None")
    if not abs(real("turn of a walk's steps", turn)) < np.inf:
        raise ModelError(f"turn of a walk's steps is {turn}; expected radians")


def _staged(robot: Robot, steps: int, length: float | None, turn: float) -> Simulator:
    """A simulator in which a copy of the robot is about to walk."""
    world = World()
    world.add_ground(friction=FRICTION)
    expect("the robot that walks", robot, Robot, "one of tabi.load or tabi.robots")
    robot = world.add_robot(robot)
    bend_knees(robot)
    with quietly():
        # a walk balances where gains alone do not
        robot.stand_on_ground()
    add_sensors(robot)
    biped = Biped(robot)
    stance = apart(biped)
    pattern = fitted_pattern(
        biped,
        gait_for(biped),
        lambda gait: walk(stance, steps, gait.length if length is None else length, turn=turn),
    )
    sim = Simulator(world)
    sim.set_controller(robot, Walker(pattern, Stabiliser()), rate=1.0 / pattern.gait.tick)
    return sim


def tried_first(
    stage: Callable[[int], Simulator], steps: int, advice: Advice
) -> tuple[Robot, WalkingPattern]:
    """Try the first steps of a walk, or all of them where the motors are too soft to stand, or
    where soles lean with their legs: sway may grow over many steps.

    Args:
        stage: makes a simulator in which a robot is about to make so many steps.

    Returns:
        the robot, and what it followed.

    Raises:
        ModelError: where it falls or stops, with the reason.
    """
    robot, pattern = tried(stage(min(steps, TRIAL_STEPS)), advice)
    leans = "roll" in pattern.biped.free.values()
    if steps > TRIAL_STEPS and (leans or standing_gains.fault(robot)):
        robot, pattern = tried(stage(steps), advice)
    return robot, pattern


def tried(sim: Simulator, advice: Advice) -> tuple[Robot, WalkingPattern]:
    """Let the one robot that walks in a simulation walk to its end; see ``tried_first``."""
    ((name, walker),) = walkers(sim).items()
    robot = next(candidate for candidate in sim.world.robots if candidate.name == name)
    saturated: dict[int, int] = {}

    def look(data: Data) -> None:
        for k in data.memory.joint["saturation"].nonzero()[0]:
            saturated[int(k)] = saturated.get(int(k), 0) + 1

    sim.every(1, look)
    walked = follow(sim, robot, walker.pattern)
    if not walked.walked:
        joints = {sim.model.v_index(joint): joint for joint in sim.model.joint_names}
        share = {joints[k]: n * sim.dt / sim.time for k, n in saturated.items()}
        raise ModelError(reason(robot, walked, share, advice))
    return robot, walker.pattern


def reason(robot: Robot, walked: Walked, saturated: Mapping[str, float], advice: Advice) -> str:
    """Return why a robot cannot walk, and what would help.

    Args:
        saturated: joint → share of the time that its motor was at its limit.
    """
    count = len(walked.pattern.steps)
    landed = f"{walked.steps} of {count} steps land where they should"
    what = f"it falls after {walked.fell:.2f} s" if walked.fell is not None else walked.stopped
    begin = f"{robot.name} does not walk: in a trial of {count} steps {what or landed}"
    if soft := standing_gains.fault(robot):
        enough = standing_gains.required_stiffness(robot)
        if enough is None:
            return f"{begin}; {soft}"
        gains = advice.stiffness.format(enough, DAMPING_TIME * enough)
        return f"{begin}; {soft}; {gains} holds it as it stands"
    less = f"give shorter steps ({advice.length})"
    less += ", smaller turns" if np.ptp(walked.pattern.schedule.yaw) > TURNING else ""
    hardest = max(saturated, key=lambda joint: saturated[joint], default="")
    if hardest and saturated[hardest] > MAX_SATURATED_SHARE:
        return (
            f"{begin}; the motor of joint {hardest!r} is at its limit for {saturated[hardest]:.0%} "
            f"of the time: {less}, or a larger effort limit"
        )
    return f"{begin}; {less} or stiffer motors ({advice.gains})"
