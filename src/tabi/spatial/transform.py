"""Rigid transforms for building worlds: plain NumPy, one object, letters that cancel.

``X_AC = X_AB @ X_BC``; ``p_A = X_AB @ p_B``.
R is the rotation matrix, p the position of B's origin in A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Transform:
    """A rotation R, shape (3, 3), and a position p [m], shape (3,).

    Examples:
        >>> X_WB = tabi.Transform(p=(1.0, 0.0, 0.0))
        >>> print((X_WB @ tabi.Transform(p=(0.0, 2.0, 0.0))).p)
        [1. 2. 0.]
    """

    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    @overload
    def __matmul__(self, other: Transform) -> Transform: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Transform | ArrayLike) -> Transform | Array:
        if isinstance(other, Transform):
            return Transform(self.R @ other.R, self.R @ other.p + self.p)
        return np.asarray(other, float) @ self.R.T + self.p

    def inverse(self) -> Transform:
        """Return X_BA, the inverse of X_AB."""
        return Transform(self.R.T, -self.R.T @ self.p)

    @property
    def quaternion(self) -> Array:
        """The rotation as a unit quaternion (w, x, y, z), w ≥ 0."""
        return quaternion_from_matrix(self.R)

    def __repr__(self) -> str:
        return (
            f"Transform(p={np.round(self.p, 4).tolist()}, "
            f"quaternion={np.round(self.quaternion, 4).tolist()})"
        )


def translation(p: ArrayLike) -> Transform:
    """A transform that only moves by p [m]."""
    return Transform(np.eye(3), np.array(p, float))


def from_quaternion(q: ArrayLike, p: ArrayLike = (0.0, 0.0, 0.0)) -> Transform:
    """From a quaternion (w, x, y, z) of any positive length and a position [m]."""
    q, p = np.array(q, float), np.array(p, float)
    length = np.linalg.norm(q)
    if q.shape != (4,) or not 1e-12 < length < np.inf:
        raise ModelError(
            f"quaternion {q.tolist()} has length {length:g}; "
            "expected a unit quaternion (w, x, y, z)"
        )
    if p.shape != (3,):
        raise ModelError(
            f"position {p.tolist()} has shape {p.shape}; expected three numbers in metres"
        )
    w, x, y, z = q / length
    R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return Transform(np.array(R), p)


def from_rpy(rpy: Sequence[float], p: ArrayLike = (0.0, 0.0, 0.0)) -> Transform:
    """From roll, pitch, yaw about the fixed axes x, y, z [rad] (URDF) and a position [m]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    R = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return Transform(np.array(R), np.array(p, float))


def about(axis: ArrayLike, angle: float, p: ArrayLike = (0.0, 0.0, 0.0)) -> Transform:
    """Rotation by ``angle`` [rad] about ``axis`` (Rodrigues), and a position [m]."""
    a = np.array(axis, float)
    a = a / np.linalg.norm(a)
    K = cross_matrix(a)
    return Transform(
        np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K, np.array(p, float)
    )


def cross_matrix(a: ArrayLike) -> Array:
    """The matrix of a × ·."""
    x, y, z = np.asarray(a, float)
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def z_to(axis: ArrayLike) -> Array:
    """The smallest rotation that takes the z axis to ``axis``; a half turn about x for −z."""
    a = np.array(axis, float)
    a = a / np.linalg.norm(a)
    if a[2] > 1 - 1e-15:
        return np.eye(3)
    if a[2] < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    K = cross_matrix([-a[1], a[0], 0.0])
    return np.eye(3) + K + K @ K / (1 + a[2])


def quaternion_from_matrix(R: Array) -> Array:
    """Unit quaternion (w, x, y, z), w ≥ 0, of a rotation matrix;
    from its largest component, so always accurate.
    """
    # plain numbers: NumPy would take longer for nine of them
    xx, xy, xz, yx, yy, yz, zx, zy, zz = np.asarray(R, float).ravel().tolist()
    # four times the squares of w, x, y, z
    squares = (1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz)
    a, b, c = zy - yz, xz - zx, yx - xy
    d, e, f = yx + xy, xz + zx, zy + yz
    k = squares.index(max(squares))
    w, x, y, z = (
        (squares[0], a, b, c),
        (a, squares[1], d, e),
        (b, d, squares[2], f),
        (c, e, f, squares[3]),
    )[k]
    scale = (-1.0 if w < 0 else 1.0) / sqrt(w * w + x * x + y * y + z * z)
    return np.array([scale * w, scale * x, scale * y, scale * z])
