"""Between people and the step's tables: which degrees of freedom are a robot's, commands checked on their way to the motors, pushes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real, unknown
from tabi.model.arrays import table
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.model.signals import Command
from tabi.model.world import World
from tabi.simulation import joint_laws, observation
from tabi.simulation.arrays import TARGET, Room

Array = NDArray[np.float64]
FIELDS = ("position", "velocity", "effort", "kp", "kd")


@dataclass(frozen=True, eq=False)
class Push:
    """A force from outside on a body: where it acts in the body's frame, from and until when, in steps; of the last one it may take a part."""

    link: Link
    force: Array
    torque: Array
    point: Array
    until: float
    start: int = 0


def rest(model: Model, q: NDArray[np.float64]) -> NDArray[np.void]:
    """Targets that hold every joint with a motor where it is."""
    dof, target = model.arrays.dof, table(model.v_count, TARGET)
    target["position"] = np.where(dof["q"] >= 0, q[dof["q"]], 0.0)
    target["kp"], target["kd"] = dof["kp"], dof["kd"]
    for end in ("follower", "leader"):
        target["doing"][model.arrays.mimic[end]] = joint_laws.FOLLOWS
    return target


def steps_between(rate: float | None, dt: float, owner: str) -> int:
    """How many steps lie between two calls at a rate [Hz]; every step without one."""
    if rate is None:
        return 1
    rate = real(f"rate of {owner}", rate)
    every = max(1, round(1 / (rate * dt))) if np.isfinite(rate) and rate > 0 else 0
    if every == 0 or abs(every * dt * rate - 1) > 1e-6:
        raise ModelError(f"rate of {owner} is {rate:g} Hz; expected one that divides {1 / dt:g} Hz, the rate of the steps")
    return every


def step_at(time: float, dt: float) -> int:
    """The step that begins at a time [s], or the next one after it."""
    if not 0 <= real("time of a push", time) < np.inf:
        raise ModelError(f"time of a push is {time}; expected a number of seconds ≥ 0")
    # decimal times are whole numbers of steps but for rounding
    return ceil(time / dt - 1e-6)


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


def freedoms(robot: Robot) -> tuple[str, ...]:
    """Of each degree of freedom of a robot's joints its joint: some have three."""
    return tuple(name for name in robot.joint_names for _ in range(robot.joint(name).v_count))


def follow(robot: Robot, rows: NDArray[np.int64], command: Any, target: NDArray[np.void], time: float, names: tuple[str, ...] = ()) -> None:
    """Put a command into the targets; the first that is wrong with it is named, and then none of it is taken. names: ``freedoms``, where at hand."""
    if not isinstance(command, Command):
        raise ModelError(f"controller of {robot.name} returned {type(command).__name__} at {time:g} s; expected a tabi.Command")
    told = {field: getattr(command, field) for field in FIELDS}
    names = names or freedoms(robot)
    checked = {field: _values(robot, field, value, names, time) for field, value in told.items() if value is not None}
    for field, value in checked.items():
        target[field][rows] = value


def _values(robot: Robot, field: str, value: Any, names: tuple[str, ...], time: float) -> NDArray[np.float64]:
    owner, count = f"{field} in the command of {robot.name} at {time:g} s", len(names)
    if isinstance(value, Mapping):
        if value.keys() - names:
            raise unknown("joint", next(name for name in value if name not in names), owner, robot.joint_names)
        asked, value = value, [value.get(name, 0.0) for name in names]
        if not all(isinstance(x, float) for x in value):
            value = [real(f"{field} of joint {name!r} in the command of {robot.name} at {time:g} s", asked.get(name, 0.0)) for name in names]
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        raise ModelError(f"{owner} is {type(value).__name__}; expected {count} numbers, one per joint") from None
    if x.ndim and x.shape != (count,):
        raise ModelError(f"{owner} has shape {x.shape}; expected ({count},), one number per joint in the order of robot.joint_names")
    if not x.ndim:
        x = np.full(count, x)
    if not np.isfinite(x).all():
        bad = np.flatnonzero(~np.isfinite(x))
        raise ModelError(f"{owner} is {x[bad[0]]} for joint {names[bad[0]]!r}; expected a finite number")
    if field in ("kp", "kd") and (x < 0).any():
        raise ModelError(f"{owner} is {x.min():g} for joint {names[int(x.argmin())]!r}; expected gains ≥ 0")
    return x


def push(link: Link, force: ArrayLike, torque: ArrayLike, point: ArrayLike, duration: float | None, dt: float, now: int) -> Push:
    """A push from step ``now`` on, checked; it lasts one step unless a duration [s] is given."""
    if link.body == 0:
        raise ModelError(f"body {link.name!r} does not move; expected one that a force can push")
    vectors = [vector(f"{name} on {link.name!r}", x) for name, x in (("force", force), ("torque", torque), ("point", point))]
    lasts = dt if duration is None else real(f"duration of the push on {link.name!r}", duration)
    if not 0 < lasts < np.inf:
        raise ModelError(f"duration of the push on {link.name!r} is {duration}; expected a positive number of seconds")
    # decimal durations are whole numbers of steps but for rounding
    steps = lasts / dt
    steps = float(round(steps)) if round(steps) > 0 and abs(steps - round(steps)) < 1e-6 else steps
    return Push(link, *vectors, until=now + steps, start=now)


def sum_pushes(model: Model, pushes: Iterable[Push], now: int, room: Room) -> None:
    """Add what pushes during the step ``now`` to the forces on the bodies, about the origins of their trees."""
    for p in pushes:
        if now < p.start:
            continue
        X, share = observation.pose(model, room.dynamics, p.link), min(1.0, p.until - now)
        origin = room.dynamics.body["origin"][model.arrays.body["root"][p.link.body]]
        room.force[p.link.body, :3] += share * (p.torque + np.cross(X.p + X.R @ p.point - origin, p.force))
        room.force[p.link.body, 3:] += share * p.force
        room.force[0, 0] = 1.0


def vector(owner: str, value: ArrayLike) -> Array:
    """Three finite numbers, or an error that names their owner."""
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        x = np.zeros(0)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(f"{owner} is {value!r}; expected three finite numbers")
    return x
