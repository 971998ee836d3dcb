"""Gains of the stabiliser, and what its kernels work with: see ``stabiliser``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.dynamics import kinematics
from tabi.jit.structure import Structure
from tabi.model.arrays import table
from tabi.walking.balance.course import NOBODY, Course
from tabi.walking.balance.dcm import feedback
from tabi.walking.balance.wrench_distribution import Distribution, distribution
from tabi.walking.legs.leg import JOINTS
from tabi.walking.legs.whole_body import WholeBody
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.pattern import WalkingPattern, body_of
from tabi.walking.plan.schedule import way_along

Array = NDArray[np.float64]
# of feet with rubber, and of rigid ones [1/s]
RATES = (10.0, 2.0)
# of soles that legs roll level, and of others
SWING = (1.0, 0.5)
# most that soles are taken to be off their plan: of a leg's length, and of length and width of a
# sole; margin of the zero moment point inside of a sole, of its width at most
ASIDE, OF_SOLE, MARGIN = 0.03, np.array([0.1, 0.05]), 0.125


@dataclass(frozen=True, kw_only=True)
class StabiliserGains:
    """What all stabilisers have; a gain of 0 switches its loop off.

    Attributes:
        zmp_damping: a of (3) [1/s]; unless given 10 for feet with rubber, 2 for rigid ones.
        foot_adjusting: rate at which loads that differ move the feet [1/s]; unless given as
            ``zmp_damping``.
        swing: how much of the body's motion a foot that swings makes up for, 0 to 1; unless given
            1, and ½ for legs that cannot roll their soles: a sole that leans with the body lands
            on its edge wherever it is put, and one that goes half along with the sway ends it.
        course: how much of what the walk is off the plan of its whole way a landing makes up for,
            0 to 1; see ``course``.
        margin: of the zero moment point inside the soles [m]; at most an eighth of their width.
        smoothing: time constant of the wrenches' low-pass [s].
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
        """Gains of the wanted zero moment point, of SETTINGS, for a pendulum of ω [1/s]."""
        raise NotImplementedError


@dataclass(frozen=True)
class Stabiliser(StabiliserGains):
    """Gains of the three loops of Hirukawa et al. (2003); a gain of 0 switches its loop off.

    Attributes:
        inclination: k of (2).
    """

    inclination: float = 2.0

    def law(self, omega: float) -> dict[str, float]:
        """The divergent component alone."""
        return {"inclination": self.inclination}


@dataclass(frozen=True)
class DcmStabiliser(StabiliserGains):
    """Divergent component, measured zero moment point and an integral, see ``dcm``; wrenches of
    the feet by ``wrench_distribution``.

    Attributes:
        poles: rates at which errors fade [1/s], three; None feeds nothing back.
        lag: of the zero moment point behind what is wanted, with all that delays what is known of
            it [s]: a tick, the wrenches' low-pass, the sensors' delay, the ankle.
        leak: rate at which the integral forgets [1/s].
        friction: of the ground, that feet may use.
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
        """By pole placement."""
        back = (0.0, 0.0, 0.0)
        if self.poles is not None:
            back = feedback(omega, self.lag, self.poles, self.leak)
        names = ("inclination", "zmp_feedback", "integral")
        more = {"leak": self.leak, "friction": self.friction, "distributes": 1.0}
        return dict(zip(names, back, strict=True)) | more


# what the kernel is told once: gains, and of the robot its weight [N], stiffness of ankles,
# with motors and of rubber alone [N·m/rad], and along the legs [N/m], ω of the pendulum [1/s],
# height of its centre [m], tick [s]
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
    """A stabiliser at work.

    Attributes:
        settings: of SETTINGS, shape (1,).
        pivot: of each foot in its sole's axes [m], shape (2, 3). box: least and largest x and y of
            each sole [m], shape (2, 4).
        joint, joint_velocity: as measured, in the order of q and v of the model.
        attitude, turning: R and ω of the base, shapes (9,) and (3,).
        wrench: of the ground on each foot, at its sole in its axes [N, N·m], shape (2, 6).
        smooth: the same after a low-pass, about the pivots.
        turn, lower: φ of (3) and what foot adjusting lowers, shapes (2, 2) and (1,).
        shift: correction of each foot that swings, from the base: place and rotation, shape (2, 6).
        given_way: −τ_d/K_b of (3) after a low-pass [rad], shape (2, 2).
        answer: configuration that the joints should have. effort: Δeffort of (3), in the order of
            commands.
        zmp: that is wanted [m], shape (3,). centre: estimate [m, m/s], shape (6,).
        error, summed: e and i of ``dcm`` [m, m·s], shape (2,).
        wanted: of each foot its share of the weight and torque about its pivot, x and y of its sole
            [N·m], shape (2, 3). planned: torque of the pattern, shape (2, 2).
        distribution: what shares the load, where ``DcmStabiliser`` does. course: see there.
    """

    settings: NDArray[np.void]
    pivot: NDArray[np.float64]
    box: NDArray[np.float64]
    joint: NDArray[np.float64]
    joint_velocity: NDArray[np.float64]
    attitude: NDArray[np.float64]
    turning: NDArray[np.float64]
    wrench: NDArray[np.float64]
    smooth: NDArray[np.float64]
    turn: NDArray[np.float64]
    lower: NDArray[np.float64]
    shift: NDArray[np.float64]
    given_way: NDArray[np.float64]
    answer: NDArray[np.float64]
    effort: NDArray[np.float64]
    zmp: NDArray[np.float64]
    centre: NDArray[np.float64]
    error: NDArray[np.float64]
    summed: NDArray[np.float64]
    wanted: NDArray[np.float64]
    planned: NDArray[np.float64]
    distribution: Distribution
    course: Course
    body: WholeBody
    reference: Reference


def loop_of(pattern: WalkingPattern, stabiliser: StabiliserGains) -> StabiliserLoop:
    """A stabiliser at the start of a walk."""
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
        turning=np.zeros(3),
        wrench=np.zeros((2, 6)),
        smooth=smooth,
        turn=np.zeros((2, 2)),
        lower=np.zeros(1),
        shift=np.zeros((2, 6)),
        given_way=np.zeros((2, 2)),
        answer=pattern.q[0].copy(),
        effort=np.zeros(len(biped.joints)),
        zmp=np.zeros(3),
        centre=np.zeros(6),
        error=np.zeros(2),
        summed=np.zeros(2),
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
    own = {"swing": SWING["roll" in biped.free.values()]}
    for field in fields(StabiliserGains):
        given = getattr(stabiliser, field.name)
        row[field.name] = own.get(field.name, rate) if given is None else given
    for name, gain in stabiliser.law(pattern.omega).items():
        row[name] = gain
    row["weight"] = biped.mass * float(np.linalg.norm(biped.model.arrays.gravity))
    row["ankle"], row["rubber"], row["leg"] = stiffness(biped)
    row["omega"], row["height"] = pattern.omega, pattern.gait.centre_height
    row["tick"] = pattern.gait.tick
    width = min(float(np.ptp(outline[:, 1])) for outline in biped.outline.values())
    row["margin"] = min(row["margin"], MARGIN * width)
    return settings


def _course(pattern: WalkingPattern, share: float, pivot: Array, box: Array) -> Course:
    """At the start of a walk; one without steps has none."""
    biped, plan, steps = pattern.biped, pattern.schedule, pattern.steps
    count = len(plan.support)
    sole = (box[:, 1::2] - box[:, ::2]).min(axis=0)
    landing = np.zeros((count, 2))
    along = np.zeros(count)
    for step, lift, land in zip(steps, plan.lift, plan.land, strict=True):
        landing[lift:land] = (step.pose @ pivot[SIDES.index(step.foot)])[:2]
        along[lift:land] = way_along(np.arange(1, land - lift + 1) / (land - lift))
    above, hip = _hips(biped)
    return Course(
        above=above,
        hip=hip,
        share=np.full(1, share if steps else 0.0),
        most=np.minimum(ASIDE * biped.leg_length, OF_SOLE * sole),
        landing=landing,
        own=np.zeros((2, 2)),
        sent=np.zeros(2),
        aim=np.zeros(3),
        along=along,
        base=np.zeros(3),
        turned=np.zeros(1),
        start=np.zeros(2),
        swung=np.array([NOBODY, 0]),
        stands=np.zeros((2, 3)),
        left=np.zeros(3),
        moved=np.zeros((2, 3)),
        position=plan.position[0].copy(),
        rotation=plan.rotation[0].reshape(2, 9).copy(),
        under=pattern.under[0].copy(),
    )


def _hips(biped: Biped) -> tuple[NDArray[np.int64], Array]:
    """Bodies that the legs hang on, 0 for the base, and where they are from it, row by row."""
    model, body = biped.model.arrays, body_of(biped)
    rows, q = model.body, biped.q.copy()
    root, at = 1, int(rows["q_start"][1])
    q[at : at + 7] = (0, 0, 0, 1, 0, 0, 0)
    kinematics.positions(model, q, body.work)
    above, hip = np.zeros(2, np.int64), np.zeros((2, 12))
    for side in range(2):
        first = int(np.flatnonzero(rows["v_start"] == biped.legs.v_at[side, 0])[-1])
        parent = int(rows["parent"][first])
        if parent != root:
            above[side] = parent
            seen = body.work.body[parent]
            hip[side] = [*seen["rotation"], *seen["position"]]
    return above, hip


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
    """Of ankles, motors and rubber in series, of rubber alone [N·m/rad], and of rubber along the
    legs [N/m]; 0 where there is no rubber.
    """
    bush = biped.robot.bush
    legs = biped.legs
    ankles = [legs.v_at[i, legs.knee[i] + 1 : legs.count[i]] for i in range(len(SIDES))]
    kp = biped.model.arrays.dof["kp"][np.concatenate(ankles)]
    gives = float(np.mean([1.0 / k if k > 0 else 0.0 for k in kp]))
    if bush is None:
        return (1.0 / gives if gives > 0 else np.inf), 0.0, 0.0
    rubber = bush.rubber
    return 1.0 / (gives + 1.0 / rubber.stiffness), rubber.stiffness, rubber.vertical_stiffness
