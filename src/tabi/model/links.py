"""Names for places of a compiled world: links, soles, sensors and collision shapes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi.model.pad import Pad
from tabi.model.sensors import Sensor
from tabi.model.shape import Geometry
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Link:
    """A named frame: the moving body it is fixed to, and its placement there."""

    name: str
    body: int
    placement: Transform


@dataclass(frozen=True, eq=False)
class Sole(Link):
    """A foot: its polygon [m], shape (n, 2), in the xy-plane of the frame."""

    polygon: Array


@dataclass(frozen=True, eq=False)
class Site(Link):
    """Mounting of a sensor, and its parameters; the shapes of a force plate."""

    sensor: Sensor
    shapes: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        """Kind of the sensor, by name."""
        return self.sensor.kind

    @property
    def measures(self) -> bool:
        """Whether it has values: not a camera, and no sensor of forces in what is fixed to the
        world.
        """
        return self.sensor.width > 0 and (self.body > 0 or self.sensor.about.anywhere)


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """A collision shape on a moving body (0 is the world), with the name of the link it came from,
    and how fast its surface runs [m/s].
    """

    body: int
    link: str
    placement: Transform
    geometry: Geometry
    material: str
    surface_velocity: Array
    name: str = ""


@dataclass(frozen=True, eq=False)
class PlacedPad:
    """A soft sole or pad.

    Attributes:
        name: the foot's of a sole, else the shape's; no two have the same.
        pad: what it is. shape: its row among the collision shapes.
        link: it came from. body: the moving body that carries it; placement: its frame there.
        rows: its nodes among those of all pads.
    """

    name: str
    pad: Pad
    shape: int
    link: str
    body: int
    placement: Transform
    rows: slice


def pad_name(shape: str, link: str, foot: str | None, taken: Iterable[str]) -> str:
    """Name of a pad: the foot's where it is a sole of one, with a number where it is taken."""
    name = foot if foot and shape.startswith("sole of ") else shape or f"pad of {link}"
    count = sum(other.split(" #")[0] == name for other in taken)
    return f"{name} #{count + 1}" if count else name
