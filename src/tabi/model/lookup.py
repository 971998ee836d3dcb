"""Things of a world by object or name: links of bodies, feet and frames;
degrees of freedom of robots.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.model.world import World


def check_robot(world: World, robot: Any) -> None:
    """Refuse what is not a robot of this world."""
    if not isinstance(robot, Robot) or robot not in world.robots:
        name = robot.name if isinstance(robot, Robot) else repr(robot)
        names = ", ".join(r.name for r in world.robots) or "none"
        raise ModelError(
            f"{name} is no robot of this world (robots: {names}); "
            "expected what world.add_robot returned"
        )


def qualified(robot: Robot, name: str, known: Any) -> str:
    """A robot's name for a thing as the model knows it."""
    full = f"{robot.name}/{name}"
    return full if full in known else name


def link_of(world: World, model: Model, body: Body | Foot | Frame | str) -> Link:
    """The link of a body, foot or frame object, or of a name."""
    if isinstance(body, str):
        return model.link(body)
    for robot in world.robots:
        frames = (*robot.feet.values(), *robot.frames.values(), *robot.sensors.values())
        if isinstance(body, Frame) and body in frames:
            return model.link(body.name if len(world.robots) == 1 else f"{robot.name}/{body.name}")
        if isinstance(body, Body) and any(body is b for b in robot.bodies):
            return model.link(qualified(robot, body.name, model.links))
    if isinstance(body, Body) and any(body is b for b in (*world.objects, world.fixed)):
        return model.link(body.name)
    raise ModelError(
        f"{getattr(body, 'name', body)!r} is nothing of this world; "
        "expected a body or foot of it, or a name"
    )


def name_of(world: World, model: Model, thing: Any) -> str:
    """The model's name of a robot, an object or a joint of this world."""
    if isinstance(thing, str):
        return thing
    if isinstance(thing, Robot):
        check_robot(world, thing)
        return thing.name
    if isinstance(thing, Body) and any(thing is body for body in world.objects):
        return thing.name
    for robot in world.robots:
        for body in robot.bodies:
            if thing is body.joint and body is not robot.base:
                return qualified(robot, thing.name, model.joint_names)
    raise ModelError(
        f"{getattr(thing, 'name', thing)!r} is no robot, object or joint of this world; "
        "expected one of it, or a name"
    )


def joint_rows(model: Model, robot: Robot) -> NDArray[np.int64]:
    """Degrees of freedom of a robot's joints, in their order."""
    rows = []
    for name in robot.joint_names:
        k = model.v_index(qualified(robot, name, model.joint_names))
        rows.extend(range(k, k + robot.joint(name).v_count))
    return np.array(rows, np.int64)


def freedoms(robot: Robot) -> tuple[str, ...]:
    """Of each degree of freedom of a robot's joints its joint: some have three."""
    return tuple(name for name in robot.joint_names for _ in range(robot.joint(name).v_count))
