"""Linear inverted pendulum in three dimensions: a centre of mass on a plane, above a pivot.

A mass that keeps to the plane z = k_x x + k_y y + z_c, with a leg that pushes through a point p on
the ground, moves by the same law along x and y, whatever the slopes k:

    ẍ = ω² (x − p),   ω² = g/z_c                                                               (1)
    x(t) = p + (x₀ − p) cosh ωt + ẋ₀/ω sinh ωt                                                  (2)
and z follows from the plane. Of its two modes one decays and one grows; the latter,

    ξ = x + ẋ/ω,   ξ̇ = ω (ξ − p)                                                               (3)
decides whether the robot falls: with p beyond ξ it returns. ½ẋ² − ½ω²(x − p)² is constant.

References: Kajita et al. (2001), The 3D linear inverted pendulum mode; Hirukawa (2003), sec. 2.1.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cosh, inf, sinh, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError

Array = NDArray[np.float64]
G = 9.81


@dataclass(frozen=True)
class LinearPendulum:
    """A centre of mass that moves on a plane.

    Attributes:
        height: z_c, of the plane above the ground at the origin [m].
        slope: k_x, k_y of the plane. gravity: [m/s²].

    Examples:
        >>> round(tabi.walking.LinearPendulum(height=0.8).omega, 2)
        3.5
    """

    height: float
    slope: tuple[float, float] = (0.0, 0.0)
    gravity: float = G

    def __post_init__(self) -> None:
        for name in ("height", "gravity"):
            if not 0.0 < getattr(self, name) < inf:
                raise ModelError(
                    f"{name} of the pendulum is {getattr(self, name)}; expected a positive number"
                )
        if not np.isfinite(self.slope).all():
            raise ModelError(f"slope of the pendulum is {self.slope}; expected two numbers")

    @property
    def omega(self) -> float:
        """Natural frequency ω of (1) [1/s]."""
        return sqrt(self.gravity / self.height)

    def after(
        self, time: float, position: ArrayLike, velocity: ArrayLike, pivot: ArrayLike
    ) -> tuple[Array, Array]:
        """Return position and velocity after a time [s] above a fixed pivot, equation (2); x, y, or
        any number of axes.
        """
        x, v, p = (np.asarray(a, float) for a in (position, velocity, pivot))
        c, s = cosh(self.omega * time), sinh(self.omega * time)
        return p + (x - p) * c + v / self.omega * s, (x - p) * self.omega * s + v * c

    def velocity_between(
        self, time: float, start: ArrayLike, end: ArrayLike, pivot: ArrayLike
    ) -> Array:
        """Return the velocity at ``start`` with which the mass is at ``end`` after a time [s]."""
        if not time > 0:
            raise ModelError(f"time between two places is {time} s; expected a positive number")
        a, b, p = (np.asarray(x, float) for x in (start, end, pivot))
        c, s = cosh(self.omega * time), sinh(self.omega * time)
        return self.omega * (b - p - (a - p) * c) / s

    def capture_point(self, position: ArrayLike, velocity: ArrayLike) -> Array:
        """Return ξ of (3): the pivot at which the mass comes to rest [m]."""
        return np.asarray(position, float) + np.asarray(velocity, float) / self.omega

    def orbital_energy(self, position: ArrayLike, velocity: ArrayLike, pivot: ArrayLike) -> Array:
        """Return ½ẋ² − ½ω²(x − p)² of each axis, which is conserved [m²/s²]."""
        x, v, p = (np.asarray(a, float) for a in (position, velocity, pivot))
        return 0.5 * v**2 - 0.5 * self.omega**2 * (x - p) ** 2

    def place(self, position: ArrayLike) -> Array:
        """Return x, y, z of the mass at x, y, on the plane [m], shape (…, 3)."""
        xy = np.asarray(position, float)
        return np.concatenate([xy, (xy @ self.slope + self.height)[..., None]], axis=-1)
