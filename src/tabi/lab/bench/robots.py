"""``tabi bench robots``: robots from files, standing and falling limp, against MuJoCo.

Each is read as ``tabi.load`` reads it, and all engines get the same bodies, shapes, pairs of links
that may touch, and step. Standing, tabi runs in a compiled loop and MuJoCo through ``rollout``, and
tabi again without the closed loops of a robot that has some. Limp, every motor is off: the robot
collapses and lies (``falling``).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import tabi
from tabi._errors import TabiError
from tabi.apps.doctor import processor, version_of
from tabi.lab.bench import falling
from tabi.lab.bench.step import SETTLE, Marching, Rolling
from tabi.lab.bench.timing import microseconds
from tabi.lab.validate.robot_check import FRICTION
from tabi.model.world import World
from tabi.robots.files import load, quietly
from tabi.simulation.simulator import Simulator


def measure(
    files: list[Path],
    blocks: int = 31,
    seconds: float = 3.0,
    move_on: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """All figures, as plain data; an interrupt keeps the robots that are done.

    Args:
        seconds: how long each falls and lies. move_on: told how many robots are done.
    """
    rows: list[dict[str, Any]] = []
    interrupted = False
    try:
        for file in files:
            rows.append(_robot(file, blocks, seconds))
            move_on(len(rows))
    except KeyboardInterrupt:
        interrupted = True
    ratios = [row["standing"]["ratio"] for row in rows if "standing" in row]
    return {
        "hardware": {"processor": processor(), "cores": os.cpu_count(), "threads_used": 1},
        "versions": {"tabi": tabi.__version__}
        | {name: version_of(name) for name in ("numpy", "numba", "mujoco")},
        "settings": {
            "dt": 1e-3,
            "tolerance": 1e-8,
            "blocks": blocks,
            "fall_s": seconds,
            "statistic": "standing: median of interleaved blocks, ratio of blockwise ratios; "
            "limp: mean and longest CPU time of a step",
        },
        "robots": rows,
        "median_ratio": round(float(np.median(ratios)), 2) if ratios else None,
        "least_ratio": min(ratios, default=None),
        "interrupted": interrupted,
    }


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
        "microseconds": {name: round(float(np.median(t)), 1) for name, t in times.items()},
        "ratio": round(float(np.median(times["mujoco"] / times["tabi"])), 2),
        "missed": ours.missed,
    }


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    lines = [
        f"{result['hardware']['processor']}, one core of {result['hardware']['cores']}; {versions}",
        "",
        "                                 standing [µs]             limp [µs]",
        "robot                   joints   tabi  MuJoCo  ratio    tabi  MuJoCo  longest  missed",
    ]
    for row in result["robots"]:
        start = f"{row['file'][:22]:<22}  {row.get('joints', ''):>6}"
        if "standing" in row:
            us = row["standing"]["microseconds"]
            start += f"  {us['tabi']:>5.0f}  {us['mujoco']:>6.0f}  {row['standing']['ratio']:>5.2f}"
        if "limp" in row:
            limp, us = row["limp"], row["limp"]["microseconds"]
            start += f"   {us['tabi']:>5.0f}  {us['mujoco']:>6.0f}  {limp['longest_ms']:>4.1f} ms"
            start += f"  {limp['missed']:>6}"
        lines.append(start)
        if "cost_of_loops" in row.get("standing", {}):
            cost = row["standing"]["cost_of_loops"]
            lines.append(f"    standing takes {cost:.2f} times as long as without its closed loops")
        if "fault" in row:
            lines.append(f"    {row['fault']}")
    if result["median_ratio"] is not None:
        lines += [
            "",
            f"standing, MuJoCo's time over tabi's: {result['median_ratio']} in the median, "
            f"{result['least_ratio']} at least",
        ]
    if result["interrupted"]:
        lines.append("interrupted: these are the robots done before")
    return "\n".join(lines)
