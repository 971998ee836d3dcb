"""Keys of a scene file: each with its unit, its range and one line about it.

These types are all there is to know about the format: the reader checks files against them,
``schema`` makes the JSON schema and the tables of the documentation from them, with the lines under
*Attributes*. Lengths are in metres, angles in degrees, everything else in SI units; the key says
so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from msgspec import Meta, defstruct

from tabi.scenes.keys.soft import PadKeys
from tabi.scenes.keys.types import (
    ZERO,
    Color,
    Duration,
    Friction,
    Keys,
    Length,
    Mass,
    Moment,
    Name,
    Number,
    Quaternion,
    Share,
    Turn,
    Turns,
    Vector,
    Word,
)

# ---- surfaces and places ------------------------------------------------------------------------


class Surface(Keys, frozen=True, kw_only=True):
    """Friction and restitution of a surface.

    Attributes:
        friction: coefficient of friction; of two surfaces the smaller one counts
        restitution: share of the speed that a bounce gives back;
            of two surfaces the larger one counts
        static_friction: coefficient of what sticks, where it is larger than friction
        torsional_friction_m: moment against turning about the normal, per newton that presses;
            of two surfaces the larger one counts
        rolling_friction_m: moment against rolling, per newton that presses;
            of two surfaces the larger one counts
        viscous_friction_s_m: growth of friction with the speed of sliding;
            of two surfaces the larger one counts
    """

    friction: Friction = 0.8
    restitution: Share = 0.0
    static_friction: Friction | None = None
    torsional_friction_m: Friction = 0.0
    rolling_friction_m: Friction = 0.0
    viscous_friction_s_m: Friction = 0.0


# key of a file → keyword of a material
COEFFICIENTS = {
    "friction": "friction",
    "restitution": "restitution",
    "static_friction": "static_friction",
    "torsional_friction_m": "torsional_friction",
    "rolling_friction_m": "rolling_friction",
    "viscous_friction_s_m": "viscous_friction",
}


class Pair(Keys, frozen=True, kw_only=True):
    """Two materials, where the smaller friction and the larger restitution are not right.

    Attributes:
        materials: two names: of materials, objects, fixed things, ground, or a robot's own
        friction: coefficient of friction between them
        restitution: share of the speed that a bounce gives back
        static_friction: coefficient of what sticks
        torsional_friction_m: moment against turning about the normal, per newton that presses
        rolling_friction_m: moment against rolling, per newton that presses
        viscous_friction_s_m: growth of friction with the speed of sliding
    """

    materials: tuple[Word, Word]
    friction: Friction | None = None
    restitution: Share | None = None
    static_friction: Friction | None = None
    torsional_friction_m: Friction | None = None
    rolling_friction_m: Friction | None = None
    viscous_friction_s_m: Friction | None = None


class Ground(Surface, frozen=True, kw_only=True):
    """A floor without end.

    Attributes:
        height_m: height of its surface at x = 0
        slope_deg: how steeply it falls along x
        force_plate: whether it measures the wrench on what touches it
    """

    height_m: Number = 0.0
    slope_deg: Annotated[float, Meta(ge=-80.0, le=80.0)] = 0.0
    force_plate: bool = False


class Posed(Surface, frozen=True, kw_only=True):
    """Pose of something, and its surface.

    Attributes:
        material: a name from materials, instead of coefficients here
        position_m: x, y, z of the middle; z is up
        rotation_deg: roll, pitch, yaw: turns about the world's x, then y, then z
        quaternion: w, x, y, z, instead of rotation_deg
        color: red, green, blue
        size_m: edges along its x, y, z
        radius_m: its radius
        radii_m: half axes along its x, y, z
        length_m: length along its z; of a capsule without the caps
        points_m: points whose convex hull it is
        file: a mesh, STL, OBJ or DAE, whose convex hull it is; a path from the folder of this file
        scale: what the mesh's numbers are multiplied by to be metres
    """

    material: Name | None = None
    position_m: Vector = ZERO
    rotation_deg: Turns = ZERO
    quaternion: Quaternion | None = None
    color: Color | None = None


# what fixed things, parts and free objects may be alike: the keys of each shape
SHAPES: dict[str, list[Any]] = {
    "box": [("size_m", tuple[Length, Length, Length])],
    "sphere": [("radius_m", Length)],
    "ellipsoid": [("radii_m", tuple[Length, Length, Length])],
    "cylinder": [("radius_m", Length), ("length_m", Length)],
    "capsule": [("radius_m", Length), ("length_m", Length)],
    "convex": [("points_m", Annotated[tuple[Vector, ...], Meta(min_length=4, max_length=500)])],
    "mesh": [("file", Annotated[str, Meta(min_length=1, max_length=1000)]), ("scale", Length, 1.0)],
}


def shaped(role: type[Posed], words: str) -> dict[str, Any]:
    """Return a type for each shape of something, with the keys of ``role``."""
    about: dict[str, Any] = {
        "frozen": True,
        "kw_only": True,
        "tag_field": "shape",
        "module": __name__,
    }
    kinds = {}
    for tag, keys in SHAPES.items():
        kinds[tag] = defstruct(
            f"{role.__name__}{tag.capitalize()}",
            keys,
            bases=(role,),
            tag=tag,
            namespace={"__doc__": f"{words} {tag}."},
            **about,
        )
    return kinds


# ---- what never moves ---------------------------------------------------------------------------


class Fixed(Posed, frozen=True, kw_only=True):
    """Fixed thing that never moves.

    Attributes:
        name: its name; default: the shape's
        surface_velocity_m_s: how fast its surface runs: a conveyor
        force_plate: whether it measures the wrench on what touches it
    """

    name: Name | None = None
    surface_velocity_m_s: Vector = ZERO
    force_plate: bool = False


FIXED = shaped(Fixed, "A fixed")


class Stairs(Fixed, frozen=True, kw_only=True, tag_field="shape", tag="stairs"):
    """Stairs up along their x, the lower edge of the first riser at position_m.

    Attributes:
        steps: how many
        rise_m: height of a step
        run_m: depth of a step
        width_m: width of a step
    """

    steps: Annotated[int, Meta(ge=1, le=200)]
    rise_m: Length
    run_m: Length
    width_m: Length


class FixedHeightField(Fixed, frozen=True, kw_only=True, tag_field="shape", tag="height_field"):
    """Ground of varying height over a rectangle.

    Attributes:
        size_m: edges along its x and y
        heights_m: rows of heights; x grows within a row, y from row to row
    """

    size_m: tuple[Length, Length]
    heights_m: Annotated[
        tuple[Annotated[tuple[Number, ...], Meta(min_length=2)], ...], Meta(min_length=2)
    ]


if TYPE_CHECKING:
    AnyFixed = Fixed
else:
    AnyFixed = Union[(*FIXED.values(), Stairs, FixedHeightField)]


class PatchKeys(Keys, frozen=True, kw_only=True):
    """Thin plate on the ground with another friction: ice, oil, a mat; 1 mm thick.

    Attributes:
        name: its name; default: patch and its number
        position_m: x, y of its middle
        size_m: edges along its x and y
        yaw_deg: where its x points
        friction: coefficient of friction; of two surfaces the smaller one counts
        color: red, green, blue; default: that of ice
    """

    name: Name | None = None
    position_m: tuple[Number, Number]
    size_m: tuple[Length, Length]
    yaw_deg: Turn = 0.0
    friction: Friction
    color: Color | None = None


# ---- what moves ---------------------------------------------------------------------------------


class Part(Posed, frozen=True, kw_only=True):
    """A part of a rigid object, placed in the object's frame.

    Attributes:
        mass_kg: its mass, evenly spread
    """

    mass_kg: Mass


PARTS = shaped(Part, "A")
if TYPE_CHECKING:
    AnyPart = Part
else:
    AnyPart = Union[tuple(PARTS.values())]  # noqa: UP007


class Loose(Posed, frozen=True, kw_only=True):
    """Free rigid object of a scene.

    Attributes:
        name: its name; default: the shape's
        velocity_m_s: velocity of its origin at the start
        angular_velocity_rad_s: angular velocity at the start, in the world's axes
        pads: soft pads on it
        count: how many of it; with more than one, their names get a number from 1 on
        spacing_m: from each of them to the next
    """

    name: Name | None = None
    velocity_m_s: Vector = ZERO
    angular_velocity_rad_s: Vector = ZERO
    pads: Annotated[tuple[PadKeys, ...], Meta(max_length=100)] = ()
    count: Annotated[int, Meta(ge=1, le=500)] = 1
    spacing_m: Vector = ZERO


class Solid(Loose, frozen=True, kw_only=True):
    """A free rigid object of one shape.

    Attributes:
        mass_kg: its mass, evenly spread
    """

    mass_kg: Mass


OBJECTS = shaped(Solid, "A free")


class Compound(Loose, frozen=True, kw_only=True, tag_field="shape", tag="compound"):
    """A free rigid object of several parts, each with its own surface: a cart, a chair.

    Attributes:
        parts: its parts
    """

    parts: Annotated[tuple[AnyPart, ...], Meta(min_length=1, max_length=200)]


if TYPE_CHECKING:
    AnyObject = Loose
else:
    AnyObject = Union[(*OBJECTS.values(), Compound)]


class BondKeys(Keys, frozen=True, kw_only=True):
    """Bond of two bodies from the start; they do not collide with each other.

    Attributes:
        kind: weld: nothing moves; ball: they turn about a point; hinge: about an axis
        bodies: names of objects or of bodies of a robot; 'world' is what never moves
        point_m: where, in the world; default: the origin of the first body
        axis: of a hinge, in the world
    """

    kind: Literal["weld", "ball", "hinge"]
    bodies: tuple[Word, Word]
    point_m: Vector | None = None
    axis: Vector | None = None


class PushKeys(Keys, frozen=True, kw_only=True):
    """A force on a body for a while.

    Attributes:
        body: an object, or a body of a robot: chest; where several robots have one, left/chest
        at_s: when it begins
        duration_s: how long it lasts
        force_n: force, in the world's axes
        torque_nm: torque, in the world's axes
        point_m: where the force acts, in the body's frame
    """

    body: Word
    at_s: Moment = 0.0
    duration_s: Duration
    force_n: Vector = ZERO
    torque_nm: Vector = ZERO
    point_m: Vector = ZERO
