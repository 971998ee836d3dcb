"""Robots of the command line: a built-in one by its name, or one from a file,
alone or on the ground.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Feet = Annotated[
    list[str] | None,
    typer.Option(
        "--foot", help="Declare a foot as NAME=BODY, e.g. --foot left=L_ANKLE_R; may be repeated."
    ),
]
Base = Annotated[
    str | None,
    typer.Option(help="'floating' or 'fixed'; by default a file's own choice, else floating."),
]
RobotArgument = Annotated[
    str, typer.Argument(help="hrp2, or a path to a URDF, MJCF or OpenHRP (.wrl) file.")
]


def named(name: str, feet: list[str] | None = None, base: str | None = None) -> Any:
    """A built-in robot by name, or one from a file."""
    from tabi import ModelError, load, robots
    from tabi.robots.known import complete

    if name in robots.__all__:
        if feet or base:
            raise ModelError(
                f"{name} is built in, with its feet and its base; "
                "--foot and --base are for robots from files"
            )
        return getattr(robots, name)()
    if not Path(name).suffix and not Path(name).exists():
        raise ModelError(
            f"robot {name!r} is neither built in ({', '.join(robots.__all__)}) nor a file; "
            "give a path to a URDF, MJCF or .wrl file"
        )
    declared: dict[str, str] = {}
    for item in feet or []:
        foot, equals, body = item.partition("=")
        if not (foot and equals and body):
            raise ModelError(f"--foot {item!r} is not NAME=BODY; for example --foot left=L_ANKLE_R")
        if foot in declared:
            raise ModelError(
                f"--foot declares {foot!r} twice, as {declared[foot]!r} and {body!r}; "
                "give each foot its own name"
            )
        declared[foot] = body
    return complete(load(name, feet=declared or None, base=base))


def standing(name: str, feet: list[str] | None, base: str | None) -> tuple[Any, Any]:
    """A world with a ground, and a robot on it."""
    from tabi import robots
    from tabi.model.world import World
    from tabi.robots.known import exclude_overlaps

    world = World()
    world.add_ground()
    robot = world.add_robot(named(name, feet, base))
    if robot.base.joint.kind == "floating":
        robot.stand_on_ground()
    if name not in robots.__all__:
        exclude_overlaps(robot)
    return world, robot
