"""Force plates: fixed objects that measure the wrench of their contacts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tabi._errors import ModelError, real, unknown
from tabi.model.body import Body
from tabi.model.kinematic_tree import KinematicTree
from tabi.model.sensors import Sensor, check_options
from tabi.model.shape import Shape
from tabi.spatial.transform import Transform

# [m]
MAX_PLATE = 20.0


def check_size(name: str, size: tuple[float, float], thickness: float) -> None:
    """Refuse lengths of a plate that are not positive."""
    try:
        length, width = size
    except (TypeError, ValueError):
        raise ModelError(
            f"size of force plate {name!r} is {size!r}; expected its length and width in metres"
        ) from None
    for what, value in (("length", length), ("width", width), ("thickness", thickness)):
        if not 0 < real(f"{what} of force plate {name!r}", value) < np.inf:
            raise ModelError(
                f"force plate {name!r} has {what} {value:g}; expected a positive one in metres"
            )
        if value > MAX_PLATE:
            raise ModelError(
                f"force plate {name!r} has {what} {value:g} m; expected at most {MAX_PLATE:g} m: "
                f"did you mean millimetres, {1e-3 * value:g} m?"
            )


def plate(name: str, body: Body, X: Transform, **options: Any) -> Sensor:
    """The sensor of a plate whose frame is at X of a fixed body; options as of ``Sensor``."""
    check_options(name, options)
    made = Sensor(name, body, X, "plate", **options)
    made.check()
    return made


def fixed_thing(
    thing: Any, fixed: Body, robots: Iterable[KinematicTree]
) -> tuple[str, Body, Transform, list[Shape]]:
    """Name, body, frame and shapes of a fixed shape, or of a body that nothing can move."""
    for shape in fixed.shapes:
        if thing is shape or thing == shape.name:
            return shape.name, fixed, shape.placement, [shape]
    for body in (body for robot in robots for body in robot.bodies):
        if thing is body or thing == body.name:
            _check_fixed(body)
            return body.name, body, Transform(), body.shapes
    name = str(getattr(thing, "name", thing))
    raise unknown("fixed thing", name, "the world", [shape.name for shape in fixed.shapes])


def _check_fixed(body: Body) -> None:
    link: Body | None = body
    while link is not None:
        if link.joint.kind != "fixed":
            raise ModelError(
                f"force plate {body.name!r} moves with joint {link.joint.name!r}; expected a body "
                f"that is fixed to the world: give the robot a sensor of kind 'force' instead"
            )
        link = link.parent
