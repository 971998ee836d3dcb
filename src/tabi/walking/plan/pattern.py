"""Walking patterns: from footsteps to joints, by preview control of the zero moment point.

1. ``schedule``: soles and zero moment point in time.
2. ``preview``: the centre of mass whose pendulum has that zero moment point.
3. ``whole_body``: joint angles for it, and the resulting zero moment point of the whole robot with
   all its masses. A second preview control follows the difference, which is subtracted from the
   first; two iterations leave millimetres.
4. Joint efforts of the motion, and a check of the joint speeds against the motor limits.

Reference: Kajita et al. (2003), Biped walking pattern generation by using preview control of
zero-moment point, sec. IV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.control.patterns import Pattern, pattern
from tabi.dynamics.workspace import allocate
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.spatial.transform import about
from tabi.walking.legs import whole_body
from tabi.walking.legs.whole_body import WholeBody
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES, Footstep, check
from tabi.walking.plan.gait import Gait, gait_for
from tabi.walking.plan.preview import Preview
from tabi.walking.plan.schedule import Schedule, quintic, schedule
from tabi.walking.plan.trunk_turn import bearable, counter_turn

Array = NDArray[np.float64]
# iterations of the second preview
CORRECTIONS = 2
# rotation of steps that count as straight [rad]
STRAIGHT_TOLERANCE = 0.01
# yaw inertia assumed for the trial rotation of the trunk, share of the robot's m ℓ²: a small one
PROBE_INERTIA = 1.0
# remaining share of the yaw moment above which the trunk does not rotate
MAX_MOMENT_SHARE = 0.5
# pose error of a sole beyond which it is out of reach [m, rad]
OUT_OF_REACH = 1e-6


@dataclass(frozen=True, eq=False)
class WalkingPattern:
    """A walk of n ticks of one robot, ready to be followed.

    Attributes:
        robot: the walking robot. biped, gait, steps: from which it was generated.
        schedule: soles, support and reference of the zero moment point.
        centre, centre_velocity: of mass [m, m/s], shape (n, 3).
        zmp: of the whole robot [m], shape (n, 2).
        q: configurations, shape (n, ·). yaw: of the trunk [rad], shape (n,).
        position, effort: of the joints, in the order of commands, shape (n, joints).
        share: of the load on the left and the right foot, shape (n, 2).
        under: centre of pressure of each sole in single support [m], shape (n, 2, 3).

    Example: ``walking_pattern`` in docs/walking.md
    """

    biped: Biped
    gait: Gait
    steps: tuple[Footstep, ...]
    schedule: Schedule
    centre: Array
    centre_velocity: Array
    zmp: Array
    q: Array
    yaw: Array
    position: Array
    effort: Array
    share: Array
    under: Array

    @property
    def robot(self) -> Robot:
        """The robot for which the pattern was generated."""
        return self.biped.robot

    @property
    def count(self) -> int:
        """Number of ticks of the pattern."""
        return len(self.q)

    @property
    def duration(self) -> float:
        """Duration of the pattern [s]."""
        return self.count * self.gait.tick

    @property
    def omega(self) -> float:
        """ω of the pendulum [1/s]."""
        g = np.linalg.norm(self.biped.model.arrays.gravity)
        return float(np.sqrt(g / self.gait.centre_height))

    def joints(self) -> Pattern:
        """Return joint positions over time, with the base and the zero moment point, for playback
        or a file: ``tabi.control.write_pattern``.
        """
        at = int(self.biped.model.arrays.body["q_start"][1])
        base, yaw = self.q[:, at : at + 3], self.yaw[:, None]
        zero, z = np.zeros((self.count, 2)), self.schedule.zmp[:, 2:]
        times = self.gait.tick * np.arange(self.count)
        extra = {
            "waist": np.hstack([base, zero, yaw]),
            "hip": np.hstack([zero, yaw]),
            "zmp": np.hstack([self.zmp, z]),
        }
        return pattern(self.robot, times, self.position, None, self.biped.joints, extra)

    def __repr__(self) -> str:
        return (
            f"WalkingPattern({self.robot.name}, {len(self.steps)} steps, {self.duration:.2f} s, "
            f"{self.count} ticks)"
        )


def walking_pattern(
    robot: Robot | Biped, steps: Sequence[Footstep], how: Gait | None = None
) -> WalkingPattern:
    """Generate a walk over footsteps, from the current pose of a robot.

    Args:
        robot: standing with bent knees: ``robot.stand_on_ground()``.
        steps: see ``footsteps``; feet take turns. Without any the robot stands as it is.
        how: gait; default: ``gait_for(robot)``.

    Raises:
        ModelError: a footstep is out of reach, or joints exceed the speed of their motors or their
            position limits.

    Example: docs/walking.md
    """
    biped = robot if isinstance(robot, Biped) else Biped(robot)
    how = gait_for(biped) if how is None else how
    check(steps, biped.stance, biped.outline, reach=biped.leg_length, climb=0.5 * biped.leg_length)
    _check_turns(biped, steps)
    plan = schedule(steps, biped.stance, how, biped.centre)
    solver = _Solver(biped, plan, how)
    centre, (q, tau, zmp) = _follow(solver)
    share, effort, points = solver.efforts(q, tau, zmp)
    pattern_ = WalkingPattern(
        biped,
        how,
        tuple(steps),
        plan,
        centre,
        np.gradient(centre, how.tick, axis=0),
        zmp,
        q,
        solver.yaw,
        q[:, solver.q_at],
        effort,
        share,
        points,
    )
    pattern_.joints()
    return pattern_


def _check_turns(biped: Biped, steps: Sequence[Footstep]) -> None:
    """Reject steps that turn, for legs that cannot rotate a sole about the vertical."""
    if "yaw" not in biped.free.values():
        return
    yaw = biped.heading
    for number, step in enumerate(steps, 1):
        rotation = (step.yaw - yaw + np.pi) % (2 * np.pi) - np.pi
        if abs(rotation) > STRAIGHT_TOLERANCE:
            raise ModelError(
                f"step {number} turns by {np.degrees(rotation):.1f}°, and no joint in the legs of "
                f"{biped.robot.name} turns a foot about the vertical; expected steps that do not "
                "turn"
            )
        yaw = step.yaw


def _follow(solver: _Solver) -> tuple[Array, tuple[Array, Array, Array]]:
    """Return the centre of mass that follows the zero moment point reference, and the solution for
    it.
    """
    biped, plan, how = solver.biped, solver.plan, solver.how
    g, n = float(np.linalg.norm(biped.model.arrays.gravity)), len(plan.ground)
    previews = Preview(how.centre_height, how.tick, gravity=g)
    starts = [(biped.centre[axis], 0.0, 0.0) for axis in range(2)]
    motion = [previews.follow(plan.zmp[:, axis], starts[axis]) for axis in range(2)]
    height = plan.ground + how.centre_height
    begin = quintic(np.arange(n) * how.tick / max(how.rest, how.tick))[:, None]
    for turn in range(CORRECTIONS + 1):
        centre = np.column_stack([motion[0][:, 0], motion[1][:, 0], height])
        # preview control that starts at rest jerks at first, as it should have leant before
        centre = biped.centre + begin * (centre - biped.centre)
        solved = solver.solve(centre)
        if turn == 0:
            solved = _rotate_trunk(solver, centre, solved, begin[:, 0])
        if turn < CORRECTIONS:
            error = plan.zmp[:, :2] - solved[-1]
            for axis in range(2):
                motion[axis] += previews.follow(error[:, axis], (0.0, 0.0, 0.0))
    return centre, solved


def _rotate_trunk(
    solver: _Solver, centre: Array, solved: tuple[Array, Array, Array], begin: Array
) -> tuple[Array, Array, Array]:
    """Rotate the trunk against swinging legs (``trunk_turn``) where soles could not bear their
    moment, and where that spares at least half of it. Returns the result of ``solve``.
    """
    biped, tick = solver.biped, solver.how.tick
    alone = solver.plan.support > 0
    if "yaw" in biped.free.values() or not alone.any():
        return solved
    moment = solver.moment(*solved)
    length = min(float(np.ptp(outline[:, 0])) for outline in biped.outline.values())
    weight = biped.mass * float(np.linalg.norm(biped.model.arrays.gravity))
    max_moment = np.abs(moment[alone]).max()
    if max_moment <= bearable(weight, length):
        return solved
    # the rotated inertia is found by a small rotation
    mean, probe = solver.yaw, PROBE_INERTIA * biped.mass * biped.leg_length**2
    trial = begin * counter_turn(moment, probe, tick)
    solver.yaw = mean + trial
    acceleration = np.gradient(np.gradient(trial, tick), tick)
    inertia = float(
        acceleration
        @ (solver.moment(*solver.solve(centre)) - moment)
        / (acceleration @ acceleration)
    )
    solver.yaw = mean + trial * (probe / inertia)
    rotated = solver.solve(centre)
    if np.abs(solver.moment(*rotated)[alone]).max() <= MAX_MOMENT_SHARE * max_moment:
        return rotated
    solver.yaw = mean
    return solved


class _Solver:
    """Inverse kinematics and dynamics of a schedule."""

    def __init__(self, biped: Biped, plan: Schedule, how: Gait) -> None:
        self.biped, self.plan, self.how = biped, plan, how
        self.yaw = plan.yaw.mean(axis=1)
        self.yaw += biped.heading - self.yaw[0]
        self.body = body_of(biped)
        self.q_at = biped.model.arrays.dof["q"][self.body.v_at]
        self.rotation = np.ascontiguousarray(plan.rotation.reshape(-1, 2, 9))

    def solve(self, centre: Array) -> tuple[Array, Array, Array]:
        """Return q, τ and zero moment point for a motion of the centre of mass."""
        biped, plan, body, m = self.biped, self.plan, self.body, self.biped.model.arrays
        n = len(centre)
        q, left = np.tile(biped.q, (n, 1)), np.zeros((n, 2))
        facing = about((0, 0, 1), -float(self.yaw[0])).R
        offset = facing @ (biped.centre - biped.base_place)
        whole_body.follow(m, body, centre, self.yaw, plan.position, self.rotation, offset, q, left)
        self._check(left)
        v = np.gradient(q, self.how.tick, axis=0)
        v = self._velocities(v)
        a, tau, zmp = np.gradient(v, self.how.tick, axis=0), np.zeros_like(v), np.zeros((n, 2))
        ground = np.ascontiguousarray(plan.zmp[:, 2])
        whole_body.inverse_dynamics(m, body, q, v, a, ground, tau, zmp)
        return q, tau, zmp

    def moment(self, q: Array, tau: Array, zmp: Array) -> Array:
        """Return the ground's moment about the vertical through the zero moment point [N·m], shape
        (n,).
        """
        at, first = self.body.base_at
        force, arm = tau[:, first : first + 2], q[:, at : at + 2] - zmp
        return tau[:, first + 5] + arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]

    def _velocities(self, rates: Array) -> Array:
        """Return v from rates of q: the trunk rotates about the vertical alone."""
        model, body = self.biped.model, self.body
        v, (at, first) = np.zeros((len(rates), model.v_count)), body.base_at
        v[:, first : first + 3] = rates[:, at : at + 3]
        v[:, first + 5] = np.gradient(self.yaw, self.how.tick)
        single = body.v_at[self.q_at >= 0]
        v[:, single] = rates[:, self.q_at[self.q_at >= 0]]
        return v

    def _check(self, left: Array) -> None:
        if left.max() < OUT_OF_REACH:
            return
        k, side = (int(i) for i in np.argwhere(left > OUT_OF_REACH)[0])
        number = int(np.searchsorted(self.plan.land, k)) + 1
        raise ModelError(
            f"the {SIDES[side]} leg of {self.biped.robot.name} is too short in step {number}, "
            f"{k * self.how.tick:.2f} s after the start; take shorter or lower steps, "
            f"or a lower centre_height than {self.how.centre_height:.3f} m"
        )

    def efforts(self, q: Array, tau: Array, zmp: Array) -> tuple[Array, Array, Array]:
        """Return shares of load, efforts of the joints, and points under the soles."""
        plan, n = self.plan, len(q)
        points = np.empty((n, 2, 3))
        for i, side in enumerate(SIDES):
            ahead, outwards = self.how.zmp
            local = np.array([ahead, outwards if side == "left" else -outwards, 0.0])
            points[:, i] = plan.position[:, i] + plan.rotation[:, i] @ local
        share, effort = np.zeros((n, 2)), np.zeros((n, len(self.body.v_at)))
        at = np.column_stack([zmp, plan.zmp[:, 2]])
        whole_body.efforts(
            self.body, q, tau, at, points, plan.position, plan.support, share, effort
        )
        return share, effort, points


def body_of(biped: Biped) -> WholeBody:
    """Return the data and workspace of the kernels of a biped."""
    model, root = biped.model, biped.model.arrays.body[1]
    return WholeBody(
        biped.legs,
        allocate(model),
        np.ascontiguousarray(biped.base_rotation.ravel()),
        np.array([root["q_start"], root["v_start"]], np.int64),
        joint_rows(model, biped.robot),
        np.zeros(6),
    )
