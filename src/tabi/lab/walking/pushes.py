"""``tabi validate pushes``: how hard may a robot be pushed that stands, that steps, that walks?

A push of T = 0.1 s at the centre of mass moves the capture point of a pendulum by F T/(m ω). Three
limits are sought, in eight directions, on rubber and with sensors that err (``rough_robots``):

**Standing, without a step**, against what a blow allows with the zero moment point at the edge of
the soles, at the distance d from where it is at rest:

    F = m ω d/T                                                                                 (1)
**Standing, with steps.** Over a zero moment point at that edge what is beyond grows by e^(ωt) until
a foot lands, after a swing t_s of 0.45 of a step's time; it may land by L further out, as far as
the leg reaches:

    F = m ω (d + L e^(−ω t_s))/T                                                                (2)
A yardstick that stays: a walker that swings quicker may come above it.
To the sides (2) is out of reach: the foot on that side bears the weight when the capture point
leaves the soles, and the other one would have to cross it. Such directions are marked.

**Walking** straight on: eight phases of a step, eight directions. The simulator is brought back to
each phase, with all that its controller remembers.

A robot has survived when its base never was at less than 60 % of its height in 4 s, and is upright
in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import SimulationError
from tabi.lab.study import Column, Criterion, Option, Validator, progress, table
from tabi.lab.walking.rough_robots import DELAY, HRP2_MASS, RobotName, rough_robot
from tabi.lab.walking.stabilisers import FRICTION, PUSH_TIME_S, distance_to_edge
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.walking import SteeredWalker
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.schedule import RIGHT
from tabi.walking.steered.walker import StepReach

Array = NDArray[np.float64]
# how long it stands before a push, walks before one, and is watched after it [s]
TIME_BEFORE_S, WALKING, TIME_AFTER_S = 3.0, 4.0, 4.0
# share of the base's height that it has to keep; and inclination in the end [rad]
MIN_HEIGHT_RATIO, MAX_INCLINATION = 0.6, 0.2
DIRECTIONS, PHASES = tuple(range(0, 360, 45)), 8
# rungs of (1) and (2), and up to how many times them; halvings between the last two rungs
RUNG_RATIO, MAX_RATIO, HALVINGS = 0.1, 2.0, 2
# the same of a walk, for HRP-2's mass [N], and pushes that are counted
WALK_RUNG_N, MAX_WALK_PUSH_N, FORCES = 50.0, 500.0, (100.0, 150.0, 200.0, 250.0)
# t_s of (2), of a step's time
SWING = 0.45
# what is asked for: of (1), of (2), and while it walks, for HRP-2's mass [N]
MIN_STANDING_RATIO, MIN_STEPPING_RATIO, MIN_WALKING_PUSH_N = 1.0, 0.7, 200.0


@dataclass(frozen=True, eq=False)
class Pushed:
    """A robot at one moment of a simulation, to be pushed from there again and again.

    Attributes:
        zmp: at rest [m], shape (2,); where it is at that moment, of one that walks.
    """

    sim: Simulator
    robot: Robot
    walker: SteeredWalker
    zmp: Array
    lowest: float
    moment: Any

    def survives(self, force: float, degrees: float) -> bool:
        """A push of a force [N] in a direction, from x to the left."""
        sim, base = self.sim, self.robot.base
        sim.restore(self.moment)
        X = sim.pose(base)
        point = X.R.T @ (sim.centre_of_mass(self.robot) - X.p)
        sim.apply_force(base, (*force * _along(degrees), 0.0), PUSH_TIME_S, point=point)
        for _ in range(round(TIME_AFTER_S / 0.1)):
            try:
                sim.run(0.1)
            except SimulationError:
                return False
            if not sim.position(base)[2] > self.lowest:
                return False
        up = float(sim.pose(base).R[2] @ X.R[2])
        return bool(up > np.cos(MAX_INCLINATION))

    def limit(self, degrees: float, rung: float, most: float, halvings: int) -> float:
        """The largest push below the first that is not survived [N]: up a ladder of rungs to
        ``most``, then by bisection.
        """
        low, high = 0.0, rung
        while high < most + 1e-9 and self.survives(high, degrees):
            low, high = high, high + rung
        if high > most + 1e-9:
            return low
        for _ in range(halvings):
            middle = 0.5 * (low + high)
            if self.survives(middle, degrees):
                low = middle
            else:
                high = middle
        return low


def _along(degrees: float) -> Array:
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def stand(robot: Robot, adapts: bool) -> Pushed:
    """Let a robot come to rest, with steps that answer to pushes or none."""
    sim, robot, walker = _stage(robot, adapts)
    lowest = MIN_HEIGHT_RATIO * float(sim.position(robot.base)[2])
    sim.run(TIME_BEFORE_S - 1.0)
    rows = []
    for _ in range(200):
        sim.run(0.005)
        zmp = sim.zmp(robot)
        assert zmp is not None
        rows.append(zmp[:2].copy())
    return Pushed(sim, robot, walker, np.mean(rows, axis=0), lowest, sim.save())


def walk_on(robot: Robot, phases: int = PHASES) -> list[Pushed]:
    """A robot that walks straight on, at so many moments of a step of its left foot, from where
    the other one stands alone.
    """
    sim, robot, walker = _stage(robot, adapts=True)
    lowest, gait = MIN_HEIGHT_RATIO * float(sim.position(robot.base)[2]), walker.gait
    sim.run(1.0)
    walker.steer(forward=gait.length / gait.step_time)
    sim.run(WALKING)
    while walker.support == RIGHT:
        sim.run(gait.tick)
    while walker.support != RIGHT:
        sim.run(gait.tick)
    result = []
    for k in range(phases):
        result.append(Pushed(sim, robot, walker, walker.zmp, lowest, sim.save()))
        ticks = round((k + 1) * gait.step_time / phases / gait.tick)
        ticks -= round(k * gait.step_time / phases / gait.tick)
        sim.run(ticks * gait.tick)
    return result


def _stage(robot: Robot, adapts: bool) -> tuple[Simulator, Robot, SteeredWalker]:
    world = World()
    world.add_ground(friction=FRICTION)
    robot = world.add_robot(robot)
    sim, walker = Simulator(world), SteeredWalker(robot, adapts=adapts)
    sim.set_controller(robot, walker, rate=1.0 / walker.gait.tick)
    return sim, robot, walker


# ---- closed forms -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bounds:
    """Bounds (1) and (2) of a robot that stands, in one direction.

    Attributes:
        edge: d of (1) [m]. reach: L of (2) [m]. crosses: whether the foot that is free would have
            to cross the other one.
        without, with_step: (1) and (2) [N].
    """

    edge: float
    reach: float
    crosses: bool
    without: float
    with_step: float


def bounds(pushed: Pushed, degrees: float) -> Bounds:
    """Equations (1) and (2) for a robot that stands on two feet."""
    biped, s = pushed.walker.biped, pushed.walker.reach
    u, omega = _along(degrees), s.omega
    corners = {side: np.pad(biped.outline[side], ((0, 0), (0, 1))) for side in SIDES}
    soles = np.vstack([(biped.stance[side] @ corners[side])[:, :2] for side in SIDES])
    d = distance_to_edge(soles, pushed.zmp, u)
    width = float(np.hypot(*(biped.stance["left"].p - biped.stance["right"].p)[:2]))
    reach = {side: _reach(s, width, u, 1.0 if side == "left" else -1.0) for side in SIDES}
    # the foot that bears less when the capture point leaves the soles
    free = [side for side in SIDES if not u[1] * (1.0 if side == "left" else -1.0) > 1e-9]
    blow = biped.mass * omega / PUSH_TIME_S
    L, gait = max(reach.values()), pushed.walker.gait
    swing = min(SWING * gait.step_time, gait.swing_time)
    return Bounds(
        edge=d,
        reach=L,
        crosses=max(reach[side] for side in free) < L,
        without=blow * d,
        with_step=blow * (d + L * exp(-omega * swing)),
    )


def _reach(s: StepReach, width: float, u: Array, side: float) -> float:
    """Return how far from its place beside the other foot a foot may land along u [m].

    Args:
        s: settings of a steered walk. width: between the feet [m]. side: 1 for the left foot.
    """
    # within the box
    x, y = float(u[0]), side * float(u[1])
    far = np.inf
    if abs(x) > 1e-9:
        far = (s.forward if x > 0 else s.back) / abs(x)
    if abs(y) > 1e-9:
        room = s.far - width if y > 0 else width - s.near
        far = min(far, room / abs(y))
    # within the circle: |(0, width) + λ u| = reach
    along = width * y
    circle = -along + np.sqrt(along**2 + s.farthest**2 - width**2)
    return float(max(0.0, min(far, circle)))


# ---- all of it ----------------------------------------------------------------------------------


class Pushes(Validator, name="pushes"):
    """Push a robot that stands, with steps and without, and one that walks:
    how hard, against what a pendulum allows?
    """

    robot: RobotName = "hrp2"
    quick: Annotated[
        bool, Option("--quick", help="Four directions and two phases, limits roughly.")
    ] = False

    unit = "pushes"
    # directions that cross the legs do not count
    criteria = (
        Criterion.of(
            lambda r: min(row["share"] for row in r["standing"]),
            "standing it survives what a pendulum does",
            at_least=MIN_STANDING_RATIO - 1e-6,
        ),
        Criterion.of(
            lambda r: min(
                (row["share"] for row in r["stepping"] if not row["crosses"]), default=np.inf
            ),
            "with steps it survives what a pendulum does, but for a part",
            at_least=MIN_STEPPING_RATIO - 1e-6,
        ),
        Criterion.of(
            lambda r: min(row["limit_N"] for row in r["walking"]) * HRP2_MASS / r["mass_kg"],
            "walking it survives a push, for HRP-2's mass [N]",
            at_least=MIN_WALKING_PUSH_N - 1e-6,
        ),
    )

    @cached_property
    def made(self) -> Robot:
        """The robot of the study."""
        return rough_robot(self.robot)

    def cases(self) -> Iterator[tuple[Pushed, int, float | None]]:
        """A robot to push, a direction, and the phase of a step where it walks."""
        directions, phases = (DIRECTIONS[::2], 2) if self.quick else (DIRECTIONS, PHASES)
        for key, adapts in (("standing", False), ("stepping", True)):
            pushed = stand(self.made, adapts)
            for k, degrees in enumerate(directions):
                yield pushed, degrees, None
                progress(key, k + 1, len(directions))
        for phase, pushed in enumerate(walk_on(self.made, phases)):
            for k, degrees in enumerate(directions):
                yield pushed, degrees, phase / phases
                progress("walking", phase * len(directions) + k + 1, phases * len(directions))

    def measure(self, case: tuple[Pushed, int, float | None]) -> tuple[str, dict[str, Any]]:
        """A limit, and where it belongs."""
        pushed, degrees, phase = case
        halvings = 0 if self.quick else HALVINGS
        if phase is None:
            key = "stepping" if pushed.walker.adapts else "standing"
            return key, _standing_limit(pushed, degrees, halvings)
        heavy = self.made.mass / HRP2_MASS
        limit = pushed.limit(degrees, heavy * WALK_RUNG_N, heavy * MAX_WALK_PUSH_N, halvings)
        return "walking", {"phase": phase, "direction_deg": degrees, "limit_N": limit}

    def figures(self, rows: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        """Return the figures of all rows."""
        robot = self.made
        assert robot.bush is not None
        kinds = ("standing", "stepping", "walking")
        return {
            "robot": robot.name,
            "mass_kg": robot.mass,
            "rubber_nm_rad": robot.bush.rubber.stiffness,
            "delay_s": DELAY,
            "push_s": PUSH_TIME_S,
            **{kind: [row for key, row in rows if key == kind] for kind in kinds},
            "forces_N": [robot.mass / HRP2_MASS * force for force in FORCES],
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Limits by directions, and how many pushes it survives as it walks."""
        yield (
            f"{result['robot']}, {result['mass_kg']:.1f} kg, on rubber of "
            f"{result['rubber_nm_rad']:.0f} N·m/rad; pushes of {result['push_s']:g} s [N]"
        )
        titles = {"standing": "without a step, of m ω d/T", "stepping": "with steps, of (2)"}
        for key, title in titles.items():
            yield f"standing {title}:"
            yield from table(COLUMNS, result[key])
        rows = result["walking"]
        if rows:
            yield "walking, survived of all phases and directions:"
            for force in result["forces_N"]:
                count = sum(row["limit_N"] > force - 1e-6 for row in rows)
                yield f"  {force:4.0f} N  {count} of {len(rows)}"
            least = min(rows, key=lambda row: row["limit_N"])
            yield (
                f"  the worst: {least['limit_N']:.0f} N towards {least['direction_deg']}° "
                f"at {least['phase']:.0%} of a step"
            )
        yield "all of them within" if result["within"] else "NOT WITHIN what is asked for"


COLUMNS = (
    Column("", lambda row: f"{row['direction_deg']:3d}°"),
    Column("", lambda row: f"{row['limit_N']:4.0f} of {row['bound_N']:4.0f}"),
    Column("", "share", ".0%"),
    Column("", lambda row: "legs would cross" if row["crosses"] else ""),
)


def _standing_limit(pushed: Pushed, degrees: float, halvings: int) -> dict[str, Any]:
    result, adapts = bounds(pushed, degrees), pushed.walker.adapts
    bound = result.with_step if adapts else result.without
    limit = pushed.limit(degrees, RUNG_RATIO * bound, MAX_RATIO * bound, halvings)
    return {
        "direction_deg": degrees,
        "edge_m": result.edge,
        "reach_m": result.reach if adapts else 0.0,
        "crosses": result.crosses and adapts,
        "bound_N": bound,
        "limit_N": limit,
        "share": limit / bound,
    }
