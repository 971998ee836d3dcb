"""The controller of a walk that is steered, and that answers pushes by its steps."""

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
from tabi.walking.balance.ticks import StabilisedWalk
from tabi.walking.gait_controller import GaitController
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES, Footstep, centre
from tabi.walking.plan.gait import Gait, gait_for
from tabi.walking.plan.pattern import WalkingPattern, walking_pattern
from tabi.walking.steered.capture_margin import find_margin
from tabi.walking.steered.steps import PUSHED, WAITED
from tabi.walking.steered.steps_ahead import STAND, STOP, SWING
from tabi.walking.steered.tables import AHEAD, STANDING, STEPPING, SteeredWalk, StepPlan
from tabi.walking.steered.tick import STRETCHED, steered_tick

Array = NDArray[np.float64]
# of the gait's length, a step at most; of a step's time, the shortest swing of a walk, of a robot
# that stands and catches a push, and the time to reach the speed that is steered
LONGEST, SHORTEST, QUICKEST, SPEEDING = 1.5, 0.45, 0.3, 1.0
# a step sideways, of the width of a sole
WIDE = 1.5
# mean speed of a foot that swings, of √(g × leg), whatever motors are told to be able to
FASTEST = 0.51
# why a walk stops by itself
GIVEN_UP = {
    PUSHED: "a step that would have caught it was out of reach",
    WAITED: "for too long no step would have caught it",
}
# turn of a foot in one step at most [rad]
TURN = 0.5
# between two soles [m]; of the leg's length, by which a hip may be lower in a long step
GAP, DROP = 0.02, 0.06
# arrays of a pattern that kernels write to, and of its schedule
PATTERN = ["centre", "centre_velocity", "zmp", "q", "yaw", "position", "effort", "share", "under"]
SCHEDULE = ["zmp", "position", "rotation", "ground", "support"]


class Steering(NamedTuple):
    """Forwards and to the left [m/s], turning to the left [rad/s]."""

    forward: float = 0.0
    sideways: float = 0.0
    turn: float = 0.0


class StepReach(NamedTuple):
    """Where a foot may land, from the one that stands: back, forwards, sideways from near to far,
    and the farthest of all [m]; the shortest swing [s]; ω of the pendulum [1/s].
    """

    back: float
    forward: float
    near: float
    far: float
    farthest: float
    shortest: float
    omega: float


class SteeredWalker(GaitController):
    """Walks where it is steered, and puts its feet where they catch a push: a controller, to be
    asked once in every tick of the gait, ``rate=1/gait.tick``. It reads encoders, IMU and foot
    sensors, and no truth. It stands until it is steered.

    Args:
        robot: standing with bent knees: ``robot.stand_on_ground()``.
        gait: the robot's own, ``gait_for(robot)``, unless given.
        stabiliser: gains of its loops; the usual ones unless given.
        adapts: whether steps answer to pushes.
        estimator: of the body's inclination; the robot's own sensors unless given.

    Attributes:
        biped, gait: what walks, and how. fastest: limits of ``steer``, each alone.
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
        told = Stabiliser() if stabiliser is None else stabiliser
        super().__init__(steered_tick, self.biped.robot, self.gait.tick, told, estimator)

    def steer(self, forward: float = 0.0, sideways: float = 0.0, turn: float = 0.0) -> Steering:
        """Walk on with other steps, from the next tick on; all zero walks on the spot.

        Args:
            forward, sideways: to the front and to the left [m/s]. turn: to the left [rad/s].

        Returns:
            what that is limited to; ``reason`` tells why.
        """
        asked = np.array(
            [
                real(f"{name} of steering", value)
                for name, value in zip(Steering._fields, (forward, sideways, turn), strict=True)
            ]
        )
        if not np.isfinite(asked).all():
            told = ", ".join(f"{value:g}" for value in asked)
            raise ModelError(f"steering is ({told}); expected finite numbers [m/s, rad/s]")
        parts = np.abs(asked) / self.fastest
        # parts of what each alone could be add up
        size = float(parts.sum())
        self._limited = ""
        if size > 1.0:
            asked /= size
            name = Steering._fields[int(np.argmax(parts))]
            unit = "rad/s" if name == "turn" else "m/s"
            self._limited = (
                f"steering of {self.biped.robot.name} is limited to {1 / size:.0%} of what was "
                f"asked: {name} of at most {getattr(self.fastest, name):.2f} {unit} alone"
            )
        plan = self._walk.plan
        plan.asked[:] = asked
        plan.now["walk"][0], plan.now["why"][0] = 1, 0
        return Steering(*(float(value) for value in asked))

    def stop(self) -> None:
        """Bring the feet together with the next steps, and stand."""
        self._walk.plan.now["walk"][0] = 0

    @property
    def stopped(self) -> bool:
        """Whether it gave the walk up by itself, or fell."""
        return self.fell or bool(self._walk.plan.now["why"][0])

    @property
    def reason(self) -> str:
        """Why the walk stopped by itself, or why the last ``steer`` was limited; else ""."""
        if self.fell:
            return f"{self.biped.robot.name} fell; put it back on its feet: sim.stand_up(robot)"
        why = int(self._walk.plan.now["why"][0])
        if why == 0:
            return self._limited
        return f"{self.biped.robot.name} stopped walking: {GIVEN_UP[why]}; steer it to go on"

    @property
    def reach(self) -> StepReach:
        """Where its feet may land."""
        row = self._settings[0]
        names = ("back", "forward", "near", "far", "reach", "quickest", "omega")
        return StepReach(*(float(row[name]) for name in names))

    @property
    def steering(self) -> Steering:
        """What it is told to do now, within its limits; all zero where it is to stand."""
        plan = self._walk.plan
        return Steering(*(float(x) for x in plan.asked)) if plan.now["walk"][0] else Steering()

    @property
    def stands(self) -> bool:
        """Whether it stands on both feet, and does not mean to walk."""
        now = self._walk.plan.now[0]
        return bool(now["phase"] == STAND and now["walk"] == 0 and not self.fell)

    @property
    def support(self) -> int:
        """As in ``Schedule``: BOTH, LEFT or RIGHT."""
        return int(self._walk.loop.reference.support[0])

    @property
    def landed(self) -> int:
        """Steps so far."""
        return int(self._walk.plan.now["landed"][0])

    @property
    def feet(self) -> dict[str, Transform]:
        """Each sole, as it is meant to be now."""
        return {side: _pose(*self._walk.plan.foot[i]) for i, side in enumerate(SIDES)}

    @property
    def footsteps(self) -> list[Footstep]:
        """Where feet will land, the next one first."""
        plan = self._walk.plan
        now = plan.now[0]
        if now["phase"] not in (SWING, SWING - 1) or self.fell:
            return []
        z = float(plan.foot[now["stance"], 2])
        steps, side = [], 1 - int(now["stance"])
        for k in range(1, int(now["count"]) + 1):
            x, y, yaw = plan.hold[k]
            steps.append(Footstep(SIDES[side], _pose(x, y, z, yaw)))
            side = 1 - side
        return steps

    @property
    def zmp(self) -> Array:
        """That the stabiliser wanted last [m], shape (2,)."""
        return self._walk.loop.zmp[:2].copy()

    @property
    def planned_zmp(self) -> Array:
        """Of the plan [m], shape (2,)."""
        return self._walk.plan.zmp[1].copy()

    @property
    def centre_of_mass(self) -> Array:
        """As it is estimated [m], shape (3,)."""
        return self._walk.loop.centre[:3].copy()

    @property
    def capture_point(self) -> Array:
        """ξ, from the estimate [m], shape (2,)."""
        c = self._walk.loop.centre
        return c[:2] + c[3:5] / float(self._settings["omega"][0])

    @property
    def margin(self) -> float:
        """How far the capture point could be moved, whatever the direction, and still be held by
        the soles or caught by the next step [m]; 0: it falls.
        """
        if self.fell:
            return 0.0
        walk = self._walk
        xi = tuple(float(x) for x in self.capture_point)
        args = (walk.plan, walk.loop.box, xi)
        if self._margin is None:
            self._margin = entry(find_margin, *args)
        return float(self._margin(*args))

    def _changing(self, walk: SteeredWalk) -> list[object]:
        plan = walk.plan
        own = [value for name, value in zip(plan._fields, plan, strict=True) if name != "settings"]
        return [*super()._changing(walk), walk.loop.reference, walk.progress.effort, *own]

    def _fresh(self) -> SteeredWalk:
        walk = self._begin(_standing(self.biped, self.gait), self.stabiliser)
        assert isinstance(walk, StabilisedWalk)
        parts = {name: getattr(walk, name) for name in SteeredWalk._fields if name != "plan"}
        return SteeredWalk(**parts, plan=_plan(self._start, self._settings))


def _pose(x: float, y: float, z: float, yaw: float) -> Transform:
    return translation((x, y, z)) @ about((0, 0, 1), float(yaw))


def _standing(biped: Biped, gait: Gait) -> WalkingPattern:
    """Two ticks of standing."""
    whole = walking_pattern(biped, [], gait)
    return replace(
        whole,
        schedule=replace(whole.schedule, **_rows(whole.schedule, SCHEDULE)),
        **_rows(whole, PATTERN),
    )


def _rows(of: object, names: Iterable[str]) -> dict[str, Array]:
    """The first two of arrays that kernels will write to."""
    return {name: getattr(of, name)[:2].copy() for name in names}


def _hips(biped: Biped) -> Array:
    """Where the thighs turn, from the base of a robot that faces along x [m], shape (2, 3)."""
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
    height -= min(X.p[2] for X in biped.stance.values()) + ankle + DROP * leg
    level = sqrt(max((STRETCHED * leg) ** 2 - height**2, (0.1 * leg) ** 2))
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
        "near": boxes["right"][3] - boxes["left"][2] + GAP,
        "far": width + level,
        "reach": 2.0 * level + 0.5 * width,
        # from rest to rest the mean is 8/15 of the largest speed
        "foot_speed": min(
            8.0 / 15.0 * biped.leg_length * float(limits.min()),
            FASTEST * sqrt(g * biped.leg_length),
        ),
        "least": min(SHORTEST * gait.step_time, single),
        "quickest": min(QUICKEST * gait.step_time, single),
        "speeding": LONGEST * gait.length / gait.step_time**2 / SPEEDING,
        "turning": 0.5 * TURN / gait.step_time**2 / SPEEDING,
        "leg": leg,
        "ankle": ankle,
        "margin": 0.01,
        "gain": 2.0,
        "yields": 2.0,
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
    """Limits of each alone."""
    width = float(np.hypot(*(biped.stance["left"].p - biped.stance["right"].p)[:2]))
    # a narrow sole holds little of what a wide step leaves to it
    sole = min(float(np.ptp(biped.outline[side][:, 1])) for side in SIDES)
    wide = 0.5 * min(float(row["far"]) - width, gait.length, WIDE * sole)
    T = gait.step_time
    return Steering(min(LONGEST * gait.length, float(row["forward"])) / T, wide / T, 0.5 * TURN / T)


def _plan(start: WalkingPattern, settings: NDArray[np.void]) -> StepPlan:
    """A robot that stands, and brings its weight between its feet."""
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
        asked=np.zeros(3),
        going=np.zeros(3),
        beside=beside,
        foot=foot,
        swing=np.zeros((3, 3)),
        level=foot[:, 2].copy(),
        rise=np.zeros(3),
        hold=np.tile(foot[0, [0, 1, 3]], (AHEAD + 2, 1)),
        under=np.zeros((AHEAD + 3, 2)),
        zmp=np.tile(biped.centre[:2], (2, 1)),
        xi=biped.centre[:2].copy(),
        at_landing=np.zeros(2),
        wanted=np.zeros(2),
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
