"""Keys of a scene file about a walk: the path, the gait, the stabiliser."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tabi.scenes.keys.types import Duration, Keys, Length, Moment, Number, Turn

# of a robot that walks
Speed = Annotated[float, Meta(ge=-10.0, le=10.0)]
Count = Annotated[int, Meta(ge=1, le=1000)]
Side = Literal["left", "right"]
Gain = Annotated[float, Meta(ge=0.0, le=1e6)]
# seconds between commands
Tick = Annotated[float, Meta(ge=1e-4, le=0.1)]


class Steps(Keys, frozen=True, kw_only=True, tag_field="go", tag="steps"):
    """Steps that are all alike; the last one brings the feet together.

    Attributes:
        count: how many
        length_m: of each, forwards; default: as suits the robot's legs
        sideways_m: of each, to the left
        turn_deg: of each, to the left
        rise_m: of each, upwards
        first: foot that begins; default: the one whose turn it is
    """

    count: Count = 10
    length_m: Number | None = None
    sideways_m: Number = 0.0
    turn_deg: Turn = 0.0
    rise_m: Number = 0.0
    first: Side | None = None


class Arc(Keys, frozen=True, kw_only=True, tag_field="go", tag="arc"):
    """Walk along an arc of a circle.

    Attributes:
        radius_m: of the circle
        angle_deg: how far along it, to the left
        length_m: of a step at most; default: as suits the robot's legs
        first: foot that begins; default: the one whose turn it is, or on the inner side
    """

    radius_m: Length
    angle_deg: Annotated[float, Meta(ge=-3600.0, le=3600.0)]
    length_m: Length | None = None
    first: Side | None = None


class Climb(Keys, frozen=True, kw_only=True, tag_field="go", tag="stairs"):
    """Climb up or down stairs, both feet on each tread.

    Attributes:
        treads: how many
        rise_m: of each, negative downwards
        depth_m: from each tread to the next
        first: foot that leads; default: the one whose turn it is
    """

    treads: Count
    rise_m: Number
    depth_m: Length
    first: Side | None = None


class Stone(Keys, frozen=True, kw_only=True):
    """A place for a foot.

    Attributes:
        foot: which
        position_m: x, y or x, y, z of the sole; on the level ground unless z is given
        yaw_deg: where its toes point
    """

    foot: Side
    position_m: Annotated[tuple[Number, ...], Meta(min_length=2, max_length=3)]
    yaw_deg: Turn = 0.0


class Stones(Keys, frozen=True, kw_only=True, tag_field="go", tag="stones"):
    """Places in the world, one after the other.

    Attributes:
        places: of the soles; feet take turns
    """

    places: Annotated[tuple[Stone, ...], Meta(min_length=1, max_length=1000)]


class GaitKeys(Keys, frozen=True, kw_only=True):
    """Gait of a robot; default: as suits its legs, its mass and its soles.

    Attributes:
        step_time_s: from one landing to the next
        double_support_s: part of it with both feet on the ground
        lift_m: height of the foot that swings
        centre_height_m: of the centre of mass above the soles
        zmp_m: of the zero moment point under each sole, ahead and outwards of the foot's frame
        shift_s: of the first and the last shift of the weight
        rest_s: to stand, before the first and after the last of them
        landing_speed_m_s: downwards, at the end of a swing
        tick_s: between two commands
    """

    step_time_s: Duration | None = None
    double_support_s: Duration | None = None
    lift_m: Length | None = None
    centre_height_m: Length | None = None
    zmp_m: tuple[Number, Number] | None = None
    shift_s: Duration | None = None
    rest_s: Moment | None = None
    landing_speed_m_s: Annotated[float, Meta(ge=0.0, le=10.0)] | None = None
    tick_s: Tick = 0.005


class StabiliserKeys(Keys, frozen=True, kw_only=True):
    """Gains of a stabiliser; 0 switches a loop off.

    Attributes:
        kind: hirukawa, three loops after Hirukawa (2003), or dcm, by pole placement of the
            divergent component of motion, with an integral, and wrenches by a convex problem
        inclination: of the body's inclination, on the zero moment point; default: 2;
            kind hirukawa alone
        poles_1_s: rates at which errors of the divergent component, the zero moment point and their
            integral fade; default: 10, 10, 1; kind dcm alone
        lag_s: of the zero moment point behind the desired one, delay of sensors included;
            default: 0.035; kind dcm alone
        leak_1_s: rate at which the integral decays; default: 0.02; kind dcm alone
        friction: of the ground, that feet may use; default: 0.5; kind dcm alone
        zmp_damping_1_s: of the feet that give way to their loads;
            default: 10 for feet with rubber, 2 for rigid ones
        foot_adjusting_1_s: of loads that differ, on the feet's heights;
            default: as zmp_damping_1_s
        swing: share of the body's motion that a swing foot compensates, 0 to 1; default: 1, and 0.5
            for legs that cannot roll their soles
        course: share of the walk's deviation from its plan that landings correct, 0 to 1
        margin_m: of the zero moment point inside the soles
        smoothing_s: time constant of what is measured under the feet
    """

    kind: Literal["hirukawa", "dcm"] = "hirukawa"
    inclination: Gain | None = None
    poles_1_s: tuple[Gain, Gain, Gain] | None = None
    lag_s: Duration | None = None
    leak_1_s: Gain | None = None
    friction: Annotated[float, Meta(ge=0.0, le=10.0)] | None = None
    zmp_damping_1_s: Gain | None = None
    foot_adjusting_1_s: Gain | None = None
    swing: Annotated[float, Meta(ge=0.0, le=1.0)] | None = None
    course: Annotated[float, Meta(ge=0.0, le=1.0)] = 1.0
    margin_m: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.01
    smoothing_s: Annotated[float, Meta(ge=0.0, le=10.0)] = 0.01


PathPiece = Steps | Arc | Climb | Stones
