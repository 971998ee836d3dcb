"""Keys of a scene file, all of them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from tabi.scenes.keys.hands import HandKeys
from tabi.scenes.keys.robots import RobotKeys
from tabi.scenes.keys.sensors import PlateKeys
from tabi.scenes.keys.things import (
    AnyFixed,
    AnyObject,
    BondKeys,
    Ground,
    Pair,
    PatchKeys,
    PushKeys,
    Surface,
)
from tabi.scenes.keys.types import Duration, Hertz, Keys, Name, Vector, Word

MANY = Meta(max_length=1000)
Law = Literal["coulomb", "pyramid", "frictionless", "selection", "penalty"]
Spring = Annotated[float, Meta(gt=0.0, le=1e12)]


class SelectionKeys(Keys, frozen=True, kw_only=True, tag_field="law", tag="selection"):
    """Constraint selection for the feet, the exact law for all else.

    Attributes:
        mode: one-step: the last state of the feet is corrected once, at a bounded cost
        pressure_rule: whether a foot tips over an edge when its pressure point is there
        candidates: states that are tried at most in a step
    """

    mode: Literal["exact", "one-step"] = "exact"
    pressure_rule: bool = True
    candidates: Annotated[int, Meta(ge=1, le=100_000)] = 400


class PenaltyKeys(Keys, frozen=True, kw_only=True, tag_field="law", tag="penalty"):
    """Springs and dampers under the feet, the exact law elsewhere.

    Attributes:
        stiffness_n_m: along the normal
        roll_stiffness_nm_rad: about the foot's x axis; default: that of springs spread evenly over
            the sole
        pitch_stiffness_nm_rad: likewise, about the foot's y axis
        alpha_s_m: decrease of restitution with the speed of an impact
        damping_ns_m: along the plane; a loaded foot creeps with force over damping
        yaw_damping_nms_rad: about the normal
    """

    stiffness_n_m: Spring = 1e6
    roll_stiffness_nm_rad: Spring | None = None
    pitch_stiffness_nm_rad: Spring | None = None
    alpha_s_m: Annotated[float, Meta(ge=0.0, le=1e6)] = 0.5
    damping_ns_m: Spring = 2e4
    yaw_damping_nms_rad: Spring = 200.0


class Simulation(Keys, frozen=True, kw_only=True):
    """Settings of the computation.

    Attributes:
        step_s: the step
        tolerance_m_s: backward error that every contact has to reach
        scheme: event-driven: impacts happen where they do within a step
        order: 2 for steps whose error goes with the square of the step, where nothing hits
        contact: law of contact: the exact cone, or for comparison a pyramid, no friction or a law
            of feet, whose options are keys
        facets: sides of the pyramid, an even number
        seed: of the noise of sensors
        work_limit: looks at contacts that a step may cost, about 60 ns each; one that needs more is
            missed; null for no limit
        time_limit_s: that the contacts of a step may take; with one, a rerun may end elsewhere
    """

    step_s: Annotated[float, Meta(ge=1e-6, le=0.1)] = 1e-3
    tolerance_m_s: Annotated[float, Meta(ge=1e-14, le=1.0)] = 1e-8
    scheme: Literal["time-stepping", "event-driven"] = "time-stepping"
    order: Annotated[int, Meta(ge=1, le=2)] = 1
    contact: Law | SelectionKeys | PenaltyKeys = "coulomb"
    facets: Annotated[int, Meta(ge=4, le=64, multiple_of=2)] = 8
    seed: Annotated[int, Meta(ge=0, le=2**32 - 1)] = 0
    work_limit: Annotated[int, Meta(ge=1, le=10**12)] | None = 400_000
    time_limit_s: Annotated[float, Meta(gt=0.0, le=3600.0)] | None = None


class RecordKeys(Keys, frozen=True, kw_only=True):
    """Contents of a recording.

    Attributes:
        rate_hz: rows a second of simulated time; default: every step
    """

    rate_hz: Hertz | None = None


class CameraKeys(Keys, frozen=True, kw_only=True):
    """From where the page looks.

    Attributes:
        position_m: where the eye is
        look_at_m: what it looks at
    """

    position_m: Vector
    look_at_m: Vector = (0.0, 0.0, 0.5)


class Contents(Keys, frozen=True, kw_only=True):
    """Contents of a scene file.

    Attributes:
        title: one line about it
        about: more about it
        duration_s: how long it runs
        gravity_m_s2: gravity
        ground: the floor; default: none, and {} is a plain one
        materials: surfaces by name
        pairs: friction and restitution of two materials
        fixed: things that never move
        patches: places on the ground that rub otherwise
        force_plates: plates that measure the wrench on what stands on them, or things that do
        robots: robots
        objects: free rigid things
        bonds: bodies held together from the start
        pushes: forces at their times
        hand: of a person with a haptic device, or the script of one
        simulation: how it is computed
        record: what a recording holds
        watch: bodies whose places are reported at the end; default: robots and objects
        camera: from where the page looks
    """

    title: Annotated[str, Meta(min_length=1, max_length=120)]
    about: Annotated[str, Meta(max_length=4000)] = ""
    duration_s: Duration = 5.0
    gravity_m_s2: Vector = (0.0, 0.0, -9.81)
    ground: Ground | None = None
    materials: dict[Name, Surface] = field(default_factory=dict)
    pairs: Annotated[tuple[Pair, ...], MANY] = ()
    fixed: Annotated[tuple[AnyFixed, ...], MANY] = ()
    patches: Annotated[tuple[PatchKeys, ...], MANY] = ()
    force_plates: Annotated[tuple[PlateKeys, ...], MANY] = ()
    robots: Annotated[tuple[RobotKeys, ...], Meta(max_length=50)] = ()
    objects: Annotated[tuple[AnyObject, ...], MANY] = ()
    bonds: Annotated[tuple[BondKeys, ...], MANY] = ()
    pushes: Annotated[tuple[PushKeys, ...], MANY] = ()
    hand: HandKeys | None = None
    simulation: Simulation = Simulation()
    record: RecordKeys = RecordKeys()
    watch: Annotated[tuple[Word, ...], Meta(max_length=100)] = ()
    camera: CameraKeys | None = None
