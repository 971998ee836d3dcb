"""The legs of a biped by its geometry: which joints pitch, which roll, and a half-sitting pose made
of them.

With all joints at zero the line between the feet is l, to the left; up is z of the soles; forward
is l × up. A joint between the base and one foot only pitches if its axis lies along l and rolls if
it lies along forward. Hip, knee and ankle are a leg's three pitches in this order. With the knees
bent by θ and the trunk upright,

    hip = −a,   knee = θ,   ankle = a − θ        (right-handed about l)              (1)
where a puts the centre of mass over the middle of the soles.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, expect
from tabi.model.body import Body, Foot
from tabi.model.joint import Mimic
from tabi.model.kinematic_tree import KinematicTree
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# of two unit vectors that count as parallel: 26°, as some hips are tilted
PARALLEL = 0.9
# HRP-2's knees in its half-sitting pose [rad]
BEND = 0.87
EXPECTED = (
    "expected feet 'left' and 'right', "
    """as in tabi.load(path, feet={"left": "L_FOOT", "right": "R_FOOT"})"""
)


@dataclass(frozen=True)
class Turn:
    """A joint, and +1 where it turns about l or forward as its own sign says,
    −1 where against it.
    """

    joint: str
    sign: float


@dataclass(frozen=True)
class Leg:
    """The joints of a leg; thigh and shank are the distances between its pitch axes [m]."""

    foot: Foot
    hip: Turn
    knee: Turn
    ankle: Turn
    rolls: tuple[Turn, ...]
    thigh: float
    shank: float


@dataclass(frozen=True)
class Stance:
    """A biped's axes with all joints at zero: unit vectors to the left, up and forward."""

    left: Array
    up: Array

    @property
    def forward(self) -> Array:
        """l × up."""
        return np.cross(self.left, self.up)


def find(robot: KinematicTree) -> list[Leg]:
    """The left and the right leg, or an error that says what is missing."""
    expect("the robot", robot, KinematicTree, "one of tabi.load or tabi.robots")
    stance, X = _stance(robot), robot.placements(robot.at_zero())
    chains = {side: _chain(robot.feet[side].body) for side in ("left", "right")}
    shared = set(chains["left"]) & set(chains["right"])
    return [
        _leg(robot, robot.feet[side], [b for b in chain if b not in shared], stance, X)
        for side, chain in chains.items()
    ]


def why_no_feet(robot: KinematicTree) -> str:
    """Return the reason why a robot has no feet from its notes, as ": …"; "" without one."""
    begin = "no feet declared: "
    reasons = (note.removeprefix(begin) for note in robot.notes if note.startswith(begin))
    return "".join(f": {note.partition('; give feet={…}')[0]}" for note in reasons)


def _stance(robot: KinematicTree) -> Stance:
    if not {"left", "right"} <= set(robot.feet):
        reason = f"no feet declared{why_no_feet(robot)}"
        are = "its only foot is" if len(robot.feet) == 1 else "its feet are"
        feet = f"{are} {', '.join(map(repr, robot.feet))}" if robot.feet else reason
        raise ModelError(f"legs of {robot.name} are not known: {feet}; {EXPECTED}")
    X = robot.placements(robot.at_zero())
    ends = {
        side: X[robot.feet[side].body] @ robot.feet[side].placement for side in ("left", "right")
    }
    up = ends["left"].R[:, 2] + ends["right"].R[:, 2]
    up = up / np.linalg.norm(up)
    left = ends["left"].p - ends["right"].p
    left = left - up * (up @ left)
    if np.linalg.norm(left) < 1e-3:
        raise ModelError(
            f"legs of {robot.name} are not known: its feet stand in one place when all joints are "
            f"at zero; expected them side by side"
        )
    return Stance(left / np.linalg.norm(left), up)


def _chain(body: Body) -> list[Body]:
    """Bodies from the base's first child to this one."""
    bodies = []
    while body.parent is not None:
        bodies.append(body)
        body = body.parent
    return bodies[::-1]


def _leg(
    robot: KinematicTree, foot: Foot, chain: list[Body], stance: Stance, X: Mapping[Body, Transform]
) -> Leg:
    pitches, rolls, places = [], [], []
    for body in chain:
        joint = body.joint
        turns = joint.kind in ("revolute", "continuous") and joint.mimic is None
        if not turns or joint.passive:
            continue
        axis = X[body].R @ np.asarray(joint.axis, float)
        axis = axis / np.linalg.norm(axis)
        if abs(axis @ stance.left) > PARALLEL:
            pitches.append(Turn(joint.name, float(np.sign(axis @ stance.left))))
            places.append(X[body].p)
        elif abs(axis @ stance.forward) > PARALLEL:
            rolls.append(Turn(joint.name, float(np.sign(axis @ stance.forward))))
    if len(pitches) != 3:
        names = ", ".join(repr(turn.joint) for turn in pitches) or "none"
        raise ModelError(
            f"leg {foot.name!r} of {robot.name} has {len(pitches)} joints that pitch ({names}); "
            f"expected hip, knee and ankle"
        )
    # between axes, so without what lies along them
    bones = [
        b - a - stance.left * (stance.left @ (b - a))
        for a, b in ((places[0], places[1]), (places[1], places[2]))
    ]
    thigh, shank = (float(np.linalg.norm(bone)) for bone in bones)
    if min(thigh, shank) < 1e-3:
        raise ModelError(
            f"leg {foot.name!r} of {robot.name} has a thigh of {thigh:g} m and a shank of "
            f"{shank:g} m; expected both above a millimetre"
        )
    hip, knee, ankle = pitches
    return Leg(foot, hip, knee, ankle, tuple(rolls), thigh, shank)


# ---- half-sitting ---------------------------------------------------------------------------


def half_sitting(robot: KinematicTree) -> dict[str, float]:
    """Knees bent as HRP-2's, less where limits ask for it, the trunk upright,
    the centre of mass over the soles [rad].
    """
    legs, stance, bend = find(robot), _stance(robot), BEND
    rest = {b.joint.name: near for b in robot.bodies[1:] if (near := _nearest(b)) != 0.0}
    for _ in range(5):
        pose = _balanced(robot, legs, stance, rest, bend)
        if pose is not None and all(_within(robot, name, angle) for name, angle in pose.items()):
            return pose
        bend /= 2
    raise ModelError(
        f"a half-sitting pose of {robot.name} cannot be made: with no bend of its knees up to "
        f"{BEND:g} rad is its centre of mass over its soles "
        f"within the limits of its joints; give a pose: robot.stand_on_ground({{joint: angle, …}})"
    )


def pose_key(robot: KinematicTree) -> Hashable:
    """Return a key of all that determines a half-sitting pose."""
    bodies = tuple(
        (
            b.parent.name if b.parent else None,
            b.joint.name,
            b.joint.kind,
            tuple(b.joint.axis),
            (b.joint.lower, b.joint.upper),
            _couples(b.joint.mimic),
            _bytes(b.joint.placement.R, b.joint.placement.p, b.inertia.centre),
            b.inertia.mass,
        )
        for b in robot.bodies
    )
    feet = tuple(
        (name, f.body.name, _bytes(f.placement.R, f.placement.p, f.polygon))
        for name, f in robot.feet.items()
    )
    return bodies, feet, _bytes(robot.base.joint.position)


def _couples(mimic: Mimic | None) -> tuple[str, float, float] | None:
    return (mimic.leader, mimic.ratio, mimic.offset) if mimic else None


def _bytes(*arrays: Any) -> bytes:
    return b"".join(np.asarray(array, float).tobytes() for array in arrays)


def _nearest(body: Body) -> float:
    """The angle nearest to zero that a joint may have, 0 if it may be zero."""
    joint = body.joint
    return (
        float(np.clip(0.0, joint.lower, joint.upper))
        if joint.q_count == 1 and joint.mimic is None and joint.lower <= joint.upper
        else 0.0
    )


def _within(robot: KinematicTree, name: str, angle: float) -> bool:
    joint = robot.joint(name)
    return joint.lower - 1e-9 <= angle <= joint.upper + 1e-9


def _balanced(
    robot: KinematicTree, legs: list[Leg], stance: Stance, rest: dict[str, float], bend: float
) -> dict[str, float] | None:
    """Equation (1) for a bend, None where no hip angle brings the centre of mass over the soles."""
    from scipy.optimize import brentq

    def pose(a: float) -> dict[str, float]:
        turns = [
            (t, angle)
            for leg in legs
            for t, angle in ((leg.hip, -a), (leg.knee, bend), (leg.ankle, a - bend))
        ]
        return rest | {turn.joint: turn.sign * angle for turn, angle in turns}

    def ahead(a: float) -> float:
        X = robot.placements(robot.positions(pose(a)))
        masses = [(b.inertia.mass, X[b] @ b.inertia.centre) for b in robot.bodies]
        centre = sum(m * p for m, p in masses) / sum(m for m, _ in masses)
        soles = np.mean(
            [(X[leg.foot.body] @ leg.foot.corners()).mean(axis=0) for leg in legs], axis=0
        )
        return float(stance.forward @ (centre - soles))

    low, high = bend / 2 - 0.7, bend / 2 + 0.7
    if not ahead(low) > 0 > ahead(high):
        return None
    return pose(float(brentq(ahead, low, high, xtol=1e-10)))
