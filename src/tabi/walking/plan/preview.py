"""Preview control: the centre of mass whose zero moment point follows a reference known ahead.

A cart on a table of height z_c has its zero moment point at p = x − (z_c/g) ẍ. With jerks as input,
held over a tick of T,

    X⁺ = A X + b u,   p = c X,   X = (x, ẋ, ẍ)                                                  (1)
the minimum of Σ Q e² + R u², e the sum of p − p_ref so far, is obtained, by the solution of one
Riccati equation, with constant gains on the state and on the future reference:

    u = −G_e Σ (p − p_ref) − G_x X + Σ_j G_j p_ref(k + j)                                       (2)
The centre of mass moves before its reference does: like people, it leans before it steps.

Reference: Kajita et al. (2003), Biped walking pattern generation by using preview control of
zero-moment point.
"""

from __future__ import annotations

from functools import cached_property
from math import inf

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError

Array = NDArray[np.float64]


class Preview:
    """Preview control of the zero moment point along one axis; gains are computed once.

    Args:
        height: z_c, of the centre of mass above the ground [m]. tick: T [s].
        ahead: preview horizon [s].
        error, jerk: weights Q and R of (2).
        gravity: [m/s²].

    Examples:
        >>> preview = tabi.walking.Preview(height=0.8)
    """

    def __init__(
        self,
        height: float,
        tick: float = 0.005,
        ahead: float = 2.5,
        error: float = 1.0,
        jerk: float = 1e-6,
        gravity: float = 9.81,
    ) -> None:
        inputs = {"height": height, "tick": tick, "ahead": ahead, "error": error, "jerk": jerk}
        for name, value in (inputs | {"gravity": gravity}).items():
            if not 0.0 < value < inf:
                raise ModelError(f"{name} of a preview is {value}; expected a positive number")
        T = self.tick = float(tick)
        self.count = max(1, round(ahead / T))
        self._weights = error, jerk
        self.A = np.array([[1.0, T, T * T / 2], [0.0, 1.0, T], [0.0, 0.0, 1.0]])
        self.b = np.array([T**3 / 6, T * T / 2, T])
        self.c = np.array([1.0, 0.0, -height / gravity])

    @cached_property
    def gains(self) -> tuple[float, Array, Array]:
        """Gains G_e, G_x, shape (3,), and G_j, shape (count,), of (2)."""
        A, b, c, (Q, R) = self.A, self.b, self.c, self._weights
        # with the accumulated error as the first state, whose input is the reference's change
        first = np.eye(4)[:, :1]
        grown = np.hstack([first, np.vstack([c @ A, A])])
        B = np.concatenate([[c @ b], b])[:, None]
        P = scipy.linalg.solve_discrete_are(grown, B, Q * first @ first.T, np.array([[R]]))
        scale = 1.0 / (R + float((B.T @ P @ B)[0, 0]))
        K = scale * (B.T @ P @ grown)[0]
        closed, ahead = grown - B @ K[None], np.empty(self.count)
        ahead[0], X = K[0], closed.T @ P @ first
        for j in range(1, self.count):
            ahead[j], X = scale * float((B.T @ X)[0, 0]), closed.T @ X
        # beyond the horizon the reference is constant: at rest above it no input is needed
        ahead[-1] += K[1] - ahead.sum()
        return float(K[0]), K[1:], ahead

    def follow(self, reference: ArrayLike, start: ArrayLike | None = None) -> Array:
        """Return position, velocity and acceleration of the centre of mass at each tick.

        Args:
            reference: of the zero moment point at each tick [m], shape (n,); constant after its
                end.
            start: x, ẋ, ẍ at the first tick; default: at rest above the first reference.

        Returns:
            shape (n, 3) [m, m/s, m/s²].
        """
        p = np.asarray(reference, float)
        if p.ndim != 1 or len(p) == 0 or not np.isfinite(p).all():
            raise ModelError(
                f"reference of the zero moment point has shape {p.shape}; expected finite numbers "
                "of shape (n,), one for each tick"
            )
        x = np.array([p[0], 0.0, 0.0]) if start is None else np.array(start, float)
        if x.shape != (3,) or not np.isfinite(x).all():
            raise ModelError(f"start is {start!r}; expected position, velocity and acceleration")
        G_e, G_x, G_j = self.gains
        known = np.concatenate([p, np.full(self.count, p[-1])])
        # preview term of every tick, at once
        ahead = np.correlate(known[1:], G_j, "valid")
        error, out = 0.0, np.empty((len(p), 3))
        for k in range(len(p)):
            out[k] = x
            error += self.c @ x - p[k]
            x = self.A @ x + self.b * (ahead[k] - G_e * error - G_x @ x)
        return out

    def zero_moment_point(self, motion: ArrayLike) -> Array:
        """Return p = c X of (1) along a motion, shape (n,) [m]."""
        return np.asarray(motion, float) @ self.c
