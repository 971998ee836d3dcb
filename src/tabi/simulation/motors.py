"""Between robots and the step's tables: which degrees of freedom are a robot's, and commands checked on their way to the motors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.model.arrays import table
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.model.signals import Command
from tabi.model.world import World
from tabi.simulation.arrays import TARGET

FIELDS = ("position", "velocity", "effort", "kp", "kd")


def rest(model: Model, q: NDArray[np.float64]) -> NDArray[np.void]:
    """Targets that hold every joint with a motor where it is."""
    dof, target = model.arrays.dof, table(model.v_count, TARGET)
    target["position"] = np.where(dof["q"] >= 0, q[dof["q"]], 0.0)
    target["kp"], target["kd"] = dof["kp"], dof["kd"]
    return target


def check_robot(world: World, robot: Any) -> None:
    """Refuse what is not a robot of this world."""
    if not isinstance(robot, Robot) or robot not in world.robots:
        name = robot.name if isinstance(robot, Robot) else repr(robot)
        names = ", ".join(r.name for r in world.robots) or "none"
        raise ModelError(f"{name} is no robot of this world (robots: {names}); expected what world.add_robot returned")


def qualified(world: World, robot: Robot, name: str, known: Any) -> str:
    """A robot's name for a thing as the model knows it."""
    full = f"{robot.name}/{name}"
    return full if full in known else name


def link_of(world: World, model: Model, body: Body | Foot | str) -> Link:
    """The link of a body, foot or frame object, or of a name."""
    if isinstance(body, str):
        return model.link(body)
    for robot in world.robots:
        if isinstance(body, Frame) and body in (*robot.feet.values(), *robot.frames.values(), *robot.sensors.values()):
            return model.link(body.name if len(world.robots) == 1 else f"{robot.name}/{body.name}")
        if isinstance(body, Body) and any(body is b for b in robot.bodies):
            return model.link(qualified(world, robot, body.name, model.links))
    if isinstance(body, Body) and any(body is b for b in (*world.objects, world.fixed)):
        return model.link(body.name)
    raise ModelError(f"{getattr(body, 'name', body)!r} is nothing of this world; expected a body or foot of it, or a name")


def joints(world: World, model: Model, robot: Robot) -> NDArray[np.int64]:
    """Degrees of freedom of a robot's joints, in their order."""
    rows = []
    for name in robot.joint_names:
        k = model.v_index(qualified(world, robot, name, model.joint_names))
        rows.extend(range(k, k + robot.joint(name).v_count))
    return np.array(rows, np.int64)


def follow(robot: Robot, rows: NDArray[np.int64], command: Any, target: NDArray[np.void], time: float) -> None:
    """Put a command into the targets; the first that is wrong with it is named."""
    if not isinstance(command, Command):
        raise ModelError(f"controller of {robot.name} returned {type(command).__name__} at {time:g} s; expected a tabi.Command")
    for field in FIELDS:
        value = getattr(command, field)
        if value is not None:
            target[field][rows] = _values(robot, field, value, rows, time)


def _values(robot: Robot, field: str, value: Any, rows: NDArray[np.int64], time: float) -> NDArray[np.float64]:
    owner = f"{field} in the command of {robot.name} at {time:g} s"
    if isinstance(value, Mapping):
        names, given = robot.joint_names, np.zeros(len(rows))
        for name, number in value.items():
            if name not in names:
                raise unknown("joint", name, f"{owner}", names)
            given[names.index(name)] = number
        value = given
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        raise ModelError(f"{owner} is {type(value).__name__}; expected {len(rows)} numbers, one per joint") from None
    if x.ndim and x.shape != (len(rows),):
        raise ModelError(f"{owner} has shape {x.shape}; expected ({len(rows)},), one number per joint in the order of robot.joint_names")
    bad = np.flatnonzero(~np.isfinite(np.broadcast_to(x, len(rows))))
    if bad.size:
        raise ModelError(f"{owner} is {np.broadcast_to(x, len(rows))[bad[0]]} for joint {robot.joint_names[bad[0]]!r}; expected a finite number")
    if field in ("kp", "kd") and (x < 0).any():
        raise ModelError(f"{owner} is negative; expected gains ≥ 0")
    return x
