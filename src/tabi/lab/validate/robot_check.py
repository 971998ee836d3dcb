"""``tabi validate robots``: does any robot from a file stand, by one line?

Each is read as ``tabi.load`` reads it and put on the ground, holds its pose and is pushed forwards
by 30 N for 0.2 s. After that it should stand, its contacts should bear its weight in the mean of
the last second, and no step should have missed its tolerance. A robot without soles need not stand,
and one that its file does not describe is refused with a reason: both are named.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import TabiError
from tabi.lab.study import Argument, Column, Criterion, Option, Validator, table
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.files import load, quietly
from tabi.simulation.simulator import Simulator

# push [N] and how long [s]; friction of the ground
PUSH, PUSH_TIME_S, FRICTION = 30.0, 0.2, 0.8
# share of the weight that may be missing
WEIGHT = 1e-5
STANDS, FALLS, NO_SOLES, REFUSED = "stands", "falls", "no soles", "refused"


def check(file: Path, seconds: float = 10.0) -> dict[str, Any]:
    """Return how the robot in a file stands, as plain data."""
    row: dict[str, Any] = {"file": file.name, "outcome": REFUSED, "reason": ""}
    world = World()
    world.add_ground(friction=FRICTION)
    try:
        with quietly():
            robot = world.add_robot(load(file, base="floating"))
        robot.stand_on_ground()
        sim = Simulator(world)
    except TabiError as fault:
        return row | {"reason": str(fault)}
    push = PUSH * forwards(robot)
    sim.apply_force(robot.base.name, push, PUSH_TIME_S, at=min(1.0, 0.1 * seconds))
    height = float(sim.position(robot.base)[2])
    steps = round(seconds / sim.dt)
    lasting = min(1000, steps)
    start, loads = time.thread_time(), []
    fault = ""
    try:
        sim.run((steps - lasting) * sim.dt)
        for _ in range(lasting):
            sim.step()
            loads.append(sim.data.contact["impulse"][:, 2].sum() / sim.dt)
    except TabiError as problem:
        fault = str(problem)
    weight = robot.mass * float(np.linalg.norm(world.gravity))
    # lower by a third of its height: it lies, or crouches
    fallen = bool(fault) or float(sim.position(robot.base)[2]) < 2 / 3 * height
    outcome = STANDS if not fallen else FALLS if robot.feet else NO_SOLES
    return row | {
        "outcome": outcome,
        "reason": fault or next((n for n in robot.notes if n.startswith("no feet")), ""),
        "mass_kg": round(robot.mass, 2),
        "joints": len(robot.joint_names),
        "weight_error": float(np.mean(loads)) / weight - 1.0 if loads else float("nan"),
        "missed": sim.missed_count,
        "microseconds": 1e6 * (time.thread_time() - start) / max(1, sim.data.steps),
        "contacts": len(sim.contacts),
    }


def forwards(robot: Robot) -> NDArray[np.float64]:
    """Return the forward direction, a unit vector across the line between the feet; x for a robot
    without two feet.
    """
    if not {"left", "right"} <= set(robot.feet):
        return np.array([1.0, 0.0, 0.0])
    X = robot.placements()
    left, right = (X[f.body] @ f.placement.p for f in (robot.feet["left"], robot.feet["right"]))
    across = np.cross(left - right, (0.0, 0.0, 1.0))
    return across / np.linalg.norm(across)


class RobotCheck(Validator, name="robots"):
    """Let robots from files stand and push them: does each, by one line, bear its weight?"""

    files: Annotated[
        list[Path], Argument(help="URDF, MJCF, .wrl or .body files, as many as you like.")
    ]
    seconds: Annotated[float, Option(min=0.1, help="How long each stands.")] = 10.0

    unit = "robots"
    criteria = (
        Criterion.of(
            lambda result: max((abs(row["weight_error"]) for row in standing(result)), default=0.0),
            "contacts of robots that stand bear their weight",
            at_most=WEIGHT,
        ),
        Criterion.of(
            lambda result: sum(row["missed"] for row in standing(result)),
            "no step of robots that stand misses its tolerance",
            at_most=0,
        ),
        Criterion("fall", "none falls", at_most=0),
    )

    def cases(self) -> list[Path]:
        """Return what is measured case by case."""
        return self.files

    def measure(self, case: Path) -> dict[str, Any]:
        """Measure one case and return its row."""
        return check(case, self.seconds)

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """All robots, and how many stand."""
        outcomes = Counter(row["outcome"] for row in rows)
        counts = {"stand": outcomes[STANDS], "fall": outcomes[FALLS]}
        return {"seconds": self.seconds, "robots": list(rows), **counts}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield from table(COLUMNS, result["robots"], "", _reason)
        yield ""
        count = len(result["robots"])
        yield f"{result['stand']} of {count} stand, {result['seconds']:g} s and a push each"


COLUMNS = (
    Column("robot", lambda row: row["file"][:30]),
    Column("outcome", "outcome"),
    Column("joints", "joints", "d"),
    Column("mass kg", "mass_kg", ".2f"),
    Column("weight", "weight_error", "+.0e"),
    Column("missed", "missed", "d"),
    Column("µs/step", "microseconds", ".0f"),
)


def standing(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of robots that stand."""
    return [row for row in result["robots"] if row["outcome"] == STANDS]


def _reason(row: dict[str, Any]) -> list[str]:
    return [f"  {row['reason']}"] if row["outcome"] != STANDS and row["reason"] else []
