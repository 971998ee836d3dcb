"""The ankle bush: rubber between a robot's ankle and its sole, as springs and dampers.

A foot link is cut in two. What stays at the ankle and what is below the rubber are joined by three
passive joints in a row, whose axes meet in one point, the bush's centre:

    ankle link ── roll (x) ── pitch (y) ── z ── sole
    τ = −K φ − C φ̇  about x and y,     f = −K_z s − C_z ṡ  along the normal of the sole        (1)
which steps take implicitly, as all springs of joints (``tabi.step.forces.motors``). The sole
does not shift along x and y and does not turn about z: a bush is a stack of rubber in a socket, ten
times stiffer there, and those motions change neither how a robot tilts nor how it sinks. The slide
comes last, so that it stands upright on a sole that lies flat: standing on both feet, the two
slides together give way by exactly

    s₁ + s₂ = (m − m_below) g / K_z                                                             (2)

The foot link has mass m_f, centre c and tensor I. With the share σ = mass_below/m_f, the part below
gets (σ m_f, c, σ I) and the part at the ankle the rest: together they are the foot that was there,
and each of them is a body that exists wherever the foot was one. The two joints in between carry
no mass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real, unknown
from tabi.model.body import Body, Foot
from tabi.model.compiled import Model
from tabi.model.joint import Joint
from tabi.model.kinematic_tree import KinematicTree
from tabi.model.names import free_name
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, translation

Array = NDArray[np.float64]
# share of a foot link's mass that is below the bush, where nothing is known
SHARE_BELOW = 0.8


@dataclass(frozen=True)
class Rubber:
    """Stiffness [N·m/rad] and damping [N·m·s/rad] about roll and pitch, and along the sole's normal
    [N/m, N·s/m], of the bush of one foot; default: those of HRP-2.
    """

    stiffness: float = 500.0
    damping: float = 5.0
    vertical_stiffness: float = 1e5
    vertical_damping: float = 1e2

    def __post_init__(self) -> None:
        for name in ("stiffness", "vertical_stiffness"):
            if not 0 < real(f"{name} of a bush", getattr(self, name)) < np.inf:
                raise ModelError(
                    f"{name} of a bush is {getattr(self, name)}; "
                    f"expected a finite number > 0 in {_UNITS[name]}"
                )
        for name in ("damping", "vertical_damping"):
            if not 0 <= real(f"{name} of a bush", getattr(self, name)) < np.inf:
                raise ModelError(
                    f"{name} of a bush is {getattr(self, name)}; "
                    f"expected a finite number ≥ 0 in {_UNITS[name]}"
                )


_UNITS = {
    "stiffness": "N·m/rad",
    "damping": "N·m·s/rad",
    "vertical_stiffness": "N/m",
    "vertical_damping": "N·s/m",
}


@dataclass(frozen=True)
class BushJoints:
    """Names of the joints of one foot's bush, and of the body below them."""

    roll: str
    pitch: str
    z: str
    sole: str


@dataclass(frozen=True)
class Bush:
    """The bushes of a robot's feet, as it was built.

    Attributes:
        feet: names of the joints, by the names of the feet.
        rubber: what they were built with.
    """

    feet: Mapping[str, BushJoints]
    rubber: Rubber

    def set(self, model: Model, robot: str, changed: Mapping[str, float]) -> None:
        """Another stiffness or damping, named as in ``Rubber``, in a compiled model; what is not
        given is as it was built.

        Args:
            robot: name of the robot in the world.
        """
        for name in changed:
            if name not in _UNITS:
                raise unknown("parameter", name, "an ankle bush", _UNITS)
        rubber = replace(self.rubber, **changed)
        turning = {"stiffness": rubber.stiffness, "damping": rubber.damping}
        sliding = {"stiffness": rubber.vertical_stiffness, "damping": rubber.vertical_damping}
        for foot in self.feet.values():
            for name, loop in ((foot.roll, turning), (foot.pitch, turning), (foot.z, sliding)):
                full = f"{robot}/{name}"
                model.set_joint(full if full in model.joint_names else name, **loop)


def add_joints(
    robot: KinematicTree,
    rubber: Rubber,
    mass_below: float | None = None,
    height: float | None = None,
    feet: Iterable[str] | None = None,
) -> dict[str, BushJoints]:
    """Cut the feet of a robot in two, with a bush in between.

    Args:
        mass_below: of each foot [kg]; default: SHARE_BELOW of its link's mass.
        height: of the bush's centre above the sole [m]; default: at the origin of the foot link, on
            the axis of the last ankle joint.
        feet: names of the feet; default: all of them.
    """
    if not robot.feet:
        raise ModelError(
            f"robot {robot.name!r} has no feet, and a bush is between ankle and sole; "
            f"declare them first: robot.add_foot(…), or tabi.load(path, feet={{…}})"
        )
    names = list(robot.feet if feet is None else feet)
    for name in names:
        if name not in robot.feet:
            raise unknown("foot", name, robot.name, robot.feet)
    cuts = [_Cut(robot, robot.feet[name], mass_below, height) for name in names]
    shared = {cut.ankle for cut in cuts}
    if len(shared) < len(cuts):
        raise ModelError(
            f"feet {', '.join(map(repr, names))} of {robot.name} are on one link; "
            f"expected each on a link of its own: name one of them in feet="
        )
    axes = _axes(robot)
    return {cut.foot.name: cut.make(rubber, axes[cut.foot.name]) for cut in cuts}


def _axes(robot: KinematicTree) -> dict[str, Array]:
    """Return the axes roll, pitch and z of each foot as columns, in its body's frame: z is the
    sole's normal; of a biped pitch is the line from the right foot to the left one, with all joints
    at zero, else y of the foot's frame.
    """
    X, axes = robot.placements(robot.at_zero()), {}
    ends = {name: X[foot.body] @ foot.placement for name, foot in robot.feet.items()}
    for name, foot in robot.feet.items():
        up, left = ends[name].R[:, 2], ends[name].R[:, 1]
        if {"left", "right"} <= set(ends):
            apart = ends["left"].p - ends["right"].p
            apart = apart - up * (up @ apart)
            if np.linalg.norm(apart) > 1e-3:
                left = apart / np.linalg.norm(apart)
        axes[name] = X[foot.body].R.T @ np.stack([np.cross(left, up), left, up], axis=1)
    return axes


class _Cut:
    """Cut of one foot: its ankle link with all that is fixed to it.

    Attributes:
        ankle: the body that the last moving joint carries. fixed: bodies fixed to it, and X_AB of
            them and of itself. inertia: of all of them together, in the ankle's frame.
        centre: of the bush, in the ankle's frame [m].
    """

    def __init__(
        self, robot: KinematicTree, foot: Foot, mass_below: float | None, height: float | None
    ) -> None:
        self.robot, self.foot, self.ankle = robot, foot, foot.body
        while self.ankle.joint.kind == "fixed" and self.ankle.parent is not None:
            self.ankle = self.ankle.parent
        if self.ankle.parent is None:
            raise ModelError(
                f"foot {foot.name!r} of {robot.name} is on its base {self.ankle.name!r}; "
                f"expected a foot with an ankle joint above it"
            )
        self.fixed = {self.ankle: Transform()}
        for body in robot.bodies:
            if body.joint.kind == "fixed" and body.parent in self.fixed:
                self.fixed[body] = self.fixed[body.parent] @ body.joint.placement
        self.inertia = sum((b.inertia.transformed(X) for b, X in self.fixed.items()), Inertia())
        self.share = self._share(mass_below)
        self.centre = self._centre(height)

    def _share(self, mass_below: float | None) -> float:
        mass, owner = self.inertia.mass, f"the link of foot {self.foot.name!r} of {self.robot.name}"
        if not mass > 0:
            raise ModelError(
                f"{owner} has no mass, so a bush cannot divide it; give body "
                f"{self.ankle.name!r} an inertia"
            )
        if mass_below is None:
            return SHARE_BELOW
        if not 0 < real("mass_below of a bush", mass_below) < mass:
            raise ModelError(
                f"mass_below of a bush is {mass_below} kg; "
                f"expected a number between 0 and {mass:g} kg, the mass of {owner}"
            )
        return mass_below / mass

    def _centre(self, height: float | None) -> Array:
        if height is None:
            return np.zeros(3)
        if not np.isfinite(real("height of a bush", height)):
            raise ModelError(
                f"height of a bush is {height}; expected a finite number in metres above the sole"
            )
        # straight above the sole, on the ankle's own vertical
        X_AF = self.fixed[self.foot.body] @ self.foot.placement
        up = X_AF.R[:, 2]
        return up * (float(up @ X_AF.p) + height)

    def make(self, rubber: Rubber, axes: Array) -> BushJoints:
        """Cut it; everything of the foot goes below."""
        robot, side = self.robot, self.foot.name
        axes = self.fixed[self.foot.body].R @ axes
        bodies = {body.name for body in robot.bodies}
        joints = {body.joint.name for body in robot.bodies}
        turning, sliding = (
            (rubber.stiffness, rubber.damping),
            (rubber.vertical_stiffness, rubber.vertical_damping),
        )
        made: list[Body] = []
        for k, (axis, kind, spring) in enumerate(
            (
                ("roll", "revolute", turning),
                ("pitch", "revolute", turning),
                ("z", "prismatic", sliding),
            )
        ):
            joint = Joint(
                free_name(f"{side}_bush_{axis}", joints),
                kind,
                Transform() if made else translation(self.centre),
                tuple(axes[:, k]),
                stiffness=spring[0],
                damping=spring[1],
                passive=True,
            )
            name = free_name(f"{side}_sole" if axis == "z" else joint.name, bodies)
            made.append(robot.add_body(name, joint, made[-1] if made else self.ankle))
        # parents before children: what hung on the ankle hangs below now
        place = robot.bodies.index(self.ankle) + 1
        robot.bodies[place:] = [*made, *(b for b in robot.bodies[place:] if b not in made)]
        self._lower(made)
        roll, pitch, z = (body.joint.name for body in made)
        return BushJoints(roll, pitch, z, made[-1].name)

    def _lower(self, made: list[Body]) -> None:
        """Hang all that was on the foot on the sole, where it is."""
        robot, ankle, sole = self.robot, self.ankle, made[-1]
        X_SA = translation(-self.centre)
        sole.inertia = self.inertia.scaled(self.share).transformed(X_SA)
        for body in self.fixed:
            body.inertia = Inertia()
        ankle.inertia = self.inertia.scaled(1.0 - self.share)
        sole.shapes = [replace(s, placement=X_SA @ s.placement) for s in ankle.shapes]
        ankle.shapes = []
        for body in robot.bodies:
            if body.parent is ankle and body not in made:
                body.parent, body.joint.placement = sole, X_SA @ body.joint.placement
        for frame in (*robot.feet.values(), *robot.frames.values(), *robot.sensors.values()):
            if frame.body is ankle:
                frame.body, frame.placement = sole, X_SA @ frame.placement
        # loops are closed by rods at the ankle
        for loop in robot.bonds:
            for end in ("a", "b"):
                body = getattr(loop, end)
                if body in self.fixed and body is not ankle:
                    setattr(loop, f"place_{end}", self.fixed[body] @ getattr(loop, f"place_{end}"))
                    setattr(loop, end, ankle)
        self._exclude(sole)

    def _exclude(self, sole: Body) -> None:
        """Exclude pairs of the parts below the bush that were excluded for the foot."""
        robot, ankle = self.robot, self.ankle
        below = [sole.name, *(body.name for body in self.fixed if body is not ankle)]
        above = {ankle.name, *_link(robot, ankle.parent)}
        for pair in list(robot.excluded):
            if ankle.name in pair:
                above |= pair
        robot.excluded |= {frozenset((a, b)) for a in above for b in below if a != b}


def _link(robot: KinematicTree, body: Body | None) -> set[str]:
    """Names of a body and of all that is fixed to it."""
    assert body is not None
    while body.joint.kind == "fixed" and body.parent is not None:
        body = body.parent
    members = {body}
    for other in robot.bodies:
        if other.joint.kind == "fixed" and other.parent in members:
            members.add(other)
    return {member.name for member in members}
