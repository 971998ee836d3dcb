"""``tabi validate rough-walks``: a hundred walks on unknown ground with uncertain robot parameters.

Each walk has a seed, and from it draws, evenly,

    friction 0.3 to 1; a floor that is tilted by up to 2°, towards anywhere; 40 plates of up to
    5 mm, thrown on it; the mass of each link, times 0.95 to 1.05                                (1)
By default the robot is HRP-2, on rubber and with sensors that err and are 5 ms late
(``rough_robots``), with noise of the same seed. Its controller knows the nominal robot and a level
floor. It walks straight on, 10 steps, and is upright if its base never was at less than 60 % of its
height and it stands a second later; it has arrived if it also went most of the way, as one that
gives up a walk stays upright.

A tilted floor is a level one with tilted gravity: so it is here. The robot is set down along the
floor, and plates begin in front of its feet.

Four controllers walk the same hundred:

    steered    ``SteeredWalker``: its feet look for the ground, and its steps answer
    planned    ``Walker`` with the usual stabiliser: it keeps to its footsteps
    blind      ``Walker`` without a stabiliser
    rigid      the same, on feet without rubber
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from tabi._errors import SimulationError
from tabi.lab.study import Criterion, Option, Validator
from tabi.lab.walking.rough_robots import (
    DELAY,
    RobotName,
    add_errors,
    plain_robot,
    rough_robot,
)
from tabi.model.robot import Robot
from tabi.model.shape import Box
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.walking import Biped, Stabiliser, SteeredWalker, Walker, gait_for, walk, walking_pattern

KINDS = ("steered", "planned", "blind", "rigid")
WALKS, STEPS = 100, 10
# (1); the tilt in degrees, plates in metres
FRICTION, TILT, MASS = (0.3, 1.0), 2.0, 0.05
PLATES, PLATE, MAX_PLATE_HEIGHT_M = 40, (0.05, 0.25), 5e-3
# plates lie from here on, as far as so many steps go, and to both sides [m]
FIRST_PLATE_X_M, MAX_ASIDE_M = 0.25, 0.5
# share of the base's height that it has to keep; and inclination in the end [rad]
MIN_HEIGHT_RATIO, MAX_INCLINATION = 0.6, 0.2
# how long it stands before and after [s]
TIME_BEFORE_S, TIME_AFTER_S = 2.0, 1.0
# of the steps' length, that it has to go
MIN_DISTANCE_RATIO = 0.75
G = 9.81
# of all, that have to arrive with steered steps
MIN_ARRIVED_SHARE = 0.95


@dataclass(frozen=True)
class Conditions:
    """Conditions drawn from a seed.

    Attributes:
        friction: of the ground. tilt_deg: of the floor. towards_deg: where it goes down, from x to
            the left.
        mass: of the robot, all links together, over the nominal one.
    """

    seed: int
    friction: float
    tilt_deg: float
    towards_deg: float
    mass: float


def stage(
    robot: Robot, seed: int, distance: float, highest: float = MAX_PLATE_HEIGHT_M
) -> tuple[World, Robot, Conditions]:
    """A world with the robot that is simulated.

    Args:
        robot: nominal. way: that it will go [m]. highest: of plates [m].
    """
    draw = np.random.default_rng(seed)
    friction, tilt = draw.uniform(*FRICTION), np.radians(draw.uniform(0.0, TILT))
    towards = draw.uniform(0.0, 2.0 * np.pi)
    down = np.sin(tilt) * np.array([np.cos(towards), np.sin(towards)])
    world = World(gravity=(*(G * down), -G * np.cos(tilt)))
    world.add_ground(friction=friction)
    for _ in range(PLATES if highest > 0.0 else 0):
        x, y = (
            draw.uniform(FIRST_PLATE_X_M, FIRST_PLATE_X_M + distance),
            draw.uniform(-MAX_ASIDE_M, MAX_ASIDE_M),
        )
        size, height = draw.uniform(*PLATE, size=2), draw.uniform(0.2, 1.0) * highest
        half = 0.5 * draw.uniform(0.0, 2.0 * np.pi)
        rotation = (np.cos(half), 0.0, 0.0, np.sin(half))
        # no plate reaches under the feet that stand
        x = max(x, FIRST_PLATE_X_M + 0.5 * float(np.hypot(*size)))
        world.add_fixed(Box((*size, height)), (x, y, 0.5 * height), rotation, friction=friction)
    real = robot.copied()
    for body in real.bodies:
        body.inertia = body.inertia.scaled(float(draw.uniform(1.0 - MASS, 1.0 + MASS)))
    conditions = Conditions(
        seed,
        float(friction),
        float(np.degrees(tilt)),
        float(np.degrees(towards)),
        real.mass / robot.mass,
    )
    return world, world.add_robot(real), conditions


def try_walk(
    name: str, kind: str, seed: int, steps: int = STEPS, highest: float = MAX_PLATE_HEIGHT_M
) -> dict[str, Any]:
    """One walk, as plain data."""
    nominal = _nominal(name, kind)
    biped = Biped(nominal)
    gait = gait_for(biped)
    world, robot, conditions = stage(nominal, seed, (steps + 1) * gait.length, highest)
    sim = Simulator(world, seed=seed)
    drive: SteeredWalker | Walker
    if kind == "steered":
        drive = SteeredWalker(biped)
    else:
        pattern = walking_pattern(biped, walk(biped.stance, steps, gait.length), gait)
        drive = Walker(pattern, Stabiliser() if kind == "planned" else None)
    sim.set_controller(robot, drive, rate=1.0 / gait.tick)
    lowest, up = (
        MIN_HEIGHT_RATIO * float(sim.position(robot.base)[2]),
        sim.pose(robot.base).R[2].copy(),
    )
    fell: float | None = None
    try:
        for _ in _follow(sim, drive, steps):
            if not sim.position(robot.base)[2] > lowest:
                fell = sim.time
                break
    except SimulationError:
        fell = sim.time
    if fell is None and float(sim.pose(robot.base).R[2] @ up) < np.cos(MAX_INCLINATION):
        fell = sim.time
    at = sim.position(robot.base)
    arrived = fell is None and float(at[0]) > MIN_DISTANCE_RATIO * (steps - 1) * gait.length
    row: dict[str, Any] = {"kind": kind, "upright": fell is None, "arrived": arrived}
    row |= {"fell_s": fell, "far_m": float(at[0])}
    return asdict(conditions) | row


def _nominal(name: str, kind: str) -> Robot:
    """The robot that its controller knows."""
    if kind != "rigid":
        return rough_robot(name)
    robot = plain_robot(name)
    add_errors(robot)
    return robot


def _follow(sim: Simulator, drive: SteeredWalker | Walker, steps: int) -> Iterator[None]:
    """Tick by tick until a walk is over, and a second more."""
    if isinstance(drive, Walker):
        end = drive.pattern.duration + TIME_AFTER_S
        while sim.time < end:
            sim.run(0.05)
            yield
        return
    gait = drive.gait
    sim.run(TIME_BEFORE_S)
    before, latest = drive.landed, sim.time + (steps + 20) * gait.step_time
    over = False
    while sim.time < latest and not (over and drive.stands):
        # the last step brings the feet together
        over = drive.landed - before >= steps - 1
        if over:
            drive.stop()
        elif not any(drive.steering):
            # at first, and where it gave up a walk and stands again
            drive.steer(forward=gait.length / gait.step_time)
        sim.run(0.05)
        yield
    for _ in range(round(TIME_AFTER_S / 0.05)):
        sim.run(0.05)
        yield


# ---- all of them --------------------------------------------------------------------------------


class RoughWalks(Validator, name="rough-walks"):
    """Walk over tilted and bumpy floors with masses that are not known, noise and delay:
    how many of a hundred are upright, with a stabiliser and without?
    """

    robot: RobotName = "hrp2"
    walks: Annotated[int, Option(min=1, help="How many, each with its own seed.")] = WALKS
    steps: Annotated[int, Option(min=2, help="Of each walk.")] = STEPS
    jobs: Annotated[int, Option(min=1, help="Processes.")] = 1
    kinds: Sequence[str] = KINDS

    unit = "walks"
    criteria = (
        Criterion("steered_share", "enough arrive with steered steps", at_least=MIN_ARRIVED_SHARE),
    )

    def cases(self) -> list[tuple[str, int]]:
        """All seeds with all controllers."""
        return [(kind, seed) for seed in range(self.walks) for kind in self.kinds]

    def measure(self, case: tuple[str, int]) -> dict[str, Any]:
        """Measure one case and return its row."""
        return try_walk(self.robot, *case, self.steps)

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Counts by controllers, and all walks."""
        counts = {}
        for kind in self.kinds:
            walks = [row for row in rows if row["kind"] == kind]
            counts[kind] = {"walks": len(walks)} | {
                how: sum(row[how] for row in walks) for how in ("upright", "arrived")
            }
        steered = counts.get("steered", {"walks": 0, "arrived": 0})
        return {
            "robot": self.robot,
            "steps": self.steps,
            "delay_s": DELAY,
            "jobs": self.jobs,
            "counts": counts,
            "walks": sorted(rows, key=lambda row: (self.kinds.index(row["kind"]), row["seed"])),
            "steered_share": steered["arrived"] / steered["walks"] if steered["walks"] else 1.0,
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield f"{result['robot']}, {result['steps']} steps on rough ground: upright, and arrived"
        for kind, count in result["counts"].items():
            yield f"  {kind:<8} {count['upright']:3d}, {count['arrived']:3d} of {count['walks']}"
        for kind in ("steered", "planned"):
            fallen = [r for r in result["walks"] if r["kind"] == kind and not r["upright"]]
            if fallen:
                yield f"falls, {kind}:"
            for row in fallen:
                yield (
                    f"  seed {row['seed']:3d}: {row['fell_s']:5.2f} s, {row['far_m']:.2f} m; "
                    f"friction {row['friction']:.2f}, tilt {row['tilt_deg']:.1f}° towards "
                    f"{row['towards_deg']:.0f}°, mass × {row['mass']:.3f}"
                )
        yield "enough of them" if result["within"] else "NOT ENOUGH of them arrive"
