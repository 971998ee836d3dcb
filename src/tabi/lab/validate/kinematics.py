"""``tabi validate kinematics``: does inverse kinematics find what forward kinematics made?

Joints anywhere within their limits, the base where the robot stands, put feet and hands somewhere:
so these poses can be reached. From the pose that the robot stands in, inverse kinematics has to
bring them there, to 1e-8 m and rad; targets of feet alone and of feet and hands take turns.

Robots are HRP-2 and, where the package example-robot-data is installed, four from its files.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.control.inverse_kinematics import InverseKinematics
from tabi.lab.study import Column, Criterion, Option, Validator, progress, table
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
) -> dict[str, Any]:
    """Solve for random targets and return the measures as plain data."""
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
        result = ik.solve(start)
        microseconds.append(1e6 * (time.perf_counter() - begin))
        steps.append(result.iterations)
        starts.append(result.starts)
        if not result.reached:
            failures.append({"target": n, "reason": result.reason})
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


class Kinematics(Validator, name="kinematics"):
    """Make poses by forward kinematics: does inverse kinematics reach each to 1e-8 m and rad?"""

    targets: Annotated[
        int, Option(min=1, help="Poses of feet and hands that each robot has to reach.")
    ] = 10_000

    unit = "robots"
    criteria = (
        Criterion.of(
            lambda result: sum(row["targets"] - row["solved"] for row in result["robots"]),
            "every pose is reached",
            at_most=0,
        ),
        Criterion("robots", "there are robots", at_least=1),
    )

    def cases(self) -> Iterator[tuple[ReachCase, Robot]]:
        """All robots whose files are there."""
        return robots()

    def measure(self, case: tuple[ReachCase, Robot]) -> dict[str, Any]:
        """One robot, all its targets."""
        return check(*case, self.targets)

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """All robots, and those that were not tried."""
        done = {row["robot"] for row in rows}
        return {
            "tolerance": TOLERANCE,
            "targets": self.targets,
            "robots": list(rows),
            "missing": [case.name for case in CASES if case.name not in done],
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield f"poses of feet and hands to {result['tolerance']:g} m and rad"
        failures = "target {target}: {reason}".format_map
        yield from table(COLUMNS, result["robots"], "", lambda r: map(failures, r["failures"]))
        if result["missing"]:
            yield (
                f"not tried: {', '.join(result['missing'])} (files of the package "
                'example-robot-data: pip install "tabi[robots]")'
            )


COLUMNS = (
    Column("robot", "robot"),
    Column("joints", "joints", "d"),
    Column("solved", lambda row: f"{row['solved']} of {row['targets']}"),
    Column("first start", "first_start", ".1%"),
    Column("steps", "median_iterations", ".0f"),
    Column("µs: median", "median_us", ".0f"),
    Column("95 %", "percentile_95_us", ".0f"),
    Column("worst", "worst_us", ".0f"),
)
