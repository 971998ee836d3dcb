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
        "--foot",
        metavar="NAME=BODY",
        help="Declare a foot, e.g. --foot left=L_ANKLE_R; may be repeated.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option(help="'floating' or 'fixed'; by default a file's own choice, else floating."),
]
StandIns = Annotated[
    bool,
    typer.Option(
        "--stand-ins", help="Give a robot that tabi knows the soles that its file leaves out."
    ),
]
Collision = Annotated[
    str,
    typer.Option(
        help="'file': what its file lets collide; 'visual': links without such shapes collide as "
        "they look; 'decomposed': meshes are cut into convex pieces, by the package coacd."
    ),
]
RobotArgument = Annotated[
    str,
    typer.Argument(
        help="hrp2, hrp1s, hoap2, cb, or a path to a URDF, MJCF, OpenHRP (.wrl) or Choreonoid "
        "(.body) file."
    ),
]


def named(
    name: str,
    feet: list[str] | None = None,
    base: str | None = None,
    stand_ins: bool = False,
    gains: bool | None = None,
    collision: str = "file",
) -> Any:
    """A built-in robot by name, or one from a file; arguments as of ``tabi.load``."""
    from tabi import ModelError, load, robots
    from tabi.robots.files import quietly

    if name in robots.__all__:
        if feet or base or collision != "file":
            raise ModelError(
                f"{name} is built in, with its feet and its base; "
                "--foot, --base and --collision are for robots from files"
            )
        return getattr(robots, name)()
    if not Path(name).suffix and not Path(name).exists():
        raise ModelError(
            f"robot {name!r} is neither built in ({', '.join(robots.__all__)}) nor a file; "
            "give a path to a URDF, MJCF, .wrl or .body file"
        )
    # what was made up or taken off is in its notes, which commands show
    with quietly():
        return load(
            name,
            feet=declared_feet(feet) or None,
            base=base,
            gains=gains,
            stand_ins=stand_ins,
            collision=collision,
        )


def declared_feet(feet: list[str] | None) -> dict[str, str]:
    """Feet of the command line: their bodies by their names."""
    from tabi import ModelError

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
    return declared


def standing(
    name: str,
    feet: list[str] | None,
    base: str | None,
    stand_ins: bool = False,
    collision: str = "file",
) -> tuple[Any, Any]:
    """A world with a ground, and a robot on it."""
    from tabi.model.world import World

    world = World()
    world.add_ground()
    robot = world.add_robot(named(name, feet, base, stand_ins, collision=collision))
    if robot.base.joint.kind == "floating":
        robot.stand_on_ground()
    return world, robot
