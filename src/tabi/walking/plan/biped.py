"""Properties of a robot for walking: legs from hip to sole, soles, mass."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, expect
from tabi.dynamics.configuration import Configuration
from tabi.model.body import Body
from tabi.model.compiled import Model
from tabi.model.feet import legs
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform, about
from tabi.walking.legs.leg import JOINTS, Legs, sole
from tabi.walking.plan.footsteps import SIDES

Array = NDArray[np.float64]
# tilt of a sole as the robot stands [°]
MAX_TILT_DEG = 2.0
# component along an axis of the sole of the rotation that five joints leave free [1]
MIN_FREE_COMPONENT = 0.3
# relative difference of leg lengths that count as equal
LENGTH_TOLERANCE = 0.01
# rotations of a sole about its axes
ROTATIONS = ("roll", "pitch", "yaw")


class Biped:
    """A robot with two legs of six joints each, or five, as it stands now. Unactuated
    joints, such as rubber in the ankles, count as undeflected, and joints outside the legs keep
    their positions. Five joints position a sole and leave one of its rotations free.

    Args:
        robot: with feet "left" and "right", standing.

    Attributes:
        robot, model: the robot and its compiled model.
        q: configuration as it stands. joints: names, in the order of commands.
        legs: tables for kernels. leg_q: indices of their joints in q. mass: [kg].
        free: free rotation of the sole of each leg of five joints, "roll", "pitch" or "yaw"; ""
            of other legs.
        stance: pose of each sole in the world, x ahead and z up along its normal.
        outline: corners of each sole in its pose's x and y [m].
        ankle: of each foot, height of the last joint above the sole [m].
        centre: of mass, as it stands [m]. heading: yaw of the robot [rad].
        base_place, base_rotation: position of the base, and its rotation at yaw 0.
        leg_length: from hip to sole with a stretched knee [m].

    Examples:
        >>> biped = tabi.walking.Biped(robot)
        >>> sorted(biped.stance)
        ['left', 'right']
    """

    def __init__(self, robot: Robot) -> None:
        expect("the robot of a Biped", robot, Robot, "one of tabi.load or tabi.robots")
        if robot.base.joint.kind != "floating":
            raise ModelError(
                f"robot {robot.name!r} is bolted to the world by its base {robot.base.name!r}; "
                "expected a floating base, to walk"
            )
        missing = [side for side in SIDES if side not in robot.feet]
        if missing:
            feet = list(robot.feet)
            only = f", but only {', '.join(map(repr, feet))}" if feet else legs.why_no_feet(robot)
            raise ModelError(
                f"robot {robot.name!r} has no foot {missing[0]!r} to walk on{only}; expected feet "
                "'left' and 'right', as in "
                'tabi.load(path, feet={"left": "L_FOOT", "right": "R_FOOT"})'
            )
        self.robot, self.mass = robot, robot.mass
        self.model: Model = robot.compile()
        self.joints, self.q = freedoms(robot), self.model.initial()
        state = Configuration(self.model, self.q)
        self.centre = state.centre_of_mass(robot).copy()
        X = robot.placements()
        feet = {side: X[robot.feet[side].body] @ robot.feet[side].placement for side in SIDES}
        # checked first: legs with fewer joints cannot level their soles
        chains = {side: _joints(robot, side) for side in SIDES}
        heading = _heading(feet)
        self.stance, self.outline, in_body = {}, {}, {}
        for side in SIDES:
            foot = robot.feet[side]
            self.stance[side] = Transform(_level(robot, side, feet[side], heading), feet[side].p)
            in_body[side] = X[foot.body].inverse() @ self.stance[side]
            self.outline[side] = (in_body[side].inverse() @ foot.corners())[:, :2]
        self.heading = heading
        base = X[robot.base]
        # rotation of the base at yaw 0
        self.base_rotation, self.base_place = about((0, 0, 1), -heading).R @ base.R, base.p
        self.legs = _legs(self.model, robot, chains, in_body, X)
        self.leg_q = self.legs.q_at[self.legs.q_at >= 0]
        self.free = {side: self._free_rotation(i, side) for i, side in enumerate(SIDES)}
        ends = {side: (X[chain[0]].p, X[chain[-1]].p) for side, chain in chains.items()}
        self.ankle = {side: float(ends[side][1][2] - feet[side].p[2]) for side in SIDES}
        self.leg_length = _length(
            robot,
            {
                leg.foot.name: leg.thigh + leg.shank + self.ankle[leg.foot.name]
                for leg in legs.find(robot)
            },
        )

    def _free_rotation(self, i: int, side: str) -> str:
        """Find the free rotation of a sole on five joints: about the sole axis nearest to the
        direction that no joint moves.
        """
        legs, n = self.legs, int(self.legs.count[i])
        if n == JOINTS:
            return ""
        R, _ = sole(legs, i, self.q[legs.q_at[i, :n]])
        singular = np.linalg.svd(legs.J[:, :n])[0][:, -1]
        size = np.abs(np.reshape(R, (3, 3)).T @ singular[3:])
        k = int(size.argmax())
        if size[k] < MIN_FREE_COMPONENT:
            raise ModelError(
                f"the five joints of leg {side!r} of {self.robot.name} cannot put its sole at any "
                "position, whatever its rotation; expected six joints, or five that do"
            )
        legs.free[i, k] = 1.0
        return ROTATIONS[k]


def _heading(feet: Mapping[str, Transform]) -> float:
    """Return the yaw of a robot, perpendicular to the line between its feet [rad]."""
    across = feet["left"].p - feet["right"].p
    return atan2(-across[0], across[1])


def _level(robot: Robot, side: str, sole: Transform, heading: float) -> Array:
    """Return the axes of a sole on level ground, x ahead."""
    tilt = np.degrees(np.arccos(np.clip(sole.R[2, 2], -1.0, 1.0)))
    if tilt > MAX_TILT_DEG:
        raise ModelError(
            f"foot {side!r} of {robot.name} is tilted by {tilt:.1f}° as it stands; expected level "
            "soles: robot.stand_on_ground()"
        )
    return about((0, 0, 1), heading).R


def _length(robot: Robot, lengths: Mapping[str, float]) -> float:
    """Return the length of both legs [m]."""
    left, right = (lengths[side] for side in SIDES)
    if abs(left - right) > LENGTH_TOLERANCE * max(left, right):
        raise ModelError(
            f"legs of {robot.name} are of different length from hip to sole: left {left:.3f} m, "
            f"right {right:.3f} m; expected the same, to walk: see its thighs, shanks and ankles"
        )
    return min(left, right)


def _joints(robot: Robot, side: str) -> list[Body]:
    """Return the bodies that the joints of one leg move, from the hip down."""
    chains = {name: _upwards(robot.feet[name].body) for name in SIDES}
    shared = set(chains["left"]) & set(chains["right"])
    leg_bodies = [body for body in reversed(chains[side]) if body not in shared]
    revolute = [
        body
        for body in leg_bodies
        if body.joint.kind in ("revolute", "continuous")
        and body.joint.mimic is None
        and not body.joint.passive
    ]
    if len(revolute) not in (JOINTS - 1, JOINTS):
        names = ", ".join(repr(body.joint.name) for body in revolute) or "none"
        raise ModelError(
            f"leg {side!r} of {robot.name} has {len(revolute)} joints that turn ({names}); "
            "expected six, to put a foot anywhere, or five"
        )
    return revolute


def _upwards(body: Body | None) -> list[Body]:
    bodies = []
    while body is not None:
        bodies.append(body)
        body = body.parent
    return bodies


def _legs(
    model: Model,
    robot: Robot,
    chains: Mapping[str, list[Body]],
    in_body: Mapping[str, Transform],
    X: Mapping[Body, Transform],
) -> Legs:
    placement, axis = np.zeros((2, JOINTS + 1, 12)), np.zeros((2, JOINTS, 3))
    q_at, v_at, columns = (np.full((2, JOINTS), -1, np.int64) for _ in range(3))
    knee, stretched, order = np.zeros(2, np.int64), np.zeros((2, 2)), freedoms(robot)
    for i, side in enumerate(SIDES):
        above = X[robot.base]
        for k, body in enumerate(chains[side]):
            assert body.parent is not None
            here = X[body.parent] @ body.joint.placement
            placement[i, k] = _row(above.inverse() @ here)
            axis[i, k] = np.asarray(body.joint.axis, float) / np.linalg.norm(body.joint.axis)
            q_at[i, k] = model.q_index(body.joint.name)
            v_at[i, k] = model.v_index(body.joint.name)
            columns[i, k] = order.index(body.joint.name)
            above = X[body]
        foot = X[robot.feet[side].body] @ in_body[side]
        placement[i, JOINTS] = _row(above.inverse() @ foot)
    for leg in legs.find(robot):
        i = SIDES.index(leg.foot.name)
        bodies = {body.joint.name: body for body in chains[leg.foot.name]}
        knee[i] = list(bodies).index(leg.knee.joint)
        hip, shank, ankle = (X[bodies[turn.joint]] for turn in (leg.hip, leg.knee, leg.ankle))
        angle = _knee_angle(shank.R @ axis[i, knee[i]], shank.p - hip.p, ankle.p - shank.p)
        sign = np.sign(angle) if abs(angle) > 1e-3 else leg.knee.sign
        stretched[i] = model.initial()[q_at[i, knee[i]]] - angle, sign
    J, system = np.zeros((6, 6)), np.zeros((6, 7))
    count = np.array([len(chains[side]) for side in SIDES], np.int64)
    free = np.zeros((2, 3))
    return Legs(placement, axis, q_at, v_at, columns, count, free, knee, stretched, J, system)


def _knee_angle(axis: Array, thigh: Array, shank: Array) -> float:
    """Return the angle of the shank from the line of the thigh [rad]."""
    thigh, shank = (along - axis * (axis @ along) for along in (thigh, shank))
    return atan2(float(axis @ np.cross(thigh, shank)), float(thigh @ shank))


def _row(X: Transform) -> Array:
    return np.concatenate([X.R.ravel(), X.p])
