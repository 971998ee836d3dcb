"""``tabi validate walking``: the walks of Hirukawa (2003), four models of a robot and one pattern.

        feet     stabiliser  joints                     as published
    1   rigid    no          follow exactly             walks: the model lacks the rubber
    2   rubber   no          follow exactly             falls, as the robot does
    3   rubber   yes         follow exactly             walks, and its foot force shakes
    4   rubber   yes         servos, rotor inertias     walks, calmly, as the robot does

*Falls*: waist below 0.4 m. *Walks*: all steps, and it stands a second later. *Shakes*: the force on
the foot that stands, about its low-pass of 5 Hz, has at least three times the root mean square of
row 4. Ground: ``coulomb``, friction 0.8, no restitution; rubber is in the feet.

Rows 3 and 4 have the stabiliser's own gains, with which row 3 does not shake, and are made again
with a sharper ZMP damping control, ``SHARP``. Gains of the paper are not published, only that they
were those of the real robot; this one was picked, out of 20 to 400 1/s, as just beyond where exact
joints begin to ring, at half the rate of the controller. It shows that such gains exist.

Row 4 is also looked at: the vertical force has to be zero in the middle of a swing, half of the
weight in the mean of double supports and the weight in single ones (Figs. 6 and 7), and the torque
about the roll axis of the foot that stands is kept (Fig. 10): *inwards* where it turns the robot
towards its other foot, as the centre of pressure is outside of the sensor then.

How stiff rubber has to be to walk without a stabiliser is found in ``walk_boundary``.

Reference: Hirukawa et al. (2003), Experimental evaluation of the dynamic simulation of biped
walking of humanoid robots, sec. 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi.analysis.walk_trial import Walked, try_walk
from tabi.lab.study import Column, Criterion, Option, Validator, progress, table
from tabi.lab.walking import walk_boundary
from tabi.robots.hrp1s import hrp1s
from tabi.robots.hrp2 import hrp2
from tabi.walking import Stabiliser
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.schedule import BOTH

Array = NDArray[np.float64]
ROBOTS = {"hrp1s": hrp1s, "hrp2": hrp2}
STEPS = 20
# a robot whose waist is lower has fallen [m]; how often the shake of row 4 is a shake
MIN_WAIST_HEIGHT_M, MIN_SHAKE_RATIO = 0.4, 3.0
DEFAULT_STABILISER = Stabiliser()
# a of ZMP damping control [1/s]: both robots are calm with 255, and shake from 265 on
SHARP = Stabiliser(zmp_damping=270.0, foot_adjusting=10.0)
# of a swing, where a foot is surely in the air
IN_THE_AIR = (0.2, 0.8)
# allowed of row 4: force in the air, and off the half and the whole of the weight
AIR, HALF = 0.001, 0.1
# steps whose curves are kept, from the lift of one to the landing of another, and how often [Hz]
SHOWN, RATE = (2, 4), 500.0


@dataclass(frozen=True)
class WalkModel:
    """A model of the robot: feet, control and joints, and what was published of it."""

    name: str
    rubber: bool
    stabiliser: Stabiliser | None
    exact: bool
    published: str


ROWS = (
    WalkModel("1", False, None, True, "walks"),
    WalkModel("2", True, None, True, "falls"),
    WalkModel("3", True, DEFAULT_STABILISER, True, "shakes"),
    WalkModel("4", True, DEFAULT_STABILISER, False, "walks"),
    WalkModel("3 sharp", True, SHARP, True, "shakes"),
    WalkModel("4 sharp", True, SHARP, False, "walks"),
)


class HirukawaWalk(Validator, name="walking"):
    """Walk HRP-1S and HRP-2 as Hirukawa (2003) did, with and without rubber, stabiliser and servos:
    do they walk, fall and shake as published?
    """

    steps: Annotated[int, Option(min=8, help="Of each walk.")] = STEPS
    robots: Sequence[str] = tuple(ROBOTS)
    bisect: bool = True

    unit = "robots"
    criteria = (
        Criterion.of(
            lambda result: sum(not robot["within"] for robot in result["robots"].values()),
            "all rows but row 3 with gains of its own are as published",
            at_most=0,
        ),
    )

    def cases(self) -> Iterator[str]:
        """Robots by their names."""
        yield from self.robots

    def measure(self, case: str) -> tuple[str, dict[str, Any]]:
        """All rows of a robot, and the boundary in the stiffness of its rubber."""
        result = matrix(case, self.steps)
        if self.bisect:
            # HRP-1S is HRP-2 drawn larger: one boundary shows whether it is so here
            extra = ((), ()) if case == "hrp1s" else ()
            result["boundary"] = walk_boundary.boundaries(case, self.steps, *extra)
        return case, result

    def figures(self, rows: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        """Rows by robot and name, forces and torques of row 4, curves and boundaries."""
        return {"steps": self.steps, "robots": dict(rows)}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """A table for each robot."""
        yield f"{result['steps']} steps, one pattern"
        for name, robot in result["robots"].items():
            yield f"{name}, {robot['mass_kg']:.0f} kg"
            yield from table(COLUMNS, [{"row": key} | row for key, row in robot["rows"].items()])
            force, roll = robot["force"]["4"], robot["roll"]
            share, early = force["share"], 1e3 * force["early_s"]
            yield (
                f"  row 4: swing {share['swing']:.3f}, double support {share['double']:.2f}, "
                f"single {share['single']:.2f} of the weight; first contact {early:.0f} "
                f"ms early at most; roll torque {roll['mean_nm']:+.1f} N·m inwards in the mean, "
                f"{roll['least_nm']:.0f} to {roll['largest_nm']:.0f}"
            )
            if "boundary" in robot:
                yield from walk_boundary.lines(robot["boundary"])
        published = "as published, but for row 3 with gains of its own"
        yield published if result["within"] else "NOT as published"


# ---- the four rows ------------------------------------------------------------------------------


def matrix(name: str, steps: int) -> dict[str, Any]:
    """All rows of a robot, and whether they are as published."""
    walks: dict[str, Walked] = {}
    for k, row in enumerate(ROWS):
        walks[row.name] = try_walk(
            ROBOTS[name](bush=row.rubber),
            steps,
            row.stabiliser,
            exact=row.exact,
            lowest=MIN_WAIST_HEIGHT_M,
            curves=True,
        )
        progress(f"{name} rows", k + 1, len(ROWS))
    rows = {row.name: _row(row, walks) for row in ROWS}
    plans = [walk.pattern.position for walk in walks.values()]
    forces = {key: force_figures(walks[key]) for key in ("4", "4 sharp")}
    expected = all(r["as_published"] for key, r in rows.items() if key != "3")
    return {
        "mass_kg": walks["4"].pattern.robot.mass,
        "rows": rows,
        # one pattern for all
        "patterns_differ_rad": max(float(np.abs(plan - plans[0]).max()) for plan in plans),
        "force": forces,
        "roll": roll_figures(walks["4"]),
        "curves": {key: curves(walks[key]) for key in ("3 sharp", "4")},
        "within": bool(expected and forces["4"]["within"]),
    }


def _row(row: WalkModel, walks: dict[str, Walked]) -> dict[str, Any]:
    result = walks[row.name]
    calm = walks[row.name.replace("3", "4")].shake
    ratio = result.shake / calm if row.rubber and row.stabiliser else None
    shakes = ratio is not None and ratio >= MIN_SHAKE_RATIO
    came = {
        "walks": result.walked and not shakes,
        "falls": result.fell is not None,
        "shakes": shakes,
    }
    return {
        "walks": result.walked,
        "steps": result.steps,
        "fell_s": result.fell,
        "landing_m": result.landing,
        "slip_m": result.slip,
        "tilt_rad": result.tilt,
        "largest_force_n": float(result.force.max()),
        "shake_n": result.shake,
        "shake_ratio": ratio,
        "published": row.published,
        "as_published": bool(came[row.published]),
        "missed": result.missed,
    }


def force_figures(walk: Walked) -> dict[str, Any]:
    """Vertical forces in swing, in double and in single support, parts of the weight."""
    robot, plan, tick = walk.pattern.robot, walk.pattern.schedule, walk.pattern.gait.tick
    weight = robot.mass * float(np.linalg.norm(walk.pattern.biped.model.arrays.gravity))
    air, early = [0.0], [0.0]
    ends = zip(walk.pattern.steps, plan.lift, plan.land, strict=True)
    for step, lift, land in ends:
        force = walk.force[:, SIDES.index(step.foot)]
        begin, end = lift * tick, land * tick
        at = (walk.times - begin) / (end - begin)
        middle = (at > IN_THE_AIR[0]) & (at < IN_THE_AIR[1])
        if not middle.any():
            continue
        air.append(float(force[middle].max()))
        touches = walk.times[(at >= 0.5) & (force > 0.0)]
        early.append(float(end - touches[0]) if len(touches) else 0.0)
    # between the first lift and the last landing
    walking = (walk.times > plan.lift[0] * tick) & (walk.times < plan.land[-1] * tick)
    both = walking & (walk.support == BOTH)
    alone = [walk.force[walk.support == k + 1, k] for k in range(2)]
    share = {
        "swing": max(air) / weight,
        "double": float(walk.force[both].mean() / weight) if both.any() else 0.5,
        "single": float(np.concatenate(alone).mean() / weight),
    }
    within = share["swing"] < AIR and abs(share["double"] - 0.5) < HALF
    within = within and abs(share["single"] - 1.0) < HALF
    return {"weight_n": weight, "share": share, "early_s": max(early), "within": bool(within)}


def roll_figures(walk: Walked) -> dict[str, Any]:
    """Torque of the ground about the roll axis of the foot that stands [N·m], positive where it
    turns the robot inwards, towards its other foot.
    """
    # about x, ahead: positive lifts the left side
    inwards = walk.roll * (1.0, -1.0)
    alone = np.concatenate([inwards[walk.support == k + 1, k] for k in range(2)])
    return {
        "mean_nm": float(alone.mean()),
        "least_nm": float(np.percentile(alone, 1)),
        "largest_nm": float(np.percentile(alone, 99)),
        "part_inwards": float((alone > 0).mean()),
    }


def curves(walk: Walked) -> dict[str, list[float]]:
    """Return a few steps, ``RATE`` samples a second: forces [N] and torques [N·m] of both feet."""
    plan, tick = walk.pattern.schedule, walk.pattern.gait.tick
    first, last = (min(k, len(plan.land) - 1) for k in SHOWN)
    within = (walk.times >= plan.lift[first] * tick) & (walk.times <= plan.land[last] * tick)
    rows = np.flatnonzero(within)
    if len(rows) > 1:
        step = walk.times[1] - walk.times[0]
        rows = rows[:: max(1, round(1.0 / (RATE * step)))]
    samples: dict[str, list[float]] = {"time_s": walk.times[rows].round(4).tolist()}
    for k, side in enumerate(SIDES):
        samples[f"{side}_force_n"] = walk.force[rows, k].round(1).tolist()
        samples[f"{side}_roll_nm"] = walk.roll[rows, k].round(2).tolist()
    return samples


def _outcome(row: dict[str, Any]) -> str:
    return "walks" if row["walks"] else f"{row['fell_s']:.1f} s" if row["fell_s"] else "stops"


COLUMNS = (
    Column("row", "row"),
    Column("published", "published"),
    Column("found", _outcome),
    Column("steps", "steps", "d"),
    Column("landing mm", "landing_m", ".2f", 1e3),
    Column("slip mm", "slip_m", ".2f", 1e3),
    Column("tilt °", "tilt_rad", ".2f", 180.0 / np.pi),
    Column("shake N", "shake_n", ".1f"),
    Column("× of row 4", "shake_ratio", ".1f"),
    Column("", lambda row: "" if row["as_published"] else "NOT as published"),
)
