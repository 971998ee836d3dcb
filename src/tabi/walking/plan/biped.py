"""What walking needs to know of a robot: its legs from hip to sole, its soles, its mass."""

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
# of a sole as the robot stands [°]
TILTED = 2.0
# a rotation that five joints leave has this share of what they cannot do [1]
TURNS = 0.3
# of legs that count as equally long, 1
UNEQUAL = 0.01
# of a sole about its axes
ROTATIONS = ("roll", "pitch", "yaw")


class Biped:
    """A robot with two legs of six joints each, or five, as it stands now. Joints that nothing
    drives, as rubber in the ankles, count as unbent, and joints outside of the legs stay where they
    are. Five joints put a sole to its place, and leave it one rotation that they cannot choose.

    Args:
        robot: with feet "left" and "right", standing.

    Attributes:
        robot, model: what walks, and its compiled model.
        q: as it stands. joints: names, in the order of commands.
        legs: for kernels. leg_q: places of their joints in q. mass: [kg].
        free: of each leg of five joints the rotation of its sole that is left, "roll", "pitch" or
            "yaw"; "" of others.
        stance: pose of each sole in the world, x ahead and z up along its normal.
        outline: corners of each sole in its pose's x and y [m].
        ankle: of each foot, height of the last joint above the sole [m].
        centre: of mass, as it stands [m]. heading: where it faces [rad].
        base_place, base_rotation: of the base; axes of a robot that faces along x.
        leg_length: from hip to sole with a stretched knee [m].
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
        # a robot with fewer joints has no sole that could be level
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
        # its axes, of a robot that faces along x
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
        """Find the rotation of a sole that five joints leave it: that about the axis of the sole
        which is nearest to what no joint does.
        """
        legs, n = self.legs, int(self.legs.count[i])
        if n == JOINTS:
            return ""
        R, _ = sole(legs, i, self.q[legs.q_at[i, :n]])
        singular = np.linalg.svd(legs.J[:, :n])[0][:, -1]
        size = np.abs(np.reshape(R, (3, 3)).T @ singular[3:])
        k = int(size.argmax())
        if size[k] < TURNS:
            raise ModelError(
                f"the five joints of leg {side!r} of {self.robot.name} do not put its sole to any "
                "place, whatever way it is turned; expected six joints, or five that do"
            )
        legs.free[i, k] = 1.0
        return ROTATIONS[k]


def _heading(feet: Mapping[str, Transform]) -> float:
    """Where a robot faces, the line between its feet being across [rad]."""
    across = feet["left"].p - feet["right"].p
    return atan2(-across[0], across[1])


def _level(robot: Robot, side: str, sole: Transform, heading: float) -> Array:
    """Axes of a sole on level ground, x ahead."""
    tilt = np.degrees(np.arccos(np.clip(sole.R[2, 2], -1.0, 1.0)))
    if tilt > TILTED:
        raise ModelError(
            f"foot {side!r} of {robot.name} is tilted by {tilt:.1f}° as it stands; expected level "
            "soles: robot.stand_on_ground()"
        )
    return about((0, 0, 1), heading).R


def _length(robot: Robot, lengths: Mapping[str, float]) -> float:
    """Of both legs [m]."""
    left, right = (lengths[side] for side in SIDES)
    if abs(left - right) > UNEQUAL * max(left, right):
        raise ModelError(
            f"legs of {robot.name} are of different length from hip to sole: left {left:.3f} m, "
            f"right {right:.3f} m; expected the same, to walk: see its thighs, shanks and ankles"
        )
    return min(left, right)


def _joints(robot: Robot, side: str) -> list[Body]:
    """Bodies that the joints of one leg move, from the hip down."""
    chains = {name: _upwards(robot.feet[name].body) for name in SIDES}
    shared = set(chains["left"]) & set(chains["right"])
    own = [body for body in reversed(chains[side]) if body not in shared]
    turning = [
        body
        for body in own
        if body.joint.kind in ("revolute", "continuous")
        and body.joint.mimic is None
        and not body.joint.passive
    ]
    if len(turning) not in (JOINTS - 1, JOINTS):
        names = ", ".join(repr(body.joint.name) for body in turning) or "none"
        raise ModelError(
            f"leg {side!r} of {robot.name} has {len(turning)} joints that turn ({names}); expected "
            "six, to put a foot anywhere, or five"
        )
    return turning


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
            placement[i, k] = _numbers(above.inverse() @ here)
            axis[i, k] = np.asarray(body.joint.axis, float) / np.linalg.norm(body.joint.axis)
            q_at[i, k] = model.q_index(body.joint.name)
            v_at[i, k] = model.v_index(body.joint.name)
            columns[i, k] = order.index(body.joint.name)
            above = X[body]
        foot = X[robot.feet[side].body] @ in_body[side]
        placement[i, JOINTS] = _numbers(above.inverse() @ foot)
    for leg in legs.find(robot):
        i = SIDES.index(leg.foot.name)
        bodies = {body.joint.name: body for body in chains[leg.foot.name]}
        knee[i] = list(bodies).index(leg.knee.joint)
        hip, shank, ankle = (X[bodies[turn.joint]] for turn in (leg.hip, leg.knee, leg.ankle))
        bent = _bent(shank.R @ axis[i, knee[i]], shank.p - hip.p, ankle.p - shank.p)
        sign = np.sign(bent) if abs(bent) > 1e-3 else leg.knee.sign
        stretched[i] = model.initial()[q_at[i, knee[i]]] - bent, sign
    J, system = np.zeros((6, 6)), np.zeros((6, 7))
    count = np.array([len(chains[side]) for side in SIDES], np.int64)
    free = np.zeros((2, 3))
    return Legs(placement, axis, q_at, v_at, columns, count, free, knee, stretched, J, system)


def _bent(axis: Array, thigh: Array, shank: Array) -> float:
    """By how much a knee turns the shank from the line of the thigh [rad]."""
    thigh, shank = (along - axis * (axis @ along) for along in (thigh, shank))
    return atan2(float(axis @ np.cross(thigh, shank)), float(thigh @ shank))


def _numbers(X: Transform) -> Array:
    return np.concatenate([X.R.ravel(), X.p])
