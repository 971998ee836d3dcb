"""Dynamics of a walking pattern on flat ground: motion of the base, ZMP, joint efforts.

A pattern has joint positions only. Stance feet lie flat on the ground, so with X_BS(q) of a stance
foot S in the base frame, and its landing pose X_WS, level with any yaw, the base is at

    X_WB = X_WS X_BS(q)⁻¹                                                                       (1)
A foot is in stance if its lowest corner is at most 0.3 mm above the other foot. In double support
the base is blended from (1) of one foot to (1) of the other, so that their difference, the rounding
of a file, causes no jump.

With q, v and a of all this, inverse dynamics needs the wrench w = (f, n) on the base, n about its
origin p_B, which only the ground can exert: about the ZMP p, where it has no horizontal moment,

    n' = n + (p_B − p) × f,   n'_x = n'_y = 0,   p_z = 0                                        (2)
Feet bear shares α_i of it at points p_i of their soles with Σ α_i = 1 and Σ α_i p_i = p, from the
least forces at the corners (``weight_shares``), and the joint efforts are, with their Jacobians
J_i,

    τ = τ_ID(q, v, a) + d q̇ + k (q − q₀) − Σ J_iᵀ α_i (f, n'_z z) at p_i                        (3)
with the dampers d and springs k of the joints; their dry friction is left to the motors' servo
loops. A ZMP beyond the soles is infeasible: the force is then at the nearest point of the soles.
Where the pattern lifts the robot off, f_z ≤ 0, there is no ZMP, and no contact force.
Positions in files are rounded, and accelerations are their second differences: all signals pass a
low-pass without delay.

References: Vukobratović, Borovac (2004), for the ZMP.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.control.filters import zero_phase
from tabi.control.joint_values import JointChoice
from tabi.control.patterns import Pattern, differences
from tabi.control.weight_shares import corner_loads
from tabi.dynamics.configuration import Configuration
from tabi.estimation.body_sense import cross
from tabi.model.body import Foot
from tabi.model.robot import Robot
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]
# height of a stance foot above the lower foot [m]
MAX_STANCE_HEIGHT = 3e-4
# share of the weight below which the robot has no ground contact
LEAST_LOAD = 1e-3


@dataclass(frozen=True, eq=False)
class PatternDynamics:
    """Base motion, ZMP and efforts of a pattern, a row for each of its times; made by
    ``pattern_dynamics``.

    The ground is z = 0, and the robot begins with its base above the origin at yaw 0.

    Attributes:
        joints: of the columns of ``effort``, those of the robot in their order.
        times: of the pattern [s], shape (n,).
        base: origin of the base [m] and its quaternion (w, x, y, z), shape (n, 7).
        feet: names. standing: whether each is a stance foot, shape (n, feet). foot: their origins
            in the pattern [m], shape (n, feet, 3).
        zmp: on the ground [m], shape (n, 2), NaN without ground contact.
        zmp_reference: planned ZMP of the file; ``zmp`` if the file has none.
        force: of the ground on the robot [N], shape (n, 3).
        effort: of the joints [N·m or N], shape (n, joints).

    Example: ``control.pattern_dynamics`` in docs/controllers.md
    """

    joints: tuple[str, ...]
    times: Array
    base: Array
    feet: tuple[str, ...]
    standing: NDArray[np.bool_]
    foot: Array
    zmp: Array
    zmp_reference: Array
    force: Array
    effort: Array


def pattern_dynamics(robot: Robot, pattern: Pattern, cutoff: float = 20.0) -> PatternDynamics:
    """Compute ZMP and efforts of a robot that walks a pattern on flat ground.

    Args:
        robot: with a floating base and feet.
        pattern: of all its joints, or of some; the others keep their positions.
        cutoff: of the low-pass of positions and efforts [Hz].

    Example: docs/controllers.md
    """
    if robot.base.joint.kind != "floating" or len(robot.feet) != 2:
        feet = "1 foot" if len(robot.feet) == 1 else f"{len(robot.feet)} feet"
        raise ModelError(
            f"{robot.name} has {feet} and a {robot.base.joint.kind} base; expected "
            f"a robot that walks: two feet and a floating base"
        )
    motion = _PatternMotion(robot, pattern.smoothed(cutoff))
    return motion.dynamics(motion.base_poses(), cutoff)


class _PatternMotion:
    """Motion of a robot along a pattern."""

    def __init__(self, robot: Robot, pattern: Pattern) -> None:
        self.here, self.times, self.planned = Configuration(robot), pattern.times, pattern.zmp
        self.feet: list[Foot] = list(robot.feet.values())
        self.corners = [np.column_stack([f.polygon, np.zeros(len(f.polygon))]) for f in self.feet]
        whole = JointChoice(robot)
        self.joints, here = whole.names, self.here
        self.rows = [here.model.v_index(name) for name in self.joints]
        # joints that are not in the pattern keep their positions
        start = here.q[here.model.arrays.dof["q"][self.rows]]
        self.q = np.tile(start, (len(self.times), 1))
        self.v, self.a = np.zeros_like(self.q), np.zeros_like(self.q)
        at = [self.joints.index(name) for name in pattern.joints]
        self.q[:, at], self.v[:, at] = pattern.position, pattern.velocity
        self.a[:, at] = differences(self.times, pattern.velocity)

    def base_poses(self) -> list[Transform]:
        """Return the base poses by (1), and detect the stance feet."""
        feet = [self._feet_at(q) for q in self.q]
        self.standing = np.array([self._stand(pair) for pair in feet])
        weight = _weights(self.standing)
        # landing poses of the feet: the first one with the base above the origin
        first = int(weight[0].argmax())
        landed = {first: _flat(feet[0][first])}
        bases_ = []
        for k, pair in enumerate(feet):
            bases = {i: X @ pair[i].inverse() for i, X in landed.items()}
            for i in range(2):
                if not self.standing[k, i]:
                    landed.pop(i, None)
                elif i not in landed:
                    landed[i] = _flat(bases[1 - i] @ pair[i])
                    bases[i] = landed[i] @ pair[i].inverse()
            bases_.append(_between([(X, weight[k, i]) for i, X in bases.items()]))
        return bases_

    def _feet_at(self, q: Array) -> list[Transform]:
        """Return the poses of both feet in the base frame."""
        self.here.set_joints(q, 0.0, Transform(np.eye(3), np.zeros(3)))
        return [self.here.pose(foot) for foot in self.feet]

    def _stand(self, pair: list[Transform]) -> list[bool]:
        """Check whether each foot is at most as high as the other one's sole."""
        lows = [
            float((pair[1 - i].inverse() @ pair[i] @ self.corners[i])[:, 2].min()) for i in range(2)
        ]
        if max(lows) <= MAX_STANCE_HEIGHT:
            return [True, True]
        return [lows[0] <= lows[1], lows[1] < lows[0]]

    def dynamics(self, base: list[Transform], cutoff: float) -> PatternDynamics:
        """Compute ZMP and efforts, by (2) and (3), for the poses of the base."""
        t, here, n = self.times, self.here, len(self.times)
        rate = (n - 1) / (t[-1] - t[0])
        p = zero_phase(np.array([X.p for X in base]), cutoff, rate)
        velocity, omega = differences(t, p), zero_phase(_angular_velocity(t, base), cutoff, rate)
        acceleration, alpha = differences(t, velocity), differences(t, omega)
        zmp, force, effort = np.zeros((n, 2)), np.zeros((n, 3)), np.zeros((n, len(self.joints)))
        foot, a = np.zeros((n, 2, 3)), np.zeros(here.model.v_count)
        dof = here.model.arrays.dof[self.rows]
        bodies, g = here.model.arrays.body, np.linalg.norm(here.model.arrays.gravity)
        min_force = LEAST_LOAD * float(bodies["mass"].sum() * g)
        for k in range(n):
            X = Transform(base[k].R, p[k])
            here.set_joints(self.q[k], self.v[k], X, Twist(velocity[k], omega[k]))
            a[self.rows], a[:3], a[3:6] = self.a[k], acceleration[k], alpha[k]
            tau = here.inverse_dynamics(a)
            force[k] = f = tau[:3]
            # (2), about the world's origin
            moment = tau[3:6] + cross(p[k], f)
            zmp[k] = (-moment[1] / f[2], moment[0] / f[2]) if f[2] > min_force else (np.nan, np.nan)
            effort[k] = (tau - self._contact_forces(k, zmp[k], f, moment[2]))[self.rows]
            effort[k] += dof["damping"] * self.v[k] + dof["stiffness"] * (self.q[k] - dof["rest"])
            foot[k] = [here.position(foot) for foot in self.feet]
        return PatternDynamics(
            joints=self.joints,
            times=t,
            base=np.column_stack([p, [X.quaternion for X in base]]),
            feet=tuple(foot.name for foot in self.feet),
            standing=self.standing,
            foot=foot,
            zmp=zmp,
            zmp_reference=zmp if self.planned is None else _on_ground(self.planned, base, p),
            force=force,
            effort=zero_phase(effort, cutoff, rate),
        )

    def _contact_forces(self, k: int, zmp: Array, force: Array, yaw_moment: float) -> Array:
        """Return Σ J_iᵀ of (3); yaw_moment: about the world's origin [N·m]."""
        if np.isnan(zmp[0]):
            return np.zeros(self.here.model.v_count)
        stance = [i for i in range(2) if self.standing[k, i]]
        poses = [self.here.pose(self.feet[i]) for i in stance]
        points = [X @ self.corners[i] for i, X in zip(stance, poses, strict=True)]
        loads = corner_loads(np.concatenate(points)[:, :2], zmp)
        # centre of pressure: the ZMP, or the nearest point of the soles
        x, y = loads @ np.concatenate(points)[:, :2]
        spin = yaw_moment - (x * force[1] - y * force[0])
        forces, first = np.zeros(self.here.model.v_count), 0
        for i, X, corners in zip(stance, poses, points, strict=True):
            share = loads[first : first + len(corners)]
            first += len(corners)
            # the foot's share at its centre of pressure, carried to its origin
            arm = share @ (corners - X.p)
            moment = cross(arm, force) + share.sum() * np.array([0.0, 0.0, spin])
            J = self.here.jacobian(self.feet[i])
            forces += J.T @ np.concatenate([share.sum() * force, moment])
        return forces


def _on_ground(zmp: Array, base: list[Transform], p: Array) -> Array:
    """Transform points in the base's frame [m], shape (n, 3), to the world, x and y."""
    return np.array([(X.R @ row + at)[:2] for row, X, at in zip(zmp, base, p, strict=True)])


def _flat(X: Transform) -> Transform:
    """Return the pose of a foot on the ground: level, with its yaw and x, y."""
    c, s = X.R[0, 0], X.R[1, 0]
    r = float(np.hypot(c, s))
    R = np.array([[c / r, -s / r, 0.0], [s / r, c / r, 0.0], [0.0, 0.0, 1.0]])
    return Transform(R, np.array([X.p[0], X.p[1], 0.0]))


def _weights(standing: NDArray[np.bool_]) -> Array:
    """Return the weight of each foot for the base pose: all in single support; in double support it
    is blended from the previous to the next stance foot, before the first and after the last step
    from and to one half.
    """
    weight, both = standing.astype(float), standing.all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], both, [0]])))
    even = np.full(2, 0.5)
    for begin, end in edges.reshape(-1, 2):
        before = weight[begin - 1] if begin > 0 else even
        after = weight[end] if end < len(weight) else even
        x = (np.arange(end - begin) + 0.5)[:, None] / (end - begin)
        weight[begin:end] = before + (after - before) * (3 * x**2 - 2 * x**3)
    return weight


def _between(known: list[tuple[Transform, float]]) -> Transform:
    """Return the weighted mean of nearly equal base poses."""
    if len(known) == 1:
        return known[0][0]
    U, _, Vt = np.linalg.svd(sum((w * X.R for X, w in known), np.zeros((3, 3))))
    return Transform(U @ Vt, sum((w * X.p for X, w in known), np.zeros(3)))


def _angular_velocity(t: Array, base: list[Transform]) -> Array:
    """Return the angular velocity of the base in the world's axes [rad/s], (n, 3), by central
    differences.
    """
    n, out = len(t), np.zeros((len(t), 3))
    for k in range(n):
        i, j = max(0, k - 1), min(n - 1, k + 1)
        R = base[j].R @ base[i].R.T
        axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        out[k] = axis / (t[j] - t[i])
    return out
