"""Keys of a scene file about robots: what they are, where they start and what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Union

from msgspec import Meta, field

from tabi.scenes.keys.hands import ComplyKeys, NoticeKeys
from tabi.scenes.keys.motions import MotionKeys, Posture
from tabi.scenes.keys.sensors import SensorKeys
from tabi.scenes.keys.soft import PadKeys, SoleKeys
from tabi.scenes.keys.types import (
    ZERO,
    Keys,
    Name,
    Number,
    Quaternion,
    Turn,
    Vector,
    Word,
)
from tabi.scenes.motions import MOTIONS
from tabi.scenes.motions.hold import Hold

# any of the motions that there are
if TYPE_CHECKING:
    Motion = MotionKeys
else:
    Motion = Union[MOTIONS]  # noqa: UP007 - a tuple of types


class FootKeys(Keys, frozen=True, kw_only=True):
    """Foot of a robot from a file.

    Attributes:
        body: the body that it is on
        polygon_m: its outline; default: that of the body's shapes
        position_m: where the polygon is, in the body's frame
        quaternion: w, x, y, z, where the body's z is not up into the leg
    """

    body: Word
    polygon_m: (
        Annotated[tuple[tuple[Number, Number], ...], Meta(min_length=3, max_length=64)] | None
    ) = None
    position_m: Vector | None = None
    quaternion: Quaternion | None = None


class Gains(Keys, frozen=True, kw_only=True):
    """Position loops of a robot's motors, in place of its file's.

    Attributes:
        stiffness_nm_rad: of joints that turn, and in N/m of those that slide
        damping_nms_rad: of joints that turn, and in N·s/m of those that slide
    """

    stiffness_nm_rad: Annotated[float, Meta(gt=0.0, le=1e7)]
    damping_nms_rad: Annotated[float, Meta(ge=0.0, le=1e6)]


class BushKeys(Keys, frozen=True, kw_only=True):
    """Rubber between ankle and sole, of each foot; default: HRP-2's.

    Attributes:
        stiffness_nm_rad: about roll and pitch
        damping_nms_rad: about roll and pitch
        vertical_stiffness_n_m: along the normal of the sole
        vertical_damping_ns_m: along the normal of the sole
        mass_below_kg: what of a foot's link is below the rubber; default: four fifths of it
        height_m: of its axes above the sole; default: at the ankle
    """

    stiffness_nm_rad: Annotated[float, Meta(gt=0.0, le=1e9)] = 500.0
    damping_nms_rad: Annotated[float, Meta(ge=0.0, le=1e9)] = 5.0
    vertical_stiffness_n_m: Annotated[float, Meta(gt=0.0, le=1e12)] = 1e5
    vertical_damping_ns_m: Annotated[float, Meta(ge=0.0, le=1e12)] = 1e2
    mass_below_kg: Annotated[float, Meta(gt=0.0, le=1e9)] | None = None
    height_m: Number | None = None


class MotorKeys(Keys, frozen=True, kw_only=True):
    """Motor and gear of a joint, where they differ from the robot's.

    Attributes:
        torque_limit_nm: most that it gives at rest and in braking, at the joint;
            in N of a joint that slides
        no_load_speed_rad_s: speed of the joint at which it can give nothing, on a straight line
            from torque_limit_nm at rest; in m/s of a joint that slides
        gear_ratio: turns of the motor for one of the joint
        rotor_inertia_kg_m2: of the rotor, at the motor
        kp_nm_rad: gain of its position loop, at the joint
        kd_nms_rad: gain of its velocity loop, at the joint
        motor_kp_nm_rad: instead of kp_nm_rad: torque of the motor for an error of the joint;
            the joint gets gear_ratio times as much
        motor_kd_nms_rad: instead of kd_nms_rad, likewise
        dry_friction_nm: of the gear, at the joint; it truly sticks
        viscous_friction_nms_rad: of the gear, at the joint
        exact: whether the joint moves exactly as commanded, whatever torque that takes
    """

    torque_limit_nm: Annotated[float, Meta(gt=0.0, le=1e9)] | None = None
    no_load_speed_rad_s: Annotated[float, Meta(gt=0.0, le=1e6)] | None = None
    gear_ratio: Annotated[float, Meta(gt=0.0, le=1e6)] | None = None
    rotor_inertia_kg_m2: Annotated[float, Meta(ge=0.0, le=1e6)] | None = None
    kp_nm_rad: Annotated[float, Meta(ge=0.0, le=1e9)] | None = None
    kd_nms_rad: Annotated[float, Meta(ge=0.0, le=1e9)] | None = None
    motor_kp_nm_rad: Annotated[float, Meta(ge=0.0, le=1e9)] | None = None
    motor_kd_nms_rad: Annotated[float, Meta(ge=0.0, le=1e9)] | None = None
    dry_friction_nm: Annotated[float, Meta(ge=0.0, le=1e9)] | None = None
    viscous_friction_nms_rad: Annotated[float, Meta(ge=0.0, le=1e9)] | None = None
    exact: bool = False


class RobotKeys(Posture, frozen=True, kw_only=True):
    """Robot of a scene, where it starts, and what it does.

    Attributes:
        robot: built in (hrp2, hrp1s, hoap2, cb), or the path of a URDF, MJCF, .wrl or .body file,
            from the folder of the scene file
        name: its name; default: the robot's own
        base: whether it is bolted to the world; default: as its file specifies
        feet: feet by name, each a body or more about it; for robots from files
        gains: of all motors, in place of the file's; made up from what each joint moves
            where neither gives any, unless the robot is limp
        bush: rubber between ankle and sole; default: none
        soles: soft soles under its feet; default: none
        pads: soft pads on its bodies
        rigid_joints: whether no servo gives way: all joints move exactly as commanded, whatever
            torque that takes
        motors: motors and gears by their joints, where they differ from the robot's
        sensors: sensors by name: those that the robot has are changed, others added
        grippers: whether hrp2 has a jaw with a joint of its own on each hand
        grip_nm: joints that close, slowly, until they press with this effort, and hold it;
            in N of joints that slide
        grip_on_button: whether grip_nm waits for the button of a hand, and opens while it is up
        complies: arms that give way to what pulls their hands
        notices: whether it notices a touch, and looks at the hand
        stand_ins: soles that the file leaves out, for robots that tabi knows
        collision: what the file says collides; visual shapes where it says nothing;
            or meshes cut into convex pieces, by the package coacd
        hull_tolerance_m: how far surfaces of convex hulls may move inwards where fewer vertices
            take their place; 0 keeps hulls as they are
        sole_tolerance_m: how far outlines of soles may move inwards where fewer corners take their
            place; 0 keeps soles as they are
        max_points: most vertices of each convex hull of a body without a foot
        stands: with its soles on the ground; true unless its base is fixed or position_m has a z
        position_m: x, y of the base of a robot that stands; x, y, z of any other
        yaw_deg: where it looks: 0 along x, 90 along y
        drop_m: how much higher than that it starts
        velocity_m_s: velocity of the base at the start
        motion: what it does
    """

    robot: Annotated[str, Meta(min_length=1, max_length=1000)]
    name: Name | None = None
    base: Literal["floating", "fixed"] | None = None
    feet: dict[Name, Word | FootKeys] = field(default_factory=dict)
    gains: Gains | None = None
    bush: BushKeys | None = None
    soles: SoleKeys | None = None
    pads: Annotated[tuple[PadKeys, ...], Meta(max_length=100)] = ()
    rigid_joints: bool = False
    motors: dict[Word, MotorKeys] = field(default_factory=dict)
    sensors: dict[Word, SensorKeys] = field(default_factory=dict)
    grippers: bool = False
    grip_nm: dict[Word, Annotated[float, Meta(ge=-1e6, le=1e6)]] = field(default_factory=dict)
    grip_on_button: bool = False
    complies: Annotated[tuple[ComplyKeys, ...], Meta(max_length=10)] = ()
    notices: NoticeKeys | None = None
    stand_ins: bool = False
    collision: Literal["file", "visual", "decomposed"] = "file"
    hull_tolerance_m: Annotated[float, Meta(ge=0.0, le=1.0)] = 1e-3
    sole_tolerance_m: Annotated[float, Meta(ge=0.0, le=1.0)] = 1e-3
    max_points: Annotated[int, Meta(ge=4, le=10**6)] | None = None
    stands: bool | None = None
    position_m: Annotated[tuple[Number, ...], Meta(min_length=2, max_length=3)] = ZERO[:2]
    yaw_deg: Turn = 0.0
    drop_m: Annotated[float, Meta(ge=0.0, le=1e3)] = 0.0
    velocity_m_s: Vector = ZERO
    motion: Motion = Hold()
