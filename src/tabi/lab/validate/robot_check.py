"""``tabi validate robots``: does any robot from a file stand, by one line?

Each is read as ``tabi.load`` reads it and put on the ground, holds its pose and is pushed forwards
by 30 N for 0.2 s. After that it should stand, its contacts should bear its weight in the mean of
the last second, and no step should have missed its tolerance. A robot without soles need not stand,
and one that its file does not describe is refused with a reason: both are named.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import TabiError
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.files import load, quietly
from tabi.simulation.simulator import Simulator

# push [N] and how long [s]; friction of the ground
PUSH, PUSHED, FRICTION = 30.0, 0.2, 0.8
# share of the weight that may be missing
WEIGHT = 1e-5
STANDS, FALLS, NO_SOLES, REFUSED = "stands", "falls", "no soles", "refused"


def check(file: Path, seconds: float = 10.0) -> dict[str, Any]:
    """What became of the robot in a file, as plain data."""
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
    sim.apply_force(robot.base.name, push, PUSHED, at=min(1.0, 0.1 * seconds))
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
    """Across the line between the feet, as a unit vector; x of what has no two feet."""
    if not {"left", "right"} <= set(robot.feet):
        return np.array([1.0, 0.0, 0.0])
    X = robot.placements()
    left, right = (X[f.body] @ f.placement.p for f in (robot.feet["left"], robot.feet["right"]))
    across = np.cross(left - right, (0.0, 0.0, 1.0))
    return across / np.linalg.norm(across)


def validate(
    files: list[Path],
    seconds: float = 10.0,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """All of them; an interrupt keeps what is done."""
    rows: list[dict[str, Any]] = []
    interrupted = False
    progress("robots", 0, len(files))
    try:
        for file in files:
            rows.append(check(file, seconds))
            progress("robots", len(rows), len(files))
    except KeyboardInterrupt:
        interrupted = True
    good = [row for row in rows if row["outcome"] == STANDS]
    within = all(abs(row["weight_error"]) < WEIGHT and row["missed"] == 0 for row in good)
    falls = sum(row["outcome"] == FALLS for row in rows)
    return {
        "seconds": seconds,
        "robots": rows,
        "stand": len(good),
        "within": within and falls == 0,
        "interrupted": interrupted,
    }


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [
        "robot                           outcome   joints   mass kg   weight   missed  µs/step"
    ]
    for row in result["robots"]:
        start = f"{row['file'][:30]:<30}  {row['outcome']:<9}"
        if "joints" in row:
            start += (
                f"{row['joints']:>6}  {row['mass_kg']:>8.2f}  {row['weight_error']:>+8.0e}"
                f"  {row['missed']:>6}  {row['microseconds']:>7.0f}"
            )
        lines.append(start)
        if row["outcome"] != STANDS and row["reason"]:
            lines.append(f"    {row['reason']}")
    count = len(result["robots"])
    lines += ["", f"{result['stand']} of {count} stand, {result['seconds']:g} s and a push each"]
    if result["interrupted"]:
        lines.append("interrupted: these are the robots done before")
    return "\n".join(lines)
