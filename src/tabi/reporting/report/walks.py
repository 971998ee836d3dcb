"""Walks in ``tabi report``: feet, centre of mass and zero moment point against their plan, loads of
the feet and torques of the ankles.

A recording contains the text of its scene, from which the plan of a walk is computed again. Without
a scene there is no plan, and no walk in the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import TabiError
from tabi.analysis.walk_measures import in_sole_axes, measured, walkers
from tabi.recording import tracks
from tabi.recording.recorded import Recorded
from tabi.reporting.curves import Curve, Panel
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.pattern import WalkingPattern

Array = NDArray[np.float64]
# text of a scene in which a robot walks
WORDS = "kind: walk"
AXES = (("x", 0), ("y", 1))
# curves without a legend: dashed ones are planned
AS_PLANNED = "_planned"
# colours of left and right, of the plan, of the zero moment point and the centre of mass
COLORS = {"left": "#0072B2", "right": "#D55E00"}
PLANNED, ZMP, CENTRE = "#9aa3af", "#CC79A7", "#E69F00"


@dataclass(frozen=True, eq=False)
class RecordedWalk:
    """Recorded walk with its plan, n ticks.

    Attributes:
        name: of the robot. robot: its index in the recording. pattern: the plan.
        rows: of the recording, the nearest to each tick, shape (n,).
        position, rotation: of the soles, left and right, shapes (n, 2, 3) and (n, 2, 3, 3).
    """

    name: str
    robot: int
    pattern: WalkingPattern
    rows: NDArray[np.int64]
    position: Array
    rotation: Array


def walked(run: Recorded) -> list[RecordedWalk]:
    """Return the walks of a recording from their start; none if its scene has none, or cannot be
    loaded.
    """
    if WORDS not in run.scene or run.time[0] > run.dt or (np.diff(run.time) <= 0).any():
        return []
    from tabi import scenes

    try:
        plans = walkers(scenes.loads(run.scene, "the recording's scene").simulator())
    except (TabiError, OSError):
        return []
    names = list(run.world.robot_names)
    return [
        _walked(run, name, names.index(name), walker.pattern)
        for name, walker in plans.items()
        if name in names
    ]


def _walked(run: Recorded, name: str, robot: int, pattern: WalkingPattern) -> RecordedWalk:
    tick = pattern.gait.tick
    n = min(pattern.count, int((run.time[-1] + 0.5 * run.dt) / tick) + 1)
    after = np.searchsorted(run.time, tick * np.arange(n)).clip(1, len(run.time) - 1)
    early = tick * np.arange(n) - run.time[after - 1] < run.time[after] - tick * np.arange(n)
    rows = after - early
    places, turns = tracks.foot_frames(run.world, run.motion(rows))
    feet = run.world.feet
    feet_at = [_foot(feet.names, feet.robot, robot, side) for side in SIDES]
    position = np.stack([places[k] for k in feet_at], axis=1)
    rotation = np.stack([turns[k] for k in feet_at], axis=1)
    return RecordedWalk(name, robot, pattern, rows, position, in_sole_axes(pattern, rotation))


def _foot(names: Sequence[str], robots: NDArray[np.int64], robot: int, side: str) -> int:
    """Return the index of a robot's foot; names are prefixed by the robot if there are several."""
    return next(
        k for k, name in enumerate(names) if robots[k] == robot and name.rpartition("/")[2] == side
    )


def measure(
    run: Recorded, walks: Sequence[RecordedWalk], fallen: dict[str, float]
) -> dict[str, Any]:
    """Return the numbers of each walk by its robot; ``fallen``: times of falls [s]."""
    numbers = {}
    for walk in walks:
        until = fallen.get(walk.name, np.inf)
        fell = f"it fell at {until:.3g} s" if np.isfinite(until) else ""
        feet = measured(walk.pattern, walk.position, walk.rotation, until, fell)
        k = walk.rows[: max(1, round(min(until / walk.pattern.gait.tick, len(walk.rows))))]
        centre = run.robots["centre_of_mass"][k, walk.robot, :2] - walk.pattern.centre[: len(k), :2]
        zmp = run.robots["zmp"][k, walk.robot, :2] - walk.pattern.zmp[: len(k)]
        numbers[walk.name] = feet.to_dict() | {
            "zmp_rms_m": np.sqrt(np.nanmean(zmp**2, axis=0)).tolist(),
            "centre_rms_m": np.sqrt(np.mean(centre**2, axis=0)).tolist(),
        }
    return numbers


def unfinished(walks: dict[str, Any]) -> str:
    """Return words about walks that were not finished, from the numbers of ``measure``."""
    words = ""
    for name, walk in walks.items():
        if not walk["finished"]:
            landed = f"{walk['landed']} of {walk['planned']} steps"
            why = walk["stopped"] or "the recording ends before"
            words += f"; {name} landed {landed} and did not finish its walk: {why}"
    return words


# ---- figures ------------------------------------------------------------------------------------


def panels(run: Recorded, walk: RecordedWalk) -> list[Panel]:
    """Return curves over time, the plan dashed."""
    t, plan = run.time[walk.rows], walk.pattern
    n, panel_list = len(t), []
    zmp, centre = (run.robots[key][walk.rows, walk.robot] for key in ("zmp", "centre_of_mass"))
    for axis, c in AXES:
        panel_list.append(
            _panel(
                f"Zero moment point and centre of mass along {axis}",
                f"{axis} [mm]",
                [
                    Curve("zero moment point", t, 1e3 * zmp[:, c], 0),
                    Curve("planned", t, 1e3 * plan.zmp[:n, c], 0, "dashed"),
                    Curve("centre of mass", t, 1e3 * centre[:, c], 1),
                    Curve(AS_PLANNED, t, 1e3 * plan.centre[:n, c], 1, "dashed"),
                ],
            )
        )
    heights, off = [], []
    for i, side in enumerate(SIDES):
        measured_position, planned_position = walk.position[:, i], plan.schedule.position[:n, i]
        heights.append(Curve(f"{side} foot", t, 1e3 * measured_position[:, 2], i))
        heights.append(Curve(AS_PLANNED, t, 1e3 * planned_position[:, 2], i, "dashed"))
        off.append(
            Curve(
                f"{side} foot",
                t,
                1e3 * np.linalg.norm(measured_position - planned_position, axis=1),
                i,
            )
        )
    panel_list.append(_panel("Height of the feet", "height [mm]", heights))
    panel_list.append(_panel("Feet from their plan", "distance [mm]", off))
    return [*panel_list, _loads(run, walk, t), _ankles(run, walk, t)]


def _panel(title: str, label: str, curves: list[Curve]) -> Panel:
    return Panel("walk", title, "time [s]", label, curves)


def _loads(run: Recorded, walk: RecordedWalk, t: Array) -> Panel:
    feet, plan, curves = run.world.feet, walk.pattern, []
    weight = plan.biped.mass * float(np.linalg.norm(plan.biped.model.arrays.gravity))
    for i, side in enumerate(SIDES):
        k = _foot(feet.names, feet.robot, walk.robot, side)
        curves.append(Curve(f"{side} foot", t, run.feet["wrench"][walk.rows, k, 2], i))
        curves.append(Curve(AS_PLANNED, t, weight * plan.share[: len(t), i], i, "dashed"))
    return _panel("Load of the feet", "force [N]", curves)


def _ankles(run: Recorded, walk: RecordedWalk, t: Array) -> Panel:
    """Return torques of the joints beyond each knee."""
    biped, curves = walk.pattern.biped, []
    for i in range(2):
        legs = biped.legs
        for column in legs.columns[i, legs.knee[i] + 1 : legs.count[i]]:
            name = biped.joints[int(column)]
            joint_at = [
                k
                for k, joint in enumerate(run.world.joint_of)
                if joint in (name, f"{walk.name}/{name}")
            ]
            if joint_at:
                effort = run.motors["effort"][walk.rows, joint_at[0]]
                place = len(curves) // 2
                planned = walk.pattern.effort[: len(t), int(column)]
                curves.append(Curve(name, t, effort, place))
                curves.append(Curve(AS_PLANNED, t, planned, place, "dashed"))
    return _panel("Torques of the ankles' motors", "torque [N·m]", curves)


def from_above(run: Recorded, walk: RecordedWalk) -> Any:
    """Return a figure of the footsteps seen from above, planned and landed, with both paths."""
    from matplotlib.figure import Figure

    plan, n = walk.pattern, len(walk.rows)
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    ax = figure.add_subplot()
    after = round(plan.gait.double_support / plan.gait.tick) - 1
    for step, land in zip(plan.steps, plan.schedule.land, strict=True):
        i, k = SIDES.index(step.foot), land + after
        corners = plan.biped.outline[step.foot]
        corners = np.concatenate([corners, corners[:1]])
        outline = np.column_stack([corners, np.zeros(len(corners))])
        ax.plot(*(step.pose @ outline)[:, :2].T, color=PLANNED, linewidth=2.6)
        if k < n:
            landed = outline @ walk.rotation[k, i].T + walk.position[k, i]
            ax.plot(*landed[:, :2].T, color=COLORS[step.foot], linewidth=0.9)
    for key, planned, color, label in (
        ("zmp", plan.zmp, ZMP, "zero moment point"),
        ("centre_of_mass", plan.centre, CENTRE, "centre of mass"),
    ):
        ax.plot(*planned[:, :2].T, color=color, linewidth=0.8, linestyle="--")
        path = run.robots[key][walk.rows, walk.robot]
        ax.plot(path[:, 0], path[:, 1], color=color, linewidth=1.0, label=label)
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]", fontsize=8)
    ax.set_ylabel("y [m]", fontsize=8)
    ax.tick_params(labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=7, frameon=False)
    return figure
