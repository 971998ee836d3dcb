"""Controller of a steered walk that answers pushes with steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.estimation.estimator import Estimator
from tabi.jit import entry
from tabi.model.arrays import table
from tabi.model.feet import legs
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform, about, translation
from tabi.walking.balance.stabiliser_tables import Stabiliser, StabiliserGains
from tabi.walking.balance.ticks import BalancedWalk
from tabi.walking.gait_controller import GaitController
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES, Footstep, centre
from tabi.walking.plan.gait import Gait, gait_for
from tabi.walking.plan.pattern import WalkingPattern, walking_pattern
from tabi.walking.steered.capture_margin import capture_margin
from tabi.walking.steered.steps import OUT_OF_REACH, TIMEOUT
from tabi.walking.steered.steps_ahead import STAND, STOP, SWING
from tabi.walking.steered.tables import FOOTSTEPS_AHEAD, STANDING, STEPPING, SteeredWalk, StepPlan
from tabi.walking.steered.tick import MAX_STRETCH, steered_tick

Array = NDArray[np.float64]
# ratio of the longest step to the gait's length; ratios to the step time: shortest swing of a walk,
# shortest swing of a standing robot that catches a push, and time to reach the steered velocity
MAX_STEP_RATIO, MIN_SWING_RATIO = 1.5, 0.45
MIN_CATCH_SWING_RATIO, ACCELERATION_TIME_RATIO = 0.3, 1.0
# ratio of the widest sideways step to the width of a sole
MAX_SIDE_STEP_RATIO = 1.5
# ratio of the mean speed of a swing foot to √(g × leg), whatever the motor limits
MAX_FOOT_SPEED_RATIO = 0.51
# messages of a walk that stops by itself
STOP_REASONS = {
    OUT_OF_REACH: "the step that would have caught it was out of reach",
    TIMEOUT: "no step would have caught it for too long",
}
# largest rotation of a foot in one step [rad]
MAX_TURN = 0.5
# gap between two soles [m]; share of the leg's length by which a hip may be lower in a long step
SOLE_GAP, HIP_DROP_SHARE = 0.02, 0.06
# arrays of a pattern and of its schedule that kernels write to
PATTERN = ["centre", "centre_velocity", "zmp", "q", "yaw", "position", "effort", "share", "under"]
SCHEDULE = ["zmp", "position", "rotation", "ground", "support"]


class Steering(NamedTuple):
    """Velocity ahead and to the left [m/s], yaw rate [rad/s]. Example: ``Steering(0.2, 0, 0)``."""

    forward: float = 0.0
    sideways: float = 0.0
    turn: float = 0.0


class StepReach(NamedTuple):
    """Reach of a foot from the stance foot: backwards, forwards, sideways from near to far, and in
    all [m]; the shortest swing [s]; ω of the pendulum [1/s]. Example: ``walker.reach.forward``.
    """

    back: float
    forward: float
    near: float
    far: float
    farthest: float
    shortest: float
    omega: float


class SteeredWalker(GaitController):
    """Controller that walks where it is steered, and places its feet where they catch a push,
    called once per tick of the gait, ``rate=1/gait.tick``. It reads encoders, IMU and foot sensors,
    and no ground truth. It stands until it is steered. Example: docs/balance.md.

    Args:
        robot: standing with bent knees: ``robot.stand_on_ground()``.
        gait: default: ``gait_for(robot)``.
        stabiliser: gains of its loops; default: ``Stabiliser()``.
        adapts: whether steps adapt to pushes.
        estimator: of the body's inclination; default: from the robot's sensors.

    Attributes:
        biped, gait: the robot and its gait. fastest: limits of ``steer``, each alone.
    """

    def __init__(
        self,
        robot: Robot | Biped,
        gait: Gait | None = None,
        stabiliser: StabiliserGains | None = None,
        *,
        adapts: bool = True,
        estimator: Estimator | None = None,
    ) -> None:
        self.biped = robot if isinstance(robot, Biped) else Biped(robot)
        self.gait = gait_for(self.biped) if gait is None else gait
        self.adapts, self._limited = adapts, ""
        self._margin: Any = None
        self._start = _standing(self.biped, self.gait)
        self._settings = _settings(self.biped, self.gait, adapts)
        self.fastest = _fastest(self.gait, self._settings[0], self.biped)
        gains = Stabiliser() if stabiliser is None else stabiliser
        super().__init__(steered_tick, self.biped.robot, self.gait.tick, gains, estimator)

    def steer(self, forward: float = 0.0, sideways: float = 0.0, turn: float = 0.0) -> Steering:
        """Set the velocity of the walk from the next tick on; all zero steps in place.

        Args:
            forward, sideways: forwards and to the left [m/s]. turn: to the left [rad/s].

        Returns:
            the velocity after the limits; ``reason`` explains a limit.
        """
        requested = np.array(
            [
                real(f"{name} of steering", value)
                for name, value in zip(Steering._fields, (forward, sideways, turn), strict=True)
            ]
        )
        if not np.isfinite(requested).all():
            reported = ", ".join(f"{value:g}" for value in requested)
            raise ModelError(f"steering is ({reported}); expected finite numbers [m/s, rad/s]")
        shares = np.abs(requested) / self.fastest
        # the shares of the individual limits add up
        size = float(shares.sum())
        self._limited = ""
        if size > 1.0:
            requested /= size
            name = Steering._fields[int(np.argmax(shares))]
            unit = "rad/s" if name == "turn" else "m/s"
            self._limited = (
                f"steering of {self.biped.robot.name} is limited to {1 / size:.0%} of the "
                f"request: {name} of at most {getattr(self.fastest, name):.2f} {unit} alone"
            )
        plan = self._walk.plan
        plan.requested[:] = requested
        plan.now["walk"][0], plan.now["stop_reason"][0] = 1, 0
        return Steering(*(float(value) for value in requested))

    def stop(self) -> None:
        """Bring the feet together with the next steps, and stand."""
        self._walk.plan.now["walk"][0] = 0

    @property
    def stopped(self) -> bool:
        """Whether it stopped the walk by itself, or fell."""
        return self.fell or bool(self._walk.plan.now["stop_reason"][0])

    @property
    def reason(self) -> str:
        """Reason why the walk stopped by itself, or the last ``steer`` was limited; else ""."""
        if self.fell:
            return f"{self.biped.robot.name} fell; put it back on its feet: sim.stand_up(robot)"
        code = int(self._walk.plan.now["stop_reason"][0])
        if code == 0:
            return self._limited
        return f"{self.biped.robot.name} stopped walking: {STOP_REASONS[code]}; steer it to go on"

    @property
    def reach(self) -> StepReach:
        """Reach of its feet at the next landing."""
        row = self._settings[0]
        names = ("back", "forward", "near", "far", "reach", "min_catch_swing", "omega")
        return StepReach(*(float(row[name]) for name in names))

    @property
    def steering(self) -> Steering:
        """Velocity of the current steering within its limits; all zero while it is to stand."""
        plan = self._walk.plan
        return Steering(*(float(x) for x in plan.requested)) if plan.now["walk"][0] else Steering()

    @property
    def stands(self) -> bool:
        """Whether it stands on both feet and is not commanded to walk."""
        now = self._walk.plan.now[0]
        return bool(now["phase"] == STAND and now["walk"] == 0 and not self.fell)

    @property
    def support(self) -> int:
        """Support as in ``Schedule``: BOTH, LEFT or RIGHT."""
        return int(self._walk.loop.reference.support[0])

    @property
    def landed(self) -> int:
        """Number of landed steps."""
        return int(self._walk.plan.now["landed"][0])

    @property
    def feet(self) -> dict[str, Transform]:
        """Desired pose of each sole, now."""
        return {side: _pose(*self._walk.plan.foot[i]) for i, side in enumerate(SIDES)}

    @property
    def footsteps(self) -> list[Footstep]:
        """Next landings of the feet, in their order."""
        plan = self._walk.plan
        now = plan.now[0]
        if now["phase"] not in (SWING, SWING - 1) or self.fell:
            return []
        z = float(plan.foot[now["stance"], 2])
        steps, side = [], 1 - int(now["stance"])
        for k in range(1, int(now["count"]) + 1):
            x, y, yaw = plan.footstep[k]
            steps.append(Footstep(SIDES[side], _pose(x, y, z, yaw)))
            side = 1 - side
        return steps

    @property
    def zmp(self) -> Array:
        """Last zero moment point requested by the stabiliser [m], shape (2,)."""
        return self._walk.loop.zmp[:2].copy()

    @property
    def planned_zmp(self) -> Array:
        """Planned zero moment point [m], shape (2,)."""
        return self._walk.plan.zmp[1].copy()

    @property
    def centre_of_mass(self) -> Array:
        """Estimated centre of mass [m], shape (3,)."""
        return self._walk.loop.centre[:3].copy()

    @property
    def capture_point(self) -> Array:
        """Estimated capture point ξ [m], shape (2,)."""
        c = self._walk.loop.centre
        return c[:2] + c[3:5] / float(self._settings["omega"][0])

    @property
    def margin(self) -> float:
        """Largest displacement of the capture point, in any direction, that the soles or the next
        step still catch [m]; 0: the robot falls.
        """
        if self.fell:
            return 0.0
        walk = self._walk
        xi = tuple(float(x) for x in self.capture_point)
        args = (walk.plan, walk.loop.box, xi)
        if self._margin is None:
            self._margin = entry(capture_margin, *args)
        return float(self._margin(*args))

    def _changing(self, walk: SteeredWalk) -> list[object]:
        plan = walk.plan
        plan_parts = [
            value for name, value in zip(plan._fields, plan, strict=True) if name != "settings"
        ]
        return [*super()._changing(walk), walk.loop.reference, walk.progress.effort, *plan_parts]

    def _fresh(self) -> SteeredWalk:
        walk = self._begin(_standing(self.biped, self.gait), self.stabiliser)
        assert isinstance(walk, BalancedWalk)
        return SteeredWalk(*walk, plan=_plan(self._start, self._settings))


def _pose(x: float, y: float, z: float, yaw: float) -> Transform:
    return translation((x, y, z)) @ about((0, 0, 1), float(yaw))


def _standing(biped: Biped, gait: Gait) -> WalkingPattern:
    """Return a pattern of two ticks of standing."""
    whole = walking_pattern(biped, [], gait)
    return replace(
        whole,
        schedule=replace(whole.schedule, **_rows(whole.schedule, SCHEDULE)),
        **_rows(whole, PATTERN),
    )


def _rows(of: object, names: Iterable[str]) -> dict[str, Array]:
    """Return the first two rows of arrays that kernels write to."""
    return {name: getattr(of, name)[:2].copy() for name in names}


def _hips(biped: Biped) -> Array:
    """Return the hip positions in the base frame at yaw 0 [m], shape (2, 3)."""
    X, facing = biped.robot.placements(), about((0, 0, 1), -biped.heading).R
    moves = {body.joint.name: body for body in biped.robot.bodies}
    at = {leg.foot.name: X[moves[leg.hip.joint]].p for leg in legs.find(biped.robot)}
    return np.array([facing @ (at[side] - biped.base_place) for side in SIDES])


def _settings(biped: Biped, gait: Gait, adapts: bool) -> NDArray[np.void]:
    settings = table(1, STEPPING)
    row, boxes = settings[0], {side: _bounds(biped.outline[side]) for side in SIDES}
    g = float(np.linalg.norm(biped.model.arrays.gravity))
    ankle = min(biped.ankle.values())
    leg = biped.leg_length - max(biped.ankle.values())
    height = float(biped.base_place[2] + _hips(biped)[:, 2].min())
    height -= min(X.p[2] for X in biped.stance.values()) + ankle + HIP_DROP_SHARE * leg
    level = sqrt(max((MAX_STRETCH * leg) ** 2 - height**2, (0.1 * leg) ** 2))
    width = float(np.hypot(*(biped.stance["left"].p - biped.stance["right"].p)[:2]))
    single = gait.swing_time
    limits = biped.model.arrays.dof["velocity_limit"][biped.legs.v_at[biped.legs.v_at >= 0]]
    values = {
        "tick": gait.tick,
        "omega": sqrt(g / gait.centre_height),
        "single": single,
        "double": gait.double_support,
        "shift": gait.shift,
        "lift": gait.lift,
        "height": gait.centre_height,
        "ahead": gait.zmp[0],
        "outwards": gait.zmp[1],
        "back": 2.0 * level,
        "forward": 2.0 * level,
        "near": boxes["right"][3] - boxes["left"][2] + SOLE_GAP,
        "far": width + level,
        "reach": 2.0 * level + 0.5 * width,
        # from rest to rest the mean is 8/15 of the largest speed
        "foot_speed": min(
            8.0 / 15.0 * biped.leg_length * float(limits.min()),
            MAX_FOOT_SPEED_RATIO * sqrt(g * biped.leg_length),
        ),
        "min_swing": min(MIN_SWING_RATIO * gait.step_time, single),
        "min_catch_swing": min(MIN_CATCH_SWING_RATIO * gait.step_time, single),
        "acceleration": MAX_STEP_RATIO * gait.length / gait.step_time**2 / ACCELERATION_TIME_RATIO,
        "angular_acceleration": 0.5 * MAX_TURN / gait.step_time**2 / ACCELERATION_TIME_RATIO,
        "leg": leg,
        "ankle": ankle,
        "margin": 0.01,
        "gain": 2.0,
        "yield_rate": 2.0,
        "weight": biped.mass * g,
        "adapts": 1.0 if adapts else 0.0,
    }
    for name, value in values.items():
        row[name] = value
    return settings


def _bounds(outline: Array) -> tuple[float, float, float, float]:
    (a, c), (b, d) = outline.min(axis=0), outline.max(axis=0)
    return float(a), float(b), float(c), float(d)


def _fastest(gait: Gait, row: np.void, biped: Biped) -> Steering:
    """Return the limit of each component of the steering alone."""
    width = float(np.hypot(*(biped.stance["left"].p - biped.stance["right"].p)[:2]))
    # after a wide step, a narrow sole has little margin
    sole = min(float(np.ptp(biped.outline[side][:, 1])) for side in SIDES)
    wide = 0.5 * min(float(row["far"]) - width, gait.length, MAX_SIDE_STEP_RATIO * sole)
    T = gait.step_time
    return Steering(
        min(MAX_STEP_RATIO * gait.length, float(row["forward"])) / T, wide / T, 0.5 * MAX_TURN / T
    )


def _plan(start: WalkingPattern, settings: NDArray[np.void]) -> StepPlan:
    """Return the plan of a standing robot that shifts its weight between its feet."""
    biped, now = start.biped, table(1, STANDING)
    now["phase"], now["left"] = STOP, settings["shift"]
    C = centre(biped.stance)
    n = start.biped.model.v_count
    beside, foot = np.zeros((2, 3)), np.zeros((2, 4))
    for i, side in enumerate(SIDES):
        B, X = C.inverse() @ biped.stance[side], biped.stance[side]
        beside[i] = *B.p[:2], _yaw(B)
        foot[i] = *X.p, _yaw(X)
    pendulum = np.zeros((3, 2))
    pendulum[:, 0] = start.centre[0]
    offset = about((0, 0, 1), -float(start.yaw[0])).R @ (biped.centre - biped.base_place)
    return StepPlan(
        settings=settings,
        now=now,
        requested=np.zeros(3),
        step_velocity=np.zeros(3),
        beside=beside,
        foot=foot,
        swing=np.zeros((3, 3)),
        level=foot[:, 2].copy(),
        rise=np.zeros(3),
        footstep=np.tile(foot[0, [0, 1, 3]], (FOOTSTEPS_AHEAD + 2, 1)),
        under=np.zeros((FOOTSTEPS_AHEAD + 3, 2)),
        zmp=np.tile(biped.centre[:2], (2, 1)),
        xi=biped.centre[:2].copy(),
        at_landing=np.zeros(2),
        xi_planned=np.zeros(2),
        pendulum=pendulum,
        v=np.zeros((1, n)),
        a=np.zeros((1, n)),
        tau=np.zeros((1, n)),
        ground=np.zeros(1),
        whole_zmp=np.zeros((1, 2)),
        left=np.zeros((1, 2)),
        offset=offset,
        hips=_hips(biped),
    )


def _yaw(X: Transform) -> float:
    return float(np.arctan2(X.R[1, 0], X.R[0, 0]))
