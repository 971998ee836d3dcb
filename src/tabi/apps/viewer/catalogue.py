"""The scenes that a page offers, by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from tabi import scenes

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Vector = tuple[float, float, float]
Camera = tuple[Vector, Vector]


def names() -> list[str]:
    """Return the names of all scenes that can be opened."""
    return list(scenes.names())


def builder(name: str) -> Callable[[], Simulator]:
    """Makes a scene's simulator, with its controllers, at its start;
    reads the scene the first time.
    """
    read = functools.cache(lambda: scenes.load(name))
    return lambda: read().simulator()


def title(name: str) -> str:
    """One line about a scene; of one that is not in the list its name."""
    return scenes.load(name).title if name in scenes.names() else name


def camera(name: str) -> Camera | None:
    """Return position and target of a scene's camera [m]; None where it specifies none."""
    camera_ = scenes.load(name).camera
    return None if camera_ is None else (camera_.position_m, camera_.look_at_m)
