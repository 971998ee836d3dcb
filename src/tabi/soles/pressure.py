"""Pressure under a sole that stands on a flat, rigid ground, under a given load.

The ground's plane moves rigidly against the foot by x: a translation and a rotation about the
middle of the ground face. Node i, whose gap to the plane is g_i when the sole is unloaded, is moved
by its own force and all others'. Without friction, f the normal forces, C their compliance,

    0 ≤ f ⊥ g + C f − P x ≥ 0,     Pᵀ f = w                                                     (1)
P the normal motion of each node under x, w = (F, F c_y, −F c_x) the force and its moments. These
are the conditions of one minimum: of ½ fᵀ C f + gᵀ f over f ≥ 0 with Pᵀ f = w. "stuck" holds all
nodes of the flat ground face along the plane, whether they push or not, and the plane moves so that
nothing pulls it sideways; with t those forces, moved by Q y,

    C_tt t + C_tn f = Q y,   Qᵀ t = 0                                                           (2)
they are eliminated, and (1) stays with

    C − C_nt (H − H Q (Qᵀ H Q)⁻¹ Qᵀ H) C_tn,   H = C_tt⁻¹                                       (3)
Friction with a finite coefficient is computed by the simulator.

The set of nodes that push is found by active sets (Hintermüller, Ito and Kunisch): drop those that
would pull, add those that would penetrate, until nothing changes. If the sets cycle, they start
again from the nodes that push near the minimum.

Reference: Hintermüller, Ito and Kunisch (2002), The primal-dual active set strategy as a semismooth
Newton method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from tabi._errors import ModelError

Array = NDArray[Any]
MAX_ACTIVE_SET_CHANGES = 100


@dataclass(frozen=True, eq=False)
class PressureMap:
    """Pressure of a sole on flat ground.

    Attributes:
        points: ground nodes [m], shape (k, 3), in the foot's frame.
        force: of the ground on each [N], shape (k, 3).
        pressure: normal force over a node's share of the ground face [Pa], shape (k,).
        motion: of the ground's plane against the foot: translation [m] and rotation [rad] about
            the middle of the ground face, shape (6,).
        centre_of_pressure: x and y [m], shape (2,).

    Example: ``sole.pressure`` in docs/soles.md
    """

    points: Array
    force: Array
    pressure: Array
    motion: Array
    centre_of_pressure: Array

    @property
    def touching(self) -> NDArray[np.bool_]:
        """Whether each node pushes, shape (k,)."""
        return self.force[:, 2] > 0.0

    @property
    def sink(self) -> float:
        """Displacement of the foot towards the ground at the middle of the ground face [m]."""
        return float(self.motion[2])


def rigid_motions(points: Array, centre: Array) -> Array:
    """Displacements of places on the ground's plane under its translations and rotations about
    ``centre``, shape (3k, 6); places above the plane move as those below them.
    """
    x, y = (points - centre)[:, 0], (points - centre)[:, 1]
    motions = np.zeros((len(points), 3, 6))
    motions[:, :, :3] = np.eye(3)
    motions[:, 2, 3], motions[:, 2, 4] = y, -x
    motions[:, 0, 5], motions[:, 1, 5] = -y, x
    return motions.reshape(-1, 6)


def pushed(
    compliance: Array, gaps: Array, motions: Array, load: Array, sticking: NDArray[np.bool_] | None
) -> tuple[Array, Array]:
    """Forces on the nodes [N], shape (k, 3), and the plane's motion, shape (6,).

    Args:
        compliance: C of all three directions [m/N], shape (3k, 3k). gaps: g [m], shape (k,).
        motions: of the nodes under those of the plane, shape (3k, 6).
        load: w of (1) [N, N·m], shape (3,).
        held: nodes that are held along the ground, shape (k,); None without friction.

    Raises:
        ModelError: if no pushing forces have this load.
    """
    k, C = len(gaps), compliance[2::3, 2::3]
    force, motion = np.zeros((k, 3)), np.zeros(6)
    sideways = None if sticking is None else _Sideways.of(compliance, motions, sticking)
    plane = _Plane(C if sideways is None else sideways.reduced(C), gaps, motions[2::3, 2:5], load)
    near_minimum = _near_minimum(plane)
    pushing = plane.active_set(gaps <= gaps.min() + 1e-12)
    if pushing is None:
        pushing = plane.active_set(near_minimum())
    if pushing is None:
        raise ModelError(
            "the nodes that push under this load were not found; try a load nearer to the middle"
        )
    force[:, 2], motion[2:5] = plane.solved(pushing)
    if sideways is not None:
        along, motion[[0, 1, 5]] = sideways.tangential(force[:, 2])
        force[sticking, :2] = along.reshape(-1, 2)
    return force, motion


@dataclass(eq=False)
class _Sideways:
    """Equation (2): C_tn, Q, H Q and H C_tn."""

    C_tn: Array
    Q: Array
    H_Q: Array
    H_C: Array

    @classmethod
    def of(cls, compliance: Array, motions: Array, sticking: NDArray[np.bool_]) -> _Sideways:
        t = np.flatnonzero(np.repeat(sticking, 3) & np.tile([True, True, False], len(sticking)))
        C_tn, Q = compliance[t][:, 2::3], motions[t][:, [0, 1, 5]]
        solved = np.linalg.solve(compliance[np.ix_(t, t)], np.column_stack([Q, C_tn]))
        return cls(C_tn, Q, solved[:, :3], solved[:, 3:])

    def reduced(self, C: Array) -> Array:
        """Return C̃ of equation (3) [m/N]."""
        coupling = self.H_Q.T @ self.C_tn
        rigid = coupling.T @ np.linalg.solve(self.Q.T @ self.H_Q, coupling)
        stiff = C - self.C_tn.T @ self.H_C + rigid
        return 0.5 * (stiff + stiff.T)

    def tangential(self, normal: Array) -> tuple[Array, Array]:
        """t and y of (2) for normal forces."""
        y = np.linalg.solve(self.Q.T @ self.H_Q, self.Q.T @ (self.H_C @ normal))
        return self.H_Q @ y - self.H_C @ normal, y


@dataclass(eq=False)
class _Plane:
    """Problem (1): nodes against a rigid plane.

    Attributes:
        C: compliance of the nodes along z [m/N], shape (k, k). gaps: g [m], shape (k,).
        P: motions of the plane along z at the nodes, shape (k, 3).
        load: force [N] and moments [N·m] that the nodes carry together, shape (3,).
    """

    C: Array
    gaps: Array
    P: Array
    load: Array

    def solved(self, pushing: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Forces, zero for nodes that do not push, and the plane's motion."""
        n, m = int(pushing.sum()), self.P.shape[1]
        # lengths in units of the compliance, so that all entries are alike
        unit = float(np.diag(self.C).mean())
        matrix = np.zeros((n + m, n + m))
        matrix[:n, :n] = self.C[np.ix_(pushing, pushing)] / unit
        matrix[:n, n:], matrix[n:, :n] = -self.P[pushing], -self.P[pushing].T
        right = np.concatenate([-self.gaps[pushing] / unit, -self.load])
        answer = np.linalg.solve(matrix, right)
        force = np.zeros(len(self.C))
        force[pushing] = answer[:n]
        return force, unit * answer[n:]

    def active_set(self, pushing: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Find which nodes push, from a first guess; None if that does not converge."""
        seen: set[bytes] = set()
        soft = np.diag(self.C)
        for _ in range(MAX_ACTIVE_SET_CHANGES):
            if pushing.tobytes() in seen:
                return None
            seen.add(pushing.tobytes())
            try:
                force, motion = self.solved(pushing)
            except np.linalg.LinAlgError:
                return None
            gap = self.C @ force - self.P @ motion + self.gaps
            # how wrong each node is, forces as the lengths that they make
            wrong = np.where(pushing, -force * soft, -gap)
            faults = wrong > 1e-12 * np.abs(force * soft).max()
            if not faults.any():
                return pushing
            pushing = pushing ^ faults
        return None


def _near_minimum(plane: _Plane) -> Callable[[], NDArray[np.bool_]]:
    """Return a function that computes a set of nodes near the minimum; a load that no nodes can
    carry is refused.
    """
    scale = np.abs(plane.P).max(axis=0)
    arms, load = plane.P / scale, plane.load / scale / plane.load[0]
    _, left = nnls(arms.T, load)
    if left > 1e-9:
        raise ModelError(
            "the centre of pressure lies outside of the sole's ground face, where nodes would have "
            "to pull; expected it inside of their convex hull"
        )

    def near_minimum() -> NDArray[np.bool_]:
        unit = float(np.abs(np.diag(plane.C)).mean())
        root = np.linalg.cholesky(plane.C / unit)
        weight = 1e4
        gap = plane.gaps / unit / plane.load[0]
        right = -np.linalg.solve(root, gap)
        force, _ = nnls(np.vstack([root.T, weight * arms.T]), np.r_[right, weight * load])
        return force > 0.0

    return near_minimum
