"""Keys of a scene file about sensors and force plates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from tabi.model.sensor_kinds import SENSOR_KINDS
from tabi.scenes.keys.types import (
    ZERO,
    Friction,
    Hertz,
    Keys,
    Length,
    Name,
    Number,
    Quaternion,
    Turns,
    Vector,
    Word,
)

Spread = Annotated[float, Meta(ge=0.0, le=1e9)]
Delay = Annotated[float, Meta(ge=0.0, le=10.0)]
SIX = Meta(min_length=1, max_length=6)
# one for all values of a sensor, or one for each
Spreads = Spread | Annotated[tuple[Spread, ...], SIX]
Errors = Number | Annotated[tuple[Number, ...], SIX]
Row = Annotated[tuple[Number, ...], SIX]
# any of the kinds that a robot may have
if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[tuple(kind.name for kind in SENSOR_KINDS.values() if kind.on_robots)]


class Measuring(Keys, frozen=True, kw_only=True):
    """Sampling, delay and errors from the true value to the reading.

    Attributes:
        rate_hz: samples a second, a rate that divides that of the steps; default: every step
        delay_s: by how much a sample is reported later
        noise: standard deviation of each sample, in the unit of the values;
            one number, or one for each value
        bias: constant error, likewise
        drift: growth of the standard deviation of an error that wanders, unit/√s, likewise
        limit: largest magnitude, likewise
        bandwidth_hz: of an analogue low-pass of the first order
    """

    rate_hz: Hertz | None = None
    delay_s: Delay | None = None
    noise: Spreads | None = None
    bias: Errors | None = None
    drift: Spreads | None = None
    limit: Spreads | None = None
    bandwidth_hz: Hertz | None = None


class SensorKeys(Measuring, frozen=True, kw_only=True):
    """A sensor that a robot has, where it differs; or a new one, with kind and body.

    Attributes:
        kind: of a new one, what it measures
        body: of a new one, the body that carries it
        position_m: of a new one, where it is in the frame of its body
        quaternion: of a new one, w, x, y, z of its axes
        part: what alone it measures, of a kind that measures two things: torque of force
        resolution: smallest difference of two readings, in the unit of the values;
            one number, or one for each value
        matrix: rows of G of a force sensor whose reading is raw: wrench = G (reading + offset)
        offset: of a raw reading, one number for each value
        threshold_n: of a switch
    """

    kind: Kind | None = None
    body: Word | None = None
    position_m: Vector | None = None
    quaternion: Quaternion | None = None
    part: Word | None = None
    resolution: Spreads | None = None
    matrix: Annotated[tuple[Row, ...], SIX] | None = None
    offset: Row | None = None
    threshold_n: Spread | None = None


class PlateKeys(Measuring, frozen=True, kw_only=True):
    """Plate that measures the wrench on what stands on it, about the middle of its upper face;
    or a fixed thing that does, about its origin.

    Attributes:
        name: its name
        of: instead of a new plate: a fixed thing, the ground,
            or a body that is bolted to the world
        size_m: edges along its x and y
        position_m: x, y, z of the middle of its upper face
        rotation_deg: roll, pitch, yaw: turns about the world's x, then y, then z
        quaternion: w, x, y, z, instead of rotation_deg
        thickness_m: how far it reaches below
        friction: coefficient of friction
        resolution_n: smallest difference of two forces it reports; moments are exact
    """

    name: Name | None = None
    of: Word | None = None
    size_m: tuple[Length, Length] = (0.6, 0.4)
    position_m: Vector = ZERO
    rotation_deg: Turns = ZERO
    quaternion: Quaternion | None = None
    thickness_m: Length = 0.05
    friction: Friction = 0.8
    resolution_n: Spread = 1.0
