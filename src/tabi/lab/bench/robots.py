"""``tabi bench robots``: robots from files, standing and falling limp, against MuJoCo.

Each is read as ``tabi.load`` reads it, and all engines get the same bodies, shapes, pairs of links
that may touch, and step. Standing, tabi runs in a compiled loop and MuJoCo through ``rollout``, and
tabi again without the closed loops of a robot that has some. Limp, every motor is off: the robot
collapses and lies (``falling``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tabi._errors import TabiError
from tabi.lab.bench import falling
from tabi.lab.bench.step import SETTLE, Marching, Rolling
from tabi.lab.bench.timing import Blocks, medians, microseconds
from tabi.lab.study import DEFAULTS, Argument, Benchmark, BenchPart, Column, Option, head, table
from tabi.lab.validate.robot_check import FRICTION
from tabi.model.world import World
from tabi.robots.files import load, quietly
from tabi.simulation.simulator import Simulator


class RobotsBench(Benchmark, name="robots"):
    """Robots from files against MuJoCo, standing and falling limp."""

    files: Annotated[
        list[Path], Argument(help="URDF, MJCF, .wrl or .body files, as many as you like.")
    ]
    blocks: Blocks = 31
    seconds: Annotated[float, Option(min=0.01, help="How long each falls limp.")] = 3.0

    unit, packages = "robots", ("numpy", "numba", "mujoco")
    constants = DEFAULTS | {
        "statistic": "standing: median of interleaved blocks, ratio of blockwise ratios; "
        "limp: mean and longest CPU time of a step",
    }

    def parts(self) -> Iterator[BenchPart]:
        """One robot after the other."""
        for file in self.files:
            yield BenchPart("", file.name, _robot, (file, self.blocks, self.seconds))

    def figures(self, rows: Sequence[Any]) -> dict[str, Any]:
        """All robots, and ratios of those that stand."""
        robots = [row for _, row in rows]
        ratios = [row["standing"]["ratio"] for row in robots if "standing" in row]
        return {
            "settings": self.settings() | {"fall_s": self.seconds},
            "robots": robots,
            "median_ratio": round(float(np.median(ratios)), 2) if ratios else None,
            "least_ratio": min(ratios, default=None),
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield head(result)
        yield ""
        yield from table(COLUMNS, result["robots"], "", _below)
        if result["median_ratio"] is not None:
            yield ""
            yield (
                f"standing, MuJoCo's time over tabi's: {result['median_ratio']} in the median, "
                f"{result['least_ratio']} at least"
            )


COLUMNS = (
    Column("robot", lambda row: row["file"][:22]),
    Column("joints", "joints", "d"),
    Column("standing [µs]: tabi", "standing.microseconds.tabi", ".0f"),
    Column("MuJoCo", "standing.microseconds.mujoco", ".0f"),
    Column("ratio", "standing.ratio", ".2f"),
    Column("limp [µs]: tabi", "limp.microseconds.tabi", ".0f"),
    Column("MuJoCo", "limp.microseconds.mujoco", ".0f"),
    Column("longest ms", "limp.longest_ms", ".1f"),
    Column("missed", "limp.missed", "d"),
)


def _below(row: dict[str, Any]) -> Iterator[str]:
    if "cost_of_loops" in row.get("standing", {}):
        cost = row["standing"]["cost_of_loops"]
        yield f"  standing takes {cost:.2f} times as long as without its closed loops"
    if "fault" in row:
        yield f"  {row['fault']}"


def _world(file: Path, limp: bool, bonds: bool = True) -> tuple[World, Any]:
    """The robot on the ground; limp: without motors, bonds: with its closed loops."""
    world = World()
    world.add_ground(friction=FRICTION)
    with quietly():
        robot = load(file, base="floating")
    if not bonds:
        robot.bonds.clear()
    if limp:
        for body in robot.bodies:
            if body.joint.motor is not None:
                body.joint.motor = replace(body.joint.motor, kp=0.0, kd=0.0)
    robot = world.add_robot(robot)
    robot.stand_on_ground()
    return world, robot


def _robot(file: Path, blocks: int, seconds: float) -> dict[str, Any]:
    row: dict[str, Any] = {"file": file.name}
    try:
        world, robot = _world(file, limp=False)
        row["joints"] = len(robot.joint_names)
        opened = _world(file, limp=False, bonds=False)[0] if robot.bonds else None
        row["standing"] = _standing(world, blocks, opened)
        row["limp"] = falling.measure(_world(file, limp=True)[0], seconds)
    except TabiError as fault:
        row["fault"] = str(fault)
    return row


def _standing(world: World, blocks: int, opened: World | None) -> dict[str, Any]:
    """Standing; opened: the same robot without its closed loops, where it has some."""
    ours, theirs = Marching(Simulator(world)), Rolling(world, None, None)
    runs: dict[str, Any] = {"tabi": ours, "mujoco": theirs}
    if opened is not None:
        runs["tabi without loops"] = Marching(Simulator(opened))
    for march in runs.values():
        march(SETTLE)
    ours.missed = 0
    times = microseconds(runs, blocks)
    loops = {}
    if opened is not None:
        cost = float(np.median(times["tabi"] / times["tabi without loops"]))
        loops = {"cost_of_loops": round(cost, 2)}
    return loops | {
        "contacts": {"tabi": len(ours.sim.contacts), "mujoco": theirs.contacts()[0]},
        "microseconds": medians(times, 1),
        "ratio": round(float(np.median(times["mujoco"] / times["tabi"])), 2),
        "missed": ours.missed,
    }
