"""``tabi validate stabilisers``: two stabilisers, one after the other, on the same robot.

HRP-2 on rubber, with all errors of its sensors and with IMU and force sensors that are 10 ms
late, does two things.

**It stands and is pushed** for T = 0.1 s at its centre of mass, in eight directions. Which force
does it just survive without a step? A pendulum of the mass m at rest that is struck by F T has to
get its zero moment point under ξ = F T/(m ω) before the edge of the feet, at the distance d from
where it is at rest:

    F = m ω d/T                                                                                 (1)
is what a blow allows that is over before the feet answer, with zero moment points at the edge. One
that lasts T leaves time to answer: with feet that do so at once it is x/(1 − e⁻ˣ) times as much,
x = ω T, 1.19 for HRP-2; more than that is the work of a trunk that turns. It has survived when its
base never was at less than half of its height and is at rest 4 s later. A constant push of 20 N
shows what the integral is for.

**It walks**: straight on, on the spot in a turn and sideways, on rubber of 500 and 5000 N·m/rad,
with exact sensors and with those; the latter three times, each with other noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from tabi._errors import SimulationError
from tabi.analysis.walk_measures import WalkWatch
from tabi.lab.study import Argument, Column, Criterion, Option, Validator, table
from tabi.lab.walking import walks as bipeds
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.hrp2 import hrp2
from tabi.simulation.simulator import Simulator
from tabi.walking import (
    Biped,
    DcmStabiliser,
    Footstep,
    Gait,
    Stabiliser,
    StabiliserGains,
    Walker,
    gait_for,
    walk,
    walking_pattern,
)
from tabi.walking.plan.footsteps import SIDES

Array = NDArray[np.float64]
KINDS: dict[str, StabiliserGains] = {"hirukawa": Stabiliser(), "dcm": DcmStabiliser()}
FRICTION, DELAY = 0.8, 0.01
# a push [s], how long it stands before [s] and after it [s], and at rest [m/s, rad/s]
PUSH_TIME_S, TIME_BEFORE_S, TIME_AFTER_S, MAX_REST_SPEED = 0.1, 3.0, 4.0, 0.05
DIRECTIONS = tuple(range(0, 360, 45))
# a limit is sought up to so many times (1), by so many halvings
MAX_RATIO, HALVINGS = 2.0, 7
# the constant push [N], and how long [s]
STEADY_PUSH_N, STEADY_TIME = 20.0, 12.0
STIFFNESSES = (500.0, 5000.0)
# walks with noise are walked so often
SEEDS = 3
# each step: ahead and to the left [m], turn [rad]
WAYS = {"straight": (0.2, 0.0, 0.0), "turn": (0.0, 0.0, 0.17), "side": (0.0, 0.05, 0.0)}
# bounds of landings, exact and rough [m, degrees]
BOUNDS = {"exact": (2e-3, 0.2), "rough": (5e-3, 1.5)}


def robot_on_rubber(stiffness: float = 500.0, rough: bool = True) -> Robot:
    """HRP-2; ``rough``: with errors and delays of its sensors."""
    robot = hrp2(sensor_noise=rough)
    robot.add_bush(stiffness, stiffness / 100.0)
    if rough:
        for name in ("imu", *(f"{side}_foot_force" for side in SIDES)):
            robot.set_sensor(name, delay=DELAY)
    return robot


# ---- standing -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Standing:
    """A robot that stands with a stabiliser, at one moment of a simulation.

    Attributes:
        zmp, zmp_rms: in the mean over the last second, and how far from it [m], shape (2,).
    """

    sim: Simulator
    robot: Robot
    walker: Walker
    zmp: Array
    zmp_rms: Array
    moment: Any

    @property
    def soles(self) -> Array:
        """Corners on the ground [m], shape (n, 2)."""
        biped = self.walker.pattern.biped
        corners = {side: np.pad(biped.outline[side], ((0, 0), (0, 1))) for side in SIDES}
        return np.vstack([(biped.stance[side] @ corners[side])[:, :2] for side in SIDES])

    def reference(self, direction: Array) -> float:
        """Return the reference push of equation (1) [N]."""
        pattern = self.walker.pattern
        d = distance_to_edge(self.soles, self.zmp, direction)
        return pattern.biped.mass * pattern.omega * d / PUSH_TIME_S

    def push(self, force: Array, duration: float) -> None:
        """At the centre of mass, from that moment on."""
        self.sim.restore(self.moment)
        X = self.sim.pose(self.robot.base)
        point = X.R.T @ (self.sim.centre_of_mass(self.robot) - X.p)
        self.sim.apply_force(self.robot.base, (*force, 0.0), duration, point=point)

    def survives(self, force: Array) -> bool:
        """A push of a force [N], shape (2,)."""
        self.push(force, PUSH_TIME_S)
        lowest = 0.5 * float(self.sim.position(self.robot.base)[2])
        for _ in range(round(TIME_AFTER_S / 0.05)):
            try:
                self.sim.run(0.05)
            except SimulationError:
                return False
            if not self.sim.position(self.robot.base)[2] > lowest:
                return False
        moves = self.sim.velocity(self.robot.base)
        fastest = np.abs(np.concatenate([moves.linear, moves.angular])).max()
        return bool(fastest < MAX_REST_SPEED)


def distance_to_edge(points: Array, start: Array, direction: Array) -> float:
    """From a point inside of the convex hull of others, along a unit vector [m]."""
    sides = ConvexHull(points).equations
    towards = sides[:, :2] @ direction
    gap = -(sides[:, :2] @ start + sides[:, 2])
    return float(np.min(gap[towards > 1e-9] / towards[towards > 1e-9]))


def stand(robot: Robot, stabiliser: StabiliserGains) -> Standing:
    """Let a robot come to rest."""
    world = World()
    world.add_ground(friction=FRICTION)
    robot = world.add_robot(robot)
    pattern = walking_pattern(robot, [])
    sim, walker = Simulator(world), Walker(pattern, stabiliser)
    sim.set_controller(robot, walker, rate=1.0 / pattern.gait.tick)
    sim.run(TIME_BEFORE_S - 1.0)
    rows = []
    for _ in range(200):
        sim.run(0.005)
        rows.append(np.asarray(sim.zmp(robot))[:2].copy())
    zmp = np.mean(rows, axis=0)
    rms = np.sqrt(np.mean((np.array(rows) - zmp) ** 2, axis=0))
    return Standing(sim, robot, walker, zmp, rms, sim.save())


def push_limit(standing: Standing, degrees: float, halvings: int = HALVINGS) -> dict[str, float]:
    """The largest push in a direction, from x to the left, by bisection."""
    angle = np.radians(degrees)
    direction = np.array([np.cos(angle), np.sin(angle)])
    reference = standing.reference(direction)
    low, high = 0.0, MAX_RATIO * reference
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        if standing.survives(middle * direction):
            low = middle
        else:
            high = middle
    return {
        "direction_deg": degrees,
        "reference_N": reference,
        "limit_N": low,
        "share": low / reference,
    }


def steady_push(standing: Standing) -> float:
    """Return how far the centre of mass has moved in the end, with STEADY_PUSH_N ahead [m]; in the
    mean over the last second.
    """
    sim, robot = standing.sim, standing.robot
    standing.push(np.array([STEADY_PUSH_N, 0.0]), STEADY_TIME)
    start, rows = float(sim.centre_of_mass(robot)[0]), []
    sim.run(STEADY_TIME - 1.0)
    for _ in range(19):
        sim.run(0.05)
        rows.append(float(sim.centre_of_mass(robot)[0]))
    return float(np.mean(rows)) - start


# ---- walking ------------------------------------------------------------------------------------


def try_path(
    robot: Robot,
    stabiliser: StabiliserGains,
    steps: Callable[[Biped], Sequence[Footstep]],
    gait: Gait | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Simulate a walk and return its measures as plain data; ``seed``: of the sensors' noise."""
    world = World()
    world.add_ground(friction=FRICTION)
    robot = world.add_robot(robot)
    biped = Biped(robot)
    pattern = walking_pattern(biped, steps(biped), gait or gait_for(biped))
    sim, walker = Simulator(world, seed=seed), Walker(pattern, stabiliser)
    sim.set_controller(robot, walker, rate=1.0 / pattern.gait.tick)
    feet, lowest = WalkWatch(sim), 0.5 * float(sim.position(robot.base)[2])
    off: list[Array] = []
    fell: float | None = None
    while fell is None and sim.time < pattern.duration + 1.0:
        try:
            sim.run(pattern.gait.tick)
        except SimulationError:
            fell = sim.time
        zmp = sim.zmp(robot)
        if zmp is not None:
            off.append(zmp[:2] - pattern.zmp[walker.tick])
        if not sim.position(robot.base)[2] > lowest:
            fell = sim.time
    result = feet.measured({} if fell is None else {robot.name: fell})[robot.name]
    return {
        "steps": result.landed,
        "planned": result.planned,
        "fell_s": fell,
        "landing_m": result.landing_m,
        "landing_deg": result.landing_deg,
        "slip_m": result.slip_m,
        "zmp_rms_m": [float(x) for x in np.sqrt(np.nanmean(np.square(off), axis=0))],
    }


def worst(walks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the worst of the same walk with other noise, and the zero moment point in the
    mean.
    """
    fell = [walk_row["fell_s"] for walk_row in walks if walk_row["fell_s"] is not None]
    row = {
        key: max(walk_row[key] for walk_row in walks)
        for key in ("landing_m", "landing_deg", "slip_m")
    }
    return row | {
        "steps": min(walk_row["steps"] for walk_row in walks),
        "planned": walks[0]["planned"],
        "fell_s": min(fell, default=None),
        "zmp_rms_m": [
            float(x) for x in np.mean([walk_row["zmp_rms_m"] for walk_row in walks], axis=0)
        ],
    }


def _walks(stabiliser: StabiliserGains, steps: int, files: Sequence[Path]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for stiffness in STIFFNESSES:
        for sensors in BOUNDS:
            for path, how in WAYS.items():
                robot = robot_on_rubber(stiffness, sensors == "rough")
                count = SEEDS if sensors == "rough" else 1
                trials = [
                    try_path(robot, stabiliser, lambda b, h=how: walk(b.stance, steps, *h), seed=k)
                    for k in range(count)
                ]
                name = f"hrp2, {stiffness:g} N·m/rad"
                rows.append({"robot": name, "sensors": sensors, "way": path} | worst(trials))
    for file in files:
        robot = bipeds.stage(file)
        gait, footsteps = bipeds.plan(robot, steps)
        trials = try_path(robot, stabiliser, lambda _, footsteps=footsteps: footsteps, gait)
        rows.append({"robot": file.name, "sensors": "exact", "way": "straight"} | trials)
    return rows


class Stabilisers(Validator, name="stabilisers"):
    """Push HRP-2 standing on rubber and let it walk, with each stabiliser, with noise and delay:
    which push does it survive, and how do its feet land?
    """

    files: Annotated[
        list[Path] | None,
        Argument(help="URDF, MJCF, .wrl or .body files of robots that walk beside hrp2."),
    ] = None
    steps: Annotated[int, Option(min=2, help="Of each walk.")] = 8
    directions: Sequence[int] = DIRECTIONS

    unit = "stabilisers"
    criteria = (
        Criterion.of(
            lambda r: min(push["share"] for kind in r["kinds"].values() for push in kind["pushes"]),
            "every limit of a push reaches (1)",
            at_least=1.0,
        ),
        Criterion.of(
            lambda r: sum(not lands(row) for kind in r["kinds"].values() for row in kind["walks"]),
            "all steps of every walk land within their bounds",
            at_most=0,
        ),
    )

    def cases(self) -> list[str]:
        """Stabilisers by their names."""
        return list(KINDS)

    def measure(self, case: str) -> dict[str, Any]:
        """Pushes and walks with a stabiliser; robots from files walk with exact sensors."""
        standing = stand(robot_on_rubber(), KINDS[case])
        return {
            "zmp_rms_m": [float(x) for x in standing.zmp_rms],
            "pushes": [push_limit(standing, degrees) for degrees in self.directions],
            "steady_m": steady_push(standing),
            "walks": _walks(KINDS[case], self.steps, self.files or ()),
        }

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Both by their names."""
        kinds = dict(zip(KINDS, rows, strict=False))
        return {"kinds": kinds, "delay_s": DELAY, "push_s": PUSH_TIME_S}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Pushes by directions, and a table of walks."""
        yield "largest push of 0.1 s [N], of m ω d/T, by direction:"
        for name, kind in result["kinds"].items():
            pushes = "  ".join(
                f"{p['direction_deg']:3.0f}° {p['limit_N']:.0f} ({100 * p['share']:.0f} %)"
                for p in kind["pushes"]
            )
            yield f"  {name:<9} {pushes}"
        for name, row in result["kinds"].items():
            x, y = (1e3 * value for value in row["zmp_rms_m"])
            yield (
                f"{name:<9} standing: ZMP RMS {x:.1f}, {y:.1f} mm; {STEADY_PUSH_N:g} N for ever: "
                f"{1e3 * row['steady_m']:.1f} mm"
            )
        yield "walks: steps, landing [mm, °], slip [mm], ZMP RMS [mm]"
        rows = [{"kind": k} | row for k, x in result["kinds"].items() for row in x["walks"]]
        yield from table(COLUMNS, rows)
        yield "all of them within" if result["within"] else "NOT WITHIN what is asked for"


COLUMNS = (
    Column("", "kind"),
    Column("", lambda row: row["robot"][:24]),
    Column("", "sensors"),
    Column("", "way"),
    Column("", lambda row: f"{row['steps']:2d}/{row['planned']:<2d}"),
    Column("", "landing_m", ".2f", 1e3),
    Column("", "landing_deg", ".3f"),
    Column("", "slip_m", ".3f", 1e3),
    Column("", lambda row: " ".join(f"{1e3 * x:4.1f}" for x in row["zmp_rms_m"])),
)


def lands(row: Mapping[str, Any]) -> bool:
    """Whether all steps of a walk land within their bounds."""
    most, max_angle = BOUNDS[row["sensors"]]
    made = row["fell_s"] is None and row["steps"] == row["planned"]
    return made and row["landing_m"] < most and row["landing_deg"] < max_angle
