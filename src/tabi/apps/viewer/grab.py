"""The spring of the mouse, inside the simulation.

A browser tells the mouse's place about twenty times a second; the spring pulls every step. So its far end follows the mouse
through a filter of first order, and the near end is a point of the body:

    ẋ_t = (x_mouse − x_t) / T,    f = k (x_t − x) − c ẋ,    |f| ≤ f_max                                     (1)
The damper holds on to the world, so that the hand only gives energy through the spring. With m the mass that the point shows,

    m = 3 / tr(J M⁻¹ Jᵀ),    k = min(k₀, m (0.1 / h)²),    c = min(2 √(k m), 0.2 m / h)                       (2)
so that a light body neither rings nor explodes at the step h. Shift makes k₀ and f_max ten times as large.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi import dynamics
from tabi._errors import ModelError
from tabi.apps.viewer.view import Band
from tabi.model.body import Body
from tabi.model.compiled import Link
from tabi.simulation.motors import Push
from tabi.spatial.transform import Transform

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
STIFFNESS, LIMIT, STRONGER = 300.0, 400.0, 10.0  # N/m, N
DELAY = 0.05  # s of the filter
REACH = 20.0  # m from the body beyond which the mouse is not believed
HANDS = 8  # springs at once
NO_TORQUE = np.zeros(3)


class Spring:
    """One hand on one body.

    Args:
        point: where it is grabbed, in the world [m].
        strong: whether Shift is held.
    """

    def __init__(self, sim: Simulator, body: Body, point: ArrayLike, strong: bool = False) -> None:
        self.sim, self.body = sim, body
        link = sim._link(body)
        X = sim.pose(body)
        self.point = X.inverse() @ _vector(point)
        if link.body == 0 or not np.linalg.norm(self.point) < REACH:
            raise ModelError(f"{body.name!r} cannot be pulled there; expected a point of a body that moves")
        inverse = dynamics.delassus(sim.model, sim.state.q, [(link.name, X @ self.point)])
        scale, h = STRONGER if strong else 1.0, sim.dt
        mass = 3.0 / max(float(np.trace(inverse)), 1e-9)
        self.stiffness = min(scale * STIFFNESS, mass * (0.1 / h) ** 2)
        self.damping = min(2.0 * np.sqrt(self.stiffness * mass), 0.2 * mass / h)
        self.limit = scale * LIMIT
        self.mouse = self.target = X @ self.point
        self.force = np.zeros(3)
        # as the simulator's tables have it: the moving body, its tree's root, and the point there
        self._link = Link(link.name, link.body, Transform())
        self._row, self._root = link.body, int(sim.model.arrays.body["root"][link.body])
        self._place = link.placement @ self.point

    def move(self, mouse: ArrayLike) -> None:
        """The mouse is there now [m]."""
        place = _vector(mouse)
        if np.linalg.norm(place - self.target) < REACH:
            self.mouse = place

    def pull(self) -> None:
        """Push the body during the next step, by (1)."""
        sim, table = self.sim, self.sim._room.dynamics.body
        row = table[self._row]
        arm = row["position"] + row["rotation"].reshape(3, 3) @ self._place
        wx, wy, wz, vx, vy, vz = row["velocity"].tolist()
        x, y, z = arm.tolist()
        speed = np.array([vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x])
        self.target = self.target + (self.mouse - self.target) * (sim.dt / (DELAY + sim.dt))
        force = self.stiffness * (self.target - arm - table["origin"][self._root]) - self.damping * speed
        size = math.sqrt(float(force @ force))
        self.force = force * (self.limit / size) if size > self.limit else force
        # checked above: what comes from the mouse is finite, and the force is bounded
        sim._pushes.append(Push(self._link, self.force, NO_TORQUE, self._place, sim._steps + 1.0))

    def band(self) -> Band:
        """As it is seen."""
        return Band(self.sim.pose(self.body) @ self.point, self.target.copy(), self.force.copy())


class Hands:
    """The springs of all pages, by who holds them."""

    def __init__(self) -> None:
        self.springs: dict[Hashable, Spring] = {}

    def take(self, owner: Hashable, spring: Spring) -> None:
        """One more, or another one of the same owner."""
        if owner in self.springs or len(self.springs) < HANDS:
            self.springs[owner] = spring

    def move(self, owner: Hashable, mouse: ArrayLike) -> None:
        """The owner's mouse has moved."""
        if owner in self.springs:
            self.springs[owner].move(mouse)

    def release(self, owner: Hashable) -> None:
        """Let go; nothing pulls from the next step on."""
        self.springs.pop(owner, None)

    def pull(self) -> None:
        """All of them, for one step."""
        for spring in self.springs.values():
            spring.pull()

    def bands(self) -> tuple[Band, ...]:
        """As they are seen."""
        return tuple(spring.band() for spring in self.springs.values())


def _vector(value: ArrayLike) -> Array:
    x = np.asarray(value, float)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(f"a place of the mouse is {value!r}; expected three finite numbers in metres")
    return x
