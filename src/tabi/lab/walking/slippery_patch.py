"""``tabi validate slippery``: a patch of ice in the way; which gait crosses it?

HRP-2 on rubber, with sensors that err (``rough_robots``), is steered straight on over patches of
0.4 m and 1.2 m, with its own gait, with steps of 1.5 times its length, and with the gait of
``gait_for_friction``, for less and less friction. It has crossed when its base is beyond the patch,
still at 60 % of its height, and it stands three seconds later. Slip is how far a foot that stands
alone goes while it does, the largest.
What a gait needs, |c − p|/z_c, is in ``walking.friction_gait``; one that needs more than there is
has to slip, and may fall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from tabi._errors import ModelError, SimulationError
from tabi.lab.study import Criterion, Validator
from tabi.lab.walking.rough_robots import DELAY, RobotName, rough_robot
from tabi.lab.walking.stabilisers import FRICTION
from tabi.model.robot import Robot
from tabi.model.shape import Box
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.walking import Biped, Gait, SteeredWalker, gait_for
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.friction_gait import friction_demand, gait_for_friction

# where a patch begins, how long patches are, their width and thickness [m]
PATCH_START_M, PATCHES, PATCH_WIDTH_M, PATCH_THICKNESS_M = 0.4, (0.4, 1.2), 2.0, 1e-3
# steps of a long stride, times the robot's own
STRIDE = 1.5
# how far beyond it the base has to be [m], and how long it stands before and after [s]
DISTANCE_BEYOND_M, TIME_BEFORE_S, TIME_AFTER_S = 0.2, 1.0, 3.0
GAITS = ("own", "stride", "slowed")
# of the base's height
MIN_HEIGHT_RATIO = 0.6
FRICTIONS = (0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
# ticks after a foot has lifted in which the other one takes the weight
TAKES_OVER = 2
# a gait that has slipped by less has not slipped [m]
STICKS = 5e-3


def cross(robot: Robot, friction: float, gait: Gait, patch: float = PATCHES[0]) -> dict[str, Any]:
    """One crossing of a patch of a length [m], as plain data."""
    sim, robot, walker = _stage(robot, friction, gait, patch)
    lowest = MIN_HEIGHT_RATIO * float(sim.position(robot.base)[2])
    speed = gait.length / gait.step_time
    beyond = PATCH_START_M + patch + DISTANCE_BEYOND_M
    longest = TIME_BEFORE_S + 3.0 * beyond / speed
    slips, fell = _Slips(sim, robot, walker), None
    sim.run(TIME_BEFORE_S)
    walker.steer(forward=speed)
    ends = np.inf
    while sim.time < min(longest, ends) and fell is None:
        try:
            sim.run(gait.tick)
        except SimulationError:
            fell = sim.time
        slips.look()
        place = sim.position(robot.base)
        if not place[2] > lowest:
            fell = sim.time
        if ends == np.inf and place[0] > beyond:
            walker.stop()
            ends = sim.time + TIME_AFTER_S + 2.0 * gait.step_time
    return {
        "friction": friction,
        "demand": friction_demand(walker.biped, gait),
        "length_m": gait.length,
        "step_time_s": gait.step_time,
        "double_support_s": gait.double_support,
        "crossed": fell is None and bool(ends < np.inf),
        "fell_s": fell,
        "slip_m": slips.largest,
        "steps": walker.landed,
    }


def _stage(
    robot: Robot, friction: float, gait: Gait, patch: float
) -> tuple[Simulator, Robot, SteeredWalker]:
    world = World()
    world.add_ground(friction=FRICTION)
    middle = (PATCH_START_M + 0.5 * patch, 0.0, 0.5 * PATCH_THICKNESS_M)
    world.add_fixed(
        Box((patch, PATCH_WIDTH_M, PATCH_THICKNESS_M)), middle, friction=friction, name="patch"
    )
    robot = world.add_robot(robot)
    walker = SteeredWalker(robot, gait)
    sim = Simulator(world)
    sim.set_controller(robot, walker, rate=1.0 / gait.tick)
    return sim, robot, walker


class _Slips:
    """Distances that feet slip while they stand alone."""

    def __init__(self, sim: Simulator, robot: Robot, walker: SteeredWalker) -> None:
        self.sim, self.walker, self.largest = sim, walker, 0.0
        self.feet = [robot.feet[side] for side in SIDES]
        self.support, self.ticks, self.start = 0, 0, np.zeros(2)

    def look(self) -> None:
        """Once in every tick."""
        support = self.walker.support
        self.ticks = self.ticks + 1 if support == self.support else 0
        self.support = support
        if support == 0 or self.ticks < TAKES_OVER:
            return
        place = self.sim.pose(self.feet[support - 1]).p[:2]
        if self.ticks == TAKES_OVER:
            self.start = place.copy()
        self.largest = max(self.largest, float(np.hypot(*(place - self.start))))


class SlipperyPatch(Validator, name="slippery"):
    """Walk over a slippery patch: does the gait that is slowed down for it cross without a slip,
    and what does the robot's own gait do?
    """

    robot: RobotName = "hrp2"
    frictions: Sequence[float] = FRICTIONS
    patches: Sequence[float] = PATCHES

    unit = "patches"
    criteria = (
        Criterion.of(
            lambda result: sum(not row["crossed"] for row in slowed(result)),
            "slowed down it crosses every patch",
            at_most=0,
        ),
        Criterion.of(
            lambda result: max((row["slip_m"] for row in slowed(result)), default=0.0),
            "slowed down it does not slip [m]",
            at_most=STICKS,
        ),
    )

    @cached_property
    def made(self) -> Robot:
        """The robot of the study."""
        return rough_robot(self.robot)

    def cases(self) -> list[tuple[Robot, float, float]]:
        """Return what is measured case by case."""
        return [
            (self.made, friction, patch) for patch in self.patches for friction in self.frictions
        ]

    def measure(self, case: tuple[Robot, float, float]) -> dict[str, Any]:
        """All gaits on one patch."""
        robot, friction, patch = case
        default = gait_for(Biped(robot))
        gaits = {"own": default, "stride": replace(default, length=STRIDE * default.length)}
        row: dict[str, Any] = {"friction": friction, "patch_m": patch}
        try:
            gaits["slowed"] = gait_for_friction(robot, friction)
        except ModelError as fault:
            row["refused"] = str(fault)
        return row | {name: cross(robot, friction, gait, patch) for name, gait in gaits.items()}

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of all rows."""
        return {"robot": self.made.name, "delay_s": DELAY, "rows": list(rows)}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """All gaits, patch by patch."""
        yield f"{result['robot']} over slippery patches: own gait, a long stride, slowed down"
        for row in result["rows"]:
            yield f"{row['patch_m']:g} m of friction {row['friction']:g}"
            yield from (f"  {name:<7} {_line(row[name])}" for name in GAITS if name in row)
            if "refused" in row:
                yield f"  slowed  {row['refused']}"
        fine = "slowed down it crosses all without a slip"
        yield fine if result["within"] else "NOT ALL CROSSED without a slip"


def slowed(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Crossings with the gait that is slowed down."""
    return [row["slowed"] for row in result["rows"] if "slowed" in row]


def _line(row: dict[str, Any]) -> str:
    end = "crossed" if row["crossed"] else "not crossed"
    if row["fell_s"] is not None:
        end = f"fell at {row['fell_s']:.1f} s"
    return (
        f"{row['length_m']:.3f} m in {row['step_time_s']:.2f} s, both feet "
        f"{row['double_support_s']:.2f} s, needs {row['demand']:.3f}: {end}, "
        f"slipped {1e3 * row['slip_m']:.0f} mm, {row['steps']} steps"
    )
