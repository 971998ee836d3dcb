"""Calibration of a six-axis force sensor from static poses (Chardonnet et al. 2012, section 5.1).

    f = G (l + d)                                                                               (1)
f: force and moment that truly act on the sensor, in its frame; l: what it reads; d: its offset.
In static poses f is known: a weight m g hangs on the sensor, its centre at c in the sensor's frame,

    f = (m g, c × m g)                                                                          (2)
with g the gravity in that frame. What is noisy is the reading, so that the regression goes from
what is known to what is read,

    l = A f − d + noise,   G = A⁻¹                                                              (3)
one row of A and one of d for each channel (``regression``); the other way round, noise among the
regressors would make G too small. With cov(a_i) of row i of A, and channels independent,

    δG = −G δA G,   var G_jk = Σ_i G_ji² (gₖᵀ cov(a_i) gₖ),   gₖ column k of G                   (4)
One weight at one place is not enough: whatever the pose, (2) spans three directions of six. Weights
at three places that are not in a line span all. Or let G be diagonal: six scales and six offsets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.regression import Estimate, fit

Array = NDArray[np.float64]
GRAVITY = 9.81
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")
# fewest poses; singular values of the loads, scaled to the largest of each channel, below this
# share of the first are none
POSES, FLAT = 12, 1e-3


@dataclass(frozen=True, eq=False)
class Calibration:
    """Identified calibration of a sensor.

    Attributes:
        matrix: G, shape (6, 6). offset: d, in the unit of the readings, shape (6,).
        matrix_width, offset_width: half of their 95 % intervals; 0 for what was not looked for.
        noise: of each channel's reading. poses: how many there were.
    """

    matrix: Array
    offset: Array
    matrix_width: Array
    offset_width: Array
    noise: Array
    poses: int

    def entry(self, j: int, k: int) -> Estimate:
        """A number of G with its interval."""
        x, w = float(self.matrix[j, k]), float(self.matrix_width[j, k])
        return Estimate(x, x - w, x + w)

    def load(self, reading: ArrayLike) -> Array:
        """Equation (1): force [N] and moment [N·m] that readings stand for, shape (…, 6)."""
        return (np.asarray(reading, float) + self.offset) @ self.matrix.T

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "poses": self.poses,
            "matrix": self.matrix.tolist(),
            "matrix_half_interval": self.matrix_width.tolist(),
            "offset": self.offset.tolist(),
            "offset_half_interval": self.offset_width.tolist(),
            "noise": self.noise.tolist(),
        }


def weight(gravity: ArrayLike, mass: ArrayLike, centre: ArrayLike) -> Array:
    """Equation (2) for each pose: force and moment of a weight, shape (n, 6).

    Args:
        gravity: its direction in the sensor's frame, of any length, shape (n, 3).
        mass: [kg], one or (n,). centre: in the sensor's frame [m], (3,) or (n, 3).
    """
    g = np.asarray(gravity, float).reshape(-1, 3)
    length = np.linalg.norm(g, axis=1)
    if not (length > 1e-9).all():
        row = int(np.argmin(length > 1e-9)) + 1
        raise IdentificationError(
            f"gravity of pose {row} is {g[row - 1].tolist()}; expected its direction in the "
            f"sensor's frame"
        )
    if not (np.asarray(mass) > 0).all():
        raise IdentificationError(f"mass is {float(np.min(mass)):g} kg; expected positive numbers")
    force = GRAVITY * np.reshape(mass, (-1, 1)) * g / length[:, None]
    return np.hstack([force, np.cross(np.asarray(centre, float).reshape(-1, 3), force)])


def calibrate(
    readings: ArrayLike, loads: ArrayLike, diagonal: bool = False, owner: str = "the table"
) -> Calibration:
    """G and d of (1) from static poses.

    Args:
        readings, loads: l and f, shape (n, 6), forces first.
        diagonal: whether channels do not disturb each other.
        owner: what the data are called in errors.
    """
    l, f = np.asarray(readings, float), np.asarray(loads, float)
    if len(l) < POSES:
        raise IdentificationError(
            f"{owner} has {len(l)} poses; expected {POSES} or more, with the sensor turned"
        )
    if not diagonal:
        _check_span(f, owner)
    names = [f"g{k}" for k in CHANNELS]
    A, covariances, offset = np.zeros((6, 6)), np.zeros((6, 6, 6)), np.zeros((2, 6))
    noise, freedom = np.zeros(6), 1.0
    for i in range(6):
        seen = [i] if diagonal else list(range(6))
        columns = {names[k]: f[:, k] for k in seen} | {"offset": -np.ones(len(f))}
        fitted = fit(columns, l[:, i], f"{owner}, channel {CHANNELS[i]},")
        A[i, seen] = fitted.values[:-1]
        covariances[i][np.ix_(seen, seen)] = fitted.covariance[:-1, :-1]
        estimate = fitted.estimate("offset")
        offset[:, i] = estimate.value, estimate.high - estimate.value
        noise[i] = fitted.noise
        freedom = (estimate.high - estimate.value) / max(np.sqrt(fitted.covariance[-1, -1]), 1e-300)
    G = _inverse(A, owner)
    # (4), by columns of G
    spread = np.einsum("ak,iab,bk->ik", G, covariances, G)
    width = freedom * np.sqrt(G**2 @ spread)
    return Calibration(G, offset[0], width, offset[1], noise, len(l))


def _check_span(f: Array, owner: str) -> None:
    """Refuse loads that do not fill all six directions."""
    size = np.abs(f).max(axis=0)
    scaled = (f - f.mean(axis=0)) / np.where(size > 0, size, 1.0)
    values = np.linalg.svd(scaled, compute_uv=False)
    rank = int((values > FLAT * max(values[0], 1e-300)).sum())
    if rank < 6:
        raise IdentificationError(
            f"{owner}: its loads span {rank} of 6 directions, which leaves G open; expected "
            f"weights at three or more places that are not in a line, in several poses each, or "
            f"a diagonal G"
        )


def _inverse(A: Array, owner: str) -> Array:
    """G = A⁻¹, or an error where a channel reads nothing of its own."""
    values = np.linalg.svd(A / np.abs(A).max(axis=1, keepdims=True).clip(1e-300), compute_uv=False)
    if not values[-1] > 1e-6 * values[0]:
        raise IdentificationError(
            f"{owner}: the readings do not separate all six directions, so that G is singular; "
            f"expected six channels that each measure a direction of their own"
        )
    return np.asarray(np.linalg.inv(A), float)
