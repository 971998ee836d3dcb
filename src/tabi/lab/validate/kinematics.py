"""``tabi validate kinematics``: does inverse kinematics find what forward kinematics made?

Joints anywhere within their limits, the base where the robot stands, put feet and hands somewhere:
so these poses can be reached. From the pose that the robot stands in, inverse kinematics has to
bring them there, to 1e-8 m and rad; targets of feet alone and of feet and hands take turns.

Robots are HRP-2 and, where the package example-robot-data is installed, four from its files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.model.compiled import Model
from tabi.model.robot import Robot
from tabi.robots.examples import example_folder
from tabi.robots.files import load, quietly
from tabi.robots.hrp2 import hrp2

Array = NDArray[np.float64]
# errors that count as none [m or rad]
TOLERANCE = 1e-8


@dataclass(frozen=True)
class ReachCase:
    """A robot, and sets of its bodies that get targets together."""

    name: str
    file: str
    sets: tuple[tuple[str, ...], ...]
    base: str | None = None


FEET = ("left", "right")
CASES = (
    ReachCase("hrp2", "", (FEET, (*FEET, "left_hand", "right_hand"))),
    ReachCase(
        "g1",
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        (FEET, (*FEET, "left_rubber_hand", "right_rubber_hand")),
    ),
    ReachCase(
        "talos",
        "talos_data/robots/talos_reduced.urdf",
        (FEET, (*FEET, "gripper_left_base_link", "gripper_right_base_link")),
    ),
    ReachCase(
        "icub", "icub_description/robots/icub_reduced.urdf", (FEET, (*FEET, "l_hand", "r_hand"))
    ),
    ReachCase("tiago", "tiago_description/robots/tiago.urdf", (("hand_tool_link",),), "fixed"),
)


def robots() -> Iterator[tuple[ReachCase, Robot]]:
    """All cases whose files are there, standing on the ground where they can."""
    folder = example_folder()
    for case in CASES:
        if not case.file:
            robot = hrp2()
        elif folder is not None and (folder / case.file).exists():
            with quietly():
                robot = load(folder / case.file, base=case.base)
        else:
            continue
        if robot.feet:
            robot.stand_on_ground()
        yield case, robot


def anywhere(model: Model, rng: np.random.Generator) -> Array:
    """The model's initial configuration with joints anywhere within their limits; those without
    limits within half a turn.
    """
    dof, q = model.arrays.dof, model.initial()
    for k in np.flatnonzero(dof["q"] >= 0):
        low, high = float(dof["lower"][k]), float(dof["upper"][k])
        q[dof["q"][k]] = rng.uniform(max(low, -np.pi), min(high, np.pi))
    for row in model.arrays.mimic:
        q[dof["q"][row["follower"]]] = row["ratio"] * q[dof["q"][row["leader"]]] + row["offset"]
    return q


def check(
    case: ReachCase,
    robot: Robot,
    targets: int,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """What became of so many targets, as plain data."""
    rng, start = np.random.default_rng(0), None
    solvers = []
    for bodies in case.sets:
        ik = InverseKinematics(robot, tolerance=TOLERANCE)
        solvers.append((ik, [ik.pose(body) for body in bodies]))
        start = ik.model.initial()
        # compiled, and the tables made
        ik.solve(start)
    microseconds, steps, starts, failures = [], [], [], []
    for n in range(targets):
        ik, tasks = solvers[n % len(solvers)]
        q = anywhere(ik.model, rng)
        for task in tasks:
            task.target = dynamics.pose(ik.model, q, task.name)
        begin = time.perf_counter()
        found = ik.solve(start)
        microseconds.append(1e6 * (time.perf_counter() - begin))
        steps.append(found.iterations)
        starts.append(found.starts)
        if not found.reached:
            failures.append({"target": n, "reason": found.reason})
        if n % 100 == 99:
            progress(case.name, n + 1, targets)
    return {
        "robot": case.name,
        "joints": len(robot.joint_names),
        "targets": targets,
        "solved": targets - len(failures),
        "median_us": float(np.median(microseconds)),
        "percentile_95_us": float(np.percentile(microseconds, 95)),
        "worst_us": float(np.max(microseconds)),
        "median_iterations": float(np.median(steps)),
        "first_start": float(np.mean(np.array(starts) == 1)),
        "most_starts": int(np.max(starts)),
        "failures": failures[:10],
    }


def validate(
    targets: int = 10_000,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """All robots; an interrupt keeps what is done."""
    rows: list[dict[str, Any]] = []
    interrupted = False
    try:
        for case, robot in robots():
            rows.append(check(case, robot, targets, progress))
    except KeyboardInterrupt:
        interrupted = True
    done = {row["robot"] for row in rows}
    return {
        "tolerance": TOLERANCE,
        "targets": targets,
        "robots": rows,
        "missing": [case.name for case in CASES if case.name not in done],
        "within": bool(rows) and all(row["solved"] == row["targets"] for row in rows),
        "interrupted": interrupted,
    }


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [
        f"poses of feet and hands to {result['tolerance']:g} m and rad",
        "robot   joints   solved          first start   steps   µs: median    95 %    worst",
    ]
    for row in result["robots"]:
        lines.append(
            f"{row['robot']:<8}{row['joints']:>5}   {row['solved']:>6} of {row['targets']:<6}"
            f"{row['first_start']:>9.1%}{row['median_iterations']:>9.0f}"
            f"{row['median_us']:>14.0f}{row['percentile_95_us']:>8.0f}{row['worst_us']:>9.0f}"
        )
        lines += [f"    target {f['target']}: {f['reason']}" for f in row["failures"]]
    if result["missing"]:
        lines.append(
            f"not tried: {', '.join(result['missing'])} (files of the package example-robot-data: "
            'pip install "tabi[robots]")'
        )
    return "\n".join(lines)
