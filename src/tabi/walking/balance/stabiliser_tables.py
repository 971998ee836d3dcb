"""Gains of the stabiliser and tables of its kernels: see ``stabiliser``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.dynamics import kinematics
from tabi.jit.structure import Structure
from tabi.model.arrays import table
from tabi.walking.balance.course import NOT_STARTED, Course
from tabi.walking.balance.dcm import feedback
from tabi.walking.balance.wrench_distribution import Distribution, distribution
from tabi.walking.legs.leg import JOINTS
from tabi.walking.legs.whole_body import WholeBody
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.pattern import WalkingPattern, body_of
from tabi.walking.plan.schedule import level_progress

Array = NDArray[np.float64]
# default gains of feet with rubber, and of rigid ones [1/s]
RATES = (10.0, 2.0)
# default ``swing`` of legs that can roll their soles, and of others
SWING = (1.0, 0.5)
# largest assumed offset of a sole from its plan: share of the leg length, and of length and width
# of the sole; largest margin of the zero moment point inside a sole, share of its width
MAX_OFFSET_PER_LEG, MAX_OFFSET_PER_SOLE, MAX_MARGIN_PER_WIDTH = 0.03, np.array([0.1, 0.05]), 0.125


@dataclass(frozen=True, kw_only=True)
class StabiliserGains:
    """Gains that all stabilisers share; a gain of 0 switches its loop off.

    Attributes:
        zmp_damping: a of (3) [1/s]; default: 10 for feet with rubber, 2 for rigid ones.
        foot_adjusting: rate at which a load difference moves the feet [1/s]; default: as
            ``zmp_damping``.
        swing: share of the body's motion that a swing foot compensates, 0 to 1; default: 1, and ½
            for legs that cannot roll their soles: a sole that leans with the body lands on its
            edge wherever it is put, and one that follows half of the sway ends it.
        course: share of the walk's deviation from its planned path that a landing corrects, 0 to
            1; see ``course``.
        margin: distance of the zero moment point inside the soles [m]; at most an eighth of their
            width.
        smoothing: time constant of the wrenches' low-pass [s].

    Examples:
        >>> isinstance(tabi.walking.Stabiliser(), tabi.walking.StabiliserGains)
        True
    """

    zmp_damping: float | None = None
    foot_adjusting: float | None = None
    swing: float | None = None
    course: float = 1.0
    margin: float = 0.01
    smoothing: float = 0.01

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            for number in value if isinstance(value, tuple) else (value,):
                if number is None:
                    continue
                if not 0 <= real(f"{field.name} of the stabiliser", number) < inf:
                    raise ModelError(
                        f"{field.name} of the stabiliser is {value}; expected a number ≥ 0"
                    )
        for name in ("swing", "course"):
            if (getattr(self, name) or 0) > 1:
                raise ModelError(
                    f"{name} of the stabiliser is {getattr(self, name)}; expected 0 to 1"
                )

    def law(self, omega: float) -> dict[str, float]:
        """Return the gains of the desired zero moment point, columns of SETTINGS, for a pendulum of
        ω [1/s].
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Stabiliser(StabiliserGains):
    """Gains of the three loops of Hirukawa et al. (2003); a gain of 0 switches its loop off.

    Attributes:
        inclination: k of (2).

    Examples:
        >>> stabiliser = tabi.walking.Stabiliser(inclination=2.0)
    """

    inclination: float = 2.0

    def law(self, omega: float) -> dict[str, float]:
        """Return the gain on the divergent component alone."""
        return {"inclination": self.inclination}


@dataclass(frozen=True)
class DcmStabiliser(StabiliserGains):
    """Gains on the divergent component, the measured zero moment point and an integral, see
    ``dcm``; foot wrenches by ``wrench_distribution``.

    Attributes:
        poles: three rates at which errors decay [1/s]; None: no feedback.
        lag: of the measured zero moment point behind the desired one [s]: a tick, the wrenches'
            low-pass, the sensors' delay, the ankle.
        leak: rate of the integral's decay [1/s].
        friction: coefficient that feet may use.

    Examples:
        >>> stabiliser = tabi.walking.DcmStabiliser(poles=(10.0, 8.0, 1.0))
    """

    poles: tuple[float, float, float] | None = (10.0, 10.0, 1.0)
    lag: float = 0.035
    leak: float = 0.02
    friction: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.poles is not None and len(self.poles) != 3:
            raise ModelError(f"poles of the stabiliser are {self.poles}; expected three rates")
        if not self.lag > 0:
            raise ModelError(f"lag of the stabiliser is {self.lag}; expected a number > 0")

    def law(self, omega: float) -> dict[str, float]:
        """Return gains by pole placement."""
        gains = (0.0, 0.0, 0.0)
        if self.poles is not None:
            gains = feedback(omega, self.lag, self.poles, self.leak)
        names = ("inclination", "zmp_feedback", "integral")
        extra = {"leak": self.leak, "friction": self.friction, "distributes": 1.0}
        return dict(zip(names, gains, strict=True)) | extra


# constants of the kernel: gains, and of the robot its weight [N], stiffness of ankles with motors
# and of rubber alone [N·m/rad], and along the legs [N/m], ω of the pendulum [1/s], height of its
# centre [m], tick [s]
SETTINGS = np.dtype(
    [
        (name, float)
        for name in (
            "inclination",
            "zmp_feedback",
            "integral",
            "leak",
            "distributes",
            "friction",
            "zmp_damping",
            "foot_adjusting",
            "swing",
            "course",
            "margin",
            "smoothing",
            "weight",
            "ankle",
            "rubber",
            "leg",
            "omega",
            "height",
            "tick",
        )
    ],
    align=True,
)


class Reference(Structure):
    """A walking pattern for kernels, see ``WalkingPattern``; soles' rotations row by row."""

    q: NDArray[np.float64]
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    under: NDArray[np.float64]
    support: NDArray[np.int64]
    share: NDArray[np.float64]
    zmp: NDArray[np.float64]
    centre: NDArray[np.float64]
    centre_velocity: NDArray[np.float64]
    yaw: NDArray[np.float64]


class StabiliserLoop(Structure):
    """State of a stabiliser: inputs, filters, integrals and outputs.

    Attributes:
        settings: a row of SETTINGS, shape (1,).
        pivot: ankle of each foot in its sole's axes [m], shape (2, 3). box: smallest and largest x
            and y of each sole [m], shape (2, 4).
        joint, joint_velocity: measured, in the order of q and v of the model.
        attitude, angular_velocity: R and ω of the base, shapes (9,) and (3,).
        wrench: of the ground on each foot, at its sole in its axes [N, N·m], shape (2, 6).
        smooth_wrench: ``wrench`` after a low-pass, about the pivots.
        foot_rotation, foot_lowering: φ of (3) and height difference of foot adjusting, shapes
            (2, 2) and (1,).
        swing_correction: of each swing foot in the base frame: position and rotation, shape (2, 6).
        rubber_rotation: −τ_d/K_b of (3) after a low-pass [rad], shape (2, 2).
        q_desired: desired configuration of the joints. effort: Δeffort of (3), in the order of
            commands.
        zmp: desired [m], shape (3,). centre: estimated c, ċ [m, m/s], shape (6,).
        error, error_integral: e and i of ``dcm`` [m, m·s], shape (2,).
        wanted: desired share of the weight of each foot and torque about its pivot, x and y of its
            sole [N·m], shape (2, 3). planned: torque of the pattern, shape (2, 2).
        distribution: workspace of ``wrench_distribution``. course: foot odometry.
    """

    settings: NDArray[np.void]
    pivot: NDArray[np.float64]
    box: NDArray[np.float64]
    joint: NDArray[np.float64]
    joint_velocity: NDArray[np.float64]
    attitude: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]
    wrench: NDArray[np.float64]
    smooth_wrench: NDArray[np.float64]
    foot_rotation: NDArray[np.float64]
    foot_lowering: NDArray[np.float64]
    swing_correction: NDArray[np.float64]
    rubber_rotation: NDArray[np.float64]
    q_desired: NDArray[np.float64]
    effort: NDArray[np.float64]
    zmp: NDArray[np.float64]
    centre: NDArray[np.float64]
    error: NDArray[np.float64]
    error_integral: NDArray[np.float64]
    wanted: NDArray[np.float64]
    planned: NDArray[np.float64]
    distribution: Distribution
    course: Course
    body: WholeBody
    reference: Reference


def loop_of(pattern: WalkingPattern, stabiliser: StabiliserGains) -> StabiliserLoop:
    """Return a stabiliser at the start of a walk."""
    biped, model = pattern.biped, pattern.biped.model
    settings = _settings(pattern, stabiliser)
    pivot, box = np.zeros((2, 3)), np.zeros((2, 4))
    for i, side in enumerate(SIDES):
        tail = biped.legs.placement[i, JOINTS]
        pivot[i] = -tail[:9].reshape(3, 3).T @ tail[9:]
        outline = biped.outline[side]
        box[i] = np.array([outline.min(axis=0), outline.max(axis=0)]).T.ravel()
    q = biped.q.copy()
    at = int(model.arrays.body["q_start"][1])
    q[at : at + 7] = (0, 0, 0, 1, 0, 0, 0)
    smooth = np.zeros((2, 6))
    smooth[:, 2] = 0.5 * settings["weight"][0]
    return StabiliserLoop(
        settings=settings,
        pivot=pivot,
        box=box,
        joint=q,
        joint_velocity=np.zeros(model.v_count),
        attitude=np.eye(3).ravel(),
        angular_velocity=np.zeros(3),
        wrench=np.zeros((2, 6)),
        smooth_wrench=smooth,
        foot_rotation=np.zeros((2, 2)),
        foot_lowering=np.zeros(1),
        swing_correction=np.zeros((2, 6)),
        rubber_rotation=np.zeros((2, 2)),
        q_desired=pattern.q[0].copy(),
        effort=np.zeros(len(biped.joints)),
        zmp=np.zeros(3),
        centre=np.zeros(6),
        error=np.zeros(2),
        error_integral=np.zeros(2),
        wanted=np.zeros((2, 3)),
        planned=np.zeros((2, 2)),
        distribution=distribution(),
        course=_course(pattern, stabiliser.course, pivot, box),
        body=body_of(biped),
        reference=_reference(pattern),
    )


def _settings(pattern: WalkingPattern, stabiliser: StabiliserGains) -> NDArray[np.void]:
    biped, settings = pattern.biped, table(1, SETTINGS)
    row, rate = settings[0], RATES[0 if biped.robot.bush else 1]
    defaults = {"swing": SWING["roll" in biped.free.values()]}
    for field in fields(StabiliserGains):
        gain = getattr(stabiliser, field.name)
        row[field.name] = defaults.get(field.name, rate) if gain is None else gain
    for name, gain in stabiliser.law(pattern.omega).items():
        row[name] = gain
    row["weight"] = biped.mass * float(np.linalg.norm(biped.model.arrays.gravity))
    row["ankle"], row["rubber"], row["leg"] = stiffness(biped)
    row["omega"], row["height"] = pattern.omega, pattern.gait.centre_height
    row["tick"] = pattern.gait.tick
    width = min(float(np.ptp(outline[:, 1])) for outline in biped.outline.values())
    row["margin"] = min(row["margin"], MAX_MARGIN_PER_WIDTH * width)
    return settings


def _course(pattern: WalkingPattern, share: float, pivot: Array, box: Array) -> Course:
    """Return the odometry at the start of a walk; without steps its corrections are off."""
    biped, plan, steps = pattern.biped, pattern.schedule, pattern.steps
    count = len(plan.support)
    sole = (box[:, 1::2] - box[:, ::2]).min(axis=0)
    landing = np.zeros((count, 2))
    along = np.zeros(count)
    for step, lift, land in zip(steps, plan.lift, plan.land, strict=True):
        landing[lift:land] = (step.pose @ pivot[SIDES.index(step.foot)])[:2]
        along[lift:land] = level_progress(np.arange(1, land - lift + 1) / (land - lift))
    parents, hip = _hips(biped)
    return Course(
        parent=parents,
        hip=hip,
        share=np.full(1, share if steps else 0.0),
        max_offset=np.minimum(MAX_OFFSET_PER_LEG * biped.leg_length, MAX_OFFSET_PER_SOLE * sole),
        landing=landing,
        landing_error=np.zeros((2, 2)),
        landing_correction=np.zeros(2),
        landing_shift=np.zeros(3),
        swing_progress=along,
        base=np.zeros(3),
        yaw_offset=np.zeros(1),
        start=np.zeros(2),
        last_swing=np.array([NOT_STARTED, 0]),
        pivot_pose=np.zeros((2, 3)),
        lift_offset=np.zeros(3),
        offset=np.zeros((2, 3)),
        position=plan.position[0].copy(),
        rotation=plan.rotation[0].reshape(2, 9).copy(),
        under=pattern.under[0].copy(),
    )


def _hips(biped: Biped) -> tuple[NDArray[np.int64], Array]:
    """Return the bodies to which the legs are attached, 0 for the base, and their rotation and
    position in the base frame, row by row.
    """
    model, body = biped.model.arrays, body_of(biped)
    rows, q = model.body, biped.q.copy()
    root, at = 1, int(rows["q_start"][1])
    q[at : at + 7] = (0, 0, 0, 1, 0, 0, 0)
    kinematics.positions(model, q, body.work)
    parents, hip = np.zeros(2, np.int64), np.zeros((2, 12))
    for side in range(2):
        first = int(np.flatnonzero(rows["v_start"] == biped.legs.v_at[side, 0])[-1])
        parent = int(rows["parent"][first])
        if parent != root:
            parents[side] = parent
            pose = body.work.body[parent]
            hip[side] = [*pose["rotation"], *pose["position"]]
    return parents, hip


def _reference(pattern: WalkingPattern) -> Reference:
    plan = pattern.schedule
    return Reference(
        q=pattern.q,
        position=plan.position,
        rotation=np.ascontiguousarray(plan.rotation.reshape(-1, 2, 9)),
        under=pattern.under,
        support=plan.support,
        share=pattern.share,
        zmp=np.column_stack([pattern.zmp, plan.zmp[:, 2]]),
        centre=pattern.centre,
        centre_velocity=pattern.centre_velocity,
        yaw=pattern.yaw,
    )


def stiffness(biped: Biped) -> tuple[float, float, float]:
    """Return the stiffness of ankles, motors and rubber in series, of rubber alone [N·m/rad], and
    of rubber along the legs [N/m]; 0 without rubber.
    """
    bush = biped.robot.bush
    legs = biped.legs
    ankles = [legs.v_at[i, legs.knee[i] + 1 : legs.count[i]] for i in range(len(SIDES))]
    kp = biped.model.arrays.dof["kp"][np.concatenate(ankles)]
    compliance = float(np.mean([1.0 / k if k > 0 else 0.0 for k in kp]))
    if bush is None:
        return (1.0 / compliance if compliance > 0 else np.inf), 0.0, 0.0
    rubber = bush.rubber
    return 1.0 / (compliance + 1.0 / rubber.stiffness), rubber.stiffness, rubber.vertical_stiffness
