"""Things of a world by object or name: links of bodies, feet and frames;
degrees of freedom of robots.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Link, Model
from tabi.model.robot import Robot
from tabi.model.world import World


def robot_of(world: World, robot: Any) -> Robot:
    """A robot of this world, itself or by its name; anything else is refused."""
    if isinstance(robot, str):
        return world.robot(robot)
    if not isinstance(robot, Robot) or robot not in world.robots:
        name = robot.name if isinstance(robot, Robot) else repr(robot)
        names = ", ".join(r.name for r in world.robots) or "none"
        raise ModelError(
            f"{name} is no robot of this world (robots: {names}); "
            "expected what world.add_robot returned"
        )
    return robot


def check_known(before: Iterable[Any], world: World, thing: Any) -> None:
    """Reject things that were added to a world after a simulator was made of it.

    Args:
        before: robots and objects that the simulator knows. thing: an object, or a name.
    """
    known = {id(owner) for owner in before}
    for owner in (*world.robots, *world.objects):
        if id(owner) not in known and _within(owner, thing):
            raise ModelError(
                f"{owner.name!r} was added to the world after this simulator was made, which does "
                "not have it; make the simulator when all is added, sim = tabi.Simulator(world)"
            )


def _within(owner: Robot | Body, thing: Any) -> bool:
    """Check whether a thing, given as object or by name, is a robot or object, or a part of it."""
    parts: list[Any] = [owner]
    if isinstance(owner, Robot):
        parts += [*owner.bodies, *(body.joint for body in owner.bodies)]
        parts += [*owner.feet.values(), *owner.frames.values(), *owner.sensors.values()]
    names = {part.name for part in parts} | {f"{owner.name}/{part.name}" for part in parts}
    return thing in names if isinstance(thing, str) else any(thing is part for part in parts)


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
    if isinstance(body, Robot):
        raise ModelError(
            f"{body.name!r} is a robot; expected one of its bodies, as robot.base or "
            "robot.body(name)"
        )
    raise ModelError(
        f"{getattr(body, 'name', body)!r} is nothing of this world; "
        "expected a body or foot of it, or a name"
    )


def name_of(world: World, model: Model, thing: Any) -> str:
    """The model's name of a robot, an object or a joint of this world."""
    if isinstance(thing, str):
        return thing
    if isinstance(thing, Robot):
        return robot_of(world, thing).name
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


def joint_spans(world: World, model: Model) -> dict[str, range]:
    """Degrees of freedom of each joint of the robots of a world, by the model's names."""
    names = [
        qualified(robot, name, model.joint_names)
        for robot in world.robots
        for name in robot.joint_names
    ]
    spans = {name: model.v_slice(name) for name in names}
    return {name: range(span.start, span.stop) for name, span in spans.items()}


def freedoms(robot: Robot) -> tuple[str, ...]:
    """Return the joint of each degree of freedom of a robot; some joints have three."""
    return tuple(name for name in robot.joint_names for _ in range(robot.joint(name).v_count))
