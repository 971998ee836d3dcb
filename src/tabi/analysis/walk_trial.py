"""One walk in the simulator, and what is measured of it.

A robot is put on level ground, a walking pattern is made for it, and a ``Walker`` follows it, with
a stabiliser or without. Measured are how its feet land and slip (``walk_measures``), and of each
foot, after every step of the simulation, the vertical force of the ground and the torque about the
roll axis of its force sensor. A robot has fallen when its base is lower than a limit; the walk ends
there.

The shake of a walk is the root mean square, over all single supports, of the force on the foot that
stands about its low-pass of 5 Hz, run forwards and backwards.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import SimulationError
from tabi.analysis.walk_measures import WalkWatch
from tabi.control.filters import zero_phase
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking import (
    Biped,
    Footstep,
    Gait,
    Stabiliser,
    Walker,
    WalkingPattern,
    gait_for,
    walk,
    walking_pattern,
)
from tabi.walking.plan.footsteps import SIDES

Array = NDArray[np.float64]
# of the ground; cut-off [Hz] and order of the low-pass a force shakes about
FRICTION, CUTOFF, ORDER = 0.8, 5.0, 2
# how long a robot has to stand after the end of its pattern
STANDING_TIME_S = 1.0


@dataclass(frozen=True, eq=False)
class Walked:
    """A walk that was tried.

    Attributes:
        pattern: that was to be followed.
        fell: when the base was too low, or the simulation stopped [s]; None where neither was.
        fault: why the simulation stopped.
        steps: how many landed while the robot was up.
        landing, slip: of feet, the largest [m]; 0 where no step was complete. end: of the place
            between the feet from the plan of the whole way, along the ground [m].
        height: of the base, least of all [m]. tilt: of the base, largest [rad].
        stopped: why the walk ended without all of its steps, "" where it did not.
        missed: steps of the simulation that missed their tolerance.
        speed: how many times faster than time the simulation was.
        times: of every step of the simulation [s], shape (n,).
        force, roll: on the left and the right foot: vertical force of the ground [N], and torque
            about the x axis of its force sensor [N·m], shape (n, 2); none unless asked for.
        support: planned, as in ``Schedule``, shape (n,).
    """

    pattern: WalkingPattern
    fell: float | None
    fault: str
    steps: int
    stopped: str
    landing: float
    slip: float
    end: float
    height: float
    tilt: float
    missed: int
    speed: float
    times: Array
    force: Array
    roll: Array
    support: NDArray[np.int64]

    @property
    def walked(self) -> bool:
        """Whether all steps landed near their plan, and the robot stands."""
        return self.fell is None and not self.stopped and self.steps == len(self.pattern.steps)

    @property
    def shake(self) -> float:
        """See the head of this file [N]."""
        if len(self.times) < 2:
            return float("nan")
        rate = (len(self.times) - 1) / (self.times[-1] - self.times[0])
        rest = self.force - zero_phase(self.force, CUTOFF, rate, ORDER)
        alone = [rest[self.support == k + 1, k] for k in range(2)]
        return float(np.sqrt(np.mean(np.concatenate(alone) ** 2)))


def try_walk(
    robot: Robot,
    steps: int | Sequence[Footstep],
    stabiliser: Stabiliser | None = None,
    *,
    gait: Gait | None = None,
    exact: bool = False,
    lowest: float | None = None,
    curves: bool = False,
    contact: str = "coulomb",
) -> Walked:
    """Simulate a robot's walk, by default straight on.

    Args:
        robot: standing, as ``Biped`` wants it; the world gets a copy.
        steps: how many, of the gait's length, or where to. gait: default that of ``gait_for``.
        exact: joints follow their commands exactly, no servos.
        lowest: height of the base below which it has fallen [m]; default: half of the present one.
        curves: keep forces and torques of every step of the simulation.
    """
    sim, robot, pattern = _stage(robot, steps, gait, contact)
    how = pattern.gait
    if exact:
        sim.prescribe(robot)
    sim.set_controller(robot, Walker(pattern, stabiliser), rate=1.0 / how.tick)
    return follow(sim, robot, pattern, lowest, curves)


def follow(
    sim: Simulator,
    robot: Robot,
    pattern: WalkingPattern,
    lowest: float | None = None,
    curves: bool = False,
) -> Walked:
    """Let a simulation go on to the end of a robot's walk, and look at it.

    Args:
        sim: before the walk begins; a ``Walker`` drives the robot. robot, pattern: its own.
        lowest, curves: as of ``try_walk``.
    """
    how = pattern.gait
    lowest = 0.5 * float(sim.position(robot.base)[2]) if lowest is None else lowest
    rows: list[tuple[float, ...]] = []
    if curves:
        sim.every(1, _watch(robot, rows))
    feet = WalkWatch(sim)
    base, fell, fault, spent = _follow(sim, robot, pattern, lowest)
    landed = feet.measured({} if fell is None else {robot.name: fell})[robot.name]
    table = np.array(rows).reshape(-1, 5)
    ticks = np.minimum((table[:, 0] / how.tick - 1e-6).astype(int), pattern.count - 1)
    return Walked(
        pattern=pattern,
        fell=fell,
        fault=fault,
        steps=landed.landed,
        stopped=landed.stopped or "",
        landing=landed.landing_m,
        slip=landed.slip_m,
        end=float(np.hypot(*landed.end_m[:2])),
        height=float(base[:, 0].min()),
        tilt=float(base[:, 1].max()),
        missed=sim.missed_count,
        speed=sim.time / max(spent, 1e-9),
        times=table[:, 0],
        force=table[:, 1:3],
        roll=table[:, 3:],
        support=pattern.schedule.support[ticks],
    )


def _stage(
    robot: Robot, steps: int | Sequence[Footstep], gait: Gait | None, contact: str
) -> tuple[Simulator, Robot, WalkingPattern]:
    """A simulator with the robot on level ground, and its pattern."""
    world = World()
    world.add_ground(friction=FRICTION)
    robot = world.add_robot(robot)
    biped = Biped(robot)
    how = gait or gait_for(biped)
    plan = walk(biped.stance, steps, how.length) if isinstance(steps, int) else steps
    return Simulator(world, contact=contact), robot, walking_pattern(biped, plan, how)


def _watch(robot: Robot, rows: list[tuple[float, ...]]) -> Any:
    """Keeps time, forces and torques of both feet after every step."""
    sensors = [_force_sensor(robot, side) for side in SIDES]

    def look(data: Data) -> None:
        force = [data.foot_wrench(side).force[2] for side in SIDES]
        roll = [data.sensor(name, truth=True)[0][3] if name else 0.0 for name in sensors]
        rows.append((data.time, *force, *roll))

    return look


def _force_sensor(robot: Robot, side: str) -> str | None:
    """Return the name of a foot's force sensor, or None."""
    body = robot.feet[side].body
    names = (
        name
        for name, sensor in robot.sensors.items()
        if sensor.kind == "force" and sensor.body is body
    )
    return next(names, None)


def _follow(
    sim: Simulator, robot: Robot, pattern: WalkingPattern, lowest: float
) -> tuple[Array, float | None, str, float]:
    """Height and tilt of the base by tick, when it fell and why, and the time that it took [s]."""
    base, spent = [], 0.0
    fell, fault = None, ""
    R_start = sim.pose(robot.base).R
    for _ in range(pattern.count + round(STANDING_TIME_S / pattern.gait.tick)):
        begin = time.perf_counter()
        try:
            sim.run(pattern.gait.tick)
        except SimulationError as problem:
            fell, fault = sim.time, str(problem)
        spent += time.perf_counter() - begin
        X = sim.pose(robot.base)
        up = float(X.R[2] @ R_start[2])
        base.append((float(X.p[2]), float(np.arccos(np.clip(up, -1.0, 1.0)))))
        if fell is None and not X.p[2] >= lowest:
            fell = sim.time
        if fell is not None:
            break
    return np.array(base), fell, fault, spent
