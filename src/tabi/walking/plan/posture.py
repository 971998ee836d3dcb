"""Change of posture of a standing biped, without a step.

Both soles keep their poses. With q₀ as the robot stands, q₁ the posture above the same feet, and
b from 0 to 1 along the quintic of ``schedule``,

    q(t) = q₀ ⊕ b (q₁ ⊖ q₀), put above the feet by X(t)                                         (1)
    c(t): centre of mass of (1)                                                                 (2)
    legs: ``whole_body.follow`` of (2), from (1)                                                (3)
X takes the frame between the feet of q(t) to its actual pose. If the feet stand in the posture as
they do now, (1) hardly displaces them, and (3) corrects the rest: legs end as in the posture, or
otherwise as the feet allow. The zero moment point of all masses has to stay under the soles, and
joints within a share of the speed of their motors, which makes the duration

    T = max_j max_t |q̇_j| / (``SPEED_SHARE`` · fastest_j), of a motion of a second
      (4)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import atan2, ceil, inf

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi._errors import ModelError, real
from tabi.control.joint_values import JointChoice
from tabi.dynamics.configuration import Configuration
from tabi.model.body import convex_outline
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform, about
from tabi.walking.legs import whole_body
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.plan.gait import Gait, gait_for
from tabi.walking.plan.pattern import OUT_OF_REACH, WalkingPattern, body_of
from tabi.walking.plan.schedule import BOTH, Schedule, quintic, under

Array = NDArray[np.float64]
# share of the motors' speed, and shortest duration and final rest of a change of posture [s]
SPEED_SHARE, MIN_DURATION_S, REST_TIME_S = 0.4, 1.0, 0.5
# distance of the zero moment point from the edge of the soles [m]
EDGE_MARGIN = 0.005


def posture_pattern(
    robot: Robot | Biped,
    posture: str | Mapping[str, float] | None = None,
    duration: float | None = None,
) -> WalkingPattern:
    """Plan a motion into a posture from any other pose in which both soles stand, for a ``Walker``.

    Args:
        robot: as it stands, both soles level.
        posture: a name, or {joint: position [rad or m]}; default: half-sitting.
        duration: of the motion [s]; default: by (4), at least a second.

    Returns:
        a pattern without steps.

    Raises:
        ModelError: soles are not level, the legs do not reach the posture, the robot would fall in
            it, or the duration is too short for its motors.

    Example: docs/walking.md
    """
    biped = robot if isinstance(robot, Biped) else Biped(robot)
    with _in_posture(biped.robot, posture):
        goal = Biped(biped.robot)
    gait = gait_for(goal)
    if duration is not None and not gait.tick <= real("duration of a posture", duration) < inf:
        raise ModelError(
            f"duration of a posture is {duration} s; expected a tick, {gait.tick:g} s, or more"
        )
    if duration is None:
        q = _Motion(biped, gait, MIN_DURATION_S, goal.q).q
        duration = max(
            MIN_DURATION_S,
            MIN_DURATION_S * _speed_ratio(biped, q[:, _joints(biped)], gait.tick) / SPEED_SHARE,
        )
    return _Motion(biped, gait, duration, goal.q).pattern()


@contextmanager
def _in_posture(robot: Robot, posture: str | Mapping[str, float] | None) -> Iterator[None]:
    """Put a robot into a posture temporarily."""
    before = {body: body.joint.position for body in robot.bodies}
    try:
        robot.stand_on_ground(
            "half_sitting" if posture is None else dict(_joint_positions(posture, robot))
        )
        yield
    finally:
        for body, position in before.items():
            body.joint.position = position


def _joint_positions(posture: str | Mapping[str, float], robot: Robot) -> Mapping[str, float]:
    if not isinstance(posture, str):
        return posture
    positions = robot.positions(posture)
    return {
        body.joint.name: float(q[0])
        for body, q in positions.items()
        if body.joint.q_count == 1 and body.joint.mimic is None
    }


def _between(left: Array, right: Array) -> Transform:
    """Return the frame between two feet, x ahead."""
    across = left - right
    heading = atan2(-across[0], across[1])
    return Transform(about((0, 0, 1), heading).R, 0.5 * (left + right))


def _joints(biped: Biped) -> NDArray[np.int64]:
    """Return the indices of the commanded joints in q."""
    return biped.model.arrays.dof["q"][body_of(biped).v_at]


def _speed_ratio(biped: Biped, position: Array, tick: float) -> float:
    """Return the largest ratio of a joint's speed to the limit of its motor."""
    choice = JointChoice(biped.robot, biped.joints)
    fastest = choice.limits()[2][[choice.names.index(name) for name in biped.joints]]
    return float((np.abs(np.diff(position, axis=0)) / tick / fastest).max())


class _Motion:
    """Motion of a change of posture, tick by tick, by (1) to (3)."""

    def __init__(self, biped: Biped, gait: Gait, duration: float, end: Array) -> None:
        self.biped, self.gait, self.body = biped, gait, body_of(biped)
        moving, resting = ceil(duration / gait.tick - 1e-6), round(REST_TIME_S / gait.tick)
        b = quintic(np.arange(moving + resting + 1) / moving)
        stance = [biped.stance[side] for side in SIDES]
        self.position = np.tile([X.p for X in stance], (len(b), 1, 1))
        self.rotation = np.tile([X.R for X in stance], (len(b), 1, 1, 1))
        self.yaw = np.full(len(b), biped.heading)
        self.q, self.centre = np.zeros((len(b), len(biped.q))), np.zeros((len(b), 3))
        left = np.zeros((len(b), 2))
        self.displacement = dynamics.difference(biped.model, biped.q, end)
        state, leg_change = Configuration(biped.model, biped.q), np.zeros(len(biped.leg_q))
        for k in range(len(b)):
            leg_change = self._solve(k, float(b[k]), state, leg_change, left[k : k + 1])
        self._check_reach(left)

    def _solve(
        self, k: int, b: float, state: Configuration, leg_change: Array, left: Array
    ) -> Array:
        """Solve tick k; return by how much the legs rotate beyond (1), as the start of the next
        one.
        """
        biped, body, model = self.biped, self.body, self.biped.model
        robot, at, legs = biped.robot, int(body.base_at[0]), biped.leg_q
        state.update(dynamics.integrate(model, biped.q, self.displacement, b))
        feet = [state.position(robot.feet[side]) for side in SIDES]
        X = _between(*self.position[k]) @ _between(*feet).inverse()
        base = X @ state.pose(robot.base)
        self.centre[k] = X @ state.centre_of_mass(robot)
        facing = about((0, 0, 1), -biped.heading).R
        body.base_rotation[:] = (facing @ base.R).ravel()
        row = self.q[k]
        row[:] = state.q
        row[at : at + 3], row[at + 3 : at + 7] = base.p, base.quaternion
        row[legs] += leg_change
        tick = slice(k, k + 1)
        whole_body.follow(
            model.arrays,
            body,
            self.centre[tick],
            self.yaw[tick],
            self.position[tick],
            np.ascontiguousarray(self.rotation[tick].reshape(1, 2, 9)),
            facing @ (self.centre[k] - base.p),
            self.q[tick],
            left,
        )
        return row[legs] - state.q[legs]

    def _check_reach(self, left: Array) -> None:
        if left.max() < OUT_OF_REACH:
            return
        k, side = (int(i) for i in np.argwhere(left >= OUT_OF_REACH)[0])
        raise ModelError(
            f"the {SIDES[side]} leg of {self.biped.robot.name} does not reach its sole during the "
            f"change of posture, {k * self.gait.tick:.2f} s after the start; choose a posture with "
            "knees that are bent more, or move the feet by steps first"
        )

    def pattern(self) -> WalkingPattern:
        """Return the motion as a pattern."""
        biped, body, gait, n = self.biped, self.body, self.gait, len(self.q)
        tick, model = gait.tick, biped.model
        v = np.zeros((n, model.v_count))
        for k in range(1, n - 1):
            v[k] = dynamics.difference(model, self.q[k - 1], self.q[k + 1]) / (2 * tick)
        a = np.gradient(v, tick, axis=0)
        ground = np.full(n, min(biped.stance[side].p[2] for side in SIDES))
        tau, zmp = np.zeros_like(v), np.zeros((n, 2))
        whole_body.inverse_dynamics(model.arrays, body, self.q, v, a, ground, tau, zmp)
        _check_balance(biped, zmp)
        points = np.stack(
            [np.tile(under(biped.stance[side], side, gait), (n, 1)) for side in SIDES], axis=1
        )
        at, support = np.column_stack([zmp, ground]), np.full(n, BOTH, np.int64)
        share, effort = np.zeros((n, 2)), np.zeros((n, len(body.v_at)))
        whole_body.efforts(body, self.q, tau, at, points, self.position, support, share, effort)
        plan = Schedule(at, self.position, self.rotation, ground, support, (), ())
        pattern_ = WalkingPattern(
            biped,
            gait,
            (),
            plan,
            self.centre,
            np.asarray(np.gradient(self.centre, tick, axis=0)),
            zmp,
            self.q,
            self.yaw,
            self.q[:, model.arrays.dof["q"][body.v_at]],
            effort,
            share,
            points,
        )
        pattern_.joints()
        return pattern_


def _check_balance(biped: Biped, zmp: Array) -> None:
    """Reject a zero moment point that leaves the soles."""
    corners = [
        (biped.stance[side] @ np.column_stack([o, np.zeros(len(o))]))[:, :2]
        for side, o in biped.outline.items()
    ]
    hull = convex_outline("support", np.vstack(corners))
    edge = np.roll(hull, -1, axis=0) - hull
    # anticlockwise: inside is to the left of every edge
    normal = np.column_stack([-edge[:, 1], edge[:, 0]]) / np.linalg.norm(edge, axis=1)[:, None]
    inside = ((zmp[:, None] - hull) * normal).sum(axis=2).min(axis=1)
    if inside.min() < EDGE_MARGIN:
        raise ModelError(
            f"{biped.robot.name} would fall on the way into the posture: its zero moment point "
            f"comes {1e3 * (EDGE_MARGIN - inside.min()):.0f} mm nearer to the edge of its soles "
            f"than {1e3 * EDGE_MARGIN:g} mm; choose a posture with its weight over the feet, or a "
            "longer duration"
        )
