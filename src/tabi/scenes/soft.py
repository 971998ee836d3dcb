"""Soft soles and pads of a scene's robots and objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.scenes.keys import soft as soft_keys
from tabi.scenes.keys.soft import PadKeys, SoleKeys

# an error inside of it is the file's, at this path
At = Callable[..., AbstractContextManager[None]]


def add_soles(at: At, robot: Robot, keys: SoleKeys | None, i: int) -> None:
    """Add the soft soles of the robot i."""
    if keys is not None:
        with at("robots", i, "soles"):
            made = soft_keys.layers(keys)
            robot.add_soles(keys.feet, layers=made, **soft_keys.options(keys))


def add_robot_pads(at: At, robot: Robot, keys: Sequence[PadKeys], i: int) -> None:
    """Add the pads on bodies of the robot i."""
    for k, pad in enumerate(keys):
        with at("robots", i, "pads", k):
            if pad.body is None:
                raise ModelError("a pad of a robot names no body; expected body: NAME")
            _glue(robot.body(pad.body), pad)


def add_object_pads(at: At, body: Body, keys: Sequence[PadKeys], i: int) -> None:
    """Add the pads on the object i."""
    for k, pad in enumerate(keys):
        with at("objects", i, "pads", k):
            if pad.body is not None:
                raise ModelError(f"a pad of an object names the body {pad.body!r}; leave body out")
            _glue(body, pad)


def _glue(body: Body, keys: PadKeys) -> None:
    if (keys.face is None) == (keys.outline_m is None):
        raise ModelError(
            'a pad has to say where it is: face, as "-z", of a box, or outline_m with its '
            "position_m and quaternion; expected one of them"
        )
    face: Any = keys.face if keys.outline_m is None else keys.outline_m
    made, options = soft_keys.layers(keys), soft_keys.options(keys)
    body.add_pad(face, made, keys.position_m, keys.quaternion, **options)
